"""Requests for reasons: who is asked what, under names of their own, and what is known of each beforehand."""

from collections import Counter

import pytest

from valuesassets.instruments.worldwise.answers.reasons import derive_reasons, reply_of
from valuesassets.instruments.worldwise.material.cultures import Culture, asked_personas
from valuesassets.instruments.worldwise.material.scenarios import Scenario
from valuesassets.instruments.worldwise.trials.reason_trials import form_of, requests_of, write_reason_trials
from valuesassets.instruments.worldwise.trials.trials import culture_of
from valuesassets.records.parquet import read_trials, trial_rows, write_table
from valuesassets.records.readouts import Generate
from valuesassets.records.tables import TRIALS
from valuesassets.records.trials import Answer, Status
from valuesassets_tests.instruments.worldwise.made_dilemmas import DILEMMAS, JAPAN

TWO = [Scenario(**each) for each in DILEMMAS]
PERSONAS = asked_personas([Culture(code="JPN", **JAPAN)])
VALUES = ("Fun", "Self-control", "Order")
READOUT = Generate(max_tokens=300, samples=2)


def trials(**given):
    return write_reason_trials(TWO, PERSONAS, VALUES, READOUT, **given)


def test_personas_decide_in_both_orders_and_say_openly_once_and_advocates_are_nobody():
    prompts = trials()
    assert Counter((culture_of(each.condition), form_of(each)) for each in prompts) == {
        **{
            (culture, form): n
            for culture in ("JPN", "placebo", "unprompted")
            for form, n in (("decide", 4), ("open", 2))
        },
        ("unprompted", "advocate"): 4,
    }
    assert len({each.trial_id for each in prompts}) == len({each.prompt for each in prompts}) == len(prompts)
    assert [each.trial_id for each in prompts[:3]] == [
        "IVR-x1@culture=JPN,form=decide/0/forward",
        "IVR-x1@culture=JPN,form=decide/0/reversed",
        "IVR-x1@culture=JPN,form=open/0/given",
    ]
    assert prompts[-1].trial_id == "IVR-x2@form=advocate,pole=low/0/given"


@pytest.mark.parametrize(
    ("given", "n"),
    [({"forms": ["open"]}, 10), ({"forms": []}, 4), ({"advocates": False}, 18), ({"wordings": (0, 2)}, 34)],
)
def test_forms_advocates_and_wordings_are_asked_as_far_as_they_are_wanted(given, n):
    assert len(trials(**given)) == n


def test_what_is_known_of_a_request_fits_what_its_prompt_shows():
    prompts = trials()
    requests = requests_of(prompts, TWO, VALUES)
    assert list(requests) == [each.trial_id for each in prompts]
    for questions in requests.values():
        scenario = next(each for each in TWO if each.id == questions.scenario_id)
        for letter, option, pole in zip("AB", questions.options, questions.poles, strict=False):
            assert f"\n{letter}. {option}\n" in questions.prompt
            assert option == getattr(scenario, pole)
        assert (len(questions.options), questions.order in ("forward", "reversed")) in [(2, True), (0, False)]
        if questions.form == "advocate":
            assert questions.prompt.endswith(getattr(scenario, questions.poles[0]))


def test_requests_come_back_from_their_file_as_they_were(tmp_path):
    write_table(tmp_path / "trials.parquet", trial_rows(trials()), TRIALS)
    assert read_trials(tmp_path / "trials.parquet") == trials()


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("the model refused (I would rather not)", "refused"),
        ("the provider's filter stopped the answer", "filtered"),
        ("Gemini stopped (SAFETY)", "filtered"),
    ],
)
def test_who_stopped_an_answer_behind_an_api_stands_in_its_status(reason, status):
    (trial,) = trials(forms=["open"], advocates=False)[:1]
    answer = Answer(trial.trial_id, 0, None, None, None, Status.REFUSED, reason, "key")
    (row,) = derive_reasons([(requests_of([trial], TWO, VALUES)[trial.trial_id], reply_of(answer))]).to_dict("records")
    assert (row["status"], row["reason"], row["text"]) == (status, reason, None)


def test_a_text_is_read_and_one_that_was_cut_or_failed_says_so():
    (trial,) = trials(forms=["open"], advocates=False)[:1]
    requests = requests_of([trial], TWO, VALUES)[trial.trial_id]
    answers = [
        Answer(trial.trial_id, 0, "I go and hear them.", "end", 6, Status.OK, None, "key"),
        Answer(trial.trial_id, 1, "I go and", "length", 3, Status.OK, None, "key"),
        Answer(trial.trial_id, 2, None, None, None, Status.FAILED, "busy", "key"),
    ]
    table = derive_reasons((requests, reply_of(answer)) for answer in answers)
    assert table["status"].to_list() == ["ok", "truncated", "failed"]
    assert table["draw"].to_list() == [0, 1, 2]
    assert table["output_tokens"].to_list()[:2] == [6, 3]
    assert table["explanation"].to_list()[0] == "I go and hear them."
