"""Made-up people who choose in four situations, each with letters of its own, told in several ways."""

import random

from valuesassets.records.marks import Transcript

SITUATIONS = (
    ("A neighbour plays loud music at night", {"K": "knock", "P": "call the police", "W": "wait", "E": "earplugs"}),
    ("Your boss takes credit for your work", {"B": "talk to the boss", "J": "say nothing", "T": "tell", "Q": "quit"}),
    ("The shop gave you too much change", {"R": "return it", "M": "keep it", "G": "give it away", "Y": "ask"}),
    ("Someone drops a purse in the street", {"D": "run after them", "F": "leave it", "H": "to the police"}),
)
STYLES = ("one line", "beginnings of their own", "numbers", "headers")


def situations(style, is_shuffled, people=8):
    """Transcripts: all items in one line; items of several lines that begin differently, with a number, with a word."""
    generator = random.Random(1)  # noqa: S311
    return [
        Transcript(text=_text(style, is_shuffled, generator), experiment="Situations", participant=str(number))
        for number in range(people)
    ]


def _text(style, is_shuffled, generator):
    items, text = list(SITUATIONS), "You will read four situations. Choose one letter each time.\n"
    if is_shuffled:
        generator.shuffle(items)
    for number, (situation, options) in enumerate(items, 1):
        answer = generator.choice(list(options))
        if style == "one line":
            listed = ", ".join(f"{key}) {what}" for key, what in options.items())
            text += f"{number}. {situation}: {listed}. You answer <<{answer}>>. "
            continue
        begins = {"numbers": f"{number}. ", "headers": f"Situation {number}: "}.get(style, "")
        listed = "".join(f"{key}: {what}\n" for key, what in options.items())
        text += f"{begins}{situation}.\n{listed}You press <<{answer}>>.\n"
    return text
