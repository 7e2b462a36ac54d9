"""Tables for figures: answers pooled and by group, single people, and the scores of a perfect model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Floats, Probe
from valuesassets.instruments.worldvaluesbench.material.backgrounds import load_backgrounds, parse_profile, profile_keys
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
from valuesassets.instruments.worldvaluesbench.published.published_scores import ROUNDING, THRESHOLDS
from valuesassets.instruments.worldvaluesbench.trials.prompts import asking, opening, person_lines
from valuesassets.measure.seeding import seeded
from valuesassets.records.frames import rows, rows_where

PEOPLE = "people"
"""The name of people's answers in the column `model`."""


def derive_pooled_answers(probe: Probe) -> pd.DataFrame:
    """Weighted shares of each answer: `question_id`, `model` (or `people`), `attributes`, `response_value`, `prob`.

    Models' answers are those on the scale for people with an answer.
    """
    rows: list[dict[str, Any]] = []
    for item in probe.questions:
        has_answer = np.isfinite(item.answers)
        answers = np.zeros((len(has_answer), len(item.question.values)))
        answers[has_answer, (item.answers[has_answer] - item.question.lo).astype(np.int64)] = 1
        rows += _shares(item, PEOPLE, None, answers, has_answer)
        for side, models in (("with", item.with_attributes), ("without", item.without)):
            for name, rated in models.items():
                rows += _shares(item, name, side, rated.probs, has_answer & np.isfinite(rated.probs[:, 0]))
    return pd.DataFrame(rows, columns=pd.Index(["question_id", "model", "attributes", "response_value", "prob"]))


def derive_group_means(probe: Probe) -> pd.DataFrame:
    """Weighted mean answers of groups, on the scale from 0 to 1, of people and of each model with attributes.

    Columns `model`, `question_id`, the factors, `n`, `human_mean_unit`, `model_mean_unit`, over people with an answer
    and a rating on the scale. Groups without such people have no row.
    """
    levels = pd.DataFrame(list(probe.groups.levels), columns=pd.Index(probe.groups.factors))
    parts = []
    for item in probe.questions:
        unit = np.linspace(0, 1, len(item.question.values))
        people = (item.answers - item.question.lo) / (item.question.hi - item.question.lo)
        for name, rated in item.with_attributes.items():
            expected = rated.probs @ unit
            both = np.isfinite(people) & np.isfinite(expected)
            groups, weights = item.groups[both], item.weights[both]
            n = np.bincount(groups, minlength=len(levels))
            total = np.bincount(groups, weights, len(levels))
            sums = (np.bincount(groups, weights * each[both], len(levels)) for each in (people, expected))
            with np.errstate(invalid="ignore"):
                human, model = (each / total for each in sums)
            part = levels.assign(
                model=name, question_id=item.question.id, n=n, human_mean_unit=human, model_mean_unit=model
            )
            parts.append(part[n > 0])
    columns = ["model", "question_id", *probe.groups.factors, "n", "human_mean_unit", "model_mean_unit"]
    return pd.DataFrame(pd.concat(parts, ignore_index=True) if parts else None, columns=pd.Index(columns))


def _shares(item: AskedQuestion, name: str, side: str | None, probs: Floats, is_counted: Any) -> list[dict[str, Any]]:
    if not is_counted.any():
        return []
    shares = item.weights[is_counted] @ probs[is_counted] / item.weights[is_counted].sum()
    row = {"question_id": item.question.id, "model": name, "attributes": side}
    return [
        row | {"response_value": code, "prob": float(p)} for code, p in zip(item.question.values, shares, strict=True)
    ]


MOST = 6
COLUMNS = ("question_id", "person", "background", "response_value", "model", "expected_value", "prompt")


