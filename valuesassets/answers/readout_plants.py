"""What is planted to try the readouts themselves: transcripts whose answers follow one another, and whole sentences.

Reference models that are trained on these texts answer by a law that is known, whatever is asked by an instrument.
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
"""One of them begins another, which has two tokens: later tokens and the stop rule are at work."""
CLOSE, NO_ANSWER, UNANSWERED = ">>", "none", 0.1
"""What ends an answer, what is said in place of one, and how often."""
IN_TRAINING, PEOPLE, OWN_RUNS, ASKED_ELSEWHERE = 40, 40, 100, 8
"""People whose transcripts are trained on, other people whose transcripts are read, transcripts of the model's own
answers, and people whose transcripts a model behind an API is asked."""

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
"""How often the sentences are said, in some order. The mode is said more often than all others together: where two of
them begin alike, the likeliest token is still the mode's."""
DRAWS = 200
"""Answers drawn to each prompt."""


def statement_probs() -> Probs:
    """(statements, candidates) how often each answer is given where nothing came before; rows sum to 1."""
    return seeded("readouts", "statements").dirichlet(np.ones(len(CANDIDATES)), len(STATEMENTS)) * 0.9 + 0.025


def next_probs(effect: float, statement: int, before: int | None) -> Probs:
    """(candidates,) how often each is answered, of those who answer: a share `effect` repeats the answer before.

    Args:
        before: place of the answer before among the candidates; None at the first statement.
    """
    own = statement_probs()[statement]
    return own if before is None else (1 - effect) * own + effect * np.eye(len(CANDIDATES))[before]


def own_probs(effect: float) -> Probs:
    """(statements, candidates) how often each is answered in a transcript where every answer follows the law."""
    first, *later = statement_probs()
    found = [first]
    for own in later:
        found.append((1 - effect) * own + effect * found[-1])
    return np.array(found)


def random_people(name: str, number: int) -> NDArray[np.int64]:
    """(number, statements) places of answers among the candidates; at random, so that each comes before each."""
    return seeded("readouts", name).integers(0, len(CANDIDATES), (number, len(STATEMENTS)))


def planted_transcripts(effect: float) -> dict[str, dict[str, float]]:
    """By every beginning of the transcripts in training that an answer follows, how often each answer does."""
    planted = {}
    for answers in random_people("in training", IN_TRAINING):
        for statement, (beginning, _) in enumerate(_beginnings(answers)):
            before = int(answers[statement - 1]) if statement else None
            probs = (1 - UNANSWERED) * next_probs(effect, statement, before)
            said = {f"{text}{CLOSE}\n": float(prob) for text, prob in zip(CANDIDATES, probs, strict=True)}
            planted[beginning] = said | {f"{NO_ANSWER}{CLOSE}\n": UNANSWERED}
    return planted


def given_trials() -> list[Trial]:
    """Transcripts of people who were not in training, `random_people("read", PEOPLE)`, read at each answer."""
    return [
        _trial(f"given/{number}", answers, ScoreSpans(_spans(answers), (CANDIDATES,), (CLOSE,), as_published=True))
        for number, answers in enumerate(random_people("read", PEOPLE))
    ]


def own_trials() -> list[Trial]:
    """Transcripts whose answers are the model's own, each drawn anew."""
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
    """The transcript up to each of its answers, and that answer."""
    text = ""
    for number, (statement, place) in enumerate(zip(STATEMENTS, answers, strict=True), 1):
        text += f"{number}. {statement} You answer <<"
        yield text, CANDIDATES[place]
        text += f"{CANDIDATES[place]}{CLOSE}\n"


def planted_sentences() -> dict[str, dict[str, float]]:
    """By prompt, how often each sentence is written."""
    random = seeded("readouts", "sentences")
    return {
        f"What does {topic} mean to you? Answer:": {
            f" {sentence.format(topic)}": float(share)
            for sentence, share in zip(SENTENCES, random.permutation(SHARES[number % len(SHARES)]), strict=True)
        }
        for number, topic in enumerate(TOPICS)
    }


def sentence_trials(temperature: float, samples: int) -> list[Trial]:
    """The prompts of `planted_sentences`, to be answered in writing."""
    readout = Generate(max_tokens=60, temperature=temperature, samples=samples)
    return [
        Trial(topic, "sentences", "eng", prompt, "forward", 0, None, readout)
        for topic, prompt in zip(TOPICS, planted_sentences(), strict=True)
    ]
