"""Worldwise as a graph: a small study with planted models, from dilemmas to calibration; what a change makes stale."""

import json

import dagster as dg
import pandas as pd
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.desk.staleness import ENTRIES
from valuesassets.instruments.worldwise.material.scenarios import read_scenarios
from valuesassets.instruments.worldwise.plants.plants import GAPS, planted_lean
from valuesassets.orchestration.commands.run_study import QUIET
from valuesassets.orchestration.instruments import MODELS, WORLDWISE
from valuesassets.orchestration.partitions import cell_key
from valuesassets.records.parquet import read_trials, table_metadata
from valuesassets.records.study import load_study, parse_study, study_path
from valuesassets_tests.instruments.worldwise.made_dilemmas import NETHERLANDS
from valuesassets_tests.orchestration.study_here import run_study_here, unpainted
from valuesassets_tests.tiny_models import sentencepiece_like, write_model

AXES = ("IDV", "PDI")
PLANTED = {"reference_models", "sampled_answers", "calibration"}
MEASURED = {
    "quality_report",
    "reliability",
    "cultural_profiles",
    "alignment",
    "persona_shift",
    "report",
    "replication_bundle",
}
GRAPH = {"scenarios", "trials", "preflight", "readings", "choices"} | MEASURED
REASONED = {"exemplars", "axes", "reason_trials", "reasons", "reason_vectors", "projections"}
REASONED |= {"say_do_gap", "stereotyping", "seed_scores"}
DEMO = load_study("demo_worldwise")

SMALLER = {
    "worldwise/demo_scenarios.json": "few.json",
    'targets = "worldwise/demo_targets.csv"\n': "",
    "steps = 170": "steps = 150\nsamples = 200",
    'embedder = "lexical"   # a bag of words: nothing to download\n': "",
    "draws = 6\n": "",
    "[worldwise]": "[inference]\nresamples = 199\n\n[worldwise]",
}
"""What of the demo is made smaller: two axes, and no reasons."""
LEFT_OUT = "worldwise.cultures.KYPP"
"""A table of the demo: two countries that are alike and one that is not are enough."""
ASKS_FOR_REASONS = '[worldwise]\nembedder = "lexical"\ndraws = 2'
N_CONDITIONS = 3 + 2
"""Countries, and two that are none."""


