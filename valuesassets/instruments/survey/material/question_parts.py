"""Puts stem, item and text of each question in their places.

In a list every record repeats the shared words, the stem; its own words are the item, and the text is both. Extractions
mix the three up, have a question number or a note as text, and put the ends of a scale in place of an item.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from valuesassets.instruments.survey.material.forms.layout.word_graph import words_of
from valuesassets.instruments.survey.material.forms.layout.wording import item_text, question_text, without_notes
from valuesassets.records.questions import Question, ResponseType, has_words, ten_point_scale

NUMBER_HEAD = re.compile(r"^\s*(?![vV]\d)([^\W\d_]{1,2}\s?\d+[a-zA-Z]?\d?)\b(?:\s+[A-Z]\b)?[-–.:)\]]*\s*")
"""A question's number before its words: `Q38`, `P9.`, `Q23 B`."""
FORM_NUMBER = re.compile(r"^\s*([^\W\d_]{1,2}\d{1,3}[a-z]?)(?:[.:)\]]|\s[-–]|(?=\s))+\s*(?=[^\w\s]*[^\W\d_a-z])")
"""The same in a form that declares its parts, where a sentence follows: no `A4 paper`, and no `In 2020`."""
SHARED_WORDS = 5  # least number of equal first words of neighbouring texts that are their stem
ENDS = re.compile(r"\s*(?:\.{3}|…)\s*")  # between the two ends of a scale in one line
WORD = re.compile(r"\w+")


def with_parts_in_place(questions: Sequence[Question]) -> Iterator[Question]:
    """Each question with its stem, its item and a text of both, by its neighbours; sound ones unchanged.

    The parts of a form that declares them stay, but for the number of the question.
    """
    lists = _Lists([_content(question) for question in questions])
    for place, question in enumerate(questions):
        if _is_of_form(question):
            yield _without_number(question)
        else:
            yield _composed(question, lists, place) if _is_muddled(question, lists, place) else question


def _is_of_form(question: Question) -> bool:
    """Whether a survey program's form gave the question, which names its missing answers even where it has none."""
    return "missing" in (question.model_extra or {})


def _without_number(question: Question) -> Question:
    """A form's question without the number before its words, which is its `source_id` if its id is another."""
    match = FORM_NUMBER.match(question.text)
    if match is None:
        return question
    parts = {
        name: FORM_NUMBER.sub("", part)
        for name, part in (("text", question.text), ("stem", question.stem), ("item", question.item))
        if part is not None
    }
    if printed_number(question.id) is None:
        parts["source_id"] = f"{match[1]} {question.source_id or question.id}".strip()
    return question.model_copy(update=parts)


def printed_number(text: str | None) -> str | None:
    """The question number at the beginning of a text, or None.

    >>> printed_number("Q38 How much confidence"), printed_number("How much")
    ('Q38', None)
    """
    match = NUMBER_HEAD.match(text or "")
    return match[1] if match else None


@dataclass(frozen=True)
class _Content:
    """A record's number; its text, stem and item without number, notes and repetitions; and its answer cue."""

    number: str | None
    parts: tuple[str, ...]
    cue: str


