"""`valuesassets robustness`: questions, trials and scores of answers made elsewhere; one line for every fault."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from valuesassets.cli.app import app
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.parquet import read_trials
from valuesassets_tests.instruments.cultural_robustness.made_files import (
    all_rows,
    answer_rows,
    write_folder,
    write_lines,
)
from valuesassets_tests.models.tiny_embedder import save_embedder
from valuesassets_tests.tiny_models import byte_level, write_model

SCORED = ("scores.csv", "answer_quality.csv", "dropped.csv", "language_groups.csv", "language_pairs.csv")
TEXTS = {
    "deu": "Bei uns macht man das jeden Tag genau so, wie es die Eltern schon gemacht haben.",
    "ell": "Εδώ το κάνουμε κάθε μέρα έτσι ακριβώς, όπως το έκαναν και οι γονείς μας.",
    "eng": "Here we do it every single day in just the way that our parents did it before us.",
}


def run(*arguments):
    """A command in this process."""
    return CliRunner().invoke(app, [str(each) for each in arguments])


def succeed(*arguments):
    """What a command prints that must succeed."""
    done = run(*arguments)
    assert done.exit_code == 0, done.exception
    return done.output


def refuse(*arguments):
    """The one line that a command ends with which cannot do what it is asked."""
    done = run(*arguments)
    assert isinstance(done.exception, ValuesAssetsError), done.output
    (line,) = str(done.exception).splitlines()
    return line


def answers_of(folder, kinds=("unspecific", "specific"), **beside):
    rows = {key: lines for key, lines in answer_rows(**beside).items() if key[1] in kinds}
    told = {key: [{**line, "answer": TEXTS[key[0]]} for line in lines] for key, lines in rows.items()}
    return write_folder(folder, told)


def vectors_of(path, kinds=("unspecific", "specific", "question")):
    """A vector for every answer and question: of length 1, at random."""
    random, rows = np.random.default_rng(0), []
    for (language, kind), lines in all_rows().items():
        rows += [(language, kind, line["id"], 0) for line in lines if kind in kinds]
        rows += [
            (language, "question", line["id"], 0) for line in lines if kind == "unspecific" and "question" in kinds
        ]
    frame = pd.DataFrame(rows, columns=["language", "kind", "id", "sample"])
    made = random.normal(size=(len(frame), 8))
    frame["vector"] = list(made / np.linalg.norm(made, axis=1, keepdims=True))
    frame.to_parquet(path)
    return path


def scored(tmp_path, kinds=("unspecific", "specific"), *more):
    answers, vectors = answers_of(tmp_path / "answers", kinds), vectors_of(tmp_path / "v.parquet", (*kinds, "question"))
    questions = write_folder(tmp_path / "questions")
    files = ("--answers", answers, "--vectors", vectors, "--questions", questions, "--output", tmp_path / "out")
    said = succeed("cultural-robustness", "score", *map(str, files), "--resamples", "99", *map(str, more))
    return said, pd.read_csv(tmp_path / "out" / "scores.csv").set_index("score")


def test_the_bundled_questions_have_no_fault():
    assert "0 faults, 0 warnings" in succeed("cultural-robustness", "questions", "--questions", "bundled")


def test_a_line_of_english_in_another_languages_file_is_named_and_the_command_fails(tmp_path):
    rows = all_rows()
    rows["deu", "unspecific"][1]["prompt"] = rows["eng", "unspecific"][1]["prompt"]
    folder = write_folder(tmp_path / "q", rows)
    done = run("cultural-robustness", "questions", "--questions", folder)
    assert "deu 2 " in done.output
    assert str(done.exception) == f"{folder}: 1 faults, the lines above say which; mend them before models answer"


@pytest.mark.parametrize(("more", "end"), [((), "\nAntwort:"), (("--chat",), "?")])
def test_trials_ask_each_question_as_it_is_and_with_each_country(more, end, tmp_path):
    output = tmp_path / "trials.parquet"
    said = succeed(
        "cultural-robustness", "trials", "--questions", "bundled", "--language", "de", "--output", str(output), *more
    )
    trials = read_trials(output)
    assert "42 trials in deu" in said
    assert {trial.condition for trial in trials} == {
        None,
        *(f"country={c}" for c in ("IE", "DE", "FR", "PL", "GR", "BG")),
    }
    assert all(trial.prompt.rstrip(".").endswith(end.rstrip("?")) for trial in trials)
    assert {trial.readout.samples for trial in trials} == {8, 2}


def test_answers_made_elsewhere_are_scored_and_every_file_is_there(tmp_path):
    said, scores = scored(tmp_path)
    assert "54 answers: 54 ok" in said
    assert all((tmp_path / "out" / name).exists() for name in SCORED)
    assert (tmp_path / "out" / "clustering" / "unspecific" / "diversity_summary.json").exists()
    assert (scores["value"].notna() | scores["reason"].notna()).all()
    assert scores.loc["cd", "value"] > 0


def test_with_one_kind_of_questions_it_says_what_it_cannot_say(tmp_path):
    _, scores = scored(tmp_path, ("unspecific",))
    assert scores.loc["robustness", "reason"] == "no answers for a named country"
    assert np.isfinite(scores.loc["content_distance", "value"])


@pytest.mark.slow
def test_the_same_files_and_seed_give_the_same_bytes(tmp_path):
    scored(tmp_path)
    first = {name: (tmp_path / "out" / name).read_bytes() for name in SCORED}
    scored(tmp_path)
    assert {name: (tmp_path / "out" / name).read_bytes() for name in SCORED} == first


def test_vectors_come_from_a_file_or_an_embedder(tmp_path):
    answers = answers_of(tmp_path / "answers")
    done = run("cultural-robustness", "score", "--answers", answers, "--output", tmp_path / "out")
    assert done.exit_code == 2
    assert "--vectors or --embedder" in done.output
    assert not (tmp_path / "out").exists()


def test_a_bad_line_is_named_and_nothing_is_written(tmp_path):
    answers = answers_of(tmp_path / "answers")
    write_lines(answers / "deu_unspecific.jsonl", [{"id": "1"}])
    files = ("--answers", answers, "--vectors", vectors_of(tmp_path / "v.parquet"), "--output", tmp_path / "out")
    said = refuse("cultural-robustness", "score", *map(str, files))
    assert "deu_unspecific.jsonl: line 1" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_trials_that_a_model_has_answered_here_are_scored_from_the_files_that_read_writes(tmp_path):
    model, answers = write_model(tmp_path / "m", byte_level(), spread=0.2), tmp_path / "answers"
    answers.mkdir()
    for language in ("deu", "eng"):
        trials = tmp_path / f"{language}.trials.parquet"
        made = ("--questions", "bundled", "--language", language, "--output", trials, "--max-tokens", "4", "--greedy")
        succeed("cultural-robustness", "trials", *made)
        files = ("--model", model, "--trials", trials, "--output", answers / f"{language}.parquet")
        succeed("read", *files, "--dtype", "float32", "--device", "cpu")
    embedder = save_embedder(tmp_path / "embedder", [f"text {n}" for n in range(50)])
    files = ("--answers", answers, "--embedder", embedder, "--output", tmp_path / "out")
    assert "names prompts by their ids alone" in refuse("cultural-robustness", "score", *files)
    said = succeed("cultural-robustness", "score", *files, "--questions", "bundled", "--resamples", "99")
    assert "84 answers: " in said
    (answers / "eng.parquet").rename(answers / "klingon.parquet")
    assert "klingon is none of the questions' languages" in refuse(
        "cultural-robustness", "score", *files, "--questions", "bundled"
    )


@pytest.mark.slow
def test_an_embedder_that_finds_no_translations_is_doubted_in_a_line_and_one_that_does_is_not(tmp_path):
    said, _ = scored(tmp_path)  # vectors at random
    (line,) = [line for line in said.splitlines() if line.startswith("Doubtful: ")]
    assert "the embedder of v.parquet does not know" in line
    known = pd.read_parquet(tmp_path / "v.parquet")
    meanings = np.eye(8)
    is_question = known["kind"] == "question"
    known.loc[is_question, "vector"] = pd.Series(
        [meanings[int(each) % 8] for each in known["id"][is_question]], index=known.index[is_question]
    )
    known.to_parquet(tmp_path / "v.parquet")
    files = (
        "--answers",
        tmp_path / "answers",
        "--vectors",
        tmp_path / "v.parquet",
        "--questions",
        tmp_path / "questions",
    )
    said = succeed("cultural-robustness", "score", *files, "--output", tmp_path / "again", "--resamples", 99)
    assert "Doubtful" not in said
