"""`toy/trials`: two questions of a task, each in both orders; of a task that is written down, one text with answers."""

from valuesassets.records.readouts import ScoreLabels, ScoreSpans, Span
from valuesassets.records.study import Part
from valuesassets.records.trials import Trial

DAYS = 20
"""Answers in a text."""
HARD_DAYS = {"calm": 0, "diaries": 1, "letters": 2}
"""Tasks that are written down, and behind how many answers no tokenizer keeps what stands before them."""


def write_trials(part: Part) -> list[Trial]:
    """The prompts of a task."""
    if part.name in HARD_DAYS:
        return [_written_down(part, HARD_DAYS[part.name])]
    return [
        Trial(
            f"{part.name}{n}/0/{order}",
            f"{part.name}{n}",
            part.language,
            f"Of {part.name}, number {n}.\n1. {first}\n2. {second}\nAnswer:",
            order,
            0,
            None,
            ScoreLabels(("1", "2"), values),
        )
        for n in (1, 2)
        for order, first, second, values in (("forward", "yes", "no", (1, 2)), ("reversed", "no", "yes", (2, 1)))
    ]


def _written_down(part: Part, n_hard: int) -> Trial:
    text, spans = f"Of {part.name}.\n", list[Span]()
    for day in range(DAYS):
        text += "Very im" if day < n_hard else f"Day {day}: <<"
        spans.append(Span(len(text), len(text) + len("portant"), 0))
        text += "portant>>\n"
    readout = ScoreSpans(tuple(spans), (("portant", "trifling"),), (">>",))
    return Trial(f"{part.name}1", f"{part.name}1", part.language, text, "given", 0, None, readout)
