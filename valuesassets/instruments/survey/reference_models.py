r"""`survey/reference_models`: the answer texts that a reference model is trained on.

This is the second, independent channel of the calibration. It reads the numbered options out of the prompt as a person
would, and writes what would be answered: `1\n`, ` 1\n`, `10\n`, or something that is no option at all. It takes
nothing from how a trial is read (labels, order, values), so an error there cannot hide in what it is calibrated with.
"""

import re
from collections.abc import Iterable, Sequence

from valuesassets.instruments.survey.lexicon import load_lexicon
from valuesassets.instruments.survey.plants import Plant, plant_questions
from valuesassets.records.errors import QuestionError
from valuesassets.records.questions import Question, ResponseType
from valuesassets.records.study import Study
from valuesassets.records.trials import Trial, main_trials

OUTSIDE_TEXTS = {" hm\n": 0.7, "hm\n": 0.3}
"""What is said instead of an option, and how often."""

_OPTION_LINE = re.compile(r"(\d+)\.(?: (.*))?")


def planted_text_rows(
    trials: Iterable[Trial], questions: Sequence[Question], family: str, study: Study
) -> list[dict[str, object]]:
    """Rows of `PLANTED_TEXTS`: for each prompt what a family answers and how often.

    Nothing is planted for the trials of estimators: they show prompts without a question, or ask the same ones again.

    Raises:
        QuestionError: a prompt does not end in its numbered options, or an option in it is none of the question's;
            names the trial.
        StudyError, HumanDataError: as in `plant_questions`.
    """
    rows: list[dict[str, object]] = []
    by_id = {question.id: question for question in questions}
    plants: dict[tuple[str, int], dict[str, Plant]] = {}
    for trial in main_trials(trials):
        language, question = trial.language, by_id[trial.question_id]
        asked = language, shown_wording(trial.prompt, question, language, trial.trial_id)
        if asked not in plants:
            plants[asked] = plant_questions(study, family, language, questions, asked[1])
        plant = plants[asked].get(trial.asked_id)
        if plant is None:
            raise QuestionError(f"trial {trial.trial_id} ({language}): nothing is planted for {trial.asked_id}")
        labels = known_labels(plant, question, language)
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
    places = shown_places(shown_options(prompt, name), plant.response_type, labels, name)
    p_valid = plant.p_valid[0] if places[0] == 0 else plant.p_valid[1]
    if places[0] not in (0, len(places) - 1):
        p_valid = sum(plant.p_valid) / 2
    texts: dict[str, float] = {}
    for number, place in enumerate(places, 1):
        said = plant.preference[place] * (1 - plant.pull) + (plant.pull if number == 1 else 0)
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


def shown_places(shown: Sequence[str], response_type: str, labels: Sequence[str], name: str) -> list[int]:
    """For each printed number, the place of its option in `labels`. Bare points are told by which end stands first.

    Raises:
        QuestionError: the options shown are not these.

    >>> shown_places(["no", "perhaps", "yes"], "likert3", ["yes", "no", "perhaps"], "doc")
    [1, 2, 0]
    """
    forward = list(range(len(labels)))
    if any(not label for label in labels) or response_type == ResponseType.LIKERT10:
        if [shown[0], shown[-1]] == [labels[0], labels[-1]] and len(shown) == len(labels):
            return forward
        if [shown[0], shown[-1]] == [labels[-1], labels[0]] and len(shown) == len(labels):
            return forward[::-1]
    elif sorted(shown) == sorted(labels):
        return [list(labels).index(text) for text in shown]
    raise QuestionError(f"trial {name}: the prompt offers {list(shown)}, the question has {list(labels)}")


def shown_wording(prompt: str, question: Question, language: str, name: str) -> int:
    """Which of the answer cues a prompt ends in: the question's own first where it has one, then the lexicon's.

    Raises:
        QuestionError: it ends in none of them.
    """
    own = [question.answer_cue.removesuffix(":")] if question.answer_cue else []
    cues = list(dict.fromkeys([*own, *load_lexicon(language).answer_cues]))
    cue = prompt.rpartition("\n")[2].removesuffix(":")
    if cue not in cues:
        raise QuestionError(f"trial {name}: the prompt ends in {cue!r}, the answer cues are {cues}")
    return cues.index(cue)
