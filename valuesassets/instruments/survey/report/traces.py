"""What a trace holds, from a point of the map down to the page (see `provenance`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from valuesassets.instruments.survey.material.analysis_scale import base_id
from valuesassets.records.questions import Question
from valuesassets.records.trials import Reading, Trial


@dataclass(frozen=True)
class FormTrace:
    """A language's questionnaire.

    Attributes:
        path: the PDF; None where there is none, or not the one that was read.
        sha256: of the file that the questions were read from.
        problem: why no page can be shown, in words.
    """

    language: str
    source: str
    path: Path | None
    sha256: str
    problem: str | None


@dataclass(frozen=True)
class ModelTrace:
    """What was read: hub id or folder, commit, hash of the weights, and by which version of the scorer.

    Attributes:
        template_sha256: of the chat template that prompts are rendered by; None where they are bare text.
    """

    model_id: str
    loaded_from: str
    revision: str | None
    weights_id: str
    tokenizer_sha256: str
    dtype: str
    scorer_version: str
    torch: str
    template_sha256: str | None


@dataclass(frozen=True)
class PromptTrace:
    """One prompt, word for word, and its reading; without a reading `problem` says why.

    Attributes:
        shown: what the model read, in a chat as its template renders it; None where that is not known.
    """

    trial: Trial
    reading: Reading | None
    shown: str | None
    problem: str | None = None


@dataclass(frozen=True)
class Answer:
    """One answer of an item: probability in both orders and averaged over the orders asked; None where unread."""

    value: int
    label: str
    prob: float | None
    prob_forward: float | None
    prob_reversed: float | None


@dataclass(frozen=True)
class ProbeTrace:
    """The row of `PROBE_DISTRIBUTIONS` of one item in one wording."""

    wording: int
    answers: tuple[Answer, ...]
    p_valid: float | None
    position_bias_magnitude: float | None
    status: str
    reason: str | None


@dataclass(frozen=True)
class ItemTrace:
    """One question as it was asked (`v111@v110=1`), from the printed form to the answer.

    Attributes:
        standing: usable, or why it is missing in every analysis (see the quality report); `not asked` where it is not
            in this language.
        probes: one per wording.
        prompts: every wording and order.
        aligned: the question under its canonical id; None where the language lacks it.
        extracted: the records of the form that it was made of, with page and box.
    """

    question_id: str
    standing: str
    reason: str | None
    probes: tuple[ProbeTrace, ...]
    prompts: tuple[PromptTrace, ...]
    aligned: Question | None
    extracted: tuple[Question, ...]
    problems: tuple[str, ...]

    @property
    def variable(self) -> str:
        """The canonical id of the question, without its condition."""
        return base_id(self.question_id)

    @property
    def probs(self) -> dict[int, float]:
        """Probability of each answer, mean over the wordings that could be read; empty where unusable."""
        read = [probe for probe in self.probes if probe.status == "ok"]
        if self.standing != "usable" or not read:
            return {}
        probs = [[np.nan if answer.prob is None else answer.prob for answer in probe.answers] for probe in read]
        means = np.mean(np.array(probs), axis=0)
        return {answer.value: float(mean) for answer, mean in zip(read[0].answers, means, strict=True)}


@dataclass(frozen=True)
class IndicatorTrace:
    """One of the ten indicators: its mean on the scale from `low` to `high`, or why it is missing."""

    code: str
    name: str
    mean: float | None
    low: float
    high: float
    reason: str | None
    items: tuple[ItemTrace, ...]


@dataclass(frozen=True)
class PointTrace:
    """A model's point and all that it rests on.

    Attributes:
        place: its row of the map, by column; empty where it is not on it.
        problems: links that do not hold, in words.
    """

    model: str
    language: str
    place: Mapping[str, Any]
    identity: ModelTrace
    form: FormTrace
    indicators: tuple[IndicatorTrace, ...]
    problems: tuple[str, ...]
