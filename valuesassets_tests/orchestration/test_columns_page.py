import re
from dataclasses import fields

import dagster as dg
import pytest

from valuesassets.answers.quality_report import QualityReport
from valuesassets.comparing.answer_grid import answer_grid
from valuesassets.definitions import build_definitions
from valuesassets.instruments.survey.analyses import ANALYSES
from valuesassets.instruments.survey.tables import SHIFT_TABLES
from valuesassets.orchestration.assets.declaring import frame_type
from valuesassets.orchestration.columns_page import PAGE, described_tables, write_page
from valuesassets.orchestration.instruments import INSTRUMENTS, SURVEY
from valuesassets.orchestration.io_managers import declared_table
from valuesassets.records.columns import COLUMNS, RULES
from valuesassets.records.study import load_study
from valuesassets.records.tables import TABLES
from valuesassets.reporting.analyses import derived
from valuesassets_tests.comparing import planted_grid

OF_WORLDS = ["coverage", "rejections", "verdicts", "errors", "p_values", "notes"]
"""`test_simulated_worlds.py` holds that these are they."""
BY_NODE_JOBS = {"answers", "readings", "planted_texts", "planted_transcripts", "sampled_answers", "embedded_texts"}
OF_DRAWS = {"drawn_answers"}
"""Written where a family has draws, as none of the demo has."""
OF_REAL_MODELS = {"survey/self_calibration/comparison", "survey/self_calibration/controls"}
"""Written where a study has no reference family, as the demo has."""
BY_ALL = {"questions", "refused"}
"""Question files; and what stands in place of any analysis that was refused."""


@pytest.fixture(scope="module")
def by_manager(tmp_path_factory):
    """Names of the demo's assets by what they are written by."""
    found = {}
    graph = build_definitions(load_study("demo_survey"), tmp_path_factory.mktemp("storage")).resolve_asset_graph()
    for asset in graph.assets_defs:
        for key in asset.keys:
            found.setdefault(asset.get_io_manager_key_for_asset_key(key), set()).add(key.path[-1])
    return found


def test_the_page_says_what_the_code_says():
    assert PAGE.read_text(encoding="utf-8") == write_page(), "run: python -m valuesassets.orchestration.columns_page"


@pytest.mark.slow
def test_every_table_that_is_written_is_declared_and_every_declared_one_is_written(by_manager):
    answers, human = planted_grid.answers(), planted_grid.human()
    given = {"answers": answers, "grid": answer_grid(answers, human), "human": human, "study": planted_grid.demo()}
    given |= {"respondents": planted_grid.people(), "human_means": None, "n_parameters": None, "reliability": {}}
    offered = {name: lambda name=name: given[name] for name in given}
    tables = {"quality_report": [each.name for each in fields(QualityReport)], "simulated_worlds": OF_WORLDS}
    tables["question_answers"] = ["answers", "options"]  # `test_question_answers.py` holds that these are they
    tables["shift"] = [*SHIFT_TABLES, "tests", "notes"]  # `test_shift.py` holds that these are they
    tables |= {name: [*derived(ANALYSES[name], offered)] for name in ANALYSES if name not in tables}
    assert by_manager["frames"] | {"shift"} == set(tables)  # the demo compares no models before and after
    written = {declared_table(SURVEY.key(name)).name for name in by_manager["frame"] | by_manager["trials"]}
    written |= {declared_table(SURVEY.key(asset), name).name for asset, names in tables.items() for name in names}
    others = tuple(f"{each.name}/" for each in INSTRUMENTS if each is not SURVEY)
    described = {table.name for table in described_tables() if not table.name.startswith(others)}
    assert written | BY_NODE_JOBS | BY_ALL | OF_REAL_MODELS | OF_DRAWS == described


def test_no_column_is_described_that_no_table_has():
    names, made_of = set(), {column.name for table in described_tables() for column in table.columns}
    while made_of:
        names |= made_of
        found = (re.fullmatch(pattern, name) for name in made_of - set(COLUMNS) for pattern, *_ in RULES)
        made_of = {each[1] for each in found if each}
    assert set(COLUMNS) - names == set()


def test_an_asset_of_no_known_instrument_has_the_shared_tables_alone():
    assert declared_table(dg.AssetKey(["toy", "signal"]), "notes") is TABLES["notes"]


def test_the_type_that_the_ui_shows_is_that_of_the_assets_own_table(tmp_path):
    """An instrument may have a table of its own under the name of a shared one."""
    graphs = [build_definitions(load_study(name), tmp_path) for name in ("demo_survey", "demo_cultural_robustness")]
    assets = [asset for graph in graphs for asset in graph.resolve_asset_graph().assets_defs]
    told = {
        key: asset.op.output_dict[asset.get_output_name_for_asset_key(key)] for asset in assets for key in asset.keys
    }
    types = {key: each.dagster_type for key, each in told.items() if each.io_manager_key == "frame"}
    typed = {key for key, kind in types.items() if not kind.is_builtin}
    assert [key for key in typed if types[key] is not frame_type(declared_table(key))] == []
    assert SURVEY.key("probe_distributions") in typed
