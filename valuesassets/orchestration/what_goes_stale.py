"""The table of docs/staleness.md: which assets a change of each part of the study file makes stale.

`python -m valuesassets.orchestration.what_goes_stale` prints it, for the study that VALUESASSETS_STUDY names.
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
    "families": "an entry of `families`: `kind`, `model_type`, `model_id`, `plants`",
    "models": "an entry of `families`: how its models are asked (`revision`, `dtype`, `bos`, `prompting`, the host "
    "of `endpoint`), or which there are",
    TRAINED: "a family of `kind = 'reference'`, also a new one",
}
"""What stands for single entries among the tables that assets read, in words."""


def stale_table(definitions: dg.Definitions) -> str:
    """One row of Markdown per table or key of the study: the assets that a change of it makes stale by itself.

    What rests on these follows when their data come out differently.
    """
    graph = definitions.get_repository_def().asset_graph
    reading: dict[str, list[str]] = {}
    for key in sorted(graph.get_all_asset_keys(), key=lambda key: key.to_user_string()):
        for part in graph.get(key).metadata[READS]:
            reading.setdefault(part, []).append(f"`{key.to_user_string()}`")
    unread = {*Study.instrument_keys()} - reading.keys()  # tables of instruments that the study does not run
    parts = (part for part in (*Study.model_fields, *ONE_BY_ONE) if part not in unread)
    named = {part: ONE_BY_ONE.get(part, f"`{part}`") for part in parts}
    reading["name"] = ["everything: another study has files of its own"]
    rows = [f"| {words} | {', '.join(reading.get(part, ['nothing']))} |" for part, words in named.items()]
    return "\n".join(["| a change of | makes stale |", "|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    named = load_study(os.environ.get("VALUESASSETS_STUDY") or DEMO)
    storage = Storage(root="storage", study=named.name)
    made = [asset for each in (MODELS, *instruments_of(named)) for asset in each.assets(named)]
    print(stale_table(dg.Definitions(made, resources={"storage": storage, **study_io_managers(storage)})), end="")
