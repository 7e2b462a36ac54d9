import pytest

from valuesassets.instruments.worldwise.answers.answer_texts import LOCAL, WORDS, mask_countries, sentences
from valuesassets.records.places import load_facts


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("The United States of America and the U.S. differ.", "The local and the local differ."),
        ("South Koreans, not Koreans", "local, not local"),
        ("Japan's way; Indians' way", "local's way; local' way"),
        ("They told us that turkey is polish.", "They told us that turkey is polish."),
        ("Indiana, Nigeria, Niger", "Indiana, local, local"),
        ("In MÉXICO and México", "In MÉXICO and local"),
    ],
)
def test_countries_and_their_people_are_masked_as_whole_words_with_a_capital(text, masked):
    assert mask_countries(text) == masked


def test_a_study_names_more():
    assert mask_countries("In Veltia all Veltians agree.", ["Veltia", "Veltian"]) == "In local all local agree."
    assert mask_countries("In Veltia.") == "In Veltia."


def test_every_country_word_is_masked_whole_and_belongs_to_an_iso_country():
    rows = [line.split(",", 1) for line in WORDS.read_text(encoding="utf-8").splitlines()[1:]]
    assert len(rows) > 180
    expected = {*load_facts("iso_countries.csv")["alpha2"], "XK"}
    assert {code for code, _ in rows} <= expected
    for word in (word for _, words in rows for word in words.split(";")):
        assert mask_countries(f"of {word} today") == f"of {LOCAL} today"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ('He said "yes." She left.', ['He said "yes."', "She left."]),
        ("Wait, e.g. for rain. 3.5 days", ["Wait, e.g. for rain.", "3.5 days"]),
        ("First line\n\n second   line\n---\n", ["First line", "second line"]),
        ("一つ。二つ。", ["一つ。", "二つ。"]),
        ("  \n ...", []),
    ],
)
def test_a_text_is_split_into_sentences_that_hold_a_letter(text, parts):
    assert sentences(text) == parts
