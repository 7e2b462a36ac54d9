"""What reference models of psych tasks are trained on: new people, and the law at each of their answers."""

from collections.abc import Iterator, Sequence
from typing import Any

from valuesassets.instruments.psych_tasks.material.task_files import load_task
from valuesassets.instruments.psych_tasks.plants.planted_people import planted_people
from valuesassets.records.settings.psych_tasks import PsychTasks
from valuesassets.records.study import Study

IN_TRAINING = 9_000
"""People whom a reference model learns from, over all tasks; as many are shown one block alone."""


def plant_transcripts(study: Study, family: str, parts: Sequence[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Rows of `PLANTED_TRANSCRIPTS` for a reference family, its tasks in turn, and what the file's metadata say."""
    settings = PsychTasks.of(study)
    languages = {part: settings.tasks[part].language for part in parts}
    tasks = {part: load_task(settings.task_file(part)) for part in parts}
    law = settings.laws[family]
    number, seed = IN_TRAINING // len(parts), (study.seed, family, "training")
    drawn = {
        (part, are_blocks): planted_people(
            tasks[part].name, number, *seed, are_blocks, noted=law, are_blocks=are_blocks
        )
        for are_blocks in (False, True)
        for part in parts
    }
    sets: dict[tuple[str, ...], int] = {}
    closes: list[str] = []
    rows: list[dict[str, Any]] = []
    for (part, _), person in _in_turn(drawn):
        if person.candidates not in sets:
            sets[person.candidates] = len(sets)
            closes.append(tasks[part].delimiters[1])
        rows.append(
            {
                "language": languages[part],
                "text": person.text,
                "starts": list(person.starts),
                "answers": list(person.answers),
                "candidates": [sets[person.candidates]] * len(person.starts),
                "probs": [probs.tolist() for probs in person.probs],
            }
        )
    return rows, {"candidate_sets": [list(texts) for texts in sets], "closes": closes}


def _in_turn(drawn: dict[Any, Iterator[Any]]) -> Iterator[tuple[Any, Any]]:
    """One person of each task after the other, then one block of each, so that every batch has all."""
    for people in zip(*drawn.values(), strict=True):
        yield from zip(drawn, people, strict=True)
