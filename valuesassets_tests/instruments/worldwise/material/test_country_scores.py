"""Country scores: as published, with the traps of the matrix, and z."""

import numpy as np
import pytest

from valuesassets.instruments.worldwise.material.country_scores import (
    country_codes,
    read_country_scores,
    standard_scores,
)
from valuesassets.instruments.worldwise.material.dimensions import AXES
from valuesassets.records.errors import HumanDataError
from valuesassets.records.places import STUDIES, load_facts
from valuesassets_tests.instruments.worldwise.made_dilemmas import write

HEAD = "ctr,country,pdi,idv,mas,uai,ltowvs,ivr\n"
BAD = {
    "another header": (
        "country,pdi\nJapan,54\n",
        "{file}: line 1: country, pdi found, a header ctr,country,idv,ivr,ltowvs,mas,pdi,uai was expected",
    ),
    "no rows": (HEAD, "{file}: no country below its header; add a line for each"),
    "an ISO code": (
        HEAD + "DEU,Germany,35,67,66,65,83,40\n",
        "{file}: line 2: 'DEU' is no code of the matrix, which has its own (GER, AUL); mend it",
    ),
    "twice": (
        HEAD + "JPN,Japan,54,46,95,92,88,42\n\nJPN,Japan,54,46,95,92,88,42\n",
        "{file}: line 4: JPN stands there twice; keep one",
    ),
    "above 120": (
        HEAD + "JPN,Japan,54,46,121,92,88,42\n",
        "{file}: line 2 (JPN): mas '121' found, a number from 0 to 120 or #NULL! was expected; mend it",
    ),
    "below 0": (
        HEAD + "JPN,Japan,54,-1,95,92,88,42\n",
        "{file}: line 2 (JPN): idv '-1' found, a number from 0 to 120 or #NULL! was expected; mend it",
    ),
    "a star": (
        HEAD + "JPN,Japan,54*,46,95,92,88,42\n",
        "{file}: line 2 (JPN): pdi '54*' found, a number from 0 to 120 or #NULL! was expected; mend it",
    ),
    "not a number": (
        HEAD + "JPN,Japan,54,46,95,92,88,nan\n",
        "{file}: line 2 (JPN): ivr 'nan' found, a number from 0 to 120 or #NULL! was expected; mend it",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_with_a_file_is_said_in_one_line(case, tmp_path):
    content, line = BAD[case]
    file = write(tmp_path / "scores.csv", content)
    with pytest.raises(HumanDataError) as caught:
        read_country_scores(file)
    assert str(caught.value) == line.replace("{file}", str(file))


@pytest.mark.parametrize("separator", [",", ";"])
def test_scores_are_read_from_either_kind_of_copy_and_what_is_missing_stays_so(tmp_path, separator):
    text = HEAD + "AUL,Australia,38,90,61,51,21,71\nARA,Arab countries,80,38,53,68,23,34\nALG,Algeria,,#NULL!,,,26,32\n"
    scores = read_country_scores(write(tmp_path / "scores.csv", text.replace(",", separator)))
    assert scores["country"].tolist() == ["AUS", None, "DZA"]
    assert scores[list(AXES)].to_numpy()[0].tolist() == [90, 38, 61, 51, 21, 71]
    assert scores[list(AXES)].isna().to_numpy()[2].tolist() == [True, True, True, True, False, False]
    assert standard_scores(scores).index.tolist() == ["AUS", "DZA"]


def test_codes_are_countries_of_iso_3166_each_once_and_ten_rows_are_none():
    codes = country_codes()
    meant = [alpha3 for _, _, alpha3 in codes if alpha3]
    assert (len(codes), len(meant), len(set(meant))) == (111, 101, 101)
    assert set(meant) <= set(load_facts("iso_countries.csv")["alpha3"])
    by_code = {ctr: alpha3 for ctr, _, alpha3 in codes}
    theirs = {"SLV": "SVN", "SAL": "SLV", "MNG": "MNE", "MAC": "MKD", "BEN": None, "CAF": None, "GER": "DEU"}
    assert {ctr: by_code[ctr] for ctr in theirs} == theirs


def test_z_is_over_complete_countries_and_regions_do_not_count(tmp_path):
    text = (
        HEAD
        + "AUL,Australia,10,20,30,40,50,60\nAUT,Austria,30,20,30,40,50,60\nJPN,Japan,50,#NULL!,35,40,50,60\n"
        + "ARA,Arab countries,100,20,30,40,50,60\n"
    )
    z = standard_scores(read_country_scores(write(tmp_path / "scores.csv", text)))
    half = 1 / np.sqrt(2)  # two countries, 20 apart: their sd is 20 / sqrt(2)
    assert z["PDI"].to_dict() == pytest.approx({"AUS": -half, "AUT": half, "JPN": 3 * half})
    assert z[["IDV", "MAS"]].isna().all(axis=None)
    assert list(z) == list(AXES)


def test_the_bundled_rows_are_at_most_a_dozen_complete_and_each_names_source_and_version():
    scores = read_country_scores()
    assert len(scores) == 12
    assert not scores.isna().any(axis=None)
    rows = (STUDIES / "worldwise" / "country_scores.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert all("Hofstede, Hofstede and Minkov (2010)" in row and row.endswith(",2015-08-16") for row in rows)
