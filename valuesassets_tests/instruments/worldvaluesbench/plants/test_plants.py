"""Reference models are planted to answer over both orders just what their slope makes of people's moves."""

import numpy as np
import pytest

from valuesassets.answers.plants import planted_answers
from valuesassets.answers.reference_models import planted_text_rows
from valuesassets.instruments.worldvaluesbench.answers.rating_distributions import response_type_of
from valuesassets.instruments.worldvaluesbench.material.backgrounds import parse_profile
from valuesassets.instruments.worldvaluesbench.material.personas import asked_pairs, derive_personas
from valuesassets.instruments.worldvaluesbench.plants.planted_people import levels_of, planted_model, pooled_shares
from valuesassets.instruments.worldvaluesbench.plants.plants import asked_questions, plant_ratings, planted_design
from valuesassets.instruments.worldvaluesbench.trials.trials import write_trials
from valuesassets.records.errors import StudyError
from valuesassets.records.settings.measuring import Elicitation
from valuesassets.records.study import load_study
from valuesassets_tests.instruments.worldvaluesbench.planted_profiles import profiles_of

STUDY = load_study("demo_worldvaluesbench")
DESIGN = planted_design(STUDY)


def trials(orders="both", attributes=("B_COUNTRY", "H_URBRURAL", "Q275")):
    people, samples = profiles_of(DESIGN)
    personas = derive_personas(people, samples, attributes)
    pairs = asked_pairs(people, samples, attributes)
    return write_trials(personas, pairs, asked_questions(STUDY), attributes, "eng", Elicitation(orders=orders))


@pytest.mark.parametrize("family", ["aware", "blind"])
@pytest.mark.parametrize("orders", ["both", "cyclic"])
def test_answers_averaged_over_orders_are_those_of_the_slope(family, orders):
    prompts = trials(orders)
    table = planted_answers({(family, "demo"): plant_ratings(STUDY, family, "demo", prompts)})
    slope = {"aware": 0.8, "blind": 0.0}[family]
    averaged = {name: part["prob_averaged"].to_numpy() for name, part in table.groupby("question_id")}
    assert len(averaged) == 6 * 17
    for name, probs in averaged.items():
        question, _, profile = name.partition("@")
        due = pooled_shares(question, STUDY.seed, DESIGN)
        if profile:
            codes = {each: int(code) for each, code in parse_profile(profile).items()}
            due = planted_model(question, levels_of(codes), STUDY.seed, slope, DESIGN)
        assert probs == pytest.approx(due, abs=1e-9)


def test_every_plant_is_a_distribution_with_a_pull_and_can_be_written_from_the_prompt_alone():
    prompts = trials()
    planted = plant_ratings(STUDY, "aware", "demo", prompts)
    for (plant,) in planted.values():
        assert min(plant.preference) >= 0
        assert sum(plant.preference) == pytest.approx(1)
        assert 0 < plant.pull <= 0.2
        assert all(0.6 < share < 1 for share in plant.p_valid)
    rows = planted_text_rows(prompts, planted)
    total = {}
    for row in rows:
        total[row["trial_id"]] = total.get(row["trial_id"], 0) + row["prob"]
    assert len(total) == 204
    assert list(total.values()) == pytest.approx(np.ones(204))


def test_a_profile_that_tells_no_level_cannot_be_planted():
    with pytest.raises(StudyError, match=r"profile B_COUNTRY=\d+,H_URBRURAL=\d: its education is not known.*Q275"):
        plant_ratings(STUDY, "aware", "demo", trials(attributes=("B_COUNTRY", "H_URBRURAL")))


def test_every_scale_has_an_order_whatever_its_length():
    assert all(response_type_of(question).is_ordinal for question in asked_questions(STUDY))
    lengths = {len(question.values): str(response_type_of(question)) for question in asked_questions(STUDY)}
    assert lengths == {2: "binary", 3: "likert3", 4: "likert4", 5: "likert5", 10: "likert10"}
