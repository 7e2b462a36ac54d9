"""The command `ls`: what is bundled (studies, instruments, models, tasks, languages), and which tables are stored."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Annotated, Any, Literal

import typer

from valuesassets.cli.command_table import INSTRUMENTS, group_name
from valuesassets.cli.instruments import names, record_of
from valuesassets.library.stored import described_tables, stored_studies
from valuesassets.records.extras import is_complete
from valuesassets.records.places import STUDIES, bundled_names, storage_root
from valuesassets.records.plugins import installed
from valuesassets.records.terminal import terminal_text

Kind = Literal["studies", "instruments", "models", "tasks", "languages", "tables"]
Entry = dict[str, Any]
"""What is listed: its name, and facts by their names in JSON."""
DEMO = "demo_survey"
GIB = 2**30


def ls(
    kind: Annotated[Kind | None, typer.Argument(help="What to list; everything but tables if left out.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: an array of objects, or one for each kind.")
    ] = False,
) -> None:
    """List the studies, instruments, models, tasks or languages that are bundled, or the tables that are stored."""
    kinds = [kind] if kind else [each for each in LISTS if each != "tables"]
    entries = {each: list(LISTS[each][0]()) for each in kinds}
    if as_json:
        print(json.dumps(entries[kind] if kind else entries, ensure_ascii=False, indent=1))
        return
    for each in kinds:
        if not kind:
            print(f"{each}:")
        _print(entries[each], LISTS[each][1], "" if kind else "  ")
    if kind == "tables" and not entries[kind]:
        print(f"no table is stored in {storage_root()}; run a study first: valuesassets run {DEMO}")


def _print(entries: list[Entry], words: Callable[[Entry], str], indent: str) -> None:
    """Print a line for each entry: its name in a column, then what is said of it."""
    width = max((len(entry["name"]) for entry in entries), default=0)
    for entry in entries:
        print(terminal_text(f"{indent}{entry['name']:<{width}}  {words(entry)}"))


def _studies() -> Iterator[Entry]:
    for name in bundled_names(".", ".toml"):
        content = _study_file(name)
        yield {"name": name, "title": content["title"], "takes": content.get("takes")}


def _study_words(study: Entry) -> str:
    return study["title"] + (f"; takes {study['takes']}" if study["takes"] else "")


def _study_file(name: str) -> dict[str, Any]:
    return tomllib.loads((STUDIES / f"{name}.toml").read_text("utf-8"))


def _instruments() -> Iterator[Entry]:
    demos = [name for name in bundled_names(".", ".toml") if name.startswith("demo_")]
    for name in names():
        record = record_of(name)
        table = record.study_key
        about = record.about or (import_module(record.package).__doc__ or "").partition(";")[0].rstrip(".")
        demo = next((study for study in demos if table in _study_file(study)), None)
        group = group_name(name) if name in INSTRUMENTS or record.commands else None
        package = {"package": installed().packages[name]} if name in installed().packages else {}
        yield {"name": name, "about": about, "table": table, "commands": group, "demo": demo} | package


def _instrument_words(instrument: Entry) -> str:
    example = f"valuesassets run {instrument['demo']}" if instrument["demo"] else f"of {instrument['package']}"
    return f"{instrument['about']} ({example})"


def _models() -> Iterator[Entry]:
    from valuesassets.models.index_registry import PREFIX, find_index_file, index_models

    for name, model in index_models().items():
        facts = {"title": model.title, "licence": model.licence, "bytes": model.bytes}
        is_here = is_complete("models") and find_index_file(name) is not None  # none is fetched without that extra
        yield {"name": f"{PREFIX}{name}", **facts, "is_here": is_here}


def _model_words(model: Entry) -> str:
    state = "here" if model["is_here"] else f"{model['bytes'] / GIB:.2g} GiB to fetch"
    return f"{model['title']}; {model['licence']}; {state}"


def _tasks() -> Iterator[Entry]:
    for name in bundled_names("psych_tasks", ".toml"):
        first = (STUDIES / "psych_tasks" / f"{name}.toml").read_text("utf-8").partition("\n\n")[0]
        comment = " ".join(line.lstrip("# ") for line in first.splitlines() if line.startswith("#"))
        yield {"name": name, "about": re.split(r" \(|, as |[:.;](?: |$)", comment)[0]}


def _languages() -> Iterator[Entry]:
    from valuesassets.answers.language_codes import known_languages

    languages, forms = known_languages(), bundled_names("questionnaires", ".pdf")
    for code in bundled_names("lexicons", ".toml"):
        yield {"name": code, "english_name": languages[code].names[0], "has_questionnaire": code in forms}


def _language_words(language: Entry) -> str:
    return language["english_name"] + ("; with a questionnaire" if language["has_questionnaire"] else "")


def _tables() -> Iterator[Entry]:
    for folder in stored_studies():
        for table in described_tables(folder):
            yield {"name": f"{folder.name}/{table.pop('table')}", **table}


def _table_words(table: Entry) -> str:
    files = "1 file" if table["files"] == 1 else f"{table['files']} files"
    return f"{files}, {table['bytes'] / 1e6:.2g} MB; a row is {table['row']}"


LISTS: dict[str, tuple[Callable[[], Iterator[Entry]], Callable[[Entry], str]]] = {
    "studies": (_studies, _study_words),
    "instruments": (_instruments, _instrument_words),
    "models": (_models, _model_words),
    "tasks": (_tasks, lambda each: each["about"]),
    "languages": (_languages, _language_words),
    "tables": (_tables, _table_words),
}
"""What lists each kind of thing, and what is said of each in a line."""
