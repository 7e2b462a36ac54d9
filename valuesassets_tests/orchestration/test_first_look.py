import warnings

import dagster as dg
import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.survey.analyses import ANALYSES
from valuesassets.orchestration import checks
from valuesassets.orchestration.assets.survey.material import survey_assets
from valuesassets.orchestration.first_look.lines import controls_line, probe_line
from valuesassets.orchestration.first_look.pictures import draw_controls
from valuesassets.orchestration.first_look.shown import first_look, link_to
from valuesassets.orchestration.record_checks import CHECKS
from valuesassets.orchestration.resources import Storage
from valuesassets.records.study import load_study
from valuesassets.reporting.analyses import line_of
from valuesassets_tests.needs import REPOSITORY

STUDIES = {name: survey_assets(load_study(name)) for name in ("demo_survey", "evs2017")}
ASSETS = {asset.key.path[-1]: asset for assets in STUDIES.values() for asset in assets}
CONTROLS = (controls_line, draw_controls)
SENTENCES = [
    *CHECKS.values(),
    *checks.EXTRACTION,
    *checks.ALIGNMENT,
    *(each for each in vars(checks).values() if isinstance(each, checks.Sentence)),
]


@pytest.mark.parametrize("name", ASSETS)
def test_an_asset_tells_a_newcomer_what_it_is_whose_it_is_and_where_to_read_on(name):
    spec = next(iter(ASSETS[name].specs))
    assert spec.description
    assert spec.owners == ["team:values"]
    assert spec.group_name
    assert {kind for kind in spec.tags if kind.startswith("dagster/kind/")}
    page = spec.metadata["docs"].value.partition("/docs/")[2]
    assert (REPOSITORY / "docs" / f"{page}.md").is_file()
    assert {check.metadata["docs"] for check in ASSETS[name].check_specs} <= {spec.metadata["docs"]}


def test_what_costs_model_time_has_a_tag_to_select_it_by():
    asking = {name for name, asset in ASSETS.items() if next(iter(asset.specs)).tags.get("asks_models")}
    assert {"preflight", "readings", "reference_models"} <= asking
    assert not asking & {"trials", "cultural_map", "report"}


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: sentence.name)
def test_a_failed_check_says_what_to_do(sentence):
    failed = sentence.result([{"question_id": "v7", "reason": "lost"}], 3, log="http://127.0.0.1:3001/log")
    assert sentence.what_to_do in failed.description
    assert failed.description.startswith("question_id: v7; reason: lost")
    assert failed.metadata["what_to_do"].value == sentence.what_to_do
    assert sentence.what_to_do in sentence.spec(dg.AssetKey(["survey", "readings"])).description
    passed = sentence.result([], 3)
    assert passed.description is None
    assert "what_to_do" not in passed.metadata


def test_the_line_stands_first_and_the_picture_last():
    study = load_study("demo_survey")
    controls = pd.DataFrame({"language": ["eng"], "answered_by": ["deu"], "fails": [True], "w1_unit_error_mean": [0.3]})
    given = dg.MaterializeResult(value=controls, metadata={"pairs": 1}, data_version=dg.DataVersion("1"))
    shown = first_look(given, *CONTROLS, study)
    assert list(shown.metadata) == ["summary", "pairs", "picture"]
    assert shown.metadata["summary"] == "1 of 1 wrong-language pairs fail, as all must"
    assert shown.metadata["picture"].value.startswith("![picture](data:image/png;base64,")
    assert shown.value is controls
    assert shown.data_version == dg.DataVersion("1")


def test_an_analysis_that_was_refused_says_why_in_its_line():
    refused = {"refused": pd.DataFrame({"reason": ["no cell has been read"]})}
    for name in ("reliability", "signal", "distances", "human_comparison", "cultural_map"):
        assert line_of(ANALYSES[name], refused) == "refused: no cell has been read"


def test_only_what_is_published_is_linked(tmp_path):
    storage = Storage(root=str(tmp_path), study="demo_survey")
    page = link_to(storage, tmp_path / "demo_survey" / "survey" / "report" / "report.html")
    assert page == dg.MetadataValue.url("/pages/storage/demo_survey/survey/report/report.html")
    people = tmp_path / "demo_survey" / "survey" / "respondents" / "respondents.parquet"
    assert link_to(storage, people) == dg.MetadataValue.path(str(people))


def test_an_analysis_of_too_few_cells_has_a_line_all_the_same():
    empty = dict.fromkeys(
        ("pairs", "summary", "by_response_type", "own_country", "families", "verdicts"), pd.DataFrame()
    )
    for name in ("reliability", "signal", "distances", "human_comparison", "mono_vs_multi", "position_bias"):
        assert line_of(ANALYSES[name], empty).startswith(("no ", "nothing ")), name


def test_a_result_is_not_lost_for_the_line_about_it():
    study, odd = load_study("demo_survey"), pd.DataFrame({"surprise": [1]})
    shown = first_look(odd, *CONTROLS, study)
    assert shown.value is odd
    assert shown.metadata["summary"].startswith("cannot be shown (AttributeError")
    assert "the result itself is whole" in shown.metadata["picture"]


def test_a_cell_that_was_read_in_one_order_alone_has_a_line_without_its_bias():
    rows = {"question_id": ["v1", "v2"], "wording": ["w", "w"], "p_valid": [0.5, 0.7]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        line = probe_line(pd.DataFrame(rows | {"position_bias_magnitude": [np.nan, np.nan]}))
    assert line == "2 of 2 questions read; median P_valid 0.60, no question in both orders"
