"""Lines that a text layer has lost: blanked one by one out of the bundled forms, none that alters a label or an item
passes as sound; and sound forms are told of nothing."""

import dataclasses
from collections import Counter
from collections.abc import Iterator

import pytest

from valuesassets.instruments.survey.material.extracted_questions import _question
from valuesassets.instruments.survey.material.forms.layout.checks import _code_faults, lost_line_faults, shape_faults
from valuesassets.instruments.survey.material.forms.layout.lines import page_lines
from valuesassets.instruments.survey.material.forms.layout.lost_lines import battery_faults, number_faults
from valuesassets.instruments.survey.material.forms.layout.pages import Page, read_pages
from valuesassets.instruments.survey.material.forms.layout.readings import read_form
from valuesassets.instruments.survey.material.forms.layout.text_layer import own_pages
from valuesassets.instruments.survey.material.forms.layout.words import Word, text_lines
from valuesassets.people.variables import load_variables
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.questions import Question
from valuesassets.studies.questionnaires.content import LANGUAGES
from valuesassets_tests.instruments.survey.material.forms.paper_forms import BUNDLED
from valuesassets_tests.parameters import fast
from valuesassets_tests.studies.expected_questions import expected_questions

Pages = tuple[Page, ...]


def pages_of(language: str) -> Pages:
    return read_pages(BUNDLED / f"{language}.pdf")


def questions_of(pages: Pages, language: str) -> dict[str, Question]:
    """The questions that are read of some pages, by id."""
    variables, form = load_variables(), read_form(own_pages(pages, language))
    return {
        each.code: _question(each, each.code)
        for each in form.readings
        if each.code and not variables.is_excluded(each.code)
    }


def messages_about(questions: dict[str, Question], pages: Pages, language: str) -> list[str]:
    """The messages about questions as read, without those of grounding, which only adds some."""
    own, variables, listed = own_pages(pages, language), load_variables(), list(questions.values())
    faults = [*shape_faults(listed, variables), *_code_faults(listed, own, variables.is_excluded)]
    return [fault.message for fault in (*faults, *lost_line_faults(listed, own, load_lexicon(language)))]


def printed(page: Page) -> Iterator[tuple[Word, ...]]:
    """What is printed in one go: each line of each cell, and each line across the page."""
    yield from (tuple(line) for each in page_lines(page) for cell in each.cells for line in text_lines(cell.words))
    yield from map(tuple, text_lines(page.words))


def without(pages: Pages, place: int, words: tuple[Word, ...]) -> Pages:
    gone = {id(word) for word in words}
    kept = tuple(word for word in pages[place].words if id(word) not in gone)
    return (*pages[:place], dataclasses.replace(pages[place], words=kept), *pages[place + 1 :])


def altered(before: dict[str, Question], after: dict[str, Question]) -> bool:
    """Whether a label or an item is another, or a question is there no more, or is new."""
    parts = ({code: (q.options, q.item) for code, q in each.items()} for each in (before, after))
    return next(parts) != next(parts)


def counted(language: str, every: int) -> tuple[Counter[str], list[str]]:
    """How many of the lines, blanked one at a time, alter what, how many are told, and those that pass as sound."""
    pages, counts, silent = pages_of(language), Counter(), []
    sound = questions_of(pages, language)
    lines = [(place, words) for place, page in enumerate(pages) for words in printed(page)]
    for place, words in lines[::every]:
        blanked = without(pages, place, words)
        left = questions_of(blanked, language)
        if not altered(sound, left):
            counts["nothing altered"] += 1
        elif messages_about(left, blanked, language):
            counts["told"] += 1
        else:
            silent.append(" ".join(word.text for word in words))
    return counts, silent


EVERY = dict.fromkeys(LANGUAGES, 20) | {"eng": 4, "ell": 6}
"""Of each form's lines every so many-th is blanked."""


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_lost_line_that_alters_a_label_or_an_item_passes_as_sound(language):
    counts, silent = counted(language, EVERY[language])
    assert silent == []
    assert counts["told"] > 2


@pytest.mark.parametrize("language", fast(LANGUAGES, "eng", "ell"))
def test_a_sound_form_is_told_of_nothing(language):
    pages = pages_of(language)
    assert messages_about(questions_of(pages, language), pages, language) == []


LOST = {
    "an item": ("Politik", "v6 (page 2): its answers (1; 2; 3; 4, bare figures) are not those of v1"),
    "the item of a row": ("Eine Petition unterschreiben", "v98 (page 4): its item is empty"),
    "the middle line of a label": ("vielleicht", "v98 (page 4): 'würde ich tun' does not fill its cell"),
    "the last line of an item": (
        "einen Anspruch darauf zu haben",
        "v149 (page 5): 'Staatliche Leistungen beziehen, ohne'",
    ),
    "the first line of an item": (
        "Staatliche Leistungen beziehen, ohne",
        "v149 (page 5): 'einen Anspruch darauf zu haben'",
    ),
    "a variable code": ("v86", "'B Selbstständigkeit' has answers but no variable code"),
    "a question's first line": ("Q12", "Q12 is nowhere in the form"),
}


@pytest.mark.parametrize("name", LOST)
def test_a_lost_line_is_told(name):
    pages = pages_of("deu")
    text, fragment = LOST[name]
    runs = ((place, run) for place, page in enumerate(pages) for run in printed(page))
    blanked = next(
        without(pages, place, run) for place, run in runs if " ".join(word.text for word in run).startswith(text)
    )
    messages = messages_about(questions_of(blanked, "deu"), blanked, "deu")
    assert any(fragment in message for message in messages), messages


def test_a_row_that_is_lost_whole_leaves_an_empty_row():
    pages = pages_of("eng")
    row = next(line for line in text_lines(pages[2].words) if line[0].text == "v86")
    blanked = without(pages, 2, tuple(row))
    assert "v85 (page 3): a row of the table beside it is empty: is a line lost? read the page" in messages_about(
        questions_of(blanked, "eng"), blanked, "eng"
    )


def battery(**changes):
    """Three items of a list, the second of which has something else."""
    kept = [question for question in expected_questions("eng") if question.stem][:3]
    return [kept[0], kept[1].model_copy(update=changes), kept[2]]


def test_bare_figures_and_empty_items_beside_a_battery_are_doubts_without_a_form_too():
    figures = tuple(option.model_copy(update={"label": str(option.value)}) for option in battery()[1].options)
    assert [*battery_faults(battery(), is_printed=False)] == []
    ((_, _, fragment),) = battery_faults(battery(options=figures), is_printed=False)
    assert fragment.startswith("its answers (1; 2; 3; 4, bare figures) are not those of")
    stem = battery()[1].stem
    ((code, _, fragment),) = battery_faults(battery(item=None, stem=None, text=stem), is_printed=False)
    assert (code, fragment) == (
        battery()[1].id,
        "its item is empty, where others of its list have one; read the page and write it",
    )


def test_few_gaps_in_a_count_are_told_and_many_are_another_count():
    numbers = [f"Q{n}" for n in range(1, 31) if n != 12]
    assert [code for code, _, _ in number_faults(numbers, numbers)] == ["Q12"]
    assert [*number_faults(numbers[::2], numbers)] == []
    assert [*number_faults(numbers[:5], numbers)] == []
    assert [code for code, _, _ in number_faults(numbers, numbers[1:])] == ["Q1", "Q12"]
