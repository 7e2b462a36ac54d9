"""Ratings that were made elsewhere: files of single ratings or of distributions, read and looked through."""

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
from valuesassets.instruments.worldvaluesbench.material.backgrounds import load_backgrounds
from valuesassets.instruments.worldvaluesbench.material.profiles import parse_profile, profile_key, profile_keys
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion
from valuesassets.records.errors import RatingsError
from valuesassets.records.frames import column
from valuesassets.records.table import SLACK

SCORES = ("question_id", "participant_id", "score")
DISTRIBUTIONS = ("question_id", "response_value", "prob")
ENDS = ("lo", "hi")
ORDERS = ("prob_forward", "prob_reversed")
PROMPTS = ("question_id", "profile", "p_valid", "forward", "reversed", "is_changed")
"""Of a prompt: P_valid, the expected rating in either order from 0 (lowest code) to 1, and whether the most probable
answer is another one in the other order."""
EMPTY = frozenset({"", "nan", "-nan", "none", "null", "na", "n/a", "#n/a", "<na>"})
"""What stands where there is no rating."""
SUM_TOLERANCE = 1e-3
"""How far from 1 probabilities may sum: ten of them, each rounded to four digits."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Scores:
    """Single ratings, each for one person.

    Attributes:
        source: where they come from, as messages name it.
        frame: `question_id`, `participant_id` (categories), `score` (NaN where there is none); a pair stands once.
    """

    source: str
    frame: pd.DataFrame


@dataclass(frozen=True)
class Distributions:
    """Distributions over the scale, each for one profile.

    Attributes:
        source: where they come from, as messages name it.
        attributes: what profiles name.
        profiles: by question, the P keys that it was asked with; an empty one is without attributes.
        probs: by question, (P, K), each summing to 1; NaN rows where the model's answer could not be read.
        n_draws: by question, (P,) how many drawn answers each is a count of; without questions where none was drawn.
        prompts: a row for each prompt (`PROMPTS`) by which the model is judged; without rows where the file does not
            tell the orders apart.
        n_low_p_valid: prompts whose P_valid is too low: their distributions are NaN rows.
    """

    source: str
    attributes: tuple[str, ...]
    profiles: Mapping[str, pd.Index]
    probs: Mapping[str, NDArray[np.float64]]
    n_draws: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    prompts: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=pd.Index(PROMPTS)))
    n_low_p_valid: int = 0


def read_ratings(
    given: Path | str | pd.DataFrame,
    name: str,
    questions: Mapping[str, ValueQuestion],
    least_p_valid: float = 0.0,
) -> Scores | Distributions:
    """Ratings of one model from a file, or from a frame of the same columns (or of `rating_distributions`).

    A file is TSV or CSV, whichever its first line is. An empty score (NaN, None) is missing; one off the scale stays.

    Args:
        name: of the model, as messages name a frame.
        questions: those that are known.
        least_p_valid: distributions of a lower P_valid, where the file has one, cannot be used.

    Raises:
        RatingsError: no header; an unknown question; a rating that is no whole number, or stands twice; a distribution
            that is off its scale or does not sum to 1. Names file, row (the header is row 1) and what to do.
    """
    if isinstance(given, pd.DataFrame):
        source, frame = f"ratings of {name}", given.reset_index(drop=True)
    else:
        source, frame = str(given), read_rating_table(Path(given), questions)
    frame = frame.rename(columns={each: str(each).lower() for each in frame if str(each).lower() in SCORES})
    if "prob" not in frame and "prob_averaged" in frame:
        frame = frame.rename(columns={"prob_averaged": "prob"})
    is_scores = set(SCORES) <= set(frame)
    if not is_scores and not set(DISTRIBUTIONS) <= set(frame):
        found = ", ".join(map(str, frame.columns[:5]))
        raise RatingsError(f"{source}: row 1: {found!r} is no header; {EXPECTED} was expected; add that line")
    if frame.empty:
        raise RatingsError(
            f"{source}: holds no rating below its header; a row for each was expected; name another file"
        )
    if is_scores:
        return _scores(source, frame, questions)
    return _distributions(source, frame, questions, least_p_valid)


def _scores(source: str, frame: pd.DataFrame, questions: Mapping[str, ValueQuestion]) -> Scores:
    asked = _texts(column(frame, "question_id"), _spelt)
    _require_known(source, asked, questions)
    people = _texts(column(frame, "participant_id"))
    _refuse(source, people == "", people, "PARTICIPANT_ID", "the id of a person was expected; add it")
    scores = _numbers(source, column(frame, "score"), "SCORE")
    _refuse(
        source, (scores % 1).fillna(0) != 0, scores, "SCORE", "a whole number was expected; round it, or leave it empty"
    )
    found = pd.DataFrame({"question_id": asked, "participant_id": people, "score": scores})
    _refuse_repeated(source, found, ["question_id", "participant_id"], "one rating of each person and question")
    return Scores(source, found)


def _distributions(
    source: str, frame: pd.DataFrame, questions: Mapping[str, ValueQuestion], least_p_valid: float
) -> Distributions:
    frame = _with_attributes_spelt(frame)
    attributes = [each.id for each in load_backgrounds().attributes if each.id in frame]
    unknown = [str(name) for name in frame.columns if name not in {*attributes, *DISTRIBUTIONS, *BESIDE, "n_draws"}]
    asked = _texts(column(frame, "question_id"), _spelt)
    if any("@" in each for each in asked.cat.categories):
        parts = {each: each.partition("@") for each in asked.cat.categories}
        keys = asked.map({each: profile_key(list(parse_profile(key).items())) for each, (_, _, key) in parts.items()})
        named = {name for _, _, key in parts.values() for name in parse_profile(key)}
        attributes = [each.id for each in load_backgrounds().attributes if each.id in named]
        asked = (
            asked.astype(object).map({each: question for each, (question, _, _) in parts.items()}).astype("category")
        )
    else:
        missing = {name: _texts(column(frame, name)).replace(dict.fromkeys(EMPTY, "")) for name in attributes}
        keys = profile_keys(pd.DataFrame(missing, index=frame.index), attributes)
    _require_known(source, asked, questions)
    values, probs = (
        _numbers(source, column(frame, "response_value"), "response_value"),
        _numbers(source, column(frame, "prob"), "prob"),
    )
    by_question = asked.astype(object)
    lo, hi = (by_question.map({name: getattr(each, end) for name, each in questions.items()}) for end in ("lo", "hi"))
    off = ~(values.between(lo, hi) & (values % 1 == 0))
    if off.any():
        at = int(np.flatnonzero(off)[0])
        shown = f"{values[at]:g} of {by_question[at]}"
        raise _fault(source, at, "response_value", shown, f"{lo[at]} to {hi[at]} was expected; mend it")
    _refuse(source, (probs < 0) | (probs > 1), probs, "prob", "a probability from 0 to 1 was expected; mend it")
    found = pd.DataFrame({"question_id": by_question, "profile": keys.astype(object), "value": values, "prob": probs})
    what_to_do = f"keep one; no attribute: {', '.join(unknown[:5])}" if unknown else "keep one"
    expected = "one row of each profile, question and answer"
    _refuse_repeated(source, found, ["question_id", "profile", "value"], expected, what_to_do)
    if "n_draws" in frame:
        found["n"] = _draws(source, column(frame, "n_draws"), probs)
    prompts = _prompts(source, frame, found, questions)
    n_low = 0
    if "p_valid" in frame:
        is_low = _shares(source, frame, "p_valid") < least_p_valid
        n_low = len(found.loc[is_low & found["prob"].notna(), ["question_id", "profile"]].drop_duplicates())
        found["prob"] = found["prob"].mask(is_low)
    profiles, arrays, draws = {}, {}, {}
    for name, part in found.groupby("question_id", sort=False):
        question = questions[str(name)]
        codes, distinct = pd.factorize(part["profile"])
        array = np.zeros((len(distinct), len(question.values)))
        array[codes, part["value"].to_numpy(int) - question.lo] = part["prob"].to_numpy(float)
        is_lacking = np.bincount(codes, weights=part["prob"].isna()) > 0
        total = np.where(is_lacking, 1, np.nansum(array, axis=1))
        if (wrong := np.abs(total - 1) > SUM_TOLERANCE).any():
            at = int(np.flatnonzero(wrong)[0])
            row = int(part.index.to_numpy()[np.flatnonzero(codes == at)[0]])
            shown = f"probabilities of {name} for {distinct[at] or 'no attributes'} sum to {total[at]:.4g}"
            raise RatingsError(f"{source}: row {row + 2}: {shown}, 1 was expected; give every answer, normalised")
        array[is_lacking] = np.nan
        profiles[str(name)], arrays[str(name)] = pd.Index(distinct), array / total[:, None]
        if "n" in part:
            draws[str(name)] = part.groupby(codes)["n"].min().to_numpy(float)
    return Distributions(source, tuple(attributes), profiles, arrays, draws, prompts, n_low)


def _prompts(
    source: str, frame: pd.DataFrame, found: pd.DataFrame, questions: Mapping[str, ValueQuestion]
) -> pd.DataFrame:
    """The rows of `PROMPTS`, of prompts that were read in both orders; none where the file does not tell them apart.

    Args:
        frame: as it was given; `found`: its rows' question, profile, value and probability.
    """
    if not set(ORDERS) <= set(frame):
        return pd.DataFrame(columns=pd.Index(PROMPTS))
    told = found.assign(**{name: _shares(source, frame, name) for name in ORDERS})
    told["p_valid"] = _shares(source, frame, "p_valid") if "p_valid" in frame else np.nan
    ends = [pd.Series({name: getattr(each, end) for name, each in questions.items()}) for end in ENDS]
    lo, hi = (each.reindex(told["question_id"]).to_numpy() for each in ends)
    unit = (told["value"] - lo) / (hi - lo)
    told = told.assign(**{name: told[of] * unit for name, of in zip(("forward", "reversed"), ORDERS, strict=True)})
    asked = told.groupby(["question_id", "profile"], sort=False)
    made = asked[["forward", "reversed"]].sum(min_count=1).assign(p_valid=asked["p_valid"].first())
    modes = [told.sort_values(["value"]).loc[lambda rows, of=of: rows[of].notna()] for of in ORDERS]
    likeliest = [
        each.loc[each.groupby(["question_id", "profile"])[of].idxmax()].set_index(["question_id", "profile"])["value"]
        for each, of in zip(modes, ORDERS, strict=True)
    ]
    made["is_changed"] = likeliest[0].reindex(made.index) != likeliest[1].reindex(made.index)
    return pd.DataFrame(made.dropna(subset=["forward", "reversed"]).reset_index()[list(PROMPTS)])


def _shares(source: str, frame: pd.DataFrame, name: str) -> pd.Series:
    """A column of probabilities, NaN where empty; what rounding has added to a sum of them is taken off."""
    shares = _numbers(source, column(frame, name), name)
    is_wrong = (shares < 0) | (shares > 1 + SLACK)
    _refuse(source, is_wrong, shares, name, "a probability from 0 to 1 was expected; mend it")
    return shares.clip(upper=1)


def _draws(source: str, given: pd.Series, probs: pd.Series) -> pd.Series:
    """How many drawn answers each row's distribution is a count of, 1 or more; anything where there is none."""
    draws = _numbers(source, given, "n_draws")
    is_wrong = probs.notna() & ~(draws >= 1)
    _refuse(source, is_wrong, draws, "n_draws", "how many answers were drawn was expected, 1 or more; mend it")
    return draws


