"""How an asset of an instrument is declared: its key, code version and the way its errors look."""

import functools
import inspect
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import dagster as dg
import pandas as pd
from dagster_pandas import PandasColumn, create_dagster_pandas_dataframe_type

from valuesassets.dagster_internals.tags import MADE_OF
from valuesassets.desk.inputs import NO_CELL
from valuesassets.desk.staleness import ENTRIES, entries_of_partition, tags_of_entries
from valuesassets.orchestration.checks import Sentence
from valuesassets.orchestration.code_versions import PACKAGE, code_version, entries_of, homes
from valuesassets.orchestration.first_look.shown import SUMMARY, Line, Picture, docs_of, first_look, link_to
from valuesassets.orchestration.following.automation import STEP, Step, condition_of
from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.io_managers import DICT_OF_PARTITIONS
from valuesassets.orchestration.partitions import own_partition, why_no_cell
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import StudyError, ValuesAssetsError
from valuesassets.records.study import Study
from valuesassets.records.table import Table
from valuesassets.records.tables import TABLES

NODE_JOBS = {
    "weights": "valuesassets.node.fetch_weights",
    "readings": "valuesassets.node.score",
    "preflight": "valuesassets.node.score",
    "negative_controls": "valuesassets.node.score",
    "self_calibration": "valuesassets.node.score",
    "reference_models": "valuesassets.node.train_reference",
    "sampled_answers": "valuesassets.node.sample",
    "decoded_ratings": "valuesassets.node.generate",
    "answers": "valuesassets.node.generate",
    "reasons": "valuesassets.node.generate",
    "vectors": "valuesassets.node.embed",
    "question_vectors": "valuesassets.node.embed",
    "reason_vectors": "valuesassets.node.embed",
    "axes": "valuesassets.node.embed",
    "aligned_questions": "valuesassets.node.embed",
}
"""Assets that run a node job: its code is theirs too, though nothing here imports it."""
ASKING = {name for name, module in NODE_JOBS.items() if module != "valuesassets.node.embed"}
"""Those that ask, fetch or train models for answers, which takes hours or money."""
NODE_ONLY = {"weights", "readings", "answers"}
"""Assets that no file of an instrument derives: the node job writes them."""
KINDS = {kind: {"table", "parquet"} for kind in ("frame", "frames", "trials")} | {
    "csv": {"table", "csv"},
    "questions": {"table", "json"},
    "html": {"report", "html"},
}
"""How the UI marks an asset, by its IO manager, where the asset declares no kinds."""
LOG = "log.txt"
STORAGE = dg.ResourceParam[Storage]
READS = "reads_of_the_study"
"""Metadata of an asset: the tables and keys of the study file that make it stale."""


