"""Tables under the names of the assets that hold them: what measuring a model gives, and published scores."""

from valuesassets.instruments.cultural_robustness.measure_tables import (
    COUNTRY_PROFILES,
    DROPPED,
    LANGUAGE_GROUPS,
    LANGUAGE_PAIRS,
    SCORES,
)
from valuesassets.instruments.cultural_robustness.tables import VECTORS
from valuesassets.records.table import Table
from valuesassets.records.tables import declare_tables

MEASURED = {
    "language_pairs": LANGUAGE_PAIRS,
    "country_profiles": COUNTRY_PROFILES,
    "language_groups": LANGUAGE_GROUPS,
    "scores": SCORES,
    "dropped": DROPPED,
}
"""The tables of the asset `language_pairs`, which is all that is measured of one model, by name."""

declare_tables(
    *(Table(f"cultural_robustness/language_pairs/{name}", of.row, *of.columns) for name, of in MEASURED.items()),
    Table("cultural_robustness/question_vectors", VECTORS.row, *VECTORS.columns, is_exact=True),
    Table("cultural_robustness/clustering", "a published score of a model", *SCORES.columns),
)
