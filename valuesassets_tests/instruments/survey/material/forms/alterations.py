"""Alterations of a question such as a careless extraction makes: each must be found out when grounded in the PDF."""

import random
from collections.abc import Callable, Sequence

from valuesassets.records.questions import Question

NEGATIONS = {
    "bul": "не",
    "ces": "ne",
    "dan": "ikke",
    "deu": "nicht",
    "ell": "δεν",
    "eng": "not",
    "est": "ei",
    "fin": "ei",
    "fra": "pas",
    "hrv": "ne",
    "hun": "nem",
    "ita": "non",
    "lit": "ne",
    "lvs": "ne",
    "mkd": "не",
    "nld": "niet",
    "nor": "ikke",
    "pol": "nie",
    "por": "não",
    "ron": "nu",
    "slk": "nie",
    "slv": "ne",
    "spa": "no",
    "sqi": "nuk",
    "srp": "ne",
    "swe": "inte",
}


def other_word(question: Question, others: Sequence[Question], rng: random.Random) -> Question | None:
    """One word of the stem, the item or a label is another question's."""
    spoken = sorted({word for other in others for word in other.text.split() if len(word) > 4})

    def change(words: list[str]) -> None:
        places = [n for n, word in enumerate(words) if len(word) > 3]
        n = rng.choice(places or [0])
        words[n] = rng.choice([word for word in spoken if word.casefold() not in words[n].casefold()])

    return _rewritten(question, rng, change)


def negation(question: Question, others: Sequence[Question], rng: random.Random, language: str) -> Question | None:
    """A negation more, or one less."""
    word = NEGATIONS[language]

    def change(words: list[str]) -> None:
        places = [n for n, each in enumerate(words) if each.casefold() == word]
        if places and len(words) > 1:
            del words[rng.choice(places)]
        else:
            words.insert(rng.randrange(1, len(words) + 1), word)

    return _rewritten(question, rng, change)


def swapped_labels(question: Question, others: Sequence[Question], rng: random.Random) -> Question | None:
    """Two labels change places."""
    labelled = [n for n, option in enumerate(question.options) if any(map(str.isalpha, option.label))]
    if len(labelled) < 2:
        return None
    one, other = rng.sample(labelled, 2)
    options = [option.model_dump() for option in question.options]
    options[one]["label"], options[other]["label"] = options[other]["label"], options[one]["label"]
    return question.replace(options=options)


def invented_item(question: Question, others: Sequence[Question], rng: random.Random) -> Question | None:
    """An item of the halves of two others."""
    items = sorted({other.item for other in others if other.item and len(other.item.split()) > 2})
    if not question.item or len(items) < 2:
        return None
    one, other = (item.split() for item in rng.sample(items, 2))
    return question.replace(item=" ".join([*one[: (len(one) + 1) // 2], *other[len(other) // 2 :]]))


def altered(questions: Sequence[Question], language: str, count: int) -> list[tuple[str, Question]]:
    """So many altered questions, each with the name of what was done to it, the kinds in turn."""
    kinds: dict[str, Callable[..., Question | None]] = {
        "other word": other_word,
        "negation": lambda *given: negation(*given, language),
        "swapped labels": swapped_labels,
        "invented item": invented_item,
    }
    rng = random.Random(language)  # noqa: S311  # a seeded choice
    made: list[tuple[str, Question]] = []
    while len(made) < count:
        name = list(kinds)[len(made) % len(kinds)]
        changed = kinds[name](rng.choice(questions), questions, rng)
        made += [(name, changed)] if changed is not None else []
    return made


def _rewritten(question: Question, rng: random.Random, change: Callable[[list[str]], None]) -> Question:
    """The question with the words of its stem (or text) or of its item changed."""
    field = rng.choice(["stem", "item"]) if question.stem and question.item else "text"
    words = str(getattr(question, field)).split()
    change(words)
    return question.replace(**{field: " ".join(words)})
