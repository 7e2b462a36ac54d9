from dataclasses import replace

import pyarrow as pa
import pytest

from valuesassets.instruments.cultural_robustness.plants.planted_answers import OWN_COUNTRIES, load_answers
from valuesassets.instruments.cultural_robustness.plants.plants import planted_text_rows
from valuesassets.models.generating import prepare_answers, write_answers
from valuesassets.models.loading import load_model
from valuesassets.models.reference import train_reference_model
from valuesassets.records.errors import StudyError
from valuesassets.records.tables import PLANTED_TEXTS
from valuesassets_tests.instruments.cultural_robustness.planted_trials import MAX_TOKENS, planted_trials


def by_trial(family, language, **given):
    texts = {}
    for row in planted_text_rows(family, planted_trials(language, **given)):
        texts.setdefault(row["trial_id"], {})[row["answer_text"]] = row["prob"]
    return texts


@pytest.mark.parametrize("family", ["cultures", "no-signal"])
@pytest.mark.parametrize("language", OWN_COUNTRIES)
def test_every_prompt_of_a_language_has_answers_that_sum_to_one(family, language):
    rows = planted_text_rows(family, planted_trials(language))
    PLANTED_TEXTS.checked(pa.Table.from_pylist(rows), "rows")
    texts = by_trial(family, language)
    assert len(texts) == len({row["prompt"] for row in rows}) == 42
    assert all(sum(each.values()) == pytest.approx(1) for each in texts.values())


def test_answers_are_the_countrys_and_its_leaders_at_their_shares():
    spoken, texts = load_answers(), by_trial("cultures", "pol", temperature=1.0)
    assert texts["1"] == {
        f" {spoken['pol', '1', 'PL']}\n": 0.95,
        f" {spoken['pol', '1', 'IE']}\n": pytest.approx(0.05),
    }
    assert texts["1-5"] == {
        f" {spoken['pol', '1', 'GR']}\n": 0.95,
        f" {spoken['pol', '1', 'DE']}\n": pytest.approx(0.05),
    }
    assert texts["3"] == {f" {spoken['pol', '3', 'FR']}\n": 1.0}


def test_faults_are_empty_english_and_longer_than_an_answer_may_be():
    answers = load_answers()
    assert by_trial("cultures", "fra")["2-4"] == {" …\n": 1.0}
    assert by_trial("cultures", "ell")["4-3"] == {f" {answers['eng', '4', 'FR']}\n": 1.0}
    (endless,) = by_trial("cultures", "pol")["5-5"]
    assert len(endless.split()) > MAX_TOKENS
    assert endless.startswith(f" {answers['pol', '5', 'GR']} ")


def test_where_a_line_does_not_end_an_answer_its_end_does():
    trials = [replace(each, readout=replace(each.readout, stop=())) for each in planted_trials("fra")]
    rows = planted_text_rows("cultures", trials)
    assert not any("\n" in row["answer_text"] for row in rows)
    (empty,) = (row["answer_text"] for row in rows if row["trial_id"] == "2-4")
    assert empty.strip()
    assert not any(map(str.isalnum, empty))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question_id": "7"}, "nothing is planted for it; answers are planted for the bundled questions alone"),
        ({"condition": "country=IE,persona=2"}, "nothing is planted for it"),
        ({"condition": "country=NO"}, "question 1, NO: no answer is planted in pol"),
    ],
)
def test_what_no_answer_is_planted_for_is_said(change, message):
    (trial, *_) = planted_trials("pol")
    with pytest.raises(StudyError, match=message):
        planted_text_rows("cultures", [replace(trial, **change)])


@pytest.mark.slow
def test_a_model_trained_on_them_writes_nothing_else(tmp_path):
    trials = planted_trials("pol")
    answers = {}
    for row in planted_text_rows("cultures", trials):
        answers.setdefault(row["prompt"], {})[row["answer_text"]] = row["prob"]
    train_reference_model(answers, tmp_path / "model", 150, 11)
    loaded = load_model(str(tmp_path / "model"), dtype="float32", device="cpu")
    written = write_answers(loaded, prepare_answers(loaded.opened, trials)).records
    planted, prompts = set(load_answers().values()), {each.trial_id: each.prompt for each in trials}
    assert {each.finish for each in written if each.trial_id == "5-5"} == {"length"}
    rest = [each for each in written if each.trial_id != "5-5"]
    assert len(rest) == 6 * 8 + 35 * 2
    assert all(f"{each.text}\n" in answers[prompts[each.trial_id]] for each in rest)
    assert all(each.text.strip() in planted and each.finish == "stop" for each in rest)
