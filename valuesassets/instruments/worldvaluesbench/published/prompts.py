"""The prompts of Zhao et al. (2024), figures 5 to 10: a reason and a score in JSON, written by the model.

Questions, their scales and what people say of themselves are read from the user's own copy of the benchmark
(`seed_files`); nothing of it is bundled. The frame around them is in our words: it tells the same in the same order
(what the person said, question, length of the reason, form of the answer), keeps the two keys of the JSON object, and
differs between the figures as theirs does (`FIGURES`). What is missing of a person is left out, where theirs tells the
codebook's word for it. Who wants the published frames to the letter puts them beside the questions as `figure_5.txt` to
`figure_10.txt`, with `{attributes}` and `{question}` where these stand.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from valuesassets.instruments.worldvaluesbench.material.backgrounds import load_backgrounds
from valuesassets.instruments.worldvaluesbench.material.profiles import parse_profile
from valuesassets.records.errors import StudyError
from valuesassets.records.files import read_json, read_text
from valuesassets.records.readouts import Generate
from valuesassets.records.trials import Trial, asked_id

MOST_TOKENS = 200
"""Enough for a reason of 30 words and a score; the paper names no limit."""
STOP = ("\n\n",)
WITH_ATTRIBUTES = Generate(MOST_TOKENS, temperature=0, stop=STOP)
WITHOUT = Generate(MOST_TOKENS, temperature=0.7, samples=230, stop=STOP)
"""As often as people were asked each question of the probe; appendix B."""

_FORMS = ("JSON, pairs of key and value with commas between them", "this form")
_PLACE = re.compile(r"\{(?:attributes|question)\}")
_REASON, _SCORE = "thoughtful explanation", "answer as a score"


@dataclass(frozen=True)
class Frame:
    """What differs between the figures.

    Attributes:
        has_attributes: whether the person's attributes are named.
        is_json: whether the answer is asked for as JSON in words.
        is_whole: whether the score is asked for as a whole number.
    """

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
class SeedTexts:
    """What a user's copy of the benchmark says.

    Attributes:
        questions: text of each question by id, its scale in it.
        answers: what a code says, by attribute and code.
        frames: published prompts by figure, where the user has put them there.
    """

    questions: dict[str, str]
    answers: dict[str, dict[int, str]]
    frames: dict[int, str]


def read_seed_texts(folder: Path) -> SeedTexts:
    """The texts in a user's copy of `dataset_construction/`: `question_metadata.json` and `codebook.json`.

    Raises:
        StudyError: a file is absent or malformed, or an attribute is not in it; names file and key.
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
    return SeedTexts(questions, _labels(codebook, folder / "codebook.json"), frames)


def seed_prompt(texts: SeedTexts, figure: int, question_id: str, values: dict[str, str]) -> str:
    """The prompt of a figure.

    Args:
        values: of a profile, by attribute; none of them is shown in figures 9 and 10.

    Raises:
        StudyError: the copy lacks the question or an attribute.
    """
    lines = []
    for number, (name, value) in enumerate(values.items(), 1):
        known = texts.answers.get(name, {})
        answer = known.get(int(value), value) if value.isdecimal() else value
        lines.append(f"{number}. Question: {_asked(texts, name)}\n Answer: {answer}")
    frame = texts.frames.get(figure) or _frame(FIGURES[figure])
    said = {"{attributes}": "\n".join(lines), "{question}": _asked(texts, question_id)}
    return _PLACE.sub(lambda place: said[place[0]], frame)


def write_seed_trials(
    pairs: pd.DataFrame, texts: SeedTexts, figure: int, attributes: Sequence[str], seed: int = 0
) -> list[Trial]:
    """The trials of one figure: for each distinct pair, or for each question where the figure names no attributes.

    Args:
        pairs: `profile`, `question_id`.
        attributes: ids, in the order in which they are told.
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
    read = WITH_ATTRIBUTES if has_attributes else replace(WITHOUT, seed=seed)
    profiles = pairs["profile"] if has_attributes else [""] * len(pairs)
    trials = []
    for profile, question_id in dict.fromkeys(zip(profiles, pairs["question_id"], strict=True)):
        told = parse_profile(profile)
        values = {name: told[name] for name in attributes if name in told}
        named = asked_id(question_id, profile or None)
        trials.append(
            Trial(
                trial_id=f"{named}/figure_{figure}",
                question_id=question_id,
                language="eng",
                prompt=seed_prompt(texts, figure, question_id, values),
                order="forward",
                wording=figure,
                condition=profile or None,
                readout=read,
            )
        )
    return trials


def _frame(figure: Frame) -> str:
    """The frame of a figure in our words."""
    reason = "... at most 30 words, with the background in mind ..."
    score = f"... {'a whole number' if figure.is_whole else 'the score'} ..."
    form = f'{{\n "{_REASON}": "{reason}",\n "{_SCORE}": "{score}"\n}}'
    told = "In an interview, Person X told this about themselves:\n{attributes}\n\n" if figure.has_attributes else ""
    ask = "How would Person X answer this question, and for what reason?\nQuestion: {question}\n\n"
    guess = "" if figure.has_attributes else "Suppose a background for Person X and give the reason for the answer.\n\n"
    return f"{told}{ask}{guess}Give the answer as {_FORMS[0] if figure.is_json else _FORMS[1]}:\n{form}"


def _asked(texts: SeedTexts, name: str) -> str:
    if name not in texts.questions:
        raise StudyError(f"question_metadata.json: {name} is not in it; name the seed's own folder (seed_files)")
    return texts.questions[name]


def _labels(codebook: dict[str, Any], where: Path) -> dict[str, dict[int, str]]:
    """What codes of 0 and more say, of each attribute that the codebook has choices for."""
    found = {}
    for attribute in load_backgrounds().attributes:
        entry = codebook.get(attribute.id)
        choices = entry.get("choices") if isinstance(entry, dict) else None
        if not isinstance(choices, dict):
            raise StudyError(f"{where}: {attribute.id}.choices: an object was expected; name the seed's own codebook")
        found[attribute.id] = {int(code): str(said) for code, said in choices.items() if code.isdecimal()}
    return found


def _text_at(entry: Any, key: str, where: Path, name: str) -> str:
    text = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise StudyError(f"{where}: {name}.{key}: a text was expected; name the seed's own file")
    return text.strip()


def _read_object(path: Path) -> dict[str, Any]:
    content = read_json(path, StudyError)
    if not isinstance(content, dict):
        raise StudyError(f"{path}: {type(content).__name__} found, an object by question was expected")
    return content
