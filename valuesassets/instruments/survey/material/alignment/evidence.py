"""What speaks for a question being a target, as log odds (nats) for every pair: shape, length, words, codes, numbers.

Every matrix has a row per question and a column per target. Zero is no evidence; kinds of evidence add up.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from anyascii import anyascii
from numpy.typing import NDArray
from rapidfuzz import fuzz

from valuesassets.instruments.survey.material.alignment.targets import Target
from valuesassets.records.questions import Question, ResponseType

Matrix = NDArray[np.float64]

SAME_COUNT, SAME_TEN, OTHER_TEN, NEAR_COUNT, OTHER_COUNT = 1.0, 2.0, -4.0, -1.0, -2.0
"""By the numbers of options: equal, both ten, ten against another, one apart, further apart."""
LENGTH_SPREAD, LENGTH_FLOOR, LENGTH_EQUAL = 0.8, -2.0, 0.3
"""Standard deviation of the log ratio of two wordings' lengths, the worst that a length can say, and the best."""
OWN_WORDS, WHOLE_TEXT = 10.0, 5.0
"""Weights of the likeness of items and of whole texts: names, loan words and numbers that languages share."""
MOST_WORDS = 6.0
"""Log odds (nats) that words alone can give."""
GRAMS = (3, 5)
"""Letters in a row that are compared."""
NUMBERED_ID = re.compile(r"\W*(?![vV]\d)(?P<letters>[^\W\d_]{1,2})\s?0*(?P<number>\d{1,3})(?:(?P<row>[aA])(?![^\W_]))?")
"""A question's number as ids have it: a letter or two, the number, and the `a` of a question put in between."""
SHORTEST = 3
"""Letters; shorter wordings count as this long."""
CLOSENESS = 15.0
"""Weight of the cosine above that to a usual target, where a study names an embedder."""
MOST_CLOSENESS = 8.0
"""Log odds (nats) that an embedder alone can give."""
SHARED_WORDS = 5
"""Two stems that begin with so many equal words are one."""
SAME_WORDING = 85.0
"""Likeness (of 100) of two wordings that are the same question."""
AGAIN = 4.0
"""What it adds to the cost of two different questions in a row being the same target (nats)."""
TOGETHER = {
    (True, True): (1.0, -2.0),
    (True, False): (0.5, -1.0),
    (False, True): (0.5, -0.5),
    (False, False): (-0.5, 0.2),
}
"""By whether stems and answers are the same: log odds if the targets are of one list, and if they are not."""
OTHER_SCALE = (-2.0, 0.5)
"""The same for questions without a common stem that have another number of answers."""


def shape_evidence(questions: Sequence[Question], targets: Sequence[Target]) -> Matrix:
    """From the number of options; nothing where a question or the master lacks them."""
    asked = np.array([_n_options(question) for question in questions])[:, None]
    wanted = np.array([target.n_options or 0 for target in targets])[None]
    apart = np.abs(asked - wanted)
    said = np.select([apart == 0, apart == 1], [SAME_COUNT, NEAR_COUNT], OTHER_COUNT)
    said = np.where((asked == 10) & (wanted == 10), SAME_TEN, said)
    said = np.where((asked == 10) != (wanted == 10), OTHER_TEN, said)
    said = np.where((asked == 2) & (wanted == 10), OTHER_COUNT, said)  # the ends of a scale are two answers
    return np.where((asked == 0) | (wanted == 0), 0.0, said)


def length_evidence(questions: Sequence[Question], targets: Sequence[Target]) -> Matrix:
    """From the lengths of the wordings: a long item of one language is seldom short in another."""
    asked = np.log([max(len(_own(question)), SHORTEST) for question in questions])[:, None]
    wanted = np.log([max(len(_own(target.question)), SHORTEST) for target in targets])[None]
    said = np.maximum(-0.5 * ((asked - wanted) / LENGTH_SPREAD) ** 2, LENGTH_FLOOR) + LENGTH_EQUAL
    return np.where([target.question is not None for target in targets], said, 0.0)


def word_evidence(questions: Sequence[Question], targets: Sequence[Target]) -> Matrix:
    """From the letters that two wordings share when both are written in ASCII: `демокрация` is like `democracy`.

    Where the master lacks a question its topic stands for it.
    """
    items = [_own(target.question) or target.topic or "" for target in targets]
    texts = [_whole(target.question) or target.topic or "" for target in targets]
    own = _above_mean(_likeness([_own(question) for question in questions], items), items)
    whole = _above_mean(_likeness([_whole(question) for question in questions], texts), texts)
    return np.minimum(OWN_WORDS * own + WHOLE_TEXT * whole, MOST_WORDS)


def _above_mean(like: Matrix, wanted: Sequence[str]) -> Matrix:
    """Likeness above that to a usual target; none to a target without words."""
    has_words = np.array([bool(text) for text in wanted])
    if not has_words.any():
        return np.zeros(like.shape)
    return np.where(has_words, like - like[:, has_words].mean(axis=1, keepdims=True), 0.0)


