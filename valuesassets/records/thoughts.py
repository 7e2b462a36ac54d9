"""Separates the thoughts of thinking models from their answers."""

import re
from dataclasses import replace
from typing import NamedTuple

from valuesassets.records.trials import Answer, Status

_NAMES = (
    *("think", "thinking", "thought", "thoughts", "reasoning", "antthinking", "seed:think"),
    "think_never_used_[0-9a-f]+",
)
_NAMES_IN_FRONT = ("reason", "reflection", "analysis", "scratchpad")
"""Names of tags that mark a thought only at the beginning of a text."""


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
"""Patterns of the tags that begin and end a thought."""
_IN_FRONT = [
    *map(_tags, _NAMES_IN_FRONT),
    ("analysis(?-i:(?=[A-Z\"'“]))", r"assistantfinal(?-i:(?![a-z]))"),  # where a server leaves control tokens out
]
_OPENING = re.compile("|".join(f"(?:{opening})" for opening, _ in _FORMS), re.IGNORECASE)
_CLOSING = re.compile("|".join(f"(?:{closing})" for _, closing in _FORMS), re.IGNORECASE)
_PAIRS = [(re.compile(opening, re.IGNORECASE), closing) for opening, closing in [*_FORMS, *_IN_FRONT]]
_TAIL = re.compile(r"\s*(?:<\|(?:return|end|END_RESPONSE|end_of_solution)\|>\s*)+\Z", re.IGNORECASE)
"""Control tokens at the end of an answer that follows a thought."""
LONGEST_END = 128
"""Number of bytes, and therefore of tokens, that suffices for any tag that ends a thought."""
WHAT_TO_DO = "say thinking = 'on', or use a model that can answer at once"
UNASKED = "though thinking = 'off'"
"""Words in the reason of an answer with a thought that the study does not ask for."""
NO_END = "its thought has no end (a tag such as </think>)"


class Parts(NamedTuple):
    """The text of a thinking model in parts, whose concatenation is the text; tags include the white space around them.

    Attributes:
        opening: empty where the template has already opened the thought.
        closing: empty, like the answer, where the thought has no end.
    """

    opening: str
    reasoning: str
    closing: str
    answer: str


def split_thought(text: str) -> Parts:
    """Split a model's text into its thought and its answer.

    The first closing tag that matches the opening tag ends the thought; without an opening tag, any closing tag does.

    >>> split_thought("<think>\\nTwo and two.\\n</think>\\n\\nFour.")
    Parts(opening='<think>\\n', reasoning='Two and two.', closing='\\n</think>\\n\\n', answer='Four.')
    >>> split_thought("Two and two.</think>Four.").answer, split_thought("<think>Two and").reasoning
    ('Four.', 'Two and')
    """
    start = len(text) - len(text.lstrip())
    matches = ((opening.match(text, start), closing) for opening, closing in _PAIRS)
    opening_tag, ends = next(((match[0], closing) for match, closing in matches if match), ("", _CLOSING.pattern))
    form = rf"(\s*{re.escape(opening_tag)}\s*)(.*?)(?:(\s*(?i:{ends})\s*)(.*)|\s*)"
    return Parts(*re.findall(rf"\A{form}\Z", text, re.DOTALL)[0])


def has_end(text: str) -> bool:
    """Whether anything in a text may end a thought."""
    return _CLOSING.search(text) is not None


def thought_tag(text: str) -> str | None:
    """The first tag that opens a thought in a text; None where there is none."""
    match = _OPENING.search(text)
    return match[0] if match else None


def begins_thought(text: str) -> bool:
    """Whether a text ends within a thought.

    >>> begins_thought("Hi.<think>\\n"), begins_thought("Hi.<think>\\n\\n</think>\\n\\n")
    (True, False)
    """
    last = max((match.start() for match in _OPENING.finditer(text)), default=-1)
    return last > max((match.start() for match in _CLOSING.finditer(text)), default=-1)


class Parted(NamedTuple):
    """A text that may hold thoughts.

    Attributes:
        answer: the text without thoughts; None where a thought has no end or nothing follows it.
        reasoning: the text of the thoughts, which may be empty.
        tag: the tag of the first thought; None where there is none.
        fault: why there is no answer, in words.
    """

    answer: str | None
    reasoning: str
    tag: str | None
    fault: str | None = None


def part_thoughts(text: str) -> Parted:
    """Remove the thoughts from a text that another program produced.

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


def is_cut_off(answer: Answer) -> bool:
    """Whether an answer failed because its thought has no end within the allowed tokens: it would again."""
    has_thought = answer.status is Status.FAILED and answer.reasoning is not None
    return has_thought and UNASKED not in (answer.reason or "")


def unasked_thought(answer: Answer) -> str | None:
    """The tag of a thought in the text of a model that should not think; None where there is none."""
    return None if answer.text is None or answer.reasoning is not None else part_thoughts(answer.text).tag


def without_thought(answer: Answer, label: str) -> Answer:
    """The answer, or a failed one where a model thought that should not.

    Args:
        label: the answer's name in the reason.
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
        reason=f"the model thought ({tag}) at {label} {UNASKED}; {WHAT_TO_DO}",
        reasoning=part_thoughts(answer.text or "").reasoning,
        n_reasoning_tokens=answer.n_tokens,
    )
