import itertools

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.survey.material.indicators import INDICATORS, own_indicators
from valuesassets.instruments.survey.material.respondents import COLUMNS, answer_codes, derive_respondents
from valuesassets.instruments.survey.plants.planted_people import loading
from valuesassets.records.parquet import read_frame, write_frame
from valuesassets.records.settings.human import HumanFile
from valuesassets.records.tables import TABLES
from valuesassets_tests.comparing.planted_grid import demo, no_people, questions
from valuesassets_tests.comparing.planted_grid import people as planted_people
from valuesassets_tests.people.synthetic_files import (
    ASKED,
    FORMATS,
    as_evs,
    as_joint,
    as_wvs,
    people,
    save,
    study_of,
)

BY_LANGUAGE = {language: questions() for language in demo().languages}
IN_ALL = [question for question in ASKED if question not in ("v46", "v51", "v54")]
"""Asked in all three surveys, and read from each of them."""


def read(frame, path, survey="evs2017"):
    return derive_respondents(study_of((save(frame, path), survey)), BY_LANGUAGE)


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_gives_the_people_that_were_written(tmp_path, ending):
    originals = people()
    table = read(as_evs(originals), tmp_path / f"evs.{ending}")
    assert list(table.columns) == [*COLUMNS, *[c for c in table.columns if c.startswith("v")], *INDICATORS]
    assert table["country"].tolist() == originals["country"].tolist()
    assert table["respondent_id"].iloc[0] == "2017000001"
    assert set(table["source"]) == {f"evs.{ending}"}
    for question in ASKED:
        assert table[question].dtype == "Int16"
        assert answer_codes(table, question).tolist() == originals[question].replace(-10, -5).tolist()


def test_weights_have_mean_one_within_every_country(tmp_path):
    originals = people()
    table = read(as_evs(originals), tmp_path / "evs.csv")
    for country, rows in originals.groupby("country"):
        own = table.loc[table["country"] == country, "weight"].to_numpy()
        assert own.mean() == pytest.approx(1)
        assert own == pytest.approx(rows["weight"].to_numpy() / rows["weight"].mean())


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize(("written", "survey"), [(as_wvs, "wvs7"), (as_joint, "joint")])
def test_the_same_people_come_out_of_every_survey_in_the_codes_of_evs(tmp_path, written, survey, ending):
    originals = people()
    table = read(written(originals), tmp_path / f"survey.{ending}", survey)
    evs = read(as_evs(originals), tmp_path / "evs.parquet")
    for question in IN_ALL:
        assert table[question].tolist() == evs[question].tolist(), question
    for indicator in INDICATORS:
        assert table[indicator].to_numpy() == pytest.approx(evs[indicator].to_numpy(), nan_ok=True), indicator


def test_respect_for_authority_is_good_dont_mind_bad_out_of_both_surveys_codes(tmp_path):
    originals = people(("DE",), 40).assign(v114=[1] * 10 + [2] * 20 + [3] * 10)  # EVS: good, bad, don't mind
    for written, survey in ((as_evs, "evs2017"), (as_wvs, "wvs7"), (as_joint, "joint")):
        frame = written(originals)
        column = {"evs2017": "v114", "wvs7": "Q45", "joint": "E018"}[survey]
        assert frame[column].tolist() == (
            [1] * 10 + [2] * 20 + [3] * 10 if survey == "evs2017" else [1] * 10 + [3] * 20 + [2] * 10
        )
        table = read(frame, tmp_path / f"{survey}.sav", survey)
        assert table["v114"].tolist() == [1] * 10 + [2] * 20 + [3] * 10
        assert table["E018"].tolist() == [1.0] * 10 + [3.0] * 20 + [2.0] * 10


def test_scales_that_run_the_other_way_in_wvs_are_turned(tmp_path):
    frame = as_wvs(people(("DE",), 40)).assign(Q108=np.arange(40) % 10 + 1, Q254=[5, *[1] * 39], Q111=[3, *[2] * 39])
    by_language = {
        "deu": [*questions(), *(q.replace(id=i) for q, i in zip(questions(), ["v103", "v204"], strict=False))]
    }
    table = derive_respondents(study_of((save(frame, tmp_path / "wvs.sav"), "wvs7")), by_language)
    assert table["v103"].tolist() == [10 - k % 10 for k in range(40)]
    assert table["v170"].tolist() == [-3, *[1] * 39]
    assert table["v204"].tolist() == [-5, *[2] * 39]


def test_missing_answers_keep_their_reason(tmp_path):
    codes = [1, 4, -1, -2, -3, -4, -5, -9, np.nan, 8, 9, 7, *[2] * 28]
    table = read(as_evs(people(("DE",), 40)).assign(v7=codes), tmp_path / "evs.sav")
    assert table["v7"].tolist()[:8] == [1, 4, -1, -2, -3, -4, -5, -5]
    assert table["v7"].isna().tolist() == [k == 8 for k in range(40)]
    assert table["v7"].tolist()[9:12] == [-1, -2, -3]  # as the form prints them


