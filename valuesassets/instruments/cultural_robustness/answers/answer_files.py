"""Answers of one model: those written here, and those made elsewhere, as one frame (`ANSWERED`)."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from valuesassets.answers.language_codes import language_code
from valuesassets.instruments.cultural_robustness.material.countries import Anchor, anchor_countries, load_countries
from valuesassets.instruments.cultural_robustness.material.language_files import (
    KINDS,
    Kind,
    Line,
    find_files,
    read_lines,
    require_shared,
)
from valuesassets.instruments.cultural_robustness.material.questions import all_questions
from valuesassets.instruments.cultural_robustness.tables import ANSWERED
from valuesassets.records.ends import end_of
from valuesassets.records.errors import InputError, MissingData
from valuesassets.records.frames import records
from valuesassets.records.parquet import read_answers
from valuesassets.records.thoughts import part_thoughts
from valuesassets.records.trials import Answer

Known = Mapping[tuple[str, str], Mapping[str, Any]]
"""Rows of `all_questions` by language and id."""


def read_answer_files(
    folder: Path, questions: Mapping[str, pd.DataFrame] | None = None, countries: Path | None = None
) -> pd.DataFrame:
    """Answers made elsewhere, from a folder of `<code>_{unspecific,specific}.jsonl[.gz]` (`id, answer[, sample]`).

    Args:
        questions: by language; without them prompts are missing, and no echo of one is found.
        countries: a CSV file that says what anchors are, where there are no questions.

    Returns:
        Rows of `ANSWERED`; `finish` is missing where `finish_reason` is.

    Raises:
        InputError: a file or a line cannot serve, or answers what is not asked; names file, line and what to do.
    """
    files = find_files(folder, InputError)
    lines = read_lines(files, "answer", InputError, beside="sample")
    for line in lines:
        _require_whole(line)
    require_shared(lines, InputError)
    known: Known = {}
    meant: Mapping[tuple[str, int], Anchor] = {}
    if questions is None:
        meant = anchor_countries(lines, load_countries(countries, folder, next(iter(files.values())).parent))
    else:
        known = _by_id(questions)
        for line in lines:
            _require_asked(line, questions, known)
    return _ordered([_row(line, known, meant) for line in lines])


def _by_id(questions: Mapping[str, pd.DataFrame]) -> Known:
    return {(row["language"], row["id"]): row for row in records(all_questions(questions))}


def _require_whole(line: Line) -> None:
    sample, finish = line.content.get("sample", 0), line.content.get("finish_reason")
    if not isinstance(sample, int) or isinstance(sample, bool) or sample < 0:
        raise InputError(f"{line.where}: sample {sample!r} found, a whole number from 0 was expected; mend it")
    if finish is not None and not isinstance(finish, str):
        raise InputError(
            f"{line.where}: finish_reason {finish!r} found, a text such as 'stop' or 'length' was expected"
        )


def _require_asked(line: Line, questions: Mapping[str, pd.DataFrame], known: Known) -> None:
    if (line.language, line.id) in known:
        return
    if line.language not in questions:
        there = f"there are no questions in {line.language}, only in {', '.join(questions)}"
        raise InputError(f"{line.where}: {there}; name questions that have it, or take the file away")
    raise InputError(
        f"{line.where}: id {line.id} is no question of {line.language}; name the questions that were answered, or "
        "mend the id"
    )


def _row(line: Line, known: Known, meant: Mapping[tuple[str, int], Anchor]) -> dict[str, Any]:
    asked = known.get((line.language, line.id), {})
    anchor = None if line.anchor is None else meant.get((line.question_id, line.anchor))
    said = anchor._asdict() if anchor else {name: asked.get(name) for name in ("country", "persona")}
    finish, reason = _finish(line.content.get("finish_reason"))
    text, fault = _without_thoughts(line.content["answer"])
    return {
        "language": line.language,
        "kind": line.kind,
        "id": line.id,
        "question_id": line.question_id,
        **said,
        "sample": line.content.get("sample", 0),
        "prompt": asked.get("prompt"),
        "text": text if reason is None else None,
        "finish": finish,
        "reason": reason or fault,
    }


def _finish(given: str | None) -> tuple[str | None, str | None]:
    """How an answer ended, and why there is none where its maker says something else, such as a refusal."""
    if given is None:
        return None, None
    end = end_of(given)
    if end in ("end", "length"):
        return end, None
    unknown = ", which is not known here; where it is an ordinary end, write stop in its place" if end is None else ""
    return None, f"finish_reason {given}{unknown}"


def _without_thoughts(text: str | None) -> tuple[str | None, str | None]:
    """An answer without thoughts that its maker left in it, and why there is none."""
    if text is None:
        return None, None
    parted = part_thoughts(text)
    return parted.answer, parted.fault


def read_written_answers(folder: Path, questions: Mapping[str, pd.DataFrame] | None) -> pd.DataFrame:
    """Answers that `valuesassets read` has written, from a folder of `<code>.parquet`, as rows of `ANSWERED`.

    Args:
        questions: by language; the files name prompts by their ids alone.

    Raises:
        InputError: no questions, a file's name is no language, or there are no questions in it.
        MissingData: an answer is to no prompt of the questions.
        StorageError: a file holds no answers.
    """
    paths = sorted(folder.glob("*.parquet"))
    if questions is None:
        raise InputError(f"{paths[0]}: names prompts by their ids alone; say which questions they are (--questions)")
    found = {}
    for path in paths:
        language = language_code(path.stem)
        if language is None or language not in questions:
            raise InputError(
                f"{path}: {path.stem} is none of the questions' languages ({', '.join(questions)}); call the file by "
                "its language, as deu.parquet"
            )
        found[language] = read_answers(path)
    return answered_frame(found, questions)


def answered_frame(answers: Mapping[str, Iterable[Answer]], questions: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Answers written here, by language, as rows of `ANSWERED`.

    Raises:
        MissingData: an answer is to no prompt of the questions; they have changed since.
    """
    known, found = _by_id(questions), []
    for language, given in answers.items():
        for answer in given:
            asked = known.get((language, answer.trial_id))
            if asked is None:
                raise MissingData(
                    f"answers in {language}: trial {answer.trial_id} is no question any more; make the answers again"
                )
            text, fault = _without_thoughts(answer.text)
            found.append(
                {
                    "language": language,
                    "kind": "unspecific" if pd.isna(asked["anchor"]) else "specific",
                    **{name: asked[name] for name in ("id", "question_id", "country", "persona", "prompt")},
                    "sample": answer.sample,
                    "text": text,
                    "finish": answer.finish,
                    "reason": answer.reason or fault,
                }
            )
    return _ordered(found)


def _place(language: str, kind: Kind, name: str, sample: int) -> tuple[str, int, int, int, int]:
    question, _, anchor = name.partition("-")
    return language, KINDS.index(kind), int(question), int(anchor or 0), sample


def _ordered(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    frame = ANSWERED.frame(rows)
    keys = [_place(*row) for row in zip(*(frame[name] for name in ("language", "kind", "id", "sample")), strict=True)]
    frame = frame.iloc[sorted(range(len(keys)), key=keys.__getitem__)].reset_index(drop=True)
    texts = ("country", "prompt", "text", "finish", "reason")
    frame[list(texts)] = frame[list(texts)].astype(object).where(frame[list(texts)].notna(), None)
    return frame.astype({"persona": "Int64", "sample": "int64"})
