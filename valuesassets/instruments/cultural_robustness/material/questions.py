"""`cultural_robustness/questions`: everyday questions of each language, as they are (unanchored) and with a country."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from valuesassets.instruments.cultural_robustness.material.countries import Anchor, anchor_countries, load_countries
from valuesassets.instruments.cultural_robustness.material.language_files import (
    Line,
    find_files,
    read_lines,
    require_shared,
)
from valuesassets.records.errors import MissingData, QuestionError
from valuesassets.records.places import BUNDLED, given_or_bundled

COLUMNS = ["question_id", "anchor", "country", "persona", "prompt"]


def read_questions(folder: Path | str = BUNDLED, countries: Path | None = None) -> dict[str, pd.DataFrame]:
    """The questions of a folder by language (ISO 639-3): `question_id, anchor, country, persona, prompt`.

    Args:
        folder: of `<code>_unspecific.jsonl[.gz]` and `<code>_specific.jsonl[.gz]`, one kind of them or both; `bundled`
            for the project's own.
        countries: a CSV file that says what anchors are; `countries.csv` in the folder, or the published order if left
            out.

    Raises:
        QuestionError: a file or a line cannot serve; names file, line and what to do.
    """
    place = given_or_bundled(folder, "cultural_robustness", "questions")
    files = find_files(place, QuestionError)
    lines = read_lines(files, "prompt", QuestionError)
    if blank := next((line for line in lines if not line.content["prompt"].strip()), None):
        raise QuestionError(f"{blank.where} (id {blank.id}): no text under 'prompt', it is blank; write the question")
    require_shared(lines, QuestionError)
    meant = anchor_countries(lines, load_countries(countries, place, next(iter(files.values())).parent))
    by_language: dict[str, list[Line]] = {}
    for line in lines:
        by_language.setdefault(line.language, []).append(line)
    return {language: _frame(by_language[language], meant) for language in sorted(by_language)}


def _frame(lines: Sequence[Line], meant: Mapping[tuple[str, int], Anchor]) -> pd.DataFrame:
    """The questions of one language, by number, each before its anchors."""
    rows = []
    for line in sorted(lines, key=lambda line: (int(line.question_id), line.anchor or 0)):
        anchor = None if line.anchor is None else meant[line.question_id, line.anchor]
        country, persona = (None, None) if anchor is None else (anchor.country, anchor.persona)
        rows.append((line.question_id, line.anchor, country, persona, line.content["prompt"].strip()))
    frame = pd.DataFrame(rows, columns=pd.Index(COLUMNS))
    return frame.astype({"anchor": "Int64", "persona": "Int64", "country": object})


def prompt_ids(questions: pd.DataFrame) -> pd.Series:
    """The id of each prompt: `12`, and `12-7` with its 7th anchor."""
    anchors = questions["anchor"].astype("Int64").astype(object)
    ids = [
        str(question) if pd.isna(anchor) else f"{question}-{anchor}"
        for question, anchor in zip(questions["question_id"], anchors, strict=True)
    ]
    return pd.Series(ids, index=questions.index, dtype=object)


def all_questions(questions: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The questions of all languages in one frame, with a column `language` and the prompts' ids (`id`); MissingData
    where no language has any."""
    if not questions:
        raise MissingData("no language has questions yet; materialise questions first, or see why it failed")
    frames = [frame.assign(language=language, id=prompt_ids(frame)) for language, frame in questions.items()]
    return pd.DataFrame(pd.concat(frames, ignore_index=True), columns=pd.Index(["language", "id", *COLUMNS]))


def select_languages(questions: Mapping[str, pd.DataFrame], languages: Sequence[str]) -> dict[str, pd.DataFrame]:
    """The questions of some languages, in their order.

    Raises:
        QuestionError: there are none in one of them.
    """
    if lacking := [language for language in languages if language not in questions]:
        raise QuestionError(
            f"languages.{lacking[0]}: no questions in it, there are some in {', '.join(questions)}; add its files "
            "or leave the language out"
        )
    return {language: questions[language] for language in languages}