def test_lettered_missing_values_of_stata_are_no_answers(tmp_path):
    import pyreadstat

    frame = as_evs(people(("DE",), 40)).assign(v7=["a", "b", *[2] * 38])
    pyreadstat.write_dta(frame, tmp_path / "evs.dta", missing_user_values={"v7": ["a", "b"]})
    table = derive_respondents(study_of((tmp_path / "evs.dta", "evs2017")), BY_LANGUAGE)
    assert table["v7"].tolist() == [-5, -5, *[2] * 38]


def test_columns_are_found_whatever_their_case(tmp_path):
    originals = people()
    shouted = as_evs(originals).rename(columns=str.upper)
    assert read(shouted, tmp_path / "evs.csv").equals(read(as_evs(originals), tmp_path / "again" / "evs.csv"))


@pytest.mark.parametrize("codes", [{"DE": "276", "GB": "826"}, {"DE": "de", "GB": "GB"}, {"DE": "DEU", "GB": "gbr"}])
def test_countries_are_known_by_number_and_by_letters(tmp_path, codes):
    originals = people()
    frame = as_evs(originals).assign(country=originals["country"].map(codes))
    assert read(frame, tmp_path / "evs.csv")["country"].tolist() == originals["country"].tolist()


def test_semicolons_a_byte_order_mark_and_decimal_commas_are_read(tmp_path):
    originals = people()
    path = tmp_path / "evs.csv"
    as_evs(originals).to_csv(path, index=False, sep=";", decimal=",", encoding="utf-8-sig")
    table = derive_respondents(study_of((path, "evs2017")), BY_LANGUAGE)
    assert table.equals(read(as_evs(originals), tmp_path / "again" / "evs.csv"))


def test_letters_in_an_old_encoding_do_no_harm_where_codes_are_read(tmp_path):
    frame = as_evs(people()).assign(region="Thüringen")
    frame.to_csv(tmp_path / "evs.csv", index=False, encoding="latin-1")
    assert len(derive_respondents(study_of((tmp_path / "evs.csv", "evs2017")), BY_LANGUAGE)) == len(frame)


def test_another_weight_may_be_named_or_none(tmp_path):
    path = save(as_evs(people()), tmp_path / "evs.parquet")
    for name in ("dweight", "none"):
        table = derive_respondents(study_of(HumanFile(path=path, survey="evs2017", weight=name)), BY_LANGUAGE)
        assert set(table["weight"]) == {1.0}
        assert any("without weights" in note for note in table.attrs["notes"]) == (name == "none")


def test_the_second_weight_is_taken_where_the_first_is_not_in_the_file(tmp_path):
    frame = as_evs(people()).drop(columns="gweight").assign(dweight=np.arange(600) % 2 + 1.0)
    assert sorted(set(read(frame, tmp_path / "evs.csv")["weight"].round(6))) == [0.666667, 1.333333]


def test_a_respondent_without_a_weight_is_left_out_and_counted(tmp_path):
    frame = as_evs(people())
    frame.loc[[0, 1, 2], "gweight"] = [0, np.nan, 0]
    table = read(frame, tmp_path / "evs.sav")
    assert len(table) == len(frame) - 3
    assert any("3 of 300 respondents of DE have no weight in gweight" in note for note in table.attrs["notes"])


def test_of_a_country_in_two_files_the_first_named_is_taken(tmp_path):
    evs = save(as_evs(people(("DE",))), tmp_path / "evs.sav")
    wvs = save(as_wvs(people(("DE", "FR"))), tmp_path / "wvs.csv")
    table = derive_respondents(study_of((evs, "evs2017"), (wvs, "wvs7")), BY_LANGUAGE)
    assert table.groupby("country")["source"].unique().map(list).to_dict() == {"DE": ["evs.sav"], "FR": ["wvs.csv"]}
    assert "wvs.csv: DE is taken from evs.sav, which the study names first." in table.attrs["notes"]
    assert table.loc[table["country"] == "FR", "v51"].isna().all()  # not asked by WVS-7


def test_of_two_samples_in_the_joint_file_that_of_evs_is_taken(tmp_path):
    both = [as_joint(people(("DE",), 50), 1), as_joint(people(("DE", "GB"), 60, seed=8), 2)]
    table = read(pd.concat(both), tmp_path / "joint.sav", "joint")
    assert table["country"].value_counts().to_dict() == {"GB": 60, "DE": 50}
    assert any("DE has samples of EVS 2017 (50) and WVS wave 7 (60)" in note for note in table.attrs["notes"])


def test_what_is_missing_is_said(tmp_path):
    frame = as_evs(people(("DE", "GB", "FR")))
    frame = frame.drop(index=frame.index[frame["country"] == 250][10:])
    frame.loc[frame["country"] == 276, "v7"] = -4
    table = read(frame, tmp_path / "evs.sav")
    notes = table.attrs["notes"]
    assert set(table["country"]) == {"DE", "GB"}
    assert "evs.sav: 10 respondents of FR, fewer than 30: the country is left out." in notes
    assert "PL: no respondents in evs.sav: nothing is compared with its people." in notes
    assert "DE: nobody answered v7: left out for this country." in notes
    assert not any(note.startswith("GB") for note in notes)
    assert table.loc[table["country"] == "DE", "A008"].isna().all()


