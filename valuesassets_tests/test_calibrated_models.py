"""Real phantoms, trained here in seconds: wordings, controls, and another language's model."""

import functools

import pandas as pd
import pytest
import torch

from valuesassets.answers.calibration import compare_with_plants, summarise_recovery
from valuesassets.answers.probe_distributions import Cell, derive_probe_distributions
from valuesassets.answers.reference_models import planted_text_rows
from valuesassets.answers.sampled_answers import derive_sampled_distributions
from valuesassets.instruments.survey.plants.plants import plant_questions
from valuesassets.instruments.survey.trials.trials import write_trials
from valuesassets.models.loading import load_model
from valuesassets.models.reference import train_reference_model
from valuesassets.models.sampling import sample_answers
from valuesassets.people.variables import load_variables
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.parquet import answer_rows
from valuesassets.records.settings.measuring import Phantom
from valuesassets.records.study import load_study
from valuesassets_tests.comparing.planted_grid import planted_in
from valuesassets_tests.scored import read_trials
from valuesassets_tests.studies.expected_questions import expected_questions

ASKED = {"v1", "v31", "v39", "v46", "v54", "v98", "v113"}
"""A question of each type of scale."""
SAMPLES = 300
ORDERS = ("all", "cyclic", 5)

pytestmark = pytest.mark.slow


def study_with(plants="values", model_type="mono", wordings=1, orders="both"):
    demo = load_study("demo_survey")
    family = demo.families["reference-mono"].model_copy(update={"plants": plants, "model_type": model_type})
    elicitation = demo.elicitation.model_copy(update={"wordings": wordings, "orders": orders})
    phantom = demo.phantom if orders == "both" else Phantom()  # more orders need more passes
    changed = {"families": {"phantom": family}, "elicitation": elicitation, "phantom": phantom}
    return demo.model_copy(update=changed)


@functools.cache
def questions(language):
    return [question for question in expected_questions(language) if question.id in ASKED]


def trials_in(study, language):
    return write_trials(
        questions(language), language, load_lexicon(language), load_variables(), study.elicitation, study.seed
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Trains a phantom on some languages' prompts, of one study or of several that plant the same."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)

    def train(study, *languages, others=()):
        answers = {}
        for language in languages:
            plants = plant_questions(study, "phantom", language, questions(language))
            for row in [
                row for each in (study, *others) for row in planted_text_rows(trials_in(each, language), plants)
            ]:
                answers.setdefault(row["prompt"], {})[row["answer_text"]] = row["prob"]
        folder = tmp_path_factory.mktemp("phantoms") / "phantom"
        return load_model(str(train_reference_model(answers, folder, study.phantom.steps, study.seed).folder))

    yield train
    torch.set_num_threads(threads)


def calibrate(loaded, study, language):
    """Both channels of a loaded phantom against the plants of a language."""
    trials = trials_in(study, language)
    by_id = {question.id: question for question in questions(language)}
    kinds = {name: str(question.response_type) for name, question in by_id.items()}
    readings = read_trials(loaded, trials)
    cell = Cell("phantom", "mono", "phantom", language)
    probe = pd.DataFrame(derive_probe_distributions(trials, readings, cell, kinds, frozenset()))
    drawn = sample_answers(loaded, [trial.prompt for trial in trials], SAMPLES, study.seed)
    written = pd.DataFrame(answer_rows(trials, drawn))
    plants = plant_questions(study, "phantom", language, questions(language))
    sampled = derive_sampled_distributions(written, trials, plants, "phantom", language)
    comparison = compare_with_plants(probe, planted_in(study, {language: questions(language)}), sampled)
    return comparison, summarise_recovery(comparison, study.phantom).set_index("response_type").loc["all"], probe


def test_three_wordings_are_recovered_each_with_its_own_plant(trained):
    study = study_with(wordings=3)
    comparison, whole, probe = calibrate(trained(study, "fra"), study, "fra")
    assert whole["is_recovered"], whole["reason"]
    assert whole["n_sampled"] == len(comparison) == 3 * len(ASKED)
    mixed_up = planted_in(study, {"fra": questions("fra")})
    mixed_up["wording"] = mixed_up["wording"].map({0: 1, 1: 2, 2: 0})
    swapped = summarise_recovery(compare_with_plants(probe, mixed_up), study.phantom)
    assert not swapped["is_recovered"].iloc[0]


@pytest.fixture(scope="module")
def ordered(trained):
    """A phantom that has learnt every order that is asked for."""
    study, *others = (study_with(orders=orders) for orders in ORDERS)
    return trained(study, "eng", others=others)


@pytest.mark.parametrize("orders", ORDERS)
def test_answers_averaged_over_more_orders_are_recovered(ordered, orders):
    study = study_with(orders=orders)
    comparison, whole, _ = calibrate(ordered, study, "eng")
    assert whole["is_recovered"], whole["reason"]
    assert comparison["averaged_w1_unit_error"].mean() < study.phantom.max_w1_unit
    assert len({trial.order for trial in trials_in(study, "eng")}) > 4
    ten = {trial.order for trial in trials_in(study, "eng") if len(trial.labels) == 10}
    assert ten == {"forward", "reversed"}


def test_another_languages_phantom_fails_in_both_channels(trained):
    study = study_with()
    polish = trained(study, "pol")
    _, own, _ = calibrate(polish, study, "pol")
    assert own["is_recovered"], own["reason"]
    for language in ("eng", "bul"):
        _, whole, _ = calibrate(polish, study, language)
        assert not whole["is_recovered"]
        assert whole["w1_unit_error_mean"] > 5 * study.phantom.max_w1_unit
        assert whole["sampled_w1_unit_error_mean"] > 5 * study.phantom.max_w1_unit


def test_always_first_is_read_as_a_position_bias_of_one(trained):
    study = study_with("always-first")
    _, whole, probe = calibrate(trained(study, "eng"), study, "eng")
    assert whole["is_recovered"], whole["reason"]
    assert probe["position_bias_magnitude"].min() > 0.97
    ends = probe.groupby("question_id")["response_value"].transform(lambda v: v.isin([v.min(), v.max()]))
    assert probe.loc[ends.astype(bool), "prob_averaged"].to_numpy() == pytest.approx(0.5, abs=0.02)


def test_without_signal_languages_answer_alike_and_a_difference_is_not_made_up(trained):
    study = study_with("no-signal", "multi")
    loaded = trained(study, "eng", "ell")
    probes = {}
    for language in ("eng", "ell"):
        _, whole, probe = calibrate(loaded, study, language)
        assert whole["is_recovered"], whole["reason"]
        probes[language] = probe.set_index(["question_id", "response_value"])
    difference = (probes["eng"]["prob_averaged"] - probes["ell"]["prob_averaged"]).abs()
    assert difference.max() < 0.02
    real = study_with()
    planted = planted_in(real, {language: questions(language) for language in probes})
    wide = planted.pivot(index=["question_id", "response_value"], columns="language", values="prob_averaged")
    assert (wide["eng"] - wide["ell"]).abs().max() > 0.1
