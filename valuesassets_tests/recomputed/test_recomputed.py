"""Every stored number of the survey's demonstration, computed again by other code; and that a wrong one is seen."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from valuesassets_tests.recomputed import (
    answers,
    apart,
    beside_people,
    calibration,
    cultural_map,
    families,
    others,
    position,
    side_by_side,
)
from valuesassets_tests.recomputed.basics import drawn_items, drawn_means, holm
from valuesassets_tests.recomputed.checking import Check
from valuesassets_tests.recomputed.grid import Study

TABLES = {
    "what models said": answers.of_models,
    "what people said": answers.of_people,
    "what is used": answers.of_quality,
    "each answer": answers.of_items,
    "each answer in words": answers.of_question_answers,
    "reliability": families.of_reliability,
    "signal": families.of_signal,
    "position": position.of_position,
    "distances": apart.of_distances,
    "the plane of distances": apart.of_plane,
    "comparison with people": beside_people.of_human_comparison,
    "mono and multi": side_by_side.of_mono_and_multi,
    "the map": cultural_map.of_map,
    "calibration": calibration.of_calibration,
    "controls": calibration.of_controls,
}
EXCUSED = {
    "trials": "what everything is computed from",
    "readings": "what everything is computed from",
    "sampled_answers": "what everything is computed from: texts that models wrote, counted",
    "probe_distributions.is_converted": "of the material: whether a list item was asked as a statement",
    "quality_report/readings.is_converted": "the same",
    "item_statistics.is_converted": "the same",
    "question_answers/options.sheet": "of a picture",
    "position_bias/by_response_type.n_parameters": "of the model: its readings say so",
    "position_bias/cells.n_parameters": "the same",
    "simulated_worlds/coverage": "of made worlds, which have neither readings nor respondents",
    "simulated_worlds/errors": "the same",
    "simulated_worlds/p_values": "the same",
    "simulated_worlds/rejections": "the same",
    "simulated_worlds/verdicts": "the same",
}
"""Stored numbers that are not computed again, and why."""
QUESTIONS = {f"respondents.v{number}" for number in range(300)}
"""Columns of respondents' own answers."""


@pytest.fixture(scope="module")
def study(demo_study) -> Study:
    return Study(demo_study / "demo.toml", demo_study / "storage")


@pytest.fixture(scope="module")
def checks(study) -> dict[str, Check]:
    """What was compared already."""
    return {}


