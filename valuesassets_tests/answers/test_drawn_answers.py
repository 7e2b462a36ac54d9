"""Drawn texts become rows with a standing, and readings that are shares of the draws."""

from dataclasses import replace

import numpy as np
import pytest

from valuesassets.answers.drawn_answers import (
    FAILED,
    count_readings,
    derive_drawn_answers,
    drawn_trials,
    standard_error,
    texts_that_are_no_option,
)
from valuesassets.records.errors import MissingData
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.readouts import Generate, ScoreLabels
from valuesassets.records.settings.draws import Draws
from valuesassets.records.settings.prompting import AS_TEXT, Prompting
from valuesassets.records.trials import Answer, Status, Trial

FORWARD = Trial(
    "q/0/forward", "q", "eng", "How good?\n1. Good\n2. Bad\n3. Both\nAnswer:", "forward", 0, None,
    ScoreLabels(("1", "2", "3"), (1, 2, 3)),
)  # fmt: skip
REVERSED = replace(
    FORWARD,
    trial_id="q/0/reversed",
    order="reversed",
    prompt="How good?\n1. Both\n2. Bad\n3. Good\nAnswer:",
    readout=ScoreLabels(("1", "2", "3"), (3, 2, 1)),
)
TRIALS = [FORWARD, REVERSED]
LEXICON = load_lexicon("eng")


def answers(trial, *texts):
    return [
        Answer(trial.trial_id, sample, text, "end", 1, Status.OK, None, f"{trial.trial_id} {sample}")
        for sample, text in enumerate(texts)
    ]


def failed(trial, sample, **changes):
    key = f"{trial.trial_id} {sample}"
    return replace(Answer(trial.trial_id, sample, None, None, None, Status.FAILED, "no server", key), **changes)


def counted(forward, backward):
    drawn = [*forward, *backward]
    return count_readings(TRIALS, drawn, derive_drawn_answers(TRIALS, drawn, LEXICON))


def test_a_number_stands_for_the_option_that_was_shown_beside_it():
    forward, backward = counted(
        answers(FORWARD, "1", "1.", "3", "Good", "1 or 2"), answers(REVERSED, "1", "3", "Good (3)", "2", "I am an AI")
    )
    assert (forward.label_counts, forward.n_drawn, forward.p_valid) == ((3, 0, 1), 5, 0.8)
    assert (backward.label_counts, backward.n_drawn) == ((1, 1, 2), 5)
    assert forward.label_probs == pytest.approx((0.6, 0, 0.2))
    assert forward.outside == (("1 or 2", 0.2),)
    assert forward.status is Status.OK


def test_a_draw_that_failed_makes_its_reading_fail_and_no_number():
    forward, backward = counted([*answers(FORWARD, "1"), failed(FORWARD, 1)], answers(REVERSED, "1", "2"))
    assert forward.status is Status.FAILED
    assert forward.reason == "1 of 2 draws failed, the first because no server; materialise it again"
    assert forward.label_probs is None
    assert backward.status is Status.OK


def test_a_thought_without_an_end_is_a_draw_without_an_option():
    forward, _ = counted(
        [*answers(FORWARD, "1"), failed(FORWARD, 1, reasoning="Hm, let me see")], answers(REVERSED, "1", "2")
    )
    assert (forward.label_counts, forward.n_drawn) == ((1, 0, 0), 2)
    assert forward.outside == (("(cut off)", 0.5),)


def test_what_a_provider_refuses_is_a_draw_unless_it_refuses_all():
    refusal = failed(FORWARD, 1, status=Status.REFUSED, reason="safety")
    forward, _ = counted([*answers(FORWARD, "1"), refusal], answers(REVERSED, "1", "2"))
    assert (forward.n_drawn, forward.p_valid) == (2, 0.5)
    forward, _ = counted([replace(refusal, sample=0), refusal], answers(REVERSED, "1", "2"))
    assert forward.status is Status.REFUSED
    assert forward.reason == "all of 2 draws were refused: safety"


def test_a_trial_without_draws_is_named():
    with pytest.raises(MissingData, match=r"no answer was drawn to q/0/reversed; materialise readings again"):
        derive_drawn_answers(TRIALS, answers(FORWARD, "1"), LEXICON)


def test_rows_say_what_each_text_says():
    rows = derive_drawn_answers(
        TRIALS, [*answers(FORWARD, "2", "don't know", ""), failed(FORWARD, 3), *answers(REVERSED, "9")], LEXICON
    )
    assert [row["standing"] for row in rows] == ["option", "dont_know", "empty", FAILED, "off_scale"]
    assert [row["response_value"] for row in rows] == [2, None, None, None, None]
    assert {row["question_id"] for row in rows} == {"q"}


def test_texts_that_are_no_option_come_with_their_number():
    import pandas as pd

    rows = derive_drawn_answers(TRIALS, [*answers(FORWARD, "hm", "hm", "1"), *answers(REVERSED, "no")], LEXICON)
    listed = texts_that_are_no_option(pd.DataFrame(rows))
    assert [(row["n"], row["text"]) for row in listed] == [(2, "hm"), (1, "no")]


def test_bare_text_ends_at_the_line_and_a_chat_by_itself():
    draws = Draws(n=7, max_tokens=9)
    estimator = replace(FORWARD, trial_id="q/0/forward/content_free", estimator="content_free")
    (trial,) = drawn_trials([FORWARD, estimator], draws, AS_TEXT, seed=3, n=14)
    assert trial.readout == Generate(9, 1.0, samples=14, seed=3, stop=("\n",))
    (chat,) = drawn_trials([FORWARD], draws, Prompting(style="chat"), seed=3, n=14)
    assert chat.readout.stop == ()
    assert (trial.trial_id, trial.prompt) == (FORWARD.trial_id, FORWARD.prompt)


def test_the_standard_error_is_that_of_many_cells():
    random, p, n = np.random.default_rng(5), np.array([0.5, 0.2, 0.3]), 20
    places = {"q": lambda value: value}

    def draw(trial):
        values = random.choice([1, 2, 3], size=n, p=p)
        return answers(trial, *(trial.labels[trial.values.index(value)] for value in values))

    readings = [counted(draw(FORWARD), draw(REVERSED)) for _ in range(300)]
    errors = [standard_error(TRIALS, pair, places) for pair in readings]
    means = [
        np.mean([np.dot(r.label_probs, [(v - 1) / 2 for v in t.values]) for r, t in zip(pair, TRIALS, strict=True)])
        for pair in readings
    ]
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(means, ddof=1), rel=0.1)
    assert standard_error(TRIALS, readings[0], {}) is None
