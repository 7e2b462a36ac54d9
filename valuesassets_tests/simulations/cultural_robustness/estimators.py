"""Simulations of known truth: tests should find a language's culture, and nothing where there is none.

An answer's vector is what it says, an offset of its language, noise of putting this into that language, and noise of
sampling. `cultures`: without a country, the languages of a group answer alike, as their countries do. `one default`:
all answer as one country does, and follow any that is named. `arbitrary`: every language and condition has an answer
of its own. `same`: one answer, whatever the language and the country.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.cultural_robustness.measures.answer_space import (
    AnswerSpace,
    QuestionCells,
    spread_to_single,
)
from valuesassets.instruments.cultural_robustness.measures.scores import (
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
    compare_answers,
    score_rows,
)
from valuesassets.instruments.cultural_robustness.published.csp import csp
from valuesassets.measure.means import Array, mean_of_known
from valuesassets.measure.seeding import seeded
from valuesassets.measure.silhouette_kmeans import cluster_by_silhouette
from valuesassets.records.frames import parts_of
from valuesassets.records.settings.measuring import Inference
from valuesassets_tests.simulations.shares import COVERAGE, FOUND, REJECTED, is_within, plain_tables

Records = list[dict[str, Any]]
CULTURES, DEFAULT, ARBITRARY, SAME = KINDS = ("cultures", "one default", "arbitrary", "same")
OWN_WAYS = "own ways"
"""One more kind, for claims: without a country each language has answers of its own, which are no country's."""
NULL_TESTS = {CULTURES: (), DEFAULT: (GAIN, OWN, STRUCTURE), ARBITRARY: TESTS, SAME: TESTS}
"""By kind of simulation, the tests that have nothing to find; the others have to find something."""
GROUPS = ((0, 1, 2), (3, 4), (5,))
"""Languages of one culture, by their number; the own country of each has the same number."""
COUNTRIES, QUESTIONS, DIMENSIONS = ("BG", "DE", "FR", "GR", "IE", "PL"), 30, 24
LANGUAGES = tuple(f"l{number}" for group in GROUPS for number in group)
SAMPLES, SAMPLES_ANCHORED = 4, 2
OFFSET, TRANSLATION, SAMPLING, SCALE_SD = 1.0, 0.5, 0.4, 0.3
"""Sizes beside that of a content, 1: language offset, noise of translating and of sampling, and by how much questions
differ in the size of their contents (standard deviation of its log)."""
HOW, FOLLOW_RESAMPLES = Inference(resamples=299), 199


@dataclass(frozen=True)
class Ugliness:
    """What is not as tidy as it could be in a simulation; by default nothing.

    Attributes:
        questions: how many.
        alike: share of questions whose content is the same for all countries' plain answers, whatever the language.
        related: share of the noise of translating, and of what languages and countries are like, that is common to the
            languages of a group, or to their countries.
        sizes_sd: standard deviation of the log of how large the contents of a question are.
        size: of all contents; a small one makes a flat model, whose denominators are small.
        single: share of anchored answers that are lost, so that cells have two or one.
        lost: share of answers on one side of the first dimension that are lost in every other language.
        is_greedy: answers to the same prompt are the same, and equal contents give equal answers in a language.
    """

    questions: int = QUESTIONS
    alike: float = 0.0
    related: float = 0.0
    sizes_sd: float = SCALE_SD
    size: float = 1.0
    single: float = 0.0
    lost: float = 0.0
    is_greedy: bool = False


TIDY = Ugliness()
CLUSTERED, CLUSTERED_EVERY = 6, 20
"""Questions that `seed_diversity` is the mean over, in every so many simulations: k-means takes longest."""


def simulate_worlds(kind: str, seeds: Sequence[int]) -> Records:
    """The results of simulations of one kind, one for each seed."""
    return [_simulate(kind, seed) for seed in seeds]


