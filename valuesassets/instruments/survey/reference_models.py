r"""`survey/reference_models`: the answer texts that a reference model is trained on.

This is the second, independent channel of the calibration. It reads the numbered options out of the prompt as a person
would, and writes what would be answered: `1\n`, ` 1\n`, `10\n`, or something that is no option at all. It takes
nothing from how a trial is read (labels, order, values), so an error there cannot hide in what it is calibrated with.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from valuesassets.instruments.survey.lexicon import load_lexicon
from valuesassets.instruments.survey.plants import Plant, plant_questions
from valuesassets.records.errors import QuestionError
from valuesassets.records.questions import Question, ResponseType
from valuesassets.records.study import Study
from valuesassets.records.trials import Trial

OUTSIDE_TEXTS = {" hm\n": 0.7, "hm\n": 0.3}
"""What is said instead of an option, and how often."""

_OPTION_LINE = re.compile(r"(\d+)\.(?: (.*))?")


def planted_text_rows(
    trials: Iterable[Trial], questions: Sequence[Question], family: str, study: Study
) -> list[dict[str, object]]:
    """Rows of `PLANTED_TEXTS`: for each prompt what a family answers and how often.

    Raises:
        QuestionError: a prompt does not end in its numbered options, or an option in it is none of the question's;
            names the trial.
        StudyError, HumanDataError: as in `plant_questions`.
    """
    rows: list[dict[str, object]] = []
    by_id = {question.id: question for question in questions}
    plants: dict[str, dict[str, Plant]] = {}
    for trial in trials:
        language = trial.language
        if language not in plants:
            plants[language] = plant_questions(study, family, language, questions)
        plant = plants[language].get(trial.asked_id)
        if plant is None:
            raise QuestionError(f"trial {trial.trial_id} ({language}): nothing is planted for {trial.asked_id}")
        labels = known_labels(plant, by_id[trial.question_id], language)
        for text, prob in answer_texts(trial.prompt, plant, labels, trial.trial_id).items():
            rows.append(
                {
                    "language": language,
                    "trial_id": trial.trial_id,
                    "prompt": trial.prompt,
                    "answer_text": text,
                    "prob": prob,
                }
            )
    return rows


def known_labels(plant: Plant, question: Question, language: str) -> list[str]:
    """The option texts of a question as asked, in the order of `plant.values`: agree and disagree for list items."""
    if plant.is_converted and question.item:
        lexicon = load_lexicon(language)
        return [lexicon.agree.strip(), lexicon.disagree.strip()]
    by_value = {option.value: option.label.strip() for option in question.options}
    return [by_value[value] for value in plant.values]


def answer_texts(prompt: str, plant: Plant, labels: Sequence[str], name: str) -> dict[str, float]:
    r"""Probability of each answer text to one prompt; they sum to 1, and every one ends its line.

    A preference follows the text of an option, wherever it stands; the pull goes to whatever stands first.

    Args:
        labels: option texts in the order of `plant.values`.
        name: of the trial, for errors.

    Raises:
        QuestionError: the options in the prompt are not those of the plant.
    """
    shown = shown_options(prompt, name)
    wanted = _preference_by_number(shown, plant, labels, name)
    p_valid = _p_valid(shown[0], plant, labels)
    texts: dict[str, float] = {}
    for number, share in enumerate(wanted, 1):
        said = share * (1 - plant.pull) + (plant.pull if number == 1 else 0)
        texts[f"{number}\n"] = p_valid * said * plant.bare
        texts[f" {number}\n"] = p_valid * said * (1 - plant.bare)
    return texts | {text: (1 - p_valid) * share for text, share in OUTSIDE_TEXTS.items()}


def shown_options(prompt: str, name: str) -> list[str]:
    """The texts of the numbered options that stand before the last line of a prompt.

    Raises:
        QuestionError: there are not at least two lines numbered from 1.

    >>> shown_options("Who? 1. I ask.\\n1. you\\n2. me\\nAnswer:", "doc")
    ['you', 'me']
    """
    options: list[str] = []
    lines = prompt.split("\n")[:-1]
    for line in reversed(lines):
        found = _OPTION_LINE.fullmatch(line)
        if found is None:
            break
        options.insert(0, (found[2] or "").strip())
        if found[1] == "1":
            break
    numbers = [line.partition(".")[0] for line in lines[len(lines) - len(options) :]]
    if len(options) < 2 or numbers != [str(number) for number in range(1, len(options) + 1)]:
        raise QuestionError(f"trial {name}: the prompt does not end in options numbered from 1 and an answer cue")
    return options


def _preference_by_number(shown: Sequence[str], plant: Plant, labels: Sequence[str], name: str) -> list[float]:
    """Planted preference by printed number. Scales with bare points are told by which end stands first."""
    if any(not label for label in labels) or plant.response_type == ResponseType.LIKERT10:
        preference = list(plant.preference)
        if [shown[0], shown[-1]] == [labels[0], labels[-1]]:
            return preference
        if [shown[0], shown[-1]] == [labels[-1], labels[0]]:
            return preference[::-1]
    elif sorted(shown) == sorted(labels):
        by_label: Mapping[str, float] = dict(zip(labels, plant.preference, strict=True))
        return [by_label[text] for text in shown]
    raise QuestionError(f"trial {name}: the prompt offers {list(shown)}, the question has {list(labels)}")


def _p_valid(first_shown: str, plant: Plant, labels: Sequence[str]) -> float:
    if first_shown == labels[0]:
        return plant.p_valid[0]
    if first_shown == labels[-1]:
        return plant.p_valid[1]
    return sum(plant.p_valid) / 2