def test_a_file_that_was_emptied_of_reasons_says_that_its_rates_are_none(tmp_path):
    frame = as_evs(people())
    frame[ASKED] = frame[ASKED].where(frame[ASKED] > 0)
    assert any("no code says why" in note for note in read(frame, tmp_path / "evs.csv").attrs["notes"])


def test_a_second_choice_that_repeats_the_first_is_none(tmp_path):
    frame = as_evs(people(("DE",), 40)).assign(v110=1, v111=[1, 1, *[3] * 38])
    table = read(frame, tmp_path / "evs.csv")
    assert table["v111"].tolist() == [-5, -5, *[3] * 38]
    assert table["Y002"].isna().sum() == 2
    assert any("2 respondents named the same twice" in note for note in table.attrs["notes"])


def test_samples_that_are_no_country_are_left_out(tmp_path):
    frame = as_joint(people())
    frame.loc[frame.index[:5], ["cntry", "cntry_AN"]] = [909, "NIR"]
    assert len(read(frame, tmp_path / "joint.sav", "joint")) == len(frame) - 5


def test_composite_indicators_are_each_respondents_own(tmp_path):
    table = read(as_evs(people()), tmp_path / "evs.sav")
    for row in table.to_dict("records"):
        aims = [row["v110"], row["v111"]]
        wanted = None
        if min(aims) > 0:
            wanted = 1 if set(aims) <= {1, 3} else 3 if set(aims) <= {2, 4} else 2
        assert row["Y002"] == wanted if wanted else np.isnan(row["Y002"])
        qualities = [row[q] for q in ("v93", "v95", "v86", "v92")]
        wanted = qualities[0] + qualities[1] - qualities[2] - qualities[3] if min(qualities) > 0 else None
        assert row["Y003"] == wanted if wanted is not None else np.isnan(row["Y003"])
    assert set(table["Y002"].dropna()) == {1, 2, 3}
    assert set(table["Y003"].dropna()) == {-2, -1, 0, 1, 2}


def test_own_indicators_by_hand():
    one = {"v7": 4, "v31": 2, "v114": 2, "v98": 1, "v63": 10, "v153": 5, "v154": 6, "v170": 1, "v110": 2, "v111": 4}
    one |= {"v86": 1, "v92": 1, "v93": 2, "v95": 2}
    indicators = own_indicators({question: np.array([code, np.nan]) for question, code in one.items()})
    wanted = {
        "A008": 4,
        "A165": 2,
        "E018": 3,
        "E025": 1,
        "F063": 10,
        "F118": 5,
        "F120": 6,
        "G006": 1,
        "Y002": 3,
        "Y003": 2,
    }
    assert {name: values[0] for name, values in indicators.items()} == wanted
    assert all(np.isnan(values[1]) for values in indicators.values())


def test_a_study_without_people_has_an_empty_table_of_the_same_columns():
    table = no_people()
    assert table.empty
    assert {*COLUMNS, *INDICATORS} <= set(table.columns)
    assert table.attrs["notes"] == []


def test_the_table_comes_back_from_its_file_with_its_notes(tmp_path):
    respondents = read(as_evs(people()), tmp_path / "evs.sav")
    respondents.to_parquet(tmp_path / "respondents.parquet")
    again = pd.read_parquet(tmp_path / "respondents.parquet")
    assert again.equals(respondents)
    assert again.attrs["notes"] == respondents.attrs["notes"] != []


def test_answers_of_planted_people_correlate_as_the_maps_slopes_say():
    table = planted_people()
    people_of = {"A008": "v7", "E018": "v114", "F063": "v63", "F118": "v153", "F120": "v154", "G006": "v170"}
    people_of |= {"Y002": "v110", "Y003": "v86"}
    within = table[list(people_of)] - table.groupby("country")[list(people_of)].transform("mean")
    correlations = within.corr()
    checked = 0
    for one, other in itertools.combinations(people_of, 2):
        expected = loading(demo(), people_of[one]) @ loading(demo(), people_of[other])
        if abs(expected) > 0.15:
            assert np.sign(correlations.at[one, other]) == np.sign(expected), (one, other)
            checked += 1
    assert checked > 12


@pytest.mark.parametrize("name", ["happy", "Trust", "q.1", "a-b", "Größe", "Щастя", "7", "country", "weight", "A008"])
@pytest.mark.parametrize("source", ["planted", "none"])
def test_a_question_of_any_id_has_its_column_beside_those_of_the_table(tmp_path, name, source):
    by_language = {"deu": [questions()[0].replace(id=name)]}
    study = demo().model_copy(update={"human": demo().human.model_copy(update={"source": source})})
    table = derive_respondents(study, by_language)
    write_frame(tmp_path / "respondents.parquet", table, TABLES["respondents"])
    kept = read_frame(tmp_path / "respondents.parquet", TABLES["respondents"])
    assert answer_codes(kept, name).max(initial=1) > 0
    assert set(kept["country"]) == ({"DE"} if source == "planted" else set())
