"""`psych_tasks/prediction`: how well people's answers are foretold, and what of it is format, style or content.

A step of the ladder takes one history less another, over the same marks of the same participants: `format` (another's
answers before the mark, less none), `style` (one's own at the wrong places, less another's), `content` (one's own, less
one's own at the wrong places), `person` (one's own, less another's).
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.statuses import MarkStatus
from valuesassets.instruments.psych_tasks.tables import GAIN_ROWS, IDENTIFICATION, PREDICTION_SCORES, QUANTILES
from valuesassets.measure.answer_frequencies import counting_probs, crowd_probs, own_probs
from valuesassets.measure.log_score import gain, log_score, participant_means
from valuesassets.measure.means import Array
from valuesassets.measure.multiple_tests import CORRECTIONS
from valuesassets.measure.resampling import interval_ends, resample_counts, resampled_means
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import column, parts_of, records, rows, rows_where
from valuesassets.records.settings.measuring import Inference

LADDER = {
    "format": ("other", "alone"),
    "style": ("permuted", "other"),
    "content": ("human", "permuted"),
    "person": ("human", "other"),
    "history": ("human", "alone"),
    "task text": ("human", "answers"),
}
"""Each gain: the history that knows more, and the one that it is held against."""
SHORTCUT = "shortcut"
"""Answers alone, less what counting foretells."""
CELL = ["model", "task", "layout"]
BINS = 10


def derive_prediction(
    marks: pd.DataFrame, donors: pd.DataFrame, inference: Inference, seed: int
) -> dict[str, pd.DataFrame]:
    """Scores of each history, the ladder between them, whose history foretells whom, and calibration.

    Args:
        marks: rows of `answer_distributions/marks` with `model` and `task`; donors: likewise.

    Raises:
        MissingData: no answer was read anywhere.
    """
    read = scored_marks(marks)
    if read.empty:
        raise MissingData("no mark with an answer among its candidates was read; materialise answer_distributions")
    scores: list[dict[str, Any]] = []
    gains: list[dict[str, Any]] = []
    for cell, part in _cells(read):
        scores += _scores(cell, part, inference, seed)
        gains += _gains(cell, part, inference, seed)
    found = GAIN_ROWS.frame(gains)
    return {
        "scores": PREDICTION_SCORES.frame(scores),
        "gains": _corrected(found, inference),
        "identification": IDENTIFICATION.frame(list(_identification(donors, inference, seed))),
        "quantiles": QUANTILES.frame(list(_quantiles(read))),
    }


def scored_marks(marks: pd.DataFrame) -> pd.DataFrame:
    """The marks whose answer is a candidate and was read, with `log_share` (ln q of the answer, nats) and `log_k`."""
    read = rows(marks, (column(marks, "status") == str(MarkStatus.READ)) & column(marks, "log_prob_human").notna())
    read = rows(read, read["n_candidates"] > 1)
    share = read["log_prob_human"].astype(float) - np.log(read["p_valid"].astype(float))
    return read.assign(
        log_share=np.minimum(share, 0.0),
        log_k=np.log(read["n_candidates"].astype(float)),
        person=read["experiment"] + "/" + read["participant"],
    )


def _cells(read: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    for key, part in read.groupby(CELL, sort=False):
        yield dict(zip(CELL, key if isinstance(key, tuple) else (key,), strict=True)), part


def person_scores(part: pd.DataFrame) -> pd.Series:
    """Mean log share of each participant's answers (nats); draws of the model's own answers count alike."""
    return participant_means(part["log_share"].to_numpy(float), part["person"].to_numpy())


def _scores(cell: Mapping[str, Any], part: pd.DataFrame, inference: Inference, seed: int) -> Iterator[dict[str, Any]]:
    for history, asked in part.groupby("history", sort=False):
        row = {**cell, "history": history, "n_marks": len(asked)}
        try:
            log_k = participant_means(asked["log_k"].to_numpy(float), asked["person"].to_numpy())
            random = seeded(seed, "prediction", *cell.values(), history)
            found = log_score(person_scores(asked), log_k, inference.resamples, random, inference.level)
        except MissingData as error:
            yield row | {"reason": str(error)}
            continue
        right = asked["is_likeliest"].astype(float)
        accuracy = participant_means(right.to_numpy(float), asked["person"].to_numpy()).mean()
        yield row | {
            "n_participants": found.n,
            "log_score": found.mean,
            "log_score_low": found.low,
            "log_score_high": found.high,
            "skill": found.skill,
            "skill_low": found.skill_low,
            "skill_high": found.skill_high,
            "accuracy": float(accuracy),
        }
    yield from _baselines(cell, rows_where(part, history="human"))


def _baselines(cell: Mapping[str, Any], human: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """What needs no model: even chances, others' answers, and counting; of the marks that were read."""
    if human.empty:
        return
    log_k = participant_means(human["log_k"].to_numpy(float), human["person"].to_numpy())
    for name, probs in baseline_probs(human).items():
        score = participant_means(np.log(probs), human["person"].to_numpy())
        skill = 1 + float(score.mean()) / float(log_k.mean())
        row = {**cell, "history": name, "n_marks": len(human), "n_participants": len(score)}
        yield row | {"log_score": float(score.mean()), "skill": skill}


