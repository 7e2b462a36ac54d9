"""`valuesassets worldwise`: trials and choices; one line for every fault."""

import itertools

import pytest
from typer.testing import CliRunner

from valuesassets.cli.app import app
from valuesassets.instruments.worldwise.material.cultures import Culture
from valuesassets.instruments.worldwise.material.scenarios import Scenario
from valuesassets.instruments.worldwise.tables import CHOICES
from valuesassets.instruments.worldwise.trials.prompts import choice_prompt, persona_line
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.parquet import read_frame, read_trials, table_metadata
from valuesassets_tests.instruments.worldwise.made_dilemmas import DILEMMAS, JAPAN, dilemmas, write
from valuesassets_tests.models.brute_force import BruteForce
from valuesassets_tests.tiny_chats import write_chat_model
from valuesassets_tests.tiny_models import byte_level, write_model

PERSONAS = {"JPN": Culture(code="JPN", **JAPAN), "placebo": "placebo", "unprompted": "unprompted"}


def run(*arguments):
    """A command of worldwise in this process."""
    return CliRunner().invoke(app, ["worldwise", *map(str, arguments)])


def succeed(*arguments):
    """What a command prints that must succeed."""
    done = run(*arguments)
    assert done.exit_code == 0, done.exception
    return done.output


@pytest.fixture
def files(tmp_path):
    scenarios = write(tmp_path / "dilemmas.json", DILEMMAS)
    cultures = write(tmp_path / "cultures.json", {"JPN": JAPAN})
    return ("--scenarios", scenarios, "--cultures", cultures, "--output", tmp_path / "out.parquet")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    texts = [choice_prompt(Scenario(**each), ("high", "low")) for each in DILEMMAS]
    return write_model(tmp_path_factory.mktemp("model") / "tiny", byte_level(texts), spread=0.1)


def test_trials_are_written_for_cultures_and_controls_in_the_wordings_asked_for(files, tmp_path):
    said = succeed("trials", *files, "--wordings", "0,2")
    found = read_trials(tmp_path / "out.parquet")
    assert said == f"{tmp_path / 'out.parquet'}: 20 trials\n"
    assert {(trial.condition, trial.wording) for trial in found} == {
        *itertools.product(["culture=JPN", "culture=placebo"], [0, 2]),
        (None, 0),
    }


def test_without_a_file_of_cultures_the_controls_alone_are_asked(tmp_path):
    succeed("trials", "--scenarios", "bundled", "--output", tmp_path / "out.parquet")
    found = read_trials(tmp_path / "out.parquet")
    assert (len(found), {trial.condition for trial in found}) == (192, {"culture=placebo", None})


def test_choices_are_those_of_one_forward_pass_per_prompt_in_float64(files, model, tmp_path):
    said = succeed("choose", "--model", model, *files).splitlines()
    assert said[0] == f"6 choices in {tmp_path / 'out.parquet'}"
    assert said[1] == (
        "tiny: 6 of 6 choices have a P_valid below 0.1: their status is low_p_valid, and no analysis rests on them"
    )
    assert said[2].startswith("tiny seldom answers what was asked: the median P_valid of its choices is 0.0041, 0.2 is")
    assert said[2].endswith("of tiny follow position is not known: 2 dilemmas were read in both orders, 6 are needed")
    found = read_frame(tmp_path / "out.parquet", CHOICES)
    brute, scenarios = BruteForce(model), {each["id"]: Scenario(**each) for each in DILEMMAS}
    assert set(zip(found["culture"], found["scenario_id"], strict=True)) == {*itertools.product(PERSONAS, scenarios)}
    for row in found.to_dict("records"):
        line, scenario = persona_line(PERSONAS[row["culture"]]), scenarios[row["scenario_id"]]
        high_first, low_first = (
            brute.label_probs(choice_prompt(scenario, poles, line), ["A", "B"])
            for poles in (("high", "low"), ("low", "high"))
        )
        shares = high_first[0] / sum(high_first), low_first[1] / sum(low_first)
        assert sorted((row["p_high_forward"], row["p_high_reversed"])) == pytest.approx(sorted(shares), abs=1e-5)
        assert row["p_high"] == pytest.approx(sum(shares) / 2, abs=1e-5)
        assert row["lean"] == pytest.approx(sum(shares) - 1, abs=1e-5)
        assert row["position_bias"] == pytest.approx((shares[0] + 1 - shares[1]) / 2 - 0.5, abs=1e-5)
        assert row["p_valid"] == pytest.approx((sum(high_first) + sum(low_first)) / 2, abs=1e-5)
        assert (row["model"], row["channel"], row["axis"]) == ("tiny", "exact", "IVR")
        assert (row["status"], row["reason"][:8]) == ("low_p_valid", "P_valid ")
    assert found["p_high"].nunique() == 6
    assert list(found) == CHOICES.names


