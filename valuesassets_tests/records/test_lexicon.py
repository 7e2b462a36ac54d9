"""The lexicons: whole in each demonstration language, and errors that say what to mend."""

import re
import unicodedata

import pydantic
import pytest

from valuesassets.answers.language_codes import scripts_of
from valuesassets.records.errors import LexiconError
from valuesassets.records.lexicon import bundled_lexicons, load_lexicon
from valuesassets.records.study import load_study
from valuesassets.studies.questionnaires.content import LANGUAGES, load_words
from valuesassets_tests.studies.expected_questions import expected_questions

LISTS = {"child_qualities", "neighbours", "job_aspects", "organisations"}
SOUND = """
answer_cues = ["Answer", "The answer is"]
yes = "yes"
no = "no"
agree = "agree"
disagree = "disagree"
first_choice = "Most important: {label}"
missing_answers = ["don't know"]
[statements]
child_qualities = "Children should learn: {item}"
"""

SCRIPTS = {
    **dict.fromkeys(("bul", "mkd", "rus", "ukr", "bel"), "CYRILLIC"),
    "ell": "GREEK",
    "kat": "GEORGIAN",
    "hye": "ARMENIAN",
}
FIELDED = {"nor", "isl", "srp", "bos", "cnr", "mkd", "sqi", "rus", "ukr", "bel", "kat", "hye", "aze"}
"""Where EVS 2017 was fielded beside the languages of the bundled form."""

every_language = pytest.mark.parametrize("language", bundled_lexicons())
every_form = pytest.mark.parametrize("language", LANGUAGES)


def test_every_language_of_the_demonstration_and_of_the_survey_has_a_lexicon():
    assert set(bundled_lexicons()) >= {*load_study("demo_survey").languages, *load_study("evs2017").languages, *FIELDED}


@every_language
def test_a_lexicon_has_three_cues_and_a_statement_per_list(language):
    lexicon = load_lexicon(language)
    assert len(set(lexicon.answer_cues)) == 3
    assert set(lexicon.statements) == LISTS
    assert lexicon.agree != lexicon.disagree
    assert lexicon.yes != lexicon.no


@every_language
def test_cues_leave_the_colon_to_the_prompt(language):
    cues = load_lexicon(language).answer_cues
    assert not [cue for cue in cues if ":" in cue]
    assert all(cue.endswith(" ") == (language == "fra") for cue in cues)


@every_form
def test_yes_and_no_are_those_of_the_questionnaire(language):
    assert load_words(language).questions["denomination"].options == (
        load_lexicon(language).yes,
        load_lexicon(language).no,
    )


@every_form
def test_missing_answers_cover_what_the_questionnaire_prints(language):
    form = load_words(language).form
    known = {word.casefold() for word in load_lexicon(language).missing_answers}
    printed = {
        form.dont_know_short,
        form.no_answer_short,
        *(re.sub(r" \(.*", "", s) for s in (form.dont_know, form.no_answer)),
    }
    assert {word.casefold() for word in printed} <= known


@every_form
def test_no_option_of_the_questionnaire_counts_as_a_missing_answer(language):
    missing = {word.casefold() for word in load_lexicon(language).missing_answers}
    labels = {option.label.casefold() for question in expected_questions(language) for option in question.options}
    assert not labels & missing


@every_form
def test_a_statement_keeps_the_item_and_drops_the_instruction_to_choose(language):
    statements = {
        load_lexicon(language).statement("child_qualities", q.item)
        for q in expected_questions(language)
        if q.id in ("v86", "v92", "v93", "v95") and q.item
    }
    assert len(statements) == 4
    assert all("{" not in statement and not re.search(r"\d", statement) for statement in statements)


@every_language
def test_the_letters_are_those_of_the_language(language):
    lexicon = load_lexicon(language)
    script = SCRIPTS.get(language, "LATIN")
    said = [*lexicon.answer_cues, lexicon.yes, lexicon.no, lexicon.agree, lexicon.disagree, *lexicon.missing_answers]
    said += [lexicon.first_choice.format(label=""), *(lexicon.statement(name, "") for name in LISTS)]
    foreign = {c for text in said for c in text if c.isalpha() and not unicodedata.name(c).startswith(script)}
    assert not foreign
    assert script in scripts_of(language)
    assert said == [unicodedata.normalize("NFC", text) for text in said]
    assert not any(set(text) & set("\"'") for text in set(said) - {*lexicon.missing_answers})


def test_a_statement_takes_braces_in_an_item_as_they_are():
    assert load_lexicon("eng").statement("child_qualities", "{x}").endswith(": {x}")


def test_a_lexicon_cannot_be_changed():
    with pytest.raises(pydantic.ValidationError):
        load_lexicon("eng").yes = "aye"


def test_an_unknown_language_is_told_which_there_are_and_where_to_add_one():
    with pytest.raises(LexiconError, match=r"epo: no lexicon; there are aze, .*template lexicon epo\.toml"):
        load_lexicon("epo")


def test_an_unknown_list_is_told_which_there_are():
    with pytest.raises(LexiconError, match=r"eng\.toml: no statement for the list 'pets' \(there are child_qualities"):
        load_lexicon("eng").statement("pets", "Cats")


@pytest.mark.parametrize("key", ["yes", "agree", "first_choice", "missing_answers", "answer_cues"])
def test_a_missing_key_is_named_with_its_file(key, tmp_path):
    own = tmp_path / "xyz.toml"
    own.write_text(re.sub(rf"(?m)^{key} = .*$", "", SOUND), encoding="utf-8")
    with pytest.raises(LexiconError, match=rf"/xyz\.toml: key '{key}' is missing"):
        load_lexicon("xyz", own)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('yes = "yes"', 'yes = "yes"\nyess = "yes"', "unknown key 'yess' (did you mean 'yes'?)"),
        ('no = "no"', 'no = "no"\nlanguage = "abc"', "unknown key 'language'; the file itself says it"),
        ('no = "no"', "no = false", "key 'no': text in quotes was expected (found false)"),
        ('no = "no"', 'no = ""', "key 'no': text that is not empty was expected (found \"\")"),
        ('["Answer", "The answer is"]', '["Answer"]', "key 'answer_cues': at least 2 entries was expected"),
        ("{label}", "{lable}", "key 'first_choice': {label} is expected once"),
        ("{item}", "", "key 'statements.child_qualities': {item} is expected once"),
        ("{item}", "{item} {item}", "key 'statements.child_qualities': {item} is expected once"),
        ("[statements]", "[statements", "not TOML"),
    ],
)
def test_a_faulty_lexicon_names_file_and_key(old, new, message, tmp_path):
    own = tmp_path / "xyz.toml"
    own.write_text(SOUND.replace(old, new), encoding="utf-8")
    with pytest.raises(LexiconError) as caught:
        load_lexicon("xyz", own)
    assert f"{own}: {message}" in str(caught.value)
    assert "\n" not in str(caught.value)
