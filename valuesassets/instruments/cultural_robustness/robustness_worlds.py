"""Worlds of known truth: is a language's culture told from its identity, and nothing found where nothing is?

An answer's vector is what it says, an offset of its language, noise of putting this into that language, and noise of
sampling. `cultures`: without a country, the languages of a group answer alike, as their countries do. `one default`:
all answer as one country does, and follow any that is named. `arbitrary`: every language and condition has an answer
of its own. `same`: one answer, whatever the language and the country.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.cultural_robustness.answer_space import AnswerSpace, QuestionCells
from valuesassets.instruments.cultural_robustness.csp import csp
from valuesassets.instruments.cultural_robustness.scores import (
    DIVERSITY,
    FOLLOW,
    GAIN,
    OK,
    OWN,
    REFUSED,
    ROBUSTNESS,
    STRUCTURE,
    TESTS,
    Estimate,
    Inference,
    compare_answers,
    score_rows,
)
from valuesassets.measure.means import Array, mean_of_known
from valuesassets.measure.seeding import seeded
from valuesassets.measure.silhouette_kmeans import cluster_by_silhouette
from valuesassets.records.frames import parts_of

Records = list[dict[str, Any]]
CULTURES, DEFAULT, ARBITRARY, SAME = KINDS = ("cultures", "one default", "arbitrary", "same")
OWN_WAYS = "own ways"
"""One more kind, for claims: without a country each language has answers of its own, which are no country's."""
NULL_TESTS = {CULTURES: (), DEFAULT: (GAIN, OWN, STRUCTURE), ARBITRARY: TESTS, SAME: TESTS}
"""Of which tests there is nothing to find in a kind of world; the others have to find something."""
GROUPS = ((0, 1, 2), (3, 4), (5,))
"""Languages of one culture, by their number; the own country of each has the same number."""
COUNTRIES, QUESTIONS, DIMENSIONS = ("BG", "DE", "FR", "GR", "IE", "PL"), 30, 24
LANGUAGES = tuple(f"l{number}" for group in GROUPS for number in group)
SAMPLES, SAMPLES_ANCHORED = 4, 2
OFFSET, TRANSLATION, SAMPLING, SCALE_SD = 1.0, 0.5, 0.4, 0.3
"""Sizes beside that of a content, 1: language offset, noise of translating and of sampling, and by how much questions
differ in the size of their contents (standard deviation of its log)."""
HOW = Inference(resamples=299, follow_resamples=199)
CLUSTERED, CLUSTERED_EVERY = 6, 20
"""Questions that `seed_diversity` is the mean over, in every so many worlds: k-means takes longer than all the rest."""
REJECTED, COVERAGE, FOUND = 0.07, (0.93, 0.97), 0.9
"""Most rejections where there is nothing, where coverage has to lie, and fewest rejections where there is something."""


def simulate_worlds(kind: str, seeds: Sequence[int]) -> Records:
    """What was found in worlds of one kind, one world per seed."""
    return [_found(kind, seed) for seed in seeds]


def true_ratios(kind: str) -> dict[str, float]:
    """The ratios that hold over all questions, by the equations; NaN where no country is followed."""
    if kind in (ARBITRARY, SAME):
        return {DIVERSITY: np.nan, ROBUSTNESS: np.nan}
    n = len(LANGUAGES)
    alike = sum(len(group) * (len(group) - 1) for group in GROUPS) / (n * (n - 1))
    between_countries = 1 + TRANSLATION**2
    gain = 1 - alike if kind == CULTURES else 0.0
    return {DIVERSITY: gain / between_countries, ROBUSTNESS: 1 / between_countries}


def make_world(kind: str, random: np.random.Generator) -> tuple[AnswerSpace, Array]:
    """The space of a world's answers, and (Q, L, K, D) their first ones."""
    n, k = len(LANGUAGES), len(COUNTRIES) + 1
    shape = (QUESTIONS, n, k, DIMENSIONS)

    def drawn(*size: int) -> Array:
        return random.normal(0, DIMENSIONS**-0.5, (*size, DIMENSIONS))

    sizes = np.exp(random.normal(0, SCALE_SD, (QUESTIONS, 1, 1, 1)) - SCALE_SD**2)  # their mean square is 1
    cells = sizes * _contents(kind, drawn) + OFFSET * drawn(n, 1) + TRANSLATION * drawn(QUESTIONS, n, k)
    first = np.empty(shape)
    means, noise = np.empty(shape), np.empty(shape[:-1])
    for part, samples in ((slice(0, 1), SAMPLES), (slice(1, k), SAMPLES_ANCHORED)):
        answers = cells[:, :, part, None] + SAMPLING * drawn(QUESTIONS, n, cells[:, :, part].shape[2], samples)
        first[:, :, part], means[:, :, part] = answers[..., 0, :], answers.mean(axis=-2)
        noise[:, :, part] = answers.var(axis=-2, ddof=1).sum(axis=-1) / (2 * samples)
    n_answers = np.broadcast_to(np.array([SAMPLES, *[SAMPLES_ANCHORED] * (k - 1)]), (n, k))
    none = (0,) * (k - 1)
    questions = [
        QuestionCells(str(number + 1), COUNTRIES, none, mean, taken_off, n_answers)
        for number, (mean, taken_off) in enumerate(zip(means, noise, strict=True))
    ]
    return AnswerSpace(LANGUAGES, tuple(questions), True, True), first


