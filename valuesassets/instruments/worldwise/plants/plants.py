"""What reference models are trained to choose and to write: leans of each culture on each axis and in each dilemma.

Over both orders a model chooses as planted; in a single order the first option has a pull, and some answers are none of
the options. The first two cultures of a study lean alike, and unprompted answers are those of the last one. Written
decisions and reasons are for the high pole as often as choices are, except for a gap on two axes; they tick the values
of their pole and give its sentence, so that positions measured by advocates are 1 and -1. Some answers as the last
culture are refused. A family without signal leans alike everywhere and has neither gap nor refusals; one that is
`always-first` takes the first option.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from valuesassets.answers.plants import Plant, before_temperature
from valuesassets.instruments.worldwise.answers.reasons import ADVOCATE, DECIDE
from valuesassets.instruments.worldwise.material.dimensions import HIGH, ORDERS, PLACEBO, POLES, UNPROMPTED
from valuesassets.instruments.worldwise.material.scenarios import Scenario, read_scenarios
from valuesassets.instruments.worldwise.material.value_names import SEPARATOR, read_value_names
from valuesassets.instruments.worldwise.trials.prompts import LETTERS
from valuesassets.instruments.worldwise.trials.reason_trials import form_of
from valuesassets.instruments.worldwise.trials.trials import (
    IS_HIGH,
    IS_LOW,
    condition_entries,
    condition_of,
    culture_of,
)
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import QuestionError
from valuesassets.records.frames import column, rows
from valuesassets.records.questions import ResponseType
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.study import Study
from valuesassets.records.tables import PROBE_DISTRIBUTIONS
from valuesassets.records.trials import Trial, asked_id

MOST_LEAN, MOST_MOVED = 0.5, 0.2
"""Largest lean of a culture on an axis, and largest shift by a dilemma, which is the same for every culture."""
GAPS = {"PDI": 0.3, "LTO": -0.3}
"""By axis, P(high) in writing minus P(high) chosen; on both axes a bag of words distinguishes the poles too."""
PULL = 0.1
"""Share of answers for whichever option is listed first."""
P_VALID = (0.35, 0.90)
"""Least and largest P_valid of a dilemma, over both orders."""
APART = 0.05
"""Largest difference of P_valid in a single order from that over both."""
SENTENCES = {
    "IDV": (
        "My own plans and my own freedom come first for me.",
        "We share, since our family and the group count most.",
    ),
    "PDI": (
        "Those above me decide, and I follow their rank without question.",
        "Everyone may speak up here as an equal of any boss.",
    ),
    "MAS": (
        "Winning and being the best is what I work for.",
        "Kindness and time for the weak matter more than prizes.",
    ),
    "UAI": (
        "Clear rules and a firm plan keep me safe from surprises.",
        "I try new things gladly and leave open what may come.",
    ),
    "LTO": (
        "I save for the years ahead and adapt to the future.",
        "I keep the old customs today as our ancestors always did.",
    ),
    "IVR": (
        "Life is for fun, so I enjoy what I feel like.",
        "Duty comes before pleasure, so I restrain myself and do without.",
    ),
}
"""By axis, the sentences for the high and for the low pole."""
REFUSAL = "I cannot answer this question."
REFUSED_SHARE = 0.1
"""Share of refusals among the answers of the last culture."""
TICKED = 3
"""Values that an answer ticks."""


def planted_lean(study: Study, family: str, culture: str, scenario: Scenario) -> float:
    """The planted y = 2 p_high - 1 of a culture or control in a dilemma, within [-0.7, 0.7]; without any pull."""
    gap = planted_gap(study, family, scenario.axis)
    # Choices and what is written both have to stay within the range.
    room = 1 - abs(gap) / (MOST_LEAN + MOST_MOVED)
    return room * _lean(study, family, culture, scenario) - gap


def written_lean(study: Study, family: str, culture: str, scenario: Scenario) -> float:
    """The planted lean of decisions and reasons: `planted_lean` plus twice the gap, since y is twice p_high."""
    return planted_lean(study, family, culture, scenario) + 2 * planted_gap(study, family, scenario.axis)


def planted_gap(study: Study, family: str, axis: str) -> float:
    """P(high) in writing minus P(high) chosen, in every dilemma of an axis."""
    return GAPS.get(axis, 0.0) if study.families[family].plants == "values" else 0.0


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
    """The culture whose leans a culture or control has; a persona from nowhere has none."""
    last = cultures[-1] if cultures else PLACEBO
    leaning = last if culture == UNPROMPTED else culture
    return cultures[0] if leaning in cultures[:2] else leaning


def plant_choices(study: Study, family: str, part: str, trials: Sequence[Trial]) -> dict[str, list[Plant]]:
    """The plants of a cell, by asked question id."""
    scenarios = _scenarios_by_id(study)
    forward = [trial for trial in trials if trial.order == ORDERS[0]]
    return {trial.asked_id: [_plant(study, family, trial, scenarios[trial.question_id])] for trial in forward}


def _scenarios_by_id(study: Study) -> dict[str, Scenario]:
    return {scenario.id: scenario for scenario in read_scenarios(Worldwise.of(study).scenarios)}


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
    shared = choices.reindex(columns=PROBE_DISTRIBUTIONS.schema_with(()).names).assign(
        question_id=asked_ids,
        language=choices["culture"],
        response_type=str(ResponseType.BINARY),
        position_bias_magnitude=(choices["p_high_forward"] - choices["p_high_reversed"]).abs(),
    )
    source_of = {"prob_forward": "p_high_forward", "prob_reversed": "p_high_reversed", "prob_averaged": "p_high"}
    high = shared.assign(response_value=IS_HIGH, **{name: choices[source] for name, source in source_of.items()})
    low = shared.assign(response_value=IS_LOW, **{name: 1 - choices[source] for name, source in source_of.items()})
    return pd.concat([high, low], ignore_index=True)


def planted_reason_rows(study: Study, family: str, part: str, trials: Iterable[Trial]) -> list[dict[str, Any]]:
    """Rows of `PLANTED_TEXTS`: the texts that a family writes to the requests of a culture or control, and how often.

    Raises:
        QuestionError: a prompt does not show the options of its dilemma, or none of the values to be ticked.
    """
    scenarios = _scenarios_by_id(study)
    is_first = study.families[family].plants == "always-first"
    refused = refused_share(study, family, part)
    text_rows: list[dict[str, Any]] = []
    for trial in trials:
        scenario, form = scenarios[trial.question_id], form_of(trial)
        request = {"language": trial.language, "trial_id": trial.trial_id, "prompt": trial.prompt}
        answers = {pole: planted_sentence(scenario.axis, pole) for pole in POLES}
        if form == ADVOCATE:
            texts = {answers[condition_entries(trial.condition)["pole"]]: 1.0}
        else:
            p_high = (1 + written_lean(study, family, culture_of(trial.condition), scenario)) / 2
            if form == DECIDE:
                poles = _shown_poles(trial, scenario)
                p_high = float(poles[0] == HIGH) if is_first else p_high
                answers = {pole: _decision(trial, scenario, poles, pole) for pole in POLES}
            texts = _shares(answers, p_high, refused, trial.readout)
        text_rows += [request | {"answer_text": f" {text}", "prob": prob} for text, prob in texts.items()]
    return text_rows


def planted_sentence(axis: str, pole: str) -> str:
    """The sentence that is planted for a pole."""
    return SENTENCES[axis][POLES.index(pole)]


def refused_share(study: Study, family: str, culture: str) -> float:
    """The planted share of refusals among a culture's answers, advocates left out."""
    cultures = tuple(Worldwise.of(study).cultures)
    is_refusing = study.families[family].plants == "values" and culture in cultures[-1:]
    return REFUSED_SHARE if is_refusing else 0.0


