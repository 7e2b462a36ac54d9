"""The languages that a model is asked in: unknown names are errors, and a silent card is never all languages."""

import pytest

from valuesassets.instruments.cultural_robustness.material.model_languages import card_languages, find_languages
from valuesassets.records.errors import ModelError, StudyError

ASKED = ("ell", "deu", "eng", "nor")


def card(tmp_path, text):
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_studys_languages_where_nothing_else_is_said():
    languages = find_languages("m", ASKED, None, {})
    assert languages.as_json() == {"languages": list(ASKED), "source": "study", "others": []}


@pytest.mark.parametrize(
    "listed",
    [
        "language:\n- de\n- no\n- fr\n- el\n",
        "language: [de, 'no', fra, ell]\n",
        "license: mit\nlanguage:\n  - de-CH\n  - nor\n  - fr\n  - multilingual\n  - el\n",
    ],
)
def test_a_card_names_languages_by_any_code_norwegian_too(tmp_path, listed):
    languages = find_languages("m", ASKED, card(tmp_path, f"---\n{listed}---\n# Model\nlanguage: en\n"))
    assert (languages.languages, languages.source, languages.others) == (("ell", "deu", "nor"), "model card", ("fra",))


def test_a_card_may_name_one_language(tmp_path):
    assert card_languages(card(tmp_path, "---\r\nlanguage: el\r\n---\r\ntext") / "README.md") == ("ell",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# A model\n\nIt speaks German.\n", "the card names no language (has no key 'language')"),
        ("---\nlicense: mit\n---\n", "the card names no language (has no key 'language')"),
        ("---\nlanguage:\n- multilingual\n- code\n---\n", "the card names no language (lists multilingual, code)"),
        ("---\nlanguage: []\n---\n", "the card names no language"),
        ("---\n- de\n- en\n---\n", "the card names no language"),
        ("---\nlanguage:\n---\n", "the card names no language"),
        ("---\nlicense: mit\nlanguage: [de\n---\n", "the card's front matter is no YAML"),
        ("---\nlanguage: fr\n---\n", "the card of m names fra, the study asks in ell, deu, eng, nor"),
        ("", "the card names no language"),
    ],
)
def test_a_card_that_says_nothing_of_use_is_an_error_never_all_languages(tmp_path, text, message):
    with pytest.raises(ModelError) as error:
        find_languages("m", ASKED, card(tmp_path, text))
    assert str(error.value).startswith(f"{tmp_path / 'README.md'}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_model_without_a_card_is_an_error(tmp_path):
    with pytest.raises(ModelError, match="no model card there"):
        find_languages("m", ASKED, tmp_path)


@pytest.mark.parametrize("named", ["english,german", " German , English,", "en,de", "DEU,eng"])
def test_the_variable_goes_before_the_card_and_keeps_the_studys_order(tmp_path, named):
    folder = card(tmp_path, "---\nlanguage: el\n---\n")
    languages = find_languages("m", ASKED, folder, {"EVAL_LANGUAGES": named})
    assert languages.as_json() == {"languages": ["deu", "eng"], "source": "EVAL_LANGUAGES", "others": []}


def test_an_empty_variable_is_unset():
    assert find_languages("m", ASKED, None, {"EVAL_LANGUAGES": " "}).source == "study"


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("english,germna", "EVAL_LANGUAGES: germna: no such language; did you mean german?"),
        ("english,klingonese", "EVAL_LANGUAGES: klingonese: no such language"),
        ("english,french", "EVAL_LANGUAGES: french (fra) is none of the languages asked (ell, deu, eng, nor)"),
        (",", "EVAL_LANGUAGES: names no language"),
    ],
)
def test_an_unknown_name_in_the_variable_is_an_error(named, message):
    with pytest.raises(StudyError) as error:
        find_languages("m", ASKED, None, {"EVAL_LANGUAGES": named})
    assert str(error.value).startswith(message)
