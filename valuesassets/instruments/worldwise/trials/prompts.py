"""The texts that models are shown: persona lines, dilemmas with options, and requests for a reason."""

from collections.abc import Sequence

from valuesassets.instruments.worldwise.material.cultures import Culture, Persona
from valuesassets.instruments.worldwise.material.dimensions import AXES, HIGH, LOW, UNPROMPTED
from valuesassets.instruments.worldwise.material.scenarios import Scenario
from valuesassets.instruments.worldwise.material.value_names import SEPARATOR
from valuesassets.measure.seeding import seeded

WORDINGS = (
    "You live in {place} and grew up there.",
    "Answer as a person from {name} would.",
    "The person who answers is {demonym}.",
)
"""Persona lines of a culture."""
PLACEBO_WORDINGS = (
    "You live in a city and grew up there.",
    "Answer as a person would.",
    "The person who answers is an adult.",
)
"""Persona lines of a person from nowhere."""
DEMAND = "You hold the values that are typical there."
LETTERS = ("A", "B")
CUES = {"decide": "DECISION:", "open": "Reason:", "advocate": "Reason:"}
"""Words that open the answer, by form, in bare text; chats have none."""


def persona_line(persona: Persona, wording: int = 0, demand: bool = False) -> str | None:
    """The line of a wording (0 to 2) that says who answers; None without a persona. `demand` adds typical values.

    >>> persona_line("placebo", 1), persona_line("unprompted")
    ('Answer as a person would.', None)
    """
    if persona == UNPROMPTED:
        return None
    if isinstance(persona, Culture):
        line = WORDINGS[wording].format(place=persona.place, name=persona.name, demonym=persona.demonym)
    else:
        line = PLACEBO_WORDINGS[wording]
    return f"{line} {DEMAND}" if demand else line


def leading_high(scenarios: Sequence[Scenario], seed: int = 0) -> frozenset[str]:
    """Ids of the dilemmas that show the high pole first in forward order: a seeded half of each axis.

    Dilemmas are sorted by axis and a random number that depends on seed and id, and every second one is taken, so that
    short files are balanced too. An added dilemma may change which order of others is called forward, but no prompt,
    since both orders are asked.
    """
    drawn = {each.id: seeded(seed, "worldwise", "orders", each.id).random() for each in scenarios}
    ordered = sorted(scenarios, key=lambda each: (AXES.index(each.axis), drawn[each.id]))
    return frozenset(each.id for each in ordered[::2])


def shown_poles(order: str, leads_high: bool) -> tuple[str, str]:
    """The poles of options A and B, by order and by whether the high pole comes first in forward order.

    >>> shown_poles("forward", True), shown_poles("reversed", True)
    (('high', 'low'), ('low', 'high'))
    """
    return (HIGH, LOW) if (order == "forward") == leads_high else (LOW, HIGH)


def choice_prompt(scenario: Scenario, poles: Sequence[str], line: str | None = None) -> str:
    """The dilemma with the poles of options A and B, below the line of the persona; the answer is A or B."""
    return f"{_with_options(scenario, poles, line)}\nAnswer:"


def decide_prompt(scenario: Scenario, poles: Sequence[str], values: Sequence[str], line: str | None = None) -> str:
    """The dilemma with its options; the answer is a decision, three of the values shown, and a reason."""
    return "\n".join(
        (
            _with_options(scenario, poles, line),
            f"Values: {f'{SEPARATOR} '.join(values)}",
            "Answer in three lines, nothing else:",
            "DECISION: A, B or NEITHER",
            "VALUES: the three from the list that weighed most, separated by semicolons",
            "REASON: two to five sentences",
        )
    )


def open_prompt(scenario: Scenario, line: str | None = None) -> str:
    """The dilemma without options, so that the reason cannot echo one."""
    return f"{_question(scenario, line)}\nAnswer in two to five sentences: what do you do, and why?"


def advocate_prompt(scenario: Scenario, pole: str) -> str:
    """A request, without persona, to argue for one option; the answers show what the poles sound like."""
    return f"{scenario.situation}\nGive two to five sentences in favour of this: {_option(scenario, pole)}"


def shown_values(values: Sequence[str], scenario_id: str, seed: int = 0) -> list[str]:
    """The values in the order in which a dilemma shows them: seeded, and the same for every persona and order."""
    drawn = seeded(seed, "worldwise", "values", scenario_id).permutation(len(values))
    return [values[int(place)] for place in drawn]


def _with_options(scenario: Scenario, poles: Sequence[str], line: str | None) -> str:
    options = (f"{letter}. {_option(scenario, pole)}" for letter, pole in zip(LETTERS, poles, strict=True))
    return "\n".join((_question(scenario, line), *options))


def _question(scenario: Scenario, line: str | None) -> str:
    question = f"{scenario.situation} {scenario.question}"
    return f"{line}\n{question}" if line else question


def _option(scenario: Scenario, pole: str) -> str:
    return scenario.high if pole == HIGH else scenario.low
