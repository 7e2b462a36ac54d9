"""Lines of models: models of one maker and name in several sizes or versions, which are no separate evidence."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from valuesassets.records.settings.psych_tasks import PsychTasks

if TYPE_CHECKING:
    from valuesassets.records.study import Study

SIZE = re.compile(
    r"[-_.]((\d+x)?\d+(\.\d+)?[mbt]|tiny|nano|mini|small|base|medium|large|x+l)(?![a-z0-9])", re.IGNORECASE
)
"""The size in a model's name: 270m, 1.7B, 8x7b, or a word."""
HUB_NAME = re.compile(r"[\w-]+/[^/{}]+")
VERSION = re.compile(r"[-_.]?v?\d[\dx.]*$", re.IGNORECASE)


def line_of_name(name: str) -> str:
    """The line of a model: its name before the size, without organisation and version, in small letters.

    A name that has no size and is no name of the hub is a line of its own.

    >>> [line_of_name(name) for name in ("google/gemma-3-270m-it", "Qwen/Qwen2.5-7B", "model_7")]
    ['gemma', 'qwen', 'model_7']
    """
    short = name.rstrip("/").rpartition("/")[2]
    size = SIZE.search(short)
    if size is None and not HUB_NAME.fullmatch(name):
        return name
    head = short[: size.start()] if size else short
    while (shorter := VERSION.sub("", head)) and shorter != head:
        head = shorter
    return head.lower() or name


def lines_of_study(study: "Study") -> dict[str, str]:
    """The line of each family: by the study file, else by its model's name; a trained model is a line of its own."""
    declared = PsychTasks.of(study).lines
    return {
        name: declared.get(name) or (line_of_name(family.model_id) if family.model_id else name)
        for name, family in study.families.items()
    }


def with_lines(frame: pd.DataFrame, lines: Mapping[str, str]) -> pd.DataFrame:
    """Rows of models with their `line`; a model that is not in `lines` has the line of its name."""
    return frame.assign(line=[lines.get(model) or line_of_name(model) for model in map(str, frame["model"])])


def lines_of(frame: pd.DataFrame, models: Iterable[str]) -> list[str]:
    """The line of each of these models in rows with `model`; where rows have no `line`, each model is its own."""
    if "line" not in frame:
        return list(models)
    line = frame.drop_duplicates("model").set_index("model")["line"]
    return [str(line[model]) for model in models]
