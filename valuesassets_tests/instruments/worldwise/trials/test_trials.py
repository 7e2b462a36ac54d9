"""Choice trials: every persona in every dilemma in both orders, a shared beginning first, few tokens."""

import itertools

import pytest

from valuesassets.instruments.worldwise.material.cultures import Culture, asked_personas
from valuesassets.instruments.worldwise.material.scenarios import Scenario, read_scenarios
from valuesassets.instruments.worldwise.trials.trials import culture_of, write_trials
from valuesassets.models.loading import load_model
from valuesassets.models.reading_pass import ReadingPass
from valuesassets.models.spelled_trials import spell_trials
from valuesassets.models.token_trees import BatchBudget
from valuesassets.records.parquet import read_trials, trial_rows, write_table
from valuesassets.records.tables import TRIALS
from valuesassets_tests.instruments.worldwise.made_dilemmas import DILEMMAS, JAPAN, NETHERLANDS
from valuesassets_tests.tiny_models import byte_level, sentencepiece_like, write_model

CULTURES = [Culture(code="JPN", **JAPAN), Culture(code="NLD", **NETHERLANDS)]
TWO = [Scenario(**each) for each in DILEMMAS]
BUNDLED = read_scenarios()


def test_personas_are_asked_in_each_wording_and_unprompted_once():
    prompts = write_trials(TWO, asked_personas(CULTURES), (0, 2))
    assert len(prompts) == (3 * 2 + 1) * len(TWO) * 2
    assert len({trial.trial_id for trial in prompts}) == len({trial.prompt for trial in prompts}) == len(prompts)
    assert [trial.trial_id for trial in prompts[:2]] == [
        "IVR-x1@culture=JPN/0/forward",
        "IVR-x1@culture=JPN/0/reversed",
    ]
    unprompted = [trial for trial in prompts if trial.condition is None]
    assert [trial.trial_id for trial in unprompted[:2]] == ["IVR-x1/0/forward", "IVR-x1/0/reversed"]
    assert {culture_of(trial.condition) for trial in prompts} == {"JPN", "NLD", "placebo", "unprompted"}


def test_the_number_behind_each_label_is_the_pole_of_its_option():
    dilemmas = {each.id: each for each in BUNDLED}
    for trial in write_trials(BUNDLED, asked_personas(CULTURES)):
        options = {1: dilemmas[trial.question_id].high, 0: dilemmas[trial.question_id].low}
        assert trial.labels == ("A", "B")
        assert all(
            f"\n{label}. {options[value]}\n" in trial.prompt for label, value in zip("AB", trial.values, strict=True)
        )


def test_the_high_pole_comes_first_in_half_of_the_forward_prompts():
    forward = [trial for trial in write_trials(BUNDLED, asked_personas(CULTURES)) if trial.order == "forward"]
    assert sum(trial.values == (1, 0) for trial in forward) / len(forward) == 0.5


def test_what_is_demanded_of_personas_is_asked_under_a_condition_of_its_own_and_not_of_nobody():
    prompts = write_trials(TWO, asked_personas(CULTURES[:1]), demand=True)
    assert list(dict.fromkeys(trial.condition for trial in prompts)) == [
        "culture=JPN,demand=true",
        "culture=placebo,demand=true",
    ]
    assert prompts[0].prompt.startswith(
        "You live in Japan and grew up there. You hold the values that are typical there.\nA band"
    )
    assert {culture_of(trial.condition) for trial in prompts} == {"JPN", "placebo"}


def test_prompts_of_one_persona_stand_together_and_both_orders_of_a_dilemma_too():
    prompts = write_trials(TWO, asked_personas(CULTURES), (0, 1, 2))
    for of_all in (
        [(trial.condition, trial.wording) for trial in prompts],
        [(trial.condition, trial.wording, trial.question_id) for trial in prompts],
    ):
        runs = [key for key, _ in itertools.groupby(of_all)]
        assert len(runs) == len(set(runs))


def test_trials_come_back_from_their_file_as_they_were(tmp_path):
    prompts = write_trials(TWO, asked_personas(CULTURES), (0, 1))
    write_table(tmp_path / "trials.parquet", trial_rows(prompts), TRIALS)
    assert read_trials(tmp_path / "trials.parquet") == prompts


@pytest.mark.parametrize("tokenizer", [byte_level, sentencepiece_like])
@pytest.mark.parametrize("personas", [asked_personas(CULTURES), ["unprompted"]])
@pytest.mark.slow
def test_both_orders_take_at_most_three_quarters_of_the_tokens_of_every_prompt_alone(tmp_path, tokenizer, personas):
    prompts = write_trials(BUNDLED, personas)
    loaded = load_model(
        str(write_model(tmp_path / "model", tokenizer([trial.prompt for trial in prompts]))), device="cpu"
    )
    spelled = spell_trials(loaded.opened, prompts)
    planned = ReadingPass(loaded, spelled, BatchBudget.for_device("cpu")).tokens
    assert planned <= 0.75 * sum(len(each.spelled.prompt_ids) for each in spelled)
