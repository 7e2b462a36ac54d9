"""What a change of the study file makes stale, without a run: by code versions and the entries that assets remember."""

import pytest

from valuesassets.definitions import build_definitions
from valuesassets.desk.staleness import ENTRIES
from valuesassets.orchestration.code_versions import entries_of
from valuesassets.orchestration.what_goes_stale import stale_keys, stale_table
from valuesassets.records.files import sha256_json
from valuesassets.records.places import bundled_names
from valuesassets.records.settings.cells import Family
from valuesassets.records.study import Study, load_study
from valuesassets_tests.needs import REPOSITORY

STUDY = load_study("demo_survey")
ANALYSES = {
    *("item_statistics", "reliability", "signal", "distances", "human_comparison", "mono_vs_multi", "position_bias"),
    *("cultural_map", "simulated_worlds", "report", "replication_bundle"),
}
HUB = {"kind": "huggingface", "model_type": "mono", "model_id": "owner/model_{lang}"}


def graph_of(study, folder):
    return build_definitions(study, folder).get_repository_def().asset_graph


def changed(**tables):
    """The demo with some keys of its tables changed, as a file would say it."""
    told = STUDY.model_dump(mode="json", exclude_none=True)
    for table, value in tables.items():
        told[table] = {**told.get(table, {}), **value} if isinstance(value, dict) else value
    return Study.model_validate(told)


def stale(study, folder, before=STUDY):
    """Nouns of the assets that were fresh in a study and are stale in another that took its place."""
    before, after = graph_of(before, folder), graph_of(study, folder)
    found = set()
    for key in before.get_all_asset_keys():
        then, now = (graph.get(key) for graph in (before, after))
        remembered, known = (node.metadata.get(ENTRIES) or {} for node in (then, now))
        remembered, known = (getattr(each, "value", each) for each in (remembered, known))
        is_moved = any(
            known.get(table, {}).get(name) != digest
            for table, entries in remembered.items()
            for name, digest in entries.items()
        )
        if then.code_version != now.code_version or is_moved:
            found.add(key.path[-1])
    return found


def edited(table, name, **changes):
    return {name: STUDY.model_dump(mode="json", exclude_none=True)[table][name] | changes}


@pytest.mark.slow
def test_a_study_of_another_name_takes_nothing_of_this_one_for_its_own(tmp_path):
    """Both may be in one Dagster instance, where an asset has one key; their files lie apart."""
    assert stale(changed(name="other"), tmp_path) == {
        key.path[-1] for key in graph_of(STUDY, tmp_path).get_all_asset_keys()
    }


@pytest.mark.slow
def test_another_family_makes_nothing_stale(tmp_path):
    assert stale(changed(families={"other": HUB}), tmp_path) == set()


def test_another_language_makes_only_the_people_stale_who_are_read_for_all_countries_at_once(tmp_path):
    spa = {"name": "Spanish", "country": "ES", "zone": "Catholic Europe"}
    assert stale(changed(languages={"spa": spa}), tmp_path) == {
        "respondents",
        "human_distributions",
        "human_means",
    }


@pytest.mark.slow
def test_more_resamples_make_analyses_stale_and_nothing_else(tmp_path):
    found = stale(changed(inference={"resamples": 123}), tmp_path)
    assert found <= ANALYSES
    assert {"signal", "distances", "report"} <= found


def test_what_is_asked_of_slurm_and_who_owns_a_study_make_nothing_stale(tmp_path):
    resources = edited("families", "reference-multi", resources={"memory_gib": 9})
    study = changed(slurm={"partition": "gpu"}, owners=["team:others"], title="Another title", families=resources)
    assert stale(study, tmp_path) <= {"report", "replication_bundle"}


@pytest.mark.parametrize(
    "change", [{"dtype": "bfloat16"}, {"bos": "never"}, {"revision": "main"}, {"prompting": {"style": "chat"}}]
)
@pytest.mark.slow
def test_how_a_family_is_run_is_the_version_of_its_weights_and_nothing_elses(tmp_path, change):
    hub = changed(families={"other": HUB})
    assert stale(changed(families={"other": HUB | change}), tmp_path, before=hub) == {"weights"}


@pytest.mark.slow
def test_another_adapter_is_another_model_and_its_revision_the_version_of_the_weights_alone(tmp_path):
    adapted = changed(families={"other": HUB | {"adapter": "owner/run7"}})
    pinned = changed(families={"other": HUB | {"adapter": "owner/run7", "adapter_revision": "v2"}})
    assert stale(pinned, tmp_path, before=adapted) == {"weights"}
    other = changed(families={"other": HUB | {"model_id": "owner/other_{lang}"}})
    hub = changed(families={"other": HUB})
    assert stale(adapted, tmp_path, before=hub) == stale(other, tmp_path, before=hub) > {"weights"}


def test_of_an_endpoint_only_the_host_is_remembered_and_of_a_model_that_is_loaded_nothing():
    def remembered(**settings):
        mine = {"mine": Family.model_validate({"model_type": "multi", "model_id": "m"} | settings)}
        return entries_of(STUDY.model_copy(update={"families": mine}), ["models"])["models"]["mine"]

    loaded = {"kind": "huggingface", "model_type": "multi", "model_id": "m", "plants": "values", "revision": None}
    loaded |= {"dtype": "auto", "bos": "template"}
    prompting = Family.model_validate(HUB).prompting.model_dump(mode="json")
    assert remembered(kind="huggingface") == sha256_json([loaded | {"prompting": prompting}, ["m"]])[:12]
    behind = {"kind": "gemini", "prompting": {"style": "chat"}}
    one, patient, elsewhere = (
        remembered(**behind, endpoint={"provider": "gemini"} | more)
        for more in ({}, {"attempts": 9, "concurrency": 1}, {"base_url": "https://gemini.example"})
    )
    assert one == patient != elsewhere


@pytest.mark.slow
def test_another_instruments_table_makes_nothing_of_the_survey_stale(tmp_path):
    slopes = {"reference-mono": 0.8, "reference-multi": 0.0}
    beside = {"answers": "planted", "slopes": slopes, "sets": {"all": {"language": "eng"}}}
    assert stale(changed(worldvaluesbench=beside), tmp_path) == set()


def test_another_order_of_options_makes_trials_stale_and_readings_follow_their_trials(tmp_path):
    found = stale(changed(elicitation={"orders": "cyclic"}), tmp_path)
    assert "trials" in found
    assert not found & {"readings", "aligned_questions", "respondents"}


def test_the_table_of_the_documentation_is_what_the_assets_declare(tmp_path):
    page = (REPOSITORY / "docs" / "staleness.md").read_text(encoding="utf-8")
    assert page.endswith("\n\n" + stale_table(build_definitions(STUDY, tmp_path)))


@pytest.mark.slow
def test_the_list_that_explains_keys_is_what_the_assets_of_all_bundled_studies_declare():
    listed = (REPOSITORY / "valuesassets" / "cli" / "what_goes_stale.txt").read_text(encoding="utf-8")
    command = "python -m valuesassets.orchestration.what_goes_stale --keys > valuesassets/cli/what_goes_stale.txt"
    assert listed == stale_keys(map(load_study, bundled_names(".", ".toml"))), command
