"""Runs made of tables alone, as pages are written of them."""

from typing import Any

import pandas as pd

from valuesassets.reporting.analyses import all_figures
from valuesassets.reporting.parts import Refused
from valuesassets.reporting.run import Run, study_of_files


def run_of(frames, analyses, study=None, **more: Any) -> Run:
    """A run of tables by `<asset>/<table>` or `<asset>`; those named `<asset>/refused` say why there are none."""
    found: dict[str, Any] = {}
    for name, frame in frames.items():
        asset, _, table = name.partition("/")
        if not table:
            found[asset] = frame
        elif table == "refused":
            found[asset] = Refused(str(frame["reason"].iloc[0]))
        else:
            found.setdefault(asset, {})[table] = frame
    return Run(study or study_of_files("demo", "Made-up tables"), found, analyses, **more)


def refused(reason: str) -> pd.DataFrame:
    """The table that says why an analysis was not made."""
    return pd.DataFrame({"reason": [reason]})


def drawn(analyses, frames, is_planted: bool = False):
    """Every figure of analyses that tables allow, by name."""
    return all_figures(analyses, frames, run_of({}, {}, has_planted_people=is_planted))
