"""Normalises the questions of an extraction; every change is recorded with its reason.

Nothing is guessed: an option without a label stays without one, which the checks report.
"""

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from valuesassets.instruments.survey.material.forms.changes import Change, changes_between, listed
from valuesassets.instruments.survey.material.forms.guessed_types import (
    GUESSED,
    guessed_type,
    has_bare_points,
    why_doubtful,
)
from valuesassets.instruments.survey.material.forms.layout.text_layer import (
    foreign_languages,
    named_script,
    script_share,
)
from valuesassets.instruments.survey.material.forms.layout.word_graph import words_of
from valuesassets.instruments.survey.material.forms.missing_answers import MissingWords, Sorted, sort_options
from valuesassets.instruments.survey.material.forms.own_numbers import carriers, without_own_numbers
from valuesassets.instruments.survey.material.question_parts import with_parts_in_place
from valuesassets.people.variables import BY_COUNT, Variables, canonical_id
from valuesassets.records.lexicon import Lexicon, known_lexicon
from valuesassets.records.questions import (
    MOST_OPTIONS,
    OPTION_COUNTS,
    TEN,
    Option,
    Question,
    ResponseType,
    figure,
    has_words,
    ten_point_scale,
)

LATIN_LOOKALIKES = str.maketrans("ѵѴв", "vVv")
"""Cyrillic letters in place of the `v` of a variable code; a capital В belongs to a question number (Въпрос)."""
SCRIPT_SHARE = 0.5  # least share of an item's letters in the language's script
MOST_FOREIGN = 0.8  # largest share of questions in the other language of a bilingual form
NAMES = re.compile(r"[^\W_]+")  # the parts of an id such as `Q38_v126` or `[Q1A][v1]`
QUOTED = re.compile(r"[\"“”„«»‘’‚](?=\w)([^\"“”„«»‘‚]{2,80}?)[\"“”»«]")  # between quotation marks of any language
PARTS = ("text", "stem", "item", "options")


@dataclass
class Normalised:
    """Normalised questions and their changes.

    Attributes:
        positions: for each question, the places of its records in the extraction.
        foreign: the questions in the form's other language, which are left out.
        doubts: about a question's answers, for a person: id, check and message.
        guessed: ids of questions whose type nobody has given.
    """

    questions: list[Question] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    positions: list[tuple[int, ...]] = field(default_factory=list)
    foreign: list[Question] = field(default_factory=list)
    foreign_positions: list[tuple[int, ...]] = field(default_factory=list)
    doubts: list[tuple[str, str, str]] = field(default_factory=list)
    guessed: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, questions: Sequence[Question]) -> "Normalised":
        """Wraps questions that are already normalised."""
        return cls(list(questions), positions=[(place,) for place in range(len(questions))])


@dataclass(frozen=True)
class _Context:
    """The facts beside a question: of its survey, of the form's layout, and of its language."""

    variables: Variables
    letters: frozenset[str]
    """The letters of the surveys whose codes the ids are."""
    printed: Mapping[str, Question]
    missing: MissingWords
    cues: frozenset[tuple[str, ...]]
    either: frozenset[tuple[str, ...]]
    """The words for opposite answers: yes, no, agree, disagree."""

    def variable(self, question: Question) -> str:
        """The code of a question's variable; empty if its id is no code."""
        return question.id if question.id[:1] in self.letters else ""

    def sort_options(self, question: Question) -> Sorted:
        """The options of a question that are, or may be, no answers."""
        own = self.variables.option_count(self.variable(question))
        count = own or (None if is_guessed(question) else OPTION_COUNTS.get(question.response_type))
        return sort_options(question.options, self.missing, count)


_Edits = Iterator[tuple[dict[str, Any], str | None, str | None, str]]
"""New content by field, and the change of the first field in words: before, after, why."""
_Step = Callable[[Question, _Context], _Edits]


