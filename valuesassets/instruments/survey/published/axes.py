"""The two Inglehart-Welzel axes: published slopes, fitted intercepts, and published positions put on these axes.

Sources: studies/facts/README.md.
"""

import functools

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import linregress

from valuesassets.instruments.survey.material.indicators import INDICATORS
from valuesassets.measure.components import Projector, fit_intercepts
from valuesassets.records.errors import HumanDataError
from valuesassets.records.places import load_facts

RESCALING = "+.38 (x), -.01 (y)"  # of the positions that the intercepts are fitted to


@functools.cache
def indicator_ranges() -> pd.DataFrame:
    """Ends `low` and `high` of each indicator's scale."""
    return load_facts("iw_slopes.csv").set_index("indicator").loc[list(INDICATORS), ["low", "high"]].astype(float)


@functools.cache
def published_slopes() -> NDArray[np.float64]:
    """(2, 10) published change of each axis per raw unit of an indicator."""
    slopes = load_facts("iw_slopes.csv").set_index("indicator").loc[list(INDICATORS), ["slope_x", "slope_y"]]
    return slopes.to_numpy(dtype=float).T


@functools.cache
def reference_projector() -> Projector:
    """From indicator means to the map: published slopes, intercepts fitted on the five complete countries of WVS-7.

    The residual sd is about .16 (x) and .17 (y).
    """
    countries = _complete_countries()
    return fit_intercepts(published_slopes(), countries[list(INDICATORS)], countries[["x", "y"]])


@functools.cache
def average_means() -> dict[str, float]:
    """Mean of each indicator over the five complete countries."""
    countries = _complete_countries()
    return {name: float(countries[name].to_numpy(dtype=float).mean()) for name in INDICATORS}


def raw_positions() -> pd.DataFrame:
    """Published country positions on the axes of their own source: country, name, zone, x, y."""
    return load_facts("iw_coordinates.csv")


@functools.cache
def published_positions() -> pd.DataFrame:
    """Published country positions on the reference projector's axes: country, name, zone, x, y.

    The two published sets differ in slope and offset. Each axis is moved by the line fitted over the five countries in
    both sets (a Procrustes fit without turning).
    """
    positions = raw_positions()
    shared = _complete_countries().merge(positions, on="country", suffixes=("", "_other"))
    for axis in ("x", "y"):
        slope, offset = np.polyfit(shared[f"{axis}_other"], shared[axis], 1)
        positions[axis] = positions[axis] * slope + offset
    return positions


def published_position(country: str) -> tuple[float, float]:
    """A country's published position on the reference projector's axes; raises `HumanDataError` if there is none."""
    positions = published_positions().set_index("country")
    if country not in positions.index:
        raise HumanDataError(
            f"no published map position for country {country}; name another country for the language in the study "
            "file, or add its position, with its source, to valuesassets/studies/facts/iw_coordinates.csv"
        )
    return float(positions.at[country, "x"]), float(positions.at[country, "y"])  # type: ignore[arg-type]


def check_reference_projector() -> pd.DataFrame:
    """The fit of the reference projector to its five countries, by axis: n, r of both, residual_sd."""
    countries = _complete_countries()
    placed, published = reference_projector().place(countries[list(INDICATORS)]), countries[["x", "y"]].to_numpy()
    r = [np.corrcoef(*pair)[0, 1] for pair in zip(placed.T, published.T, strict=True)]
    sd = (published - placed).std(axis=0, ddof=1)
    return pd.DataFrame({"axis": ["x", "y"], "n": len(countries), "r": r, "residual_sd": sd})


def compare_published_sets() -> pd.DataFrame:
    """The two published sets of country positions compared, by axis: n, r, slope and offset.

    The line leads from the first set (109 countries) to the second (22, at the middle of its range over seeds).
    """
    both = load_facts("iw_coordinates_22.csv").merge(raw_positions(), on="country")
    lines = {axis: linregress(both[axis], (both[f"{axis}_min"] + both[f"{axis}_max"]) / 2) for axis in ("x", "y")}
    rows = [(axis, len(both), r, slope, offset) for axis, (slope, offset, r, *_) in lines.items()]
    return pd.DataFrame(rows, columns=pd.Index(["axis", "n", "r", "slope", "offset"]))


def _complete_countries() -> pd.DataFrame:
    return load_facts("iw_indicator_means.csv").dropna()


if __name__ == "__main__":
    print("the reference projector on its five countries", check_reference_projector().to_string(index=False), sep="\n")
    print("the two published sets of positions", compare_published_sets().to_string(index=False), sep="\n")