def name_evidence(names: Sequence[str | None], wanted: Sequence[str | None], right: float) -> Matrix:
    """From names that questions and targets bear, codes or numbers, of which a share `right` is as it should be.

    A right name is one of K, so that finding it says log(K * right); any other says log(K/(K-1) * (1 - right)).
    """
    distinct = len({name for name in wanted if name is not None})
    if distinct < 2:
        return np.zeros((len(names), len(wanted)))
    known = np.array([name is not None for name in wanted])
    same = np.array([[name is not None and name == other for other in wanted] for name in names], dtype=bool)
    hit, miss = np.log(distinct * right), np.log(distinct / (distinct - 1) * (1 - right))
    said = np.where(same, hit, np.where(known, miss, 0.0))
    return np.where(np.array([name is not None for name in names])[:, None], said, 0.0)


def question_numbers(questions: Sequence[Question]) -> list[str | None]:
    """The number of each question in its form (`38`, `33a`), where its id as printed has one.

    A form has one letter for its numbers (`Q38`, `P38`); ids with another are its own additions (`SK3`).

    >>> ask = lambda printed: Question(id=printed, text="", response_type="binary", options=())
    >>> question_numbers([ask("Q38_v126"), ask("Q33a"), ask("SK3"), ask("v39")])
    ['38', '33a', None, None]
    """
    found = [NUMBERED_ID.match(each.source_id or "") or NUMBERED_ID.match(each.id) for each in questions]
    letters = [each["letters"].casefold() if each else None for each in found]
    usual = Counter(filter(None, letters)).most_common(1)
    return [
        each["number"] + (each["row"] or "").lower() if each and letter == usual[0][0] else None
        for each, letter in zip(found, letters, strict=True)
    ]


def texts_to_embed(questions: Sequence[Question], targets: Sequence[Target]) -> list[str]:
    """The questions' items and the targets', in this order: what `embedded_evidence` wants vectors of.

    Items, as the stem of a list brings all of them close. Where the master lacks a question its topic stands for it.
    """
    theirs = [_own(each.question) if each.question else each.topic or each.code for each in targets]
    return [*map(_own, questions), *theirs]


def embedded_evidence(vectors: NDArray[np.float32], n_questions: int) -> Matrix:
    """Log odds of every pair of a question and a target.

    Args:
        vectors: of `texts_to_embed`, each of length one.
    """
    close = (vectors[:n_questions] @ vectors[n_questions:].T).astype(np.float64)
    return np.minimum(CLOSENESS * (close - close.mean(axis=1, keepdims=True)), MOST_CLOSENESS)


def battery_steps(same: NDArray[np.bool_], one: Question, other: Question) -> NDArray[np.float64]:
    """Log odds of each step from a target (row) to a target (column), for two questions in a row.

    Args:
        same: whether two targets are of one list.
    """
    has_stem, has_answers = _share_stem(one, other), _answers(one) == _answers(other)
    within, across = TOGETHER[has_stem, has_answers]
    if not has_stem and not has_answers and len(one.options) != len(other.options):
        within, across = OTHER_SCALE
    said = np.where(same, within, across)
    return said if say_the_same(one, other) else said - AGAIN * np.eye(len(same))


def say_the_same(one: Question, other: Question) -> bool:
    """Whether two records of one language are the same question, but for misprints.

    >>> ask = lambda text: Question(id="", text=text, response_type="binary", options=())
    >>> say_the_same(ask("How often do you pray?"), ask("How often do you pray ?"))
    True
    """
    mine, theirs = (one.item or one.text).casefold(), (other.item or other.text).casefold()
    return fuzz.ratio(mine, theirs) >= SAME_WORDING


def _likeness(texts: Sequence[str], others: Sequence[str]) -> Matrix:
    from sklearn.feature_extraction.text import TfidfVectorizer

    plain = [anyascii(text).lower() for text in (*texts, *others)]
    if not any(map(str.strip, plain)):
        return np.zeros((len(texts), len(others)))
    weights = TfidfVectorizer(analyzer="char_wb", ngram_range=GRAMS, sublinear_tf=True).fit_transform(plain)
    return np.asarray((weights[: len(texts)] @ weights[len(texts) :].T).todense())


def _n_options(question: Question) -> int:
    """How many answers are offered, 0 where that is not known: one is none."""
    count = len(question.options)
    return 10 if question.response_type is ResponseType.LIKERT10 else count if count > 1 else 0


def _own(question: Question | None) -> str:
    return "" if question is None else question.item or question.text


def _whole(question: Question | None) -> str:
    return "" if question is None else question.text


def _share_stem(one: Question, other: Question) -> bool:
    mine, theirs = ((each.stem or "").split()[:SHARED_WORDS] for each in (one, other))
    return bool(one.stem and one.stem == other.stem) or (mine == theirs and len(mine) == SHARED_WORDS)


def _answers(question: Question) -> tuple[str, ...]:
    return tuple(option.label.strip().casefold() for option in question.options)
