"""`psych_tasks/prediction`: how well people's answers are foretold, and what of it is format, style or content.

A step of the ladder takes one history less another, over the same marks of the same participants: `format` (another's
answers before the mark, less none), `style` (one's own at the wrong places, less another's), `content` (one's own, less
one's own at the wrong places), `person` (one's own, less another's).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus
from valuesassets.instruments.psych_tasks.tables import GAIN_ROWS, IDENTIFICATION, PREDICTION_SCORES, QUANTILES
from valuesassets.measure.answer_frequencies import earlier_probs, fitted_mixture, tally_probs
from valuesassets.measure.log_score import gain, log_score, participant_means
from valuesassets.measure.means import Array
from valuesassets.measure.multiple_tests import CORRECTIONS
from valuesassets.measure.skewed_means import fewest_for, mean_test
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import column, parts_of, rows, rows_where
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
"""Answers alone, less what counting predicts."""
OVER = {name: f"over {name}" for name in ("uniform", "place", "crowd", "counting")}
"""By null the gain over it: a person's own history, less what knows nothing of the answer."""
STRENGTHS = (1.0, 4.0, 16.0)
"""Answers that others' tallies weigh as much as beside one's own, which are mixed."""
CELL = ["model", "task", "layout"]
BINS = 10
READING_ERROR = 1e-4
"""Nats by which a log share read in float32 may be off: a smaller difference is none."""