class _Lists:
    """The parts of a file's records, compared with their neighbours."""

    def __init__(self, contents: Sequence[_Content]) -> None:
        self.contents = contents
        self._keys = [{_key(part) for part in each.parts} for each in contents]
        self._cues = Counter(each.cue for each in contents)

    def own_cue(self, place: int) -> str:
        """The answer cue if no other record has it; it may be the end of a scale."""
        cue = self.contents[place].cue
        return cue if self._cues[cue] == 1 else ""

    def parts(self, place: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The parts that a record shares with its neighbours, and its own parts, in order."""
        content = self.contents[place]
        near = set().union(*(self._keys[other] for other in self._near(place)))
        shared = tuple(part for part in content.parts if _key(part) in near)
        own = tuple(dict.fromkeys(_without_head(part, shared) for part in content.parts if part not in shared))
        own = tuple(part for part in own if not any(part != other and _key(part) in _key(other) for other in own))
        if not own:
            return (), shared
        return self._divided(place, own[0]) if not shared and len(own) == 1 else (shared, own)

    def shares_all(self, place: int) -> bool:
        """Whether a neighbour has the same parts."""
        return any(self._keys[other] == self._keys[place] for other in self._near(place))

    def _near(self, place: int) -> list[int]:
        return [other for other in range(max(place - 2, 0), min(place + 3, len(self.contents))) if other != place]

    def _divided(self, place: int, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """A text cut after the first words that it shares with a neighbour."""
        words = text.split()
        common = 0
        for other in (place - 1, place + 1):
            if 0 <= other < len(self.contents) and self.contents[other].parts:
                theirs = max(self.contents[other].parts, key=len).split()
                shared = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(words, theirs, strict=False))
                common = max(common, len(list(shared)) if theirs != words else 0)
        if not SHARED_WORDS <= common < len(words):
            return (), (text,)
        return (" ".join(words[:common]),), (" ".join(words[common:]),)


def _is_muddled(question: Question, lists: _Lists, place: int) -> bool:
    """Whether text, stem and item are mixed up, or the text lacks one of them."""
    text = _key(question.text)
    strings = (question.text, question.stem or "", question.item or "")
    if any(NUMBER_HEAD.match(each) or without_notes(each) != re.sub(r"\s+", " ", each).strip() for each in strings):
        return True
    if not text or lists.shares_all(place):
        return not text
    if question.item and question.stem:
        return text not in {_joined(question.stem, question.item), _joined(question_text(question.stem, question.item))}
    return _joined(question.stem) != text if question.stem else _joined(question.item or "") not in text


def _content(question: Question) -> _Content:
    strings = [question.text, question.stem or "", question.item or ""]
    number = next(filter(None, map(printed_number, strings)), None)
    labels = {_key(option.label) for option in question.options}
    parts = _spoken(string for place, string in enumerate(strings) if place == 0 or _key(string) not in labels)
    return _Content(number, parts or _spoken(strings), without_notes(question.answer_cue or ""))


def _spoken(strings: Iterable[str]) -> tuple[str, ...]:
    """The strings without numbers, notes and repetitions."""
    parts: dict[str, str] = {}
    for string in strings:
        part = without_notes(NUMBER_HEAD.sub("", string))
        if sum(map(str.isalpha, part)) >= 2:
            parts.setdefault(_key(part), part)
    return tuple(parts.values())


def _composed(question: Question, lists: _Lists, place: int) -> Question:
    shared, unshared = lists.parts(place)
    changes: dict[str, object] = {}
    number = lists.contents[place].number
    if number and printed_number(question.id) is None:
        changes["source_id"] = f"{number} {question.source_id or question.id}".strip()
    stem = max(shared, key=len) if shared else None
    own = [part for part in unshared if part != stem]
    ends = _ends_of_scale(question, stem, own, lists.own_cue(place))
    if ends:
        changes["options"] = ten_point_scale(*ends)
        own = [part for part in own if part not in ends]
    item = item_text(" ".join(own)) if stem and own else None
    text = " ".join(own) if stem is None else question_text(stem, item)
    return question.model_copy(update=changes | {"text": text, "stem": stem if item else None, "item": item})


def _ends_of_scale(question: Question, stem: str | None, own: Sequence[str], cue: str) -> tuple[str, str] | None:
    """The meanings of 1 and 10 if no option has them: two opposite views, or the answer cue."""
    if question.response_type is not ResponseType.LIKERT10 or any(map(has_words, question.options)):
        return None
    written = ENDS.split(without_notes(question.answer_cue or ""))
    if len(written) == 2 and all(sum(map(str.isalpha, end)) >= 3 for end in written):
        return written[0], written[1]
    if stem and len(own) == 1 and len(words_of(cue)) >= 3:
        return own[0], cue
    return (own[0], own[1]) if stem and len(own) == 2 else None


def _without_head(part: str, shared: Sequence[str]) -> str:
    """A part without its shared first words; marks between words do not count."""
    for head in sorted(map(words_of, shared), key=len, reverse=True):
        ends = [match.end() for match in WORD.finditer(part)][: len(head)]
        if ends and words_of(part[: ends[-1]]) == head and ends[-1] < len(part.rstrip(" .?!…:")):
            return part[ends[-1] :].lstrip(' .?!…:,;)"”»')
    return part


def _key(text: str) -> str:
    return " ".join(words_of(text))


def _joined(*texts: str) -> str:
    return _key(" ".join(texts))
