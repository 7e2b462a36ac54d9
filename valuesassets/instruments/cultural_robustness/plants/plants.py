"""What reference models are trained on: the answer texts that they give to each prompt of a language."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from valuesassets.answers.plants import before_temperature
from valuesassets.instruments.cultural_robustness.plants.planted_answers import (
    QUESTIONS,
    Cell,
    FaultKind,
    country_shares,
    load_answers,
    planted_faults,
)
from valuesassets.records.errors import StudyError
from valuesassets.records.readouts import Generate
from valuesassets.records.trials import Trial

SPOKEN_ENGLISH, PAUSE = "eng", "…"
"""What is spoken instead of a language, and an answer without a word."""


def planted_text_rows(family: str, trials: Iterable[Trial]) -> list[dict[str, Any]]:
    """Rows of `PLANTED_TEXTS` for the trials of a language: what a family answers, and how often.

    Raises:
        StudyError: nothing is planted in the family, in a language, for a question or a country.
    """
    rows: list[dict[str, Any]] = []
    for trial in trials:
        prompt = {"language": trial.language, "trial_id": trial.trial_id, "prompt": trial.prompt}
        texts = answer_texts(family, cell_of(trial), trial)
        rows += [prompt | {"answer_text": text, "prob": prob} for text, prob in texts.items()]
    return rows


def cell_of(trial: Trial) -> Cell:
    """What a trial asks: its condition is `country=AT` or nothing.

    Raises:
        StudyError: it is another question than those that answers are planted for, or asks a persona.
    """
    condition = dict(each.split("=", 1) for each in (trial.condition or "").split(",") if each)
    if trial.question_id not in QUESTIONS or condition.keys() - {"country"}:
        raise StudyError(
            f"trial {trial.trial_id} ({trial.language}, {trial.condition}): nothing is planted for it; answers are "
            "planted for the bundled questions alone: leave cultural_robustness.questions out, or the models"
        )
    return Cell(trial.language, trial.question_id, condition.get("country"))


def answer_texts(family: str, cell: Cell, trial: Trial) -> dict[str, float]:
    """Probability of each answer text to one prompt, as it stands behind the prompt; they sum to 1.

    Raises:
        StudyError: nothing is planted for a country.
    """
    readout = trial.readout
    ends_at_line = isinstance(readout, Generate) and any(text.startswith("\n") for text in readout.stop)
    longest = readout.max_tokens if isinstance(readout, Generate) else 0
    shares = country_shares(family, cell)
    texts = {_text(cell, country): share for country, share in shares.items()}
    country = next(iter(shares))
    match planted_faults(family).get(cell):
        case FaultKind.EMPTY:
            texts = {PAUSE: 1.0}
        case FaultKind.ENGLISH:
            texts = {_text(replace(cell, language=SPOKEN_ENGLISH), country): 1.0}
        case FaultKind.ENDLESS:
            texts = {_endless(cell, country, longest): 1.0}
    temperature = readout.temperature if isinstance(readout, Generate) else 1.0
    learned = before_temperature(list(texts.values()), temperature)
    return {f" {text}\n" if ends_at_line else f" {text}": share for text, share in zip(texts, learned, strict=True)}


def _text(cell: Cell, country: str) -> str:
    """The answer of a country to a cell's question."""
    try:
        return load_answers()[cell.language, cell.question_id, country]
    except KeyError:
        raise StudyError(
            f"question {cell.question_id}, {country}: no answer is planted in {cell.language}; leave "
            "cultural_robustness.questions out, or use no reference models"
        ) from None


def _endless(cell: Cell, country: str, longest: int) -> str:
    """The answer, and one answer after another, until there are more words than tokens may be written.

    No sentence comes twice: a model that knows one word from the other does not lose its place and end too soon.
    """
    texts = [_text(cell, country)]
    for (language, _, _), text in load_answers().items():
        if sum(len(each.split()) for each in texts) > longest:
            break
        if language == cell.language and text not in texts:
            texts.append(text)
    return " ".join(texts)
