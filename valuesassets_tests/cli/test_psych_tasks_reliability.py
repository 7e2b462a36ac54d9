"""`valuesassets psych-tasks reliability`: figures of scores that were made anywhere, and one line for every fault."""

import csv

import numpy as np
import pytest
from scipy.optimize import brentq
from typer.testing import CliRunner

from valuesassets.cli.app import app
from valuesassets.cli.command_table import PSYCH_TASKS
from valuesassets.measure.internal_consistency import cronbach_alpha, feldt_interval, no_covariance_band
from valuesassets.measure.keying import keyed_means, label_preference
from valuesassets.records.errors import ValuesAssetsError
from valuesassets_tests.cli.commands import read_json, refuse, succeed

HEADER = "experiment,model,item,score\n"
GOOD = HEADER + "AUDIT,a,1,1\nAUDIT,a,2,2\nAUDIT,b,1,2\nAUDIT,b,2,4\nAUDIT,c,1,3\nAUDIT,c,2,3\n"
KEYS = "experiment,item,is_reversed\n"
REVERSED = np.array([False, False, True, True, False])
SCALE_KEYS = ["experiment", "category", "models", "lines", "items", "reason", "alpha", "alpha_low", "alpha_high"]
SCALE_KEYS += ["null_low", "null_high"]


def made_scores(seed=1, models=9):
    """(models, items) answers as labels have them, of models that like labels."""
    random = np.random.default_rng(seed)
    return np.round(3 + random.normal(0, 1, (models, 1)) + random.normal(0, 0.3, (models, REVERSED.size)), 6)


def score_file(path, values, experiment="AUDIT", category=None):
    with path.open("a", newline="") as stream:
        writer = csv.writer(stream)
        if stream.tell() == 0:
            writer.writerow(["experiment", "model", "item", "score", *(["category"] if category else [])])
        for model, of_model in enumerate(values):
            for item, score in enumerate(of_model, 1):
                writer.writerow([experiment, f"m{model}", item, score, *([category] if category else [])])
    return path


def asked(tmp_path, text, keying=None):
    """The command on a file of this text."""
    scores, keys = tmp_path / "scores.csv", tmp_path / "keys.csv"
    for path, content in ((scores, text), (keys, keying)):
        if content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    more = [] if keying is None else ["--keying", str(keys)]
    return ["psych-tasks", "reliability", str(scores), *more, "--output", str(tmp_path / "found.json")]


def found(tmp_path, text, keying=None):
    """What the command writes, without a process of its own."""
    done = CliRunner().invoke(app, asked(tmp_path, text, keying), catch_exceptions=False)
    assert done.exit_code == 0
    return read_json(tmp_path / "found.json")


def fault(tmp_path, text, keying=None):
    """The line that the command ends with; nothing is written."""
    with pytest.raises(ValuesAssetsError) as error:
        CliRunner().invoke(app, asked(tmp_path, text, keying), catch_exceptions=False)
    assert not (tmp_path / "found.json").exists()
    (line,) = str(error.value).splitlines()
    return line.replace(f"{tmp_path}/", "")


def test_alpha_of_two_items_by_hand(tmp_path):
    said = succeed(*asked(tmp_path, GOOD))
    (row,) = read_json(tmp_path / "found.json")["scales"]
    assert list(row) == SCALE_KEYS
    assert row["alpha"] == pytest.approx(2 / 3)
    assert (row["experiment"], row["category"], row["models"], row["items"]) == ("AUDIT", None, 3, 2)
    assert (row["alpha_low"], row["alpha_high"]) == pytest.approx(feldt_interval(2 / 3, 3, 2))
    assert (row["null_low"], row["null_high"]) == pytest.approx(no_covariance_band(3, 2))
    assert said.splitlines()[0].startswith("AUDIT: 3 models, 2 items: alpha 0.667 [")
    assert read_json(tmp_path / "found.json")["keying"] == []


def test_a_column_of_lines_or_sizes_in_names_make_models_one_line(tmp_path):
    text = "experiment,model,item,score,line\n" + "".join(
        f"AUDIT,{model},{item},{score},{line}\n"
        for model, line, scores in (("a", "one", (1, 2)), ("b", "one", (2, 4)), ("c", "two", (3, 3)))
        for item, score in enumerate(scores, 1)
    )
    said = succeed(*asked(tmp_path, text))
    assert said.splitlines()[0].startswith("AUDIT: 3 models of 2 lines, 2 items: alpha 0.667 [")
    (row,) = read_json(tmp_path / "found.json")["scales"]
    assert (row["alpha_low"], row["alpha_high"]) == pytest.approx(feldt_interval(2 / 3, 2, 2))
    named = GOOD.replace(",a,", ",org/gemma-3-270m,").replace(",b,", ",org/gemma-3-1b,")
    succeed(*asked(tmp_path, named))
    assert read_json(tmp_path / "found.json")["scales"][0]["lines"] == 2


