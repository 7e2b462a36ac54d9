"""Made-up people whose answers follow a planted response model that looks back: a scale with keys, counts, balloons."""

from dataclasses import dataclass

import numpy as np

from valuesassets.records.marks import find_marks
from valuesassets.records.parquet import write_table
from valuesassets.records.tables import PLANTED_TRANSCRIPTS
from valuesassets.records.trials import Trial
from valuesassets_tests.models.asked_marks import ask_marks

STYLE, CONTENT, COUNT_STYLE = 0.3, 0.3, 0.4
ITEMS = (
    "I am easily disturbed", "I change my mood a lot", "I get stressed out easily", "I often feel blue",
    "I worry about things", "I am relaxed most of the time", "I seldom feel blue", "I keep calm under pressure",
    "I rarely get irritated", "I am not easily bothered by things",
)  # fmt: skip
"""Of the International Personality Item Pool, in the public domain; the second half is keyed the other way."""
ORDER = (0, 5, 1, 6, 2, 7, 3, 8, 4, 9)
LABELS = ("very inaccurate", "inaccurate", "neither", "accurate", "very accurate")
QUESTIONS = ("read a book", "ride a bicycle", "cook a meal", "write a letter", "see a film", "call a friend")
COUNTS = tuple(map(str, range(13)))
KEYS = (("P", "S"), ("F", "J"), ("D", "K"))
BALLOONS, MOST_PUMPS = 4, 5
SETS = (("1", "2", "3", "4", "5"), COUNTS, *KEYS)
CLOSES = (">>", ">>", "}", "}", "}")


@dataclass(frozen=True)
class PlantedTranscript:
    """A person's transcript, its task, and the planted probabilities at each of its marks."""

    task: str
    text: str
    probs_at_marks: tuple[tuple[float, ...], ...]
    set: int

    @property
    def delimiters(self):
        return ("{", "}") if self.task == "balloons" else ("<<", ">>")

    def row(self):
        """A row of `PLANTED_TRANSCRIPTS`."""
        marks = find_marks(self.text, self.delimiters)[0]
        return {
            "language": "eng",
            "text": self.text,
            "starts": [mark.start for mark in marks],
            "answers": [self.text[mark.start : mark.end] for mark in marks],
            "candidates": [self.set] * len(marks),
            "probs": self.probs_at_marks,
        }

    def trial(self, name):
        """The transcript as a trial, without the planted probabilities."""
        marks = find_marks(self.text, self.delimiters)[0]
        readout = ask_marks(marks, [SETS[self.set]] * len(marks), self.delimiters[1])
        return Trial(name, self.task, "eng", self.text, "given", 0, None, readout)


class People:
    """People who answer by the response model; with `content` 0 they only repeat labels, whatever is asked."""

    def __init__(self, content=CONTENT, n_items=10, seed=0):
        random = np.random.default_rng(seed)
        self.content, self.order = (
            content,
            [item for item in ORDER if item < n_items / 2 or 5 <= item < 5 + n_items / 2],
        )
        self.items = [_softmax(random.normal(0, 1, 5)) for _ in ITEMS]
        self.counts = [_softmax(random.normal(0, 0.7, 13) - np.arange(13) / random.uniform(3, 9)) for _ in QUESTIONS]
        self.pumps = (0.9, 0.8, 0.65, 0.5, 0.3)

    def transcribe(self, n, seed, alone=0.25):
        """Transcripts of all tasks in turn; a share of them has one block alone behind the instructions."""
        random = np.random.default_rng(seed)
        tasks = (self.survey, self.count, self.balloons)
        return [tasks[person % 3](random, random.random() < alone) for person in range(n)]

    def survey(self, random, is_alone=False):
        """Agreement from 1 to 5; flipped for half, who are told the labels in the other order."""
        is_flipped = random.random() < 0.5
        labels = LABELS[::-1] if is_flipped else LABELS
        text = "How accurate is each sentence?\n" + "".join(f"{n} = {label}\n" for n, label in enumerate(labels, 1))
        order = [self.order[random.integers(len(self.order))]] if is_alone else self.order
        answers, probs_at_marks = [], []
        for item in order:
            item_probs = self.items[item][::-1] if is_flipped else self.items[item]
            keyed = [answer if (other < 5) == (item < 5) else 4 - answer for other, answer in answers]
            probs = (1 - STYLE - self.content) * item_probs + STYLE * _share([a for _, a in answers], 5)
            probs = probs + self.content * _share(keyed, 5)
            answer = _draw(probs, random)
            answers.append((item, answer))
            probs_at_marks.append(tuple(probs))
            text += f"{self.order.index(item) + 1}. {ITEMS[item]}. <<{answer + 1}>>\n"
        return PlantedTranscript("survey", text, tuple(probs_at_marks), 0)

    def count(self, random, is_alone=False):
        """How many days, from 0 to 12: 1 begins 10."""
        text, answers, probs_at_marks = "How many of the last 12 days?\n", [], []
        for n in [random.integers(len(QUESTIONS))] if is_alone else range(len(QUESTIONS)):
            probs = (1 - COUNT_STYLE) * self.counts[n] + COUNT_STYLE * _share(answers, 13)
            answers.append(_draw(probs, random))
            probs_at_marks.append(tuple(probs))
            text += f"Did you {QUESTIONS[n]}? <<{answers[-1]}>>\n"
        return PlantedTranscript("count", text, tuple(probs_at_marks), 1)

    def balloons(self, random, is_alone=False):
        """Pumps in a line, until the person stops; keys differ between people."""
        pair = int(random.integers(len(KEYS)))
        pump, stop = KEYS[pair]
        text, answers, probs_at_marks = f"Press {pump} to pump up the balloon and {stop} to stop.\n", [], []
        for balloon in [random.integers(BALLOONS)] if is_alone else range(BALLOONS):
            line = []
            while len(line) < MOST_PUMPS and 1 not in line:
                pump_prob = self.pumps[len(line)]
                probs = (1 - STYLE) * np.array([pump_prob, 1 - pump_prob]) + STYLE * _share(answers, 2)
                line.append(_draw(probs, random))
                answers.append(line[-1])
                probs_at_marks.append(tuple(probs))
            text += f"Balloon {balloon + 1}: {' '.join(f'{{{KEYS[pair][key]}}}' for key in line)}\n"
        return PlantedTranscript("balloons", text, tuple(probs_at_marks), 2 + pair)


def write_people(path, transcripts):
    """A file of `PLANTED_TRANSCRIPTS`."""
    write_table(
        path, [each.row() for each in transcripts], PLANTED_TRANSCRIPTS, {"candidate_sets": SETS, "closes": CLOSES}
    )
    return path


def _share(answers, k):
    """Smoothed share of each answer: one is added to each count."""
    return (np.bincount(answers, minlength=k)[:k] + 1) / (len(answers) + k) if answers else np.full(k, 1 / k)


def _softmax(x):
    powers = np.exp(x - x.max())
    return powers / powers.sum()


def _draw(probs, random):
    return min(int(np.searchsorted(np.cumsum(probs), random.random())), len(probs) - 1)
