"""A study of psych tasks small enough for a test: two people who told how often it rained, random tiny models."""

import json
from collections.abc import Sequence
from pathlib import Path

from valuesassets_tests.tiny_models import sentencepiece_like, write_model

PEOPLE = ([3, 1, 4], [1, 5, 9])
"""What each of them answered in three weeks."""
TASK = """\
name = "%s"
feedback = false
kinds = [{ name = "count", before = '%s', candidates = { range = [0, 9] } }]
scales.all = { items = [1, 2, 3], reversed = [2] }
"""
EVERY_MARK, FIRST_MARK = r"week \d\? $", r"week 1\? $"
"""What a task file may look for before a mark; the second misses two of three."""
STUDY = """\
name = "rainy"
title = "Rain"
seed = 1

[preflight]
override = "models that were never trained"

[inference]
resamples = 99

[psych_tasks]
histories = ["alone", "human", "other"]
"""
OF_A_TASK = """
[psych_tasks.tasks.%s]
transcripts = "rain.jsonl"
task = "%s.toml"
"""
OF_A_MODEL = """
[families.%s]
kind = "huggingface"
model_type = "multi"
model_id = "%s"
dtype = "float32"
"""


def write_rainy_study(folder: Path, tasks: Sequence[str] = ("rain",), models: Sequence[str] = ("random",)) -> Path:
    """Write the study file and all it names; the task file of `rain` finds a third of the marks."""
    lines = [{"text": text(a), "experiment": "rain", "participant": n} for n, a in enumerate(PEOPLE)]
    (folder / "rain.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    for task in tasks:
        write_task(folder, task, FIRST_MARK if task == "rain" else EVERY_MARK)
    made = {name: write_model(folder / name, sentencepiece_like(), n, spread=0.2) for n, name in enumerate(models)}
    parts = [STUDY, *(OF_A_TASK % (task, task) for task in tasks), *(OF_A_MODEL % each for each in made.items())]
    path = folder / "rainy.toml"
    path.write_text("".join(parts), encoding="utf-8")
    return path


def write_task(folder: Path, name: str, before: str) -> None:
    """Write a task file that finds the marks that stand behind this pattern."""
    (folder / f"{name}.toml").write_text(TASK % (name, before), encoding="utf-8")


def text(answers: Sequence[int]) -> str:
    """A transcript of these answers."""
    return "How often, 0 to 9?\n" + "".join(f"{n}. Rain in week {n}? <<{a}>>\n" for n, a in enumerate(answers, 1))
