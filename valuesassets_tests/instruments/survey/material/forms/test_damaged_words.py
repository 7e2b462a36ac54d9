"""The share of damaged words: planted damage is found, and what looks like it is not taken for it."""

import numpy as np
import pytest

from valuesassets.instruments.survey.material.extracted_questions import NOT_ASKED, examine_questions
from valuesassets.instruments.survey.material.forms.damaged_words import DAMAGED_SHARE, damaged_words
from valuesassets.instruments.survey.material.forms.overrides import whole_form_text
from valuesassets.instruments.survey.material.forms.review_page import render_review
from valuesassets.studies.questionnaires.content import LANGUAGES
from valuesassets_tests.instruments.survey.material.forms.read_forms import extracted
from valuesassets_tests.studies.expected_questions import expected_questions

SOUND = 0.001
"""Greatest share that a sound form has."""
REAL = {
    "ZA7500_q_gb": "eng",
    "ZA7500_q_fr": "fra",
    "ZA7500_q_es": "spa",
    "ZA7500_q_it": "ita",
    "ZA7500_q_at": "deu",
    "ZA7500_q_si": "slv",
    "ZA7546_q_gr": "ell",
}


def texts(language):
    """What a bundled form asks, each string once."""
    strings = ((q.stem or q.text, q.item or "", *(o.label for o in q.options)) for q in expected_questions(language))
    return [*dict.fromkeys(text for each in strings for text in each if text)]


def without(letters, language):
    gone = str.maketrans("", "", letters + letters.upper())
    return [text.translate(gone) for text in texts(language)]


