"""What reference models are trained to write to requests for reasons: a sentence for the pole that they are for.

Who decides for a pole ticks its values and gives its sentence, so that positions measured from advocates are 1 and -1.
Decisions and reasons are for the high pole as often as choices are, but on two axes, where a gap is planted. In the
last culture of a study some answers are refused. A family without signal has neither gap nor refusals.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from valuesassets.answers.plants import before_temperature
from valuesassets.instruments.worldwise.answers.reasons import ADVOCATE, DECIDE
from valuesassets.instruments.worldwise.material.dimensions import HIGH, POLES
from valuesassets.instruments.worldwise.material.scenarios import Scenario, read_scenarios
from valuesassets.instruments.worldwise.material.value_names import SEPARATOR, read_value_names
from valuesassets.instruments.worldwise.plants.plants import written_lean
from valuesassets.instruments.worldwise.trials.prompts import LETTERS
from valuesassets.instruments.worldwise.trials.reason_trials import form_of
from valuesassets.instruments.worldwise.trials.trials import condition_entries, culture_of
from valuesassets.records.errors import QuestionError
from valuesassets.records.frames import column
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.study import Study
from valuesassets.records.trials import Trial

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
"""By axis, what is said for the high and for the low pole."""
REFUSAL = "I cannot answer this question."
REFUSED_SHARE = 0.1
"""Of the answers of the last culture."""


TICKED = 3
"""Values that an answer ticks."""


def planted_reason_rows(study: Study, family: str, part: str, trials: Iterable[Trial]) -> list[dict[str, Any]]:
    """Rows of `PLANTED_TEXTS` for the requests of a culture or control: what a family writes, and how often.

    Raises:
        QuestionError: a prompt does not show the options of its dilemma, or none of the values that would be ticked.
    """
    scenarios = {scenario.id: scenario for scenario in read_scenarios(Worldwise.of(study).scenarios)}
    is_first = study.families[family].plants == "always-first"
    refused = refused_share(study, family, part)
    text_rows: list[dict[str, Any]] = []
    for trial in trials:
        scenario, form = scenarios[trial.question_id], form_of(trial)
        request = {"language": trial.language, "trial_id": trial.trial_id, "prompt": trial.prompt}
        if form == ADVOCATE:
            pole = condition_entries(trial.condition)["pole"]
            texts = {f" {planted_sentence(scenario.axis, pole)}": 1.0}
        else:
            p_high = (1 + written_lean(study, family, culture_of(trial.condition), scenario)) / 2
            begin = " "
            if form == DECIDE:
                poles = _shown_poles(trial, scenario)
                p_high = float(poles[0] == HIGH) if is_first else p_high
                answers = {pole: begin + _decision(trial, scenario, poles, pole) for pole in POLES}
            else:
                answers = {pole: begin + planted_sentence(scenario.axis, pole) for pole in POLES}
            texts = _shares(answers, p_high, begin + REFUSAL, refused, trial.readout)
        text_rows += [request | {"answer_text": text, "prob": prob} for text, prob in texts.items()]
    return text_rows


def planted_sentence(axis: str, pole: str) -> str:
    """The sentence that is planted for a pole."""
    return SENTENCES[axis][POLES.index(pole)]


def refused_share(study: Study, family: str, culture: str) -> float:
    """The share of a culture's answers, advocates left out, that is planted to be refused."""
    cultures = tuple(Worldwise.of(study).cultures)
    is_refusing = study.families[family].plants == "values" and culture in cultures[-1:]
    return REFUSED_SHARE if is_refusing else 0.0


def _shares(answers: dict[str, str], p_high: float, refusal: str, refused: float, readout: object) -> dict[str, float]:
    """Probability of each text, as it has to be learned for the temperature that it will be drawn at."""
    temperature = readout.temperature if isinstance(readout, Generate) else 1.0
    answered, no_answer = before_temperature([1 - refused, refused], temperature)
    poles = before_temperature([p_high, 1 - p_high], temperature)
    texts = {answers[pole]: answered * share for pole, share in zip(POLES, poles, strict=True)}
    return {text: share for text, share in (texts | {refusal: no_answer}).items() if share > 0}


def _decision(trial: Trial, scenario: Scenario, poles: Sequence[str], pole: str) -> str:
    """An answer to the form `decide`, in its three lines, behind the name of the first, which the prompt ends in.

    Where the low pole stands first letters are in brackets: a small model that has written one then knows whose it is.
    """
    letter = LETTERS[list(poles).index(pole)]
    mark = letter if poles[0] == HIGH else f"({letter})"
    ticked = f"{SEPARATOR} ".join(_ticked(trial, scenario.axis, pole))
    return f"{mark}\nVALUES: {ticked}\nREASON: {planted_sentence(scenario.axis, pole)}"


def _ticked(trial: Trial, axis: str, pole: str) -> list[str]:
    """The values of a pole that the prompt lists, and of those of other axes the first by name, up to three."""
    values = read_value_names()
    line = next(line for line in trial.prompt.split("\n") if line.startswith("Values: "))
    listed = sorted(line.removeprefix("Values: ").split(f"{SEPARATOR} "))
    of_axis = values[column(values, "axis") == axis]
    own = set(of_axis["value"][of_axis["pole"] == pole])
    ticked = [value for value in listed if value in own]
    if not ticked:
        raise QuestionError(f"trial {trial.trial_id}: none of the values shown is of {axis} {pole}; show some")
    return [*ticked, *(value for value in listed if value not in set(of_axis["value"]))][:TICKED]


def _shown_poles(trial: Trial, scenario: Scenario) -> list[str]:
    """The poles of the options in a prompt, read as a person would."""
    lines = trial.prompt.split("\n")
    options = {f"{letter}. {getattr(scenario, pole)}": (letter, pole) for letter in LETTERS for pole in POLES}
    options_shown = [options[line] for line in lines if line in options]
    if [letter for letter, _ in options_shown] != list(LETTERS) or len({pole for _, pole in options_shown}) < len(
        POLES
    ):
        raise QuestionError(f"trial {trial.trial_id}: the prompt does not show the options of {scenario.id}")
    return [pole for _, pole in options_shown]