def _with_attributes_spelt(frame: pd.DataFrame) -> pd.DataFrame:
    """The same with attributes' columns under their ids, whatever their case."""
    ids = {each.id.lower(): each.id for each in load_backgrounds().attributes}
    spelt = {name: ids[low] for name in frame if (low := str(name).lower()) in ids and ids[low] not in frame}
    return frame.rename(columns=spelt)


def _spelt(asked: str) -> str:
    """A question's id in capitals; a profile behind it stays."""
    question, at, profile = asked.partition("@")
    return question.upper() + at + profile


def _texts(given: pd.Series, spelt: Callable[[str], str] = str) -> pd.Series:
    """A column as categories of text; whole numbers lose `.0`."""
    categories = given.astype("category").cat
    texts = [spelt(re.sub(r"^(\d+)\.0+$", r"\1", str(each).strip())) for each in categories.categories]
    numbers = categories.codes.to_numpy()
    if (numbers < 0).any():
        texts.append("")  # which -1, a missing value, then stands for
    codes, distinct = pd.factorize(np.array(texts, dtype=object))
    return pd.Series(pd.Categorical.from_codes(codes[numbers], distinct), index=given.index)


def _numbers(source: str, given: pd.Series, name: str) -> pd.Series:
    """A column as numbers, NaN where it is empty; every distinct text is read once."""
    if pd.api.types.is_numeric_dtype(given):
        numbers = given.astype("Float64").to_numpy(float, na_value=np.nan)
        _refuse(source, pd.Series(np.isinf(numbers)), given, name, "a number was expected; mend it")
        return pd.Series(numbers)
    texts = _texts(given)
    read: list[float] = []
    for text in texts.cat.categories:
        if text.lower() in EMPTY:
            read.append(np.nan)
        elif _NUMBER.fullmatch(text) and np.isfinite(float(text)):
            read.append(float(text))
        else:
            _refuse(
                source, texts == text, texts, name, "a number was expected; mend it, or leave it empty if there is none"
            )
    return pd.Series(np.array([*read, np.nan])[texts.cat.codes.to_numpy()], index=given.index)