def normalise_questions(
    questions: Sequence[Question],
    language: str,
    variables: Variables,
    printed: Mapping[str, Question] | None = None,
    lexicon: Lexicon | None = None,
) -> Normalised:
    """Questions with canonical ids, whole scales and fitting types, without codes for don't know, each question once.

    Repeated questions with the same words are merged (`merged_from` has the positions). In a bilingual form the items
    in the other language are left out.

    Args:
        printed: the questions of the form's layout by id, for the anchors of scales.
        lexicon: the language's words around a question; the bundled ones if left out.
    """
    result = Normalised()
    lexicon = lexicon or known_lexicon(language)
    missing, variables = MissingWords.of(lexicon, language), variables.of(questions)
    context = _Context(variables, variables.letters_of(questions), printed or {}, missing, *_phrases(lexicon))
    places: dict[str, int] = {}
    named = [_each_in_turn(question, (_with_canonical_id,), context, result.changes) for question in questions]
    placed = list(with_parts_in_place(named))
    foreign = _foreign(placed, language)
    is_bilingual = sum(each is not None for each in foreign) < MOST_FOREIGN * len(questions)
    for position, (original, question) in enumerate(zip(named, placed, strict=True)):
        why = foreign[position]
        if is_bilingual and why is not None:
            result.changes.append(Change(original.id, "question", original.text, None, why))
            result.foreign.append(_each_in_turn(question, STEPS, context, []))
            result.foreign_positions.append((position,))
            continue
        result.changes += changes_between(original, question, PARTS, "stem, item and text in their places")
        before, question = question, _each_in_turn(question, STEPS, context, result.changes)
        if is_guessed(question):
            result.guessed.add(question.id)
        result.doubts += ((question.id, *doubt) for doubt in _doubts(before, question, context))
        question = _without_marker(question)
        earlier = places.get(question.id)
        if question.id and earlier is not None and _content(result.questions[earlier]) == _content(question):
            result.positions[earlier] = (*result.positions[earlier], position)
            merged = result.questions[earlier].replace(merged_from=list(result.positions[earlier]))
            result.questions[earlier] = merged
            result.changes.append(
                Change(question.id, "question", question.text, None, "the same question twice: merged")
            )
        else:
            places.setdefault(question.id, len(result.questions))
            result.questions.append(question)
            result.positions.append((position,))
    return result


def _each_in_turn(question: Question, steps: Sequence[_Step], context: _Context, changes: list[Change]) -> Question:
    for step in steps:
        for update, before, after, why in step(question, context):
            question = question.model_copy(update=update)
            changes.append(Change(question.id, next(iter(update)), before, after, why))
    return question


def _with_canonical_id(question: Question, context: _Context) -> _Edits:
    if not context.letters:  # its ids are its own
        return
    written = unicodedata.normalize("NFKC", question.id).translate(LATIN_LOOKALIKES)
    item = (question.item or "").translate(LATIN_LOOKALIKES)
    names = (written, *reversed(NAMES.findall(written)), item)
    code = next((code for name in names if (code := canonical_id(name))), None)
    if code is not None and code != question.id:
        update = {"id": code, "source_id": question.source_id or question.id}
        yield update, question.id, code, "the variable's canonical code"


def is_guessed(question: Question) -> bool:
    """Whether nobody has given the question's type."""
    return bool((question.model_extra or {}).get(GUESSED))


def _without_marker(question: Question) -> Question:
    return Question.model_validate(question.model_dump(exclude={GUESSED})) if is_guessed(question) else question


def _doubts(before: Question, after: Question, context: _Context) -> Iterator[tuple[str, str]]:
    """The doubts about a question's answers: check and message."""
    doubtful = context.sort_options(before).doubtful
    for why in dict.fromkeys(why for _, why in doubtful):
        options = listed(option for option, each in doubtful if each == why)
        yield "missing_answers", f"{options}: {why}; kept as answers: take them out if they are none"
    if some := carriers([option.label for option in after.options], after.values):
        message = (
            f"some labels carry a number of their own ({'; '.join(some[:3])}), which the prompt would show beside "
            "its own; take it out of all, or write it as the code"
        )
        yield "own_numbers", message
    points = [*_lacking_points(after, context)]
    yield from (("points", message) for message in points)
    if not points and is_guessed(after) and (why := why_doubtful(after)):
        yield "type", why


def _lacking_points(question: Question, context: _Context) -> Iterator[str]:
    """Messages about answers whose codes skip others between them."""
    values, kind = sorted(question.values), question.response_type
    steps = {later - earlier for earlier, later in itertools.pairwise(values)}
    if len(steps) != 1 or min(steps) < 2 or context.variable(question) in context.variables.type_of:
        return
    low, high = values[0], values[-1]
    labels = {option.value: option.label for option in question.options}
    write = f"write {low} = {labels[low]} | ... | {high} = {labels[high]} for all points from {low} to {high}"
    if high - low >= MOST_OPTIONS:
        yield f"{high - low + 1:,} points from {low} to {high}, at most {MOST_OPTIONS} can be asked; give fewer points"
    elif len(values) == 2 and kind.is_ordinal and not _are_either(question, context):
        yield f"its two answers have the codes {low} and {high}: are they the ends of a scale? Then {write}"
    elif len(values) > 2 and is_guessed(question) and not has_bare_points(question.options):
        yield f"its codes {', '.join(map(str, values))} leave others out; {write}, or say its response_type"