def taken_for(written, read, language):
    """Texts whose bytes were read as another encoding than they were written in."""
    return [text.encode(written, "replace").decode(read, "replace") for text in texts(language)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_bundled_form_is_damaged_nor_all_of_it_in_capitals(language):
    assert damaged_words(texts(language), language).share <= SOUND
    assert damaged_words([text.upper() for text in texts(language)], language).share <= SOUND


@pytest.mark.parametrize(
    ("language", "letters", "lost"),
    [
        ("pol", "śźż", "śż"),
        ("pol", "ę", "ę"),
        ("ces", "ěů", "ěů"),
        ("hun", "á", "á"),
        ("bul", "ъ", "ъ"),
        ("ell", "ό", "ό"),
    ],
)
def test_letters_that_fell_out_are_missed_by_their_frequency(language, letters, lost):
    damage = damaged_words(without(letters, language), language)
    assert (damage.lost, damage.n_spoiled) == (lost, 0)
    words = " ".join(texts(language)).split()
    share = sum(any(letter in word for letter in lost) for word in words) / len(words)
    assert damage.share == pytest.approx(share, abs=0.02)
    assert damage.share > DAMAGED_SHARE


@pytest.mark.parametrize(
    ("language", "written", "read"),
    [
        ("bul", "cp1251", "latin1"),
        ("mkd", "cp1251", "latin1"),
        ("ell", "iso8859-7", "latin1"),
        ("pol", "cp1250", "cp1252"),
    ],
)
def test_an_alphabet_that_was_taken_for_another_is_damaged(language, written, read):
    assert damaged_words(taken_for(written, read, language), language).share > 0.3


def test_glyphs_without_a_character_are_counted_word_by_word():
    sound, spoiled = ["Jak ważna jest praca w życiu"] * 25, ["Jak wa(cid:298)na jest praca w życiu"] * 25
    assert damaged_words(sound, "pol").n_spoiled == 0
    damage = damaged_words([*sound, *spoiled], "pol")
    assert (damage.n_spoiled, damage.words, damage.example) == (25, 300, "wa(cid:298)na")
    assert str(damage).startswith("8.3% of 300 words are damaged (such as 'wa(cid:298)na'")


@pytest.mark.parametrize(
    ("language", "other"),
    [("est", "bul"), ("lvs", "bul"), ("slk", "hun"), ("fin", "swe"), ("pol", "eng"), ("bul", "eng")],
)
def test_the_other_language_of_a_bilingual_form_is_no_damage(language, other):
    assert damaged_words([*texts(language), *texts(other)], language).share <= SOUND
    alternating = [text for pair in zip(texts(language), texts(other), strict=False) for text in pair]
    assert damaged_words(alternating, language).share <= SOUND


def test_names_and_loanwords_are_no_damage():
    names = ["Müller, Nuñez, Škoda, Zoë, naïve, café, Web 2.0 i WhatsApp, CO₂, NATO", "България, Ελλάδα"]
    for language in ("pol", "bul", "eng", "ell"):
        assert damaged_words([*texts(language), *names], language).share < DAMAGED_SHARE


def test_a_form_that_repeats_few_words_is_not_taken_for_one_that_lost_letters():
    assert damaged_words(["Jak dobrze jest mi tutaj, bardzo dobrze albo bardzo nie"] * 200, "pol").lost == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_part_of_a_sound_form_is_damaged(language):
    random = np.random.default_rng(5)
    for n in (40, 60, 80):
        some = [texts(language)[place] for place in random.permutation(len(texts(language)))[:n]]
        assert damaged_words(some, language).share <= SOUND


def test_few_words_and_unknown_languages_are_not_judged():
    assert damaged_words(["Íàñåëåíèå"] * 20, "bul").share == 0
    assert damaged_words(["Þetta er spurning um gildi"] * 40, "isl").share == 0


def questions_without(letters, language):
    """The bundled questions with letters lost."""
    gone = str.maketrans("", "", letters)
    return [
        q.model_copy(
            update={name: (getattr(q, name) or "").translate(gone) or None for name in ("text", "stem", "item")}
            | {"options": tuple(o.model_copy(update={"label": o.label.translate(gone)}) for o in q.options)}
        )
        for q in expected_questions(language)
    ]


def examined(language, letters, file):
    """The same, with what a person has settled."""
    return examine_questions(questions_without(letters, language), None, language, file)


def test_a_form_that_lost_letters_is_not_asked_until_a_person_settles_it(tmp_path):
    file = tmp_path / "pol.toml"
    before = examined("pol", "śźż", file)
    assert before.faults[0].check == NOT_ASKED
    assert "lost letters: ś ż" in str(before.why_not_asked)
    lines = whole_form_text(before.mark)
    assert all(line in render_review(before, None, "pol", file).replace("&#34;", '"') for line in lines.splitlines())
    file.write_text(lines.replace('reason = ""', 'reason = "read against the paper"'), encoding="utf-8")
    assert examined("pol", "śźż", file).why_not_asked is None
    changed = examined("pol", "śźżę", file)  # another extraction than the one that was looked at
    assert changed.why_not_asked is not None
    (message,) = [fault.message for fault in changed.faults if fault.check == "overrides"]
    assert f"say of = {changed.mark!r}, or take it away" in message


def test_a_settlement_of_a_sound_form_stays_quiet(tmp_path):
    file = tmp_path / "pol.toml"
    mark = examined("pol", "", file).mark
    file.write_text(f'[whole_form]\nreason = "looked at"\nof = "{mark}"\n', encoding="utf-8")
    assert [fault.check for fault in examined("pol", "", file).faults if fault.question_id is None] == []


def test_questions_in_another_language_than_declared_are_not_asked(tmp_path):
    examined = examine_questions(expected_questions("deu"), None, "pol", tmp_path / "none.toml")
    assert "are not in pol, most of them in deu" in str(examined.why_not_asked)


@pytest.mark.published
@pytest.mark.slow
@pytest.mark.group("forms")
@pytest.mark.parametrize("name", REAL)
def test_sound_field_questionnaires_are_asked(name):
    questions = extracted(name, REAL[name])
    strings = (s for q in questions for s in (q.stem or q.text, q.item, *(o.label for o in q.options)) if s)
    assert damaged_words([*dict.fromkeys(strings)], REAL[name]).share <= SOUND


@pytest.mark.published
@pytest.mark.slow
@pytest.mark.group("forms")
@pytest.mark.parametrize(("name", "language", "least"), [("q_bg", "bul", 0.9), ("q_pl", "pol", 0.2)])
def test_field_questionnaires_that_lost_their_letters_are_not_asked(name, language, least):
    examined = examine_questions([*extracted(f"ZA7500_{name}", language)], None, language)
    share = float(str(examined.why_not_asked).partition(": ")[2].partition("%")[0]) / 100
    assert share > least