def _require_known(source: str, asked: pd.Series, questions: Mapping[str, ValueQuestion]) -> None:
    unknown = [each for each in asked.cat.categories if each not in questions]
    what_to_do = "ids such as Q1 to Q259, Q234A were expected; mend or remove it"
    _refuse(source, asked.isin(unknown), asked, "question_id", what_to_do)


def _refuse_repeated(
    source: str, found: pd.DataFrame, columns: Sequence[str], expected: str, what_to_do: str = "keep one"
) -> None:
    codes = np.zeros(len(found), dtype=np.int64)
    for name in columns:
        each, distinct = pd.factorize(found[name], use_na_sentinel=False)
        codes = codes * len(distinct) + each
    repeated = pd.Series(codes).duplicated()
    if repeated.any():
        at = int(np.flatnonzero(repeated)[0])
        first = int(np.flatnonzero(codes == codes[at])[0])
        shown = ", ".join(
            f"{found[name].iloc[at]:g}" if name == "value" else str(found[name].iloc[at]) for name in columns
        )
        raise RatingsError(
            f"{source}: row {at + 2}: {shown} stands in row {first + 2} too; {expected} was expected; {what_to_do}"
        )


def _refuse(source: str, mask: pd.Series, found: pd.Series, name: str, what_to_do: str) -> None:
    if mask.any():
        at = int(np.flatnonzero(mask)[0])
        raise _fault(source, at, name, found.iloc[at], what_to_do)


def _fault(source: str, at: int, name: str, found: Any, what_to_do: str) -> RatingsError:
    shown = f"{found:g}" if isinstance(found, float) else repr(str(found)[:60]) if str(found) == "" else str(found)[:60]
    return RatingsError(f"{source}: row {at + 2}: {name}: found {' '.join(shown.split())}, {what_to_do}")
