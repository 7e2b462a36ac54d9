"""Each bad file of respondents ends in one line that says what was found, what was expected and what to do."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.survey.material.respondents import derive_respondents
from valuesassets.people.tables import open_table
from valuesassets.records.errors import HumanDataError
from valuesassets.records.settings.human import HumanFile
from valuesassets_tests.comparing.planted_grid import demo, questions
from valuesassets_tests.people.synthetic_files import (
    as_evs,
    as_joint,
    as_wvs,
    people,
    save,
    study_of,
)

BY_LANGUAGE = {language: questions() for language in demo().languages}


def with_cell(column, value, row=3):
    def make(frame):
        frame = frame.astype({column: object})
        frame.loc[row, column] = value
        return frame

    return make


CHANGED = {
    "without weights": (
        lambda frame: frame.drop(columns=["gweight", "dweight"]),
        r'no weights: no column gweight or dweight among its \d+; name another with weight = "...", or say weight =',
    ),
    "with an unknown country code": (with_cell("country", 999), r"column country: unknown country code 999 \(1 rows\)"),
    "with a country's name": (
        with_cell("country", "Germany"),
        "unknown country code GERMANY .1 rows.; ISO 3166-1 codes",
    ),
    "with no country in a row": (with_cell("country", None), r"column country: unknown country code no code .1 rows."),
    "with labels in place of codes": (
        lambda frame: frame.assign(v7="Very happy"),
        "column v7: 'Very happy' in 600 rows, numbers were expected; save the file with its codes, not with their",
    ),
    "with one label among codes": (with_cell("v63", "not at all"), "column v63: 'not at all' in 1 rows"),
    "with an id twice": (
        lambda frame: frame.assign(id_cocas=[1, *range(1, len(frame))]),
        r"column id_cocas: 1 stands 2 times in DE, once was expected \(2 rows share an id\)",
    ),
    "with rows without an id": (
        lambda frame: frame.assign(id_cocas=frame["id_cocas"].where(frame.index > 1)),
        "column id_cocas: 2 rows have no id, one of its own was expected of each",
    ),
    "with two columns of one name": (
        lambda frame: frame.rename(columns={"v5": "v7"}),
        "columns v7, v7 have one name; leave one of them",
    ),
    "with a header alone": (lambda frame: frame[:0], "no rows: nobody's answers are in it"),
    "of another wave": (
        lambda frame: frame.assign(year=2008),
        r"column year: 2008 is of another wave or study, 2017 to 2022 was expected of EVS 2017 \(ZA7500\)",
    ),
    "of another study number": (
        lambda frame: frame.assign(studyno=4800),
        "column studyno: 4800 is of another wave or study, 7500 was",
    ),
    "with a negative weight": (
        with_cell("gweight", -0.5),
        "column gweight, country DE: -0.5 is no weight .1 rows., numbers above 0 were expected",
    ),
    "with an infinite weight": (with_cell("gweight", np.inf), "country DE: inf is no weight"),
    "with codes of another scale": (
        with_cell("v7", 6, row=400),
        "column v7, country GB: 6 in 1 rows are none of its answers 1 to 4",
    ),
    "with fractions": (with_cell("v39", 2.5), "column v39, country DE: 2.5 in 1 rows are no codes"),
    "with none of the questions": (
        lambda frame: frame[["country", "gweight"]],
        "no column country or c_abrv with the country, or none of the survey's questions",
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_file(tmp_path, name):
    change, message = CHANGED[name]
    with pytest.raises(HumanDataError, match=message) as raised:
        derive_respondents(study_of((save(change(as_evs(people())), tmp_path / "evs.csv"), "evs2017")), BY_LANGUAGE)
    assert "evs.csv" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("written", "said", "looks_like"),
    [(as_wvs, "evs2017", "wvs7"), (as_evs, "joint", "evs2017"), (as_joint, "wvs7", "joint")],
)
def test_a_file_of_another_survey_than_said_is_recognised(tmp_path, written, said, looks_like):
    path = save(written(people()), tmp_path / "survey.sav")
    with pytest.raises(HumanDataError, match=f'it looks like .*: say survey = "{looks_like}"'):
        derive_respondents(study_of((path, said)), BY_LANGUAGE)


def test_a_weight_that_is_not_in_the_file_is_named(tmp_path):
    path = save(as_evs(people()), tmp_path / "evs.csv")
    with pytest.raises(HumanDataError, match="no weights: no column wgt among"):
        derive_respondents(study_of(HumanFile(path=path, survey="evs2017", weight="wgt")), BY_LANGUAGE)


CONTENTS = {
    "evs.sav": (b"%PDF-1.7 and more", "is a PDF, an SPSS file was expected"),
    "evs.dta": (b"<!doctype html><html>", "is an HTML page, a Stata file was expected"),
    "evs.csv": (
        b"version https://git-lfs.github.com/spec/v1",
        r"is a Git LFS pointer \(the file itself was not downloaded\)",
    ),
    "wvs.sav": (b"PK\x03\x04zip", "is a ZIP archive or an Office document.*; unpack it and name the file inside"),
    "wvs.csv": (b"", "is an empty file, a CSV file was expected"),
    "wvs.parquet": (b"v7,v8\n1,2\n", "is of another kind, a parquet file was expected"),
    "joint.csv": (b"$FL2@(#) SPSS DATA FILE", "is an SPSS file, a CSV file was expected"),
    "evs.xlsx": (b"PK\x03\x04", "respondents are read from .sav, .zsav, .dta, .csv, .parquet, found .xlsx"),
    "evs2.csv": (b"a\n1,2,3\n1,2,3,4\n", "not EVS 2017|cannot be read whole"),
    "evs3.csv": (
        b"country,gweight,v7\n276,1,2\n276,1,2,9,9\n",
        "cannot be read whole: .*Row #3: Expected 3 columns, got 5; is it cut off",
    ),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_what_is_no_file_of_respondents_is_named(tmp_path, name):
    content, message = CONTENTS[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(HumanDataError, match=message) as raised:
        derive_respondents(study_of((tmp_path / name, "evs2017")), BY_LANGUAGE)
    assert str(tmp_path / name) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(HumanDataError, match=r"evs\.sav: no such file"):
        derive_respondents(study_of((tmp_path / "evs.sav", "evs2017")), BY_LANGUAGE)


def test_a_folder_and_a_name_that_no_file_can_have_are_told(tmp_path):
    (tmp_path / "evs.csv").mkdir()
    with pytest.raises(
        HumanDataError, match=r"evs\.csv: is a folder, people's answers were expected; name the file in"
    ):
        open_table(tmp_path / "evs.csv")
    with pytest.raises(HumanDataError, match=r"aaa\.\.\.: cannot be read: File name too long; check the path"):
        open_table(Path("a" * 300 + ".csv"))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_blanks_around_names_of_columns_are_no_part_of_them(tmp_path, ending):
    frame = as_evs(people())
    plain = derive_respondents(study_of((save(frame, tmp_path / f"evs.{ending}"), "evs2017")), BY_LANGUAGE)
    frame.columns = [f" {name} " for name in frame]
    spaced = derive_respondents(study_of((save(frame, tmp_path / "spaced" / f"evs.{ending}"), "evs2017")), BY_LANGUAGE)
    pd.testing.assert_frame_equal(spaced, plain)


@pytest.mark.parametrize("ending", ["sav", "dta", "parquet"])
def test_a_file_that_is_cut_off_is_fetched_again(tmp_path, ending):
    whole: Path = save(as_evs(people()), tmp_path / f"whole.{ending}")
    content = whole.read_bytes()
    for share in (0.02, 0.5, 0.9):
        cut = tmp_path / f"cut.{ending}"
        cut.write_bytes(content[: int(share * len(content))])
        with pytest.raises(HumanDataError, match=r"cut\.\w+: cannot be read whole: .*; is it cut off\? fetch it again"):
            derive_respondents(study_of((cut, "evs2017")), BY_LANGUAGE)


def test_a_csv_file_that_is_cut_off_names_the_row(tmp_path):
    (tmp_path / "cut.csv").write_text(as_evs(people()).to_csv(index=False)[:-20])
    with pytest.raises(
        HumanDataError, match=r"cut.csv: cannot be read whole: .*Row #601: Expected \d+ columns, got \d+; is"
    ):
        derive_respondents(study_of((tmp_path / "cut.csv", "evs2017")), BY_LANGUAGE)


@pytest.mark.parametrize("rows", [[3], [3, 9]])
def test_a_stray_quotation_mark_names_its_line(tmp_path, rows):
    """One takes in all rows to the end of the file; two, those from one to the other."""
    frame = as_evs(people()).assign(region="Thueringen")
    lines = frame.to_csv(index=False).splitlines(keepends=True)
    for row in rows:
        lines[row] = lines[row].replace("Thueringen", '"Thueringen')
    (tmp_path / "evs.csv").write_text("".join(lines))
    with pytest.raises(HumanDataError) as caught:
        derive_respondents(study_of((tmp_path / "evs.csv", "evs2017")), BY_LANGUAGE)
    assert str(caught.value) == (
        f"{tmp_path / 'evs.csv'}: line 4: a quotation mark takes in what follows it; close it in its field, double it "
        "or leave it out"
    )


def test_line_ends_and_marks_in_a_quoted_field_are_text(tmp_path):
    frame = as_evs(people())
    plain = derive_respondents(study_of((save(frame, tmp_path / "evs.csv"), "evs2017")), BY_LANGUAGE)
    noted = save(frame.assign(note='first "line",\nsecond\n\nline'), tmp_path / "noted" / "evs.csv")
    pd.testing.assert_frame_equal(derive_respondents(study_of((noted, "evs2017")), BY_LANGUAGE), plain)


def test_an_spss_file_in_an_old_encoding_is_read(tmp_path):
    frame = as_evs(people()).assign(region="Thueringen")
    path = save(frame, tmp_path / "evs.sav")
    path.write_bytes(path.read_bytes().replace(b"Thueringen", b"Th\xfcringen "))
    assert len(derive_respondents(study_of((path, "evs2017")), BY_LANGUAGE)) == len(frame)
