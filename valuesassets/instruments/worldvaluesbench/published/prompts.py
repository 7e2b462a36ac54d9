"""The prompts of Zhao et al. (2024), figures 5 to 10, to which a model writes a reason and a score in JSON.

The texts of questions and attributes are read from the user's copy of the benchmark (`seed_files`) and are not bundled.
The frame around them is in our words, with the same content in the same order, the two published keys of the JSON
object, and the published differences between figures (`FIGURES`). Missing attributes are left out; the published
prompts name them as the codebook does. To use the published frames, put them into the folder of the questions as
`figure_5.txt` to `figure_10.txt`, with `{attributes}` and `{question}` in the places of these texts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from valuesassets.instruments.worldvaluesbench.material.backgrounds import load_backgrounds, parse_profile
from valuesassets.records.errors import StudyError
from valuesassets.records.files import read_json, read_text
from valuesassets.records.readouts import Generate
from valuesassets.records.trials import Trial, asked_id

MOST_TOKENS = 200
"""The length of a reason of 30 words and a score; the paper names no limit."""
STOP = ("\n\n",)
WITH_ATTRIBUTES = Generate(MOST_TOKENS, temperature=0, stop=STOP)
WITHOUT = Generate(MOST_TOKENS, temperature=0.7, samples=230, stop=STOP)
"""As many samples as the probe has people for each question; appendix B."""


_PLACE = re.compile(r"\{(?:attributes|question)\}")
_REASON, _SCORE = "thoughtful explanation", "answer as a score"


@dataclass(frozen=True)
class Frame:
    """The differences between figures: whether the prompt names attributes, JSON, and a whole number as the score."""

    has_attributes: bool
    is_json: bool
    is_whole: bool


FIGURES = MappingProxyType(
    {
        5: Frame(has_attributes=True, is_json=True, is_whole=True),
        6: Frame(has_attributes=True, is_json=False, is_whole=True),
        7: Frame(has_attributes=True, is_json=False, is_whole=True),
        8: Frame(has_attributes=True, is_json=False, is_whole=False),
        9: Frame(has_attributes=False, is_json=True, is_whole=True),
        10: Frame(has_attributes=False, is_json=False, is_whole=False),
    }
)
"""By figure: 5 Alpaca, 6 Vicuna, 7 Mixtral, 8 GPT-3.5; without attributes 9 (the first three) and 10 (GPT-3.5)."""


@dataclass(frozen=True)
class PublishedTexts:
    """Texts of a user's copy: questions with their scales, labels by attribute and code, and prompts by figure."""

    questions: dict[str, str]
    answers: dict[str, dict[int, str]]
    frames: dict[int, str]


def read_published_texts(folder: Path) -> PublishedTexts:
    """The texts in a user's copy of `dataset_construction/`: `question_metadata.json` and `codebook.json`.

    Raises:
        StudyError: a file is missing or malformed, or lacks an attribute; names file and key.
    """
    metadata, codebook = (_read_object(folder / name) for name in ("question_metadata.json", "codebook.json"))
    where = folder / "question_metadata.json"
    questions = {name: _text_at(entry, "question", where, name) for name, entry in metadata.items()}
    frames = {}
    for figure, frame in FIGURES.items():
        path = folder / f"figure_{figure}.txt"
        if path.exists():
            frames[figure] = read_text(path, "the text of a prompt", StudyError).rstrip("\n")
            for place in ("{question}", *(["{attributes}"] if frame.has_attributes else [])):
                if place not in frames[figure]:
                    raise StudyError(f"{path}: {place} is not in it; put it where the text belongs")
    return PublishedTexts(questions, _labels(codebook, folder / "codebook.json"), frames)


def published_prompt(texts: PublishedTexts, figure: int, question_id: str, values: dict[str, str]) -> str:
    """The prompt of a figure for a profile, whose `values` by attribute figures 9 and 10 do not name.

    Raises:
        StudyError: the copy lacks the question or an attribute.
    """
    lines = []
    for number, (name, value) in enumerate(values.items(), 1):
        labels = texts.answers.get(name, {})
        answer = labels.get(int(value), value) if value.isdecimal() else value
        lines.append(f"{number}. Question: {_question_text(texts, name)}\n Answer: {answer}")
    frame = texts.frames.get(figure) or _frame(FIGURES[figure])
    texts_by_place = {"{attributes}": "\n".join(lines), "{question}": _question_text(texts, question_id)}
    return _PLACE.sub(lambda place: texts_by_place[place[0]], frame)


