"""Tests whether people agree with published positions, and each family of models with its own countries."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.comparing.hypotheses import OF_NULLS, family_of, groupings, tests_table
from valuesassets.instruments.survey.measures.map.points import Cells, Ground, has_enough
from valuesassets.measure.procrustes import LEAST_POINTS, permute_same_axes, permute_similarity
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import records, rows_where
from valuesassets.records.study import Study

Array = NDArray[np.float64]
VERDICTS = "map"  # the family of deciding tests: one per family of models, corrected together
DETAILS, PEOPLE = "map, axis by axis and with a turn", "map, people against published positions"
CORRECTION_NAMES = {"holm": "Holm", "benjamini-hochberg": "Benjamini-Hochberg"}
STATISTICS = {
    "r over both axes": (permute_same_axes, slice(None)),
    "r x": (permute_same_axes, [0]),
    "r y": (permute_same_axes, [1]),
    "procrustes m2": (permute_similarity, slice(None)),
}
"""The statistics of two sets of points, and their axes."""
DECIDES, *DETAILED = STATISTICS
NO_SIGNAL, AGREES, UNTESTED = "no signal", "agrees with its countries", "not tested"


def people_against_published(points: Mapping[str, Array], published: Mapping[str, Array], study: Study) -> pd.DataFrame:
    """Correlation per axis and Procrustes disparity of countries' points and their published positions.

    Args:
        points, published: (2,) by country; each set on its own axes.
    """
    shared = [country for country in points if country in published]
    without = [country for country in points if country not in published]
    note = f"no published position: {', '.join(without)}" if without else None
    ours, theirs = (np.array([each[country] for country in shared]).reshape(-1, 2) for each in (points, published))
    label = {"test_family": PEOPLE, "test": "people", "model": None, "note": note}
    return _table(list(_rows(label, DETAILED, ours, theirs, study)), study)


def families_against_countries(
    cells: Cells,
    ground: Ground,
    countries: Mapping[str, Array],
    against: str,
    study: Study,
    reliability: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Tests whether each family's points agree with its languages' countries: the verdict, and the details.

    The verdict rests on the correlation over both axes after a shift and one scale, since a turned or mirrored copy is
    no agreement on common axes. Procrustes disparity, which allows both, is a detail. A model's missing indicators are
    also replaced in its country's point. The verdict's p is the larger of two: for independent languages, and for
    languages that are alike in a culture zone or language family.

    Args:
        countries: indicator means (10,) by country, or positions (2,) without people.
        against: the origin of the countries' points, for the note.
        reliability: generalizability by family; a family below the study's threshold is not tested.
    """
    enough = has_enough(cells.means, study)
    places = ground.place(cells.means)
    rows: list[dict[str, Any]] = []
    for family in dict.fromkeys(cells.labels["model"]):
        numbers, aims, languages = [], [], []
        for number, (model, language) in enumerate(cells.labels.itertuples(index=False)):
            own = countries.get(str(study.languages[str(language)].country))
            if model == family and enough[number] and own is not None:
                numbers.append(number)
                languages.append(str(language))
                is_there = ~np.isnan(cells.means[number])
                aims.append(own if len(own) == 2 else ground.place(np.where(is_there, own, np.nan)))
        ours, theirs = places[numbers], np.array(aims).reshape(-1, 2)
        test = f"{family}: points lie as those of its countries do, {against}"
        label = {"test": test, "model": family, "note": against}
        relatives = groupings(languages, study)
        deciding, details = (family_of(name, (family,), study) for name in (VERDICTS, DETAILS))
        tests_of_family = list(_rows(label | {"test_family": deciding}, [DECIDES], ours, theirs, study, relatives))
        tests_of_family += _rows(label | {"test_family": details}, DETAILED, ours, theirs, study)
        coefficient = (reliability or {}).get(family, study.thresholds.reliability)
        if not coefficient >= study.thresholds.reliability:
            why = f"its answers are not reliable (generalizability {coefficient:.2f})"
            tests_of_family = [{**row, "value": None, "p": None, "note": why} for row in tests_of_family]
        rows += tests_of_family
    table = _table(rows, study)
    is_verdict = table["test_family"].isin([VERDICTS, VERDICTS + OF_NULLS])
    verdicts = np.where(table["is_rejected"], AGREES, np.where(table["p"].isna(), UNTESTED, NO_SIGNAL))
    table["verdict"] = pd.Series(verdicts, dtype=object).where(is_verdict, None)
    return table


