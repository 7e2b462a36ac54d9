"""How a trial's answer is read: probabilities of labels, probabilities of candidates inside a text, or written text.

Embedding is no readout but a separate job, since it embeds texts that other steps have produced (decision 022).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import pydantic
from pydantic.dataclasses import dataclass as checked_dataclass

from valuesassets.records.errors import QuestionError


@dataclass(frozen=True)
class ScoreLabels:
    """Read the probability that the answer is each of these labels.

    Attributes:
        labels: the possible answers, in the order shown ("1".."K").
        values: the option code of each label in this trial's order.
    """

    labels: tuple[str, ...]
    values: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.labels) < 2 or len(set(self.labels)) < len(self.labels) or not all(self.labels):
            raise QuestionError(f"labels {self.labels}: two or more different, non-empty ones were expected")
        if sorted(set(self.values)) != sorted(self.values) or len(self.values) != len(self.labels):
            raise QuestionError(f"values {self.values}: one different option code for each of {self.labels}")


class Span(NamedTuple):
    """The place of an answer in a prompt, characters from `start` to before `end`, and its set of candidates.

    Where there is no answer, `end` is `start`. In a chat the answer is in the assistant's turn number `turn`, from 0;
    by default the turn with the span's own number. It begins at character `at` of that turn, or after a space there;
    without `at`, its place is searched in a turn that several spans share.
    """

    start: int
    end: int
    set: int
    turn: int | None = None
    at: int | None = None


def _require_parts(span: Any) -> Any:
    """Require that a span is given as three to five numbers, or by the names of its fields."""
    if isinstance(span, dict) or (isinstance(span, list | tuple) and len(span) in (3, 4, 5)):
        return span
    parts = list(span) if isinstance(span, tuple) else span
    raise ValueError(f"an array of 3 to 5 numbers was expected (found {str(parts)[:60]})")


@checked_dataclass(frozen=True, config=pydantic.ConfigDict(extra="forbid"))
class ScoreSpans:
    """Read the probability of every candidate at every span of a text.

    Attributes:
        spans: in order, without overlap.
        sets: the sets of candidates, spelled as they would stand in the text.
        close: texts after an answer, such as the closing delimiter; they separate candidates such as "1" and "10".
        history: the answers at the earlier spans: those `given` in the text, or the model's `own`, drawn from the
            renormalised probabilities of the candidates.
        seed: random seed of these draws; None takes the likeliest candidate each time, the first of equal ones.
        as_published: also read each probability as published code computes it, for comparison
            (`Reading.label_probs_published`).
    """

    spans: tuple[Annotated[Span, pydantic.BeforeValidator(_require_parts)], ...]
    sets: tuple[tuple[str, ...], ...]
    close: tuple[str, ...] = ()
    history: Literal["given", "own"] = "given"
    seed: int | None = 0
    as_published: bool = False

    def __post_init__(self) -> None:
        if not self.spans:
            raise QuestionError("spans: none is given; name at least one")
        for number, candidates in enumerate(self.sets):
            repeated = [text for text, times in Counter(candidates).items() if times > 1]
            if not candidates or not all(candidates):
                raise QuestionError(
                    f"sets.{number}: {'an empty candidate' if candidates else 'no candidate'}; give texts"
                )
            if repeated:
                raise QuestionError(f"sets.{number}: candidate {repeated[0]!r} stands there twice; name it once")
        if self.as_published and self.history != "given":
            raise QuestionError("as_published reads behind given answers, history = 'own' has none; leave one out")
        if not all(self.close):
            raise QuestionError("close: an empty text ends every answer; leave it out")
        unknown = next((n for n, span in enumerate(self.spans) if not 0 <= span.set < len(self.sets)), None)
        if unknown is not None:
            raise QuestionError(
                f"spans.{unknown}: set {self.spans[unknown].set} is asked for, there are {len(self.sets)} (from 0)"
            )


@checked_dataclass(frozen=True, config=pydantic.ConfigDict(extra="forbid"))
class Generate:
    """Let the model write an answer.

    Attributes:
        max_tokens: most tokens of an answer.
        temperature: sampling temperature; 0 takes the likeliest token each time.
        top_p: sample from the likeliest tokens whose probabilities sum to this share.
        samples: number of answers to the prompt, which differ by sampling alone.
        seed: random seed.
        stop: texts that end an answer (see `cut_at_stop`).
    """

    max_tokens: Annotated[int, pydantic.Field(ge=1)]
    temperature: Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)] = 1.0
    top_p: Annotated[float, pydantic.Field(gt=0, le=1)] = 1.0
    samples: Annotated[int, pydantic.Field(ge=1)] = 1
    seed: int = 0
    stop: tuple[Annotated[str, pydantic.Field(min_length=1)], ...] = ()


def cut_at_stop(text: str, stops: Sequence[str]) -> str | None:
    """A text up to the first stop text in it; None where it has none.

    A stop text of white space alone, such as a line end, counts only after the first visible character, since base
    models often begin their answer on a new line.

    >>> cut_at_stop("yes.\\nQ: no", ["Q:", "\\n"]), cut_at_stop("\\n\\nyes.\\nQ: no", ["\\n"])
    ('yes.', '\\n\\nyes.')
    """
    begun = len(text) - len(text.lstrip())
    places = [place for stop in stops if (place := text.find(stop, 0 if stop.strip() else begun)) >= 0]
    return text[: min(places)] if places else None


Readout = ScoreLabels | ScoreSpans | Generate
