"""`psych_tasks/prediction`: how well people's answers are predicted, and the shares of format, style and content.

A step of the ladder is the difference of two histories, over the same marks of the same participants: `format`
(another's answers before the mark, less none), `style` (one's own at the wrong places, less another's), `content`
(one's own, less one's own at the wrong places), `person` (one's own, less another's).
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
"""Each gain: the history with more information, and the one that it is compared with."""
SHORTCUT = "shortcut"
"""The gain of answers alone over counting."""
OVER = {name: f"over {name}" for name in ("uniform", "place", "crowd", "counting")}
"""The gain over each null: a person's own history, less a prediction without any information on the answer."""
STRENGTHS = (1.0, 4.0, 16.0)
"""Weights of others' tallies, in numbers of one's own answers; predictions with each are mixed."""
CELL = ["model", "task", "layout"]
BINS = 10
READING_ERROR = 1e-4
"""Error (nats) of a log share read in float32: a smaller difference is none."""


def derive_prediction(marks: pd.DataFrame, donors: pd.DataFrame, inference: Inference) -> dict[str, pd.DataFrame]:
    """Tables `scores` (by history), `gains` (the ladder), `identification` and `quantiles` (calibration).

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
        "identification": corrected(_identification(donors, inference.level), ["task", "layout"], inference),
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
    """Mean log share of each participant's answers (nats); all draws of the model's own answers have equal weight."""
    return participant_means(part["log_share"].to_numpy(float), part["person"].to_numpy())


def _scores(cell: Mapping[str, Any], part: pd.DataFrame, level: float) -> Iterator[dict[str, Any]]:
    for history, marks in part.groupby("history", sort=False):
        row = {**cell, "history": history, "n_marks": len(marks)}
        people = marks["person"].to_numpy()
        try:
            score = log_score(person_scores(marks), participant_means(marks["log_k"].to_numpy(float), people), level)
        except MissingData as error:
            yield row | {"reason": str(error)}
            continue
        row |= {"n_participants": score.n, "skill": score.skill, "log_score": score.mean}
        row |= {"log_score_low": score.low, "log_score_high": score.high}
        row |= {"skill_low": score.skill_low, "skill_high": score.skill_high}
        is_likeliest = marks["is_likeliest"].astype(float).to_numpy(float)
        yield row | {"accuracy": float(participant_means(is_likeliest, people).mean())}


def _nulls(cell: Mapping[str, Any], human: pd.DataFrame, logs: Mapping[str, Array]) -> Iterator[dict[str, Any]]:
    """Scores of the nulls, over the marks that were read."""
    for name, log_probs in logs.items():
        log_k = participant_means(human["log_k"].to_numpy(float), human["person"].to_numpy())
        score = participant_means(log_probs, human["person"].to_numpy())
        skill = 1 + float(score.mean()) / float(log_k.mean())
        row = {**cell, "history": name, "n_marks": len(human), "n_participants": len(score)}
        yield row | {"log_score": float(score.mean()), "skill": skill}


def null_logs(human: pd.DataFrame) -> dict[str, Array]:
    """Log probability of each answer (nats) by predictions without information on it, as far as the marks allow.

    `uniform`: even chances. `place`: the model's own mean share of the answer's place at other marks of the kind, which
    is all that a model uses which chooses by position. `crowd`: others' answers to the item, and to marks of that
    number. `counting`: the crowd, others' places, and one's own earlier answers and places. Crowd and counting are
    mixed with even chances by weights fitted on other people, so that only the fit can make them worse than these.

    Args:
        human: marks after people's own history, each once.

    Raises:
        MissingData: the candidates of the marks were not stored.
    """
    if "meanings" not in human or bool(human["meanings"].isna().to_numpy().any()):
        cell = ", ".join(str(human[name].iloc[0]) for name in ("model", "task") if name in human)
        raise MissingData(
            f"{cell}: these marks were read by an earlier version, which did not keep what may be answered at each; "
            "read them again"
        )
    k = human["n_candidates"].to_numpy(float)
    logs = {"uniform": -np.log(k)}
    by_place = human["log_share_by_place"].to_numpy(dtype=float)
    if np.isfinite(by_place).all():
        logs["place"] = by_place
    if human["person"].nunique() < 2:  # there is no crowd, and nobody to fit weights on
        return logs
    ordered = human.sort_values(["person", "mark"], kind="stable")
    for name, probs in _tallied(ordered).items():
        logs[name] = np.log(pd.Series(probs, index=ordered.index).reindex(human.index).to_numpy(float))
    return logs


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
    sources: dict[str, tuple[list[Any], list[Any], list[Any]]] = {
        "answers": (kinds, answers, meanings),
        "places": (sized, places, every_place),
    }
    own = {
        f"{name} {strength:g}": earlier_probs(people, *source, base, strength)
        for strength in STRENGTHS
        for name, source in sources.items()
    }
    return {"crowd": crowd, "counting": fitted_mixture({"base": base, **own}, people).probs}


def _gains(
    cell: Mapping[str, Any], part: pd.DataFrame, nulls: Mapping[str, Array], level: float
) -> Iterator[dict[str, Any]]:
    scores = dict(iter(part.groupby("history", sort=False)))
    for name, (more, less) in LADDER.items():
        if more in scores and less in scores:
            shared = _same_marks(scores[more], scores[less])
            yield _gain({**cell, "gain": name, "more": more, "less": less}, *shared, level)
    human = scores.get("human", part.head(0))
    for name, logs in nulls.items():
        row = {**cell, "gain": OVER[name], "more": "human", "less": name}
        yield _gain(row, human, human.assign(log_share=logs), level)
    if "answers" in scores and "counting" in nulls:
        shared = _same_marks(scores["answers"], human.assign(log_share=nulls["counting"]))
        yield _gain({**cell, "gain": SHORTCUT, "more": "answers", "less": "counting"}, *shared, level)


def _same_marks(more: pd.DataFrame, less: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The marks that both histories have."""
    keys = [pd.MultiIndex.from_frame(each.loc[:, ["person", "mark"]]) for each in (more, less)]
    return rows(more, keys[0].isin(keys[1])), rows(less, keys[1].isin(keys[0]))


