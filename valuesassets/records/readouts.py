"""How a trial's answer is read: the probabilities of labels, those of candidates inside a text, or what is written.

Texts become vectors in a job of their own: what is embedded are texts that other steps have made (decision 022).
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
        labels: what a model may answer, in the order shown ("1".."K").
        values: the option code that stands behind each label in this trial's order.
    """

    labels: tuple[str, ...]
    values: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.labels) < 2 or len(set(self.labels)) < len(self.labels) or not all(self.labels):
            raise QuestionError(f"labels {self.labels}: two or more different, non-empty ones were expected")
        if sorted(set(self.values)) != sorted(self.values) or len(self.values) != len(self.labels):
            raise QuestionError(f"values {self.values}: one different option code for each of {self.labels}")


class Span(NamedTuple):
    """Where an answer stands in a prompt, characters from `start` to before `end`, and its set of candidates.

    Where nobody has answered, `end` is `start`. In a chat the answer is the assistant's turn of number `turn`, from 0;
    where that is left out, the turn of the span's own number. It begins at character `at` of that turn, or behind a
    space that stands there; where that is left out, its place in a turn that several spans share is looked for.
    """

    start: int
    end: int
    set: int
    turn: int | None = None
    at: int | None = None


def _require_parts(found: Any) -> Any:
    """See that a span is written as three to five numbers, or by their names."""
    if isinstance(found, dict) or (isinstance(found, list | tuple) and len(found) in (3, 4, 5)):
        return found
    shown = list(found) if isinstance(found, tuple) else found
    raise ValueError(f"an array of 3 to 5 numbers was expected (found {str(shown)[:60]})")


@checked_dataclass(frozen=True, config=pydantic.ConfigDict(extra="forbid"))
class ScoreSpans:
    """Read the probability of every candidate at every place of a text that somebody has answered at.

    Attributes:
        spans: in their order, none over another.
        sets: what may be answered at a span, spelled as it would stand there.
        close: texts that end an answer where one candidate goes on to another ("1" and "10"): the closing delimiter.
        history: what stands at the earlier spans: the answers `given`, or the model's `own`, drawn from the
            candidates' probabilities after renormalising.
        seed: of those draws; None takes the likeliest candidate each time, the first of those that are equally likely.
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
            twice = [text for text, times in Counter(candidates).items() if times > 1]
            if not candidates or not all(candidates):
                raise QuestionError(
                    f"sets.{number}: {'an empty candidate' if candidates else 'no candidate'}; give texts"
                )
            if twice:
                raise QuestionError(f"sets.{number}: candidate {twice[0]!r} stands there twice; name it once")
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
        temperature: of the draws; 0 takes the likeliest token each time.
        top_p: draw among the likeliest tokens that have this share of the probability together.
        samples: answers to the prompt; they differ by their draws alone.
        seed: of the draws.
        stop: texts that end an answer (`cut_at_stop`).
    """

    max_tokens: Annotated[int, pydantic.Field(ge=1)]
    temperature: Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)] = 1.0
    top_p: Annotated[float, pydantic.Field(gt=0, le=1)] = 1.0
    samples: Annotated[int, pydantic.Field(ge=1)] = 1
    seed: int = 0
    stop: tuple[Annotated[str, pydantic.Field(min_length=1)], ...] = ()


def cut_at_stop(text: str, stops: Sequence[str]) -> str | None:
    """A text up to the first place where one of the stop texts begins; None where none does.

    A stop text of white space alone, such as a line's end, counts behind the first visible character only: base models
    like to begin on a new line, and that is not their answer's end.

    >>> cut_at_stop("yes.\\nQ: no", ["Q:", "\\n"]), cut_at_stop("\\n\\nyes.\\nQ: no", ["\\n"])
    ('yes.', '\\n\\nyes.')
    """
    begun = len(text) - len(text.lstrip())
    places = [place for stop in stops if (place := text.find(stop, 0 if stop.strip() else begun)) >= 0]
    return text[: min(places)] if places else None


Readout = ScoreLabels | ScoreSpans | Generate