def declare(
    study: Study,
    instrument: Instrument,
    group: str,
    *,
    checks: Iterable[Sentence] = (),
    stamp: str = "",
    inputs: Sequence[str] = (),
    many: Sequence[str] = (),
    everywhere: Sequence[str] = (),
    reads: Sequence[str] = tuple(Study.model_fields),
    entries: Sequence[str] = (),
    files: Mapping[str, str] = MappingProxyType({}),
    modules: Sequence[str] = (),
    wiring: str = "",
    docs: str = "",
    line: Line | None = None,
    picture: Picture | None = None,
    step: Step | None = None,
    ins: Mapping[str, dg.AssetIn] = MappingProxyType({}),
    **options: Any,
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """Declare the asset `<instrument>/<function name>`, derived by the instrument's file of the same name.

    A parameter of the function is the instrument's asset of that name, unless it is the study or a resource. An error
    of ours becomes a dagster Failure with its one line and a link to its node job's log; it is never retried, since the
    input has to be mended first. Assets that ask models cost money or GPU time: they have the tag `asks_models`.

    Args:
        group: name of the asset's group, as the survey calls it.
        checks: sentences about the asset, one result of each per partition.
        stamp: hash of what lies outside the project; it goes into the code version.
        inputs: further assets, for the function's `**` parameter.
        many: inputs that are given as a dict of the partitions that exist.
        everywhere: those that are given as a dict of all partitions, whatever partition the asset is made in.
        reads: tables and keys of the study that the derivation reads and goes stale with. The study's name is always
            one of them: another study of the same instance has files of its own.
        entries: tables of which each entry counts for itself, see `entries_of`; a new one makes nothing stale.
        files: stamps of files by partition, each of which counts for itself too.
        modules: what the function names and does not import; its code version covers them too. A name that begins with
            a dot is in the instrument's package.
        wiring: what the function was made from, where several assets are made by one function; `sources` of functions
            that it calls.
        docs: page of the documentation that describes it, by default the one with the instrument's name.
        line: gives the line that the UI shows of its value, where the asset has no line of its own.
        picture: draws what the UI shows of its value, where the asset has no picture of its own.
        step: its step between readings and report, which decides whether it follows arriving cells by itself.
        ins: inputs that need more than a name.
    """

    def declared(function: Callable[..., Any]) -> dg.AssetsDefinition:
        name = function.__name__
        key, tables, page = instrument.key(name), sorted({"name", *reads}), _page(instrument, docs)
        hashes = entries_of(study, entries) | ({"files": dict(files)} if files else {})
        chosen = {**_by_io_manager(name, options.get("io_manager_key", "")), **options}
        source, data = inspect.getsource(function) + wiring, "" if name in NODE_ONLY else instrument.name
        derived, package = _modules(instrument, name, modules), instrument.package
        version = code_version(derived, study, tables, source, data, package, function.__module__)
        tags = {"asks_models": "yes"} if name in NODE_JOBS else {}
        recorded = {READS: sorted({*tables, *entries})} | ({ENTRIES: hashes} if hashes else {})
        return dg.asset(
            key=key,
            ins=_inputs(instrument, function, inputs, many, everywhere) | dict(ins),
            group_name=instrument.called(group),
            tags={"study": study.name} | tags | ({STEP: step} if step else {}),
            owners=list(study.owners) or None,
            metadata={"docs": docs_of(page)} | recorded,
            code_version=version + stamp[:8],
            check_specs=[each.spec(key, page, options.get("partitions_def")) for each in checks] or None,
            automation_condition=condition_of(study, instrument.name, step),
            **chosen,
        )(_failing_clearly(function, study, hashes, line, picture, is_frame="dagster_type" in chosen))

    return declared


def _page(instrument: Instrument, docs: str) -> str:
    """The page of the documentation that describes an asset, or its address: by default the instrument's own."""
    if docs and docs != instrument.package.rpartition(".")[2]:
        return docs
    is_ours = instrument.package.startswith(f"{PACKAGE}.")
    return instrument.docs or (instrument.name if is_ours else "plugins")


def _by_io_manager(name: str, io_manager: str) -> dict[str, Any]:
    """What the UI says of an asset that is written by an IO manager, where the asset says nothing else."""
    is_table = io_manager == "frame" and name in TABLES
    return {"kinds": KINDS.get(io_manager)} | ({"dagster_type": frame_type(TABLES[name])} if is_table else {})


def _modules(instrument: Instrument, name: str, modules: Sequence[str]) -> list[str]:
    """The modules that derive an asset: that of its name, those that are declared, and its node job's."""
    by_name = [] if name in NODE_ONLY else homes(instrument.package, name)
    named = [f"{instrument.package}{module}" if module.startswith(".") else module for module in modules]
    return [*by_name, *named, *([NODE_JOBS[name]] if name in NODE_JOBS else [])]


def sources(*functions: Callable[..., Any]) -> str:
    """The source of functions that do an asset's work, for its `wiring`: its code version covers them like its own."""
    return "".join(map(inspect.getsource, functions))


def _inputs(
    instrument: Instrument,
    function: Callable[..., Any],
    inputs: Sequence[str],
    many: Sequence[str],
    everywhere: Sequence[str],
) -> dict[str, dg.AssetIn]:
    """The assets that a function takes by the names of its parameters, and further ones."""
    parameters = [
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.kind is not each.VAR_KEYWORD and each.annotation not in (dg.AssetExecutionContext, Storage, Study)
    ]
    return {
        name: dg.AssetIn(
            instrument.key(name),
            metadata=DICT_OF_PARTITIONS if name in (*many, *everywhere) else None,
            input_manager_key=name if name == instrument.asks else None,
            partition_mapping=dg.AllPartitionMapping() if name in everywhere else None,
        )
        for name in (*parameters, *inputs)
    }


def _failing_clearly(
    function: Callable[..., Any],
    study: Study,
    hashes: Mapping[str, Mapping[str, str]],
    line: Line | None,
    picture: Picture | None,
    is_frame: bool,
) -> Callable[..., Any]:
    """An asset's function as Dagster runs it: an error of ours fails it with one line, a result has its first look.

    Args:
        hashes: of the study's entries, by table; the result remembers those that it was made from.
        is_frame: whether its Dagster type takes nothing but a frame.
    """

    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    given = {each.name: study for each in parameters if each.annotation is Study}

    @functools.wraps(function)
    def failing_clearly(*args: Any, **kwargs: Any) -> Any:
        began, context = time.time(), dg.AssetExecutionContext.get()
        partition = own_partition(context)
        try:
            _require_partition(context, partition)
            if why := why_no_cell(context.assets_def.partitions_def, partition):
                return _no_cell(context, why, is_frame)
            result = first_look(function(*args, **kwargs, **given), line, picture, study)
            entries = entries_of_partition(hashes, partition)
            made_of = {ENTRIES: dg.MetadataValue.json(entries)} if hashes else {}
            return result._replace(
                metadata={**(result.metadata or {}), **made_of},
                tags={**(result.tags or {}), **tags_of_entries(entries)},
            )
        except ValuesAssetsError as error:
            log = _log_since(began, context, kwargs.get("storage"), partition)
            raise dg.Failure(str(error), log, allow_retries=False) from error

    # Dagster reads "MaterializeResult" as "no value" where an asset has checks; ours carry values.
    failing_clearly.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[_as_resource(each) for each in parameters if each.name not in given],
        return_annotation=inspect.Signature.empty,
    )
    return failing_clearly


