"""Whole studies: `study` checks one and says what its questions cost, `run` and `demo` run one through its graph."""

import os
import shlex
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any

import pydantic
import typer

from valuesassets.cli.completion import offer_assets, offer_keys
from valuesassets.cli.homes import OwnStudy, named_study, ready
from valuesassets.cli.inputs import MaybeStudyName, open_study, require_folder_place
from valuesassets.cli.instruments import attribute_of, commands_of, instruments_of, names, parts_of
from valuesassets.cli.study_forms import entries_not_asked, ignored_forms, require_no_clash
from valuesassets.cli.study_help import explain_key, print_schema
from valuesassets.cli.systems import require_posix
from valuesassets.desk.history import copy_old_history, dagster_folder
from valuesassets.desk.instance_settings import require_instance_settings
from valuesassets.desk.summaries.summary import duration
from valuesassets.records.errors import JobError, ModelError, StorageError, StudyError
from valuesassets.records.extras import extras_of, require
from valuesassets.records.home import command_to, dagster_home, own_study
from valuesassets.records.places import labelled, storage_root
from valuesassets.records.processes import python_module, safe_path
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.settings.kinds import is_model_path
from valuesassets.records.study import DEMO, EARLIER_NAMES, Family, Study, cells_of, study_path
from valuesassets.records.trials import Trial

MODEL_KEYS = ("tokenizer", "embedder")
"""Keys that take a folder or the name of a model on the hub; `model_id` has its languages to be filled in."""
MAY_BE_ABSENT = "overrides"
"""The end of keys whose folder need not be there."""
PICTURES = {"map": "cultural_map/cultural_map.png", "answers": "question_answers"}
"""Places below an instrument's folder that are named at the end of a run, where they are there."""


def study(
    name: MaybeStudyName = None,
    slurm: Annotated[
        bool, typer.Option("--slurm", help="Print the batch scripts for Slurm and submit nothing.")
    ] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print a JSON Schema of study files, by which editors check and complete.")
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            autocompletion=offer_keys,
            help="Print what a key of a study file is, such as human.source: its type, default, description, and what "
            "its change makes stale.",
        ),
    ] = None,
) -> None:
    """Check a study file and print its questionnaires, languages, models and number of cells."""
    if schema or explain is not None:
        print_schema() if explain is None else explain_key(explain)
        return
    name = named_study() if name is None else name
    chosen = open_study(name)
    if slurm:
        raise typer.Exit(subprocess.run([*_graph(name), "--dry-run"], check=False).returncode)
    lacking = lacking_paths(chosen)
    if lacking and chosen.slurm is None:  # a cluster's nodes may see what this machine does not
        raise StudyError(
            f"study {chosen.name}: {'; '.join(lacking)}; paths count from the folder of the study file: mend them, or "
            "put there what they name"
        )
    require_no_clash(chosen)
    print(f"{chosen.name}: {chosen.title}")
    if (forms := chosen.questionnaires) is not None:
        files = ", ".join(forms.forms(chosen.languages)) or forms.source
        print(f"questionnaires: {files}; all are aligned to {forms.master}")
        for line in (*ignored_forms(chosen), *entries_not_asked(chosen)):
            print(line)
    print(f"languages ({len(chosen.languages)}): {', '.join(chosen.languages)}")
    for label, family in chosen.families.items():
        n_languages, resources = len(chosen.family_languages(label)), family.resources
        model = labelled(family.model_id or "trained here on planted answers", family.adapter)
        languages = f"{n_languages} language{'s' * (n_languages != 1)}"
        chat = ", asked in a chat" if family.prompting.is_chat else ""
        print(
            f"family {label}: {model}, {family.model_type}, {languages}, {family.dtype}{chat}; "
            f"per cell {resources.gpus} GPU, {resources.memory_gib} GiB, {resources.hours:g} h"
        )
    weights = [each for label in chosen.families for each in chosen.weights(label)]
    if weights:
        print(f"weights: {len(weights)} models, fetched once before any of them is asked")
    print(f"cells: {cells_line(chosen)}; orders {chosen.elicitation.orders}, wordings {chosen.elicitation.wordings}")
    print_costs(chosen, name)
    if chosen.takes:
        print(f"a run takes {chosen.takes}")
    if lacking:
        print(f"not on this machine: {'; '.join(lacking)}")


def lacking_paths(study: Study) -> list[str]:
    """The folders and files that a study names and that are not there, each with its key."""
    named = [(key, path) for key, path in _paths(study, "") if not key.endswith(MAY_BE_ABSENT)]
    weights = [(name, each) for name in study.families for each in study.weights(name)]
    named += [(f"families.{name}.model_id", model) for name, (model, _) in weights]
    named += [(f"families.{name}.adapter", adapter) for name, (_, adapter) in weights if adapter is not None]
    paths = [(key, Path(place)) for key, place in named if isinstance(place, Path) or is_model_path(place)]
    lacking = [f"{key}: {path}: no such folder or file" for key, path in paths if not path.exists()]
    adapters = [path for key, path in paths if key.endswith(".adapter") and path.is_dir()]
    configs = [path / "adapter_config.json" for path in adapters]
    lacking += [f"{path}: no such file; is {path.parent} an adapter?" for path in configs if not path.is_file()]
    if study.questionnaires is not None:
        lacking += study.questionnaires.lacking_forms(study.languages)
    return lacking


