"""`worldwise/reason_trials`: requests for reasons, and the facts about each request that its answer is read with."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from valuesassets.instruments.worldwise.answers.reasons import ADVOCATE, DECIDE, OPEN, Request
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
from valuesassets.instruments.worldwise.trials.trials import condition_entries, condition_of, culture_of
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.trials import Trial, Turn, asked_id

FORMS = (DECIDE, OPEN)
"""The forms that personas are asked; advocates have no persona."""
ONE_ORDER = "given"
"""The order of a trial without options."""


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
    """The requests to each persona in each dilemma: `decide` in both orders, `open` once.

    Advocates argue for one option of a dilemma; their requests are part of the persona `unprompted`. In bare text the
    words that open an answer (`CUES`) stand below the request, since base models would otherwise continue the
    instructions.

    Args:
        scenarios: all dilemmas of the study, since half of them show the high pole first in forward order.
        readout: how answers are drawn; `samples` for each prompt and order.
        seed: the same as for the choices.

    Returns:
        Trials with the dilemma's id as `question_id` and the `condition` `culture=JPN,form=decide`, without `culture`
        for `unprompted`, and `form=advocate,pole=high` for advocates.
    """
    leading = leading_high(scenarios, seed)
    labels = {scenario.id: shown_values(values, scenario.id, seed) for scenario in scenarios}

    def trial(scenario: Scenario, condition: str, prompt: str, order: str = ONE_ORDER, wording: int = 0) -> Trial:
        return Trial(
            trial_id=f"{asked_id(scenario.id, condition)}/{wording}/{order}",
            question_id=scenario.id,
            language=scenario.language,
            prompt=f"{prompt}\n{CUES[condition_entries(condition)['form']]}",
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
    """The requests to one culture or control of a study."""
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


def requests_of(
    trials: Iterable[Trial], scenarios: Sequence[Scenario], values: Sequence[str], seed: int = 0
) -> dict[str, Request]:
    """The request of each trial by its id; the other arguments are those that `write_reason_trials` had."""
    by_id, leading = {scenario.id: scenario for scenario in scenarios}, leading_high(scenarios, seed)

    def options(trial: Trial, scenario: Scenario) -> dict[str, Any]:
        if trial.order not in ORDERS:
            return {"poles": tuple(filter(None, [condition_entries(trial.condition).get("pole")]))}
        poles = shown_poles(trial.order, scenario.id in leading)
        shown_options = tuple(getattr(scenario, pole) for pole in poles)
        return {"order": trial.order, "poles": poles, "options": shown_options, "values": tuple(values)}

    requests = {}
    for trial in trials:
        scenario = by_id[trial.question_id]
        requests[trial.trial_id] = Request(
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
    """The form of a request: `decide`, `open` or `advocate`."""
    return condition_entries(trial.condition)["form"]
