"""Studies and the command line itself: what `study` prints, help, and tracebacks for those who ask."""

import dagster as dg
import pytest

from valuesassets.cli.command_table import PROGRAM
from valuesassets.cli.groups import Group
from valuesassets.cli.instruments import attribute_of
from valuesassets.cli.studies import cells_line
from valuesassets.definitions import build_definitions
from valuesassets.orchestration.instruments import instruments_of
from valuesassets.records.study import load_study, study_path
from valuesassets_tests.cli.commands import refuse, run, run_in_own_process, succeed


@pytest.mark.parametrize(
    ("study", "cells", "weights"), [("demo_survey", 12, None), ("first_real", 7, 2), ("evs2017", 44, 23)]
)
def test_study_says_what_it_would_build(study, cells, weights):
    said = succeed("study", study)
    assert f"cells: {cells};" in said
    assert ("weights:" in said) == (weights is not None)
    assert weights is None or f"weights: {weights} models, fetched once before any of them is asked" in said


@pytest.mark.slow
def test_a_study_of_index_models_says_how_to_fetch_them_before_anything_is_made(tmp_path):
    storage = tmp_path / "storage"
    # The hub's library reads HF_HOME once, when it is imported.
    done = run_in_own_process("run", "first_real", HF_HOME=tmp_path / "hf", VALUESASSETS_STORAGE=storage)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "study first_real: 2 of its models are not on this machine; fetch first: valuesassets models get gemma-3-270m "
        "--accept-terms; valuesassets models get smollm2-135m-instruct\n"
    )
    assert not storage.exists()


def test_how_long_a_study_takes_is_said_where_its_file_says_so():
    assert "a run takes three to five minutes on two cores" in succeed("study", "first_real")
    assert "a run takes" not in succeed("study", "evs2017")


@pytest.mark.parametrize(
    "name",
    [
        "demo_survey",
        "demo_psych_tasks",
        "demo_cultural_robustness",
        "demo_worldwise",
        "demo_worldvaluesbench",
        "evs2017",
    ],
)
def test_study_counts_the_cells_that_the_graph_has(name):
    """A cell is a family and a task, a culture: not a language."""
    found = load_study(name)
    in_graph = {each.name: len(each.cells(found)) for each in instruments_of(found)}
    assert cells_line(found) == str(sum(in_graph.values()))
    assert cells_line(load_study("demo_psych_tasks")) == "6"  # two families, three tasks, one language


OWN = """
name = "own"
title = "Own"
seed = 1
[questionnaires]
source = "none"
extractor = "imported"
extractions = "tables"
[languages.eng]
name = "English"
country = "GB"
zone = "English-Speaking"
[families.local]
kind = "huggingface"
model_type = "mono"
model_id = "models/{lang}"
[families.server]
kind = "openai"
model_type = "multi"
model_id = "models"
[families.server.endpoint]
provider = "openai"
api = "completions"
base_url = "http://127.0.0.1:9/v1"
tokenizer = "models/eng"
"""


GERMAN = '[languages.deu]\nname = "German"\ncountry = "DE"\nzone = "Protestant Europe"\n'


@pytest.fixture
def own_study(tmp_path):
    """A study file beside its tables and models, in a folder that is not the working folder."""
    for folder in ("tables", "models/eng"):
        (tmp_path / "study" / folder).mkdir(parents=True)
    (tmp_path / "study" / "tables" / "eng.csv").write_text("id,text,item,options\nv,Well?,,yes | no\n")
    (tmp_path / "study" / "own.toml").write_text(OWN)
    return tmp_path / "study" / "own.toml"


