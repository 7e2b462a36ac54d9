import dagster as dg
import pandas as pd
import pytest

from valuesassets.orchestration.assets.survey.material import survey_assets
from valuesassets.orchestration.io_managers import study_io_managers
from valuesassets.orchestration.resources import Storage
from valuesassets.records.questions import write_questions
from valuesassets_tests.comparing.planted_grid import demo, peopleless, questions
from valuesassets_tests.people.synthetic_files import as_evs, people, save, study_of

NAMES = ("respondents", "human_distributions", "human_means")


@pytest.fixture
def made(tmp_path):
    """The three assets of people, materialised from aligned questions that lie in the storage."""

    def materialise(study):
        storage = Storage(root=str(tmp_path), study=study.name)
        for language in study.languages:
            write_questions(storage.path(dg.AssetKey(["survey", "aligned_questions"]), language, "json"), questions())
        done = dg.materialize(
            survey_assets(study),
            selection=[dg.AssetKey(["survey", name]) for name in NAMES],
            resources=study_io_managers(storage) | {"storage": storage},
            instance=dg.DagsterInstance.ephemeral(),
            raise_on_error=False,
        )
        paths = {name: storage.path(dg.AssetKey(["survey", name]), None, "parquet") for name in NAMES}
        return done, {name: pd.read_parquet(path) for name, path in paths.items() if path.exists()}

    return materialise


@pytest.mark.parametrize("study", [demo(), peopleless()], ids=["planted", "none"])
@pytest.mark.slow
def test_people_of_a_study_are_stored_with_as_many_rows_as_its_source_has(made, study):
    done, tables = made(study)
    assert done.success
    is_planted = study.human.source == "planted"
    assert len(tables["respondents"]) == is_planted * 6 * study.human.respondents
    assert tables["human_distributions"].empty != is_planted
    assert tables["human_means"].empty != is_planted


@pytest.mark.slow
def test_what_is_left_out_of_a_file_stands_beside_the_asset(made, tmp_path):
    done, tables = made(study_of((save(as_evs(people()), tmp_path / "evs.sav"), "evs2017")))
    assert done.success
    assert set(tables["human_distributions"]["country"]) == {"DE", "GB"}
    shown = done.asset_materializations_for_node("survey__respondents")[0].metadata["left_out"].value
    assert "PL: no respondents in evs.sav" in shown
    assert tables["respondents"].attrs["notes"] == shown.split("\n")


def test_a_bad_file_ends_the_asset_in_its_one_line(made, tmp_path):
    path = save(as_evs(people()).drop(columns=["gweight", "dweight"]), tmp_path / "evs.sav")
    done, _ = made(study_of((path, "evs2017")))
    assert not done.success
    failed = next(event for event in done.all_events if event.is_step_failure)
    assert "no weights: no column gweight or dweight" in failed.step_failure_data.user_failure_data.description
