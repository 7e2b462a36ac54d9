"""Plants that test the readouts: transcripts with answers that depend on the previous answer, and whole sentences.

Reference models that are trained on these texts have a known response model, independent of any instrument.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from valuesassets.measure.arrays import Array
from valuesassets.measure.seeding import seeded
from valuesassets.records.readouts import Generate, ScoreLabels, ScoreSpans, Span
from valuesassets.records.trials import Trial

STATEMENTS = (
    "I like to plan my days.",
    "I am often late for work.",
    "I trust people whom I have just met.",
    "I enjoy long walks alone.",
    "I worry about money at night.",
    "I keep the promises that I make.",
)
CANDIDATES = ("1", "2", "3", "10")
"""One candidate is the beginning of another one of two tokens, which tests later tokens and the stop rule."""
CLOSE, NO_ANSWER, UNANSWERED = ">>", "none", 0.1
"""The end of an answer, the text in place of a missing answer, and its share."""
IN_TRAINING, PEOPLE, OWN_RUNS, ASKED_ELSEWHERE = 40, 40, 100, 8
"""Numbers of transcripts: of people in training, of other people who are read, of the model's own answers, and of
people for a model behind an API."""

Probs = Array

TOPICS = (
    *("family", "friends", "free time", "politics", "work", "religion", "school", "money", "the town hall", "the law"),
    *("the press", "the police", "the army", "the church", "music", "sport", "health", "the sea", "science", "history"),
    *("the family home", "the next election", "the weather", "old age"),
)
SENTENCES = (
    "Of all things, {} means most to me, and it always has.",
    "To be honest, {} hardly matters to me these days.",
    "I would say that {} matters, but not more than other things.",
    "I would rather not say what I think about {} in public.",
)
SHARES = ((0.55, 0.25, 0.15, 0.05), (0.7, 0.2, 0.05, 0.05), (0.52, 0.2, 0.15, 0.13))
"""Shares of the sentences, in random order. The mode has more than half: where sentences begin alike, the most likely
token is still the mode's."""
DRAWS = 200
"""Sampled answers to each prompt."""


def statement_probs() -> Probs:
    """(statements, candidates) probability of each answer without a previous answer; rows sum to 1."""
    return seeded("readouts", "statements").dirichlet(np.ones(len(CANDIDATES)), len(STATEMENTS)) * 0.9 + 0.025


def next_probs(effect: float, statement: int, before: int | None) -> Probs:
    """(candidates,) probability of each answer among those who answer: a share `effect` repeats the previous answer.

    Args:
        before: index of the previous answer among the candidates; None at the first statement.
    """
    own = statement_probs()[statement]
    return own if before is None else (1 - effect) * own + effect * np.eye(len(CANDIDATES))[before]


def own_probs(effect: float) -> Probs:
    """(statements, candidates) marginal probability of each answer in transcripts from the planted response model."""
    first, *later = statement_probs()
    marginals = [first]
    for own in later:
        marginals.append((1 - effect) * own + effect * marginals[-1])
    return np.array(marginals)


def random_people(name: str, number: int) -> NDArray[np.int64]:
    """(number, statements) indices of random answers among the candidates, so that all sequences occur."""
    return seeded("readouts", name).integers(0, len(CANDIDATES), (number, len(STATEMENTS)))


def planted_transcripts(effect: float) -> dict[str, dict[str, float]]:
    """Probabilities of the answers, by the beginning of a training transcript that comes before the answer."""
    planted = {}
    for answers in random_people("in training", IN_TRAINING):
        for statement, (beginning, _) in enumerate(_beginnings(answers)):
            before = int(answers[statement - 1]) if statement else None
            probs = (1 - UNANSWERED) * next_probs(effect, statement, before)
            probs_by_text = {f"{text}{CLOSE}\n": float(prob) for text, prob in zip(CANDIDATES, probs, strict=True)}
            planted[beginning] = probs_by_text | {f"{NO_ANSWER}{CLOSE}\n": UNANSWERED}
    return planted


def given_trials() -> list[Trial]:
    """Transcripts of people who were not in training, `random_people("read", PEOPLE)`, read at each answer."""
    return [
        _trial(f"given/{number}", answers, ScoreSpans(_spans(answers), (CANDIDATES,), (CLOSE,), as_published=True))
        for number, answers in enumerate(random_people("read", PEOPLE))
    ]


def own_trials() -> list[Trial]:
    """Transcripts in which the answers are sampled from the model itself."""
    first = np.zeros(len(STATEMENTS), dtype=np.int64)
    return [
        _trial(f"own/{seed}", first, ScoreSpans(_spans(first), (CANDIDATES,), (CLOSE,), history="own", seed=seed))
        for seed in range(OWN_RUNS)
    ]


def label_trials() -> list[Trial]:
    """Beginnings of such transcripts, read by labels: for a model behind an API, which knows no spans."""
    labels = ScoreLabels(CANDIDATES[:3], (1, 2, 3))
    beginnings = (text for answers in random_people("read", ASKED_ELSEWHERE) for text, _ in _beginnings(answers))
    return [
        Trial(f"labels/{number}", "statements", "eng", text, "forward", 0, None, labels)
        for number, text in enumerate(dict.fromkeys(beginnings))
    ]


def _trial(name: str, answers: NDArray[np.int64], readout: ScoreSpans) -> Trial:
    *_, (beginning, last) = _beginnings(answers)
    return Trial(name, "statements", "eng", f"{beginning}{last}{CLOSE}\n", "forward", 0, None, readout)


def _spans(answers: NDArray[np.int64]) -> tuple[Span, ...]:
    return tuple(Span(len(beginning), len(beginning) + len(answer), 0) for beginning, answer in _beginnings(answers))


def _beginnings(answers: NDArray[np.int64]) -> Iterator[tuple[str, str]]:
    """Pairs of the transcript up to an answer, and that answer."""
    text = ""
    for number, (statement, place) in enumerate(zip(STATEMENTS, answers, strict=True), 1):
        text += f"{number}. {statement} You answer <<"
        yield text, CANDIDATES[place]
        text += f"{CANDIDATES[place]}{CLOSE}\n"


def planted_sentences() -> dict[str, dict[str, float]]:
    """The planted shares of the sentences, by prompt."""
    random = seeded("readouts", "sentences")
    return {
        f"What does {topic} mean to you? Answer:": {
            f" {sentence.format(topic)}": float(share)
            for sentence, share in zip(SENTENCES, random.permutation(SHARES[number % len(SHARES)]), strict=True)
        }
        for number, topic in enumerate(TOPICS)
    }


def sentence_trials(temperature: float, samples: int) -> list[Trial]:
    """Trials of the prompts of `planted_sentences`, with written answers."""
    readout = Generate(max_tokens=60, temperature=temperature, samples=samples)
    return [
        Trial(topic, "sentences", "eng", prompt, "forward", 0, None, readout)
        for topic, prompt in zip(TOPICS, planted_sentences(), strict=True)
    ]