def _gain(row: Mapping[str, Any], more: pd.DataFrame, less: pd.DataFrame, level: float) -> dict[str, Any]:
    try:
        difference = gain(person_scores(more), person_scores(less), level)
    except MissingData as error:
        return {**row, "reason": str(error)}
    ends = {"low": difference.low, "high": difference.high, "p": difference.p, "reason": difference.reason}
    return {**row, "n_participants": difference.n, "estimate": difference.mean, **ends}


def corrected(tests: pd.DataFrame, families: Sequence[str], inference: Inference) -> pd.DataFrame:
    """Tests with p-values corrected over the rows that share these columns; over all rows where none is named.

    A test with too few participants for the number of tests that are corrected together gets a reason instead.
    """
    tests = tests.reset_index(drop=True)
    p, n = (tests[name].to_numpy(dtype=float, na_value=np.nan) for name in ("p", "n_participants"))
    reasons = tests["reason"].astype(object).to_numpy(copy=True)
    corrected_p = np.full(len(tests), np.nan)
    groups = tests.groupby(list(families), sort=False).indices.values() if families else [np.arange(len(tests))]
    for places in groups:
        tested = places[np.isfinite(p[places])]
        fewest, together = fewest_for(len(tested)), f"where {len(tested)} tests are corrected together"
        too_few, tested = tested[n[tested] < fewest], tested[n[tested] >= fewest]
        p[too_few] = np.nan
        for place in too_few:
            reasons[place] = f"{n[place]:.0f} participants, {fewest} or more are needed {together}"
        corrected_p[tested] = CORRECTIONS[inference.correction](p[tested])
    rejected = pd.Series(corrected_p <= inference.alpha, dtype=object)
    tests = tests.assign(p=p, reason=reasons, p_corrected=corrected_p)
    return tests.assign(is_rejected=rejected.where(np.isfinite(corrected_p), None))


def _identification(donors: pd.DataFrame, level: float) -> pd.DataFrame:
    """The share of other participants' histories that predict a person's answers worse than the person's own does."""
    shares: list[dict[str, Any]] = []
    for key, part in parts_of(donors, CELL) if len(donors) else ():
        is_own = part["donor"] == part["participant"]
        own = rows(part, is_own).set_index(["experiment", "participant"])["log_score"]
        others = rows(part, ~is_own)
        if others.empty:
            continue
        people = pd.MultiIndex.from_frame(others.loc[:, ["experiment", "participant"]])
        gain_over_donor = own.reindex(people).to_numpy(float) - others["log_score"].to_numpy(float)
        wins = np.where(np.abs(gain_over_donor) <= READING_ERROR, 0.5, gain_over_donor > 0)
        by_person = pd.Series(wins).groupby([*map(people.get_level_values, range(2))]).mean().to_numpy(float)
        test = mean_test(by_person - 0.5, level, "participants")
        low, high = (float(np.clip(0.5 + end, 0, 1)) for end in (test.low, test.high))
        row = dict(zip(CELL, key, strict=True)) | {"n_participants": len(by_person), "n_donors": len(others)}
        shares.append(row | {"share": 0.5 + test.mean, "low": low, "high": high, "p": test.p, "reason": test.reason})
    return IDENTIFICATION.frame(shares)


def _quantiles(read: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """How often the likeliest candidate was the answer, by bins of its share."""
    human = rows(read, (read["history"] == "human") & read["share_likeliest"].notna())
    for cell, part in _cells(human):
        share = part["share_likeliest"].to_numpy(float)
        place = np.minimum((share * BINS).astype(int), BINS - 1)
        for number in np.unique(place):
            in_bin = rows(part, place == number)
            row = {**cell, "low": number / BINS, "high": (number + 1) / BINS, "n_marks": len(in_bin)}
            yield row | {
                "foretold": float(in_bin["share_likeliest"].mean()),
                "observed": float(in_bin["is_likeliest"].astype(float).mean()),
            }
