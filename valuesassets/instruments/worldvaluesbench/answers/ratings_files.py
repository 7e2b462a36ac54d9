"""Files of ratings from any source, with single ratings or distributions, read and checked."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.answers.rating_distributions import BESIDE
from valuesassets.instruments.worldvaluesbench.answers.rating_tables import EXPECTED, read_rating_table
from valuesassets.instruments.worldvaluesbench.material.backgrounds import (
    load_backgrounds,
    parse_profile,
    profile_key,
    profile_keys,
)
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion
from valuesassets.records.errors import RatingsError
from valuesassets.records.frames import column
from valuesassets.records.table import SLACK

SCORES = ("question_id", "participant_id", "score")
DISTRIBUTIONS = ("question_id", "response_value", "prob")

ORDERS = ("prob_forward", "prob_reversed")
PROMPTS = ("question_id", "profile", "p_valid", "forward", "reversed", "is_changed")
"""Columns of a table of prompts: P_valid, the expected rating in each order from 0 (lowest code) to 1, and whether the
most probable answer differs between orders."""
EMPTY = frozenset({"", "nan", "-nan", "none", "null", "na", "n/a", "#n/a", "<na>"})
"""Texts that mean a missing rating."""
SUM_TOLERANCE = 1e-3
"""The largest deviation of a sum of probabilities from 1: that of ten, each rounded to four digits."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Scores:
    """Single ratings: `question_id`, `participant_id` (categories), `score` (NaN if missing), a row for each pair."""

    source: str
    frame: pd.DataFrame


@dataclass(frozen=True)
class Distributions:
    """Distributions over the scale, each for one profile.

    Attributes:
        source: their origin, as messages name it.
        attributes: the attributes that profiles name.
        profiles: by question, the keys of its P profiles; an empty key is without attributes.
        probs: by question, (P, K), each row summing to 1; NaN if the model's answer could not be read.
        n_draws: by question, (P,) number of drawn answers in each distribution; only questions with drawn answers.
        prompts: a row of `PROMPTS` for each prompt; without rows if the file does not distinguish orders.
        n_low_p_valid: number of prompts with too low a P_valid; their distributions are NaN.
    """

    source: str
    attributes: tuple[str, ...]
    profiles: Mapping[str, pd.Index]
    probs: Mapping[str, NDArray[np.float64]]
    n_draws: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    prompts: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=pd.Index(PROMPTS)))
    n_low_p_valid: int = 0


def read_ratings(
    ratings: Path | str | pd.DataFrame,
    name: str,
    questions: Mapping[str, ValueQuestion],
    least_p_valid: float = 0.0,
) -> Scores | Distributions:
    """Ratings of one model from a TSV or CSV file, or from a frame of the same columns (or of `rating_distributions`).

    An empty score (NaN, None) is missing; a score off the scale is kept.

    Args:
        name: of the model, for messages about a frame.
        questions: all known questions by id.
        least_p_valid: distributions with a lower P_valid become NaN, if the file has P_valid.

    Raises:
        RatingsError: no header; an unknown question; a rating that is no whole number, or occurs twice; a distribution
            that is off its scale or does not sum to 1. Names file, row (the header is row 1) and what to do.
    """
    if isinstance(ratings, pd.DataFrame):
        source, frame = f"ratings of {name}", ratings.reset_index(drop=True)
    else:
        source, frame = str(ratings), read_rating_table(Path(ratings), questions)
    frame = frame.rename(columns={each: str(each).lower() for each in frame if str(each).lower() in SCORES})
    if "prob" not in frame and "prob_averaged" in frame:
        frame = frame.rename(columns={"prob_averaged": "prob"})
    is_scores = set(SCORES) <= set(frame)
    if not is_scores and not set(DISTRIBUTIONS) <= set(frame):
        header = ", ".join(map(str, frame.columns[:5]))
        raise RatingsError(f"{source}: row 1: {header!r} is no header; {EXPECTED} was expected; add that line")
    if frame.empty:
        raise RatingsError(
            f"{source}: holds no rating below its header; a row for each was expected; name another file"
        )
    if is_scores:
        return _scores(source, frame, questions)
    return _distributions(source, frame, questions, least_p_valid)


