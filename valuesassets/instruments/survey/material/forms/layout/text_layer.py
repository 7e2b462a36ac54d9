"""The text layer of a form: its script, language and damage, and one language of a bilingual form."""

import dataclasses
import functools
import itertools
import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from valuesassets.answers import spoken_language
from valuesassets.answers.language_codes import LATIN, scripts_of
from valuesassets.instruments.survey.material.forms.layout.pages import Page
from valuesassets.instruments.survey.material.forms.layout.words import SAME_GLYPH, UNREADABLE, Word, text_lines

OWN_LETTERS = {
    "ces": "áčéěířšůýž", "dan": "æøå", "deu": "äöüß", "est": "äõöü", "fin": "äö", "fra": "éèàç", "hrv": "čćšž",
    "hun": "áéíóöőü", "ita": "àèù", "lit": "ąčęėįšųūž", "lvs": "āčēģīķļņšūž", "pol": "ąćęłńóśźż", "por": "ãáçéíó",
    "ron": "ăâî", "slk": "áčéíľšťúýž", "slv": "čšž", "spa": "áéíóñ", "swe": "åäö", "ell": "άέήίόύώ", "bul": "ъщжю",
    "nor": "æøå", "srp": "čćšž", "mkd": "ѓќњј", "sqi": "çë",
}  # fmt: skip
"""Letters that any longer text in a language has, and that damaged text layers lose."""
LONG_TEXT = 6000  # letters of a text in which every letter of its language occurs
ADVICE = "the text layer is damaged: use the page images: run text recognition (OCR) over them and extract the result"
DISTINGUISHED = (
    *("bul", "ces", "dan", "deu", "ell", "eng", "est", "fin", "fra", "hrv", "hun", "ita"),
    *("lit", "lvs", "mkd", "nld", "nor", "pol", "por", "ron", "rus", "slk", "slv", "spa", "sqi", "srp", "swe"),
)
"""The languages that are distinguished: those of the bundled form, and Russian, a common second language of forms."""
FEWEST_LETTERS = 40  # of a text whose language is judged
FEWEST_FOREIGN = 5  # texts in one other language that make a form bilingual
CLEAR = 8.0  # largest log odds (nats) of one text
NEIGHBOURS, NEIGHBOUR_WEIGHT = 2, 0.6  # texts before and after a text that count towards its language, and their weight
LETTERS_OF_COLUMN = 120  # of a column whose language is judged
MOST_CROSSING = 0.1  # share of the lines of a page that may cross a gutter, such as headings
REMEMBERED_PAGES = 256  # pages that stay in memory without their other language
HALF = 0.5  # least share of a word's letters in its script
GUTTER = 6.0  # least points between columns
_Span = tuple[float, float]  # left and right edge of a column


def named_script(language: str) -> str:
    """The script, or scripts, in which a language is written, in words.

    >>> named_script("srp")
    'Cyrillic or Latin'
    """
    return " or ".join(script.title() for script in scripts_of(language))


def script_share(text: str, language: str, fewest: int = 4) -> float | None:
    """Share of a text's letters in the scripts of a language; None for fewer letters than `fewest`.

    >>> script_share("Πόσο καλά", "ell"), script_share("12", "eng")
    (1.0, None)
    """
    return spoken_language.script_share(UNREADABLE.sub("", text), scripts_of(language), fewest)


def is_damaged(word: str) -> bool:
    """Whether a word holds a glyph without a character; a word of one repeated glyph is a bullet or leader.

    >>> is_damaged("wa(cid:298)ne"), is_damaged("(cid:183)"), is_damaged("(cid:1)(cid:1)(cid:1)"), is_damaged("a")
    (True, False, False, False)
    """
    return bool(UNREADABLE.search(word)) and not SAME_GLYPH.fullmatch(word)


def unreadable_share(words: Iterable[str]) -> float:
    """Share of the words that hold a glyph without a character.

    >>> unreadable_share(["szcz(cid:266)(cid:286)liwy", "bardzo"])
    0.5
    """
    seen = [*map(is_damaged, words)]
    return sum(seen) / len(seen) if seen else 0.0


def lost_letters(text: str, language: str) -> str:
    """Letters of the language that a long text never uses; empty for short texts, and for its other script.

    >>> lost_letters("dobry dzien " * 1000, "pol"), lost_letters("dobry", "pol"), lost_letters("дан " * 2000, "srp")
    ('ąćęłńóśźż', '', '')
    """
    folded = unicodedata.normalize("NFC", text).casefold()
    if sum(letter.isalpha() for letter in folded) < LONG_TEXT:
        return ""
    own = OWN_LETTERS.get(language, "")
    others = [script for script in scripts_of(language) if spoken_language.script_share(own, [script]) == 0]
    if (spoken_language.script_share(folded, others) or 0) > HALF:
        return ""
    return "".join(letter for letter in own if letter not in folded and letter != "ß")