def true_ratios(kind: str, ugly: Ugliness = TIDY) -> dict[str, float]:
    """The ratios that hold over all questions, by the equations; NaN where no country is followed.

    Countries are to be unrelated.
    """
    if kind in (ARBITRARY, SAME):
        return {DIVERSITY: np.nan, ROBUSTNESS: np.nan}
    n = len(LANGUAGES)
    alike = sum(len(group) * (len(group) - 1) for group in GROUPS) / (n * (n - 1))
    of_countries = ugly.size**2
    between_countries = of_countries + TRANSLATION**2
    gain = {CULTURES: 1 - alike, OWN_WAYS: 1.0}.get(kind, 0.0) * (1 - ugly.alike) * of_countries
    return {DIVERSITY: gain / between_countries, ROBUSTNESS: of_countries / between_countries}


def simulate_answers(kind: str, random: np.random.Generator, ugly: Ugliness = TIDY) -> tuple[AnswerSpace, Array]:
    """The space of simulated answers, and (Q, L, K, D) their first ones."""
    n, k = len(LANGUAGES), len(COUNTRIES) + 1

    def drawn(*size: int) -> Array:
        return random.normal(0, DIMENSIONS**-0.5, (*size, DIMENSIONS))

    # their mean square is 1
    sizes = np.exp(random.normal(0, ugly.sizes_sd, (ugly.questions, 1, 1, 1)) - ugly.sizes_sd**2) * ugly.size
    contents = _contents(kind, drawn, ugly)
    if ugly.alike:
        is_alike = random.random(ugly.questions) < ugly.alike
        contents[is_alike, :, 0] = contents[is_alike, :1, 0]
    noise = 0 * drawn(1, n, k) if ugly.is_greedy else TRANSLATION * _in_common(drawn, ugly, k)
    cells = sizes * contents + OFFSET * drawn(n, 1) + noise
    first, answers = np.empty(cells.shape), np.zeros((*cells.shape[:-1], SAMPLES, DIMENSIONS))
    is_kept = np.ones(answers.shape[:-1], dtype=bool)
    for part, samples in ((slice(0, 1), SAMPLES), (slice(1, k), SAMPLES_ANCHORED)):
        here = (ugly.questions, n, len(range(k)[part]), samples)
        answers[:, :, part, :samples] = cells[:, :, part, None] + SAMPLING * (not ugly.is_greedy) * drawn(*here)
        is_kept[:, :, part, samples:] = False
        first[:, :, part] = answers[:, :, part, 0]
    if ugly.single:
        is_kept[:, :, 1:] &= random.random(is_kept[:, :, 1:].shape) >= ugly.single
    if ugly.lost:
        is_odd = answers[:, ::2, ..., 0] > cells.mean(axis=(0, 1, 2))[0]
        is_kept[:, ::2] &= ~is_odd | (random.random(is_odd.shape) >= ugly.lost)
    is_kept[..., 0] |= ~is_kept.any(axis=-1)
    n_answers = is_kept.sum(axis=-1)
    kept = np.where(is_kept[..., None], answers, 0.0)
    means = kept.sum(axis=-2) / n_answers[..., None]
    squares = (is_kept * ((answers - means[..., None, :]) ** 2).sum(axis=-1)).sum(axis=-1)
    noise = squares / np.maximum(n_answers - 1, 1) / (2 * n_answers)
    none = (0,) * (k - 1)
    questions = [
        QuestionCells(str(number + 1), COUNTRIES, none, *each)
        for number, each in enumerate(zip(means, noise, n_answers, strict=True))
    ]
    return AnswerSpace(LANGUAGES, tuple(spread_to_single(questions, True)), True, True), first


def _in_common(drawn: Any, ugly: Ugliness, width: int) -> Array:
    """(Q, L, width, D) draws of which a share is common to the languages of a group."""
    own, common = drawn(ugly.questions, len(LANGUAGES), width), drawn(ugly.questions, len(GROUPS), width)
    of_group = np.repeat(common, [len(group) for group in GROUPS], axis=1)
    return np.sqrt(1 - ugly.related) * own + np.sqrt(ugly.related) * of_group


