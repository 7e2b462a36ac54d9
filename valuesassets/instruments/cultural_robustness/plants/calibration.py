"""`cultural_robustness/calibration`: what was planted into a reference model, beside what was recovered of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.cultural_robustness.material.questions import all_questions
from valuesassets.instruments.cultural_robustness.measures.language_groups import group_languages
from valuesassets.instruments.cultural_robustness.measures.scores import TESTS
from valuesassets.instruments.cultural_robustness.plants.expected_scores import expected_distances
from valuesassets.instruments.cultural_robustness.plants.planted_answers import (
    FOLLOWING,
    GROUPS,
    SCRIPTS,
    Cell,
    FaultKind,
    planted_faults,
)
from valuesassets.instruments.cultural_robustness.tables import CALIBRATION
from valuesassets.records.frames import records
from valuesassets.records.study import Study

RATIO_TOLERANCE = 0.05
RATIOS = ("diversity", "robustness")
GROUPING, SCRIPT_GROUPING = "groups (adjusted Rand index)", "scripts by plain distances (adjusted Rand index)"
REJECTED, OTHER_FAULTS = "rejected tests", "other faulty answers"


def derive_calibration(
    family: str,
    tables: Mapping[str, pd.DataFrame],
    quality: pd.DataFrame,
    questions: pd.DataFrame,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """A row for each fact of a reference family.

    Of the one that follows cultures both ratios, the groups of languages, and every planted fault; of the one without a
    signal that no test rejects and no answer is at fault.

    Args:
        tables: `scores`, `language_pairs` and `language_groups` of the family.
        quality: rows of ANSWER_QUALITY.
        questions: all that was asked: `language, id, question_id, country`.
        alpha: level of the tests.
    """
    if family == FOLLOWING:
        facts = [*_ratios(family, tables["scores"], questions), *_groupings(tables)]
    else:
        facts = [(REJECTED, 0, _rejected(tables["scores"], alpha), 0)]
    rows = [
        {
            "model": family,
            "fact": fact,
            "planted": float(planted),
            "recovered": recovered,
            "tolerance": float(tolerance),
            "is_recovered": recovered is not None and abs(recovered - planted) <= tolerance + 1e-9,
        }
        for fact, planted, recovered, tolerance in [*facts, *_faults(family, quality, questions)]
    ]
    return CALIBRATION.frame(rows)


Fact = tuple[str, float, float | None, float]


def _ratios(family: str, scores: pd.DataFrame, questions: pd.DataFrame) -> list[Fact]:
    """Both ratios, over the languages and countries that were asked."""
    countries = sorted(questions["country"].dropna().unique())
    expected = expected_distances(family, sorted(questions["language"].unique()), countries)
    values = scores.set_index("score")["value"]
    return [(name, getattr(expected, name), _known(values.get(name)), RATIO_TOLERANCE) for name in RATIOS]


def _groupings(tables: Mapping[str, pd.DataFrame]) -> list[Fact]:
    """Agreement of the languages' groups with those planted, and of groups by plain distances with the scripts."""
    named = {row["language"]: row["group"] for row in records(tables["language_groups"])}
    return [
        (GROUPING, 1, _agreement(named, GROUPS), 0),
        (SCRIPT_GROUPING, 1, _agreement(_by_plain_distances(tables["language_pairs"]), SCRIPTS.values()), 0),
    ]


def _by_plain_distances(pairs: pd.DataFrame) -> dict[str, int]:
    """Groups of languages by U, where the embedder's way with each language is not taken off."""
    languages = sorted({*pairs["language"], *pairs["other_language"]})
    if len(languages) < 3:
        return {}
    place = {language: number for number, language in enumerate(languages)}
    distances = np.zeros((len(languages), len(languages)))
    for row in records(pairs):
        one, other = place[row["language"]], place[row["other_language"]]
        distances[one, other] = distances[other, one] = row["unanchored_distance"]
    groups, _ = group_languages(distances[None])
    return dict(zip(languages, groups.tolist(), strict=True))


def _agreement(found: Mapping[str, Any], planted: Iterable[Sequence[str]]) -> float | None:
    """Adjusted Rand index of groups of languages; None where none are named."""
    from sklearn.metrics import adjusted_rand_score

    if not found:
        return None
    expected = {language: number for number, group in enumerate(planted) for language in group}
    return float(adjusted_rand_score([expected[language] for language in found], list(found.values())))


def _rejected(scores: pd.DataFrame, alpha: float) -> float:
    """How many tests reject."""
    return float(sum(row["score"] in TESTS and row["p"] <= alpha for row in records(scores)))


def _faults(family: str, quality: pd.DataFrame, questions: pd.DataFrame) -> list[Fact]:
    """Answers with each planted fault, of them those that are found; and all others that are found to be at fault."""
    planted = planted_faults(family)
    asked = {(row["language"], row["id"]): row for row in records(questions)}
    counts: dict[str, list[int]] = {str(kind): [0, 0] for kind in FaultKind} if planted else {}
    others = 0
    for row in records(quality):
        prompt = asked[row["language"], row["id"]]
        country = None if pd.isna(prompt["country"]) else prompt["country"]
        fault = planted.get(Cell(row["language"], str(prompt["question_id"]), country))
        if fault is not None:
            counts[fault][0] += 1
            counts[fault][1] += row["status"] == fault
        else:
            others += row["status"] != "ok"
    found: list[Fact] = [(f"{kind} answers", n, float(n_found), 0) for kind, (n, n_found) in counts.items()]
    return [*found, (OTHER_FAULTS, 0, float(others), 0)]


def _known(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


def calibrate_models(
    study: Study,
    language_pairs: Mapping[str, Mapping[str, pd.DataFrame]],
    answer_quality: Mapping[str, pd.DataFrame],
    questions: Mapping[str, pd.DataFrame],
) -> pd.DataFrame:
    """`derive_calibration` of every family that is trained here.

    Args:
        language_pairs, answer_quality: by family.
        questions: by language.
    """
    texts, alpha = all_questions(questions), study.inference.alpha
    trained = [name for name in language_pairs if study.families[name].kind == "reference"]
    facts = [derive_calibration(name, language_pairs[name], answer_quality[name], texts, alpha) for name in trained]
    return pd.concat(facts, ignore_index=True)