def _scores(source: str, frame: pd.DataFrame, questions: Mapping[str, ValueQuestion]) -> Scores:
    question_ids = _texts(column(frame, "question_id"), _spelt)
    _require_known(source, question_ids, questions)
    people = _texts(column(frame, "participant_id"))
    _refuse(source, people == "", people, "PARTICIPANT_ID", "the id of a person was expected; add it")
    scores = _numbers(source, column(frame, "score"), "SCORE")
    what_to_do = "a whole number was expected; round it, or leave it empty"
    _refuse(source, (scores % 1).fillna(0) != 0, scores, "SCORE", what_to_do)
    rows = pd.DataFrame({"question_id": question_ids, "participant_id": people, "score": scores})
    _refuse_repeated(source, rows, ["question_id", "participant_id"], "one rating of each person and question")
    return Scores(source, rows)


def _distributions(
    source: str, frame: pd.DataFrame, questions: Mapping[str, ValueQuestion], least_p_valid: float
) -> Distributions:
    frame = _with_attributes_spelt(frame)
    attributes = [each.id for each in load_backgrounds().attributes if each.id in frame]
    unknown = [str(name) for name in frame.columns if name not in {*attributes, *DISTRIBUTIONS, *BESIDE, "n_draws"}]
    question_ids = _texts(column(frame, "question_id"), _spelt)
    if any("@" in each for each in question_ids.cat.categories):
        parts = {each: each.partition("@") for each in question_ids.cat.categories}
        profiles_of_ids = {each: parse_profile(key) for each, (_, _, key) in parts.items()}
        keys = question_ids.map({each: profile_key(list(profile.items())) for each, profile in profiles_of_ids.items()})
        named = {name for profile in profiles_of_ids.values() for name in profile}
        attributes = [each.id for each in load_backgrounds().attributes if each.id in named]
        question_ids = question_ids.map({each: question for each, (question, _, _) in parts.items()}).astype("category")
    else:
        missing = {name: _texts(column(frame, name)).replace(dict.fromkeys(EMPTY, "")) for name in attributes}
        keys = profile_keys(pd.DataFrame(missing, index=frame.index), attributes)
    _require_known(source, question_ids, questions)
    values, probs = (_numbers(source, column(frame, name), name) for name in ("response_value", "prob"))
    by_question = question_ids.astype(object)
    lo, hi = (by_question.map({name: getattr(each, end) for name, each in questions.items()}) for end in ("lo", "hi"))
    off = ~(values.between(lo, hi) & (values % 1 == 0))
    if off.any():
        at = int(np.flatnonzero(off)[0])
        what = f"{values[at]:g} of {by_question[at]}"
        raise _fault(source, at, "response_value", what, f"{lo[at]} to {hi[at]} was expected; mend it")
    _refuse(source, (probs < 0) | (probs > 1), probs, "prob", "a probability from 0 to 1 was expected; mend it")
    rows = pd.DataFrame({"question_id": by_question, "profile": keys.astype(object), "value": values, "prob": probs})
    rows["unit"] = (values - lo) / (hi - lo)
    what_to_do = f"keep one; no attribute: {', '.join(unknown[:5])}" if unknown else "keep one"
    expected = "one row of each profile, question and answer"
    _refuse_repeated(source, rows, ["question_id", "profile", "value"], expected, what_to_do)
    if "n_draws" in frame:
        rows["n"] = _draws(source, column(frame, "n_draws"), probs)
    prompts = _prompts(source, frame, rows)
    n_low = 0
    if "p_valid" in frame:
        is_low = _shares(source, frame, "p_valid") < least_p_valid
        n_low = len(rows.loc[is_low & rows["prob"].notna(), ["question_id", "profile"]].drop_duplicates())
        rows["prob"] = rows["prob"].mask(is_low)
    profiles, arrays, draws = {}, {}, {}
    for name, part in rows.groupby("question_id", sort=False):
        question = questions[str(name)]
        codes, distinct = pd.factorize(part["profile"])
        array = np.zeros((len(distinct), len(question.values)))
        array[codes, part["value"].to_numpy(int) - question.lo] = part["prob"].to_numpy(float)
        is_lacking = np.bincount(codes, weights=part["prob"].isna()) > 0
        total = np.where(is_lacking, 1, np.nansum(array, axis=1))
        if (wrong := np.abs(total - 1) > SUM_TOLERANCE).any():
            at = int(np.flatnonzero(wrong)[0])
            row = int(part.index.to_numpy()[np.flatnonzero(codes == at)[0]])
            what = f"probabilities of {name} for {distinct[at] or 'no attributes'} sum to {total[at]:.4g}"
            raise RatingsError(f"{source}: row {row + 2}: {what}, 1 was expected; give every answer, normalised")
        array[is_lacking] = np.nan
        profiles[str(name)], arrays[str(name)] = pd.Index(distinct), array / total[:, None]
        if "n" in part:
            draws[str(name)] = part.groupby(codes)["n"].min().to_numpy(float)
    return Distributions(source, tuple(attributes), profiles, arrays, draws, prompts, n_low)


