"""Trials: every pair and every question, both orders, mapped back to the scale, a shared beginning first."""

import itertools
import math

import pandas as pd
import pytest

from valuesassets.answers.orders import averaged_orders
from valuesassets.answers.reference_models import shown_options
from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions
from valuesassets.instruments.worldvaluesbench.trials.prompts import WORDINGS
from valuesassets.instruments.worldvaluesbench.trials.trials import write_trials
from valuesassets.records.errors import MissingData, StudyError
from valuesassets.records.parquet import read_trials, trial_rows, write_table
from valuesassets.records.settings.measuring import Elicitation
from valuesassets.records.tables import TRIALS

ATTRIBUTES = ("B_COUNTRY", "H_URBRURAL", "Q275")
PROFILES = ("B_COUNTRY=156,H_URBRURAL=1,Q275=3", "B_COUNTRY=404,H_URBRURAL=2")
QUESTIONS = chosen_questions(["Q1", "Q56", "Q94", "Q106"])
PERSONAS = pd.DataFrame({"profile": PROFILES})
PAIRS = pd.DataFrame([{"profile": p, "question_id": q.id} for p, q in itertools.product(PROFILES, QUESTIONS)])
TRIALS_OF_ALL = write_trials(PERSONAS, PAIRS, QUESTIONS, ATTRIBUTES, "eng", wordings=WORDINGS)


def test_each_pair_and_each_question_alone_is_asked_in_both_orders_and_all_wordings():
    assert len(TRIALS_OF_ALL) == (len(PAIRS) + len(QUESTIONS)) * 2 * 3
    assert len({trial.trial_id for trial in TRIALS_OF_ALL}) == len(TRIALS_OF_ALL)
    assert {trial.asked_id for trial in TRIALS_OF_ALL if trial.condition} == {
        f"{question}@{profile}" for profile, question in PAIRS.itertuples(index=False)
    }


def test_values_are_codes_of_the_scale_and_labels_the_numbers_shown():
    by_id = {trial.trial_id: trial for trial in TRIALS_OF_ALL}
    assert by_id["Q94/0/forward"].labels == ("1", "2", "3")
    assert by_id["Q94/0/forward"].values == (0, 1, 2)
    assert by_id[f"Q94@{PROFILES[1]}/0/reversed"].values == (2, 1, 0)
    assert "1. better off\n2. about the same\n3. worse off" in by_id["Q56/0/forward"].prompt


def test_the_number_behind_each_label_stands_beside_the_text_that_means_it():
    texts = {question.id: dict(zip(question.values, question.labels, strict=True)) for question in QUESTIONS}
    for trial in TRIALS_OF_ALL:
        for label, value in zip(trial.labels, trial.values, strict=True):
            text = texts[trial.question_id][value]
            if WORDINGS[trial.wording] == "sentence":
                if label in ("1", trial.labels[-1]):
                    assert f"{label}, meaning {text}" in trial.prompt
            else:
                assert f"\n{label}. {text}".rstrip() + "\n" in trial.prompt


def test_two_trials_differ_in_their_prompt_or_name_nobody_or_one_line_only():
    prompts: dict[str, list[str | None]] = {}
    for trial in TRIALS_OF_ALL:
        prompts.setdefault(trial.prompt, []).append(trial.condition)
    assert all(same == [None, None] for same in prompts.values() if len(same) > 1)


def test_prompts_of_one_person_stand_together_and_share_their_beginning():
    runs = [key for key, _ in itertools.groupby((t.condition, t.wording) for t in TRIALS_OF_ALL)]
    assert len(runs) == len(set(runs)) == 9
    for (profile, _), group in itertools.groupby(TRIALS_OF_ALL, key=lambda t: (t.condition, t.wording)):
        begins = {trial.prompt.partition("\n\n")[0] for trial in group}
        assert len(begins) == 1, profile


def test_a_person_of_whom_nothing_is_known_is_asked_as_one_without_attributes():
    personas, pairs = pd.DataFrame({"profile": [""]}), pd.DataFrame({"profile": [""], "question_id": ["Q1"]})
    trials = write_trials(personas, pairs, QUESTIONS[:1], ATTRIBUTES, "eng")
    assert [trial.trial_id for trial in trials] == ["Q1/0/forward", "Q1/0/reversed"]


@pytest.mark.parametrize(("orders", "n"), [("all", 24), ("cyclic", 5), (6, 8)])
def test_other_orders_are_those_of_the_study_and_a_sentence_knows_two(orders, n):
    trials = write_trials(
        PERSONAS, PAIRS, QUESTIONS[:1] + QUESTIONS[1:], ATTRIBUTES, "eng", Elicitation(orders=orders), WORDINGS
    )
    listed = [t for t in trials if t.question_id == "Q1" and t.condition == PROFILES[0] and t.wording == 0]
    assert len(listed) == n
    assert len({trial.values for trial in listed}) == len(averaged_orders({t.order: t.values for t in listed})) + (
        orders == "cyclic"
    )
    assert sum(t.asked_id == "Q1" and t.wording == 2 for t in trials) == 2
    assert sum(t.asked_id == "Q106" and t.wording == 0 for t in trials) == 2
    assert n <= math.factorial(4)


def test_trials_come_back_from_their_file(tmp_path):
    write_table(tmp_path / "trials.parquet", trial_rows(TRIALS_OF_ALL), TRIALS)
    assert read_trials(tmp_path / "trials.parquet") == TRIALS_OF_ALL


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"language": "deu"}, StudyError, "language deu found; the bundled questions are English, eng was expected"),
        ({"attributes": ("Q999",)}, StudyError, "attributes: Q999 unknown"),
        ({"personas": PERSONAS[:1]}, MissingData, "pairs: profile B_COUNTRY=404,H_URBRURAL=2 .* is no persona; make"),
        ({"questions": QUESTIONS[1:]}, MissingData, "pairs: question_id Q1 .* is no question of the set; make"),
    ],
)
def test_what_does_not_fit_together_is_told_in_one_line(change, error, message):
    given = {"personas": PERSONAS, "pairs": PAIRS, "questions": QUESTIONS, "attributes": ATTRIBUTES, "language": "eng"}
    with pytest.raises(error, match=f"^{message}") as caught:
        write_trials(**(given | change))
    assert "\n" not in str(caught.value)


def test_a_reader_of_the_prompt_alone_finds_the_code_that_each_number_stands_for():
    everything = chosen_questions("all")
    nobody = PAIRS.iloc[:0]
    trials = write_trials(PERSONAS, nobody, everything, ATTRIBUTES, "eng")
    codes = {question.id: dict(zip(question.labels, question.values, strict=True)) for question in everything}
    assert len(trials) == 2 * 239
    for trial in trials:
        options = shown_options(trial.prompt, trial.trial_id)
        assert len(options) == len(trial.values)
        for text, value in zip(options, trial.values, strict=True):
            assert not text or codes[trial.question_id][text] == value, trial.trial_id