def _log_since(
    began: float, context: dg.AssetExecutionContext, storage: Storage | None, partition: Any
) -> dict[str, Any]:
    """A link to the log of a partition's node job; none where the log is of an earlier run."""
    if storage is None:
        return {}
    log = storage.job_folder(context.asset_key, partition) / LOG
    return {"log": link_to(storage, log)} if log.exists() and log.stat().st_mtime >= began else {}


def _as_resource(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter as Dagster sees it: the storage is a resource, inputs have no type since IO managers check them."""
    if parameter.annotation is Storage:
        return parameter.replace(annotation=STORAGE)
    is_input = parameter.annotation is not dg.AssetExecutionContext
    return parameter.replace(annotation=parameter.empty) if is_input else parameter


def _no_cell(context: dg.AssetExecutionContext, why: str, is_frame: bool) -> dg.MaterializeResult[Any]:
    """The result of a partition that is no cell: nothing is asked or written, its checks have nothing to look at."""
    # The Dagster type of a frame takes nothing else than a frame; it is not written.
    value: dict[str, Any] = {"value": pd.DataFrame()} if is_frame else {}
    context.log.info(why)
    checks = [
        dg.AssetCheckResult(passed=True, check_name=spec.name, description=why)
        for spec in context.assets_def.check_specs
    ]
    return dg.MaterializeResult(metadata={SUMMARY: why}, tags={MADE_OF: NO_CELL}, check_results=checks, **value)


def _require_partition(context: dg.AssetExecutionContext, partition: str | None) -> None:
    """See that a run which was launched by hand names a partition of the asset, since a click never names another;
    StudyError names the partitions that can be chosen."""
    partitions = context.assets_def.partitions_def
    if partitions is not None and (partition is None or not partitions.has_partition_key(str(partition))):
        names = ", ".join(str(key) for key in partitions.get_partition_keys())
        fault = "a partition has to be chosen" if partition is None else f"{str(partition)!r} is none of its partitions"
        raise StudyError(f"{context.asset_key.to_user_string()}: {fault}; there are {names}")


@cache
def frame_type(table: Table) -> dg.DagsterType:
    """The dagster-pandas type of a table: what the UI says of an asset's value before it was ever made.

    No column has to be there: a table without rows has none yet. What may be written is checked by the table itself.
    """
    return create_dagster_pandas_dataframe_type(
        name=table.name.replace("_", " ").title().replace(" ", ""),
        description=f"One row is {table.row}.",
        columns=[PandasColumn(column.name, is_required=False) for column in table.columns if not column.pattern],
    )