def test_what_was_read_before_is_kept(files, model, tmp_path):
    succeed("choose", "--model", model, *files, "--known", tmp_path / "known")
    first = (tmp_path / "out.parquet").read_bytes()
    assert any((tmp_path / "known").iterdir())
    succeed("choose", "--model", model, *files, "--known", tmp_path / "known")
    assert (tmp_path / "out.parquet").read_bytes() == first


def test_doubts_about_dilemmas_are_printed_and_do_not_stop(tmp_path):
    file = write(tmp_path / "dilemmas.json", dilemmas(situation="A band from Norway plays."))
    said = succeed("trials", "--scenarios", file, "--output", tmp_path / "out.parquet")
    assert said.splitlines()[0] == f"{file}: IVR-x1: names a country: Norway"


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        (("--scenarios", "{tmp}/none.json"), "{tmp}/none.json: no such file; check the path"),
        (
            ("--cultures", "{tmp}/dilemmas.json"),
            '{tmp}/dilemmas.json: an array found, an object such as {{"JPN": {{...}}}} was expected; mend it',
        ),
        (("--output", "{tmp}"), "{tmp}: is a folder, a file name was expected; add one"),
        (
            ("--output", "{tmp}/dilemmas.json"),
            "{tmp}/dilemmas.json: is there already and not a parquet file; choose another name for the output",
        ),
    ],
)
@pytest.mark.parametrize("command", ["trials", "choose"])
def test_a_fault_is_one_line_and_nothing_is_written(command, changed, line, files, model, tmp_path):
    changed = [each.format(tmp=tmp_path) for each in changed]
    done = run(command, *(["--model", model] if command == "choose" else []), *files, *changed)
    assert isinstance(done.exception, ValuesAssetsError)
    assert str(done.exception) == line.format(tmp=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cultures.json", "dilemmas.json"]


@pytest.mark.parametrize("wordings", ["3", "0,0", "", "0;1"])
def test_wordings_are_some_of_three(wordings, files):
    done = run("trials", *files, "--wordings", wordings)
    assert done.exit_code == 2
    assert "some of 0,1,2 was expected, each once" in " ".join(done.output.replace("│", " ").split())


def test_a_revision_of_a_folder_is_refused(files, model):
    done = run("choose", "--model", model, *files, "--revision", "main")
    assert done.exit_code == 2


@pytest.mark.slow
def test_a_template_that_is_not_used_is_named_and_one_that_is_used_is_in_the_file(files, tmp_path):
    model = write_chat_model(tmp_path / "chatty", "chatml")
    given = ("choose", "--model", model, *files, "--dtype", "float32", "--device", "cpu")
    bare = succeed(*given).splitlines()
    assert bare[0] == (
        "chatty: asked as bare text, though it comes with a chat template; a model that was made for chats answers "
        "more often in one: --chat (base models may have a template too)"
    )
    assert "prompting" not in table_metadata(tmp_path / "out.parquet")
    as_chat = succeed(*given, "--chat").splitlines()
    assert as_chat[0] == "chatty: asked in a chat, by its own template"
    assert table_metadata(tmp_path / "out.parquet")["first_prompt"].startswith("<|im_start|>user\n")
    (tmp_path / "p.toml").write_text('style = "text"\n')
    assert "chat template" not in succeed(*given, "--prompting", tmp_path / "p.toml")
    done = run(*given, "--chat", "--prompting", tmp_path / "p.toml")
    assert done.exit_code == 2
    assert "both say how trials are shown" in " ".join(done.output.replace("│", " ").split())
