"""What thinking models write before their answer, and where that ends."""

import re
from dataclasses import replace
from typing import NamedTuple

from valuesassets.records.trials import Answer, Status

_NAMES = (
    *("think", "thinking", "thought", "thoughts", "reasoning", "antthinking", "seed:think"),
    "think_never_used_[0-9a-f]+",
)
_NAMES_IN_FRONT = ("reason", "reflection", "analysis", "scratchpad")
"""Names of tags that mark a thought only where an answer begins with them."""


def _tags(name: str) -> tuple[str, str]:
    return rf"(?:<|&lt;){name}(?:\s[^<>]*)?(?:>|&gt;)", rf"(?:<|&lt;)/{name}\s*(?:>|&gt;)"


_FORMS = [
    *map(_tags, _NAMES),
    *((rf"\[{name}\]", rf"\[/{name}\]") for name in ("THINK", "THINKING", "REASONING")),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>(?:\s*<\|START_RESPONSE\|>)?"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>(?:\s*<\|begin_of_solution\|>)?"),
    (r"<\|think(?:ing)?\|>", r"<\|/think(?:ing)?\|>|<\|end\|>\s*<\|begin\|>assistant\s*<\|content\|>"),
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    ("◁think▷", "◁/think▷"),
    (r"<\|channel>thought", r"<channel\|>"),
    ("<unused94>(?:thought)?", "<unused95>"),
    (
        r"(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)[^<]*<\|message\|>",
        r"(?:<\|end\|>)?\s*(?:<\|start\|>assistant)?<\|channel\|>final[^<]*<\|message\|>",
    ),
]
"""What models begin to think with, and what ends it."""
_IN_FRONT = [
    *map(_tags, _NAMES_IN_FRONT),
    ("analysis(?-i:(?=[A-Z\"'“]))", r"assistantfinal(?-i:(?![a-z]))"),  # where a server leaves control tokens out
]
_OPENING = re.compile("|".join(f"(?:{opening})" for opening, _ in _FORMS), re.IGNORECASE)
_CLOSING = re.compile("|".join(f"(?:{closing})" for _, closing in _FORMS), re.IGNORECASE)
_PAIRS = [(re.compile(opening, re.IGNORECASE), closing) for opening, closing in [*_FORMS, *_IN_FRONT]]
_TAIL = re.compile(r"\s*(?:<\|(?:return|end|END_RESPONSE|end_of_solution)\|>\s*)+\Z", re.IGNORECASE)
"""Control tokens that end an answer behind a thought."""
LONGEST_END = 128
"""Bytes, and so tokens, that hold what ends a thought."""
WHAT_TO_DO = "say thinking = 'on', or use a model that can answer at once"
NO_END = "its thought has no end (a tag such as </think>)"


class Parts(NamedTuple):
    """What a thinking model wrote, in parts that make it up again; tags have the white space around them.

    Attributes:
        opening: empty where the template has begun the thought already.
        closing: empty, as the answer is, where the thought comes to no end.
    """

    opening: str
    reasoning: str
    closing: str
    answer: str


def split_thought(text: str) -> Parts:
    """What a model thought, and what it answered then.

    The first closing tag ends the thought: that of the tag which begins the text, or any where none does.

    >>> split_thought("<think>\\nTwo and two.\\n</think>\\n\\nFour.")
    Parts(opening='<think>\\n', reasoning='Two and two.', closing='\\n</think>\\n\\n', answer='Four.')
    >>> split_thought("Two and two.</think>Four.").answer, split_thought("<think>Two and").reasoning
    ('Four.', 'Two and')
    """
    begins = len(text) - len(text.lstrip())
    matches = ((opening.match(text, begins), closing) for opening, closing in _PAIRS)
    begun, ends = next(((found[0], closing) for found, closing in matches if found), ("", _CLOSING.pattern))
    form = rf"(\s*{re.escape(begun)}\s*)(.*?)(?:(\s*(?i:{ends})\s*)(.*)|\s*)"
    return Parts(*re.findall(rf"\A{form}\Z", text, re.DOTALL)[0])


def has_end(text: str) -> bool:
    """Whether anything in a text may end a thought."""
    return _CLOSING.search(text) is not None


def thought_tag(text: str) -> str | None:
    """What begins a thought in a text; None where nothing does."""
    found = _OPENING.search(text)
    return found[0] if found else None


def begins_thought(text: str) -> bool:
    """Whether a text ends within a thought.

    >>> begins_thought("Hi.<think>\\n"), begins_thought("Hi.<think>\\n\\n</think>\\n\\n")
    (True, False)
    """
    last = max((found.start() for found in _OPENING.finditer(text)), default=-1)
    return last > max((found.start() for found in _CLOSING.finditer(text)), default=-1)


class Parted(NamedTuple):
    """A text that may hold thoughts.

    Attributes:
        answer: the text without them; None where one has no end, or nothing stands behind them.
        reasoning: what was thought; empty where a thought is.
        tag: what marks the first; None where there is none.
        fault: why there is no answer, in words.
    """

    answer: str | None
    reasoning: str
    tag: str | None
    fault: str | None = None


def part_thoughts(text: str) -> Parted:
    """A text that somebody else may have left thoughts in, wherever they were begun, without them.

    >>> part_thoughts("<think>Two and two.</think>Four.")
    Parted(answer='Four.', reasoning='Two and two.', tag='<think>', fault=None)
    >>> part_thoughts("Four."), part_thoughts("<think>Two and").fault
    (Parted(answer='Four.', reasoning='', tag=None, fault=None), 'its thought has no end (a tag such as </think>)')
    """
    thoughts, rest, tag = list[str](), text, None
    while (parts := split_thought(rest)).closing:
        tag = tag or parts.opening.strip() or parts.closing.strip()
        thoughts.append(parts.reasoning)
        rest = _TAIL.sub("", parts.answer)
    reasoning = "\n\n".join(filter(None, thoughts))
    open_tag = parts.opening.strip() or thought_tag(rest)
    if open_tag:
        return Parted(None, "\n\n".join(filter(None, [reasoning, parts.reasoning])), tag or open_tag, NO_END)
    if tag is not None and not rest.strip():
        return Parted(None, reasoning, tag, "nothing stands behind its thought")
    return Parted(rest, reasoning, tag)


def unasked_thought(answer: Answer) -> str | None:
    """The tag of a thought in the text of a model that was not to think; None where there is none."""
    return None if answer.text is None or answer.reasoning is not None else part_thoughts(answer.text).tag


def without_thought(answer: Answer, named: str) -> Answer:
    """An answer as it is, or one that failed where a model thought that was not to.

    Args:
        named: what the answer is called in the reason.
    """
    tag = unasked_thought(answer)
    if tag is None:
        return answer
    return replace(
        answer,
        text=None,
        finish=None,
        n_tokens=None,
        status=Status.FAILED,
        reason=f"the model thought ({tag}) at {named} though thinking = 'off'; {WHAT_TO_DO}",
        reasoning=part_thoughts(answer.text or "").reasoning,
        n_reasoning_tokens=answer.n_tokens,
    )