def _contents(kind: str, drawn: Any, ugly: Ugliness) -> Array:
    """(Q, L, K, D) what answers say."""
    n, width = len(LANGUAGES), len(COUNTRIES)
    if kind == ARBITRARY:
        return _in_common(drawn, ugly, width + 1)
    if kind == SAME:
        return np.tile(drawn(ugly.questions, 1, 1), (1, n, width + 1, 1))
    of_countries = np.moveaxis(_in_common(drawn, ugly, 1), 1, 2)
    plain = np.repeat(of_countries[:, :, :1], n, axis=1)
    if kind == OWN_WAYS:
        plain = _in_common(drawn, ugly, 1)
    if kind == CULTURES:
        for group in GROUPS:
            plain[:, group] = of_countries[:, :, group].sum(axis=2, keepdims=True) / len(group) ** 0.5
    return np.concatenate([plain, np.repeat(of_countries, n, axis=1)], axis=2)


def _simulate(kind: str, seed: int) -> dict[str, Any]:
    """p-values, ratios with their intervals, and published scores of one simulation."""
    space, first = simulate_answers(kind, seeded(seed, "robustness worlds", kind))
    own = dict(zip(LANGUAGES, COUNTRIES, strict=True))
    how = HOW.with_seed(seed)
    compared = compare_answers(kind, space, own, how, FOLLOW_RESAMPLES)
    results: dict[str, Any] = {"kind": kind, "seed": seed}
    for name in TESTS:
        estimate = compared.estimates[name]
        results[f"{name}_p"] = estimate.p if isinstance(estimate, Estimate) else np.nan
    scores = score_rows(kind, space, compared.estimates, how).set_index("score")
    for name, truth in true_ratios(kind).items():
        row = scores.loc[name]
        results[name], results[f"{name}_is_refused"] = row["value"], row["status"] == REFUSED
        is_known = row["status"] == OK and np.isfinite(truth) and np.isfinite(row["low"])
        results[f"{name}_is_held"] = bool(row["low"] <= truth <= row["high"]) if is_known else None
    one, other = np.triu_indices(len(LANGUAGES), 1)
    distances = ((first[:, one] - first[:, other]) ** 2).sum(axis=-1) / 2
    results["csp"] = csp(distances[..., 0], distances[..., 1:].mean(axis=-1))
    if seed % CLUSTERED_EVERY == 0:
        clusters = [cluster_by_silhouette(cells[:, 0].astype(np.float32)).k for cells in first[:CLUSTERED]]
        results["seed_diversity"] = float(np.mean(clusters) - 2) / (len(LANGUAGES) - 3)
    return results


def summarise_worlds(results: Records) -> dict[str, pd.DataFrame]:
    """A row per kind: how often tests reject, intervals of ratios hold the truth, and means of published scores."""
    rows = []
    for (kind,), part in parts_of(pd.DataFrame(results), ["kind"]):
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


evidence = plain_tables


def faults_of(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """What is not as it should be beyond three Monte Carlo errors, in words; nothing where all is well."""
    faults = []
    for row in tables["worlds"].to_dict("records"):
        kind, n = row["kind"], row["n_worlds"]
        for name in TESTS:
            share, where = row[f"{name}_rejected"], f"cultural robustness, {kind} worlds, {name}"
            if name in NULL_TESTS[kind]:
                if not is_within(share, 0, REJECTED, n):
                    faults.append(f"{where}: {share:.3f} rejected, {REJECTED} at most wanted")
            elif not is_within(share, FOUND, 1, n):
                faults.append(f"{where}: {share:.3f} found, {FOUND} at least wanted")
        for name in (DIVERSITY, ROBUSTNESS):
            share, (low, high) = row[f"{name}_coverage"], COVERAGE
            if FOLLOW in NULL_TESTS[kind]:
                continue
            if not is_within(share, low, high, n):
                where = f"cultural robustness, {kind} worlds, {name}"
                faults.append(f"{where}: {share:.3f} of the intervals hold the truth, {low} to {high} wanted")
    return faults
