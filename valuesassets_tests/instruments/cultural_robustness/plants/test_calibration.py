from itertools import combinations

import pandas as pd
import pytest

from valuesassets.instruments.cultural_robustness.plants.calibration import derive_calibration
from valuesassets.instruments.cultural_robustness.plants.expected_scores import expected_distances
from valuesassets.instruments.cultural_robustness.plants.planted_answers import GROUPS, OWN_COUNTRIES, SCRIPTS
from valuesassets.instruments.cultural_robustness.tables import CALIBRATION
from valuesassets_tests.instruments.cultural_robustness.planted_trials import bundled_questions

LANGUAGES = sorted(OWN_COUNTRIES)
EXPECTED = expected_distances("cultures", LANGUAGES, sorted(OWN_COUNTRIES.values()))
FAULTS = {("fra", "2-4"): "empty", ("ell", "4-3"): "wrong_language", ("pol", "5-5"): "truncated"}


def whole(diversity=EXPECTED.diversity, robustness=EXPECTED.robustness, p=0.5):
    """Tables of a model that came out just as planted; every test has the same p."""
    tests = ("culture_gain", "country_follow", "own_country_advantage", "structure")
    scores = [{"score": name, "value": 0.1, "p": p} for name in tests]
    scores += [{"score": "diversity", "value": diversity, "p": p}, {"score": "robustness", "value": robustness, "p": p}]
    place = {"latin": 0.0, "greek": 0.6, "cyrillic": -0.6}
    at = {language: place[name] for name, languages in SCRIPTS.items() for language in languages}
    pairs = [
        {"language": one, "other_language": two, "unanchored_distance": 0.1 + abs(at[one] - at[two])}
        for one, two in combinations(LANGUAGES, 2)
    ]
    groups = [{"language": one, "group": number} for number, group in enumerate(GROUPS, 1) for one in group]
    return {
        "scores": pd.DataFrame(scores),
        "language_pairs": pd.DataFrame(pairs),
        "language_groups": pd.DataFrame(groups),
    }


def quality(statuses=FAULTS):
    """Two answers to each prompt; all are ok but these."""
    questions = bundled_questions()
    rows = [
        (row["language"], row["id"], sample, statuses.get((row["language"], row["id"]), "ok"))
        for row in questions.to_dict("records")
        for sample in range(2)
    ]
    return pd.DataFrame(rows, columns=pd.Index(["language", "id", "sample", "status"]))


def recovered(family="cultures", tables=None, judged=None):
    table = derive_calibration(family, tables or whole(), quality() if judged is None else judged, bundled_questions())
    assert list(table) == CALIBRATION.names
    return table.set_index("fact")


def lost(table):
    return table.index[~table["is_recovered"]].tolist()


def test_what_came_out_as_planted_is_recovered():
    table = recovered()
    assert lost(table) == []
    assert len(table) == 8
    assert table["planted"]["empty answers"] == table["recovered"]["empty answers"] == 2
    assert table["planted"]["diversity"] == pytest.approx(EXPECTED.diversity)


@pytest.mark.parametrize("name", ["diversity", "robustness"])
@pytest.mark.parametrize(("off", "is_recovered"), [(0.049, True), (-0.049, True), (0.051, False), (-0.051, False)])
def test_a_ratio_may_be_off_by_a_twentieth(name, off, is_recovered):
    table = recovered(tables=whole(**{name: getattr(EXPECTED, name) + off}))
    assert lost(table) == ([] if is_recovered else [name])


def test_a_refused_ratio_is_not_recovered():
    table = recovered(tables=whole(diversity=None))
    assert lost(table) == ["diversity"]
    assert pd.isna(table["recovered"]["diversity"])


def test_a_language_in_another_group_is_lost():
    tables = whole()
    tables["language_groups"].loc[0, "group"] = 3
    assert lost(recovered(tables=tables)) == ["groups (adjusted Rand index)"]


def test_groups_that_are_not_named_are_not_recovered():
    tables = whole()
    tables["language_groups"] = tables["language_groups"].iloc[:0]
    assert lost(recovered(tables=tables)) == ["groups (adjusted Rand index)"]


def test_plain_distances_that_follow_no_script_show():
    tables = whole()
    pairs = tables["language_pairs"]
    is_one = pairs[["language", "other_language"]].isin(["bul", "pol"]).all(axis=1)
    pairs.loc[is_one, "unanchored_distance"] = 0.0
    assert lost(recovered(tables=tables)) == ["scripts by plain distances (adjusted Rand index)"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({("fra", "2-4"): "ok"}, ["empty answers"]),
        ({("ell", "4-3"): "truncated"}, ["wrong_language answers"]),
        ({("pol", "5-5"): "ok"}, ["truncated answers"]),
        ({("pol", "5-4"): "truncated"}, ["other faulty answers"]),
        ({("deu", "1"): "echo"}, ["other faulty answers"]),
    ],
)
def test_faults_are_found_exactly_or_not_at_all(change, expected):
    assert lost(recovered(judged=quality(FAULTS | change))) == expected


def test_without_a_signal_no_test_may_reject():
    assert lost(recovered("no-signal", judged=quality({}))) == []
    table = recovered("no-signal", tables=whole(p=0.04), judged=quality({}))
    assert lost(table) == ["rejected tests"]
    assert table["recovered"]["rejected tests"] == 4


def test_without_a_signal_no_answer_is_at_fault():
    assert lost(recovered("no-signal")) == ["other faulty answers"]
