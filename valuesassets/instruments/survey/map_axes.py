"""The two Inglehart-Welzel axes: published slopes, fitted intercepts, and published positions put on these axes.

Sources: studies/facts/README.md.
"""

import functools
from importlib import resources

import numpy as np
import pandas as pd

from valuesassets.instruments.survey.indicators import INDICATORS
from valuesassets.measure.projection import Projector, fit_intercepts
from valuesassets.records.errors import HumanDataError

RESCALING = "+.38 (x), -.01 (y)"
"""Of the positions that the intercepts are fitted to."""


def load_facts(name: str) -> pd.DataFrame:
    """A table of studies/facts."""
    with resources.as_file(resources.files("valuesassets.studies") / "facts" / name) as path:
        return pd.read_csv(path, keep_default_na=False, na_values=[""])


@functools.cache
def indicator_ranges() -> pd.DataFrame:
    """Ends `low` and `high` of each indicator's scale."""
    return load_facts("iw_slopes.csv").set_index("indicator").loc[list(INDICATORS), ["low", "high"]].astype(float)


@functools.cache
def reference_projector() -> Projector:
    """From indicator means to the map: published slopes, intercepts fitted on the five complete countries of WVS-7.

    Returns:
        Its residual sd is about .16 (x) and .17 (y).
    """
    slopes = load_facts("iw_slopes.csv").set_index("indicator").loc[list(INDICATORS), ["slope_x", "slope_y"]]
    countries = _complete_countries()
    return fit_intercepts(INDICATORS, slopes.to_numpy().T, countries[list(INDICATORS)], countries[["x", "y"]])


@functools.cache
def average_means() -> dict[str, float]:
    """Mean of each indicator over the five complete countries: where nothing is known of a country."""
    countries = _complete_countries()
    return {name: float(countries[name].to_numpy(dtype=float).mean()) for name in INDICATORS}


@functools.cache
def published_positions() -> pd.DataFrame:
    """Published country positions on the projector's axes: country, name, zone, x, y.

    Two published sets differ in slope and offset; each axis is brought over by the line fitted over the five countries
    that are in both (scale and shift, a Procrustes fit without turning).
    """
    positions = load_facts("iw_coordinates.csv")
    shared = _complete_countries().merge(positions, on="country", suffixes=("", "_other"))
    for axis in ("x", "y"):
        slope, offset = np.polyfit(shared[f"{axis}_other"], shared[axis], 1)
        positions[axis] = positions[axis] * slope + offset
    return positions


def published_position(country: str) -> tuple[float, float]:
    """Where a country is published, on the projector's axes.

    Raises:
        HumanDataError: no position is published for it.
    """
    found = published_positions().set_index("country")
    if country not in found.index:
        raise HumanDataError(f"no published map position for country {country}; see studies/facts/iw_coordinates.csv")
    return float(found.at[country, "x"]), float(found.at[country, "y"])  # type: ignore[arg-type]


def _complete_countries() -> pd.DataFrame:
    return load_facts("iw_indicator_means.csv").dropna()
