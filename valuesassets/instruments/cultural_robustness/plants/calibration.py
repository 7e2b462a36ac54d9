"""`cultural_robustness/calibration`: facts that were planted into a reference model, and their recovered values."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from valuesassets.instruments.cultural_robustness.material.questions import all_questions
from valuesassets.instruments.cultural_robustness.measures.language_groups import FEWEST, group_languages
from valuesassets.instruments.cultural_robustness.measures.language_pairs import pair_square
from valuesassets.instruments.cultural_robustness.measures.measured import NONE_MEASURED
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
from valuesassets.records.errors import InputError
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

    For the family that follows cultures: both ratios, the groups of languages, and every planted fault. For the family
    without a signal: no test rejects, and no answer has a fault.

    Args:
        tables: `scores`, `language_pairs` and `language_groups` of the family.
        quality: rows of ANSWER_QUALITY.
        questions: all that was asked: `language, id, question_id, country`.
        alpha: level of the tests.
    """
    if family == FOLLOWING:
        facts = [*_ratios(family, tables["scores"], questions), *_groupings(tables)]
    else:
        n_rejected = sum(row["score"] in TESTS and row["p"] <= alpha for row in records(tables["scores"]))
        facts = [(REJECTED, 0, float(n_rejected), 0)]
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
    return [(name, getattr(expected, name), _number_or_none(values.get(name)), RATIO_TOLERANCE) for name in RATIOS]


def _groupings(tables: Mapping[str, pd.DataFrame]) -> list[Fact]:
    """Agreement of the languages' groups with those planted, and of groups by plain distances with the scripts."""
    named = {row["language"]: row["group"] for row in records(tables["language_groups"])}
    return [
        (GROUPING, 1, _agreement(named, GROUPS), 0),
        (SCRIPT_GROUPING, 1, _agreement(_by_plain_distances(tables["language_pairs"]), SCRIPTS.values()), 0),
    ]


def _by_plain_distances(pairs: pd.DataFrame) -> dict[str, int]:
    """Groups of languages by U, which contains the embedder's offset of each language."""
    languages, distances = pair_square(pairs, "unanchored_distance")
    groups = group_languages(distances[None])[0].tolist() if len(languages) >= FEWEST else []
    return dict(zip(languages, groups, strict=False))


def _agreement(groups: Mapping[str, Any], planted: Iterable[Sequence[str]]) -> float | None:
    """Adjusted Rand index of groups of languages; None where none are named."""
    from sklearn.metrics import adjusted_rand_score

    if not groups:
        return None
    expected = {language: number for number, group in enumerate(planted) for language in group}
    return float(adjusted_rand_score([expected[language] for language in groups], list(groups.values())))


def _faults(family: str, quality: pd.DataFrame, questions: pd.DataFrame) -> list[Fact]:
    """How many answers have each planted fault, and how many of them that status; and how many others have a fault."""
    planted = planted_faults(family)
    prompts = {(row["language"], row["id"]): row for row in records(questions)}
    counts: dict[str, list[int]] = {str(kind): [0, 0] for kind in FaultKind} if planted else {}
    others = 0
    for row in records(quality):
        prompt = prompts[row["language"], row["id"]]
        country = None if pd.isna(prompt["country"]) else prompt["country"]
        fault = planted.get(Cell(row["language"], str(prompt["question_id"]), country))
        if fault is not None:
            counts[fault][0] += 1
            counts[fault][1] += row["status"] == fault
        else:
            others += row["status"] != "ok"
    facts: list[Fact] = [(f"{kind} answers", n, float(n_recognised), 0) for kind, (n, n_recognised) in counts.items()]
    return [*facts, (OTHER_FAULTS, 0, float(others), 0)]


def _number_or_none(value: Any) -> float | None:
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

    Raises:
        InputError: no trained model was measured.
    """
    trained = [name for name in language_pairs if study.families[name].kind == "reference"]
    if not trained:
        raise InputError(NONE_MEASURED)
    texts, alpha = all_questions(questions), study.inference.alpha
    facts = [derive_calibration(name, language_pairs[name], answer_quality[name], texts, alpha) for name in trained]
    return pd.concat(facts, ignore_index=True)