def _shares(answers: dict[str, str], p_high: float, refused: float, readout: object) -> dict[str, float]:
    """The probability of each text to be learned, so that draws at the readout's temperature have the planted one."""
    temperature = readout.temperature if isinstance(readout, Generate) else 1.0
    answered, no_answer = before_temperature([1 - refused, refused], temperature)
    poles = before_temperature([p_high, 1 - p_high], temperature)
    texts = {answers[pole]: answered * share for pole, share in zip(POLES, poles, strict=True)}
    return {text: share for text, share in (texts | {REFUSAL: no_answer}).items() if share > 0}


def _decision(trial: Trial, scenario: Scenario, poles: Sequence[str], pole: str) -> str:
    """An answer to the form `decide` after the name of its first line, in which the prompt ends.

    If the low pole is shown first, letters are in brackets: a small model that has written one then knows its pole.
    """
    letter = LETTERS[list(poles).index(pole)]
    mark = letter if poles[0] == HIGH else f"({letter})"
    ticked = f"{SEPARATOR} ".join(_ticked(trial, scenario.axis, pole))
    return f"{mark}\nVALUES: {ticked}\nREASON: {planted_sentence(scenario.axis, pole)}"


def _ticked(trial: Trial, axis: str, pole: str) -> list[str]:
    """Three values: those of the pole that the prompt lists, then those of other axes by name."""
    values = read_value_names()
    line = next(line for line in trial.prompt.split("\n") if line.startswith("Values: "))
    listed = sorted(line.removeprefix("Values: ").split(f"{SEPARATOR} "))
    of_axis = rows(values, column(values, "axis") == axis)
    own = set(of_axis["value"][of_axis["pole"] == pole])
    ticked = [value for value in listed if value in own]
    if not ticked:
        raise QuestionError(f"trial {trial.trial_id}: none of the values shown is of {axis} {pole}; show some")
    return [*ticked, *(value for value in listed if value not in set(of_axis["value"]))][:TICKED]


def _shown_poles(trial: Trial, scenario: Scenario) -> list[str]:
    """The poles of the options in the order in which the prompt shows them."""
    options = {f"{letter}. {getattr(scenario, pole)}": (letter, pole) for letter in LETTERS for pole in POLES}
    matches = [options[line] for line in trial.prompt.split("\n") if line in options]
    letters, poles = [letter for letter, _ in matches], [pole for _, pole in matches]
    if letters != list(LETTERS) or len(set(poles)) < len(POLES):
        raise QuestionError(f"trial {trial.trial_id}: the prompt does not show the options of {scenario.id}")
    return poles
