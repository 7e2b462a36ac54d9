"""Transcripts made for tests: answers between marks, as the published code has them."""

from dataclasses import replace

from valuesassets.records.marks import find_marks
from valuesassets.records.trials import Trial
from valuesassets_tests.models.asked_marks import ask_marks

NUMBERS = tuple(map(str, range(100)))
INSTRUCTIONS = "You will see questions. Answer each with a number from 0 to 99.\n"


def transcript(answers, instructions=INSTRUCTIONS):
    """A text with an answer to each of its questions."""
    return instructions + "".join(f"{n}. How often, in {n} days? <<{a}>>\n" for n, a in enumerate(answers, 1))


def span_trial(text, candidates=NUMBERS, trial_id="p1", **settings):
    """A trial that asks the same candidates at every mark of a text, an empty one too."""
    marks, _ = find_marks(text)
    readout = replace(ask_marks(marks, [candidates] * len(marks)), **settings)
    return Trial(trial_id, "care", "eng", text, "given", 0, None, readout)
