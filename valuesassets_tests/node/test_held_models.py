import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import LlamaConfig

from valuesassets.models.loaded_model import OpenedModel
from valuesassets.node import held_models


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    held_models._threads_at_first.cache_clear()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)
    held_models._threads_at_first.cache_clear()


def opened(width):
    config = LlamaConfig(hidden_size=width, num_attention_heads=4)
    return OpenedModel("m", Path("m"), None, "w", config, None, "float32")


@pytest.mark.usefixtures("two_threads")
def test_a_tiny_model_is_read_with_one_thread_and_the_next_large_one_with_all():
    for width, wanted in ((4096, 2), (64, 1), (4096, 2)):
        held_models.use_threads(opened(width))
        assert torch.get_num_threads() == wanted


@pytest.mark.parametrize("told", [None, "ACTIVE"])
def test_a_job_lets_waiting_threads_sleep_unless_told_otherwise(told, tmp_path):
    node = f"import sys, os; sys.argv = ['node', {str(tmp_path / 'job.json')!r}]\n"
    node += "from valuesassets.node.__main__ import main; main(sys.argv[1:]); print(os.environ['OMP_WAIT_POLICY'])"
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    environment |= {} if told is None else {"OMP_WAIT_POLICY": told}
    ended = subprocess.run([sys.executable, "-c", node], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout.split()[-1] == (told or "PASSIVE")
