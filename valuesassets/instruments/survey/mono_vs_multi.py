"""`survey/mono_vs_multi`: do monolingual models lie nearer to their own country than a multilingual one does?

Raw distances favour the flatter model, so families are compared on the own-country advantage: mean distance to the
other countries minus distance to the own. Entropy and raw distance stand beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from valuesassets.instruments.survey.cell_answers import (
    Answered,
    answers_by_cell,
    answers_by_country,
    apart,
    of_level,
    parts_of,
)
from valuesassets.instruments.survey.human_distributions import why_no_people
from valuesassets.measure.resampling import bootstrap_interval, sign_test_p
from valuesassets.measure.summaries import entropy_bits
from valuesassets.records.distribution import Distribution
from valuesassets.records.errors import MissingData
from valuesassets.records.study import Study

MEASURES = ("own_country_advantage", "entropy_bits", "distance_own")
CAVEAT = (
    "The families differ in size, tokenizer and training data together: a difference between them is not one of "
    "monolingual against multilingual training alone."
)


@dataclass(frozen=True)
class MonoVsMulti:
    """Monolingual against multilingual families, paired by language over the items that both answered.

    Attributes:
        pairs: one row per (mono family, multi family, language); distances are mean Jensen-Shannon distances.
        summary: one row per (mono, multi, measure): mean of mono minus multi with a bootstrap interval over languages
            and the p-value of a sign test.
        notes: sentences that belong beside the tables.
    """

    pairs: pd.DataFrame
    summary: pd.DataFrame
    notes: pd.DataFrame

    def frames(self) -> dict[str, pd.DataFrame]:
        """The tables by name."""
        return {"pairs": self.pairs, "summary": self.summary, "notes": self.notes}


def derive_mono_vs_multi(answers: pd.DataFrame, human: pd.DataFrame, study: Study) -> MonoVsMulti:
    """The comparison over all languages that both kinds of family answered.

    Without human data only entropies are compared, and the notes say so.

    Raises:
        MissingData: fewer than two pairs; an interval over languages needs more.
    """
    cells = {cell: of_level(found) for cell, found in answers_by_cell(answers).items()}
    countries = answers_by_country(human)
    families = {kind: [n for n, f in study.families.items() if f.model_type == kind] for kind in ("mono", "multi")}
    rows = [
        _pair(mono, multi, language, cells, countries, study)
        for mono in families["mono"]
        for multi in families["multi"]
        for language in study.languages
        if (mono, language) in cells and (multi, language) in cells
    ]
    pairs = pd.DataFrame([row for row in rows if row is not None])
    if len(pairs) < 2:
        raise MissingData(
            f"mono against multi: {len(pairs)} languages answered by both kinds of family, two or more are needed; "
            "materialise more cells of probe_distributions"
        )
    summary = pd.DataFrame(
        [
            {"mono": mono, "multi": multi, "measure": measure} | _summary(part, measure, study)
            for (mono, multi), part in parts_of(pairs, ["mono", "multi"])
            for measure in MEASURES
        ]
    )
    notes = [CAVEAT, "Intervals are 95% bootstrap intervals over languages; p from a two-sided sign test."]
    if not countries:
        notes.append(why_no_people(study))
    return MonoVsMulti(pairs, summary, pd.DataFrame({"note": notes}))


def own_country_advantage(
    found: Answered, countries: Mapping[str, Mapping[str, Distribution]], country: str
) -> tuple[float, float]:
    """Mean Jensen-Shannon distance to the other countries minus that to the own, and the latter; NaN where unknown."""
    far = {name: apart(found, answered).jsd_distance for name, answered in countries.items()}
    own = far.pop(country, None)
    others = [distance for distance in far.values() if distance is not None]
    if own is None:
        return np.nan, np.nan
    return (float(np.mean(others)) - own if others else np.nan), own


def _pair(
    mono: str,
    multi: str,
    language: str,
    cells: Mapping[tuple[str, str], Answered],
    countries: Mapping[str, Mapping[str, Distribution]],
    study: Study,
) -> dict[str, object] | None:
    one, other = cells[mono, language], cells[multi, language]
    shared = [question_id for question_id in one if question_id in other]
    if not shared:
        return None
    country = study.languages[language].country
    row: dict[str, object] = {"language": language, "country": country, "mono": mono, "multi": multi}
    advantages = {}
    for side, cell in (("mono", one), ("multi", other)):
        found = {question_id: cell[question_id] for question_id in shared}
        advantages[side], row[f"distance_own_{side}"] = own_country_advantage(found, countries, country)
        row[f"advantage_{side}"] = advantages[side]
        row[f"entropy_bits_{side}"] = float(np.mean([entropy_bits(answer.distribution) for answer in found.values()]))
    return row | {"difference": advantages["mono"] - advantages["multi"], "n_items": len(shared)}


def _summary(pairs: pd.DataFrame, measure: str, study: Study) -> dict[str, object]:
    stem = "advantage" if measure == "own_country_advantage" else measure
    differences = (pairs[f"{stem}_mono"] - pairs[f"{stem}_multi"]).dropna().to_numpy(dtype=float)
    summary: dict[str, object] = {
        "mean_difference": np.nan,
        "low": np.nan,
        "high": np.nan,
        "p_sign_test": np.nan,
        "n_pairs": len(differences),
        "level": 0.95,
        "source_of_variation": "languages",
        "note": None,
    }
    if len(differences) < 2:
        return summary | {"note": f"{len(differences)} pairs: no interval"}
    interval = bootstrap_interval(differences, study.seed, "languages")
    p = sign_test_p(differences) if differences.any() else np.nan
    return summary | {
        "mean_difference": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "p_sign_test": p,
        "note": None if differences.any() else "no difference at all",
    }
