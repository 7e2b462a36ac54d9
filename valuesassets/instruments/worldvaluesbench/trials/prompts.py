"""The prompts: first the person's background, which many prompts share, then question and answers."""

from collections.abc import Mapping, Sequence

from valuesassets.instruments.worldvaluesbench.material.backgrounds import Attribute
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion
from valuesassets.records.errors import HumanDataError, StudyError

WORDINGS = ("list", "list_reversed_attributes", "sentence")
"""The wordings by number: a list of answers; the same with reversed order of attributes; the ends of the scale in a
sentence."""
OPENING = "A person was interviewed."
CUE = "The person's answer:"
"""The last line of every prompt."""


def wording_number(name: str) -> int:
    """The number of a wording in tables.

    Raises:
        StudyError: there is no such wording.
    """
    if name not in WORDINGS:
        raise StudyError(f"wordings: {name} unknown; name some of {', '.join(WORDINGS)}")
    return WORDINGS.index(name)


def shown_value(attribute: Attribute, value: str) -> str | None:
    """The text of an attribute in a prompt; None if the attribute has many codes and this one has no label.

    Args:
        value: from a profile: a code, a number or a text.

    Raises:
        StudyError: no code of the attribute has a label; they are in the published codebook (`seed_files`).
        HumanDataError: the code is not among the few codes of the attribute.

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
    """A line such as `Country: China` for each of `attributes` that `values`, the profile by attribute, contain."""
    pairs = ((each.name, shown_value(each, values[each.id])) for each in attributes if each.id in values)
    return tuple(f"{name}: {text}" for name, text in pairs if text is not None)


def opening(lines: Sequence[str], wording: str) -> str:
    r"""The first part of a prompt, up to the empty line, which all questions about one person share.

    >>> opening(["Country: China"], "list")
    'A person was interviewed.\nCountry: China\n\n'
    """
    shown_lines = lines[::-1] if wording == "list_reversed_attributes" else lines
    return "\n".join([OPENING, *shown_lines]) + "\n\n"


def asking(question: ValueQuestion, order: Sequence[int], wording: str) -> str:
    r"""The rest of a prompt: question, answers numbered from 1 in `order`, and the cue.

    Scales from 0 are numbered from 1 too; scales of ten points have labels at both ends, as in the survey.

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
