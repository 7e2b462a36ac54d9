import shutil

import dagster as dg
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.io_managers import FORMATS
from valuesassets_tests.comparing.planted_grid import demo, human, people, probe
from valuesassets_tests.orchestration.study_here import unpainted


def materialise(root, rows):
    """Writes a grid's answers and materialises what stands between them and the map; gives the map's folder."""
    folder = root / "demo_survey" / "survey"
    for (model, language), cell in rows.groupby(["model", "language"]):
        path = folder / "probe_distributions" / model / f"{language}.parquet"
        FORMATS["frame"].write(path, cell, SURVEY.key("probe_distributions"), path.parent)
    for name, frame in (("human_distributions", human()), ("respondents", people())):
        FORMATS["frame"].write(folder / name / f"{name}.parquet", frame, SURVEY.key(name), folder / name)
    job = build_definitions(demo(), root).resolve_implicit_global_asset_job_def()
    keys = [dg.AssetKey(["survey", name]) for name in ("quality_report", "reliability", "cultural_map")]
    with unpainted(), dg.DagsterInstance.ephemeral() as instance:
        assert job.execute_in_process(instance=instance, asset_selection=keys).success
    return folder / "cultural_map"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The storage of a map of answers that can be used; no test may change it."""
    root = tmp_path_factory.mktemp("made")
    materialise(root, probe())
    return root


@pytest.mark.slow
def test_the_tables_come_back_with_their_notes_beside_the_figure(made):
    folder = made / "demo_survey" / "survey" / "cultural_map"
    frames = FORMATS["frames"].read(folder / "cultural_map.json", SURVEY.key("cultural_map"))
    assert list(frames) == ["points", "projector", "sensitivity", "tests", "notes"]
    assert frames["points"].attrs["notes"] == frames["notes"]["note"].tolist()
    assert frames["points"].attrs["caption"]
    assert {path.suffix for path in folder.glob("cultural_map.*")} == {".json", ".png", ".svg", ".pdf"}


@pytest.mark.slow
def test_without_a_usable_answer_the_reason_is_the_result_and_no_earlier_figure_is_left(made, tmp_path):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    assert list((tmp_path / "demo_survey" / "survey" / "cultural_map").glob("cultural_map.[ps]*g"))
    folder = materialise(tmp_path, probe().assign(p_valid=0.01))
    frames = FORMATS["frames"].read(folder / "cultural_map.json", SURVEY.key("cultural_map"))
    assert list(frames) == ["refused"]
    assert "none of" in frames["refused"]["reason"][0]
    assert not list(folder.glob("cultural_map.[ps]*g"))
