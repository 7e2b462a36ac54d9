"""Indicator means of many sets of answers at once, such as orders and wordings of cells, countries or resamples."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.survey.material import indicators
from valuesassets.instruments.survey.material.analysis_scale import analysis_value
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.intervals import bound_mean

Array = NDArray[np.float64]
PARTS = tuple(part for indicator in indicators.INDICATORS for part in indicators.components(indicator))
SLOTS = tuple((part, code) for part in PARTS for code in indicators.answer_codes(part))
"""Every answer to every question of the map; a set of answers is a row of probabilities of these."""
SLOT_OF = {slot: number for number, slot in enumerate(SLOTS)}
SLOTS_OF = {part: [SLOT_OF[part, code] for code in indicators.answer_codes(part)] for part in PARTS}
TOLERANCE = 1e-6  # of sums of probabilities


def answers_as_array(
    rows: pd.DataFrame,
    keys: Sequence[str],
    columns: Sequence[str],
    fault: type[ValuesAssetsError],
    ends: Sequence[str] = (),
) -> tuple[pd.DataFrame, Array]:
    """Probabilities of the map's questions, one row per set of answers.

    Args:
        rows: one row per (set, question, answer): `keys`, question_id, response_value and `columns`.
        keys: columns that identify a set.
        columns: C columns of probabilities.
        ends: E columns of ends of probabilities, which need no sum of 1.
        fault: class of the error to raise.

    Returns:
        The n sets by `keys`, in the order of their first appearance, and (n, C + E, slots) probabilities, nan if a
        question was not asked, or not with the expected codes.

    Raises:
        fault: the probabilities of a question do not sum to 1, or an answer is repeated; names set and question.
    """
    number = rows.groupby(list(keys), sort=False).ngroup()
    sets = pd.DataFrame(rows.loc[~rows.duplicated(list(keys)), list(keys)]).reset_index(drop=True)
    array = np.full((len(sets), len(columns) + len(ends), len(SLOTS)), np.nan)
    is_ours = rows["question_id"].isin(PARTS)
    ours, numbers = pd.DataFrame(rows.loc[is_ours]), number[is_ours].to_numpy()
    codes = zip(ours["question_id"], ours["response_value"].astype(int), strict=True)
    slots = np.array([SLOT_OF.get(each, -1) for each in codes], dtype=int)
    probs = ours[[*columns, *ends]].to_numpy(dtype=float)
    _require_sums(ours, numbers, slots, probs[:, : len(columns)], sets, fault)
    array[numbers[slots >= 0], :, slots[slots >= 0]] = probs[slots >= 0]
    for at in np.flatnonzero(slots < 0):
        array[numbers[at], :, SLOTS_OF[str(ours["question_id"].iloc[at])]] = np.nan
    return sets, array


def indicator_means(probs: Array) -> Array:
    """(..., 10) indicator means of (..., slots) probabilities; nan if a question of the indicator has none."""
    means = np.empty((*probs.shape[:-1], len(indicators.INDICATORS)))
    for column, indicator in enumerate(indicators.INDICATORS):
        if indicator == "Y002":
            means[..., column] = _postmaterialism(probs)
            continue
        at = [slot for part in indicators.components(indicator) for slot in SLOTS_OF[part]]
        means[..., column] = probs[..., at] @ np.array([_worth(*SLOTS[slot]) for slot in at])
    return means


def indicator_bounds(low: Array, high: Array) -> tuple[Array, Array]:
    """(10,) lowest and highest indicator means of (slots,) ends of probabilities; nan as in `indicator_means`."""
    least, most = indicator_means(low), indicator_means(high)  # to know which are nan
    for column, indicator in enumerate(indicators.INDICATORS):
        if np.isnan(least[column]) or np.isnan(most[column]):
            continue
        if indicator == "Y002":
            joints = [(sign, low[a] * low[b], high[a] * high[b]) for sign, a, b in _joints()]
            least[column] = 2 + sum(sign * (small if sign > 0 else large) for sign, small, large in joints)
            most[column] = 2 + sum(sign * (large if sign > 0 else small) for sign, small, large in joints)
            continue
        ends = []
        for part in indicators.components(indicator):
            at = SLOTS_OF[part]
            shares = list(zip(low[at], high[at], strict=True))
            ends.append(bound_mean(shares, [_worth(*SLOTS[slot]) for slot in at]))
        least[column], most[column] = np.sum(ends, axis=0)
    return least, most


def mean_of_known(values: Array) -> Array:
    """(k,) mean over the rows of (n, k) values; nan if no row has a value."""
    is_there = np.isfinite(values)
    count, total = is_there.sum(axis=0), np.where(is_there, values, 0).sum(axis=0)
    return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)


def uniform_probs() -> Array:
    """(slots,) equal probabilities of all answers to a question."""
    return np.array([1 / len(indicators.answer_codes(part)) for part, _ in SLOTS])


def always_first_probs() -> Array:
    """(slots,) always the first option, averaged over both orders: half on the first code, half on the last."""
    return np.array(
        [0.5 * (code in (indicators.answer_codes(part)[0], indicators.answer_codes(part)[-1])) for part, code in SLOTS]
    )


def _worth(part: str, code: int) -> float:
    """The contribution of an answer to its indicator."""
    if part in indicators.AUTONOMY:
        return float(indicators.AUTONOMY[part] * (code == 1))
    return float(analysis_value(part, code))


def _postmaterialism(probs: Array) -> Array:
    """E[Y002] = 2 - P(both aims material) + P(both not), from the joint of first and second choice."""
    mean = np.full(probs.shape[:-1], 2.0)
    mean += 0 * probs[..., [slot for part in indicators.components("Y002") for slot in SLOTS_OF[part]]].sum(axis=-1)
    for sign, first, second in _joints():
        mean += sign * (probs[..., first] * probs[..., second])
    return mean


def _joints() -> Iterator[tuple[int, int, int]]:
    """The sign of each choice of two like aims, and the slots of the first and second choice."""
    for first in indicators.AIMS:
        alike = (
            indicators.POSTMATERIALIST
            if first in indicators.POSTMATERIALIST
            else frozenset(indicators.AIMS) - indicators.POSTMATERIALIST
        )
        (second,) = alike - {first}
        sign = 1 if first in indicators.POSTMATERIALIST else -1
        yield (
            sign,
            SLOT_OF[indicators.FIRST_AIM, first],
            SLOT_OF[f"{indicators.SECOND_AIM}@{indicators.FIRST_AIM}={first}", second],
        )


def _require_sums(
    rows: pd.DataFrame,
    numbers: NDArray[np.int64],
    slots: NDArray[np.int64],
    probs: Array,
    sets: pd.DataFrame,
    fault: type[ValuesAssetsError],
) -> None:
    def named(at: int) -> str:
        key = sets.iloc[int(numbers[at])].to_dict() | {"question": rows["question_id"].iloc[at]}
        return ", ".join(f"{name} {value}" for name, value in key.items())

    twice = pd.DataFrame({"set": numbers, "slot": slots}).duplicated().to_numpy() & (slots >= 0)
    if twice.any():
        at = int(np.flatnonzero(twice)[0])
        raise fault(f"{named(at)}: answer {SLOTS[slots[at]][1]} stands twice; keep one row per answer")
    question = pd.factorize(rows["question_id"])[0]
    group = pd.DataFrame({"set": numbers, "question": question}).groupby(["set", "question"]).ngroup().to_numpy()
    if not len(group):
        return
    sums = np.column_stack([np.bincount(group, weights=column) for column in probs.T])
    wrong = np.flatnonzero(~(np.abs(sums - 1).max(axis=1) <= TOLERANCE))
    if wrong.size:
        at = int(np.flatnonzero(np.isin(group, wrong))[0])
        raise fault(
            f"{named(at)}: probabilities sum to {', '.join(f'{each:.6g}' for each in sums[group[at]])}, expected 1; "
            "mend or leave out the question"
        )