def _are_either(question: Question, context: _Context) -> bool:
    """Whether the answers are opposites such as yes and no."""
    return all(_phrase(option.label) in context.either for option in question.options)


def _without_own_numbers(question: Question, context: _Context) -> _Edits:
    plain = without_own_numbers([option.label for option in question.options])
    if plain is not None:
        pairs = zip(question.options, plain[0], strict=True)
        options = tuple(option.model_copy(update={"label": label}) for option, label in pairs)
        why = "numbers that the labels carried themselves"
        yield {"options": options}, listed(question.options), listed(options), why


def _without_missing_answers(question: Question, context: _Context) -> _Edits:
    options, missing = question.options, context.sort_options(question)
    volunteered = context.variables.volunteered.get(context.variable(question), ())
    for group, why in (
        (missing.worded, "its words say don't know or no answer, which are never offered"),
        (missing.coded, "codes for don't know and no answer, without words of an answer, are never offered"),
        ([o for o in options if o.value in volunteered], "coded when said, never offered"),
    ):
        if group:
            options = tuple(option for option in options if option not in group)
            yield {"options": options, **_with_missing(question, group)}, listed(group), None, why


def _with_missing(question: Question, group: Sequence[Option]) -> dict[str, Any]:
    """The codes of a form's missing answers with those of a group; nothing where the question lists none."""
    listed_codes = (question.model_extra or {}).get("missing")
    if not isinstance(listed_codes, list):
        return {}
    return {"missing": [*listed_codes, *({"value": option.value, "label": option.label} for option in group)]}


def _with_whole_scale(question: Question, context: _Context) -> _Edits:
    kind, options = question.response_type, question.options
    if set(question.values) == {1, 10} and kind is not ResponseType.LIKERT10:
        before, kind = kind, ResponseType.LIKERT10
        yield {"response_type": kind}, str(before), str(kind), "its options are the ends of a scale"
    if (context.variables.type_of.get(context.variable(question)) or kind) is not ResponseType.LIKERT10:
        yield from _with_all_points(question, context)
        return
    labels = {option.value: option.label for option in options}
    if set(labels) <= {1, 10}:
        options = ten_point_scale(labels.get(1, ""), labels.get(10, ""))
        yield {"options": options}, listed(options), "1 to 10", "a ten-point scale has all its points"
    if {option.value for option in options} != set(TEN):
        return
    quoted = quoted_ends(question.text)
    if quoted and not any(map(has_words, options)):
        options = ten_point_scale(*quoted)
        yield {"options": options}, None, "; ".join(quoted), "the ends as the question's text quotes them"
    model = context.printed.get(question.id)
    if model and set(model.values) == set(TEN) and not any(option.label for option in options):
        anchors = listed([model.options[0], model.options[-1]])
        yield {"options": model.options}, None, anchors, "the anchors as the form has them"


def _with_all_points(question: Question, context: _Context) -> _Edits:
    """All points of a scale that has only its ends."""
    options, kind = question.options, question.response_type
    if context.variable(question) in context.variables.type_of:
        return
    if kind.is_ordinal and not all(option.label for option in options) and has_bare_points(options):
        yield {"response_type": ResponseType.ORDINAL}, str(kind), "ordinal", "only the ends of the scale have words"
    if len(options) != 2 or not all(map(has_words, options)):
        return
    (low, first), (high, last) = sorted((option.value, option.label) for option in options)
    is_scale = kind is ResponseType.ORDINAL or OPTION_COUNTS.get(kind) == high - low + 1
    is_scale = is_scale or (is_guessed(question) and high - low > 2 and not _are_either(question, context))
    if not is_scale or not 1 < high - low < MOST_OPTIONS:
        return
    labels = {low: first, high: last}
    points = tuple(Option(value=value, label=labels.get(value, "")) for value in range(low, high + 1))
    update = {"options": points, "response_type": ResponseType.ORDINAL}
    why = "only the ends of the scale were given: all its points are offered"
    yield update, listed(options), f"{low} to {high}", why


