r"""`reference_models`: the answer texts that a reference model is trained on.

This is the second, independent channel of the calibration. It reads the numbered or lettered options from the prompt
like a person and writes the answer: `1\n`, ` 1\n`, `10\n`, `B\n`, or a text that is not an option. It uses nothing of a
trial's readout (labels, order, values), so that an error there shows in the calibration.
"""

import itertools
import re
from collections.abc import Iterable, Sequence

from valuesassets.answers.plants import Plant, Plants
from valuesassets.records.errors import QuestionError
from valuesassets.records.questions import ResponseType
from valuesassets.records.trials import Trial, main_trials

OUTSIDE_TEXTS = {" hm\n": 0.7, "hm\n": 0.3}
"""Texts in place of an option, with their shares."""

_OPTION_LINE = re.compile(r"(-?\d+|[A-Z])\.(?: (.*))?")


def planted_text_rows(trials: Iterable[Trial], plants: Plants) -> list[dict[str, object]]:
    """Rows of `PLANTED_TEXTS`: the answers to each prompt with their probabilities.

    The trials of estimators have no plants: their prompts have no question, or repeat a question.

    Raises:
        QuestionError: a prompt does not end in its options, or contains an option that the question does not have;
            names the trial.
    """
    rows: list[dict[str, object]] = []
    for trial in main_trials(trials):
        if trial.asked_id not in plants:
            raise QuestionError(f"trial {trial.trial_id} ({trial.language}): nothing is planted for {trial.asked_id}")
        plant = shown_plant(trial.prompt, plants[trial.asked_id], trial.trial_id)
        label: dict[str, object] = {"language": trial.language, "trial_id": trial.trial_id, "prompt": trial.prompt}
        texts = answer_texts(trial.prompt, plant, trial.trial_id)
        rows += [label | {"answer_text": text, "prob": prob} for text, prob in texts.items()]
    return rows


def answer_texts(prompt: str, plant: Plant, name: str) -> dict[str, float]:
    r"""Probability of each answer text to a prompt; they sum to 1, and every text ends in a line break.

    A preference follows the text of an option, whatever its position; the position bias follows the first position.

    Args:
        name: the trial's name, for error messages.

    Raises:
        QuestionError: the options in the prompt are not those of the plant.
    """
    places = shown_places(prompt, plant, name)
    p_valid = plant.p_valid[0] if places[0] == 0 else plant.p_valid[1]
    if places[0] not in (0, len(places) - 1):
        p_valid = sum(plant.p_valid) / 2
    texts: dict[str, float] = {}
    for number, (label, place) in enumerate(zip(shown_labels(prompt, name), places, strict=True), 1):
        share = plant.preference[place] * (1 - plant.pull) + (plant.pull if number == 1 else 0)
        texts[f"{label}\n"] = p_valid * share * plant.bare
        texts[f" {label}\n"] = p_valid * share * (1 - plant.bare)
    return texts | {text: (1 - p_valid) * outside for text, outside in OUTSIDE_TEXTS.items()}


def shown_labels(prompt: str, name: str) -> list[str]:
    """The numbers or letters of the options before the last line of a prompt.

    >>> shown_labels("Who?\\nA. you\\nB. me\\nAnswer:", "doc")
    ['A', 'B']
    """
    return [label for label, _ in shown_options(prompt, name)]


def shown_options(prompt: str, name: str) -> list[tuple[str, str]]:
    """The number or letter and the text of each option before the last line of a prompt.

    Raises:
        QuestionError: there are fewer than two lines numbered from 1 or lettered from A.

    >>> shown_options("Who? 1. I ask.\\n1. you\\n2. me\\nAnswer:", "doc")
    [('1', 'you'), ('2', 'me')]
    """
    options: list[tuple[str, str]] = []
    for line in reversed(prompt.split("\n")[:-1]):
        match = _OPTION_LINE.fullmatch(line)
        if match is None or not _goes_on([match[1], *(label for label, _ in options)]):
            break
        options.insert(0, (match[1], (match[2] or "").strip()))
    labels = [label for label, _ in options]
    enumerations = ([str(n + 1) for n in range(len(labels))], [chr(ord("A") + n) for n in range(len(labels))])
    are_points = not all(text for _, text in options) and not labels[0].isalpha()
    if len(options) < 2 or not (labels in enumerations or are_points):
        raise QuestionError(
            f"trial {name}: the prompt does not end in options numbered from 1, lettered from A, or the points of a "
            "scale, and an answer cue"
        )
    return options


def _goes_on(labels: Sequence[str]) -> bool:
    """Whether labels are letters, or numbers, in equal steps."""
    if len({label.isalpha() for label in labels}) > 1:
        return False
    places = [ord(label) if label.isalpha() else int(label) for label in labels]
    return len({later - earlier for earlier, later in itertools.pairwise(places)}) < 2


def shown_places(prompt: str, plant: Plant, name: str) -> list[int]:
    """The index in `plant.texts` of each option shown.

    Points without words between labelled ends are identified by which end comes first; where the ends are numbers too,
    each point is identified by its number.

    Raises:
        QuestionError: the options shown are not those of the plant.
    """
    texts, forward = list(plant.texts), list(range(len(plant.texts)))
    texts_shown = [text or (label if all(texts) else "") for label, text in shown_options(prompt, name)]
    is_bare = [not any(map(str.isalpha, text)) for text in texts]
    if plant.response_type == ResponseType.LIKERT10 or (any(is_bare) and not (is_bare[0] or is_bare[-1])):
        if [texts_shown[0], texts_shown[-1]] == [texts[0], texts[-1]] and len(texts_shown) == len(texts):
            return forward
        if [texts_shown[0], texts_shown[-1]] == [texts[-1], texts[0]] and len(texts_shown) == len(texts):
            return forward[::-1]
    elif sorted(texts_shown) == sorted(texts):
        return [texts.index(text) for text in texts_shown]
    raise QuestionError(f"trial {name}: the prompt offers {texts_shown}, the question has {texts}")


def shown_plant(prompt: str, wordings: Sequence[Plant], name: str) -> Plant:
    """The plant of the answer cue at the end of a prompt.

    Raises:
        QuestionError: the prompt does not end in an answer cue of the plants.
    """
    cue = prompt.rpartition("\n")[2].removesuffix(":")
    for plant in wordings:
        if plant.cue == cue:
            return plant
    cues = [plant.cue for plant in wordings]
    raise QuestionError(f"trial {name}: the prompt ends in {cue!r}, the answer cues are {cues}")
