import resource
import socket

import pytest
import torch

from valuesassets.models import memory
from valuesassets.models.loading import load_model
from valuesassets.models.memory import free_bytes, weights_bytes
from valuesassets.models.model_files import count_weights
from valuesassets.node.job_process import main
from valuesassets.records.errors import ModelError
from valuesassets_tests.node.node_jobs import score_job
from valuesassets_tests.tiny_models import ARCHITECTURES, sentencepiece_like, write_model

KIB, GIB = 2**10, 2**30


@pytest.fixture
def model(model_folders):
    """The folder of a tiny model."""
    return model_folders["sentencepiece"]


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with 8 GiB available, in no cgroup; gives the files that say so."""
    files = {"MEMINFO": "meminfo", "OWN_CGROUPS": "cgroup", "CGROUPS": "sys"}
    for constant, name in files.items():
        monkeypatch.setattr(memory, constant, tmp_path / name)
    (tmp_path / "meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable:   {8 * GIB // KIB} kB\n")
    (tmp_path / "cgroup").write_text("")
    return tmp_path


def test_weights_that_do_not_fit_are_refused_before_they_are_read(model, machine, capsys):
    (machine / "meminfo").write_text("MemAvailable: 20 kB\n")
    bytes_needed = {dtype: weights_bytes(count_weights(model), dtype) for dtype in ("float32", "bfloat16")}
    assert bytes_needed["float32"] == 2 * bytes_needed["bfloat16"] > 20 * KIB
    for dtype, advice in (("float32", "ask for more of it, or for dtype bfloat16"), ("bfloat16", "ask for more of it")):
        assert main([score_job(machine / "job", model, dtype=dtype)]) == 1
        said = capsys.readouterr()
        assert "loaded" not in said.out
        assert said.err == (
            f"{model}: its weights take {bytes_needed[dtype] / GIB:.3g} GiB in {dtype}, 1.91e-05 GiB of memory are "
            f"free on {socket.gethostname()}; {advice}\n"
        )


def test_a_limit_of_addresses_counts_where_it_is_lower(model, machine, monkeypatch):
    held = int(memory.OWN_PAGES.read_text().split()[0]) * resource.getpagesize()
    monkeypatch.setattr(resource, "getrlimit", lambda which: (held + 2**40, held + 2**40))
    assert free_bytes("cpu") == 8 * GIB
    monkeypatch.setattr(resource, "getrlimit", lambda which: (KIB, KIB))
    assert free_bytes("cpu") == 0
    with pytest.raises(ModelError, match=r"0 GiB of memory are free on .*; ask for more of it"):
        load_model(str(model), device="cpu")


def test_what_is_known_needs_no_memory_for_weights(model, machine):
    assert main([score_job(machine / "first", model, known=machine / "known")]) == 0
    (machine / "meminfo").write_text("MemAvailable: 20 kB\n")
    assert main([score_job(machine / "second", model, known=machine / "known")]) == 0


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("architecture", list(ARCHITECTURES))
def test_weights_take_what_the_headers_of_their_files_say(architecture, dtype, tmp_path):
    folder = write_model(tmp_path / "m", sentencepiece_like(), architecture=architecture)
    loaded = load_model(str(folder), dtype=dtype, device="cpu")
    taken = sum(weight.numel() * weight.element_size() for weight in loaded.model.parameters())
    assert weights_bytes(count_weights(folder), dtype) == taken


def cgroup(folder, names, limit, usage, cached, total=""):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{usage}\n")
    (folder / "memory.stat").write_text(f"{total}active_file {cached}\n{total}inactive_file {cached}\nanon 1\n")


def test_a_limit_of_slurms_counts_where_it_is_lower_in_cgroups_of_version_2(machine):
    names, step = ("memory.max", "memory.current"), machine / "sys/system.slice/slurmstepd.scope/job_7/step_0"
    (machine / "cgroup").write_text("0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n")
    assert free_bytes("cpu") == 8 * GIB
    cgroup(step, names, "max", 6 * GIB, 0)
    assert free_bytes("cpu") == 8 * GIB
    cgroup(step.parent, names, 7 * GIB, 6 * GIB, GIB)  # files that it holds make room
    assert free_bytes("cpu") == 3 * GIB
    cgroup(step.parent, names, 70 * GIB, 6 * GIB, GIB)
    assert free_bytes("cpu") == 8 * GIB
    cgroup(step.parent, names, 7 * GIB, 8 * GIB, 0)
    assert free_bytes("cpu") == 0


def test_a_limit_of_slurms_counts_where_it_is_lower_in_cgroups_of_version_1(machine):
    names, job = ("memory.limit_in_bytes", "memory.usage_in_bytes"), machine / "sys/memory/slurm/uid_0/job_7"
    (machine / "cgroup").write_text("5:devices:/slurm/uid_0/job_7\n4:memory:/slurm/uid_0/job_7/step_0\n0::/\n")
    cgroup(machine / "sys/devices/slurm/uid_0/job_7", names, 1, 1, 0, "total_")  # of another controller
    cgroup(job / "step_0", names, 9223372036854771712, GIB, 0, "total_")  # as version 1 says that there is none
    assert free_bytes("cpu") == 8 * GIB
    cgroup(job, names, 4 * GIB, 3 * GIB, GIB // 4, "total_")
    assert free_bytes("cpu") == 1.5 * GIB


def test_this_machine_says_how_much_is_free():
    assert 2**20 < free_bytes("cpu") < 2**50


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_cannot_be_used_is_named_with_its_host():
    with pytest.raises(
        ModelError, match=f"^{socket.gethostname()}: cuda:0 cannot be used: .*; see what nvidia-smi says"
    ):
        free_bytes("cuda:0")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_gpus_free_memory_counts_what_torch_holds_and_does_not_use():
    total = torch.cuda.get_device_properties(0).total_memory
    held = torch.zeros(2**28, device="cuda:0")
    taken = free_bytes("cuda:0")
    del held
    assert taken + 2**30 == free_bytes("cuda:0") <= total
