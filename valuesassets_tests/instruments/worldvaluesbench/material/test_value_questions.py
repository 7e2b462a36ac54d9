"""The bundled questions: complete, in our own words, and on the scales of the benchmark."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from valuesassets.instruments.worldvaluesbench.material.value_questions import (
    chosen_questions,
    load_value_questions,
    probe_questions,
)
from valuesassets.records.errors import StudyError
from valuesassets_tests.needs import shared_file

QUESTIONS = list(load_value_questions().values())
ALIKE = 7
"""Words in a row that would be too many to have in common with another text."""


@pytest.fixture(scope="module")
def metadata() -> dict[str, Any]:
    return json.loads(shared_file("data", "wvb", "question_metadata.json").read_text())


@pytest.fixture(scope="module")
def codebook() -> dict[str, Any]:
    return json.loads(shared_file("data", "wvb", "codebook.json").read_text())


def test_there_are_239_and_all_have_a_text_and_a_label_for_each_answer_or_for_both_ends():
    assert len(QUESTIONS) == 239
    for question in QUESTIONS:
        assert question.text.strip() == question.text != ""
        assert len(question.labels) == len(question.values), question.id
        inner = question.labels[1:-1]
        assert all((question.labels[0], question.labels[-1])), question.id
        assert all(inner) if len(question.values) < 10 else not any(inner), question.id
        named = [label for label in question.labels if label]
        assert len(set(named)) == len(named), question.id


def test_no_two_questions_are_told_in_the_same_words():
    assert len({(question.text, question.labels) for question in QUESTIONS}) == 239


def test_the_probe_is_the_first_three_questions_of_each_category():
    by_category: dict[str, list[str]] = {}
    for question in QUESTIONS:
        by_category.setdefault(question.category, []).append(question.id)
    assert sorted(probe_questions()) == sorted(name for names in by_category.values() for name in names[:3])


def test_an_unknown_question_is_told_in_one_line():
    with pytest.raises(StudyError, match=r"^questions: Q82 unknown; ids such as Q1 to Q259, Q234A were expected$"):
        chosen_questions(["Q1", "Q82"])


@pytest.mark.published
def test_ids_categories_and_scales_are_those_of_the_benchmark(metadata):
    values = {name: entry for name, entry in metadata.items() if entry["use_case"] == "value"}
    scales = {q.id: (q.category, q.lo, q.hi) for q in QUESTIONS}
    assert scales == {
        name: (entry["category"], entry["answer_scale_min"], entry["answer_scale_max"])
        for name, entry in values.items()
    }


@pytest.mark.published
def test_recodes_and_missing_codes_are_those_of_the_benchmark():
    theirs = json.loads(shared_file("data", "wvb", "answer_adjustment.json").read_text())
    for question in QUESTIONS:
        given = theirs.get(question.id, {})
        assert question.recodes == {int(code): int(new) for code, new in given.items() if new}
        assert set(question.missing) == {int(code) for code, new in given.items() if not new}


@pytest.mark.published
def test_the_codebooks_codes_cover_the_scale_once_they_are_recoded(codebook):
    for question in QUESTIONS:
        codes = [int(code) for code in codebook[question.id]["choices"] if int(code) >= 0]
        if codes:  # Q112 is a bare number in the codebook
            kept = {question.recodes.get(code, code) for code in codes if code not in question.missing}
            assert kept == set(question.values), question.id


BETTER_TO_WORSE = {
    **dict.fromkeys(("yes", "agree", "completely", "always", "often", "good", "great", "very", "lot"), 1),
    **dict.fromkeys(
        ("more", "deal", "well", "important", "satisfied", "better", "entirely", "done", "daily", "day"), 1
    ),
    **dict.fromkeys(("mentioned", "absolutely", "frequently", "definitely", "have", "certainly", "several"), 1),
    **dict.fromkeys(("essential", "justifiable", "completely", "active", "proud", "close", "far", "fully", "risk"), 1),
    **dict.fromkeys(("abundant", "much", "all", "every", "can", "anyone", "religious"), 1),
    **dict.fromkeys(("not", "no", "none", "never", "disagree", "dissatisfied", "bad", "poor", "worse"), -3),
    **dict.fromkeys(("don't", "hardly", "nobody", "prohibit", "atheist", "careful", "harmful", "against", "under"), -3),
}
"""Words that stand at one end of a scale or the other; a denial outweighs what it denies."""
SAME_WORD = {
    "Q106": "equal",
    "Q107": "private",
    "Q108": "government",
    "Q110": "hard",
    "Q111": "protecting",
    "Q149": "freedom",
    "Q150": "freedom",
    "Q174": "ceremonies",
    "Q175": "death",
    "Q240": "left",
}
"""A word that the first end has in both wordings, where no end is better or worse than the other."""


def _leaning(text: str) -> int:
    return sum(BETTER_TO_WORSE.get(word, 0) for word in _words(text))


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())


@pytest.mark.published
def test_no_scale_is_the_wrong_way_round(metadata):
    compared = 0
    for question in QUESTIONS:
        text = metadata[question.id]["question"]
        match = re.match(r"On a scale of (\d+) to (\d+), (\d+) meaning '(.*?)' and (\d+) meaning '(.*?)',? ", text)
        assert match, question.id
        assert match.group(1, 2) == match.group(3, 5) == (str(question.lo), str(question.hi)), question.id
        theirs, ours = (match[4], match[6]), (question.labels[0], question.labels[-1])
        if question.id in SAME_WORD:
            word = SAME_WORD[question.id]
            assert word in _words(theirs[0])
            assert word in _words(ours[0])
            assert word not in _words(ours[1]), question.id
            continue
        difference = [_leaning(low) - _leaning(high) for low, high in (theirs, ours)]
        assert all(difference), (question.id, theirs, ours)
        assert (difference[0] > 0) == (difference[1] > 0), (question.id, theirs, ours)
        compared += 1
    assert compared == 229


@pytest.mark.published
def test_a_codebooks_label_stands_where_ours_does_for_the_answers_that_change_places(codebook):
    questions = load_value_questions()
    for name, ours, code in (
        ("Q56", "better off", 1),
        ("Q56", "about the same", 3),
        ("Q56", "worse off", 2),
        ("Q119", "hard to say", 0),
        ("Q119", "strongly agree", 1),
        ("Q119", "agree", 2),
        ("Q119", "disagree", 3),
        ("Q119", "strongly disagree", 4),
        ("Q122", "disagree", 0),
        ("Q122", "hard to say", 1),
        ("Q122", "agree", 2),
    ):
        question = questions[name]
        place = question.recodes.get(code, code)
        assert question.labels[place - question.lo] == ours
        assert ours.removeprefix("about ") in codebook[name]["choices"][str(code)].lower()


@pytest.mark.published
def test_no_text_has_many_words_in_a_row_from_the_survey_or_the_benchmark(metadata, codebook):
    theirs = {run for entry in metadata.values() for run in _runs(entry["question"])}
    for name, entry in codebook.items():
        if isinstance(entry, dict) and name != "N_TOWN":
            for text in (entry["question"], entry["question_instruction"], *entry["choices"].values()):
                theirs |= set(_runs(text))
    for question in QUESTIONS:
        for text in (question.text, *question.labels):
            assert not theirs & set(_runs(text)), (question.id, text)


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = _words(text)
    return zip(*(words[start:] for start in range(ALIKE)), strict=False)
