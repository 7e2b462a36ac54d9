import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.material.participants import read_participants
from valuesassets.instruments.worldvaluesbench.material.probe_samples import choose_samples
from valuesassets.instruments.worldvaluesbench.material.stored_dataset import write_dataset
from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions
from valuesassets.instruments.worldvaluesbench.measures.evaluation import FILES, evaluate, write_evaluation
from valuesassets.instruments.worldvaluesbench.plants.planted_people import (
    DEMO,
    plant_people,
    planted_ratings,
)
from valuesassets.records.errors import RatingsError
from valuesassets_tests.cli.commands import run, succeed
from valuesassets_tests.instruments.worldvaluesbench.made_files import PLANTED_SLOPES
from valuesassets_tests.instruments.worldvaluesbench.rated_people import drawn_scores, people_of, samples_of

COLUMNS = {
    "benchmark_scores": "model subset question_id n_people n_ratings n_missing n_out_of_scale w1_seed w1_unit "
    "w1_floor_unit w1_uniform_unit w1_majority_unit",
    "threshold_shares": "model subset threshold n_questions share share_unit",
    "group_distances": "model question_id continent settlement education n effective_n w1_unit w1_floor_unit "
    "cramer_unit",
    "awareness": "model factor slope slope_low slope_high exaggeration direction skill p_value n_arrangements",
    "rating_orders": "model n_prompts n_low_p_valid n_questions p_valid changed pull_unit agreement agreement_low "
    "agreement_high threshold follow is_evidence reason",
    "ledger": "what model question_id n of",
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Planted people, read from a file of the survey's."""
    path = tmp_path_factory.mktemp("people") / "wvs7.csv"
    plant_people(8000, 3).to_csv(path, index=False)
    return read_participants(path, chosen_questions(DEMO.questions))


@pytest.fixture(scope="module")
def evaluated(planted):
    samples = choose_samples(planted, chosen_questions(DEMO.questions), "60")
    ratings = {name: planted_ratings(slope, 3) for name, slope in PLANTED_SLOPES.items()}
    return evaluate(planted, samples, ratings, resamples=200, seed=1)


def slopes(tables):
    awareness = tables["awareness"]
    return awareness[awareness["factor"] == "all"].set_index("model")


@pytest.mark.slow
def test_planted_slopes_come_back_inside_their_intervals(evaluated):
    by_model = slopes(evaluated)
    for name, planted_slope in PLANTED_SLOPES.items():
        assert by_model.loc[name, "slope_low"] <= planted_slope <= by_model.loc[name, "slope_high"]
    assert by_model.loc["caricature", "slope"] > by_model.loc["aware", "slope"] > by_model.loc["blind", "slope"]


@pytest.mark.slow
def test_the_benchmarks_score_does_not_tell_the_aware_from_the_contrary(evaluated):
    scores = evaluated["benchmark_scores"]
    means = scores[scores["subset"] == "all"].groupby("model")["w1_seed"].mean()
    assert abs(means["aware"] - means["contrary"]) < 0.02
    assert abs(means["people of another split"] - means["blind"]) < 0.02


@pytest.mark.slow
def test_controls_move_as_they_must(evaluated):
    by_model = slopes(evaluated)
    assert by_model.loc["people of another split", "slope"] == pytest.approx(0, abs=1e-9)
    ceiling = by_model.loc["groups of another split"]
    assert ceiling["slope_low"] < 1 < ceiling["slope_high"]
    for name in PLANTED_SLOPES:
        assert by_model.loc[f"{name} without attributes", "slope"] == pytest.approx(0, abs=1e-9)
        shuffled = by_model.loc[f"{name} shuffled"]
        assert shuffled["slope_low"] <= 0 <= shuffled["slope_high"]


@pytest.mark.slow
def test_shuffled_ratings_have_the_score_of_the_model_itself(evaluated):
    scores = evaluated["benchmark_scores"]
    everybody = scores[scores["subset"] == "all"].pivot(index="question_id", columns="model", values="w1_seed")
    for name in PLANTED_SLOPES:
        assert np.abs(everybody[name] - everybody[f"{name} shuffled"]).max() <= 1e-9


def test_tables_are_the_same_again():
    dataset = people_of(6)
    given = dataset, samples_of(dataset), {"a": drawn_scores(dataset, 1)}, {"a": drawn_scores(dataset, 2)}
    once, again = (evaluate(*given, resamples=20, seed=4) for _ in range(2))
    for name, table in once.items():
        pd.testing.assert_frame_equal(table, again[name])


def test_what_is_left_out_and_what_a_check_finds_is_told():
    dataset = people_of(25, ["Q106", "Q107"])
    leaked = drawn_scores(dataset, 2)
    is_urban = np.tile(dataset.participants["settlement"] == "urban", 2)
    leaked["SCORE"] = np.where(is_urban, 10, leaked["SCORE"])
    ratings = drawn_scores(dataset, 1, missing=0.1)
    ledger = evaluate(dataset, samples_of(dataset), {"a": ratings}, {"a": leaked}, resamples=0)["ledger"]
    lines = ledger["what"].tolist()
    assert "too many ratings with attributes cannot be used" in lines
    assert any(what.startswith("ratings without attributes depend on the group: p = 0.001") for what in lines)


@pytest.mark.parametrize(
    ("ratings", "without", "message"),
    [
        ([], [], "ratings: none given; name a model and its file: --ratings NAME=FILE"),
        (["a"], ["b"], "--without b: no ratings with attributes have this name; give --ratings b=FILE"),
        (["uniform"], [], "--ratings uniform=...: this name stands for a control; choose another"),
        (["a", "a shuffled"], [], "--ratings a shuffled=...: this name stands for a control; choose another"),
    ],
)
def test_names_are_looked_at_first(ratings, without, message):
    dataset = people_of(5)
    given = [dict.fromkeys(names, drawn_scores(dataset, 1)) for names in (ratings, without)]
    with pytest.raises(RatingsError) as caught:
        evaluate(dataset, samples_of(dataset), *given)
    assert str(caught.value) == message


@pytest.mark.slow
def test_the_command_writes_its_tables_and_nothing_where_it_cannot(tmp_path, planted):
    write_dataset(planted, tmp_path / "data")
    file = tmp_path / "aware.csv"
    planted_ratings(0.8, 3).to_csv(file, index=False)
    command = ["worldvaluesbench", "evaluate", "--dataset", tmp_path / "data", "--questions", ",".join(DEMO.questions)]
    output = tmp_path / "scores"
    printed = succeed(*command, "--probe", 20, "--ratings", f"aware={file}", "--resamples", 50, "--output", output)
    assert "aware without attributes" in printed
    assert {path.stem for path in output.iterdir()} == set(COLUMNS)
    for name, columns in COLUMNS.items():
        assert list(pd.read_csv(output / f"{name}.csv").columns) == columns.split()
    file.write_text("Q1\t5\t1\n")
    nothing = tmp_path / "nothing"
    done = run(*command, "--probe", 20, "--ratings", f"aware={file}", "--output", nothing)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"{file}: row 1: 'Q1, 5, 1' is no header; ")
    assert done.stderr.count("\n") == 1
    assert not nothing.exists()
    done = run(*command, "--ratings", "aware", "--output", nothing)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--ratings aware: a name and a file were expected, as --ratings mine=mine.tsv; see" in done.stderr


def test_nulls_are_empty_in_the_files(tmp_path):
    dataset = people_of(6)
    tables = evaluate(dataset, samples_of(dataset), {"a": drawn_scores(dataset, 1)}, resamples=0)
    write_evaluation(tables, tmp_path)
    written = (tmp_path / "awareness.csv").read_text()
    assert "nan" not in written.lower()
    settlement = next(line for line in written.splitlines() if line.startswith("a,settlement"))
    assert ",," in settlement  # too few arrangements for a p-value
    assert set(COLUMNS) | {"published_scores"} == set(FILES)


def test_what_an_earlier_evaluation_wrote_goes_where_this_one_has_it_not(tmp_path):
    table = pd.DataFrame({"a": [1]})
    (tmp_path / "mine.csv").write_text("mine")
    both = write_evaluation({"threshold_shares": table, "published_scores": table}, tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([*both, tmp_path / "mine.csv"])
    assert write_evaluation({"threshold_shares": table}, tmp_path) == [tmp_path / "threshold_shares.csv"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.csv", "threshold_shares.csv"]