def derive_prediction(marks: pd.DataFrame, donors: pd.DataFrame, inference: Inference) -> dict[str, pd.DataFrame]:
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
        human = rows_where(part, history="human")
        nulls = null_logs(human) if len(human) else {}
        scores += [*_scores(cell, part, inference.level), *_nulls(cell, human, nulls)]
        gains += _gains(cell, part, nulls, inference.level)
    return {
        "scores": PREDICTION_SCORES.frame(scores),
        "gains": corrected(GAIN_ROWS.frame(gains), ["task", "layout", "gain"], inference),
        "identification": corrected(
            IDENTIFICATION.frame(list(_identification(donors, inference.level))), ["task", "layout"], inference
        ),
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


def _scores(cell: Mapping[str, Any], part: pd.DataFrame, level: float) -> Iterator[dict[str, Any]]:
    for history, asked in part.groupby("history", sort=False):
        row = {**cell, "history": history, "n_marks": len(asked)}
        try:
            log_k = participant_means(asked["log_k"].to_numpy(float), asked["person"].to_numpy())
            found = log_score(person_scores(asked), log_k, level)
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


def _nulls(cell: Mapping[str, Any], human: pd.DataFrame, logs: Mapping[str, Array]) -> Iterator[dict[str, Any]]:
    """What a model has to beat, of the marks that were read."""
    for name, log_probs in logs.items():
        log_k = participant_means(human["log_k"].to_numpy(float), human["person"].to_numpy())
        score = participant_means(log_probs, human["person"].to_numpy())
        skill = 1 + float(score.mean()) / float(log_k.mean())
        row = {**cell, "history": name, "n_marks": len(human), "n_participants": len(score)}
        yield row | {"log_score": float(score.mean()), "skill": skill}


def null_logs(human: pd.DataFrame) -> dict[str, Array]:
    """Log probability of each answer (nats) by what knows nothing of it; those that can be had.

    `uniform`: even chances. `place`: the model's own mean share of the answer's place at other marks of the kind, which
    is all that a model knows which goes by position. `crowd`: others' answers to the item, and to marks of that number.
    `counting`: the crowd, others' places, and one's own earlier answers and places. Crowd and counting are mixed with
    even chances by weights fitted on other people, so that they are no worse than these but for what the fit costs.

    Args:
        human: marks after people's own history, each once.

    Raises:
        MissingData: the marks do not say what may be answered there.
    """
    if "meanings" not in human or bool(human["meanings"].isna().to_numpy().any()):
        of = ", ".join(str(human[name].iloc[0]) for name in ("model", "task") if name in human)
        raise MissingData(
            f"{of}: these marks were read by an earlier version, which did not keep what may be answered at each; read "
            "them again"
        )
    k = human["n_candidates"].to_numpy(float)
    found = {"uniform": -np.log(k)}
    by_place = human["log_share_by_place"].to_numpy(dtype=float)
    if np.isfinite(by_place).all():
        found["place"] = by_place
    if human["person"].nunique() < 2:  # there is no crowd, and nobody to fit weights on
        return found
    ordered = human.sort_values(["person", "mark"], kind="stable")
    for name, probs in _tallied(ordered).items():
        found[name] = np.log(pd.Series(probs, index=ordered.index).reindex(human.index).to_numpy(float))
    return found


def _tallied(ordered: pd.DataFrame) -> dict[str, Array]:
    """Probability of each answer by others' answers (`crowd`), and by these and one's own (`counting`)."""
    people, kinds = ordered["person"].tolist(), ordered["kind"].tolist()
    meanings = [tuple(each) for each in ordered["meanings"]]
    answers = ordered["human_meaning"].tolist()
    places = [each.index(answer) for each, answer in zip(meanings, answers, strict=True)]
    every_place = [tuple(range(len(each))) for each in meanings]
    even = 1 / ordered["n_candidates"].to_numpy(float)

    def others(*keys: str) -> Array:
        groups = list(zip(*(ordered[key] for key in keys), strict=True))
        return tally_probs(people, groups, answers, meanings)

    tallies = {"even": even, "item": others("experiment", "item_id"), "number": others("experiment", "mark")}
    crowd = fitted_mixture(tallies, people).probs
    sized = list(zip(ordered["experiment"], kinds, map(len, meanings), strict=True))
    tallies |= {
        "answer": others("experiment", "kind"),
        "place": tally_probs(people, sized, places, every_place),
    }
    base = fitted_mixture(tallies, people).probs
    own = {
        f"{what} {strength:g}": earlier_probs(people, groups, said, offered, base, strength)
        for strength in STRENGTHS
        for what, groups, said, offered in (
            ("answers", kinds, answers, meanings),
            ("places", sized, places, every_place),
        )
    }
    return {"crowd": crowd, "counting": fitted_mixture({"base": base, **own}, people).probs}


def _gains(
    cell: Mapping[str, Any], part: pd.DataFrame, nulls: Mapping[str, Array], level: float
) -> Iterator[dict[str, Any]]:
    scores = dict(iter(part.groupby("history", sort=False)))
    for name, (more, less) in LADDER.items():
        if more in scores and less in scores:
            one, other = _same_marks(scores[more], scores[less])
            yield _gain({**cell, "gain": name, "more": more, "less": less}, one, other, level)
    human = scores.get("human", part.head(0))
    for name, logs in nulls.items():
        row = {**cell, "gain": OVER[name], "more": "human", "less": name}
        yield _gain(row, human, human.assign(log_share=logs), level)
    if "answers" in scores and "counting" in nulls:
        one, counted = _same_marks(scores["answers"], human.assign(log_share=nulls["counting"]))
        row = {**cell, "gain": SHORTCUT, "more": "answers", "less": "counting"}
        yield _gain(row, one, counted, level)


def _same_marks(one: pd.DataFrame, other: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The marks that both histories have."""
    keys = [pd.MultiIndex.from_frame(each.loc[:, ["person", "mark"]]) for each in (one, other)]
    return rows(one, keys[0].isin(keys[1])), rows(other, keys[1].isin(keys[0]))


def _gain(row: Mapping[str, Any], one: pd.DataFrame, other: pd.DataFrame, level: float) -> dict[str, Any]:
    try:
        found = gain(person_scores(one), person_scores(other), level)
    except MissingData as error:
        return {**row, "reason": str(error)}
    ends = {"low": found.low, "high": found.high, "p": found.p, "reason": found.reason}
    return {**row, "n_participants": found.n, "estimate": found.mean, **ends}


def corrected(found: pd.DataFrame, families: Sequence[str], inference: Inference) -> pd.DataFrame:
    """The p-values corrected over the rows that have these columns alike: all rows where none is named.

    Where there are too few participants for as many tests as are corrected together, the reason stands there instead.
    """
    found = found.reset_index(drop=True)
    p, n = (found[name].to_numpy(dtype=float, na_value=np.nan) for name in ("p", "n_participants"))
    reasons = found["reason"].astype(object).to_numpy(copy=True)
    corrected_p = np.full(len(found), np.nan)
    groups = found.groupby(list(families), sort=False).indices.values() if families else [np.arange(len(found))]
    for places in groups:
        made = places[np.isfinite(p[places])]
        fewest = fewest_for(len(made))
        for place in made[n[made] < fewest]:
            reasons[place] = (
                f"{n[place]:.0f} participants, {fewest} or more are needed where {len(made)} tests are corrected "
                "together"
            )
        p[made] = np.where(n[made] < fewest, np.nan, p[made])
        made = made[n[made] >= fewest]
        corrected_p[made] = CORRECTIONS[inference.correction](p[made])
    rejected = pd.Series(corrected_p <= inference.alpha, dtype=object)
    found = found.assign(p=p, reason=reasons, p_corrected=corrected_p)
    return found.assign(is_rejected=rejected.where(np.isfinite(corrected_p), None))


def _identification(donors: pd.DataFrame, level: float) -> Iterator[dict[str, Any]]:
    """Of other participants' histories, the share that foretells a person's answers worse than their own does."""
    for key, part in parts_of(donors, CELL) if len(donors) else ():
        is_own = part["donor"] == part["participant"]
        own = rows(part, is_own).set_index(["experiment", "participant"])["log_score"]
        others = rows(part, ~is_own)
        if others.empty:
            continue
        held = own.reindex(pd.MultiIndex.from_frame(others.loc[:, ["experiment", "participant"]])).to_numpy(float)
        theirs = others["log_score"].to_numpy(float)
        wins = np.where(np.abs(held - theirs) <= READING_ERROR, 0.5, held > theirs)
        by_person = pd.Series(wins).groupby([others["experiment"].to_numpy(), others["participant"].to_numpy()]).mean()
        shares = by_person.to_numpy(float)
        found = mean_test(shares - 0.5, level, "participants")
        low, high = (float(np.clip(0.5 + end, 0, 1)) for end in (found.low, found.high))
        row = dict(zip(CELL, key, strict=True)) | {"n_participants": len(shares), "n_donors": len(others)}
        yield row | {"share": 0.5 + found.mean, "low": low, "high": high, "p": found.p, "reason": found.reason}


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
