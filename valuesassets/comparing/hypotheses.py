"""Tables of tests: each test of an analysis is a row, and p-values are corrected within families of tests.

Tests that allow for related languages find here which are related: those of a culture zone, or of a language family.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.answers.language_codes import known_languages
from valuesassets.comparing.null_answers import null_families
from valuesassets.measure.multiple_tests import CORRECTIONS
from valuesassets.records.study import Study
from valuesassets.records.tables import TABLES

OF_NULLS = " (null families)"
"""Suffix of the name of a family of tests about null families."""
ZONE, FAMILY = "culture zone", "language family"
RELATIVES = (ZONE, FAMILY)
"""Kinds of groups of related languages."""


def family_of(tests: str, families: Iterable[object], study: Study) -> str:
    """The family of tests for a test about these model families; tests about null families have their own."""
    return tests + OF_NULLS if set(families) & set(null_families(study)) else tests


def as_test(
    row: Mapping[str, Any], family: str, test: str, statistic: str, value: str, study: Study, n: str, p: str = "p"
) -> dict[str, object]:
    """A test for `tests_table` from a row of a result table; tests about null families have their own family.

    Args:
        row: row of a result table; its `note` says why there is no test.
        test: the comparison in words, with the row's columns in braces.
        statistic: the statistic's name, also with columns in braces.
        value, n, p: names of the columns that hold them; a missing one is NaN.
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
    """The tests of an analysis, with p-values corrected within each `test_family` by the study's method.

    A test that was not possible has no p-value, does not count in its family, and has the reason in `verdict`.

    Args:
        rows: test_family, test (the comparison in words), statistic (its name), value, p, n (number of labels, items or
            languages) and verdict (may be None).
    """
    table = pd.DataFrame(rows, columns=pd.Index(TABLES["tests"].names))
    table["correction"], table["n_resamples"] = study.inference.correction, study.inference.resamples
    p = table["p"].to_numpy(dtype=float)
    corrected = np.full(len(table), np.nan)
    correct = CORRECTIONS[study.inference.correction]
    for family in table["test_family"].unique():
        in_family = np.flatnonzero((table["test_family"] == family).to_numpy() & np.isfinite(p))
        corrected[in_family] = correct(p[in_family])
    table["value"], table["p"] = table["value"].astype(float), p
    table["p_corrected"], table["is_rejected"] = corrected, corrected <= study.inference.alpha
    return table


def groupings(languages: Sequence[str], study: Study) -> dict[str, tuple[str, ...]]:
    """The group of each language, by kind of group; a language without a known group is its own group.

    A kind is left out where no two languages share a group, or where all languages share one.
    """
    zones = (study.languages[code].zone for code in languages)
    languages_by_code = known_languages()
    families = (languages_by_code[code].family if code in languages_by_code else "" for code in languages)
    by_kind = {
        kind: tuple(group or code for group, code in zip(groups, languages, strict=True))
        for kind, groups in ((ZONE, zones), (FAMILY, families))
    }
    return {kind: groups for kind, groups in by_kind.items() if 1 < len(set(groups)) < len(groups)}
