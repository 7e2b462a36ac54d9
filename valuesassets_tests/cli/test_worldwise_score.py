"""`valuesassets worldwise score`: answers made elsewhere, scored and summed up; one line for every fault."""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from valuesassets.cli.app import app
from valuesassets.models.embedding import Embedder
from valuesassets.records.errors import ValuesAssetsError
from valuesassets_tests.instruments.worldwise.made_answer_files import (
    answer,
    exemplar_lines,
    many_answers,
    write_answers,
    write_lines,
)
from valuesassets_tests.models.tiny_embedder import save_embedder

TARGETS = ["culture,axis,seed_target", "HIG,IDV,2", "HIG,PDI,1", "LOW,IDV,-2", "LOW,PDI,-1"]
COLUMNS = "response_id, scenario_id, axis, model, culture, decision, values, explanation"
VALUES = ["value,axis,pole", "Freedom,IDV,high", "Family,IDV,low"]


@pytest.fixture
def command(tmp_path):
    """The command with all its files, by option."""
    return {
        "--responses": write_answers(tmp_path / "answers.jsonl", many_answers()),
        "--exemplars": write_lines(tmp_path / "exemplars.csv", exemplar_lines(["IDV", "PDI"])),
        "--embedder": "lexical",
        "--output": tmp_path / "scored",
        "--targets": write_lines(tmp_path / "targets.csv", TARGETS),
        "--values": write_lines(tmp_path / "values.csv", VALUES),
    }


def run(command):
    options = [str(part) for pair in command.items() for part in pair]
    return CliRunner().invoke(app, ["worldwise", "score", *options])


def succeed(command):
    """What it prints, the rows and the summary that it writes."""
    done = run(command)
    assert done.exit_code == 0, done.exception
    folder = command["--output"]
    assert {path.name for path in folder.iterdir()} == {"scores.parquet", "summary.json"}
    return done.output, pd.read_parquet(folder / "scores.parquet"), json.loads((folder / "summary.json").read_text())


def refuse(command):
    """The one line that it ends with; nothing is written."""
    done = run(command)
    assert isinstance(done.exception, ValuesAssetsError), done.output
    assert not command["--output"].exists()
    (line,) = str(done.exception).splitlines()
    return line


def test_answers_are_scored_on_every_axis_and_stand_where_they_speak(command):
    printed, scores, summary = succeed(command)
    assert list(scores.columns) == [
        "response_id",
        "axis",
        "is_own_axis",
        "seed_final",
        "seed_stored",
        "position",
        "is_truncated",
        "status",
        "reason",
    ]
    assert len(scores) == 2 * len(many_answers())
    culture = {each["response_id"]: each["culture"] for each in many_answers()}
    own = scores[scores["is_own_axis"]]
    assert own["response_id"].tolist() == list(culture)
    means = own["position"].groupby(own["response_id"].map(culture)).mean()
    assert means["HIG"] > 0.1 > -0.1 > means["LOW"]
    assert summary["seed"]["final"]["n"] == 8
    assert summary["seed"]["final"]["skill"] > 0
    assert summary["seed"]["tvd_percent"]["HIG"]["tvd"] == 50
    assert summary["projection"]["axes"]["IDV"]["held_out_auc"] == 1
    assert summary["projection"]["convergent_by_axis"]["IDV"] > 0.5
    assert summary["projection"] == summary["projection"]["lexical"] | {"lexical": summary["projection"]["lexical"]}
    assert "IDV  held-out AUC 1.00" in printed


def test_the_same_command_gives_the_same_files(command, tmp_path):
    succeed(command)
    succeed(other := command | {"--output": tmp_path / "again"})
    for name in ("scores.parquet", "summary.json"):
        assert (command["--output"] / name).read_bytes() == (other["--output"] / name).read_bytes()


def test_without_targets_and_values_what_needs_them_is_left_out(command):
    lean = {option: value for option, value in command.items() if option not in ("--targets", "--values")}
    _, _, summary = succeed(lean)
    assert set(summary["seed"]) == {"tvd_percent", "stereotype_by_model", "decisions"}
    assert summary["projection"]["convergent_mean"] is None


