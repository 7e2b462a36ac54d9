"""Reads the answers of one model, written here or elsewhere, into one frame (`ANSWERED`)."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from valuesassets.answers.language_codes import language_code
from valuesassets.instruments.cultural_robustness.material.countries import Anchor, anchor_countries, load_countries
from valuesassets.instruments.cultural_robustness.material.language_files import (
    KINDS,
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

Prompts = Mapping[tuple[str, str], Mapping[str, Any]]
"""Rows of `all_questions` by language and prompt id."""


def read_answer_files(
    folder: Path, questions: Mapping[str, pd.DataFrame] | None = None, countries: Path | None = None
) -> pd.DataFrame:
    """Answers made elsewhere, from a folder of `<code>_{unspecific,specific}.jsonl[.gz]` (`id, answer[, sample]`).

    Args:
        questions: by language; without them prompts are missing, and echoes of a prompt are not detected.
        countries: a CSV file that says what anchors are, where there are no questions.

    Returns:
        Rows of `ANSWERED`; `finish` is missing where `finish_reason` is.

    Raises:
        InputError: a file or a line cannot be used, or answers no question; names file, line and what to do.
    """
    files = find_files(folder, InputError)
    lines = read_lines(files, "answer", InputError, beside="sample")
    for line in lines:
        _require_whole(line)
    require_shared(lines, InputError)
    prompts: Prompts = {}
    anchors: Mapping[tuple[str, int], Anchor] = {}
    if questions is None:
        anchors = anchor_countries(lines, load_countries(countries, folder, next(iter(files.values())).parent))
    else:
        prompts = _by_id(questions)
        for line in lines:
            _require_asked(line, questions, prompts)
    return _ordered([_row(line, prompts, anchors) for line in lines])


def _by_id(questions: Mapping[str, pd.DataFrame]) -> Prompts:
    return {(row["language"], row["id"]): row for row in records(all_questions(questions))}


def _require_whole(line: Line) -> None:
    sample, finish = line.content.get("sample", 0), line.content.get("finish_reason")
    if not isinstance(sample, int) or isinstance(sample, bool) or sample < 0:
        raise InputError(f"{line.where}: sample {sample!r} found, a whole number from 0 was expected; mend it")
    if finish is not None and not isinstance(finish, str):
        where, expected = line.where, "a text such as 'stop' or 'length' was expected"
        raise InputError(f"{where}: finish_reason {finish!r} found, {expected}")


def _require_asked(line: Line, questions: Mapping[str, pd.DataFrame], prompts: Prompts) -> None:
    if (line.language, line.id) in prompts:
        return
    if line.language not in questions:
        lack = f"there are no questions in {line.language}, only in {', '.join(questions)}"
        raise InputError(f"{line.where}: {lack}; name questions that have it, or take the file away")
    raise InputError(
        f"{line.where}: id {line.id} is no question of {line.language}; name the questions that were answered, or "
        "mend the id"
    )


def _row(line: Line, prompts: Prompts, anchors: Mapping[tuple[str, int], Anchor]) -> dict[str, Any]:
    prompt = prompts.get((line.language, line.id), {})
    anchor = None if line.anchor is None else anchors.get((line.question_id, line.anchor))
    country = anchor._asdict() if anchor else {name: prompt.get(name) for name in ("country", "persona")}
    finish, reason = _finish(line.content.get("finish_reason"))
    text, fault = _without_thoughts(line.content["answer"])
    return {
        "language": line.language,
        "kind": line.kind,
        "id": line.id,
        "question_id": line.question_id,
        **country,
        "sample": line.content.get("sample", 0),
        "prompt": prompt.get("prompt"),
        "text": text if reason is None else None,
        "finish": finish,
        "reason": reason or fault,
    }


def _finish(finish_reason: str | None) -> tuple[str | None, str | None]:
    """How an answer ended; and why it does not count where its model gives another reason, such as a refusal."""
    if finish_reason is None:
        return None, None
    end = end_of(finish_reason)
    if end in ("end", "length"):
        return end, None
    unknown = ", which is not known here; where it is an ordinary end, write stop in its place" if end is None else ""
    return None, f"finish_reason {finish_reason}{unknown}"


def _without_thoughts(text: str | None) -> tuple[str | None, str | None]:
    """An answer without the thoughts that were left in it, and why nothing remains."""
    if text is None:
        return None, None
    parts = part_thoughts(text)
    return parts.answer, parts.fault


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
    answers = {}
    for path in paths:
        language = language_code(path.stem)
        if language is None or language not in questions:
            raise InputError(
                f"{path}: {path.stem} is none of the questions' languages ({', '.join(questions)}); call the file by "
                "its language, as deu.parquet"
            )
        answers[language] = read_answers(path)
    return answered_frame(answers, questions)


def answered_frame(answers: Mapping[str, Iterable[Answer]], questions: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Answers written here, by language, as rows of `ANSWERED`.

    Raises:
        MissingData: an answer is to no prompt of the questions; they have changed since.
    """
    prompts, rows = _by_id(questions), []
    for language, written in answers.items():
        for answer in written:
            prompt = prompts.get((language, answer.trial_id))
            if prompt is None:
                raise MissingData(
                    f"answers in {language}: trial {answer.trial_id} is no question any more; make the answers again"
                )
            text, fault = _without_thoughts(answer.text)
            rows.append(
                {
                    "language": language,
                    "kind": "unspecific" if pd.isna(prompt["anchor"]) else "specific",
                    **{name: prompt[name] for name in ("id", "question_id", "country", "persona", "prompt")},
                    "sample": answer.sample,
                    "text": text,
                    "finish": answer.finish,
                    "reason": answer.reason or fault,
                }
            )
    return _ordered(rows)


def _place(row: Mapping[str, Any]) -> tuple[str, int, int, int, int]:
    question, _, anchor = row["id"].partition("-")
    return row["language"], KINDS.index(row["kind"]), int(question), int(anchor or 0), row["sample"]


def _ordered(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    frame = ANSWERED.frame(sorted(rows, key=_place))
    texts = ["country", "prompt", "text", "finish", "reason"]
    frame[texts] = frame[texts].astype(object).where(frame[texts].notna(), None)
    return frame.astype({"persona": "Int64", "sample": "int64"})
