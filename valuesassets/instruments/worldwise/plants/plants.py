"""What reference models are trained to choose: leans of each culture on each axis, moved a little by each dilemma.

Over both orders a model chooses just what is planted; in a single order the first option has a pull besides, and some
answers are none of the options. The first two cultures of a study lean alike, and unprompted answers are those of the
last one. On two axes the same models write otherwise than they choose (`planted_reasons`). A family without signal
leans alike everywhere, one that is always first takes the first option.
"""

from collections.abc import Sequence

import pandas as pd

from valuesassets.answers.plants import Plant
from valuesassets.instruments.worldwise.material.dimensions import ORDERS, PLACEBO, UNPROMPTED
from valuesassets.instruments.worldwise.material.scenarios import Scenario, read_scenarios
from valuesassets.instruments.worldwise.trials.trials import IS_HIGH, IS_LOW, condition_of, culture_of
from valuesassets.measure.seeding import seeded
from valuesassets.records.questions import ResponseType
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.study import Study
from valuesassets.records.tables import PROBE_DISTRIBUTIONS
from valuesassets.records.trials import Trial, asked_id

MOST_LEAN, MOST_MOVED = 0.5, 0.2
"""Largest leans of a culture on an axis, and what a dilemma moves them by, for every culture alike."""
GAPS = {"PDI": 0.3, "LTO": -0.3}
"""By axis, P(high) in writing less P(high) chosen: two axes on which a bag of words tells the poles apart too."""
PULL = 0.1
"""Share of answers that go to whatever option is listed first."""
P_VALID = (0.35, 0.90)
"""Least and largest P_valid of a dilemma, over both orders."""
APART = 0.05
"""The most that P_valid of a single order lies above or below."""


def planted_lean(study: Study, family: str, culture: str, scenario: Scenario) -> float:
    """y = 2 p_high - 1 that is planted for a culture or control in a dilemma, within [-0.7, 0.7]; without any pull."""
    gap = planted_gap(study, family, scenario.axis)
    return _room_for(gap) * _lean(study, family, culture, scenario) - gap


def written_lean(study: Study, family: str, culture: str, scenario: Scenario) -> float:
    """The same of what is decided and reasoned in writing: `planted_lean` and twice the gap, as y is twice p_high."""
    return planted_lean(study, family, culture, scenario) + 2 * planted_gap(study, family, scenario.axis)


def planted_gap(study: Study, family: str, axis: str) -> float:
    """By how much more often the high pole is decided for in writing than chosen, in every dilemma of an axis."""
    return GAPS.get(axis, 0.0) if study.families[family].plants == "values" else 0.0


def _room_for(gap: float) -> float:
    """What leans are multiplied by, so that choices and what is written stay within [-0.7, 0.7] on either side."""
    return 1 - abs(gap) / (MOST_LEAN + MOST_MOVED)


def _lean(study: Study, family: str, culture: str, scenario: Scenario) -> float:
    """The lean of a culture or control in a dilemma, of choices and of what is written together."""
    leaning = _leaning(culture, tuple(Worldwise.of(study).cultures))
    if study.families[family].plants != "values":
        leaning = PLACEBO
    moved = seeded(study.seed, "worldwise dilemma", scenario.id).uniform(-MOST_MOVED, MOST_MOVED)
    if leaning == PLACEBO:
        return float(moved)
    lean = seeded(study.seed, "worldwise lean", leaning, scenario.axis).uniform(-MOST_LEAN, MOST_LEAN)
    return float(lean + moved)


def _leaning(culture: str, cultures: Sequence[str]) -> str:
    """Whose leans a culture or control has; a persona from nowhere leans nowhere."""
    last = cultures[-1] if cultures else PLACEBO
    leaning = last if culture == UNPROMPTED else culture
    return cultures[0] if leaning in cultures[:2] else leaning


def plant_choices(study: Study, family: str, part: str, trials: Sequence[Trial]) -> dict[str, list[Plant]]:
    """The plants of a cell, by asked question id."""
    scenarios = {scenario.id: scenario for scenario in read_scenarios(Worldwise.of(study).scenarios)}
    forward = [trial for trial in trials if trial.order == ORDERS[0]]
    return {trial.asked_id: [_plant(study, family, trial, scenarios[trial.question_id])] for trial in forward}


def _plant(study: Study, family: str, forward: Trial, scenario: Scenario) -> Plant:
    pull = 1.0 if study.families[family].plants == "always-first" else PULL
    lean = planted_lean(study, family, culture_of(forward.condition), scenario)
    high = 0.5 + lean / 2 / (1 - PULL)
    draw = seeded(study.seed, "worldwise manner", family, scenario.id)
    p_valid, apart = draw.uniform(*P_VALID), draw.uniform(-APART, APART)
    is_high = [value == IS_HIGH for value in forward.values]
    return Plant(
        question_id=forward.asked_id,
        response_type=str(ResponseType.BINARY),
        is_converted=False,
        wording=forward.wording,
        cue="Answer",
        values=forward.values,
        analysis_values=forward.values,
        texts=tuple(scenario.high if each else scenario.low for each in is_high),
        preference=tuple(high if each else 1 - high for each in is_high),
        pull=pull,
        p_valid=(float(p_valid + apart), float(p_valid - apart)),
        bare=float(draw.uniform(0.3, 0.7)),
        shown_first=(0, 1),
    )


def choice_distributions(choices: pd.DataFrame) -> pd.DataFrame:
    """Rows of `CHOICES` as distributions over the options (1 high, 0 low), in columns of `PROBE_DISTRIBUTIONS`."""
    asked_ids = [
        asked_id(str(scenario), condition_of(str(culture)))
        for scenario, culture in zip(choices["scenario_id"], choices["culture"], strict=True)
    ]
    shared = choices.reindex(columns=PROBE_DISTRIBUTIONS.names).assign(
        question_id=asked_ids,
        language=choices["culture"],
        response_type=str(ResponseType.BINARY),
        position_bias_magnitude=(choices["p_high_forward"] - choices["p_high_reversed"]).abs(),
    )
    of_columns = {"prob_forward": "p_high_forward", "prob_reversed": "p_high_reversed", "prob_averaged": "p_high"}
    high = shared.assign(response_value=IS_HIGH, **{name: choices[of] for name, of in of_columns.items()})
    low = shared.assign(response_value=IS_LOW, **{name: 1 - choices[of] for name, of in of_columns.items()})
    return pd.concat([high, low], ignore_index=True)
