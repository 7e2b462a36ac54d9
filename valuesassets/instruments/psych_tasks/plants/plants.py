"""What reference models of psych tasks are trained on: new people, with the probabilities of each of their answers."""

from collections.abc import Sequence
from typing import Any

from valuesassets.instruments.psych_tasks.material.task_files import load_task
from valuesassets.instruments.psych_tasks.plants.planted_people import planted_people
from valuesassets.records.settings.psych_tasks import PsychTasks
from valuesassets.records.study import Study

IN_TRAINING = 9_000
"""Number of people in the training set, over all tasks; as many again are shown one block alone."""


def plant_transcripts(study: Study, family: str, parts: Sequence[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Rows of `PLANTED_TRANSCRIPTS` for a reference family, and the file's metadata.

    One person of each task follows the other, then one block of each, so that every batch has all.
    """
    settings = PsychTasks.of(study)
    languages = {part: settings.tasks[part].language for part in parts}
    tasks = {part: load_task(settings.task_file(part)) for part in parts}
    response = settings.laws[family]
    number, seed = IN_TRAINING // len(parts), (study.seed, family, "training")
    sources = [(part, are_blocks) for are_blocks in (False, True) for part in parts]
    people = [
        planted_people(tasks[part].name, number, *seed, are_blocks, noted=response, are_blocks=are_blocks)
        for part, are_blocks in sources
    ]
    sets: dict[tuple[str, ...], int] = {}
    closes: list[str] = []
    rows: list[dict[str, Any]] = []
    for batch in zip(*people, strict=True):
        for (part, _), person in zip(sources, batch, strict=True):
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