def _contents(kind: str, drawn: Any) -> Array:
    """(Q, L, K, D), or what broadcasts to it: what answers say."""
    n, width = len(LANGUAGES), len(COUNTRIES)
    if kind == ARBITRARY:
        return drawn(QUESTIONS, n, width + 1)
    if kind == SAME:
        return drawn(QUESTIONS, 1, 1)
    if kind == OWN_WAYS:
        return np.concatenate([drawn(QUESTIONS, n, 1), np.repeat(drawn(QUESTIONS, 1, width), n, axis=1)], axis=2)
    of_countries = drawn(QUESTIONS, 1, width)
    plain = np.repeat(of_countries[:, :, :1], n, axis=1)
    if kind == CULTURES:
        for group in GROUPS:
            plain[:, group] = of_countries[:, :, group].sum(axis=2, keepdims=True) / len(group) ** 0.5
    return np.concatenate([plain, np.repeat(of_countries, n, axis=1)], axis=2)


def _found(kind: str, seed: int) -> dict[str, Any]:
    """p-values, ratios with their intervals, and what published scores say of a world."""
    space, first = make_world(kind, seeded(seed, "robustness worlds", kind))
    own = dict(zip(LANGUAGES, COUNTRIES, strict=True))
    how = Inference(HOW.resamples, HOW.follow_resamples, HOW.alpha, HOW.level, seed)
    compared = compare_answers(kind, space, own, how)
    found: dict[str, Any] = {"kind": kind, "seed": seed}
    for name in TESTS:
        estimate = compared.found[name]
        found[f"{name}_p"] = estimate.p if isinstance(estimate, Estimate) else np.nan
    scores = score_rows(kind, space, compared.found, how.alpha).set_index("score")
    for name, truth in true_ratios(kind).items():
        row = scores.loc[name]
        found[name], found[f"{name}_is_refused"] = row["value"], row["status"] == REFUSED
        is_known = row["status"] == OK and np.isfinite(truth) and np.isfinite(row["low"])
        found[f"{name}_is_held"] = bool(row["low"] <= truth <= row["high"]) if is_known else None
    one, other = np.triu_indices(len(LANGUAGES), 1)
    distances = ((first[:, one] - first[:, other]) ** 2).sum(axis=-1) / 2
    found["csp"] = csp(distances[..., 0], distances[..., 1:].mean(axis=-1))
    if seed % CLUSTERED_EVERY == 0:
        clusters = [cluster_by_silhouette(cells[:, 0].astype(np.float32)).k for cells in first[:CLUSTERED]]
        found["seed_diversity"] = float(np.mean(clusters) - 2) / (len(LANGUAGES) - 3)
    return found


def summarise_worlds(found: Records) -> dict[str, pd.DataFrame]:
    """A row per kind: how often tests reject, intervals of ratios hold the truth, and means of published scores."""
    rows = []
    for (kind,), part in parts_of(pd.DataFrame(found), ["kind"]):
        row: dict[str, Any] = {"kind": kind, "n_worlds": len(part)}
        row |= {f"{name}_rejected": float((part[f"{name}_p"] <= HOW.alpha).mean()) for name in TESTS}
        for name, truth in true_ratios(kind).items():
            held = part[f"{name}_is_held"].dropna().astype(float)
            row |= {
                f"{name}_true": truth,
                f"{name}_mean": _mean(part[name]),
                f"{name}_coverage": _mean(held),
                f"{name}_refused": float(part[f"{name}_is_refused"].mean()),
            }
        row |= {name: _mean(part[name]) if name in part else np.nan for name in ("csp", "seed_diversity")}
        rows.append(row)
    return {"worlds": pd.DataFrame(rows)}


def _mean(values: Any) -> float:
    return float(mean_of_known(np.asarray(values, dtype=float)))


def evidence(found: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """The table as plain values: what is written as JSON."""
    return {name: frame.astype(object).where(frame.notna(), None).to_dict("records") for name, frame in found.items()}


def faults_of(found: Mapping[str, pd.DataFrame]) -> list[str]:
    """What is not as it should be beyond three Monte Carlo errors, in words; nothing where all is well."""
    faults = []
    for row in found["worlds"].to_dict("records"):
        kind, n = row["kind"], row["n_worlds"]
        for name in TESTS:
            share, where = row[f"{name}_rejected"], f"cultural robustness, {kind} worlds, {name}"
            if name in NULL_TESTS[kind]:
                if share > REJECTED + _error(REJECTED, n):
                    faults.append(f"{where}: {share:.3f} rejected, {REJECTED} at most wanted")
            elif share < FOUND - _error(FOUND, n):
                faults.append(f"{where}: {share:.3f} found, {FOUND} at least wanted")
        for name in (DIVERSITY, ROBUSTNESS):
            share, (low, high) = row[f"{name}_coverage"], COVERAGE
            if FOLLOW in NULL_TESTS[kind]:
                continue
            if not low - _error(low, n) <= share <= high + _error(high, n):
                where = f"cultural robustness, {kind} worlds, {name}"
                faults.append(f"{where}: {share:.3f} of the intervals hold the truth, {low} to {high} wanted")
    return faults


def _error(share: float, n: int) -> float:
    return 3 * float(np.sqrt(share * (1 - share) / n))