def test_audit_over_46_models_has_feldts_interval(tmp_path):
    random = np.random.default_rng(1)
    trait, own = random.normal(size=(46, 1)), random.normal(size=(46, 11))
    noise = brentq(lambda sd: cronbach_alpha(trait + sd * own) - 0.7395, 0.1, 10)
    (row,) = found(tmp_path, score_file(tmp_path / "s.csv", trait + noise * own).read_text())["scales"]
    assert (row["models"], row["items"]) == (46, 11)
    assert row["alpha"] == pytest.approx(0.7395, abs=1e-9)
    ends = [row[name] for name in ("alpha_low", "alpha_high", "null_low", "null_high")]
    assert [round(ends[0], 3), round(ends[1], 3), round(ends[2], 2), round(ends[3], 2)] == [0.612, 0.838, -0.61, 0.33]


def test_scales_with_categories_and_keying(tmp_path):
    one, other = made_scores(1), made_scores(2)
    path = score_file(score_file(tmp_path / "s.csv", one, "BISa", "attention"), other, "SSSV", "boredom")
    keys = KEYS + "".join(
        f"{name},{item},{said}\n"
        for name, words in (("BISa", ("True", "FALSE")), ("SSSV", ("1", "no")))
        for item, said in enumerate((words[0] if is_reversed else words[1] for is_reversed in REVERSED), 1)
    )
    result = found(tmp_path, path.read_text(), keys)
    assert [(row["experiment"], row["category"]) for row in result["scales"]] == [
        ("BISa", "attention"),
        ("SSSV", "boredom"),
    ]
    # of the scores as they were given: nothing is recoded
    assert [row["alpha"] for row in result["scales"]] == pytest.approx([cronbach_alpha(one), cronbach_alpha(other)])
    for row, values in zip(result["keying"], (one, other), strict=True):
        oracle = label_preference(*keyed_means(values, REVERSED))
        assert list(row) == [
            *("experiment", "models", "lines", "rho", "p", "pi_bias", "pi_bias_low", "pi_bias_high", "verdict"),
            "reason",
        ]
        assert [row["rho"], row["pi_bias"], row["pi_bias_low"], row["pi_bias_high"]] == pytest.approx(
            [oracle.rho, oracle.pi_bias, oracle.pi_bias_low, oracle.pi_bias_high]
        )
        assert row["reason"] is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HEADER + "A,a,1,1\nA,a,2,2\n", "1 model and 2 items: two or more of each are needed"),
        (HEADER + "A,a,1,1\nA,a,2,2\nA,b,1,1\n", "1 of 4 scores are missing"),
        (HEADER + "A,a,1,1\nA,a,2,NA\nA,b,1,1\nA,b,2,\n", "2 of 4 scores are missing"),
        (
            HEADER + "A,a,1,1\nA,a,2,2\nA,b,1,1\nA,b,2,2\n",
            "all models have the same sum over the items: nothing varies",
        ),
    ],
)
def test_what_cannot_be_had_is_null_with_a_reason(tmp_path, text, reason):
    (row,) = found(tmp_path, text)["scales"]
    assert row["reason"] == reason
    assert {row[name] for name in ("alpha", "alpha_low", "alpha_high", "null_low", "null_high")} == {None}