def _paths(record: Any, key: str) -> Iterator[tuple[str, Path | str]]:
    """Every path of a study's settings with its key, and every text that may be one."""
    if isinstance(record, pydantic.BaseModel):
        parts = [(name, getattr(record, name)) for name in type(record).model_fields]
    elif isinstance(record, Mapping):
        parts = [*record.items()]
    elif isinstance(record, tuple):
        parts = [*enumerate(record, 1)]
    else:
        parts = []
    for name, value in parts:
        inner = f"{key}.{name}".lstrip(".")
        if isinstance(value, Path) or (isinstance(value, str) and name in MODEL_KEYS):
            yield inner, value
        else:
            yield from _paths(value, inner)


def cells_line(study: Study) -> str:
    """How many cells a study has, by instrument where it has several.

    A cell is a family and a part of the instrument's: a language, a task, a culture, a set of persons.
    """
    counts = {name: len(cells_of(study, parts_of(name, study))) for name in instruments_of(study)}
    if len(counts) == 1:
        return str(next(iter(counts.values())))
    by_instrument = ", ".join(f"{name} {n}" for name, n in counts.items())
    return f"{sum(counts.values())} ({by_instrument})" if counts else "0"


def run(
    name: OwnStudy,
    only: Annotated[
        list[str] | None,
        typer.Option(
            autocompletion=offer_assets,
            help="Assets or groups of assets to make, as the UI names them; may be repeated.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Make again what is up to date too; no model is asked twice even so.")
    ] = False,
) -> None:
    """Run a study, or parts of it, skip what is up to date, and print what came of it."""
    require_posix("run")
    study, name = open_study(name), own_file_or(EARLIER_NAMES.get(name, name))
    if not only:
        require_no_clash(study)
        for line in ignored_forms(study):
            print(line, flush=True)
        require(f"study {study.name}", *extras_of(study))
        require_index_models(study)
        if study.takes:
            print(f"{study.name} takes {study.takes}; what is fresh is skipped", flush=True)
    environment = _environment(study, name)
    options = [*(["--only", *only] if only else []), *(["--force"] if force else [])]
    status = subprocess.run([*_graph(name), *options], env=environment, check=False).returncode
    for instrument in names():
        folder = storage_root() / study.name / instrument
        if folder.is_dir():
            print_end(folder)
    variable = "" if name == str(own_study() or DEMO) else f"VALUESASSETS_STUDY={shlex.quote(name)} "
    print(f"to see all of it in the web UI: {variable}{command_to('make ui', 'valuesassets ui')}")
    if status != 0:
        raise JobError(f"study {study.name}: a run failed; the lines above say which, the UI shows its log")


def own_file_or(name: str) -> str:
    """The file of the home's study where its name is given, since processes elsewhere do not know it by that name."""
    own = own_study()
    return str(own) if own is not None and study_path(name) == own else name


def _environment(study: Study, name: str) -> dict[str, str]:
    """The environment of a study's graph, its folders seen to be sound (else StorageError) and its history at its
    place."""
    ready()
    storage = storage_root()
    database = dagster_folder(study.name, storage, os.environ.get("VALUESASSETS_DAGSTER"))
    home = dagster_home()
    if not (home.is_absolute() and home.is_dir()):
        raise StorageError(f"DAGSTER_HOME={home}: no such folder; an absolute path was expected, or leave it unset")
    require_instance_settings(home, os.environ | {"VALUESASSETS_DAGSTER": str(database)})
    for place, variable in ((storage, "VALUESASSETS_STORAGE"), (database, "VALUESASSETS_DAGSTER")):
        require_folder_place(place, f"set {variable} to another folder")
    try:
        copy_old_history(study.name, storage, database, lambda line: print(line, flush=True))
        database.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"{database}: cannot be written: {error.strerror}; set VALUESASSETS_STORAGE to another folder"
        ) from None
    return os.environ | {
        "DAGSTER_HOME": str(home),
        "VALUESASSETS_STORAGE": str(storage),
        "VALUESASSETS_DAGSTER": str(database),
        "VALUESASSETS_STUDY": name,
        **safe_path(),
    }


def require_index_models(study: Study) -> None:
    """See that the models of the package index that a study names are here, before anything is made; ModelError has the
    command that fetches each."""
    named = {model for label in study.families for model in study.model_ids(label) if model.startswith("index:")}
    if not named:
        return
    from valuesassets.models.index_registry import find_index_file, require_index_model

    lacking = [name for name in sorted(model.removeprefix("index:") for model in named) if not find_index_file(name)]
    commands = [
        f"valuesassets models get {name}{'' if require_index_model(name).is_open else ' --accept-terms'}"
        for name in lacking
    ]
    if commands:
        many = "1 of its models is" if len(lacking) == 1 else f"{len(lacking)} of its models are"
        raise ModelError(f"study {study.name}: {many} not on this machine; fetch first: {'; '.join(commands)}")


