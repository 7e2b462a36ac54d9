"""`survey/trials`: the prompts of one language, in every order the study asks for."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from valuesassets.answers.language_codes import scripts_of
from valuesassets.answers.orders import option_orders
from valuesassets.answers.spoken_language import MOSTLY, script_share
from valuesassets.instruments.survey.material.forms.missing_answers import MissingWords, sort_options
from valuesassets.people.variables import Variables
from valuesassets.records.errors import LexiconError, QuestionError
from valuesassets.records.lexicon import Lexicon
from valuesassets.records.questions import OPTION_COUNTS, Option, Question, figure, has_words, shown_numbers
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.settings.measuring import Elicitation
from valuesassets.records.trials import Trial, asked_id, main_trials

LEAST_SHARED = 0.1  # least share of the questions' letters in the lexicon's script


def write_trials(
    questions: Sequence[Question],
    language: str,
    lexicon: Lexicon,
    variables: Variables,
    elicitation: Elicitation | None = None,
    seed: int = 0,
) -> list[Trial]:
    """The trials of one language: every question, wording, condition and order.

    Lists of mentioned / not mentioned become statements to agree with, and a question that depends on another is asked
    once per answer to it (see docs/prompts.md). The trials of the study's estimators follow each question's own.

    Args:
        questions: sound questions under canonical ids.
        seed: of the option orders, which are drawn if `elicitation.orders` is a number.

    Raises:
        QuestionError: two trials have the same prompt.
        LexiconError: the lexicon and the questions are in different scripts of the language.
    """
    _require_one_script(questions, language, lexicon)
    _require_answers(questions, language, lexicon)
    elicitation, variables = elicitation or Elicitation(), variables.of(questions)
    by_id = {question.id: question for question in questions}
    trials = []
    for question in questions:
        cues = answer_cues(question, lexicon, elicitation.wordings)
        for condition, variant in _variants(question, by_id, lexicon, variables):
            orders = option_orders(variant, elicitation.orders, seed)
            for wording, cue in enumerate(cues):
                for name, order in orders.items():
                    trial = Trial(
                        trial_id=f"{asked_id(question.id, condition)}/{wording}/{name}",
                        question_id=question.id,
                        language=language,
                        prompt=prompt_text(variant, order, cue),
                        order=name,
                        wording=wording,
                        condition=condition,
                        readout=ScoreLabels(
                            labels=tuple(map(str, _numbers(variant, order))),
                            values=tuple(variant.options[position].value for position in order),
                        ),
                    )
                    trials += [trial, *_estimator_trials(trial, variant, order, cue, elicitation.estimators)]
    for one, other, *_ in find_identical_prompts(trials):
        raise QuestionError(
            f"{language}: {one} and {other} show the same prompt; is an item missing from the text? mend or remove one "
            "of them"
        )
    return trials


def _require_answers(questions: Sequence[Question], language: str, lexicon: Lexicon) -> None:
    """Raise an error if an option says don't know or no answer, as in files that `extract` did not write."""
    words = MissingWords.of(lexicon, language)
    for question in questions:
        count = OPTION_COUNTS.get(question.response_type)
        for option in sort_options(question.options, words, count).worded:
            raise QuestionError(
                f"{language}: {question.id}: option {option.value} ({option.label}) says don't know or no answer, "
                "which are never offered; take it out"
            )


def _require_one_script(questions: Sequence[Question], language: str, lexicon: Lexicon) -> None:
    """Raise an error if a prompt would mix two scripts of its language, such as Cyrillic and Latin for Serbian."""
    cue, text = lexicon.answer_cues[0], " ".join(question.text for question in questions)
    own = [script for script in scripts_of(language) if script_share(cue, [script])]
    others = [script for script in scripts_of(language) if (script_share(text, [script]) or 0) > MOSTLY]
    if others and own and (script_share(text, own) or 0) < LEAST_SHARED:
        raise LexiconError(
            f"{language}: the questions are in {others[0].title()} letters, {lexicon.source} in {own[0].title()} ones "
            f"({cue!r}); name a lexicon in their letters: lexicon under [languages.{language}], or --lexicon"
        )


