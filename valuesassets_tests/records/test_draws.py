"""`[families.<name>.draws]`: which families need it, what fits, and what is left as it was without it."""

import pytest

from valuesassets.records.settings.draws import Draws
from valuesassets.records.study import load_study

SAMPLED = {
    "kind": "gemini",
    "model_type": "multi",
    "model_id": "gemini-3.8-flash",
    "prompting": {"style": "chat"},
    "endpoint": {"provider": "gemini", "route": "sampled"},
}
THINKING = {
    "kind": "huggingface",
    "model_type": "multi",
    "model_id": "owner/thinker",
    "prompting": {"style": "chat", "answer_prefix": "none", "thinking": "on", "max_reasoning_tokens": 64},
}


def study_with(family, name="demo_survey"):
    study = load_study(name)
    content = study.model_dump(mode="json", exclude_none=True)
    content["families"]["chat"] = family
    return type(study).model_validate(content)


@pytest.mark.parametrize(
    ("family", "reason"),
    [(SAMPLED, "route = 'sampled' asks for none"), (THINKING, r"a model that thinks first \(thinking = 'on'\)")],
)
def test_a_family_without_probabilities_needs_draws(family, reason):
    with pytest.raises(ValueError, match=rf"families\.chat: the survey reads probabilities, and {reason}.*\.draws\]"):
        study_with(family)
    assert study_with(family | {"draws": {}}).has_draws


def test_draws_are_the_surveys_alone():
    with pytest.raises(ValueError, match=r"families\.chat\.draws: the survey alone counts draws"):
        study_with(THINKING | {"draws": {}}, "demo_cultural_robustness")


@pytest.mark.parametrize(
    ("draws", "reason"),
    [
        ({"n": 4}, "greater than or equal to 5"),
        ({"temperature": 0}, "greater than 0"),
        ({"se_unit": 0.5}, "less than 0.5"),
        ({"n": 300}, "most = 200 is less than n = 300"),
    ],
)
def test_draws_that_cannot_be_counted_are_refused(draws, reason):
    with pytest.raises(ValueError, match=reason):
        Draws(**draws)


def test_rounds_are_whole():
    assert Draws().rounds == 1
    assert Draws(se_unit=0.03).rounds == 5
    assert Draws(se_unit=0.03, n=60).rounds == 3


def test_a_family_without_draws_is_stored_as_before():
    study = load_study("demo_survey")
    assert not study.has_draws
    assert all("draws" not in family.model_dump() for family in study.families.values())