def compared(name: str, study: Study, checks: dict[str, Check]) -> Check:
    if name not in checks:
        check = Check(study.folder, study.draws)
        TABLES[name](study, check)
        checks[name] = check
    return checks[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_stored_numbers_are_what_readings_trials_and_respondents_give(name, study, checks):
    check = compared(name, study, checks)
    assert check.compared
    assert not check.faults, "\n".join(check.faults[:20])


@pytest.mark.slow
def test_every_stored_number_is_computed_again_or_named_with_a_reason(study, checks):
    whole = Check(study.folder, study.draws)
    for name in TABLES:
        for table, columns in compared(name, study, checks).compared.items():
            whole.compared.setdefault(table, set()).update(columns)
    excused = EXCUSED | dict.fromkeys(QUESTIONS, "what people answered")
    assert whole.uncompared(excused) == []
    stale = [name for name in EXCUSED if name.partition(".")[0] not in whole.tables()]
    assert not stale, "reasons for tables that are not stored"
    n_columns = sum(map(len, whole.compared.values()))
    assert len(whole.compared) >= 36, sorted(whole.compared)
    assert n_columns >= 300, n_columns


# One table of each other instrument.


@pytest.mark.slow
def test_choices_of_worldwise_are_what_readings_and_trials_give(small_worldwise):
    folder = small_worldwise / "storage" / "demo_worldwise" / "worldwise"
    check = Check(folder, OF_SMALL)
    others.of_choices(folder, check)
    is_whole(check, "choices", {})


@pytest.mark.slow
def test_marks_of_psych_tasks_are_what_readings_and_trials_give(small_psych):
    folder = small_psych / "storage" / "demo_psych_tasks" / "psych_tasks"
    check = Check(folder, OF_SMALL)
    others.of_marks(folder, check)
    excused = {
        "block": "of the transcript",
        "log_share_by_place": "of people whose keys differ: another table's business",
    }
    excused |= dict.fromkeys(
        ("log_prob_human_late", "p_valid_late"), "a second reading, of what stands behind an answer"
    )
    is_whole(check, "answer_distributions/follower/marks", excused)


@pytest.mark.slow
def test_language_pairs_of_cultural_robustness_are_what_vectors_give(small_robustness):
    folder = small_robustness / "storage" / "small" / "cultural_robustness"
    check = Check(folder, OF_SMALL)
    others.of_language_pairs(folder, check, "cultures")
    is_whole(check, "language_pairs/language_pairs", {})


@pytest.mark.slow
def test_awareness_of_worldvaluesbench_is_what_readings_trials_and_respondents_give(small_ratings):
    folder = small_ratings / "storage" / "small" / "worldvaluesbench"
    check = Check(folder, OF_SMALL)
    others.of_awareness(folder, check, "two", "aware", 1)
    resampled = "of resamples whose noise is taken off: worlds of known truth try how often these ends hold it"
    excused = dict.fromkeys(("slope_low", "slope_high", "skill_low"), resampled)
    excused |= {"planted_slope": "of the study file", "p_opposite_corrected": "as p_corrected"}
    is_whole(check, "awareness/factors", excused | {"p_corrected": "compared beside"})


OF_SMALL = 199
"""Draws of the small studies."""


def is_whole(check: Check, table: str, excused: dict[str, str]) -> None:
    """Nothing is wrong, and all of the table's numbers were compared or are excused."""
    assert not check.faults, "\n".join(check.faults[:20])
    left = check.uncompared({f"{table}.{name}": why for name, why in excused.items()})
    assert not [each for each in left if each.rpartition(".")[0] == table]


# That what is wrong is seen.


def stored(folder: Path, **columns: list[float]) -> Check:
    pd.DataFrame({"name": ["a", "b"], **columns}).to_parquet(folder / "numbers.parquet")
    return Check(folder, 2000)


def test_a_number_that_is_off_by_more_than_rounding_is_seen_and_named(tmp_path):
    check = stored(tmp_path, r=[0.5, 0.25])
    own = pd.DataFrame({"name": ["a", "b"], "r": [0.5 + 1e-8, 0.25 + 1e-5]})
    check.equal("numbers", ["name"], own)
    assert check.faults == ["numbers, b: r is stored as 0.25, and is 0.25001"]


def test_what_is_missing_on_one_side_alone_is_seen(tmp_path):
    check = stored(tmp_path, r=[0.5, np.nan])
    check.equal("numbers", ["name"], pd.DataFrame({"name": ["a", "b"], "r": [np.nan, np.nan]}))
    assert len(check.faults) == 1


def test_rows_that_stand_on_one_side_alone_are_an_error(tmp_path):
    with pytest.raises(AssertionError, match="on one side alone"):
        stored(tmp_path, r=[0.5, 0.2]).equal("numbers", ["name"], pd.DataFrame({"name": ["a"], "r": [0.5]}))


@pytest.mark.parametrize(("moved", "n_faults"), [(0.0, 0), (0.25, 2)])
def test_intervals_may_lie_off_by_what_draws_make_and_by_no_more(tmp_path, moved, n_faults):
    random = np.random.default_rng(0)
    values = random.normal(size=(2, 30))
    theirs = np.sort(drawn_means(values, drawn_items(30, random, 2000)), axis=0)
    places = [int(0.02 * 2001) - 1, int(0.98 * 2001)]  # the t quantile of 30 values, about
    width = theirs[places[1]] - theirs[places[0]]
    check = stored(tmp_path, r_low=list(theirs[places[0]] + moved * width), r_high=list(theirs[places[1]]))
    rows = pd.DataFrame({"name": ["a", "b"]})
    check.ends("numbers", ["name"], rows, "r", drawn_means(values, drawn_items(30, random)), 30)
    assert len(check.faults) == n_faults, check.faults


@pytest.mark.parametrize(("p", "is_seen"), [(0.052, False), (0.01, True)])
def test_p_values_may_lie_off_by_what_draws_make_and_by_no_more(tmp_path, p, is_seen):
    check = stored(tmp_path, p=[p, 0.5])
    check.p("numbers", ["name"], pd.DataFrame({"name": ["a", "b"], "p": [0.05, 0.5]}), "p", 8000)
    assert bool(check.faults) == is_seen


def test_a_numeric_column_that_nothing_was_compared_with_is_named(tmp_path):
    check = stored(tmp_path, r=[0.5, 0.25], seen=[True, False], empty=[np.nan, np.nan])
    check.equal("numbers", ["name"], pd.DataFrame({"name": ["a", "b"], "r": [0.5, 0.25]}))
    assert check.uncompared({}) == ["numbers.seen"]
    assert check.uncompared({"numbers.seen": "a reason"}) == []


def test_holm_by_its_definition():
    assert holm(np.array([0.01, 0.04, 0.03])).tolist() == pytest.approx([0.03, 0.06, 0.06])
