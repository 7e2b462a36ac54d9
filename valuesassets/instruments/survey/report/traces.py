"""The parts of a trace, from a point of the map to the page of the form (see `provenance`)."""

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
        path: the PDF; None if it is missing or has changed.
        sha256: of the file when its questions were read.
        problem: why no page can be shown.
    """

    language: str
    source: str
    path: Path | None
    sha256: str
    problem: str | None


@dataclass(frozen=True)
class ModelTrace:
    """The identity of a model and its scorer; `template_sha256` is None if prompts have no chat template."""

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
    """One prompt and its reading, or the problem; `text` is the prompt as the model read it, or None if unknown."""

    trial: Trial
    reading: Reading | None
    text: str | None
    problem: str | None = None


@dataclass(frozen=True)
class Answer:
    """One answer of an item with its probabilities: averaged, and in both orders; None if unread."""

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
        standing: `usable`, `not asked`, or another status of the quality report.
        probes: one per wording.
        prompts: every wording and order.
        aligned: the question under its canonical id; None if the language lacks it.
        extracted: its records in the form, with page and box.
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
        """Probability of each answer, averaged over readable wordings; empty if unusable."""
        readable = [probe for probe in self.probes if probe.status == "ok"]
        if self.standing != "usable" or not readable:
            return {}
        probs = [[np.nan if answer.prob is None else answer.prob for answer in probe.answers] for probe in readable]
        means = np.mean(np.array(probs), axis=0)
        return {answer.value: float(mean) for answer, mean in zip(readable[0].answers, means, strict=True)}


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
    """A model's point with its provenance.

    Attributes:
        place: its row of the map by column; empty if it is not on the map.
        problems: broken links, in words.
    """

    model: str
    language: str
    place: Mapping[str, Any]
    identity: ModelTrace
    form: FormTrace
    indicators: tuple[IndicatorTrace, ...]
    problems: tuple[str, ...]
