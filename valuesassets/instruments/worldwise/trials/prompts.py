"""What models are shown: persona lines, dilemmas to choose in, and the requests for a reason."""

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
"""Of the persona line: of a person of a culture, by number."""
PLACEBO_WORDINGS = (
    "You live in a city and grew up there.",
    "Answer as a person would.",
    "The person who answers is an adult.",
)
"""The same of a person from nowhere."""
DEMAND = "You hold the values that are typical there."
LETTERS = ("A", "B")
CUES = {"decide": "DECISION:", "open": "Reason:", "advocate": "Reason:"}
"""By form, what opens the answer of a model that is asked in bare text; a chat is asked without it."""


def persona_line(persona: Persona, wording: int = 0, demand: bool = False) -> str | None:
    """The line that says who answers; None where nobody is said to.

    Args:
        wording: number of it, 0 to 2.
        demand: whether the values that are typical there are asked for.

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
    """Ids of the dilemmas that show the high pole first in the order forward: half of them and of each axis, seeded.

    Every second one, sorted by axis and a number that hangs on seed and id: exactly half, where chance for each would
    leave a short file unbalanced. A dilemma that is added may change what is called forward in others, yet no prompt,
    since both orders are asked.
    """
    drawn = {each.id: seeded(seed, "worldwise", "orders", each.id).random() for each in scenarios}
    ordered = sorted(scenarios, key=lambda each: (AXES.index(each.axis), drawn[each.id]))
    return frozenset(each.id for each in ordered[::2])


def shown_poles(order: str, leads_high: bool) -> tuple[str, str]:
    """The poles of options A and B.

    Args:
        order: forward or reversed.
        leads_high: whether the high pole comes first forward.

    >>> shown_poles("forward", True), shown_poles("reversed", True)
    (('high', 'low'), ('low', 'high'))
    """
    return (HIGH, LOW) if (order == "forward") == leads_high else (LOW, HIGH)


def choice_prompt(scenario: Scenario, poles: Sequence[str], line: str | None = None) -> str:
    """The dilemma with its options, to be answered by A or B.

    Args:
        poles: of options A and B.
        line: of the persona.
    """
    return f"{_with_options(scenario, poles, line)}\nAnswer:"


def decide_prompt(scenario: Scenario, poles: Sequence[str], values: Sequence[str], line: str | None = None) -> str:
    """The dilemma with its options, to be answered by a decision, three values and a reason.

    Args:
        values: labels of all values that may be ticked, in the order shown (`shown_values`).
    """
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
    """The dilemma without options, to be answered by a reason alone, which has no option to echo."""
    return f"{_asked(scenario, line)}\nAnswer in two to five sentences: what do you do, and why?"


def advocate_prompt(scenario: Scenario, pole: str) -> str:
    """A request to speak for one option, so that what the poles sound like is known; nobody is said to speak."""
    return f"{scenario.situation}\nGive two to five sentences in favour of this: {_option(scenario, pole)}"


def shown_values(values: Sequence[str], scenario_id: str, seed: int = 0) -> list[str]:
    """Labels of values in the order in which a dilemma shows them: seeded, the same for every persona and order."""
    drawn = seeded(seed, "worldwise", "values", scenario_id).permutation(len(values))
    return [values[int(place)] for place in drawn]


def _with_options(scenario: Scenario, poles: Sequence[str], line: str | None) -> str:
    options = (f"{letter}. {_option(scenario, pole)}" for letter, pole in zip(LETTERS, poles, strict=True))
    return "\n".join((_asked(scenario, line), *options))


def _asked(scenario: Scenario, line: str | None) -> str:
    question = f"{scenario.situation} {scenario.question}"
    return f"{line}\n{question}" if line else question


def _option(scenario: Scenario, pole: str) -> str:
    return scenario.high if pole == HIGH else scenario.low