def prompt_text(question: Question, order: Sequence[int], answer_cue: str) -> str:
    r"""The bare completion that a model is given: question, numbered options in `order`, cue and colon.

    >>> from valuesassets.records.questions import parse_questions
    >>> q = {"id": "v1", "text": "How important is work?", "response_type": "binary",
    ...      "options": [{"value": 1, "label": "Very"}, {"value": 2, "label": "Not at all"}]}
    >>> prompt_text(parse_questions([q], "doc")[0], [1, 0], "Answer")
    'How important is work?\n1. Not at all\n2. Very\nAnswer:'
    """
    return f"{question.text.strip()}\n{content_free_prompt(question, order, answer_cue)}"


def content_free_prompt(question: Question, order: Sequence[int], answer_cue: str) -> str:
    """The prompt without the question: options, cue and colon."""
    labels = [question.options[position].label.strip() for position in order]
    if shown_numbers(question) is not None:
        labels = ["" if figure(label) is not None else label for label in labels]
    lines = [f"{number}. {label}".rstrip() for number, label in zip(_numbers(question, order), labels, strict=True)]
    return "\n".join([*lines, f"{answer_cue}:"])


def _numbers(question: Question, order: Sequence[int]) -> Sequence[int]:
    """The number before each option. On a scale with worded ends the numbers keep their places and the words move; on a
    scale with figures at its ends the numbers move."""
    numbers = shown_numbers(question)
    if numbers is None:
        return range(1, len(order) + 1)
    are_ends_words = has_words(question.options[0]) and has_words(question.options[-1])
    return numbers if are_ends_words else [numbers[position] for position in order]


def _estimator_trials(
    trial: Trial, question: Question, order: Sequence[int], cue: str, estimators: Sequence[str]
) -> Iterator[Trial]:
    """The trials of the estimators: the prompt without the question, and option texts in place of the numbers."""
    if "content_free" in estimators:
        name, prompt = f"{trial.trial_id}/content_free", content_free_prompt(question, order, cue)
        yield replace(trial, trial_id=name, prompt=prompt, estimator="content_free")
    texts = tuple(question.options[position].label.strip() for position in order)
    has_texts = all(texts) and len(set(texts)) == len(texts)
    if "label_likelihood" in estimators and trial.order in ("forward", "reversed") and has_texts:
        name, readout = f"{trial.trial_id}/label_likelihood", ScoreLabels(texts, trial.values)
        yield replace(trial, trial_id=name, readout=readout, estimator="label_likelihood")


def find_identical_prompts(trials: Iterable[Trial]) -> list[tuple[str, ...]]:
    """Groups of ids of main trials with the same prompt."""
    by_prompt: dict[str, list[str]] = defaultdict(list)
    for trial in main_trials(trials):
        by_prompt[trial.prompt].append(trial.trial_id)
    return [tuple(names) for names in by_prompt.values() if len(names) > 1]


def answer_cues(question: Question, lexicon: Lexicon, wordings: int) -> list[str]:
    """The answer cues of a question: its own, if it has one, then the lexicon's.

    Raises:
        QuestionError: the study asks for more wordings than there are cues.
    """
    own = [question.answer_cue.removesuffix(":")] if question.answer_cue else []
    cues = list(dict.fromkeys([*own, *lexicon.answer_cues]))
    if wordings > len(cues):
        raise QuestionError(
            f"question {question.id}: {wordings} wordings asked, the lexicon has {len(cues)} answer cues; add some"
        )
    return cues[:wordings]


def _variants(
    question: Question, by_id: dict[str, Question], lexicon: Lexicon, variables: Variables
) -> Iterator[tuple[str | None, Question]]:
    """The forms of a question: a statement for a list item, one form per earlier answer for a dependent question."""
    earlier_id = variables.depends_on.get(question.id)
    list_name = variables.list_of.get(question.id)
    if list_name and question.item and variables.is_converted(question):
        mentioned, not_mentioned = question.values
        options = (Option(value=mentioned, label=lexicon.agree), Option(value=not_mentioned, label=lexicon.disagree))
        statement = lexicon.statement(list_name, question.item)
        yield None, question.model_copy(update={"text": statement, "options": options})
    elif earlier_id in by_id:
        earlier = by_id[earlier_id]
        for chosen in earlier.options:
            rest = tuple(option for option in question.options if option.value != chosen.value)
            lines = (earlier.text.strip(), lexicon.first_choice.format(label=chosen.label), question.text.strip())
            update = {"text": "\n".join(lines), "options": rest}
            yield f"{earlier_id}={chosen.value}", question.model_copy(update=update)
    else:
        yield None, question
