"""`worldwise/trials`: choices in dilemmas, in both orders, persona by persona, so that prompts share beginnings."""

from collections.abc import Iterable, Iterator, Sequence

from valuesassets.instruments.worldwise.material.cultures import Persona, persona_code, persona_of
from valuesassets.instruments.worldwise.material.dimensions import HIGH, ORDERS, UNPROMPTED
from valuesassets.instruments.worldwise.material.scenarios import Scenario
from valuesassets.instruments.worldwise.trials.prompts import (
    LETTERS,
    choice_prompt,
    leading_high,
    persona_line,
    shown_poles,
)
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.trials import Trial, asked_id

IS_HIGH, IS_LOW = 1, 0
"""The values of the labels A and B."""


def write_trials(
    scenarios: Sequence[Scenario],
    personas: Iterable[Persona],
    wordings: Sequence[int] = (0,),
    demand: bool = False,
    seed: int = 0,
) -> list[Trial]:
    """The choice of each persona in each dilemma, in both orders; `unprompted` has no wordings and is asked once.

    Args:
        scenarios: all dilemmas of the study, since half of them show the high pole first in forward order.
        demand: whether personas are told to hold typical values; `unprompted` is then not asked.

    Returns:
        Trials with the dilemma's id as `question_id`, `values` 1 (high) and 0 (low), and the `condition` `culture=JPN`
        (`,demand=true`), None for `unprompted`.
    """
    leading = leading_high(scenarios, seed)
    return [trial for persona in personas for trial in _of_persona(persona, scenarios, wordings, demand, leading)]


def study_trials(settings: Worldwise, part: str, scenarios: Sequence[Scenario], seed: int) -> list[Trial]:
    """The choices of one culture or control of a study."""
    persona, demands = persona_of(part, settings.cultures), [False, True] if settings.demand else [False]
    return [trial for each in demands for trial in write_trials(scenarios, [persona], settings.wordings, each, seed)]


def _of_persona(
    persona: Persona, scenarios: Sequence[Scenario], wordings: Sequence[int], demand: bool, leading: frozenset[str]
) -> Iterator[Trial]:
    if persona == UNPROMPTED:
        wordings = () if demand else (0,)
    condition = condition_of(persona_code(persona), demand)
    for wording in wordings:
        line = persona_line(persona, wording, demand)
        for scenario in scenarios:
            for order in ORDERS:
                poles = shown_poles(order, scenario.id in leading)
                yield Trial(
                    trial_id=f"{asked_id(scenario.id, condition)}/{wording}/{order}",
                    question_id=scenario.id,
                    language=scenario.language,
                    prompt=choice_prompt(scenario, poles, line),
                    order=order,
                    wording=wording,
                    condition=condition,
                    readout=ScoreLabels(LETTERS, tuple(IS_HIGH if pole == HIGH else IS_LOW for pole in poles)),
                )


def condition_of(culture: str, demand: bool = False) -> str | None:
    """The `condition` of a trial: what its prompt says of who answers; None where it says nothing.

    >>> condition_of("JPN"), condition_of("JPN", demand=True), condition_of("unprompted")
    ('culture=JPN', 'culture=JPN,demand=true', None)
    """
    return None if culture == UNPROMPTED else f"culture={culture}{',demand=true' if demand else ''}"


def condition_entries(condition: str | None) -> dict[str, str]:
    """The entries of a trial's condition, by key.

    >>> condition_entries("culture=JPN,form=open"), condition_entries(None)
    ({'culture': 'JPN', 'form': 'open'}, {})
    """
    return dict(each.split("=", 1) for each in (condition or "").split(",") if each)


def is_demand(condition: str | None) -> bool:
    """Whether the persona of a condition is told to hold typical values.

    >>> is_demand("culture=JPN,demand=true"), is_demand("culture=JPN"), is_demand(None)
    (True, False, False)
    """
    return "demand" in condition_entries(condition)


def culture_of(condition: str | None) -> str:
    """The culture or control of a trial's condition.

    >>> culture_of("culture=JPN,demand=true"), culture_of("form=open"), culture_of(None)
    ('JPN', 'unprompted', 'unprompted')
    """
    return condition_entries(condition).get("culture", UNPROMPTED)
