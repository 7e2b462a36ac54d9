"""`check_instrument`: what a package with an instrument of its own calls in a test."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import dagster as dg

from valuesassets import instruments
from valuesassets.cli.command_table import PROGRAM, group_name
from valuesassets.orchestration.assets.declaring import NODE_ONLY
from valuesassets.orchestration.instruments import wired
from valuesassets.orchestration.record_checks import CHECKS
from valuesassets.orchestration.what_goes_stale import definitions_of
from valuesassets.records.errors import StudyError
from valuesassets.records.instruments import Instrument
from valuesassets.records.plugins import fault_of_record, installed, object_of
from valuesassets.records.study import Study, load_study
from valuesassets.records.study_schema import key_descriptions

WORDS = ("opening", "sections", "gates", "claims", "methods", "sources")
"""The functions that a report's page is made of."""


def check_instrument(record: Instrument, example: Path | str) -> None:
    """Require that an instrument of another package fits into this one.

    Args:
        example: a study file that has the instrument's table.

    Raises:
        StudyError: it does not; each fault is a line that says what to do.
    """
    faults = list(_faults(record, Path(example)))
    if faults:
        raise StudyError("\n".join(faults))


def _faults(record: Instrument, example: Path) -> Iterator[str]:
    """What keeps the instrument from working, and what would be missed by who uses it."""
    name = getattr(record, "name", "")
    if why := fault_of_record(record, name):
        yield f"the record {why}"
        return
    if name in Study.model_fields or name in {each.name for each in instruments.INSTRUMENTS}:
        yield f"{name}: is a key of every study, or an instrument of valuesassets; give the instrument another name"
    if group_name(name) in PROGRAM:
        yield f"{name}: is a command of valuesassets; give the instrument another name"
    if installed().instruments.get(name) != record:
        yield installed().faults.get(name) or f"{name}: is not installed; pip install --editable its folder"
        return
    try:
        yield from (faults := list(_faults_of_places(record)))
        if faults:
            return
        study = load_study(str(example))
        if record.study_key not in study.instrument_tables():
            yield f"{example}: has no table [{record.study_key}]; add it, so that the example runs the instrument"
            return
        yield from _faults_of_graph(record, study)
    except StudyError as fault:
        yield str(fault)


def _faults_of_places(record: Instrument) -> Iterator[str]:
    """Places in the record that name nothing, and what their objects lack."""
    for place in filter(None, (record.settings, record.wiring, record.parts, record.jobs, record.scale)):
        object_of(record, place)
    if record.commands and not object_of(record, f"{record.commands}:COMMANDS"):
        yield f"{record.commands}: COMMANDS has no command; add one, or leave `commands` out of the record"
    table = object_of(record, record.settings)
    for key in sorted(table.model_fields.keys() - key_descriptions(table).keys()):
        yield f"{record.settings}: {key}: has no description; write a text below the key"
    for check in record.checks:
        if check not in CHECKS:
            yield f"checks: {check}: no such check; there are {', '.join(CHECKS)}"
    if not record.about:
        yield "about is empty; say in a line what the instrument measures"
    if find_spec(f"{record.package}.report.report"):
        words = import_module(f"{record.package}.report.report")
        for each in WORDS:
            if not inspect.isfunction(getattr(words, each, None)):
                yield f"{record.package}.report.report: {each}: no such function of the run; add it"


def _faults_of_graph(record: Instrument, study: Study) -> Iterator[str]:
    """Assets and tables of the instrument that would be taken for others'."""
    instrument = wired(record)
    for asset in instrument.assets(study):
        yield from _faults_of_asset(record, asset)
    if not instrument.cells(study):
        yield f"study {study.name}: no cell; {record.parts} gives no part whose language a family supports"
    definitions_of(study).get_repository_def()
    if find_spec(f"{record.package}.tables") is None:
        yield f"{record.package}.tables: no such module; write it, and declare in it the tables that are yours alone"


def _faults_of_asset(record: Instrument, asset: dg.AssetsDefinition) -> Iterator[str]:
    """What is wrong with an asset of the instrument."""
    name, noun = asset.key.to_user_string(), asset.key.path[-1]
    if asset.key.path[0] != record.name:
        yield f"{name}: an asset of {record.name} begins with {record.name}/; declare it with `declare`"
    if noun in NODE_ONLY and noun != record.asks:
        yield f"{name}: an asset of this name is taken for what models answer; give it another name"
