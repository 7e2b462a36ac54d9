"""A hub on this machine with one model, and a disk to fill."""

import json
import subprocess

import pytest

from valuesassets_tests.models.loopback_hub import loopback_hub
from valuesassets_tests.node.fetch_jobs import NOT_READ
from valuesassets_tests.tiny_models import sentencepiece_like, write_model


@pytest.fixture(scope="module")
def hub_model(tmp_path_factory):
    """A model in three parts of weights, with all that lies beside weights on the hub."""
    folder = write_model(tmp_path_factory.mktemp("hub") / "model", sentencepiece_like())
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").unlink()
    parts = [f"model-0000{n}-of-00003.safetensors" for n in (1, 2, 3)]
    for name in parts:
        (folder / name).write_bytes(weights + name.encode())
    index = {"weight_map": {f"layer.{n}": name for n, name in enumerate(parts)}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "onnx").mkdir()
    for name in NOT_READ:
        (folder / name).write_bytes(b"not read" * 1000)
    return folder


@pytest.fixture
def hub(hub_model):
    with loopback_hub() as made:
        made.push("owner/one", hub_model)
        yield made


@pytest.fixture
def small_disk(tmp_path):
    """A disk of two mebibytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a small disk can only be mounted by root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("node") / "model", sentencepiece_like())
