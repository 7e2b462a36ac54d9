"""Which language a text is in, among those that may be meant; and the codes, names and scripts of languages."""

import re
from importlib import resources

import pytest
from py3langid.langid import LanguageIdentifier

from valuesassets.answers.language_codes import (
    known_languages,
    language_code,
    language_named,
    language_names,
    scripts_of,
)
from valuesassets.answers.spoken_language import (
    can_be_told,
    foreign_language,
    is_in_other_script,
    language_chances,
    script_share,
)
from valuesassets.records.settings.kinds import LANGUAGE

TEXTS = {
    "eng": "The bread always stays in the wooden box in the kitchen.",
    "deu": "Das Brot liegt immer in der hölzernen Kiste in der Küche.",
    "nld": "Het brood ligt altijd in de houten kist in de keuken.",
    "ell": "Το ψωμί μένει πάντα στο ξύλινο κουτί της κουζίνας.",
    "tam": "ரொட்டி எப்போதும் சமையலறையில் உள்ள மரப் பெட்டியில் இருக்கும்.",
}


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_is_likeliest_in_its_own_language(language):
    chances = language_chances(TEXTS[language], TEXTS)
    assert next(iter(chances)) == language
    assert sum(chances.values()) == pytest.approx(1, abs=1e-5)
    assert set(chances) == set(TEXTS)


@pytest.mark.slow
def test_chances_are_those_of_the_library_restricted_to_the_same_languages():
    path = str(resources.files("py3langid").joinpath("data", "model.npz.xz"))
    identifier = LanguageIdentifier.from_modelpath(path, norm_probs=True)
    identifier.set_languages(["en", "de", "nl"])
    for text in TEXTS.values():
        expected = dict(identifier.rank(text))
        found = language_chances(text, ["eng", "deu", "nld"])
        assert found == pytest.approx({"eng": expected["en"], "deu": expected["de"], "nld": expected["nl"]}, abs=1e-6)


def test_one_set_of_languages_changes_nothing_for_another():
    before = language_chances(TEXTS["deu"], ["eng", "deu"])
    language_chances(TEXTS["deu"], ["ell", "tam", "nld"])
    assert language_chances(TEXTS["deu"], ["deu", "eng"]) == before


def test_a_foreign_text_is_named_and_one_of_too_few_letters_is_not_judged():
    assert foreign_language(TEXTS["nld"], "deu", TEXTS, 20) == "nld"
    assert foreign_language(TEXTS["deu"], "deu", TEXTS, 20) is None
    assert foreign_language(TEXTS["nld"], "deu", TEXTS, 100) is None
    assert foreign_language(TEXTS["nld"], "xho", TEXTS, 20) == "nld"


def test_a_language_that_is_not_told_is_never_foreign():
    assert not can_be_told("che")
    assert foreign_language(TEXTS["eng"], "che", TEXTS, 20) is None
    assert language_chances(TEXTS["eng"], ["che"]) == {}


def test_a_group_of_languages_is_told_as_one_of_them():
    assert language_chances("Brødet ligger alltid i kassen på kjøkkenet.", ["nor", "nob", "eng"])["nob"] > 0.5
    assert can_be_told("arb")
    assert can_be_told("cmn")


@pytest.mark.parametrize(
    ("text", "language", "is_other"),
    [("Ναι", "eng", True), ("Yes", "ell", True), ("Da", "srp", False), ("Да", "srp", False), ("12", "ell", False),
     ("はい", "jpn", False), ("예", "kor", False), ("Tak", "zzz", False)],
)  # fmt: skip
def test_a_script_is_another_where_the_language_is_never_written_in_it(text, language, is_other):
    assert is_in_other_script(text, language) == is_other


def test_half_and_half_is_half():
    assert script_share("abγδ", ["GREEK"]) == 0.5
    assert script_share("abγδ", ["GREEK", "LATIN"]) == 1


@pytest.mark.parametrize("language", sorted(known_languages()))
def test_a_known_language_is_found_by_its_codes_and_names(language):
    known = known_languages()[language]
    assert language_code(language) == language
    assert not known.short or language_code(known.short) == language
    assert {language_named(name.upper()) for name in known.names} == {language}
    assert all(script.isupper() for script in known.scripts)


def test_codes_are_of_three_letters_and_no_name_is_given_twice():
    assert all(re.fullmatch(LANGUAGE, code) for code in known_languages())
    names = [name for known in known_languages().values() for name in known.names]
    assert len(names) == len(language_names())
    assert sum(bool(known.short) for known in known_languages().values()) == 184


@pytest.mark.parametrize("written", ["xx", "qaa", "engl", "", "EN", "german"])
def test_what_is_no_code_has_none(written):
    assert language_code(written) is None


def test_a_code_of_which_nothing_more_is_known_is_one_and_is_written_in_latin():
    assert language_code("aaa") == "aaa"
    assert scripts_of("aaa") == ("LATIN",)
