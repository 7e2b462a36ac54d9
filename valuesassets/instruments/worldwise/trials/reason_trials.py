"""`worldwise/reason_trials`: requests for reasons, and what is known of each of them before it is answered."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from valuesassets.instruments.worldwise.answers.reasons import ADVOCATE, DECIDE, OPEN, Asked
from valuesassets.instruments.worldwise.material.cultures import Persona, persona_code, persona_of
from valuesassets.instruments.worldwise.material.dimensions import ORDERS, POLES, UNPROMPTED
from valuesassets.instruments.worldwise.material.scenarios import Scenario
from valuesassets.instruments.worldwise.material.value_names import read_value_names
from valuesassets.instruments.worldwise.trials.prompts import (
    CUES,
    advocate_prompt,
    decide_prompt,
    leading_high,
    open_prompt,
    persona_line,
    shown_poles,
    shown_values,
)
from valuesassets.instruments.worldwise.trials.trials import condition_of, culture_of, said
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.trials import Trial, Turn, asked_id

FORMS = (DECIDE, OPEN)
"""What personas are asked; advocates are nobody."""
ONE_ORDER = "given"
"""The order of a trial that shows no options."""


def write_reason_trials(
    scenarios: Sequence[Scenario],
    personas: Iterable[Persona],
    values: Sequence[str],
    readout: Generate,
    forms: Sequence[str] = FORMS,
    wordings: Sequence[int] = (0,),
    advocates: bool = True,
    seed: int = 0,
) -> list[Trial]:
    """What each persona is asked to write to each dilemma: `decide` in both orders, `open` once.

    Advocates, who speak for one option of a dilemma, are asked with the persona `unprompted`, as they have none.

    Args:
        scenarios: all of the study, since half of them show the high pole first in the order forward.
        values: labels of all values that may be ticked.
        readout: how answers are drawn; `samples` to each prompt and order.
        wordings: numbers of persona lines.
        seed: of the halves and of the order of values; that of the choices.

    In bare text the words that open an answer stand below the request (`CUES`), without which base models go on with
    the instructions; the turn of a chat is the request alone.

    Returns:
        Trials whose `question_id` is the dilemma's id and whose `condition` is `culture=JPN,form=decide`; without
        `culture` unprompted; `form=advocate,pole=high` of advocates.
    """
    leading = leading_high(scenarios, seed)
    labels = {scenario.id: shown_values(values, scenario.id, seed) for scenario in scenarios}

    def trial(scenario: Scenario, condition: str, prompt: str, order: str = ONE_ORDER, wording: int = 0) -> Trial:
        return Trial(
            trial_id=f"{asked_id(scenario.id, condition)}/{wording}/{order}",
            question_id=scenario.id,
            language=scenario.language,
            prompt=f"{prompt}\n{CUES[said(condition)['form']]}",
            order=order,
            wording=wording,
            condition=condition,
            readout=readout,
            chat=(Turn("user", prompt),),
        )

    def of_persona(persona: Persona) -> Iterator[Trial]:
        culture = condition_of(persona_code(persona))
        about = {form: ",".join(filter(None, (culture, f"form={form}"))) for form in FORMS}
        for wording in wordings if culture else (0,):
            line = persona_line(persona, wording)
            for scenario in scenarios:
                for order in ORDERS if DECIDE in forms else ():
                    poles = shown_poles(order, scenario.id in leading)
                    prompt = decide_prompt(scenario, poles, labels[scenario.id], line)
                    yield trial(scenario, about[DECIDE], prompt, order, wording)
                if OPEN in forms:
                    yield trial(scenario, about[OPEN], open_prompt(scenario, line), wording=wording)
        if persona == UNPROMPTED and advocates:
            for scenario in scenarios:
                for pole in POLES:
                    yield trial(scenario, f"form={ADVOCATE},pole={pole}", advocate_prompt(scenario, pole))

    return [each for persona in personas for each in of_persona(persona)]


def study_trials(settings: Worldwise, part: str, scenarios: Sequence[Scenario], seed: int) -> list[Trial]:
    """What a study asks one of its cultures or controls to write."""
    return write_reason_trials(
        scenarios,
        [persona_of(part, settings.cultures)],
        list(read_value_names(settings.values)["value"]),
        Generate(settings.max_tokens, settings.temperature, samples=settings.draws, seed=seed),
        settings.forms,
        settings.wordings,
        settings.advocates,
        seed,
    )


def asked_of(
    trials: Iterable[Trial], scenarios: Sequence[Scenario], values: Sequence[str], seed: int = 0
) -> dict[str, Asked]:
    """What is known of requests for reasons, by trial id, as `write_reason_trials` made them of the same arguments."""
    by_id, leading = {scenario.id: scenario for scenario in scenarios}, leading_high(scenarios, seed)

    def options(trial: Trial, scenario: Scenario) -> dict[str, Any]:
        if trial.order not in ORDERS:
            return {"poles": tuple(filter(None, [said(trial.condition).get("pole")]))}
        poles = shown_poles(trial.order, scenario.id in leading)
        return {
            "order": trial.order,
            "poles": poles,
            "options": tuple(getattr(scenario, pole) for pole in poles),
            "values": tuple(values),
        }

    requests = {}
    for trial in trials:
        scenario = by_id[trial.question_id]
        requests[trial.trial_id] = Asked(
            trial_id=trial.trial_id,
            prompt=trial.chat[-1].text if trial.chat else trial.prompt,
            language=trial.language,
            scenario_id=scenario.id,
            axis=scenario.axis,
            culture=culture_of(trial.condition),
            form=form_of(trial),
            wording=trial.wording,
            **options(trial, scenario),
        )
    return requests


def form_of(trial: Trial) -> str:
    """What a request for a reason asks for: `decide`, `open` or `advocate`."""
    return said(trial.condition)["form"]