def quoted_ends(text: str) -> tuple[str, str] | None:
    """The quoted meanings of 1 and 10 in a text, or None.

    >>> quoted_ends("From 1 to 10, where 1 means “never” and 10 means “always”?")
    ('never', 'always')
    >>> quoted_ends("10 heißt »sehr wichtig« und 1 »gar nicht wichtig«")
    ('gar nicht wichtig', 'sehr wichtig')
    """
    quotes = [(match.start(), match[1].strip(" .,")) for match in QUOTED.finditer(text)]
    if len(quotes) != 2 or not all(any(map(str.isalpha, label)) for _, label in quotes):
        return None
    ends: dict[str, str] = {}
    after = 0
    for place, label in quotes:
        figures = re.findall(r"(?<!\d)(?:10|1)(?!\d)", text[after:place])
        if not figures:
            return None
        ends[figures[-1]] = label
        after = place
    return (ends["1"], ends["10"]) if ends.keys() == {"1", "10"} else None


def _without_figures_for_labels(question: Question, context: _Context) -> _Edits:
    figures = [option for option in question.options if figure(option.label) == option.value]
    kind, ends = question.response_type, question.options[:1] + question.options[-1:]
    has_worded_ends = kind is ResponseType.ORDINAL and all(map(has_words, ends))
    if figures and (kind is ResponseType.LIKERT10 or has_worded_ends):
        blank = tuple(
            option.model_copy(update={"label": ""}) if option in figures else option for option in question.options
        )
        yield {"options": blank}, listed(figures), None, "a figure is no label"


def _with_fitting_type(question: Question, context: _Context) -> _Edits:
    count, old_kind, code = len(question.options), question.response_type, context.variable(question)
    own = context.variables.type_of.get(code)
    if own is not None:
        kind, why = own, "the variable's own"
    elif is_guessed(question):
        kind, why = guessed_type(question.options, context.missing.language), "guessed from its answers"
    elif count < 2 or OPTION_COUNTS.get(old_kind, count) == count:
        return
    else:
        kind, why = (_ordered_type(question) if old_kind.is_ordinal else old_kind), f"it has {count} options"
    if kind is not old_kind:
        yield {"response_type": kind}, str(old_kind), str(kind), why


def _ordered_type(question: Question) -> ResponseType:
    """The type of ordered answers by their number; ten answers in words are no ten-point scale."""
    kind = BY_COUNT.get(len(question.options), ResponseType.ORDINAL)
    is_other = kind is ResponseType.LIKERT10 and not has_bare_points(question.options)
    return ResponseType.ORDINAL if is_other else kind


def _with_own_cue(question: Question, context: _Context) -> _Edits:
    if question.answer_cue is not None and tuple(words_of(question.answer_cue)) not in context.cues:
        why = "no words of the lexicon that introduce an answer"
        yield {"answer_cue": None}, question.answer_cue, None, why


def _phrases(lexicon: Lexicon | None) -> tuple[frozenset[tuple[str, ...]], ...]:
    """The words of answer cues, and of opposite answers."""
    either = (lexicon.yes, lexicon.no, lexicon.agree, lexicon.disagree) if lexicon is not None else ()
    phrases = (lexicon.answer_cues if lexicon is not None else (), either)
    return tuple(frozenset(map(_phrase, each)) for each in phrases)


def _phrase(label: str) -> tuple[str, ...]:
    """The words of a label, without brackets after it."""
    return tuple(words_of(re.sub(r"\s+[(\[].*?[)\]]", "", label)))


def _foreign(questions: Sequence[Question], language: str) -> list[str | None]:
    """Why each question is in the form's other language, or None."""
    spoken = foreign_languages([question.item or question.text for question in questions], language)
    reasons: list[str | None] = []
    for question, other in zip(questions, spoken, strict=True):
        share = script_share(" ".join([question.text, *(o.label for o in question.options)]), language)
        if share is not None and share < SCRIPT_SHARE:
            reasons.append(f"not {named_script(language)}, as {language} is written: the form's other language")
        else:
            reasons.append(f"in {other}, not in {language}: the form's other language" if other else None)
    return reasons


STEPS: tuple[_Step, ...] = (
    _without_own_numbers,
    _without_missing_answers,
    _with_whole_scale,
    _with_fitting_type,
    _without_figures_for_labels,
    _with_own_cue,
)


def _content(question: Question) -> tuple[Any, ...]:
    return question.text, question.item, question.values