def foreign_language(text: str, language: str) -> str | None:
    """The language (ISO 639-3) of a text if it is not the expected one; None for short or uncertain texts.

    >>> foreign_language("Az emberek szabad választásokon választják meg a vezetőiket", "slk")
    'hun'
    >>> foreign_language("Ľudia si vyberajú svojich lídrov v slobodných voľbách", "slk") is None
    True
    """
    if language not in DISTINGUISHED:
        return None
    return spoken_language.foreign_language(text, language, DISTINGUISHED, FEWEST_LETTERS)


def foreign_languages(texts: Sequence[str], language: str) -> list[str | None]:
    """The same for the texts of one form, in order; `texts` are items, without the stems that a list shares.

    In a bilingual form every text, also a short one, is in one of the two languages, and its neighbours count.
    """
    alone = [foreign_language(text, language) for text in texts]
    other, count = Counter(filter(None, alone)).most_common(1)[0] if any(alone) else ("", 0)
    if count < FEWEST_FOREIGN:
        return alone
    odds = [_log_odds(text, language, other) for text in texts]
    languages: list[str | None] = []
    for place, own in enumerate(odds):
        near = odds[max(place - NEIGHBOURS, 0) : place] + odds[place + 1 : place + NEIGHBOURS + 1]
        languages.append(other if own + NEIGHBOUR_WEIGHT * sum(near) / max(len(near), 1) < 0 else None)
    return languages


def _log_odds(text: str, language: str, other: str) -> float:
    """Log odds (nats) of the language against the other one, at most `CLEAR`."""
    if not any(map(str.isalpha, text)):
        return 0.0
    chances = spoken_language.language_chances(text, DISTINGUISHED)
    one, two = (max(chances[code], 1e-9) for code in (language, other))
    return min(max(math.log(one / two), -CLEAR), CLEAR)


@functools.lru_cache(maxsize=2)
def own_pages(pages: tuple[Page, ...], language: str) -> tuple[Page, ...]:
    """The pages of a form without its other language, in columns or in another script, and without hidden left-overs.

    A page with too few words has the columns of the page before it. Pages with damaged words stay whole.
    """
    own: list[Page] = []
    foreign: tuple[_Span, ...] = ()
    for page in pages:
        page, foreign = _own_page(page, language, foreign)
        own.append(page)
    return tuple(own)


@functools.lru_cache(maxsize=REMEMBERED_PAGES)
def _own_page(page: Page, language: str, foreign: tuple[_Span, ...]) -> tuple[Page, tuple[_Span, ...]]:
    """A page without the other language, and the columns of that language; `foreign` are those of the page before."""
    if any(is_damaged(word.text) for word in page.words):
        return page, foreign
    columns = _columns(page.words, page.width)
    if len(columns) > 1:
        judged = tuple(span for span, text in columns if foreign_language(text, language) is not None)
        foreign = judged if len(judged) < len(columns) else ()
    words = [word for word in page.words if not any(left <= word.x < right for left, right in foreign)]
    own_script = [word for word in words if _is_in_script(word, language)]
    if scripts_of(language) == (LATIN,):
        words = own_script
    others = {id(word) for word in words} - {id(word) for word in own_script}
    words = [word for word in words if id(word) not in others or _covered_share(word, own_script) < HALF]
    return dataclasses.replace(page, words=tuple(words)), foreign


def _is_in_script(word: Word, language: str) -> bool:
    share = script_share(word.text, language, 1)
    return share is None or share >= HALF


def _covered_share(word: Word, others: Iterable[Word]) -> float:
    """Share of a word's box that other words cover."""
    left, top, right, bottom = word.box
    covered = 0.0
    for one in (other.box for other in others):
        width, height = min(right, one[2]) - max(left, one[0]), min(bottom, one[3]) - max(top, one[1])
        covered += max(width, 0.0) * max(height, 0.0)
    return covered / max((right - left) * (bottom - top), 1e-9)


def _columns(words: Sequence[Word], width: float) -> list[tuple[_Span, str]]:
    """The columns between gutters, each with its text, if the text is long enough to be judged."""
    crossing = np.zeros(int(width) + 2)
    for word in words:
        crossing[max(int(word.box[0]), 0) : int(word.box[2]) + 1] += 1
    is_free = crossing <= MOST_CROSSING * len(text_lines(words))
    edges = np.flatnonzero(np.diff(np.concatenate([[0], is_free.astype(int), [0]])))
    gutters = [(left + right) / 2 for left, right in edges.reshape(-1, 2) if right - left >= GUTTER]
    columns = []
    for left, right in itertools.pairwise([0.0, *gutters, width + 1]):
        lines = text_lines(word for word in words if left <= word.x < right)
        text = " ".join(word.text for line in lines for word in line)
        if sum(map(str.isalpha, text)) >= LETTERS_OF_COLUMN:
            columns.append(((left, right), text))
    return columns