def describe_agreement(tests: pd.DataFrame, study: Study) -> list[str]:
    """The tests in sentences."""
    lines = []
    people = records(rows_where(tests, test_family=PEOPLE))
    if people and not any(pd.isna(row["value"]) for row in people):
        r_x, r_y, disparity = people
        lines.append(
            f"People against published positions ({r_x['n']} countries): r {r_x['value']:.2f} (x) and "
            f"{r_y['value']:.2f} (y); Procrustes disparity {disparity['value']:.2f}, p {disparity['p']:.4f}."
        )
    elif people:
        lines.append(f"People against published positions: {people[0]['note']}.")
    for row in _verdicts(tests):
        if row["verdict"] == UNTESTED:
            lines.append(f"{row['model']}: {row['note']}; whether its points agree with its countries stays open.")
            continue
        r = "" if pd.isna(row["value"]) else f"r {row['value']:.2f} over both axes, "
        outcome = "its points agree" if row["verdict"] == AGREES else "no signal: its points do not agree"
        lines.append(
            f"{row['model']}: {outcome} with its {row['n']} countries ({r}permutation p {row['p_corrected']:.4f}, "
            f"{CORRECTION_NAMES[study.inference.correction]} over families; {row['note']})."
        )
    return lines


def _verdicts(tests: pd.DataFrame) -> list[dict[str, Any]]:
    """The deciding tests, those of null families last."""
    return [
        *records(rows_where(tests, test_family=VERDICTS)),
        *records(rows_where(tests, test_family=VERDICTS + OF_NULLS)),
    ]


def short_verdicts(tests: pd.DataFrame) -> list[str]:
    """One line with every family's verdict, for under the figure."""
    rows = _verdicts(tests)
    p = ["" if pd.isna(row["p_corrected"]) else f" (p {row['p_corrected']:.4f})" for row in rows]
    verdicts = [f"{row['model']}: {row['verdict']}{how}" for row, how in zip(rows, p, strict=True)]
    return ["; ".join(verdicts) + "."] if verdicts else []


def _rows(
    label: Mapping[str, Any],
    statistics: Sequence[str],
    ours: Array,
    theirs: Array,
    study: Study,
    relatives: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[dict[str, Any]]:
    """Statistics of two sets of points; `label` is the test's family, name, model and note.

    Args:
        relatives: by kind, the group of related languages of each point; only for a correlation over both axes.
    """
    for statistic in statistics:
        permute, axes = STATISTICS[statistic]
        row = {**label, "statistic": statistic, "n": len(ours)}
        if len(ours) < LEAST_POINTS:
            yield row | {"note": f"{len(ours)} pairs of points, {LEAST_POINTS} are needed to say anything"}
            continue
        random = seeded(study.seed, "map", label["test"], statistic)
        try:
            related = (relatives,) if relatives is not None else ()
            result = permute(ours[:, axes], theirs[:, axes], study.inference.resamples, random, *related)
        except MissingData:
            # Points in one place are equal under every permutation of their labels.
            yield row | {"p": 1.0, "note": "all points of one side lie in one place"}
        else:
            p = {"p": np.fmax(result.p, result.p_related), "p_free": result.p, "p_related": result.p_related}
            yield row | {"value": result.value, **p}


def _table(rows: Sequence[Mapping[str, Any]], study: Study) -> pd.DataFrame:
    """The table of tests with model, note and the two p-values of which p is the larger."""
    words = {name: [row.get(name) for row in rows] for name in ("model", "note")}
    numbers = {name: np.array([row.get(name, np.nan) for row in rows], dtype=float) for name in ("p_free", "p_related")}
    return tests_table(rows, study).assign(**words, **numbers)
