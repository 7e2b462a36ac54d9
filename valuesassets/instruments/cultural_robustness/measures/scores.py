"""The scores of one model: whether the language of a question carries a culture, and a named country overrides it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from valuesassets.instruments.cultural_robustness.measures.answer_space import USABLE_SHARE, AnswerSpace, build_space
from valuesassets.instruments.cultural_robustness.measures.content_distance import content_distance
from valuesassets.instruments.cultural_robustness.measures.country_profiles import derive_country_profiles
from valuesassets.instruments.cultural_robustness.measures.language_groups import (
    FEWEST,
    derive_language_groups,
    measure_structure,
)
from valuesassets.instruments.cultural_robustness.measures.language_pairs import (
    PairDistances,
    derive_language_pairs,
    gain_by_chance,
    measure_pairs,
)
from valuesassets.instruments.cultural_robustness.measures.own_country_advantage import (
    Closeness,
    measure_closeness,
    own_country_advantage,
)
from valuesassets.instruments.cultural_robustness.measures.repeated_answers import repeated_answers
from valuesassets.instruments.cultural_robustness.tables import DROPPED, MEASURED, SCORES
from valuesassets.measure.means import Array
from valuesassets.measure.multiple_tests import CORRECTIONS
from valuesassets.measure.ratio_of_means import ratio_of_means, zero_mean_p
from valuesassets.measure.resampling import ROUNDING, permutation_p, resample_counts
from valuesassets.measure.seeding import seeded
from valuesassets.records.frames import rows
from valuesassets.records.settings.measuring import USUAL, Inference

OK, REFUSED, UNDEFINED = "ok", "refused", "undefined"
GAIN, FOLLOW, DISTANCE = "culture_gain", "country_follow", "country_distance"
DIVERSITY, ROBUSTNESS = "diversity", "robustness"
OWN, STRUCTURE = "own_country_advantage", "structure"
REPEATED, CONTENT = "repeated_answers", "content_distance"
NAMES = (DIVERSITY, ROBUSTNESS, GAIN, FOLLOW, DISTANCE, OWN, STRUCTURE, REPEATED, CONTENT)
TESTS = (GAIN, FOLLOW, OWN, STRUCTURE)
"""What is tested, and corrected together."""
NO_COUNTRY, NO_PLAIN = "no answers for a named country", "no answers without a country"
FOLLOW_RESAMPLES = 499
"""Most permutations of countries, which take longest."""


@dataclass(frozen=True)
class Estimate:
    """A score with its interval, p-values and null; NaN where it has none of these.

    Attributes:
        p: of the permutation, uncorrected.
        p_over: of the skew-adjusted t test over questions, at most alpha exactly where the interval leaves out 0.
        lack: why there is no interval.
    """

    value: float
    low: float = np.nan
    high: float = np.nan
    p: float = np.nan
    p_over: float = np.nan
    null: float = np.nan
    n_questions: int = 0
    n_languages: int = 0
    lack: str | None = None


@dataclass(frozen=True, eq=False)
class Compared:
    """Comparisons of a model's answers before its tests are corrected.

    Attributes:
        estimates: by name of the score, an estimate, or the reason why there is none; p-values are uncorrected.
        counts: (draws, Q) resamples of questions.
    """

    estimates: Mapping[str, Estimate | str]
    pairs: PairDistances | None = None
    closeness: Closeness | None = None
    counts: Array = field(default_factory=lambda: np.empty((0, 0)))


def measure_model(
    model: str,
    vectors: pd.DataFrame,
    questions: pd.DataFrame,
    *,
    answered: pd.DataFrame | None = None,
    quality: pd.DataFrame | None = None,
    own_countries: Mapping[str, str] | None = None,
    usable_share: float = USABLE_SHARE,
    inference: Inference = USUAL,
    follow_resamples: int = FOLLOW_RESAMPLES,
) -> dict[str, pd.DataFrame]:
    """`scores`, `language_pairs`, `country_profiles`, `language_groups` and `dropped` of one model.

    Args:
        vectors: of its answers, and of the questions for `content_distance`.
        questions: all that was asked, with a `language` column.
        answered: its answers' texts, for `repeated_answers`.
        quality: a row for each answer: see `build_space`.
        own_countries: ISO 3166 by language; languages may have none.
        inference: resamples are permutations of all tests but one, and of questions for intervals of pairs and
            profiles; ratios are refused where `country_follow` does not reach alpha.
        follow_resamples: permutations of countries at most.
    """
    how = inference
    space, dropped = build_space(vectors, questions, usable_share, quality)
    compared = compare_answers(model, space, own_countries or {}, how, follow_resamples)
    estimates = dict(compared.estimates)
    estimates[REPEATED] = _repeated(answered, vectors, space, how)
    estimates[CONTENT] = _content(space, vectors, how)
    scores = score_rows(model, space, estimates, how)
    p = float(scores["p"].to_numpy(dtype=float)[NAMES.index(STRUCTURE)])
    pairs = compared.pairs
    tables = {name: table.empty_frame() for name, table in MEASURED.items()}
    tables |= {"scores": scores, "dropped": dropped.assign(model=model).loc[:, DROPPED.names]}
    if pairs is not None:
        tables["language_pairs"] = derive_language_pairs(model, pairs, compared.counts, how.level)
        tables["country_profiles"] = derive_country_profiles(model, pairs, compared.closeness, how.level)
        if pairs.gain is not None and p < how.alpha:
            tables["language_groups"] = derive_language_groups(model, pairs.languages, pairs.gain)
    return tables


def compare_answers(
    model: str,
    space: AnswerSpace,
    own_countries: Mapping[str, str],
    how: Inference,
    follow_resamples: int = FOLLOW_RESAMPLES,
) -> Compared:
    """All that needs nothing but vectors of answers, p-values uncorrected."""
    if space.lack:
        return Compared(dict.fromkeys((GAIN, FOLLOW, DISTANCE, DIVERSITY, ROBUSTNESS, OWN, STRUCTURE), space.lack))
    n, languages = len(space.questions), len(space.languages)

    def random(purpose: str) -> np.random.Generator:
        return seeded(how.seed, "cultural_robustness", model, purpose)

    counts = resample_counts(n, how.resamples, random("questions"))
    pairs = measure_pairs(space, min(how.resamples, follow_resamples), random("countries"))
    closeness = measure_closeness(pairs, own_countries, counts)

    def estimate(values: Array, under: Array | None = None) -> Estimate:
        ratio = ratio_of_means(values, np.ones(n) if under is None else under, how.level)
        return Estimate(**vars(ratio), p_over=zero_mean_p(values), n_questions=n, n_languages=languages)

    def over_countries(values: Array) -> Estimate:
        # equal answers differ by rounding
        between = pairs.between_countries
        return replace(estimate(values, between if between.mean() > ROUNDING else np.zeros(n)), null=0.0)

    lack = NO_PLAIN if space.has_anchored else NO_COUNTRY
    estimates: dict[str, Estimate | str] = dict.fromkeys(NAMES[:-2], lack)
    if space.has_anchored:
        follow = estimate(pairs.follows)
        p = permutation_p(follow.value, pairs.follow_by_chance)
        estimates[FOLLOW] = replace(follow, p=p, null=float(pairs.follow_by_chance.mean()))
        estimates[DISTANCE] = estimate(pairs.between_countries)
        estimates[ROBUSTNESS] = over_countries(pairs.follows)
    if closeness is not None and pairs.gain is not None:
        gain = estimate(pairs.gains)
        by_chance = gain_by_chance(pairs.conditions, how.resamples, random("conditions"))
        p = permutation_p(abs(gain.value), np.abs(by_chance))
        estimates[GAIN] = replace(gain, p=p, null=float(by_chance.mean()))
        estimates[DIVERSITY] = over_countries(pairs.gains)
        own = own_country_advantage(closeness, how.resamples, random("own countries"))
        estimates[OWN] = (
            own
            if isinstance(own, str)
            else replace(estimate(own.of_questions), p=own.p, null=own.by_chance, n_languages=own.n_languages)
        )
        estimates[STRUCTURE] = f"{languages} languages: pairs of them can differ from {FEWEST} languages on"
        if languages >= FEWEST:
            structure = measure_structure(pairs.gain, how.resamples, random("languages"))
            estimates[STRUCTURE] = Estimate(
                structure.value, p=structure.p, null=structure.by_chance, n_questions=n, n_languages=languages
            )
    return Compared(estimates, pairs, closeness, counts)


def score_rows(
    model: str, space: AnswerSpace, estimates: Mapping[str, Estimate | str], inference: Inference
) -> pd.DataFrame:
    """A row per score; permutations are corrected together, and ratios refused where countries are not followed.

    p is the larger of the corrected permutation's and of the t test's over questions: where it rejects, the interval
    leaves out 0, and so does that of the ratio. Each test covers what the other assumes: permutations are too sure
    where languages are related, and t tests where a few questions decide.
    """
    numeric = {name: each for name, each in estimates.items() if isinstance(each, Estimate)}
    tested = [name for name in TESTS if name in numeric and np.isfinite(numeric[name].p)]
    p_values = CORRECTIONS[inference.correction]([numeric[name].p for name in tested])
    permuted = zip(tested, p_values.tolist(), strict=True)
    corrected = {name: p if name == STRUCTURE else max(p, numeric[name].p_over) for name, p in permuted}
    of_test = {DIVERSITY: GAIN, ROBUSTNESS: FOLLOW}
    table_rows = []
    for name in (each for each in NAMES if each in estimates):
        each, note = estimates[name], space.note
        row = {"model": model, "score": name, "n_questions": len(space.questions), "n_languages": len(space.languages)}
        if isinstance(each, str):
            table_rows.append(row | {"status": UNDEFINED, "reason": each})
            continue
        numbers = vars(each) | {"p": corrected.get(of_test.get(name, name), np.nan)}
        lack, _ = numbers.pop("lack"), numbers.pop("p_over")
        row |= numbers
        if name in of_test and (refusal := _refusal(each, corrected.get(FOLLOW, np.nan), inference.alpha)):
            empty = dict.fromkeys(("value", "low", "high", "p", "null"), np.nan)
            table_rows.append(row | empty | {"status": REFUSED, "reason": refusal})
            continue
        remarks = filter(None, (None if name == REPEATED else note, lack and f"no interval: {lack}"))
        table_rows.append(row | {"status": OK, "reason": "; ".join(remarks) or None})
    return SCORES.frame(table_rows)


def _refusal(ratio: Estimate, follow_p: float, alpha: float) -> str | None:
    """Why a ratio is not shown, in words."""
    if not np.isfinite(ratio.value):
        return "nothing to compare: answers for different countries do not differ"
    if not follow_p <= alpha:
        return f"countries are not followed (country_follow has p = {follow_p:.3g}, {alpha:g} is the level)"
    return None


def _repeated(
    answered: pd.DataFrame | None, vectors: pd.DataFrame, space: AnswerSpace, how: Inference
) -> Estimate | str:
    """Share of usable anchored answers that stand under another country too."""
    if answered is None:
        return "texts of the answers are needed"
    usable = rows(vectors, vectors["is_usable"].astype(bool) & vectors["language"].isin(space.languages))
    counts = repeated_answers(answered, usable).groupby("question_id")[["n", "n_repeated"]].sum()
    if not len(counts):
        return NO_COUNTRY
    n, repeated = (np.array(counts[name], dtype=float) for name in ("n", "n_repeated"))
    ratio = ratio_of_means(repeated, n, how.level)
    return Estimate(**vars(ratio), n_questions=len(counts), n_languages=len(space.languages))


def _content(space: AnswerSpace, vectors: pd.DataFrame, how: Inference) -> Estimate | str:
    """Distance of answers between that of translations and that of different questions."""
    if space.lack or not space.has_unanchored:
        return space.lack or NO_PLAIN
    ratio = content_distance(space, vectors, how.level)
    if isinstance(ratio, str):
        return ratio
    return Estimate(**vars(ratio), n_questions=len(space.questions), n_languages=len(space.languages))
