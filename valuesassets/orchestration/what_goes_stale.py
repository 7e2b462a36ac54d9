"""Prints the table of docs/staleness.md: the assets that a change of each part of the study file makes stale.

`python -m valuesassets.orchestration.what_goes_stale` prints it for the study in VALUESASSETS_STUDY; with `--keys` it
prints, for all bundled studies together, cli/what_goes_stale.txt, which `study --explain` reads without Dagster.
"""

import os
import sys
from collections.abc import Iterable

import dagster as dg

from valuesassets.orchestration.assets.declaring import READS
from valuesassets.orchestration.code_versions import FACTS_OF_A_FAMILY, NO_RESULT, TRAINED
from valuesassets.orchestration.instruments import MODELS, instruments_of
from valuesassets.orchestration.io_managers import study_io_managers
from valuesassets.orchestration.resources import Storage
from valuesassets.records.places import bundled_names
from valuesassets.records.settings.cells import Family
from valuesassets.records.study import DEMO, Study, load_study

ONE_BY_ONE = {
    "languages": "an entry of `languages`",
    "families": "an entry of `families`: `kind`, `model_type`, `model_id`, `adapter`, `plants`",
    "models": "an entry of `families`: its models, or how they are asked (`revision`, `adapter`, `adapter_revision`, "
    "`dtype`, `bos`, `prompting`, the host of `endpoint`)",
    TRAINED: "a family of `kind = 'reference'`, including a new one",
}
"""Descriptions of names in `reads` that stand for single entries of tables."""
READ_BY_KEYS = {*Study.instrument_keys()} - {"questionnaires"}
"""Tables of instruments whose assets read single keys of them."""


def stale_table(definitions: dg.Definitions) -> str:
    """A Markdown table: for each table or key of the study, the assets that its change makes stale directly.

    Assets that depend on these become stale only if their data change.
    """
    readers = {part: [f"`{name}`" for name in names] for part, names in _readers(definitions).items()}
    unread = {*Study.instrument_keys()} - readers.keys()  # tables of instruments that the study does not run
    parts = (part for part in (*Study.model_fields, *ONE_BY_ONE) if part not in unread)
    labels = {part: ONE_BY_ONE.get(part, f"`{part}`") for part in parts}
    readers["name"] = ["everything: another study has its own files"]
    rows = [f"| {words} | {', '.join(readers.get(part, ['nothing']))} |" for part, words in labels.items()]
    return "\n".join(["| a change of | makes stale |", "|---|---|", *rows]) + "\n"


def _readers(definitions: dg.Definitions) -> dict[str, list[str]]:
    """By table or key of the study, the names of the assets that declare to read it."""
    graph = definitions.get_repository_def().asset_graph
    readers: dict[str, list[str]] = {}
    for key in sorted(graph.get_all_asset_keys(), key=lambda key: key.to_user_string()):
        for part in graph.get(key).metadata[READS]:
            readers.setdefault(part, []).append(key.to_user_string())
    return readers


def stale_keys(studies: Iterable[Study]) -> str:
    """A line for each key of the study file that assets of these studies read: its place, and the assets by name.

    Tables of instruments whose assets read single keys of them, each its own, are left out.
    """
    readers: dict[str, set[str]] = {}
    for study in studies:
        for part, names in _readers(definitions_of(study)).items():
            readers.setdefault(part, set()).update(names)
    parts = {key: (key,) for key in Study.model_fields if key not in ("name", *READ_BY_KEYS)}
    parts |= {f"families.<name>.{key}": _parts_of(key) for key in Family.model_fields}
    parts["families"] = ("families", "models", TRAINED)
    stale = {place: sorted(set().union(*(readers.get(each, ()) for each in of))) for place, of in parts.items()}
    return "".join(f"{place}: {' '.join(names)}".rstrip() + "\n" for place, names in sorted(stale.items()))


def _parts_of(key: str) -> tuple[str, ...]:
    """The names in `reads` that cover a key of a family."""
    if key == "endpoint":
        return ("models",)
    return () if key in NO_RESULT else (*(["families"] if key in FACTS_OF_A_FAMILY else []), "models", TRAINED)


def definitions_of(study: Study) -> dg.Definitions:
    """The graph of a study, none of whose files are looked at."""
    storage = Storage(root="storage", study=study.name)
    assets = [asset for instrument in (MODELS, *instruments_of(study)) for asset in instrument.assets(study)]
    return dg.Definitions(assets, resources={"storage": storage, **study_io_managers(storage)})


if __name__ == "__main__":
    if sys.argv[1:] == ["--keys"]:
        print(stale_keys(map(load_study, bundled_names(".", ".toml"))), end="")
    else:
        print(stale_table(definitions_of(load_study(os.environ.get("VALUESASSETS_STUDY") or DEMO))), end="")