def demo() -> None:
    """Run the demonstration study of the survey, which takes two to four minutes, and print what came of it."""
    require_posix("demo")
    require("demo", "models")
    start = time.monotonic()
    run(DEMO)
    print(f"this took {duration(time.monotonic() - start)}")


def _graph(name: str) -> list[str]:
    """The command that starts the graph of a study."""
    return python_module("valuesassets.definitions", name, "--storage", str(storage_root()))


def print_end(folder: Path) -> None:
    """Print the answer for each model, the checks that failed, and places, as the pages in an instrument's folder open
    with them."""
    from valuesassets.reporting.report import read_first_screen

    pages = sorted(folder.glob("report/*.html"))
    for page in pages:
        screen = read_first_screen(page.read_text(encoding="utf-8"))
        if screen:
            print(f"\nIn short ({page.stem})" if page.stem != "report" else "\nIn short")
            for model, answer in screen["answers"].items():
                print(f"  {model}: {answer}")
            for question in screen["questions"]:
                print(f"  {question['question']} {question['answer']}")
            for failed in screen["failed"]:
                print(f"  not passed{', by plan' if failed['by_plan'] else ''}: {failed['check']}")
                print(f"    {failed['by_plan'] or shorten(failed['found'], 160, placeholder=' …')}")
        print(f"report: {page}")
    if not pages:
        print("report: not written")
    for title, place in PICTURES.items():
        if (folder / place).exists():
            print(f"{title}: {folder / place}")


def print_costs(study: Study, name: str) -> None:
    """Print what the prompts of each instrument come to for each model behind an API, or how they get written; `name`
    is the study's name or path, as it was given."""
    remote = {label: family for label, family in study.families.items() if family.endpoint is not None}
    require(f"study {study.name}", *(family.kind for family in remote.values()))
    for instrument in instruments_of(study) if remote else ():
        study_prompts = getattr(commands_of(instrument), "study_prompts", None)
        for label, family in remote.items():
            prompts = study_prompts(study) if study_prompts else _stored(study, instrument, family)
            lines = list(_lines(study, label, prompts, attribute_of(instrument, "DRAWS", False)))
            for line in lines or [_how_prompts_are_written(instrument, name)]:
                print(f"{instrument} asks {label}: {line}")


def _how_prompts_are_written(instrument: str, name: str) -> str:
    """The command that writes an instrument's prompts, whose costs are not known before."""
    groups = " ".join(f"--only {group}" for group in attribute_of(instrument, "PROMPT_GROUPS", ()))
    command = f"valuesassets run {shlex.quote(name)} {groups}"
    return f"the costs are known once its prompts are written, which asks nothing: {command}"


def _lines(study: Study, label: str, prompts: Iterable[Sequence[Trial]], has_draws: bool) -> Iterator[str]:
    """One line for each model of a family that is asked something, its preflight included."""
    from valuesassets.answers.drawn_answers import drawn_trials
    from valuesassets.remote.asking import RemoteAsking
    from valuesassets.remote.cost import Usage

    family, languages = study.families[label], study.family_languages(label)
    assert family.endpoint is not None  # noqa: S101
    by_model: dict[str, list[RemoteAsking]] = {}
    listed = [trials for trials in prompts if trials and trials[0].language in languages]
    draws, rounds = (family.draws, family.draws.rounds) if has_draws and family.draws else (None, 1)
    # The draws of a preflight are among those of its cell.
    requests = (
        [*listed, *_preflights(study, listed)]
        if draws is None
        else [drawn_trials(trials, draws, family.prompting, study.seed, draws.n) for trials in listed]
    )
    for trials in requests:
        model, is_compared = str(family.model_id).format(lang=trials[0].language), draws is None
        asking = RemoteAsking(model, family.endpoint, family.prompting, trials, is_compared=is_compared)
        by_model.setdefault(model, []).append(asking)
    for model, askings in by_model.items():
        planned = [asking.planned() for asking in askings]
        about, most = (sum((each[which] for each in planned), Usage()) for which in (0, 1))
        n_answers = sum(len(asking.entries) for asking in askings)
        further = f", in each of up to {rounds} rounds" if rounds > 1 else ""
        yield f"{n_answers:,} answers of {model}{further}, {askings[0].describe(about, most)}"


def _preflights(study: Study, listed: Sequence[Sequence[Trial]]) -> Iterator[list[Trial]]:
    """The trials that are asked before a grid, apart from it: some questions of each part."""
    from valuesassets.answers.preflight import choose_preflight_trials

    for trials in listed:
        if isinstance(trials[0].readout, ScoreLabels):
            yield choose_preflight_trials(trials, study.preflight.questions, {})


def _stored(study: Study, instrument: str, family: Family) -> Iterator[list[Trial]]:
    """The prompts of an instrument that were written before."""
    from valuesassets.records.parquet import read_trials

    folder = storage_root() / study.name / instrument
    noun = "chat_trials" if family.prompting.is_chat and (folder / "chat_trials").is_dir() else "trials"
    for path in sorted((folder / noun).glob("*.parquet")):
        yield read_trials(path)
