import ast
import inspect
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from valuesassets.answers import reference_models
from valuesassets.answers.plants import Plant
from valuesassets.answers.reference_models import answer_texts, planted_text_rows, shown_options, shown_places
from valuesassets.instruments.survey.plants.plants import plant_questions
from valuesassets.records.errors import QuestionError
from valuesassets_tests.comparing.planted_grid import demo, planted, questions, trials


def plant(preference=(0.6, 0.3, 0.1), kind="likert3", texts=("good", "bad", "neither"), **changes):
    given = {"pull": 0.2, "p_valid": (0.8, 0.5), "bare": 0.25} | changes
    values = tuple(range(1, len(preference) + 1))
    return Plant("v0", kind, False, 0, "Answer", values, values, texts, preference, shown_first=(0, -1), **given)


def rows_of(trials, family="reference-mono", language="eng"):
    return planted_text_rows(trials, plant_questions(demo(), family, language, questions()))


def test_one_prompt_worked_by_hand():
    texts = answer_texts("Well?\n1. good\n2. bad\n3. neither\nAnswer:", plant(), "t")
    # the first option gets .6 * .8 + .2 = .68 of the valid .8, a quarter of it written bare
    assert texts == pytest.approx(
        {
            "1\n": 0.8 * 0.68 * 0.25,
            " 1\n": 0.8 * 0.68 * 0.75,
            "2\n": 0.8 * 0.24 * 0.25,
            " 2\n": 0.8 * 0.24 * 0.75,
            "3\n": 0.8 * 0.08 * 0.25,
            " 3\n": 0.8 * 0.08 * 0.75,
            " hm\n": 0.2 * 0.7,
            "hm\n": 0.2 * 0.3,
        }
    )


def test_reversed_the_preference_follows_the_labels_and_the_pull_the_place():
    texts = answer_texts("Well?\n1. neither\n2. bad\n3. good\nAnswer:", plant(bare=1), "t")
    # neither stands first and is pulled up: .1 * .8 + .2; the last option first means P_valid .5
    assert [texts[f"{n}\n"] for n in (1, 2, 3)] == pytest.approx([0.5 * 0.28, 0.5 * 0.24, 0.5 * 0.48])


def test_an_order_that_is_neither_has_the_mean_p_valid():
    texts = answer_texts("Well?\n1. bad\n2. good\n3. neither\nAnswer:", plant(pull=0), "t")
    assert texts["2\n"] + texts[" 2\n"] == pytest.approx(0.65 * 0.6)


def test_a_ten_point_scale_is_told_by_its_anchors():
    lines = "\n".join(["1. always", *(f"{n}." for n in range(2, 10)), "10. never"])
    preference = tuple(np.arange(1, 11) / 55)
    ten = plant(preference, "likert10", ("never", *[""] * 8, "always"), pull=0.0, bare=1.0)
    texts = answer_texts(f"Well?\n{lines}\nAnswer:", ten, "t")
    assert [texts[f"{n}\n"] for n in (1, 2, 10)] == pytest.approx([0.5 * p for p in (10 / 55, 9 / 55, 1 / 55)])


def test_nothing_is_planted_for_the_trials_of_estimators():
    main = trials("eng")[:8]
    beside = [replace(trial, trial_id=f"{trial.trial_id}/x", estimator="content_free") for trial in main]
    assert rows_of([*main, *beside]) == rows_of(main)


def test_a_number_is_the_place_of_the_option_that_it_stands_before():
    three = plant(texts=("yes", "no", "perhaps"))
    assert shown_places("Well?\n1. no\n2. perhaps\n3. yes\nAnswer:", three, "t") == [1, 2, 0]


def test_a_prompt_that_ends_in_no_known_cue_or_asks_what_is_not_planted_is_refused():
    first = trials("eng")[0]
    with pytest.raises(QuestionError, match="the prompt ends in 'Reply', the answer cues are"):
        rows_of([replace(first, prompt=first.prompt.rpartition("\n")[0] + "\nReply:")])
    with pytest.raises(QuestionError, match="nothing is planted for v0"):
        rows_of([replace(first, question_id="v0")])


def test_only_the_last_list_of_a_prompt_is_read():
    prompt = "Before:\n1. a\n2. b\nWhich of these?\n1. x\n2. \n3. y\nAnswer:"
    assert shown_options(prompt, "t") == [("1", "x"), ("2", ""), ("3", "y")]


def test_lettered_options_are_answered_by_their_letters_wherever_they_stand():
    asked = plant((0.8, 0.2), "binary", ("yes", "no"))
    texts = answer_texts("1. Well?\nA. no\nB. yes\nAnswer:", asked, "t")
    assert {text.strip() for text in texts} == {"A", "B", "hm"}
    said = {letter: sum(prob for text, prob in texts.items() if text.strip() == letter) for letter in "AB"}
    share = said["B"] / sum(said.values())
    assert share == pytest.approx(0.8 * (1 - asked.pull))


@pytest.mark.parametrize(
    "prompt",
    [
        "Well?\nAnswer:",
        "Well?\n1. a\nAnswer:",
        "Well?\n2. a\n3. b\nAnswer:",
        "1. a\n2. b",
        "B. a\nC. b\n:",
        "A. a\n2. b\n:",
    ],
)
def test_a_prompt_without_options_is_refused(prompt):
    with pytest.raises(QuestionError, match="trial t:"):
        shown_options(prompt, "t")


def test_options_of_another_question_are_refused():
    with pytest.raises(QuestionError, match=r"trial t: .*yes"):
        answer_texts("Well?\n1. yes\n2. no\nAnswer:", plant((0.5, 0.5), "binary", ("ja", "nein")), "t")


def test_every_prompts_answers_sum_to_one_and_end_their_line():
    rows = pd.DataFrame(rows_of(trials("eng")))
    assert rows.groupby("trial_id")["prob"].sum().to_numpy() == pytest.approx(1)
    assert rows["answer_text"].str.fullmatch(r" ?\w+\n").all()
    assert set(rows["trial_id"]) == {trial.trial_id for trial in trials("eng")}


@pytest.mark.parametrize(("family", "language"), [("reference-mono", "ell"), ("reference-multi", "bul")])
def test_texts_and_planted_answers_agree_though_no_code_is_shared(family, language):
    rows = pd.DataFrame(rows_of(trials(language), family, language))
    shown = {trial.trial_id: trial for trial in trials(language)}
    expected = planted().query("model == @family and language == @language")
    expected = expected.set_index(["question_id", "response_value"])
    for trial_id, texts in rows.groupby("trial_id"):
        trial = shown[trial_id]
        said = texts["answer_text"].str.strip()
        p_valid = texts.loc[said.isin(trial.labels), "prob"].sum()
        for label, value in zip(trial.labels, trial.values, strict=True):
            plant_row = expected.loc[(trial.asked_id, value)]
            assert p_valid == pytest.approx(plant_row[f"p_valid_{trial.order}"])
            found = texts.loc[said == label, "prob"].sum() / p_valid
            assert found == pytest.approx(plant_row[f"prob_{trial.order}"], abs=1e-9)


def test_the_text_channel_takes_nothing_from_how_trials_are_read():
    tree = ast.parse(inspect.getsource(reference_models))
    touched = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not touched & {"readout", "order", "labels"}
    assert "valuesassets.instruments.survey.trials.trials" not in imported
    assert not any(str(name).startswith("valuesassets.models") for name in imported)