def test_every_path_counts_from_the_study_file_wherever_the_command_is_given(own_study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, folder = load_study(str(own_study)), own_study.parent
    assert found.model_ids("local") == (str(folder / "models" / "eng"),)
    assert found.families["server"].endpoint.tokenizer == str(folder / "models" / "eng")
    assert found.families["server"].model_id == "models"  # the server's own name for it
    succeed("study", own_study)


def test_a_path_that_counts_from_the_working_folder_is_refused_with_the_one_to_write(own_study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own_study.write_text(OWN.replace('tokenizer = "models/eng"', 'tokenizer = "study/models/eng"'))
    assert "which" not in (said := refuse("study", own_study))
    assert "families.server.endpoint.tokenizer" in said
    assert "write models/eng" in said


def test_what_a_server_costs_is_known_once_a_command_has_written_the_prompts(own_study):
    (line,) = [line for line in succeed("study", own_study).splitlines() if line.startswith("survey asks server")]
    assert line.endswith(f"which asks nothing: valuesassets run {own_study} --only questionnaires")


@pytest.mark.parametrize(
    "name", ["demo_survey", "demo_psych_tasks", "demo_cultural_robustness", "demo_worldvaluesbench"]
)
def test_the_groups_that_write_an_instruments_prompts_have_all_that_these_rest_on(name, tmp_path):
    graph = build_definitions(load_study(name), tmp_path).get_repository_def().asset_graph
    for instrument in (each.name for each in instruments_of(load_study(name))):
        groups = attribute_of(instrument, "PROMPT_GROUPS")
        trials = graph.get(dg.AssetKey([instrument, "trials"]))
        waiting, needed = [trials], set()
        while waiting:
            node = waiting.pop()
            needed.add(node.group_name)
            waiting += [graph.get(key) for key in node.parent_keys if graph.get(key).is_materializable]
        assert needed <= set(groups)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('model_id = "models/{lang}"', 'model_id = "./modles/{lang}"', "families.local.model_id"),
        ('tokenizer = "models/eng"', 'tokenizer = "../tok"', "families.server.endpoint.tokenizer"),
        ("[languages.eng]", f"{GERMAN}[languages.eng]", "languages.deu"),
    ],
)
def test_study_names_every_path_at_which_nothing_is(own_study, old, new, words):
    own_study.write_text(OWN.replace(old, new, 1))
    said = refuse("study", own_study)
    assert words in said
    assert str(own_study.parent) in said or "tok" in said


def test_a_study_on_a_cluster_may_name_what_is_on_its_nodes_alone(own_study):
    own_study.write_text(OWN.replace('"models/{lang}"', '"/scratch/none/{lang}"') + "[slurm]\n")
    assert "not on this machine: families.local.model_id: /scratch/none/eng" in succeed("study", own_study)


def test_without_a_command_there_is_help():
    done = run()
    assert done.returncode == 2
    assert "calibrate" in done.stdout + done.stderr


def test_an_instrument_lists_what_it_can_do_and_does_it(tmp_path):
    groups = {name for name, each in PROGRAM.items() if isinstance(each, Group) and not each.hidden}
    assert groups == {"models", "survey", "worldvaluesbench", "psych-tasks", "cultural-robustness", "worldwise"}
    said = succeed("survey", "--help")
    assert {"extract", "align", "trials", "probe", "calibrate", "map", "trace"} <= set(said.split())
    asked = ("trials", "--questions", tmp_path / "none.json", "--language", "eng", "--output", tmp_path / "t.parquet")
    assert refuse("survey", *asked) == refuse(*asked)


def test_debug_shows_where_an_error_comes_from(tmp_path):
    done = run_in_own_process("--debug", "study", tmp_path / "none.toml")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert done.stderr.rstrip().splitlines()[-1].startswith("valuesassets.records.errors.StudyError: ")


@pytest.mark.slow
def test_a_storage_that_cannot_stand_in_a_batch_script_is_one_line(tmp_path):
    (tmp_path / "s.toml").write_text(study_path("demo_survey").read_text() + "\n[slurm]\n")
    line = refuse("study", tmp_path / "s.toml", "--slurm", VALUESASSETS_STORAGE=f'{tmp_path}/a "quoted" disk')
    assert line.startswith(f'{tmp_path}/a "quoted" disk/demo_survey/slurm/UUID: an absolute path without quotes')
    assert line.endswith("choose another one")


def test_an_adapters_folder_without_its_settings_is_named_before_anything_runs(tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    family = {"kind": "huggingface", "model_type": "multi", "model_id": "owner/name", "adapter": "empty"}
    lines = ["[families.tuned]", *(f'{key} = "{value}"' for key, value in family.items())]
    path = tmp_path / "study.toml"
    path.write_text("\n".join([study_path("demo_survey").read_text(encoding="utf-8"), *lines]), encoding="utf-8")
    assert f"{folder / 'adapter_config.json'}: no such file; is {folder} an adapter?" in refuse("study", path)
