"""What a model is shown: the person's background first, so that many questions share it, then question and answers."""

from collections.abc import Mapping, Sequence

from valuesassets.instruments.worldvaluesbench.material.backgrounds import Attribute
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion
from valuesassets.records.errors import HumanDataError, StudyError

WORDINGS = ("list", "list_reversed_attributes", "sentence")
"""How a question may be put, by number: answers below each other; the same, what is known of the person in reversed
order; the ends of the scale in a sentence."""
OPENING = "A person was interviewed."
CUE = "The person's answer:"
"""The last line of every prompt."""


def wording_number(name: str) -> int:
    """The number that a wording has in tables.

    Raises:
        StudyError: there is no such wording.
    """
    if name not in WORDINGS:
        raise StudyError(f"wordings: {name} unknown; name some of {', '.join(WORDINGS)}")
    return WORDINGS.index(name)


def shown_value(attribute: Attribute, value: str) -> str | None:
    """What a person's line says of an attribute; None where the code is one of many that have no name.

    Args:
        value: as a profile has it: a code, a number or a text.

    Raises:
        StudyError: none of the attribute's codes has a name; they are in the codebook of the user's `seed_files`.
        HumanDataError: the code is none of the few that there are.

    >>> shown_value(Attribute(id="H_URBRURAL", name="Settlement", kind="codes", labels={1: "urban"}), "1")
    'urban'
    """
    if attribute.kind == "number" or not value.isdecimal():
        return value
    if not attribute.labels:
        raise StudyError(
            f"attributes: {attribute.id}: its codes have no names here; name the folder of a codebook (seed_files), "
            f"or leave {attribute.id} out"
        )
    label = attribute.labels.get(int(value))
    if label is None and attribute.kind == "codes":
        low, high = min(attribute.labels), max(attribute.labels)
        raise HumanDataError(
            f"{attribute.id}: code {value} found, codes such as {low} to {high} were expected; recode the answers' file"
        )
    return label


def person_lines(values: Mapping[str, str], attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """One line for each attribute that is known, in the order of `attributes`: `Country: China`.

    Args:
        values: of a profile, by attribute.
    """
    shown = ((each.name, shown_value(each, values[each.id])) for each in attributes if each.id in values)
    return tuple(f"{name}: {text}" for name, text in shown if text is not None)


def opening(lines: Sequence[str], wording: str) -> str:
    r"""The first part of a prompt, the same for all questions put to one person: up to the empty line.

    >>> opening(["Country: China"], "list")
    'A person was interviewed.\nCountry: China\n\n'
    """
    told = lines[::-1] if wording == "list_reversed_attributes" else lines
    return "\n".join([OPENING, *told]) + "\n\n"


def asking(question: ValueQuestion, order: Sequence[int], wording: str) -> str:
    r"""The rest of a prompt: question, answers numbered from 1 in `order`, and the cue.

    A scale that begins at 0 is shown from 1 too; of ten points the two ends have words, as in the survey.

    >>> q = ValueQuestion(id="Q165", category="", text="Is there a God?", lo=1, hi=2, labels=("yes", "no"))
    >>> asking(q, [1, 0], "list")
    "Is there a God?\n1. no\n2. yes\nThe person's answer:"
    >>> asking(q, [0, 1], "sentence")
    "Is there a God? Answer with a number from 1, meaning yes, to 2, meaning no.\nThe person's answer:"
    """
    labels = [question.labels[place] for place in order]
    if wording == "sentence":
        scale = f"Answer with a number from 1, meaning {labels[0]}, to {len(labels)}, meaning {labels[-1]}."
        return f"{question.text} {scale}\n{CUE}"
    answers = [f"{number}. {label}".rstrip() for number, label in enumerate(labels, 1)]
    return "\n".join([question.text, *answers, CUE])