def baseline_probs(human: pd.DataFrame) -> dict[str, Array]:
    """Probability of each answer by even chances (`uniform`), others' answers (`crowd`), and `counting`."""
    ordered = human.sort_values(["person", "mark"], kind="stable")
    k = ordered["n_candidates"].to_numpy(float)
    people, kinds = ordered["person"].tolist(), ordered["kind"].tolist()
    answers = [_meaning(row) for row in records(ordered)]
    crowd = crowd_probs(people, list(zip(ordered["experiment"], ordered["mark"], strict=True)), answers, k)
    found = {"uniform": 1 / k, "crowd": crowd}
    if len(set(people)) > 1:  # else there is nobody to fit the weight of own answers on
        found["counting"] = counting_probs(crowd, own_probs(people, kinds, answers, k), people).probs
    return {
        name: pd.Series(probs, index=ordered.index).reindex(human.index).to_numpy(float)
        for name, probs in found.items()
    }


def _meaning(row: Mapping[str, Any]) -> Any:
    """What an answer means, whichever way round the scale was shown and whatever the keys."""
    value = row["human_value"]
    return row["human_answer"] if value is None or pd.isna(value) else float(value)


def _gains(cell: Mapping[str, Any], part: pd.DataFrame, inference: Inference, seed: int) -> Iterator[dict[str, Any]]:
    scores = dict(iter(part.groupby("history", sort=False)))
    for name, (more, less) in LADDER.items():
        if more in scores and less in scores:
            one, other = _same_marks(scores[more], scores[less])
            yield _gain({**cell, "gain": name, "more": more, "less": less}, one, other, inference, seed)
    if "answers" in scores and "human" in scores:
        one, human = _same_marks(scores["answers"], scores["human"])
        counted_probs = baseline_probs(human).get("counting") if len(human) else None
        if counted_probs is not None:
            counted = human.assign(log_share=np.log(counted_probs))
            row = {**cell, "gain": SHORTCUT, "more": "answers", "less": "counting"}
            yield _gain(row, one, counted, inference, seed)


def _same_marks(one: pd.DataFrame, other: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The marks that both histories have."""
    keys = [pd.MultiIndex.from_frame(each.loc[:, ["person", "mark"]]) for each in (one, other)]
    return rows(one, keys[0].isin(keys[1])), rows(other, keys[1].isin(keys[0]))


def _gain(
    row: Mapping[str, Any], one: pd.DataFrame, other: pd.DataFrame, inference: Inference, seed: int
) -> dict[str, Any]:
    try:
        random = seeded(seed, "gain", *row.values())
        found = gain(person_scores(one), person_scores(other), inference.resamples, random, inference.level)
    except MissingData as error:
        return {**row, "reason": str(error)}
    ends = {"low": found.low, "high": found.high, "p": found.p}
    return {**row, "n_participants": found.n, "estimate": found.mean, **ends}


def _corrected(found: pd.DataFrame, inference: Inference) -> pd.DataFrame:
    """The p-values corrected over the models of a task, gain by gain."""
    p = found["p"].to_numpy(dtype=float)
    corrected = np.full(len(found), np.nan)
    for _, places in found.groupby(["task", "layout", "gain"], sort=False).indices.items():
        made = places[np.isfinite(p[places])]
        corrected[made] = CORRECTIONS[inference.correction](p[made])
    rejected = pd.Series(corrected <= inference.alpha, dtype=object)
    return found.assign(p_corrected=corrected, is_rejected=rejected.where(np.isfinite(corrected), None))


def _identification(donors: pd.DataFrame, inference: Inference, seed: int) -> Iterator[dict[str, Any]]:
    """Of other participants' histories, the share that foretells a person's answers worse than their own does."""
    for key, part in parts_of(donors, CELL) if len(donors) else ():
        is_own = part["donor"] == part["participant"]
        own = rows(part, is_own).set_index(["experiment", "participant"])["log_score"]
        others = rows(part, ~is_own)
        if others.empty:
            continue
        held = own.reindex(pd.MultiIndex.from_frame(others.loc[:, ["experiment", "participant"]])).to_numpy(float)
        theirs = others["log_score"].to_numpy(float)
        wins = np.where(held > theirs, 1.0, np.where(held == theirs, 0.5, 0.0))
        by_person = pd.Series(wins).groupby([others["experiment"].to_numpy(), others["participant"].to_numpy()]).mean()
        shares = by_person.to_numpy(float)
        counts = resample_counts(len(shares), inference.resamples, seeded(seed, "identification", *key))
        low, high = interval_ends(resampled_means(shares, counts), len(shares), inference.level)
        row = dict(zip(CELL, key, strict=True)) | {"n_participants": len(shares), "n_donors": len(others)}
        yield row | {"share": float(shares.mean()), "low": float(low), "high": float(high)}


def _quantiles(read: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """How often the likeliest candidate was the answer, by bins of the share that it was given."""
    known = rows(read, (read["history"] == "human") & read["share_likeliest"].notna())
    for cell, part in _cells(known):
        share = part["share_likeliest"].to_numpy(float)
        place = np.minimum((share * BINS).astype(int), BINS - 1)
        for number in np.unique(place):
            own = rows(part, place == number)
            row = {**cell, "low": number / BINS, "high": (number + 1) / BINS, "n_marks": len(own)}
            yield row | {
                "foretold": float(own["share_likeliest"].mean()),
                "observed": float(own["is_likeliest"].astype(float).mean()),
            }
