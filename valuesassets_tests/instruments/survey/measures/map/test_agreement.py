import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.survey.material.indicators import INDICATORS
from valuesassets.instruments.survey.measures.map.agreement import (
    AGREES,
    NO_SIGNAL,
    PEOPLE,
    UNTESTED,
    VERDICTS,
    describe_agreement,
    families_against_countries,
    people_against_published,
    short_verdicts,
)
from valuesassets.instruments.survey.measures.map.points import Cells, lay_ground
from valuesassets.instruments.survey.measures.map.projector import choose_axes
from valuesassets.instruments.survey.published.axes import average_means, published_positions
from valuesassets.records.study import load_study

STUDY = load_study("evs2017")
GROUND = lay_ground(choose_axes(STUDY, None), [])
LANGUAGES = list(STUDY.languages)
MIDDLE = np.array([average_means()[name] for name in INDICATORS])


def countries(seed=0):
    random = np.random.default_rng(seed)
    return {each.country: MIDDLE + random.normal(size=10) * 0.3 for each in STUDY.languages.values()}


def cells(means_of, families=("one", "two"), languages=LANGUAGES):
    labels = [(family, language) for family in families for language in languages]
    means = np.array([means_of(family, STUDY.languages[language].country) for family, language in labels])
    frame = pd.DataFrame(labels, columns=pd.Index(["model", "language"]))
    return Cells(frame, means, means[:, None], np.ones(len(labels), dtype=int))


def verdicts(tests):
    return tests[tests["test_family"] == VERDICTS].set_index("model")


def test_a_family_that_follows_its_countries_agrees_and_one_that_does_not_is_no_signal():
    people, random = countries(), np.random.default_rng(1)

    def means_of(family, country):
        own = people[country] if family == "one" else MIDDLE + 0.5
        return own * 0.5 + random.normal(size=10) * 0.1

    tests = families_against_countries(cells(means_of), GROUND, people, "against people", STUDY)
    rows = verdicts(tests)
    assert rows["verdict"].to_dict() == {"one": AGREES, "two": NO_SIGNAL}
    assert (rows["n"] == 22).all()
    lines = " ".join(describe_agreement(tests, STUDY))
    assert "one: its points agree with its 22 countries" in lines
    assert "two: no signal: its points do not agree" in lines
    assert short_verdicts(tests)[0].startswith(f"one: {AGREES} (p 0.00")


def test_a_shift_that_all_languages_share_is_no_signal():
    tests = families_against_countries(
        cells(lambda family, country: MIDDLE + 0.4, ("one",)), GROUND, countries(), "against people", STUDY
    )
    row = verdicts(tests).loc["one"]
    assert (row["verdict"], row["p"], row["note"]) == (NO_SIGNAL, 1.0, "all points of one side lie in one place")
    assert np.isnan(row["value"])


def test_a_mirrored_family_is_no_signal_however_well_it_fits_when_turned():
    people = countries()
    tests = families_against_countries(
        cells(lambda family, country: 2 * MIDDLE - people[country], ("one",)), GROUND, people, "against people", STUDY
    )
    assert verdicts(tests).at["one", "verdict"] == NO_SIGNAL
    disparity = tests[tests["statistic"] == "procrustes m2"].iloc[0]
    assert (disparity["value"], disparity["p"] < 0.01) == (pytest.approx(0, abs=1e-9), True)


def test_verdicts_are_corrected_over_families():
    people, random = countries(), np.random.default_rng(3)
    many = [f"family {k}" for k in range(6)]
    tests = families_against_countries(
        cells(lambda family, country: MIDDLE + random.normal(size=10) * 0.3, many), GROUND, people, "-", STUDY
    )
    rows = verdicts(tests)
    assert rows["p_corrected"].min() == pytest.approx(min(6 * rows["p"].min(), 1))


@pytest.mark.slow
def test_families_of_chance_are_rarely_called_a_signal():
    verdict = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        study = STUDY.model_copy(
            update={"seed": seed, "inference": STUDY.inference.model_copy(update={"resamples": 199})}
        )
        chance_cells = cells(lambda family, country, random=random: MIDDLE + random.normal(size=10) * 0.3)
        tests = families_against_countries(chance_cells, GROUND, countries(seed + 500), "-", study)
        verdict.append((verdicts(tests)["verdict"] == AGREES).any())
    # a family-wise error of 5 % in 60 simulations: 8 or more would come about less than once in a hundred times
    assert sum(verdict) < 8


def test_an_indicator_that_a_model_lacks_is_lacking_in_its_country_too():
    people = countries()

    def lame(family, country):
        means = people[country].copy()
        means[3 if country in ("PL", "FR") else 5] = np.nan
        return means

    tests = families_against_countries(cells(lame, ("one",)), GROUND, people, "-", STUDY)
    assert verdicts(tests).at["one", "value"] == pytest.approx(1)


def test_three_languages_are_not_tested_and_that_is_said():
    people = countries()
    tests = families_against_countries(
        cells(lambda family, country: people[country], ("one",), LANGUAGES[:3]), GROUND, people, "-", STUDY
    )
    assert verdicts(tests).at["one", "verdict"] == UNTESTED
    assert "one: 3 pairs of points, 4 are needed" in " ".join(describe_agreement(tests, STUDY))


def test_models_with_too_few_indicators_take_no_part():
    people = countries()

    def lame(family, country):
        return np.where(np.arange(10) < (5 if country == "PL" else 10), people[country], np.nan)

    tests = families_against_countries(cells(lame, ("one",)), GROUND, people, "-", STUDY)
    assert verdicts(tests).at["one", "n"] == 21


def test_people_are_compared_with_published_positions_and_a_country_without_one_is_named():
    published = {row["country"]: np.array([row["x"], row["y"]]) for row in published_positions().to_dict("records")}
    ours = {country: 3 * published[country] + 1 for country in ("PL", "DE", "FR", "BG", "SE")} | {"XX": np.zeros(2)}
    tests = people_against_published(ours, published, STUDY)
    assert set(tests["test_family"]) == {PEOPLE}
    assert tests["value"].tolist() == pytest.approx([1, 1, 0], abs=1e-9)
    assert (tests["n"] == 5).all()
    assert tests["note"].str.contains("no published position: XX").all()
    few = people_against_published(dict(list(ours.items())[:3]), published, STUDY)
    assert few["value"].isna().all()
    assert "3 pairs of points" in " ".join(describe_agreement(few, STUDY))
