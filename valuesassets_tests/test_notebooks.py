"""The notebooks of the documentation run to their end as they are, and what they print of an instrument is so."""

import ast
import os
import runpy
import shutil
import subprocess
import sys
import tempfile

import jupytext
import nbclient
import nbformat
import numpy as np
import pytest
from jupyter_client.manager import AsyncKernelManager

import valuesassets as va
from valuesassets.instruments import INSTRUMENTS
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.reporting.made_storage import write_storage
from valuesassets_tests.tiny_models import byte_level, write_model

FOLDER = REPOSITORY / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.py"))
STORED = {
    "cultural_robustness": ("small_robustness", "small", "scores", ("value", "null")),
    "psych_tasks": ("small_psych", "demo_psych_tasks", "prediction/gains", ("estimate", "low", "high")),
    "worldvaluesbench": ("small_ratings", "small", "awareness/factors", ("slope", "slope_low", "slope_high")),
    "worldwise": ("small_worldwise", "demo_worldwise", "say_do_gap/gaps", ("gap", "gap_low", "gap_high")),
}
"""By notebook: the fixture of a study that was run, its name, and numbers of a table that the notebook shows."""
PICTURES = {"cultural_robustness": 2, "psych_tasks": 1, "survey": 1, "worldvaluesbench": 2, "worldwise": 1}
OF_ALL_GROUPS = {"worldvaluesbench": ("factor", "all")}
"""A table of which the notebook prints some rows: those with this value."""


def settings(storage):
    """The environment of a notebook: this source tree, a storage, and nothing from the network."""
    return {"PYTHONPATH": str(REPOSITORY), "HF_HUB_OFFLINE": "1", "VALUESASSETS_STORAGE": str(storage)}


def run_by_jupyter(name, storage, folder, **parameters):
    """The text and the number of pictures that a notebook shows, run by Jupyter's kernel with other parameters."""
    notebook = jupytext.read(FOLDER / f"{name}.py")
    place = next(place for place, cell in enumerate(notebook.cells) if "parameters" in cell.metadata.get("tags", []))
    changed = "\n".join(f"{key} = {value!r}" for key, value in parameters.items())
    notebook.cells.insert(place + 1, nbformat.v4.new_code_cell(changed))
    with tempfile.TemporaryDirectory() as sockets:  # the names of sockets may have about 100 characters
        manager = AsyncKernelManager(
            kernel_name="python3", transport="ipc", ip=f"{sockets}/s", connection_file=f"{folder}/kernel.json"
        )
        client = nbclient.NotebookClient(notebook, km=manager, timeout=600, resources={"metadata": {"path": folder}})
        own = {"IPYTHONDIR": str(folder / "ipython"), "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
        client.execute(cleanup_kc=True, env=os.environ | settings(storage) | own)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    streams = [output for output in outputs if output.output_type == "stream"]
    assert [output.text for output in streams if output.name != "stdout"] == []
    n_pictures = sum("image/png" in output.get("data", {}) for output in outputs)
    return "".join(output.text for output in streams), n_pictures


@pytest.mark.slow
def test_the_survey_runs_offline_and_says_nothing_on_stderr(tmp_path):
    done = subprocess.run(
        [sys.executable, str(FOLDER / "survey.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | settings(tmp_path / "storage") | {"TMPDIR": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "True" in done.stdout
    assert "False" not in done.stdout
    assert done.stdout.endswith("nothing of this study is stored; run it first: valuesassets run demo_survey\n")


@pytest.mark.slow
def test_the_survey_asks_a_model_and_places_a_study_on_the_map(tmp_path):
    write_storage(tmp_path / "storage", "mine")
    model = write_model(tmp_path / "tiny", byte_level(), spread=0.1)
    text, n_pictures = run_by_jupyter("survey", tmp_path / "storage", tmp_path, model=str(model), study="mine")
    answers = text.partition("position_bias_magnitude")[2].partition("Wasserstein")[0]
    assert answers.count("happy") == 4
    assert answers.count("trust") == 2
    assert "nan" not in answers
    points = va.place_on_map(va.read_table("mine", "survey/probe_distributions", tmp_path / "storage"))
    models = points[points["kind"] == "model"]
    assert len(models) == 4
    assert all(f"{label} " in text for label in models["label"])
    assert n_pictures == PICTURES["survey"]


@pytest.mark.parametrize("name", STORED)
@pytest.mark.slow
def test_a_notebook_shows_the_numbers_of_a_study_that_was_run(name, tmp_path, request):
    fixture, study, table, columns = STORED[name]
    storage = request.getfixturevalue(fixture) / "storage"
    text, n_pictures = run_by_jupyter(name, storage, tmp_path, study=study)
    rows = va.read_table(study, f"{name}/{table}", storage)
    if name in OF_ALL_GROUPS:
        column, value = OF_ALL_GROUPS[name]
        rows = rows[rows[column] == value]
    numbers = rows[list(columns)].to_numpy(float)
    assert np.isfinite(numbers).sum() > 5
    assert all(f" {number:.3f}" in text for number in numbers[np.isfinite(numbers)])
    assert all(f"{model} " in text for model in rows["model"])
    assert "None" not in text
    assert "NaN" not in text
    assert n_pictures == PICTURES[name]


@pytest.mark.slow
def test_a_study_of_choices_alone_is_shown_without_reasons(tmp_path, small_worldwise):
    stored = small_worldwise / "storage" / "demo_worldwise" / "worldwise"
    left_out = shutil.ignore_patterns("say_do_gap")
    shutil.copytree(stored, tmp_path / "storage" / "demo_worldwise" / "worldwise", ignore=left_out)
    text, n_pictures = run_by_jupyter("worldwise", tmp_path / "storage", tmp_path)
    assert text.endswith("\nno reasons are stored\n")
    assert n_pictures == PICTURES["worldwise"]


@pytest.mark.parametrize("name", STORED)
def test_where_nothing_is_stored_a_notebook_says_which_command_makes_it(name, tmp_path, monkeypatch):
    monkeypatch.setenv("VALUESASSETS_STORAGE", str(tmp_path))
    with pytest.raises(SystemExit, match=rf"^\S+/demo_{name}: nothing .*; run it first: valuesassets run demo_{name}$"):
        runpy.run_path(str(FOLDER / f"{name}.py"))


def test_the_notebooks_use_every_public_name():
    trees = [ast.parse(path.read_text("utf-8")) for path in NOTEBOOKS]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    used = {node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == "va"}
    assert used == set(va.__all__)


def test_every_instrument_has_a_notebook_in_the_percent_format():
    assert {path.stem for path in NOTEBOOKS} == {each.name for each in INSTRUMENTS}
    for path in NOTEBOOKS:
        text = path.read_text("utf-8")
        assert "format_name: percent" in text
        assert text.count("\n# %%") > 4
