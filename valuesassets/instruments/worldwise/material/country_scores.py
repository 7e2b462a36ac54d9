"""Published scores of countries on the six dimensions: reads the matrix and standardises it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from valuesassets.instruments.worldwise.material.dimensions import AXES, DIMENSIONS
from valuesassets.records.bundled import BUNDLED, given_or_bundled
from valuesassets.records.errors import HumanDataError
from valuesassets.records.places import STUDIES, load_facts
from valuesassets.records.text_tables import read_rows

COUNTRY_CODES = STUDIES / "worldwise" / "country_codes.csv"
"""ISO 3166 codes of the matrix's own codes, some of which mean another country in ISO (SLV, MNG, MAC)."""
NULL = ("#NULL!", "")
LEAST, MOST = 0, 120
"""Published scores may exceed 100."""


def country_codes() -> list[tuple[str, str, str | None]]:
    """The matrix's own code, the name, and ISO 3166 alpha-3 of each of its rows; None for regions."""
    rows = read_rows(COUNTRY_CODES, ("ctr", "country", "alpha3"), HumanDataError)
    return [(row["ctr"], row["country"], row["alpha3"] or None) for _, _, row in rows]


def read_country_scores(path: Path | str = BUNDLED) -> pd.DataFrame:
    """The published scores of a matrix: 0 to 120, null where there is none; one row for each row of the file.

    Args:
        path: CSV with `ctr,country,pdi,idv,mas,uai,ltowvs,ivr`, comma or semicolon. `bundled` has twelve countries,
            each with source and version; the whole matrix has to be obtained from its authors.

    Returns:
        `ctr, name, country` (ISO 3166 alpha-3; null for regions and parts of countries) and a column for each axis.

    Raises:
        HumanDataError: a code is unknown or repeated, or a score is not a number from 0 to 120.
    """
    place = given_or_bundled(path, "worldwise", "country_scores.csv")
    codes = {ctr: alpha3 for ctr, _, alpha3 in country_codes()}
    needed = ("ctr", "country", *sorted(each.column for each in DIMENSIONS.values()))
    rows: dict[str, dict[str, object]] = {}
    for _, number, row in read_rows(place, needed, HumanDataError, delimiters=",;", by_line=True):
        where, ctr = f"{place}: line {number}", row["ctr"]
        if ctr not in codes:
            raise HumanDataError(f"{where}: {ctr!r} is no code of the matrix, which has its own (GER, AUL); mend it")
        if ctr in rows:
            raise HumanDataError(f"{where}: {ctr} stands there twice; keep one")
        scores = {axis: _score(row, axis, f"{where} ({ctr})") for axis in AXES}
        rows[ctr] = {"ctr": ctr, "name": row["country"], "country": codes[ctr], **scores}
    if not rows:
        raise HumanDataError(f"{place}: no country below its header; add a line for each")
    return pd.DataFrame(list(rows.values())).astype(dict.fromkeys(AXES, float))


def _score(row: dict[str, str], axis: str, where: str) -> float | None:
    column = DIMENSIONS[axis].column
    if (written := row[column]) in NULL:
        return None
    try:
        score = float(written)
    except ValueError:
        score = np.nan
    if not LEAST <= score <= MOST:
        raise HumanDataError(
            f"{where}: {column} {written!r} found, a number from {LEAST} to {MOST} or {NULL[0]} was expected; mend it"
        )
    return score


def zones_of(cultures: Sequence[str]) -> list[str]:
    """The culture zone of each culture's country (ISO 3166 alpha-3); the culture itself where its zone is unknown.

    Source: Inglehart and Welzel's zones, in `studies/facts/iw_coordinates.csv`.
    """
    alpha2 = load_facts("iso_countries.csv").set_index("alpha3")["alpha2"]
    zones = load_facts("iw_coordinates.csv").set_index("country")["zone"]
    return [str(zones.get(alpha2.get(name, ""), name)) for name in cultures]


def standard_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """z of each country's scores: the distance from the mean of the complete countries, in their sd (n - 1).

    Complete countries have all six scores, so that every axis is compared with the same countries. z is null where all
    complete countries have the same score.

    Returns:
        A row for each ISO 3166 alpha-3 code and a column for each axis; regions are left out.
    """
    by_country = pd.DataFrame(scores.dropna(subset=["country"]).set_index("country")[list(AXES)])
    complete = by_country.dropna()
    sd = pd.Series(complete.std())
    return (by_country - complete.mean()) / sd.where(sd > 0)
