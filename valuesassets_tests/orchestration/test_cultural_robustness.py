"""Cultural robustness as a graph: a small study of a model that is trained here, from questions to the page."""

import pandas as pd
import pytest

from valuesassets.orchestration.grid.cells import answers_job
from valuesassets.orchestration.instruments import CULTURAL_ROBUSTNESS
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData
from valuesassets.records.seals import read_record, write_record
from valuesassets.records.study import load_study
from valuesassets_tests.orchestration.small_study import copied

pytestmark = [pytest.mark.slow]
LANGUAGES = ("deu", "ell", "eng")


@pytest.fixture(scope="module")
def made(small_robustness):
    """The folder of the instrument's files."""
    return small_robustness / "storage" / "small" / "cultural_robustness"


@pytest.mark.first_look
def test_every_asset_of_the_instrument_is_made(made):
    study = load_study(str(made.parents[2] / "small.toml"))
    nouns = {key.path[-1] for asset in CULTURAL_ROBUSTNESS.assets(study) for key in asset.keys}
    assert nouns <= {path.name for path in made.iterdir()}
    assert {path.stem for path in (made / "answers" / "cultures").glob("*.parquet")} == set(LANGUAGES)


@pytest.mark.first_look
def test_scores_hold_ours_and_published_ones_of_every_model_with_a_number_or_a_reason(made):
    scores = pd.read_csv(made / "scores" / "scores.csv")
    assert {"diversity", "robustness", "country_follow", "seed_diversity", "csp"} <= set(scores["score"])
    assert (scores["value"].notna() | scores["reason"].notna()).all()
    few = scores.set_index("score").loc["seed_diversity"]
    assert few["status"] == "undefined"  # three languages: the seed divides by zero


def test_each_language_has_a_page_of_prompts_and_answers_with_those_that_do_not_count_first(made):
    quality = pd.read_csv(made / "answer_quality" / "cultures.csv")
    assert set(quality["language"]) == set(LANGUAGES)
    page = (made / "answer_quality" / "cultures" / "ell.html").read_text(encoding="utf-8")
    asked = pd.read_parquet(made / "questions" / "ell.parquet")["prompt"].iloc[0]
    assert asked in page
    assert "http" not in page.replace("http-equiv", "")


def test_a_language_that_the_card_does_not_name_is_not_asked(small_robustness, tmp_path):
    environment = copied(small_robustness, tmp_path)
    study, storage = (
        load_study(str(tmp_path / "small.toml")),
        Storage(root=environment["VALUESASSETS_STORAGE"], study="small"),
    )
    place = storage.path(CULTURAL_ROBUSTNESS.key("model_languages"), "cultures", "json")
    write_record(place, {**read_record(place), "languages": ["deu", "eng"], "source": "model card"})
    cells = {cell.language: cell for cell in CULTURAL_ROBUSTNESS.cells(study)}
    assert answers_job(study, storage, CULTURAL_ROBUSTNESS, cells["deu"]).cells[0].name == "cultures/deu"
    with pytest.raises(
        MissingData, match="cultures is not asked in ell: its model card, or EVAL_LANGUAGES, names deu, eng"
    ):
        answers_job(study, storage, CULTURAL_ROBUSTNESS, cells["ell"])
