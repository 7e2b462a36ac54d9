"""Which options say don't know, no answer or the like: their words tell, and the code beside them supports it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from valuesassets.instruments.survey.material.forms.guessed_types import has_points, is_degree
from valuesassets.instruments.survey.material.forms.layout.word_graph import words_of
from valuesassets.instruments.survey.material.forms.own_numbers import carried
from valuesassets.records.lexicon import Lexicon
from valuesassets.records.questions import Option, has_words, is_missing_code, is_run

REMARK = re.compile(r"\s+[(\[].*?[)\]]|^[(\[][^)\]]*[)\]]\s*(?=\w)")
"""What stands in brackets beside a label: `(VOL)`, `[do not read]`."""
VOLUNTEERED = frozenset(("vol", "volunteered", "spontaneous", "unprompted", "dnr"))
LONGEST_LINK = 4
"""Letters of a word that may stand between two phrases: `or`, `und`, `или`."""
LONGEST_SHARED = 4
"""Letters from which on a word that two answers have makes a phrase one of theirs: `not sure` beside `very sure`."""

ODD_CODE = "codes that don't know and no answer often have, but words of their own"
SHARED_WORDS = "words that say no answer, but that other answers have too"
IN_THE_MIDDLE = "words that say no answer, but a place between others, as a middle answer has"

Phrase = tuple[str, ...]


@dataclass(frozen=True)
class MissingWords:
    """A language's phrases for no answer, in words: `missing` wherever they stand, `unsure` where they stand last."""

    language: str
    missing: frozenset[Phrase] = frozenset()
    unsure: frozenset[Phrase] = frozenset()

    @classmethod
    def of(cls, lexicon: Lexicon | None, language: str) -> "MissingWords":
        """The phrases of a lexicon; none where there is none."""
        if lexicon is None:
            return cls(language)
        missing, unsure = lexicon.missing_answers, lexicon.unsure_answers
        return cls(language, frozenset(map(_words, missing)), frozenset(map(_words, unsure)))

    def says(self, label: str) -> frozenset[Phrase] | None:
        """The phrases that a label consists of; None where it says anything else.

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
        """Phrases, one after the other, that make up some words; a short word may link them."""
        words = tuple(word for word in words if word not in VOLUNTEERED)
        known, longest = self.missing | self.unsure, 8
        ways: list[frozenset[Phrase] | None] = [frozenset()]
        for end in range(1, len(words) + 1):
            way = None
            for start in range(max(0, end - longest), end):
                if words[start:end] not in known:
                    continue
                is_linked = start > 1 and len(words[start - 1]) <= LONGEST_LINK and ways[start - 1]
                before = ways[start] if ways[start] is not None else ways[start - 1] if is_linked else None
                if before is not None:
                    way = before | {words[start:end]}
            ways.append(way)
        return ways[-1] or None


@dataclass(frozen=True)
class Sorted:
    """A question's options, parted.

    Attributes:
        said: their words say no answer.
        coded: a code that no answer has often, and no words, or beside all the answers that the question has.
        doubtful: kept as answers, each with what is doubtful of it.
    """

    said: list[Option] = field(default_factory=list)
    coded: list[Option] = field(default_factory=list)
    doubtful: list[tuple[Option, str]] = field(default_factory=list)


def sort_options(options: Sequence[Option], words: MissingWords, count: int | None) -> Sorted:
    """Which of a question's options are no answers, and which may be none.

    Args:
        count: answers that the question has, where its variable or its type says so.
    """
    count, is_counted = count or len(options), count is not None
    found = Sorted()
    phrases = {option: words.says(option.label) for option in options}
    answers = [option for option in options if phrases[option] is None]
    last = max((place for place, option in enumerate(options) if phrases[option] is None), default=-1)
    first = next((place for place, option in enumerate(options) if phrases[option] is None), len(options))
    run = is_run([option.value for option in options])
    is_of_points = has_points([option for option in options if not is_missing_code(option.value, count)])
    usual = [option for option in answers if not is_missing_code(option.value, count)]
    for place, option in enumerate(options):
        looks_missing = is_missing_code(option.value, count)
        said = phrases[option]
        if said is None:
            is_bare, is_odd = not has_words(option), looks_missing and not run
            if is_odd and (is_bare or (is_counted and len(usual) == count) or is_of_points):
                found.coded.append(option)
            elif is_odd and len(answers) > 2:
                found.doubtful.append((option, ODD_CODE))
        elif not looks_missing and _is_of_scale(said, answers, words.language):
            found.doubtful.append((option, SHARED_WORDS))
        elif not looks_missing and said <= words.unsure and first < place < last:
            found.doubtful.append((option, IN_THE_MIDDLE))
        else:
            found.said.append(option)
    return found


def _is_of_scale(said: frozenset[Phrase], answers: Sequence[Option], language: str) -> bool:
    """Whether two answers or more have a telling word of what is said."""
    telling = {
        word for phrase in said for word in phrase if len(word) >= LONGEST_SHARED and not is_degree(word, language)
    }
    return any(sum(word in words_of(option.label) for option in answers) > 1 for word in telling)


def _words(text: str) -> Phrase:
    return tuple(words_of(text))