def write_small_demo(folder):
    """The demo with the dilemmas of two axes, of which one tells its culture."""
    whole = json.loads(DEMO.worldwise.scenarios.read_text("utf-8"))
    few = [each for each in whole if each["axis"] in AXES and each["id"][-1] in "12"]
    few[0]["situation"] = f"In Port Averil: {few[0]['situation']}"
    (folder / "few.json").write_text(json.dumps(few), encoding="utf-8")
    text = study_path("demo_worldwise").read_text(encoding="utf-8")
    for old, new in SMALLER.items():
        assert old in text, old
        text = text.replace(old, new)
    tables = text.split("\n[")
    assert sum(table.startswith(LEFT_OUT) for table in tables) == 1
    path = folder / "small.toml"
    path.write_text("\n[".join(table for table in tables if not table.startswith(LEFT_OUT)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of the instrument in a small study that was run, and the study."""
    folder = tmp_path_factory.mktemp("worldwise")
    path = write_small_demo(folder)
    (made,) = run_study_here(path)
    return made / "worldwise", load_study(str(path))


def every(made, asset):
    return pd.concat([pd.read_parquet(path) for path in sorted((made / asset).rglob("*.parquet"))])


@pytest.mark.slow
@pytest.mark.first_look
def test_choices_come_back_as_they_were_planted_in_every_cell(made):
    folder, study = made
    scenarios = {scenario.id: scenario for scenario in read_scenarios(study.worldwise.scenarios)}
    found = every(folder, "choices")
    assert len(found) == 2 * N_CONDITIONS * 4
    assert set(found["status"]) == {"ok"}
    due = [planted_lean(study, row.model, row.culture, scenarios[row.scenario_id]) for row in found.itertuples()]
    error = (found["lean"] - due).abs() / 2  # of p_high
    assert error.mean() <= 0.02
    assert error.quantile(0.95) <= 0.05


@pytest.mark.slow
@pytest.mark.first_look
def test_the_calibration_compares_both_channels_with_what_was_planted(made):
    found = every(made[0], "calibration")
    assert len(found) == 2 * N_CONDITIONS * 4
    assert found["averaged_w1_unit_error"].mean() <= 0.02
    assert found["averaged_w1_unit_error"].quantile(0.95) <= 0.05
    assert (found["n_sampled"] == 200).all()
    far = found["sampled_w1_unit_error"] - found["drawn_w1_unit_error"] - 4 * found["drawn_w1_unit_error_sd"]
    assert far.max() <= 0.02


@pytest.mark.slow
@pytest.mark.first_look
def test_the_alike_cultures_are_not_told_apart_and_the_others_are_but_for_the_family_without_signal(made):
    found = every(made[0], "choices").pivot_table(index=["model", "scenario_id"], columns="culture", values="lean")
    of_signal, of_none = found.loc["reference"], found.loc["reference-same"]
    assert (of_signal["ORVA"] - of_signal["TESK"]).abs().mean() < 0.05
    assert (of_signal["ORVA"] - of_signal["MULD"]).abs().mean() > 0.1
    assert (of_none.max(axis=1) - of_none.min(axis=1)).max() < 0.05


@pytest.mark.slow
def test_files_of_choices_name_the_model_and_the_way_in_which_it_was_read(made):
    described = table_metadata(made[0] / "choices" / "reference" / "MULD.parquet")
    assert described == table_metadata(made[0] / "readings" / "reference" / "MULD.parquet") | described
    assert "tokenizer_report" in described


@pytest.mark.slow
def test_a_part_asks_its_own_persona_in_both_orders(made):
    trials = read_trials(made[0] / "trials" / "MULD.parquet")
    assert {(trial.condition, trial.order) for trial in trials} == {
        ("culture=MULD", "forward"),
        ("culture=MULD", "reversed"),
    }
    assert all(trial.prompt.startswith("You live in the Muldane Isles and grew up there.\n") for trial in trials)
    assert len(trials) == 2 * 4


@pytest.mark.slow
def test_reference_models_learn_to_write_besides_where_reasons_are_asked_for(tmp_path):
    path = write_small_demo(tmp_path)
    text = path.read_text(encoding="utf-8").replace("steps = 150", "steps = 1")
    text = text.partition("# Leans alike everywhere.")[0].replace("[worldwise]", ASKS_FOR_REASONS)
    path.write_text(text, encoding="utf-8")
    (folder,) = run_study_here(path, only=["scenarios", "trials", "reason_trials", "reference_models"])
    asked = {
        trial.prompt
        for noun in ("trials", "reason_trials")
        for file in (folder / "worldwise" / noun).glob("*.parquet")
        for trial in read_trials(file)
    }
    planted = pd.read_parquet(folder / "jobs/worldwise/reference_models/all/reference.parquet")
    assert set(planted["prompt"]) == asked
    assert planted.groupby("prompt")["prob"].sum().to_numpy() == pytest.approx(1)
    assert planted["answer_text"].str.contains("\nVALUES: ").any()


def graph_of(study, folder):
    return build_definitions(study, folder).get_repository_def().asset_graph


def nouns(study, folder):
    keys = graph_of(study, folder).get_all_asset_keys()
    return {key.path[-1] for key in keys if key.path[0] == WORLDWISE.name}


def changed(families=True, **table):
    """The demo with some keys of its table changed; without its reference families where these are in the way."""
    content = DEMO.model_dump(mode="json", exclude_none=True)
    content["worldwise"] |= table
    content["worldwise"] = {name: value for name, value in content["worldwise"].items() if value is not None}
    if not families:
        content["families"] = {"real": {"kind": "huggingface", "model_type": "multi", "model_id": "owner/model"}}
    return parse_study(content, "changed.toml")


def stale(before, after, folder):
    """Nouns of assets whose versions differ, or what they remember of their partitions; without the bundle of all."""
    found = set()
    graphs = [graph_of(study, folder) for study in (before, after)]
    for key in graphs[0].get_all_asset_keys():
        then, now = (graph.get(key) for graph in graphs)
        remembered, known = (
            getattr(each.metadata.get(ENTRIES), "value", each.metadata.get(ENTRIES)) or {} for each in (then, now)
        )
        is_moved = any(
            known.get(table, {}).get(name) != digest
            for table, entries in remembered.items()
            for name, digest in entries.items()
        )
        if then.code_version != now.code_version or is_moved:
            found.add(key.path[-1])
    return found - {"replication_bundle"}


def test_the_graph_has_what_is_trained_only_where_models_are_and_demands_only_where_they_are_made(tmp_path):
    choosing = {"embedder": None}
    assert nouns(changed(**choosing), tmp_path) == GRAPH | PLANTED
    assert nouns(changed(families=False, **choosing), tmp_path) == GRAPH
    assert nouns(changed(families=False, demand=True, **choosing), tmp_path) == GRAPH | {"demand_choices"}


@pytest.mark.slow
def test_reasons_are_in_the_graph_where_something_places_them_and_some_form_is_asked(tmp_path):
    assert nouns(changed(families=False, embedder="lexical"), tmp_path) == GRAPH | REASONED
    assert nouns(DEMO, tmp_path) == GRAPH | REASONED | PLANTED | {"recovery"}
    assert nouns(changed(families=False, embedder="lexical", forms=[]), tmp_path) == GRAPH


def test_another_embedder_makes_no_answer_stale(tmp_path):
    before = changed(families=False, embedder="lexical")
    found = stale(before, changed(families=False, embedder="owner/embedder"), tmp_path)
    assert found == {"axes", "reason_vectors", "projections"}


def test_other_draws_make_requests_stale_and_what_is_chosen_stays(tmp_path):
    before = changed(families=False, embedder="lexical")
    assert stale(before, changed(families=False, embedder="lexical", draws=9), tmp_path) == {"reason_trials"}


@pytest.mark.slow
def test_another_wording_makes_prompts_stale_and_readings_follow_their_trials(tmp_path):
    assert stale(DEMO, changed(wordings=[1]), tmp_path) - {"reason_trials"} == {"trials"}


def test_another_culture_makes_no_other_cultures_prompts_or_readings_stale(tmp_path):
    before = changed(families=False)
    cultures = before.model_dump(mode="json")["worldwise"]["cultures"]
    after = changed(families=False, cultures=cultures | {"NLD": NETHERLANDS})
    # The check of dilemmas looks for its names, which are masked in reasons and counted in them.
    assert stale(before, after, tmp_path) == {"scenarios", "reason_vectors", "stereotyping"}


def test_another_place_makes_the_prompts_stale_and_nothing_else(tmp_path):
    before = changed(families=False)
    cultures = before.model_dump(mode="json")["worldwise"]["cultures"]
    moved = cultures | {"MULD": cultures["MULD"] | {"place": "the Outer Isles"}}
    assert stale(before, changed(families=False, cultures=moved), tmp_path) == {"trials", "reason_trials"}


@pytest.mark.slow
def test_other_dilemmas_make_the_dilemmas_stale_and_what_is_planted_for_them(tmp_path):
    assert stale(DEMO, changed(scenarios="bundled"), tmp_path) == {
        "scenarios",
        "reference_models",
        "sampled_answers",
        "calibration",
        "recovery",
    }


def test_the_demos_dilemmas_are_bundled_ones_and_signs_of_those_on_axes_with_gaps_can_reject():
    bundled, few = read_scenarios(), read_scenarios(DEMO.worldwise.scenarios)
    assert all(scenario in bundled for scenario in few)
    counts = pd.Series([scenario.axis for scenario in few]).value_counts().to_dict()
    assert counts == {"IDV": 2, "PDI": 6, "MAS": 2, "LTO": 6}
    assert all(2 / 2 ** counts[axis] < DEMO.inference.alpha for axis in GAPS)


RANDOM = """\
name = "random"
title = "A model that was never trained"
seed = 1

[preflight]
override = "a model that was never trained"

[worldwise]
scenarios = "few.json"
demand = true

[worldwise.cultures.MULD]
name = "the Muldane Isles"
place = "the Muldane Isles"
demonym = "Muldanish"
names = ["Muldane", "Port Averil"]

[thresholds]
position_bias = 0.0
p_valid_question = 0.0

[families.tiny]
kind = "huggingface"
model_type = "multi"
model_id = "tiny"
dtype = "float32"
"""
"""Asked as a person from nowhere and unprompted, and told to be typical."""


@pytest.fixture(scope="module")
def untrained(tmp_path_factory):
    """The folder of the instrument in a study of an untrained model, and the results of its checks."""
    folder = tmp_path_factory.mktemp("untrained")
    write_model(folder / "tiny", sentencepiece_like(), 1, spread=0.2)
    write_small_demo(folder)
    (folder / "random.toml").write_text(RANDOM.replace('"tiny"', f'"{folder / "tiny"}"'), encoding="utf-8")
    definitions = build_definitions(load_study(str(folder / "random.toml")), folder / "storage")
    job, checks = definitions.resolve_implicit_global_asset_job_def(), {}
    with unpainted(), dg.DagsterInstance.ephemeral() as instance:
        for nouns, partition in (
            (["scenarios"], None),
            (["trials"], "placebo"),
            (["trials"], "unprompted"),
            (["weights"], "tiny"),
            (["preflight"], "tiny"),
            (["readings", "choices", "demand_choices"], cell_key("tiny", "placebo", "culture")),
            (["readings", "choices", "demand_choices"], cell_key("tiny", "unprompted", "culture")),
        ):
            keys = [(MODELS if noun == "weights" else WORLDWISE).key(noun) for noun in nouns]
            done = job.execute_in_process(QUIET, instance, partition, asset_selection=keys, raise_on_error=False)
            failed = [event.step_failure_data.error.message for event in done.all_events if event.is_step_failure]
            assert done.success, failed
            checks |= {
                (check.asset_key.path[-1], check.check_name, str(partition)): check
                for check in done.get_asset_check_evaluations()
            }
    return folder / "storage" / "random" / "worldwise", checks


@pytest.mark.slow
def test_who_is_told_to_be_typical_chooses_beside_and_unprompted_nobody_is_told(untrained):
    folder, _ = untrained
    tables = {
        (asset, part): pd.read_parquet(folder / asset / "tiny" / f"{part}.parquet")
        for asset in ("choices", "demand_choices")
        for part in ("placebo", "unprompted")
    }
    assert [len(table) for table in tables.values()] == [4, 4, 4, 0]
    plain, demanded = tables["choices", "placebo"], tables["demand_choices", "placebo"]
    assert set(plain.scenario_id) == set(demanded.scenario_id)
    assert not (plain.p_high == demanded.p_high).any()


@pytest.mark.slow
def test_dilemmas_in_which_orders_disagree_and_those_that_are_doubtful_are_counted(untrained):
    _, checks = untrained
    cell = str(cell_key("tiny", "placebo", "culture"))
    orders, sound = checks["choices", "orders_agree", cell], checks["scenarios", "scenarios_are_sound", "None"]
    counts = {
        each.check_name: (each.metadata["failing"].value, each.metadata["looked_at"].value) for each in (orders, sound)
    }
    assert counts == {
        "orders_agree": (4, 4),
        "scenarios_are_sound": (1, 4),
    }  # no order is another's like, to the last bit
    assert "Port Averil" in sound.description
    assert not orders.passed
    assert not sound.passed
    assert checks["choices", "every_prompt_was_asked", cell].passed