def test_a_keying_that_cannot_be_had_is_null_with_a_reason_and_the_scale_stays(tmp_path):
    result = found(tmp_path, GOOD, KEYS + "AUDIT,1,no\nAUDIT,2,no\n")
    (row,) = result["keying"]
    assert (row["models"], row["rho"], row["pi_bias"], row["pi_bias_low"], row["pi_bias_high"]) == (3, *[None] * 4)
    assert row["reason"].startswith("all 2 items are forward-keyed")
    assert result["scales"][0]["alpha"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("experiment,model,item", " Experiment ,MODEL,Item") + "\n\n",
        GOOD.replace(",1,", ",1.0,"),
        GOOD.replace("AUDIT", '"AUDIT"'),
        "note,score,item,model,experiment\n"
        + "".join(",".join(["x", *reversed(line.split(","))]) + "\n" for line in GOOD.splitlines()[1:]),
    ],
    ids=["a byte order mark", "CRLF", "a header in capitals", "whole numbers with .0", "quotes", "another order"],
)
def test_what_programs_write_differently_is_the_same(tmp_path, text):
    keys = KEYS + "AUDIT,1,no\nAUDIT,2,yes\n"
    (row,) = found(tmp_path, text, keys)["scales"]
    assert row["alpha"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "scores.csv: is an empty file, a table (CSV) with columns experiment, model, item, score was expected"),
        (HEADER, "scores.csv: holds no row below its header"),
        ("experiment,model,item\nA,a,1\n", "scores.csv: row 1: no column score (found experiment, model, item)"),
        (GOOD + "AUDIT,a,1,5\n", "scores.csv: row 8: experiment AUDIT, model a, item 1 stands in row 2 too; keep one"),
        (GOOD + "AUDIT,a,3,often\n", "scores.csv: row 8, column score: found 'often', a number was expected"),
        (GOOD + "AUDIT,a,3,inf\n", "scores.csv: row 8, column score: found 'inf', a number was expected"),
        (GOOD + "AUDIT,,3,1\n", "scores.csv: row 8, column model: is empty, a name was expected; add it"),
        (GOOD + "AUDIT,a,3\n", "scores.csv: row 8: 3 fields, 4 were expected as in the header; mend the row"),
        (GOOD.replace(",", ";"), "scores.csv: row 1: found semicolons between fields, commas were expected; save it"),
        (GOOD.replace(",", "\t"), "scores.csv: row 1: found tabs between fields, commas were expected; save it"),
        (GOOD.replace("AUDIT,b", "Prüfung,b").encode("latin-1"), "scores.csv: byte 54 is not UTF-8; save the file as"),
        (GOOD.replace("AUDIT,b,1", 'AUDIT,"b,1'), "scores.csv: row 4: a quotation mark takes in what follows it"),
        ("score,score,experiment,model,item\n1,1,A,a,1\n", "scores.csv: row 1: column score stands twice; leave one"),
    ],
)
def test_a_fault_of_the_scores_is_one_line_that_says_where(tmp_path, text, line):
    assert fault(tmp_path, text).startswith(line)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (KEYS + "AUDIT,1,no\n", "keys.csv: no row for item 2 of AUDIT, scored in scores.csv; add it"),
        (KEYS + "AUDIT,1,no\nAUDIT,9,no\n", "keys.csv: row 3, column item: 9 of AUDIT has no score in scores.csv"),
        (KEYS + "AUDIT,1,maybe\n", "keys.csv: row 2, column is_reversed: found 'maybe', true or false was expected"),
        (KEYS + "AUDIT,1,\n", "keys.csv: row 2, column is_reversed: found '', true or false was expected"),
        (KEYS + "AUDIT,1,no\nAUDIT,1,no\n", "keys.csv: row 3: experiment AUDIT, item 1 stands in row 2 too"),
        ("experiment,item\nAUDIT,1\n", "keys.csv: row 1: no column is_reversed (found experiment, item)"),
        ("", "keys.csv: is an empty file, a table (CSV) with columns experiment, item, is_reversed was expected"),
    ],
)
def test_a_fault_of_the_keying_is_one_line_that_says_where(tmp_path, keys, line):
    assert fault(tmp_path, GOOD, keys).startswith(line)


def test_experiments_that_a_keying_leaves_out_are_taken_as_forward_keyed_and_the_output_says_so(tmp_path):
    other = "".join(f"CARE,m{model},{item},{model + item}\n" for model in range(4) for item in (1, 2))
    args = asked(tmp_path, GOOD + other, KEYS + "CARE,1,no\nCARE,2,yes\n")
    done = CliRunner().invoke(app, args, catch_exceptions=False)
    assert done.exit_code == 0
    assert f"{tmp_path / 'keys.csv'}: no item of AUDIT in it: taken as keyed forward, all of them" in done.output
    audit, care = read_json(tmp_path / "found.json")["keying"]
    assert (audit["experiment"], care["experiment"]) == ("AUDIT", "CARE")
    assert audit["reason"].startswith("all 2 items are forward-keyed")


def test_a_fault_ends_the_command_with_one_line_and_no_file_of_another_kind_is_written_over(tmp_path):
    line = refuse("psych-tasks", "reliability", tmp_path / "none.csv", "--output", tmp_path / "found.json")
    assert line.startswith(f"{tmp_path / 'none.csv'}: no such file")
    (tmp_path / "found.json").write_text("mine")
    with pytest.raises(ValuesAssetsError, match="is there already and not JSON"):
        CliRunner().invoke(app, asked(tmp_path, GOOD), catch_exceptions=False)
    assert (tmp_path / "found.json").read_text() == "mine"


def test_the_help_says_that_nothing_is_recoded():
    assert "reliability" in PSYCH_TASKS
    said = " ".join(CliRunner().invoke(app, ["psych-tasks", "reliability", "--help"]).output.split())
    assert "AS GIVEN" in said
