"""`cultural_robustness/question_report`: every fault of the questions, by language and id, before anybody is asked."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from valuesassets.answers.language_codes import known_languages
from valuesassets.answers.spoken_language import foreign_language, is_in_other_script, n_letters
from valuesassets.instruments.cultural_robustness.material.questions import all_questions
from valuesassets.instruments.cultural_robustness.tables import QUESTION_REPORT
from valuesassets.records.frames import parts_of, records, rows

FEWEST_LETTERS = 20
"""Shorter prompts are judged by their script alone."""
Fault = dict[str, Any]


def report_questions(questions: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The faults of questions, none where each asks the same in its own language.

    A prompt or a kind that a language lacks and others have; a prompt in another language than its file; anchors of a
    question that read alike, or as the question without a country; questions that read alike, which is a warning: they
    count twice.

    Args:
        questions: by language, as `read_questions` gives them.

    Returns:
        Rows of `QUESTION_REPORT`.
    """
    prompts = all_questions(questions)
    faults = [*_lacking(prompts), *_foreign(prompts)]
    for (language,), part in parts_of(prompts, ["language"]):
        same, alike = _alike(language, part)
        faults += [*same, *alike]
    return QUESTION_REPORT.frame(faults).astype({"is_warning": bool})


def _fault(language: str, name: str | None, fault: str, what: str, is_warning: bool = False) -> Fault:
    return {"language": language, "id": name, "fault": fault, "is_warning": is_warning, "what": what}


def _lacking(prompts: pd.DataFrame) -> Iterator[Fault]:
    """What some languages have and one lacks; nothing of a kind that it lacks altogether but this."""
    for is_anchored, kind in ((False, "without a country"), (True, "with a country")):
        of_kind = rows(prompts, prompts["anchor"].notna() == is_anchored)
        by_language = {language: set(part["id"]) for (language,), part in parts_of(of_kind, ["language"])}
        everything = dict.fromkeys(of_kind["id"])
        for language in dict.fromkeys(prompts["language"]):
            if by_language and language not in by_language:
                others = ", ".join(by_language)
                yield _fault(language, None, "missing", f"no question {kind}, which {others} have; add the file")
                continue
            for name in everything:
                if name not in by_language.get(language, everything):
                    others = [other for other, names in by_language.items() if name in names]
                    yield _fault(language, name, "missing", f"stands in {', '.join(others)} and not here; add it")


def _foreign(prompts: pd.DataFrame) -> Iterator[Fault]:
    """Prompts that are in another language than their file."""
    among = {*prompts["language"], "eng"}
    for row in records(prompts):
        language, prompt = row["language"], row["prompt"]
        quote = prompt if len(prompt) <= 60 else f"{prompt[:59]}…"
        if spoken := foreign_language(prompt, language, among, FEWEST_LETTERS):
            what = f"is in {_name(spoken)}, {_name(language)} was expected: {quote!r}; translate it"
            yield _fault(language, row["id"], "foreign", what)
        elif n_letters(prompt) and is_in_other_script(prompt, language):
            what = f"is in another script than {_name(language)} is written in: {quote!r}; translate it"
            yield _fault(language, row["id"], "foreign", what)


def _name(language: str) -> str:
    entry = known_languages().get(language)
    return entry.names[0] if entry else language


def _alike(language: str, prompts: pd.DataFrame) -> tuple[list[Fault], list[Fault]]:
    """Anchors that do not differ, and pairs of questions that read alike, with how many of their anchors do too."""
    by_text: dict[str, list[dict[str, Any]]] = {}
    for row in records(prompts):
        by_text.setdefault(" ".join(row["prompt"].split()).casefold(), []).append(row)
    same: list[Fault] = []
    pairs: dict[tuple[str, str], list[bool]] = {}
    for equal_rows in by_text.values():
        by_question: dict[str, list[dict[str, Any]]] = {}
        for row in equal_rows:
            by_question.setdefault(row["question_id"], []).append(row)
        for first, *others in by_question.values():
            what = f"reads as {first['id']} does: its country is not said; say it"
            same += [_fault(language, row["id"], "same anchor", what) for row in others]
        one, *more = by_question
        for other in more:
            pairs.setdefault((one, other), []).extend(not pd.isna(row["anchor"]) for row in by_question[other])
    return same, [_read_alike(language, *pair, is_anchored) for pair, is_anchored in pairs.items()]


def _read_alike(language: str, one: str, other: str, is_anchored: Sequence[bool]) -> Fault:
    places = [] if all(is_anchored) else ["without a country"]
    places += [f"at {sum(is_anchored)} anchors"] if any(is_anchored) else []
    what = f"reads as question {one} does ({', '.join(places)}): what is said of one counts twice; mend one of the two"
    return _fault(language, other, "read alike", what, is_warning=True)


def count_faults(report: pd.DataFrame) -> tuple[int, int]:
    """How many errors and how many warnings a report has."""
    warnings = int(report["is_warning"].sum())
    return len(report) - warnings, warnings
