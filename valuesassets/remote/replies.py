"""`ParsedResponse`: the content of one response of a model behind an API, whatever its interface."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from valuesassets.records.ends import End
from valuesassets.records.readouts import Generate, cut_at_stop
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.thoughts import NO_END, UNASKED, WHAT_TO_DO, Parted, part_thoughts
from valuesassets.records.trials import Status
from valuesassets.remote.cost import Usage
from valuesassets.remote.failures import WrongAnswer

Finish = Literal["end", "stop", "length"]
NO_USAGE = Usage()


@dataclass(frozen=True)
class ParsedResponse:
    """The content of a response; `text`, `finish` and `n_tokens` are None unless `status` is `ok` and it is a text.

    Attributes:
        log_probs: if probabilities were asked for, log-probability (nats) of each next token in the response, by its
            text, or by its id as `token_id:12`.
        may_hide_tokens: whether the response may have lost some tokens.
        is_cut_off: whether a failed one ran out of tokens within its thought: asked again, it would again.
    """

    status: Status
    reason: str | None = None
    text: str | None = None
    finish: Finish | None = None
    n_tokens: int | None = None
    reasoning: str | None = None
    n_reasoning_tokens: int | None = None
    model_version: str | None = None
    usage: Usage = NO_USAGE
    log_probs: Mapping[str, float] | None = None
    may_hide_tokens: bool = False
    is_cut_off: bool = False

    @property
    def is_final(self) -> bool:
        """Whether it is an answer, which is kept and not asked for again, or a failure that may pass."""
        return self.status is not Status.FAILED or self.is_cut_off


def cut(text: str, stop: tuple[str, ...], finish: Finish) -> tuple[str, Finish]:
    """A text up to the first stop text, and what ended it.

    >>> cut("Four. Five.", (" ",), "end"), cut("Four.", (" ",), "length")
    (('Four.', 'stop'), ('Four.', 'length'))
    """
    cut_text = cut_at_stop(text, stop)
    return (text, finish) if cut_text is None else (cut_text, "stop")


@dataclass(frozen=True)
class Reply:
    """A text as a model behind an API wrote it.

    Attributes:
        thought: what the server returned separately as thought.
        end, finish: how it ended, by our name and by the server's.
    """

    text: str
    thought: str
    end: End | None
    finish: object
    usage: Usage
    version: str | None


def parse_reply(reply: Reply, readout: Generate, prompting: Prompting, who: str) -> ParsedResponse:
    """Parse a text, and split off the thoughts in it; an empty text is an answer too.

    Raises:
        WrongAnswer: the text is empty, and the server does not say how it ended.
    """
    parted = part_thoughts(reply.text)
    thought = "\n\n".join(filter(None, (reply.thought, parted.reasoning)))
    fault = _ended_otherwise(reply, who) or _unasked_thought(reply, parted, prompting)
    if fault is not None:
        return _failed(reply, fault, thought or None)
    count = None if parted.tag else reply.usage.thought_tokens  # nobody counts the tokens of thoughts within a text
    if (fault := _unended(reply, parted, readout, prompting)) is not None:
        return replace(_failed(reply, fault, thought), n_reasoning_tokens=count, is_cut_off=True)
    if not parted.answer and reply.finish in (None, ""):
        raise WrongAnswer("the answer is empty")
    text, end = cut(parted.answer or "", readout.stop, "length" if reply.end == "length" else "end")
    reasoned = (thought, count) if prompting.thinking == "on" else (None, None)
    return ParsedResponse(Status.OK, None, text, end, reply.usage.output_tokens, *reasoned, reply.version, reply.usage)


def _failed(reply: Reply, fault: str, thought: str | None) -> ParsedResponse:
    return ParsedResponse(Status.FAILED, fault, reasoning=thought, model_version=reply.version, usage=reply.usage)


def thought_first(count: int) -> str:
    """Why next-token probabilities are not the answer's if a model thinks first, in words."""
    return (
        f"the model thought ({count} tokens) before it answered: no probability is the answer's; switch that off in "
        "the server's settings, or use a model that can answer at once"
    )


def _unasked_thought(reply: Reply, parted: Parted, prompting: Prompting) -> str | None:
    """The fault that a model thought although thinking is off, in words; an empty thought does not count."""
    count = reply.usage.thought_tokens or len(reply.thought.split())
    is_inline = parted.tag and (parted.reasoning or parted.answer is None)
    if prompting.thinking == "on" or not (count or is_inline):
        return None
    amount = f"{count} tokens" if count else parted.tag
    return f"the model thought ({amount}) {UNASKED}; {WHAT_TO_DO}"


def _unended(reply: Reply, parted: Parted, readout: Generate, prompting: Prompting) -> str | None:
    """Why a thought has no end within the allowed tokens; None where it has one, or the model does not think."""
    most, is_cut = readout.max_tokens + (prompting.max_reasoning_tokens or 0), reply.end == "length"
    raising = "raise max_tokens, or max_reasoning_tokens where it thinks"
    if prompting.thinking == "off":
        return None
    if parted.fault == NO_END:
        return f"{parted.fault}; {raising}"
    if is_cut and not reply.text:
        thought = f", {reply.usage.thought_tokens} of thought among them" if reply.usage.thought_tokens else ""
        return f"no answer within {most} tokens{thought}; {raising}"
    is_apart = reply.thought or reply.usage.thought_tokens or parted.tag
    if is_cut and not is_apart and reply.usage.output_tokens > readout.max_tokens:
        return f"{NO_END} in {reply.usage.output_tokens} tokens; {raising}"  # the template began the thought
    return None


def _ended_otherwise(reply: Reply, who: str) -> str | None:
    """Why a response with this end is no answer; None where it is one."""
    named = str(reply.finish)[:60]
    match reply.end:
        case "end" | "length":
            return None
        case "broken":
            return f"{who} stopped ({named}); run it again later"
        case "tool":
            return (
                f"{who} stopped ({named}): the model called a tool; let the server offer it none, or use another model"
            )
        case _:
            return (
                f"{who} stopped ({named}), an end that is not known here; see what {who} means by it: where it is an "
                "ordinary end, report it, else use another model"
            )
