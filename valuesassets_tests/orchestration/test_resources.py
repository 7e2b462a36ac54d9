import dagster as dg

from valuesassets.orchestration.instruments import SURVEY, Instrument
from valuesassets.orchestration.partitions import cell_key
from valuesassets.orchestration.resources import Storage, partition_path

TASKS = Instrument("tasks", "tasks", package="", wiring="", part="task")


def test_two_instruments_with_assets_of_one_name_share_no_job_file_no_log_and_no_claim(tmp_path):
    storage = Storage(root=str(tmp_path), study="demo")
    here = storage.job_folder(SURVEY.key("readings"), cell_key("mono", "eng"))
    there = storage.job_folder(TASKS.key("readings"), cell_key("mono", "eng", TASKS.part))
    assert here == tmp_path / "demo/jobs/survey/readings/mono/eng"
    assert there == tmp_path / "demo/jobs/tasks/readings/mono/eng"
    assert not there.is_relative_to(here)
    assert storage.job_folder(TASKS.key("reference_models"), None) == tmp_path / "demo/jobs/tasks/reference_models/all"


def test_a_cell_lies_below_its_model_whatever_its_part_is_called():
    assert partition_path(cell_key("mono", "deu")) == "mono/deu"
    assert partition_path(dg.MultiPartitionKey({"a_task": "dilemmas", "model": "mono"})) == "mono/dilemmas"
    assert partition_path("deu") == "deu"
