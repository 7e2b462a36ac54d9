"""Lines of models: those of one maker and name, in several sizes or versions, which are no separate evidence."""

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
"""What in a model's name is its size: 270m, 1.7B, 8x7b, or a word."""
HUB_NAME = re.compile(r"[\w-]+/[^/{}]+")
VERSION = re.compile(r"[-_.]?v?\d[\dx.]*$", re.IGNORECASE)


def line_of_name(name: str) -> str:
    """The line of a model by its name: what stands before its size, without organisation and version, in small letters.

    A name without a size, which is none of the hub's either, is a line of its own.

    >>> [line_of_name(name) for name in ("google/gemma-3-270m-it", "Qwen/Qwen2.5-7B", "model_7")]
    ['gemma', 'qwen', 'model_7']
    """
    own = name.rstrip("/").rpartition("/")[2]
    size = SIZE.search(own)
    if size is None and not HUB_NAME.fullmatch(name):
        return name
    head = own[: size.start()] if size else own
    while (shorter := VERSION.sub("", head)) and shorter != head:
        head = shorter
    return head.lower() or name


def lines_of_study(study: "Study") -> dict[str, str]:
    """The line of each family: as the study declares it, else by its model's name; a trained one is of its own."""
    declared = PsychTasks.of(study).lines
    return {
        name: declared.get(name) or (line_of_name(family.model_id) if family.model_id else name)
        for name, family in study.families.items()
    }


def with_lines(frame: pd.DataFrame, lines: Mapping[str, str]) -> pd.DataFrame:
    """Rows of models with their `line`; by the model's name where `lines` does not have it."""
    return frame.assign(line=[lines.get(model) or line_of_name(model) for model in map(str, frame["model"])])


def lines_of(frame: pd.DataFrame, models: Iterable[str]) -> list[str]:
    """The line of each of these models in rows with `model`; each model is its own where rows have no `line`."""
    if "line" not in frame:
        return list(models)
    known = frame.drop_duplicates("model").set_index("model")["line"]
    return [str(known[model]) for model in models]
