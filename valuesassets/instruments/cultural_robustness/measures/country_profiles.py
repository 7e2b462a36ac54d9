"""Which countries a language's answers without a country are close to."""

import numpy as np
import pandas as pd

from valuesassets.instruments.cultural_robustness.measures.language_pairs import PairDistances
from valuesassets.instruments.cultural_robustness.measures.own_country_advantage import Closeness
from valuesassets.instruments.cultural_robustness.tables import COUNTRY_PROFILES
from valuesassets.measure.resampling import interval_ends, with_ends


def derive_country_profiles(
    model: str, pairs: PairDistances, measured: Closeness | None, level: float = 0.95
) -> pd.DataFrame:
    """A row per language and country: distance, closeness beside other languages and countries, and its interval."""
    if measured is None or pairs.to_countries is None:
        return COUNTRY_PROFILES.empty_frame()
    n, width = measured.distance.shape
    n_questions = np.isfinite(pairs.to_countries).sum(axis=0)
    ends = interval_ends(measured.drawn, n_questions, level)
    countries = np.arange(width)
    columns = with_ends("closeness", measured.closeness, ends) | {
        "distance": measured.distance,
        "is_own": measured.own[:, None] == countries,
        "n_questions": n_questions,
    }
    frame = pd.DataFrame({name: np.asarray(values).ravel() for name, values in columns.items()})
    frame["model"] = model
    frame["language"] = np.repeat(np.array(pairs.languages, dtype=object), width)
    frame["country"] = np.tile(np.array(pairs.countries, dtype=object), n)
    return frame.reindex(columns=COUNTRY_PROFILES.names)
