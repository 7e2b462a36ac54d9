"""Why an answer is missing, as a file's own labels say it: Stata's letters mean nothing by themselves."""

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from valuesassets.people.missing_labels import reason_of
from valuesassets.people.survey_file import read_people
from valuesassets.people.surveys import DONT_KNOW, NO_ANSWER, NOT_APPLICABLE, NOT_ASKED, OTHER
from valuesassets.people.weighted_shares import weighted_answers
from valuesassets.records.settings.human import HumanFile
from valuesassets.records.zips import write_zip
from valuesassets_tests.needs import shared_file


def read(path):
    people, notes = read_people(HumanFile(path=path, survey="evs2017"), ["v7"], ["DE"])
    return people.answers["v7"], notes


def stata_file(path, labels):
    """Sixty people: twenty `.d`, two `.a`, the rest answered."""
    answers = [*["d"] * 20, *["a"] * 2, *(n % 4 + 1 for n in range(38))]
    about = {"studyno": 7500.0, "year": 2018.0, "country": 276.0, "gweight": 1.0, "id_cocas": np.arange(60.0)}
    frame = pd.DataFrame(about | {"v7": pd.Series(answers, dtype=object)})
    pyreadstat.write_dta(frame, path, variable_value_labels={"v7": labels}, missing_user_values={"v7": ["a", "d"]})
    return path


LABELS = {
    "usual": ({1: "very happy", "a": "don't know", "d": "not asked in survey"}, 2 / 40),
    "the other way round": ({"a": "Not asked", "d": "Don't know"}, 20 / 58),
    "in German": ({"a": "weiß nicht", "d": "Frage nicht gestellt"}, 2 / 40),
    "of a filter": ({"a": "Refused", "d": "Inapplicable (filter)"}, 2 / 40),
}


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("is_zipped", [False, True])
def test_letters_mean_what_the_file_s_labels_say(name, is_zipped, tmp_path):
    labels, rate = LABELS[name]
    path = stata_file(tmp_path / "people.dta", labels)
    if is_zipped:
        write_zip(tmp_path / "people.zip", {"data/people.dta": path.read_bytes()})
        path = tmp_path / "people.zip"
    codes, notes = read(path)
    _, measured = weighted_answers(codes, np.ones(60), [1, 2, 3, 4])
    assert measured["dk_rate"] == pytest.approx(rate)
    assert notes == []


def test_letters_without_a_label_are_told(tmp_path):
    codes, notes = read(stata_file(tmp_path / "people.dta", {1: "very happy"}))
    assert set(codes[:22]) == {OTHER}
    (note,) = notes
    assert note.startswith("people.dta: no label says what .a, .d mean")


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        ("Not asked in this country", NOT_ASKED),
        ("BE,FR: question not included", NOT_ASKED),
        ("not applicable; filter", NOT_APPLICABLE),
        ("trifft nicht zu", NOT_APPLICABLE),
        ("Don\u2019t know (spontaneous)", DONT_KNOW),
        ("nie wiem", DONT_KNOW),
        ("No answer", NO_ANSWER),
        ("Refusal", NO_ANSWER),
        ("other missing", OTHER),
    ],
)
def test_a_label_says_why(label, reason):
    assert reason_of(label) == reason


@pytest.mark.published
@pytest.mark.parametrize("ending", ["dta", "sav"])
def test_a_shared_case_has_the_rate_of_those_asked(ending):
    """Uses ../shared."""
    codes, _ = read(shared_file("data", "cases", f"not_asked.{ending}"))
    _, measured = weighted_answers(codes, np.ones(60), [1, 2, 3, 4])
    assert measured["dk_rate"] == pytest.approx(0.05)
