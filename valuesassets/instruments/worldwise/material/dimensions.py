"""The six dimensions on which dilemmas are placed, and the names of poles, orders of options and controls."""

from dataclasses import dataclass

from valuesassets.records.settings.worldwise import CONTROLS

HIGH, LOW = "high", "low"
POLES = (HIGH, LOW)
PLACEBO, UNPROMPTED = CONTROLS
ORDERS = ("forward", "reversed")
"""Orders of the options of a dilemma."""


@dataclass(frozen=True)
class Dimension:
    """One dimension; it is called an axis where answers are placed on it.

    Attributes:
        code: its name in tables.
        high, low: the meaning of a high and of a low score.
        column: its column in the matrix of country scores.
    """

    code: str
    name: str
    high: str
    low: str
    column: str


DIMENSIONS = {
    each.code: each
    for each in (
        Dimension("IDV", "individualism", "one's own aims", "those of the group", "idv"),
        Dimension("PDI", "power distance", "rank is accepted", "rank is questioned", "pdi"),
        Dimension("MAS", "motivation towards achievement", "success", "care and quality of life", "mas"),
        Dimension("UAI", "uncertainty avoidance", "rules and certainty", "openness to what may come", "uai"),
        Dimension("LTO", "long-term orientation", "the future and adapting", "tradition and today", "ltowvs"),
        Dimension("IVR", "indulgence", "enjoyment", "restraint", "ivr"),
    )
}
"""Hofstede, Hofstede and Minkov (2010), by code, in the order of tables and pages."""
AXES = tuple(DIMENSIONS)