def _prompts(source: str, frame: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of `PROMPTS` for prompts that were read in both orders; none if the file does not distinguish orders.

    Args:
        frame: the table of the file; `rows`: its questions, profiles and values, and `unit`, the values from 0 to 1.
    """
    if not set(ORDERS) <= set(frame):
        return pd.DataFrame(columns=pd.Index(PROMPTS))
    shares = rows.assign(**{name: _shares(source, frame, name) for name in ORDERS})
    shares["p_valid"] = _shares(source, frame, "p_valid") if "p_valid" in frame else np.nan
    shares = shares.assign(forward=shares[ORDERS[0]] * shares["unit"], reversed=shares[ORDERS[1]] * shares["unit"])
    keys, modes = ["question_id", "profile"], []
    by_prompt = shares.groupby(keys, sort=False)
    prompts = by_prompt[["forward", "reversed"]].sum(min_count=1).assign(p_valid=by_prompt["p_valid"].first())
    for order in ORDERS:
        readable = shares.sort_values("value").loc[lambda table, order=order: table[order].notna()]
        mode = readable.loc[readable.groupby(keys)[order].idxmax()]
        modes.append(mode.set_index(keys)["value"].reindex(prompts.index))
    prompts["is_changed"] = modes[0] != modes[1]
    return pd.DataFrame(prompts.dropna(subset=["forward", "reversed"]).reset_index()[list(PROMPTS)])


def _shares(source: str, frame: pd.DataFrame, name: str) -> pd.Series:
    """A column of probabilities, NaN if empty; values that rounding has raised above 1 become 1."""
    shares = _numbers(source, column(frame, name), name)
    is_wrong = (shares < 0) | (shares > 1 + SLACK)
    _refuse(source, is_wrong, shares, name, "a probability from 0 to 1 was expected; mend it")
    return shares.clip(upper=1)


def _draws(source: str, numbers_of_draws: pd.Series, probs: pd.Series) -> pd.Series:
    """The number of drawn answers in each row's distribution, 1 or more; any value without a distribution."""
    draws = _numbers(source, numbers_of_draws, "n_draws")
    is_wrong = probs.notna() & ~(draws >= 1)
    _refuse(source, is_wrong, draws, "n_draws", "how many answers were drawn was expected, 1 or more; mend it")
    return draws


def _with_attributes_spelt(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with the columns of attributes renamed to their ids, without regard to case."""
    ids = {each.id.lower(): each.id for each in load_backgrounds().attributes}
    spelt = {name: ids[low] for name in frame if (low := str(name).lower()) in ids and ids[low] not in frame}
    return frame.rename(columns=spelt)


def _spelt(question_id: str) -> str:
    """A question's id in capitals; a profile after it is not changed."""
    question, at, profile = question_id.partition("@")
    return question.upper() + at + profile


def _texts(values: pd.Series, spelt: Callable[[str], str] = str) -> pd.Series:
    """A column as categories of text; whole numbers lose `.0`."""
    categories = values.astype("category").cat
    texts = [spelt(re.sub(r"^(\d+)\.0+$", r"\1", str(each).strip())) for each in categories.categories]
    numbers = categories.codes.to_numpy()
    if (numbers < 0).any():
        texts.append("")  # the last category, which -1 of a missing value selects
    codes, distinct = pd.factorize(np.array(texts, dtype=object))
    return pd.Series(pd.Categorical.from_codes(codes[numbers], distinct), index=values.index)


def _numbers(source: str, values: pd.Series, name: str) -> pd.Series:
    """A column as numbers, NaN if empty; each distinct text is parsed once."""
    if pd.api.types.is_numeric_dtype(values):
        numbers = values.astype("Float64").to_numpy(float, na_value=np.nan)
        _refuse(source, pd.Series(np.isinf(numbers)), values, name, "a number was expected; mend it")
        return pd.Series(numbers)
    texts = _texts(values)
    read_numbers: list[float] = []
    for text in texts.cat.categories:
        if text.lower() in EMPTY:
            read_numbers.append(np.nan)
        elif _NUMBER.fullmatch(text) and np.isfinite(float(text)):
            read_numbers.append(float(text))
        else:
            what_to_do = "a number was expected; mend it, or leave it empty if there is none"
            _refuse(source, texts == text, texts, name, what_to_do)
    return pd.Series(np.array([*read_numbers, np.nan])[texts.cat.codes.to_numpy()], index=values.index)


def _require_known(source: str, question_ids: pd.Series, questions: Mapping[str, ValueQuestion]) -> None:
    unknown = [each for each in question_ids.cat.categories if each not in questions]
    what_to_do = "ids such as Q1 to Q259, Q234A were expected; mend or remove it"
    _refuse(source, question_ids.isin(unknown), question_ids, "question_id", what_to_do)


def _refuse_repeated(
    source: str, rows: pd.DataFrame, columns: Sequence[str], expected: str, what_to_do: str = "keep one"
) -> None:
    codes = np.zeros(len(rows), dtype=np.int64)
    for name in columns:
        each, distinct = pd.factorize(rows[name], use_na_sentinel=False)
        codes = codes * len(distinct) + each
    repeated = pd.Series(codes).duplicated()
    if repeated.any():
        at = int(np.flatnonzero(repeated)[0])
        first = int(np.flatnonzero(codes == codes[at])[0])
        what = ", ".join(
            f"{rows[name].iloc[at]:g}" if name == "value" else str(rows[name].iloc[at]) for name in columns
        )
        raise RatingsError(
            f"{source}: row {at + 2}: {what} stands in row {first + 2} too; {expected} was expected; {what_to_do}"
        )


def _refuse(source: str, mask: pd.Series, values: pd.Series, name: str, what_to_do: str) -> None:
    if mask.any():
        at = int(np.flatnonzero(mask)[0])
        raise _fault(source, at, name, values.iloc[at], what_to_do)


def _fault(source: str, at: int, name: str, value: Any, what_to_do: str) -> RatingsError:
    text = f"{value:g}" if isinstance(value, float) else repr(str(value)[:60]) if str(value) == "" else str(value)[:60]
    return RatingsError(f"{source}: row {at + 2}: {name}: found {' '.join(text.split())}, {what_to_do}")
