"""Prints the table of docs/staleness.md: the assets that a change of each part of the study file makes stale.

`python -m valuesassets.orchestration.what_goes_stale` prints it for the study in VALUESASSETS_STUDY.
"""

import os

import dagster as dg

from valuesassets.orchestration.assets.declaring import READS
from valuesassets.orchestration.code_versions import TRAINED
from valuesassets.orchestration.instruments import MODELS, instruments_of
from valuesassets.orchestration.io_managers import study_io_managers
from valuesassets.orchestration.resources import Storage
from valuesassets.records.study import DEMO, Study, load_study

ONE_BY_ONE = {
    "languages": "an entry of `languages`",
    "families": "an entry of `families`: `kind`, `model_type`, `model_id`, `adapter`, `plants`",
    "models": "an entry of `families`: its models, or how they are asked (`revision`, `adapter`, `adapter_revision`, "
    "`dtype`, `bos`, `prompting`, the host of `endpoint`)",
    TRAINED: "a family of `kind = 'reference'`, including a new one",
}
"""Descriptions of names in `reads` that stand for single entries of tables."""


def stale_table(definitions: dg.Definitions) -> str:
    """A Markdown table: for each table or key of the study, the assets that its change makes stale directly.

    Assets that depend on these become stale only if their data change.
    """
    graph = definitions.get_repository_def().asset_graph
    readers: dict[str, list[str]] = {}
    for key in sorted(graph.get_all_asset_keys(), key=lambda key: key.to_user_string()):
        for part in graph.get(key).metadata[READS]:
            readers.setdefault(part, []).append(f"`{key.to_user_string()}`")
    unread = {*Study.instrument_keys()} - readers.keys()  # tables of instruments that the study does not run
    parts = (part for part in (*Study.model_fields, *ONE_BY_ONE) if part not in unread)
    labels = {part: ONE_BY_ONE.get(part, f"`{part}`") for part in parts}
    readers["name"] = ["everything: another study has its own files"]
    rows = [f"| {words} | {', '.join(readers.get(part, ['nothing']))} |" for part, words in labels.items()]
    return "\n".join(["| a change of | makes stale |", "|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    study = load_study(os.environ.get("VALUESASSETS_STUDY") or DEMO)
    storage = Storage(root="storage", study=study.name)
    assets = [asset for instrument in (MODELS, *instruments_of(study)) for asset in instrument.assets(study)]
    print(stale_table(dg.Definitions(assets, resources={"storage": storage, **study_io_managers(storage)})), end="")