def test_what_cannot_be_placed_is_null_with_its_reason_and_no_zero(command, tmp_path):
    strange = answer(99, culture="LOW", decision="Qwx", values=[], explanation="")
    unplaced = answer(98, culture="LOW", explanation="")
    path = write_answers(tmp_path / "more.json", [*many_answers(), strange, unplaced])
    _, _, summary = succeed(command | {"--responses": path})
    rows = {
        (row["response_id"], row["axis"]): row for row in pq.read_table(tmp_path / "scored/scores.parquet").to_pylist()
    }
    row = rows["r99", "IDV"]
    assert (row["seed_final"], row["seed_stored"], row["position"], row["status"]) == (None, None, None, "undefined")
    lost = "seed_final, seed_stored: the similarities to both poles add to 0 or less"
    assert row["reason"] == f"{lost}; position: the explanation has no sentence"
    row = rows["r98", "IDV"]
    assert row["seed_final"] > 0
    assert (row["position"], row["reason"]) == (None, "position: the explanation has no sentence")
    assert summary["seed"]["final"]["n_undefined"] == 1
    assert summary["seed"]["final"]["n"] == 9


@pytest.mark.slow
def test_an_embedder_reads_each_distinct_text_once_and_says_which_it_cut(command, tmp_path, monkeypatch):
    long = answer(99, culture="HIG", explanation="freedom " * 2000)
    path = write_answers(tmp_path / "more.json", [*many_answers(), long, long | {"response_id": "twin"}])
    read = []
    inner = Embedder._read
    monkeypatch.setattr(Embedder, "_read", lambda self, texts: read.extend(texts) or inner(self, texts))
    folder = save_embedder(tmp_path / "model", [each["explanation"] for each in many_answers()])
    _, scores, summary = succeed(command | {"--responses": path, "--embedder": folder})
    assert len(read) == len(set(read))
    assert summary["embedder"]["model"] == str(folder)
    assert set(scores.loc[scores["is_truncated"], "response_id"]) == {"r99", "twin"}
    assert summary["n_truncated"] == 2


@pytest.mark.parametrize(
    ("option", "name", "text", "said"),
    [
        (
            "--exemplars",
            "e.csv",
            "axis,pole,pair,text\nIDV,up,1,A b\n",
            "row 2: pole 'up' found, one of high, low was expected; mend it",
        ),
        (
            "--responses",
            "a.jsonl",
            "{}\n",
            f"line 1: no response_id found, {COLUMNS} were expected; add it",
        ),
        (
            "--targets",
            "t.csv",
            "culture,axis,seed_target\nHIG,IDV,9\n",
            "row 2: seed_target '9' found, a number from -2 to 2 was expected; mend it",
        ),
        (
            "--targets",
            "t.csv",
            "culture,axis,seed_target\nHIG,IDV,1\n",
            "no target on PDI, which answers are on; add its rows",
        ),
        (
            "--values",
            "v.csv",
            "value,axis,pole\nFun,IVR,no\n",
            "line 2: pole 'no' found, one of high, low was expected",
        ),
    ],
)
def test_a_bad_file_is_refused_in_one_line_before_anything_is_written(command, tmp_path, option, name, text, said):
    path = tmp_path / name
    path.write_text(text)
    assert refuse(command | {option: path}) == f"{path}: {said}"


def test_answers_on_an_axis_without_sentences_are_refused(command, tmp_path):
    path = write_lines(tmp_path / "one.csv", exemplar_lines(["IDV"]))
    said = "no sentence on PDI found, which answers are on; add some of both poles"
    assert refuse(command | {"--exemplars": path}) == f"{path}: {said}"


@pytest.mark.slow
def test_files_and_embedders_that_are_not_there_are_named(command, tmp_path):
    absent = tmp_path / "nothing.csv"
    for option in ("--responses", "--exemplars", "--targets", "--values"):
        assert refuse(command | {option: absent}) == f"{absent}: no such file; check the path"
    assert (
        refuse(command | {"--embedder": f"{tmp_path}/nothing"}) == f"{tmp_path}/nothing: no such folder; check the path"
    )


def test_a_summary_of_before_does_not_outlive_scores_that_fail_to_be_written(command, monkeypatch):
    succeed(command)
    monkeypatch.setattr("valuesassets.records.parquet.write_frame", lambda *_: 1 / 0)
    assert isinstance(run(command).exception, ZeroDivisionError)
    assert [path.name for path in command["--output"].iterdir()] == ["scores.parquet"]
