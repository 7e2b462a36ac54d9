"""`cultural_robustness/answer_quality`: which answers count, and what is wrong with the others."""

import functools
import unicodedata
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.answers.spoken_language import (
    DOUBT,
    can_be_told,
    is_in_other_script,
    language_chances,
    n_letters,
    script_share,
    scripts_of,
)
from valuesassets.answers.text_faults import echo, has_words, repetition
from valuesassets.instruments.cultural_robustness.tables import ANSWER_QUALITY
from valuesassets.records.frames import records

STATUSES = ("ok", "empty", "failed", "echo", "loop", "wrong_language", "truncated")
"""What an answer may be; the first fault that fits, in this order."""
FEWEST_LETTERS = 20
"""Shorter answers are judged by their script alone."""
LEAST_OWN_SCRIPT = 0.1
"""A longer text with a smaller share of letters of its language's scripts is in no language that can be recognised."""
PASSED_OVER = ("Z", "Cc", "Cf", "Mn")
"""Categories of characters that may follow an answer's last one: white space, direction marks, combining marks."""
KEY = ["language", "kind", "id", "sample"]


class Verdict(NamedTuple):
    """The status of an answer, the reason, and its likeliest language."""

    status: str
    reason: str | None
    spoken_language: str | None


def judge_answers(
    answered: pd.DataFrame, languages: Collection[str] | None = None, keep: Collection[str] = ()
) -> pd.DataFrame:
    """The status of every answer.

    `empty`: neither a word nor a single number. `failed`: nothing was written. `echo`: the beginning of its prompt, or
    hardly more than the prompt. `loop`: it repeats itself. `wrong_language`: its own language has a probability below
    1 % among the study's languages and English; with fewer than 20 letters, most of them are of another script.
    `truncated`: ended by its length; without a finish reason, its last character is no punctuation. It comes last,
    because more tokens remedy none of the others.

    Args:
        answered: rows of `ANSWERED`.
        languages: those of the study, ISO 639-3; those answered in if left out.
        keep: faults with which an answer counts; the faults that follow are still looked for.

    Returns:
        Rows of `ANSWER_QUALITY`, one for each answer, in the same order.
    """
    among = frozenset({*(languages or answered["language"].unique()), "eng"})
    verdicts = [judge(row, among, keep) for row in records(answered)]
    judged = pd.DataFrame(verdicts, columns=pd.Index(Verdict._fields), index=answered.index, dtype=object)
    return pd.DataFrame(pd.concat([answered[KEY], judged], axis=1), columns=pd.Index(ANSWER_QUALITY.names))


def judge(answer: dict[str, Any], among: Collection[str], keep: Collection[str] = ()) -> Verdict:
    """The status of one row of `ANSWERED`."""
    text, finish = _or_none(answer["text"]), _or_none(answer["finish"])
    if text is None:
        return Verdict("failed", _or_none(answer["reason"]) or "no answer was written", None)
    if not any(map(str.isalnum, text)):
        return Verdict("empty", f"no letter or digit in {text[:20]!r}" if text.strip() else "nothing but blanks", None)
    numbers = [part for part in text.split() if any(map(str.isdigit, part))]
    if not has_words(text) and len(numbers) != 1:
        return Verdict("empty", f"neither a word nor one number in {text[:20]!r}", None)
    language = answer["language"]
    spoken, foreign = _spoken(text, language, frozenset(among))
    prompt = _or_none(answer["prompt"])
    faults = {
        "echo": echo(text, [prompt]) if prompt else None,
        "loop": circles if (circles := repetition(text)) is None else f"goes round in circles: {circles}",
        "wrong_language": foreign,
        "truncated": _truncated(text, finish),
    }
    present = [(status, reason) for status, reason in faults.items() if reason]
    status, reason = next((fault for fault in present if fault[0] not in keep), present[0] if present else ("ok", None))
    return Verdict(status, reason, spoken)


def is_usable(quality: pd.DataFrame, keep: Collection[str] = ()) -> NDArray[np.bool_]:
    """Whether each answer counts: it is ok, or has a status that is kept and no other fault.

    Args:
        quality: from `judge_answers` with the same `keep`.
    """
    return np.isin(quality["status"].to_numpy(str), ["ok", *keep])


def _or_none(value: Any) -> Any:
    return None if pd.isna(value) else value


def _truncated(text: str, finish: str | None) -> str | None:
    """Why an answer is taken to be cut off."""
    if finish is not None:
        return "ended by its length" if finish == "length" else None
    written = (character for character in reversed(text) if not unicodedata.category(character).startswith(PASSED_OVER))
    last = next(written, "")
    return None if last and unicodedata.category(last).startswith("P") else f"ends in {last!r}, which is no punctuation"


@functools.lru_cache(maxsize=1 << 16)  # half of all answers with a country stand under another country too
def _spoken(text: str, language: str, among: frozenset[str]) -> tuple[str | None, str | None]:
    """The likeliest language of an answer, None where it has few letters; and why it is not its own."""
    if n_letters(text) < FEWEST_LETTERS or not can_be_told(language):
        reason = f"most letters are of another script than {' or '.join(scripts_of(language)).title()}"
        return None, reason if is_in_other_script(text, language) else None
    chances = language_chances(text, among | {language})
    spoken, own = next(iter(chances)), chances[language]
    if own < DOUBT:
        return spoken, f"is in {spoken}: {language} has a probability of {own:.2g}"
    share = script_share(text, scripts_of(language)) or 0.0
    if share < LEAST_OWN_SCRIPT:
        return None, f"{share:.0%} of its letters are {' or '.join(scripts_of(language)).title()}"
    return spoken, None
