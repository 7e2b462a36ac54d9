"""Finds the options for don't know, no answer and the like by their words, supported by their codes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from valuesassets.instruments.survey.material.forms.guessed_types import has_points, is_degree
from valuesassets.instruments.survey.material.forms.layout.word_graph import words_of
from valuesassets.instruments.survey.material.forms.own_numbers import carried
from valuesassets.records.lexicon import Lexicon
from valuesassets.records.questions import Option, has_words, is_missing_code, is_run

REMARK = re.compile(r"\s+[(\[].*?[)\]]|^[(\[][^)\]]*[)\]]\s*(?=\w)")
"""A remark in brackets beside a label: `(VOL)`, `[do not read]`."""
VOLUNTEERED = frozenset(("vol", "volunteered", "spontaneous", "unprompted", "dnr"))
LONGEST_LINK = 4  # letters of a word that may link two phrases: `or`, `und`, `или`
LONGEST_PHRASE = 8  # words
SHORTEST_SHARED = 4  # letters of a word by which a phrase belongs to the other answers: `not sure` beside `very sure`

ODD_CODE = "codes that don't know and no answer often have, but words of their own"
SHARED_WORDS = "words that say no answer, but that other answers have too"
IN_THE_MIDDLE = "words that say no answer, but a place between others, as a middle answer has"

Phrase = tuple[str, ...]


@dataclass(frozen=True)
class MissingWords:
    """A language's phrases for no answer: `missing` ones anywhere, `unsure` ones as the last options."""

    language: str
    missing: frozenset[Phrase] = frozenset()
    unsure: frozenset[Phrase] = frozenset()

    @classmethod
    def of(cls, lexicon: Lexicon | None, language: str) -> "MissingWords":
        """The phrases of a lexicon, if there is one."""
        if lexicon is None:
            return cls(language)
        missing, unsure = lexicon.missing_answers, lexicon.unsure_answers
        return cls(language, frozenset(map(_words, missing)), frozenset(map(_words, unsure)))

    def says(self, label: str) -> frozenset[Phrase] | None:
        """The phrases that a label consists of; None if it has other words.

        >>> words = MissingWords("eng", frozenset({("dk",), ("refused",)}))
        >>> sorted(words.says("DK/Refused (VOL)")), words.says("Refused by both")
        ([('dk',), ('refused',)], None)
        """
        own = carried(label)
        for each in (label, *([own[1]] if own else [])):
            for written in dict.fromkeys((each, REMARK.sub("", each))):
                if (phrases := self._phrases_in(_words(written))) is not None:
                    return phrases
        return None

    def _phrases_in(self, words: Phrase) -> frozenset[Phrase] | None:
        """The phrases that some words consist of, possibly linked by a short word; None if they do not."""
        words = tuple(word for word in words if word not in VOLUNTEERED)
        all_phrases = self.missing | self.unsure
        ways: list[frozenset[Phrase] | None] = [frozenset()]
        for end in range(1, len(words) + 1):
            way = None
            for start in range(max(0, end - LONGEST_PHRASE), end):
                if words[start:end] not in all_phrases:
                    continue
                is_linked = start > 1 and len(words[start - 1]) <= LONGEST_LINK and ways[start - 1]
                before = ways[start] if ways[start] is not None else ways[start - 1] if is_linked else None
                if before is not None:
                    way = before | {words[start:end]}
            ways.append(way)
        return ways[-1] or None


@dataclass(frozen=True)
class Sorted:
    """A question's options that are, or may be, no answers.

    Attributes:
        worded: options whose words say no answer.
        coded: options with a usual code of no answer, without words or beside all answers of the question.
        doubtful: options that stay answers, each with the reason for doubt.
    """

    worded: list[Option] = field(default_factory=list)
    coded: list[Option] = field(default_factory=list)
    doubtful: list[tuple[Option, str]] = field(default_factory=list)


def sort_options(options: Sequence[Option], words: MissingWords, count: int | None) -> Sorted:
    """The options of a question that are no answers; `count` is its number of answers by variable or type."""
    count, is_counted = count or len(options), count is not None
    result = Sorted()
    phrases = {option: words.says(option.label) for option in options}
    answers = [option for option in options if phrases[option] is None]
    last = max((place for place, option in enumerate(options) if phrases[option] is None), default=-1)
    first = next((place for place, option in enumerate(options) if phrases[option] is None), len(options))
    run = is_run([option.value for option in options])
    is_of_points = has_points([option for option in options if not is_missing_code(option.value, count)])
    usual = [option for option in answers if not is_missing_code(option.value, count)]
    for place, option in enumerate(options):
        looks_missing = is_missing_code(option.value, count)
        own_phrases = phrases[option]
        if own_phrases is None:
            is_bare, is_odd = not has_words(option), looks_missing and not run
            if is_odd and (is_bare or (is_counted and len(usual) == count) or is_of_points):
                result.coded.append(option)
            elif is_odd and len(answers) > 2:
                result.doubtful.append((option, ODD_CODE))
        elif not looks_missing and _is_of_scale(own_phrases, answers, words.language):
            result.doubtful.append((option, SHARED_WORDS))
        elif not looks_missing and own_phrases <= words.unsure and first < place < last:
            result.doubtful.append((option, IN_THE_MIDDLE))
        else:
            result.worded.append(option)
    return result


def _is_of_scale(phrases: frozenset[Phrase], answers: Sequence[Option], language: str) -> bool:
    """Whether at least two answers share a word of some phrases that is no word of degree."""
    telling = {
        word for phrase in phrases for word in phrase if len(word) >= SHORTEST_SHARED and not is_degree(word, language)
    }
    return any(sum(word in words_of(option.label) for option in answers) > 1 for word in telling)


def _words(text: str) -> Phrase:
    return tuple(words_of(text))