def derive_shown_people(probe: Probe, question_id: str, prompt: str, seed: int) -> pd.DataFrame:
    """A row of `COLUMNS` for each model and each of six people of different groups who answered a question.

    People have numbers from 1; `expected_value` is the model's mean answer for the person, in codes. The table is empty
    if the question was not asked.
    """
    item = next((each for each in probe.questions if each.question.id == question_id), None)
    table_rows: list[dict[str, Any]] = []
    for number, place in enumerate(_chosen(item, seed) if item else [], 1):
        assert item is not None  # noqa: S101
        levels = probe.groups.levels[item.groups[place]]
        row = {"question_id": question_id, "person": number, "response_value": int(item.answers[place])}
        row |= {"background": ", ".join(level.replace("_", " ") for level in levels), "prompt": prompt}
        for name, rated in item.with_attributes.items():
            expected = float(rated.probs[place] @ np.array(item.question.values, dtype=float))
            table_rows.append(row | {"model": name, "expected_value": expected})
    return pd.DataFrame(table_rows, columns=pd.Index(COLUMNS))


def prompt_of_one(
    participants: pd.DataFrame, samples: pd.DataFrame, question_id: str, attributes: Sequence[str]
) -> str:
    """The prompt of the first person of a question, in the first wording and order; empty without a person."""
    of_question = rows_where(samples, question_id=question_id)
    if not len(of_question):
        return ""
    person = rows(participants, participants["participant_id"] == of_question["participant_id"].iloc[0])
    (profile,) = profile_keys(person, attributes)
    by_id = {each.id: each for each in load_backgrounds().attributes}
    lines = person_lines(parse_profile(str(profile)), [by_id[name] for name in attributes])
    question = load_value_questions()[question_id]
    return opening(lines, "list") + asking(question, range(len(question.values)), "list")


def _chosen(item: AskedQuestion, seed: int) -> list[int]:
    """One person of each of up to six groups, drawn by a seed."""
    draw = seeded(seed, "shown people", item.question.id)
    answered = draw.permutation(np.flatnonzero(np.isfinite(item.answers)))
    _, first = np.unique(item.groups[answered], return_index=True)
    return sorted(answered[np.sort(first)[:MOST]].tolist())


PERFECT = "perfect"


def derive_perfect_shares(
    probe: Probe,
    seed: int,
    draws: int = 1000,
    is_decoded: bool = False,
    level: float = 0.95,
    subsets: Sequence[str] = ("all", "urban", "rural"),
) -> pd.DataFrame:
    """The share of questions in which a perfect model is at most a threshold away, with its interval over draws.

    As many people as answered are drawn from their answers, without weights; the model gives the shares of the answers,
    or drawn ratings.

    Args:
        is_decoded: whether the model's ratings are drawn too.
        subsets: `all`, or levels of a factor.

    Returns:
        `model` (`perfect`), `subset`, `threshold`, `share` (mean over draws), `share_low`, `share_high`.
    """
    rows: list[dict[str, Any]] = []
    ends = (1 - level) / 2, (1 + level) / 2
    for subset in subsets:
        distances = [_distances(item, probe, subset, seed, draws, is_decoded) for item in probe.questions]
        distances = [each for each in distances if each is not None]
        if not distances:
            continue
        for threshold in THRESHOLDS:
            shares = (np.stack(distances) <= threshold + ROUNDING).mean(axis=0)
            low, high = np.quantile(shares, ends)
            row = {"model": PERFECT, "attributes": None, "subset": subset, "threshold": threshold}
            rows.append(row | {"share": float(shares.mean()), "share_low": float(low), "share_high": float(high)})
    return pd.DataFrame(
        rows, columns=pd.Index(["model", "attributes", "subset", "threshold", "share", "share_low", "share_high"])
    )


def _distances(item: Any, probe: Probe, subset: str, seed: int, draws: int, is_decoded: bool) -> Any:
    """(draws,) W1 of one question in a subset; None if nobody in it answered."""
    members = np.array([subset == "all" or subset in levels for levels in probe.groups.levels])
    is_counted = np.isfinite(item.answers) & members[item.groups]
    n, k = int(is_counted.sum()), len(item.question.values)
    if not n:
        return None
    shares = np.bincount((item.answers[is_counted] - item.question.lo).astype(np.int64), minlength=k) / n
    rng = seeded(seed, "perfect", subset, item.question.id)
    people = rng.multinomial(n, shares, draws) / n
    model = rng.multinomial(n, shares, draws) / n if is_decoded else shares
    return np.abs(np.cumsum(people - model, axis=1)[:, :-1]).sum(axis=1) / (k - 1)
