"""Log odds (nats) that a question is a target, from shape, length, words, codes and numbers.

Every matrix has a row per question and a column per target. Zero is no evidence; the kinds of evidence add up.
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
"""Log odds by the two numbers of options: equal, both ten, ten against another, one apart, further apart."""
LENGTH_SPREAD, LENGTH_FLOOR, LENGTH_EQUAL = 0.8, -2.0, 0.3
"""Standard deviation of the log ratio of two wordings' lengths, and the lowest and highest evidence of a length."""
OWN_WORDS, WHOLE_TEXT = 10.0, 5.0
"""Weights of the likeness of items and of whole texts: names, loan words and numbers that languages share."""
MOST_WORDS = 6.0  # log odds (nats) that words alone can give
GRAMS = (3, 5)  # letters in a row that are compared
NUMBERED_ID = re.compile(r"\W*(?![vV]\d)(?P<letters>[^\W\d_]{1,2})\s?0*(?P<number>\d{1,3})(?:(?P<row>[aA])(?![^\W_]))?")
"""A question's number in an id: one or two letters, the number, and the `a` of an inserted question."""
SHORTEST = 3  # letters; shorter wordings count as this long
CLOSENESS = 15.0  # weight of an embedder's cosine above the mean cosine to all targets
MOST_CLOSENESS = 8.0  # log odds (nats) that an embedder alone can give
SHARED_WORDS = 5  # two stems are one if this many first words are equal
SAME_WORDING = 85.0  # likeness (of 100) of two wordings that are the same question
AGAIN = 4.0  # added cost (nats) of one target for two different questions in a row
TOGETHER = {
    (True, True): (1.0, -2.0),
    (True, False): (0.5, -1.0),
    (False, True): (0.5, -0.5),
    (False, False): (-0.5, 0.2),
}
"""Log odds of targets of one list, and of others, by whether the questions share their stem and their answers."""
OTHER_SCALE = (-2.0, 0.5)  # the same for questions without a common stem and with different numbers of answers


def shape_evidence(questions: Sequence[Question], targets: Sequence[Target]) -> Matrix:
    """Evidence from the number of options; zero where a question or the master lacks them."""
    counts = np.array([_n_options(question) for question in questions])[:, None]
    wanted = np.array([target.n_options or 0 for target in targets])[None]
    differences = np.abs(counts - wanted)
    log_odds = np.select([differences == 0, differences == 1], [SAME_COUNT, NEAR_COUNT], OTHER_COUNT)
    log_odds = np.where((counts == 10) & (wanted == 10), SAME_TEN, log_odds)
    log_odds = np.where((counts == 10) != (wanted == 10), OTHER_TEN, log_odds)
    log_odds = np.where((counts == 2) & (wanted == 10), OTHER_COUNT, log_odds)  # the ends of a scale are two answers
    return np.where((counts == 0) | (wanted == 0), 0.0, log_odds)


def length_evidence(questions: Sequence[Question], targets: Sequence[Target]) -> Matrix:
    """Evidence from the lengths of the wordings: a long item of one language is seldom short in another."""
    log_lengths = np.log([max(len(_own(question)), SHORTEST) for question in questions])[:, None]
    wanted = np.log([max(len(_own(target.question)), SHORTEST) for target in targets])[None]
    log_odds = np.maximum(-0.5 * ((log_lengths - wanted) / LENGTH_SPREAD) ** 2, LENGTH_FLOOR) + LENGTH_EQUAL
    return np.where([target.question is not None for target in targets], log_odds, 0.0)


def word_evidence(questions: Sequence[Question], targets: Sequence[Target]) -> Matrix:
    """Evidence from shared letters, both wordings in ASCII: `демокрация` is like `democracy`.

    The topic replaces a question that the master lacks.
    """
    items = [_own(target.question) or target.topic or "" for target in targets]
    texts = [_whole(target.question) or target.topic or "" for target in targets]
    own = _above_mean(_likeness([_own(question) for question in questions], items), items)
    whole = _above_mean(_likeness([_whole(question) for question in questions], texts), texts)
    return np.minimum(OWN_WORDS * own + WHOLE_TEXT * whole, MOST_WORDS)


def _above_mean(like: Matrix, wanted: Sequence[str]) -> Matrix:
    """Likeness minus its mean over all targets; zero for a target without words."""
    has_words = np.array([bool(text) for text in wanted])
    if not has_words.any():
        return np.zeros(like.shape)
    return np.where(has_words, like - like[:, has_words].mean(axis=1, keepdims=True), 0.0)


def name_evidence(names: Sequence[str | None], wanted: Sequence[str | None], right: float) -> Matrix:
    """Evidence from the codes or numbers of questions and targets, of which a share `right` is correct.

    Of K names, an equal one gives log(K * right), another one log(K/(K-1) * (1 - right)).
    """
    distinct = len({name for name in wanted if name is not None})
    if distinct < 2:
        return np.zeros((len(names), len(wanted)))
    has_name, is_named = (np.array([name is not None for name in each]) for each in (names, wanted))
    is_same = np.array([[name == other for other in wanted] for name in names], dtype=bool)
    hit, miss = np.log(distinct * right), np.log(distinct / (distinct - 1) * (1 - right))
    return np.where(has_name[:, None] & is_named, np.where(is_same, hit, miss), 0.0)


def question_numbers(questions: Sequence[Question]) -> list[str | None]:
    """The number of each question in its form (`38`, `33a`), where its id as printed has one.

    A form has one letter for its numbers (`Q38`, `P38`); ids with another are its own additions (`SK3`).

    >>> ask = lambda printed: Question(id=printed, text="", response_type="binary", options=())
    >>> question_numbers([ask("Q38_v126"), ask("Q33a"), ask("SK3"), ask("v39")])
    ['38', '33a', None, None]
    """
    matches = [NUMBERED_ID.match(each.source_id or "") or NUMBERED_ID.match(each.id) for each in questions]
    letters = [each["letters"].casefold() if each else None for each in matches]
    usual = Counter(filter(None, letters)).most_common(1)
    return [
        each["number"] + (each["row"] or "").lower() if each and letter == usual[0][0] else None
        for each, letter in zip(matches, letters, strict=True)
    ]


def texts_to_embed(questions: Sequence[Question], targets: Sequence[Target]) -> list[str]:
    """The items of the questions and then of the targets, for `embedded_evidence`; a topic replaces a missing question.

    Stems are left out because they make all items of a list alike.
    """
    theirs = [_own(each.question) if each.question else each.topic or each.code for each in targets]
    return [*map(_own, questions), *theirs]


def embedded_evidence(vectors: NDArray[np.float32], n_questions: int) -> Matrix:
    """Evidence from the unit vectors of `texts_to_embed`."""
    close = (vectors[:n_questions] @ vectors[n_questions:].T).astype(np.float64)
    return np.minimum(CLOSENESS * (close - close.mean(axis=1, keepdims=True)), MOST_CLOSENESS)


def battery_steps(same: NDArray[np.bool_], one: Question, other: Question) -> NDArray[np.float64]:
    """Log odds of each step from target (row) to target (column) between two questions; `same`: targets of one list."""
    share_stem, share_answers = _share_stem(one, other), _answers(one) == _answers(other)
    within, across = TOGETHER[share_stem, share_answers]
    if not share_stem and not share_answers and len(one.options) != len(other.options):
        within, across = OTHER_SCALE
    log_odds = np.where(same, within, across)
    return log_odds if say_the_same(one, other) else log_odds - AGAIN * np.eye(len(same))


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
    """The number of answers, or 0 where it is unknown; a single answer counts as unknown."""
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
