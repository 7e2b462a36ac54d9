"""Whatever an extraction brings in, brought into one form: every change is recorded with its reason.

Nothing is guessed: an option without a label stays without one, and is found by the checks.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from valuesassets.instruments.survey.aligned_questions import canonical_id
from valuesassets.instruments.survey.changes import Change
from valuesassets.instruments.survey.layout.spoken_language import foreign_language
from valuesassets.instruments.survey.layout.text_damage import script_of, script_share
from valuesassets.instruments.survey.layout.word_graph import words_of
from valuesassets.instruments.survey.lexicon import bundled_lexicons, load_lexicon
from valuesassets.instruments.survey.variables import Variables
from valuesassets.records.questions import OPTION_COUNTS, Option, Question, ResponseType, is_missing_code

LATIN_LOOKALIKES = str.maketrans("ѵѴвВ", "vVvV")
"""Cyrillic letters that stand for the `v` of a variable code in forms set in Cyrillic."""
SCRIPT_SHARE = 0.5
"""Share of an item's letters that must be of the language's script."""
MOST_FOREIGN = 0.8
"""Where more questions than that are in another language, the form is no bilingual one but the wrong one."""
TEN = range(1, 11)


@dataclass
class Normalised:
    """Questions in one form, and what was changed on the way."""

    questions: list[Question] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


@dataclass(frozen=True)
class _Known:
    """What is known beside a question: its survey's facts, the form's layout, its language's words for no answer."""

    variables: Variables
    printed: Mapping[str, Question]
    missing_answers: frozenset[tuple[str, ...]]


def normalise_questions(
    questions: Sequence[Question], language: str, variables: Variables, printed: Mapping[str, Question] | None = None
) -> Normalised:
    """Canonical ids, no codes for don't know, whole ten-point scales, types that fit the options, each question once.

    A question that stands twice with the same words is merged (`merged_from` keeps the positions); items in another
    script than the language's are left out where the form is bilingual.

    Args:
        printed: the questions as read from the form's layout, by id: they lend a scale its anchors.
    """
    done = Normalised()
    known = _Known(variables, printed or {}, _missing_answers(language))
    places: dict[str, int] = {}
    foreign = [_foreign(question, language) for question in questions]
    is_bilingual = sum(each is not None for each in foreign) < MOST_FOREIGN * len(questions)
    for position, question in enumerate(questions):
        other = foreign[position]
        if is_bilingual and other is not None:
            done.changes.append(Change(question.id, "question", question.text, None, other))
            continue
        question = _each_in_turn(question, known, done.changes)
        earlier = places.get(question.id)
        if earlier is not None and _says_the_same(done.questions[earlier], question):
            first = done.questions[earlier]
            merged = [*((first.model_extra or {}).get("merged_from") or [earlier]), position]
            done.questions[earlier] = first.replace(merged_from=merged)
            done.changes.append(Change(question.id, "question", question.text, None, "the same question twice: merged"))
        else:
            places.setdefault(question.id, len(done.questions))
            done.questions.append(question)
    return done


def _each_in_turn(question: Question, known: _Known, changes: list[Change]) -> Question:
    for step in (_with_canonical_id, _without_missing_answers, _with_whole_scale, _with_fitting_type):
        for changed, name, before, after, why in step(question, known):
            changes.append(Change(changed.id, name, before, after, why))
            question = changed
    return question


_Steps = Iterator[tuple[Question, str, str | None, str | None, str]]


def _with_canonical_id(question: Question, known: _Known) -> _Steps:
    written = unicodedata.normalize("NFKC", question.id).translate(LATIN_LOOKALIKES)
    item = (question.item or "").translate(LATIN_LOOKALIKES)
    code = canonical_id(written) or canonical_id(written.rpartition("-")[2]) or canonical_id(item)
    if code is not None and code != question.id:
        changed = question.replace(id=code, source_id=question.source_id or question.id)
        yield changed, "id", question.id, code, "the variable's canonical code"


def _without_missing_answers(question: Question, known: _Known) -> _Steps:
    count = OPTION_COUNTS.get(question.response_type, len(question.options))
    said = [o for o in question.options if _phrase(o.label) in known.missing_answers]
    dropped = [o for o in question.options if o not in said and is_missing_code(o.value, count)]
    volunteered = known.variables.volunteered_values(question.id)
    for group, why in (
        (said, "its words say don't know or no answer, which are never offered"),
        (dropped, "codes for don't know and no answer are never offered"),
        ([o for o in question.options if o.value in volunteered], "coded when said, never offered"),
    ):
        if group:
            kept = tuple(option for option in question.options if option not in group)
            question = question.model_copy(update={"options": kept})
            yield question, "options", _listed(group), None, why


def _with_whole_scale(question: Question, known: _Known) -> _Steps:
    if (known.variables.response_type(question.id) or question.response_type) is not ResponseType.LIKERT10:
        return
    labels = {option.value: option.label for option in question.options}
    if set(labels) <= {1, 10}:
        scale = tuple(Option(value=value, label=labels.get(value, "")) for value in TEN)
        question = question.model_copy(update={"options": scale})
        yield question, "options", _listed(question.options) or None, "1 to 10", "a ten-point scale has all its points"
    model = known.printed.get(question.id)
    if model and set(question.values) == set(TEN) == set(model.values) and not any(o.label for o in question.options):
        changed = question.model_copy(update={"options": model.options})
        yield (
            changed,
            "options",
            None,
            _listed([model.options[0], model.options[-1]]),
            "the anchors as the form has them",
        )


def _with_fitting_type(question: Question, known: _Known) -> _Steps:
    count = len(question.options)
    is_known = known.variables.response_type(question.id) is not None
    fits = count < 2 or OPTION_COUNTS.get(question.response_type, count) == count
    kind = known.variables.fitting_type(question.id, count) if is_known or not fits else question.response_type
    if kind is not question.response_type:
        why = "the variable's own" if is_known else f"it has {count} options"
        changed = question.model_copy(update={"response_type": kind})
        yield changed, "response_type", str(question.response_type), str(kind), why


def _missing_answers(language: str) -> frozenset[tuple[str, ...]]:
    phrases = load_lexicon(language).missing_answers if language in bundled_lexicons() else ()
    return frozenset(map(_phrase, phrases))


def _phrase(label: str) -> tuple[str, ...]:
    """The words of a label, without what stands in brackets behind it."""
    return tuple(words_of(re.sub(r"\s+[(\[].*?[)\]]", "", label)))


def _foreign(question: Question, language: str) -> str | None:
    """Why a question is in the form's other language, or None."""
    text = " ".join([question.text, *(o.label for o in question.options)])
    share = script_share(text, script_of(language))
    if share is not None and share < SCRIPT_SHARE:
        return f"not {script_of(language).title()}, as {language} is written: the form's other language"
    other = foreign_language(text, language)
    return f"in {other}, not in {language}: the form's other language" if other else None


def _says_the_same(one: Question, other: Question) -> bool:
    return (one.text, one.item, one.values) == (other.text, other.item, other.values)


def _listed(options: Sequence[Option]) -> str:
    return "; ".join(f"{option.value} {option.label}".rstrip() for option in options)