def write_published_trials(
    pairs: pd.DataFrame, texts: PublishedTexts, figure: int, attributes: Sequence[str], seed: int = 0
) -> list[Trial]:
    """The trials of one figure for each distinct pair, or for each question if the figure names no attributes.

    Args:
        pairs: `profile`, `question_id`.
        attributes: ids, in the order of the prompt.
        seed: of the draws of figures 9 and 10.

    Returns:
        Trials whose `wording` is the figure's number; a score in an answer is a code of the question's scale.

    Raises:
        StudyError: there is no such figure, or the copy lacks a question or an attribute.
    """
    if figure not in FIGURES:
        raise StudyError(f"figure {figure} found; one of {', '.join(map(str, FIGURES))} was expected")
    for name in attributes:
        load_backgrounds().attribute(name)
    has_attributes = FIGURES[figure].has_attributes
    readout = WITH_ATTRIBUTES if has_attributes else replace(WITHOUT, seed=seed)
    profiles = pairs["profile"] if has_attributes else [""] * len(pairs)
    trials = []
    for profile, question_id in dict.fromkeys(zip(profiles, pairs["question_id"], strict=True)):
        profile_values = parse_profile(profile)
        values = {name: profile_values[name] for name in attributes if name in profile_values}
        named = asked_id(question_id, profile or None)
        trials.append(
            Trial(
                trial_id=f"{named}/figure_{figure}",
                question_id=question_id,
                language="eng",
                prompt=published_prompt(texts, figure, question_id, values),
                order="forward",
                wording=figure,
                condition=profile or None,
                readout=readout,
            )
        )
    return trials


def _frame(figure: Frame) -> str:
    """The frame of a figure, in our words."""
    reason = "... at most 30 words, with the background in mind ..."
    score = f"... {'a whole number' if figure.is_whole else 'the score'} ..."
    kind = "JSON, pairs of key and value with commas between them" if figure.is_json else "this form"
    form = f'{{\n "{_REASON}": "{reason}",\n "{_SCORE}": "{score}"\n}}'
    background = (
        "In an interview, Person X told this about themselves:\n{attributes}\n\n" if figure.has_attributes else ""
    )
    ask = "How would Person X answer this question, and for what reason?\nQuestion: {question}\n\n"
    guess = "" if figure.has_attributes else "Suppose a background for Person X and give the reason for the answer.\n\n"
    return f"{background}{ask}{guess}Give the answer as {kind}:\n{form}"


def _question_text(texts: PublishedTexts, name: str) -> str:
    if name not in texts.questions:
        raise StudyError(f"question_metadata.json: {name} is not in it; name the published folder (seed_files)")
    return texts.questions[name]


def _labels(codebook: dict[str, Any], where: Path) -> dict[str, dict[int, str]]:
    """The labels of codes from 0 in the codebook, by attribute."""
    labels = {}
    for attribute in load_backgrounds().attributes:
        entry = codebook.get(attribute.id)
        choices = entry.get("choices") if isinstance(entry, dict) else None
        if not isinstance(choices, dict):
            raise StudyError(f"{where}: {attribute.id}.choices: an object was expected; name the published codebook")
        labels[attribute.id] = {int(code): str(label) for code, label in choices.items() if code.isdecimal()}
    return labels


def _text_at(entry: Any, key: str, where: Path, name: str) -> str:
    text = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise StudyError(f"{where}: {name}.{key}: a text was expected; name the published file")
    return text.strip()


def _read_object(path: Path) -> dict[str, Any]:
    content = read_json(path, StudyError)
    if not isinstance(content, dict):
        raise StudyError(f"{path}: {type(content).__name__} found, an object by question was expected")
    return content
