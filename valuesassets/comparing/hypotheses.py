"""Families of tests: every p-value of an analysis is a row, corrected together with those of its family."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.comparing.null_answers import null_families
from valuesassets.measure.multiple_tests import CORRECTIONS
from valuesassets.records.study import Study
from valuesassets.records.tables import TABLES

OF_NULLS = " (null families)"
"""Ends the name of a family of tests of null families."""


def family_of(tests: str, families: Iterable[object], study: Study) -> str:
    """The family of tests in which a test of these model families stands: where one is a null, that of the nulls."""
    return tests + OF_NULLS if set(families) & set(null_families(study)) else tests


def as_test(
    row: Mapping[str, Any], family: str, test: str, statistic: str, value: str, study: Study, n: str, p: str = "p"
) -> dict[str, object]:
    """The test of a table's row as `tests_table` takes it; those of null families stand in a family of their own.

    Args:
        row: of a table; its `note` says why there is no test.
        test: what was compared, in words, with the row's columns in braces.
        statistic: the statistic's name, likewise.
        value, n, p: the columns that hold them; a missing one is NaN.
    """
    return {
        "test_family": family_of(family, (row.get("model"), row.get("other")), study),
        "test": test.format(**row),
        "statistic": statistic.format(**row),
        "value": row.get(value, np.nan),
        "p": row.get(p, np.nan),
        "n": row[n],
        "verdict": row.get("note"),
    }


def tests_table(rows: Sequence[Mapping[str, object]], study: Study) -> pd.DataFrame:
    """The tests of an analysis, each p corrected within its `test_family` as the study says.

    A test that could not be made has no p, counts for nothing in its family, and says why in `verdict`.

    Args:
        rows: test_family, test (what was compared, in words), statistic (its name), value, p, n (how many labels, items
            or languages it rests on) and verdict (of this test, may be None).
    """
    table = pd.DataFrame(rows, columns=pd.Index(TABLES["tests"].names))
    table["correction"], table["n_resamples"] = study.inference.correction, study.inference.resamples
    p = table["p"].to_numpy(dtype=float)
    corrected = np.full(len(table), np.nan)
    correct = CORRECTIONS[study.inference.correction]
    for family in table["test_family"].unique():
        made = np.flatnonzero((table["test_family"] == family).to_numpy() & np.isfinite(p))
        corrected[made] = correct(p[made])
    table["value"], table["p"] = table["value"].astype(float), p
    table["p_corrected"], table["is_rejected"] = corrected, corrected <= study.inference.alpha
    return table
