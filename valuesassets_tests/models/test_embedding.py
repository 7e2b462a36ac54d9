"""Texts as vectors: a tiny real sentence-transformers model, and what is refused."""

import hashlib
import json
import shutil
import subprocess
import sys
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import torch

from valuesassets.models import embedding
from valuesassets.models.embedding import embed_texts, open_embedder
from valuesassets.models.fetching import fetch_embedder
from valuesassets.node.embed import do
from valuesassets.node.progress import Progress
from valuesassets.records.errors import JobError, ModelError
from valuesassets.records.files import write_json
from valuesassets.records.jobs import EmbedJob, read_job, write_job
from valuesassets.records.parquet import read_table, table_metadata
from valuesassets.records.tables import EMBEDDED_TEXTS
from valuesassets_tests.models.loopback_hub import loopback_hub
from valuesassets_tests.models.tiny_embedder import save_embedder
from valuesassets_tests.node.fetch_jobs import environment

LONG = "work " * 600
TEXTS = ["How important is work?", "How important is God?", "Wie wichtig ist Arbeit?"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_embedder(tmp_path_factory.mktemp("embedder"), TEXTS)


def test_every_text_has_a_vector_of_length_one_in_its_place(folder):
    vectors = embed_texts(str(folder), TEXTS, device="cpu")
    assert vectors.shape[0] == len(TEXTS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert embed_texts(str(folder), TEXTS[1:2], device="cpu")[0] == pytest.approx(vectors[1], abs=1e-5)


def test_no_texts_give_no_vectors(folder):
    assert embed_texts(str(folder), [], device="cpu").shape[0] == 0


def test_the_job_writes_the_vectors_of_its_texts(folder, tmp_path):
    write_json(tmp_path / "texts.json", TEXTS)
    job = EmbedJob(model=str(folder), texts=tmp_path / "texts.json", vectors=tmp_path / "vectors.npy")
    write_job(tmp_path / "job.json", job)
    assert read_job(tmp_path / "job.json") == job
    do(job, Progress())
    assert np.load(tmp_path / "vectors.npy") == pytest.approx(embed_texts(str(folder), TEXTS, device="cpu"), abs=1e-5)


def test_alone_as_in_a_batch_whatever_stands_beside_it(folder):
    embedder = open_embedder(str(folder), device="cpu")
    texts = [*TEXTS, LONG, "?", TEXTS[0]]
    together = embedder.embed(texts, normalise=False).vectors
    assert together.dtype == np.float32
    for text, vector in zip(texts, together, strict=True):
        assert np.abs(embedder.embed([text], normalise=False).vectors[0] - vector).max() <= 1e-5
    assert np.abs(np.linalg.norm(together, axis=1) - 1).max() > 0.1
    assert np.linalg.norm(embedder.embed(texts).vectors, axis=1) == pytest.approx(1, abs=1e-6)


def test_half_precision_weights_are_read_in_float32(folder, tmp_path):
    half = Path(shutil.copytree(folder, tmp_path / "half"))
    (config,) = half.rglob("*/config.json") if not (half / "config.json").exists() else [half / "config.json"]
    config.write_text(json.dumps(json.loads(config.read_text()) | {"dtype": "bfloat16"}))
    assert open_embedder(str(half), device="cpu").embed(TEXTS).vectors == pytest.approx(
        open_embedder(str(folder), device="cpu").embed(TEXTS).vectors, abs=1e-6
    )


def test_a_prefix_stands_before_every_text_and_the_models_own_one_where_none_is_given(folder, tmp_path):
    by_hand = open_embedder(str(folder), device="cpu").embed([f"query: {text}" for text in TEXTS]).vectors
    given = open_embedder(str(folder), prefix="query: ", device="cpu")
    assert given.embed(TEXTS).vectors == pytest.approx(by_hand, abs=1e-6)
    own = Path(shutil.copytree(folder, tmp_path / "own"))
    settings = own / "config_sentence_transformers.json"
    said = json.loads(settings.read_text()) | {"prompts": {"q": "query: "}, "default_prompt_name": "q"}
    settings.write_text(json.dumps(said))
    assert open_embedder(str(own), device="cpu").prefix == "query: "
    assert open_embedder(str(own), device="cpu").embed(TEXTS).vectors == pytest.approx(by_hand, abs=1e-6)
    bare = open_embedder(str(own), prefix="", device="cpu").embed(TEXTS).vectors
    assert bare == pytest.approx(embed_texts(str(folder), TEXTS, device="cpu"), abs=1e-6)


def embed_job(folder, tmp_path, texts, **settings):
    write_json(tmp_path / "texts.json", texts)
    return EmbedJob(model=str(folder), texts=tmp_path / "texts.json", vectors=tmp_path / "vectors.npy", **settings)


def test_a_report_says_how_every_text_was_read(folder, tmp_path, capsys):
    texts = [*TEXTS, LONG]
    do(embed_job(folder, tmp_path, texts, prefix="q: ", report=tmp_path / "report.parquet"), Progress())
    rows = read_table(tmp_path / "report.parquet", EMBEDDED_TEXTS).to_pylist()
    assert [row["text_sha256"] for row in rows] == [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    assert [row["is_truncated"] for row in rows] == [False, False, False, True]
    assert rows[3]["n_tokens"] > 512 > rows[0]["n_tokens"] > 0
    told = table_metadata(tmp_path / "report.parquet")
    assert (told["prefix"], told["normalise"], told["dtype"]) == ("q: ", "true", "float32")
    assert len(told["weights_id"]) == 64
    assert "4 texts, 1 of them longer than it reads and cut" in capsys.readouterr().out


def test_a_text_is_cut_off_where_prefix_and_ends_leave_it_no_room(folder):
    bare = open_embedder(str(folder), prefix="", device="cpu")
    fits, one_more, longer = (" ".join(["work"] * n) for n in (510, 511, 600))
    found = bare.embed([fits, one_more, longer])
    assert found.n_tokens[:2] == (511, 512)  # of the 512 that the model reads, one begins every text
    assert found.is_truncated == (False, True, True)
    assert found.vectors[1] == pytest.approx(found.vectors[2], abs=1e-6)
    assert open_embedder(str(folder), prefix="q: ", device="cpu").embed([fits]).is_truncated == (True,)


def test_what_is_known_costs_no_weights_and_comes_out_with_the_same_bytes(folder, tmp_path, monkeypatch):
    job = embed_job(folder, tmp_path, TEXTS, known=tmp_path / "known", report=tmp_path / "report.parquet")
    do(job, Progress())
    once = [path.read_bytes() for path in (job.vectors, job.report)]
    with monkeypatch.context() as patched:
        patched.setattr(embedding.Embedder, "_model", property(lambda _: pytest.fail("the weights were read")))
        do(job, Progress())
        assert [path.read_bytes() for path in (job.vectors, job.report)] == once
        do(job.model_copy(update={"normalise": False}), Progress())
    read = []
    known = open_embedder(str(folder), device="cpu").open_known(tmp_path / "known")
    open_embedder(str(folder), device="cpu").embed(
        [*TEXTS, "new"], store=known, on_progress=lambda done, total: read.append((done, total))
    )
    assert read == [(4, 4)]


def test_another_prefix_and_other_weights_are_not_known(folder, tmp_path):
    other = save_embedder(tmp_path / "other", [*TEXTS, "another vocabulary"])
    embedders = [open_embedder(str(folder)), open_embedder(str(folder), prefix="q: "), open_embedder(str(other))]
    assert len({each.known_id for each in embedders}) == 3
    embedders[0].embed(TEXTS, store=embedders[0].open_known(tmp_path / "known"))
    kept = [each.kept(TEXTS, each.open_known(tmp_path / "known")) for each in embedders]
    assert kept == [3, 0, 0]


def test_known_vectors_that_are_damaged_are_named_and_embedded_again(folder, tmp_path, capsys):
    job = embed_job(folder, tmp_path, TEXTS, known=tmp_path / "known")
    do(job, Progress())
    once = job.vectors.read_bytes()
    (file,) = (tmp_path / "known").rglob("*.safetensors")
    file.write_bytes(file.read_bytes()[:-1])
    do(job, Progress())
    assert f"{file}: known vectors are damaged; the file is removed and its texts are embedded again" in (
        capsys.readouterr().out
    )
    assert job.vectors.read_bytes() == once
    (file,) = (tmp_path / "known").rglob("*.safetensors")


def test_two_processes_write_to_one_store_and_each_keeps_what_it_knew(folder, tmp_path):
    embedder = open_embedder(str(folder), device="cpu")
    one, other = (embedder.open_known(tmp_path / "known") for _ in range(2))
    embedder.embed(TEXTS[:2], store=one)
    embedder.embed(TEXTS[1:], store=other)
    assert embedder.kept(TEXTS, one) == 2
    assert embedder.kept(TEXTS, embedder.open_known(tmp_path / "known")) == 3


def test_an_interrupted_job_goes_on_from_its_last_whole_batch(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(embedding, "KEPT", 2)
    embedder, passes = open_embedder(str(folder), device="cpu"), count(1)

    def stop(done, total):
        if next(passes) == 2:
            raise KeyboardInterrupt

    texts = [f"{text} {n}" for text in TEXTS for n in range(2)]
    with pytest.raises(KeyboardInterrupt):
        embedder.embed(texts, store=embedder.open_known(tmp_path / "known"), on_progress=stop)
    assert embedder.kept(texts, embedder.open_known(tmp_path / "known")) == 4


@pytest.mark.parametrize(
    ("number", "said"),
    [(float("nan"), "gives vectors with NaN or infinite numbers, first of"), (0.0, "is zero, has no")],
)
def test_vectors_that_say_nothing_are_refused(folder, tmp_path, number, said):
    """Weights of NaN; a model whose last layer gives nothing."""
    from safetensors.torch import load_file, save_file

    broken = Path(shutil.copytree(folder, tmp_path / "broken"))
    (file,) = broken.rglob("model.safetensors")
    weights = load_file(file)
    last = {name: w.fill_(number) for name, w in weights.items() if "layer.1.output.LayerNorm" in name}
    assert last
    save_file(weights, file, {"format": "pt"})
    with pytest.raises(ModelError, match=said) as error:
        embed_texts(str(broken), TEXTS, device="cpu")
    assert "\n" not in str(error.value)


def test_what_are_no_texts_is_one_line(folder, tmp_path):
    with pytest.raises(JobError, match=r"texts\.json: an array of texts was expected"):
        do(embed_job(folder, tmp_path, ["a", 1]), Progress())


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("you tried: can't allocate memory")]
)
def test_memory_that_is_short_is_said_so_and_not_laid_to_the_model(folder, monkeypatch, error):
    class Full:
        def encode(self, *_, **__):
            raise error

    monkeypatch.setattr(embedding.Embedder, "_model", Full())
    with pytest.raises(ModelError, match="out of memory while texts were embedded; free some, use a larger") as refused:
        embed_texts(str(folder), TEXTS)
    assert "cannot be read as an embedder" not in str(refused.value)


def test_weights_that_can_hold_code_are_refused(tmp_path):
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(ModelError, match=r"its weights are in pytorch_model\.bin, which can hold code"):
        embed_texts(str(tmp_path), TEXTS)


@pytest.mark.parametrize(
    ("name", "said"),
    [("/no/such/folder", "no such folder"), (__file__, "is a file, the folder of a model was expected")],
)
def test_what_is_no_folder_is_refused(name, said):
    with pytest.raises(ModelError, match=said):
        embed_texts(name, TEXTS)


def test_a_folder_without_a_model_is_one_line(tmp_path):
    with pytest.raises(ModelError, match="cannot be read as an embedder") as error:
        embed_texts(str(tmp_path), TEXTS)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_an_embedder_of_the_hub_is_fetched_with_all_its_parts_and_read_where_there_is_no_network(folder, tmp_path):
    code = "from valuesassets.models.fetching import fetch_embedder; print(fetch_embedder('owner/embedder'))"
    with loopback_hub() as hub:
        hub.push("owner/embedder", folder, pytorch_model__bin=b"can hold code", modeling__py=b"is code")
        command, there = [sys.executable, "-c", code], environment(hub, tmp_path)
        fetched = subprocess.run(command, env=there, capture_output=True, text=True, check=True).stdout.strip()
    again = subprocess.run(command, env=there | {"HF_HUB_OFFLINE": "1"}, capture_output=True, text=True, check=True)
    assert again.stdout.strip() == fetched
    assert open_embedder(fetched).describe()["revision"] == Path(fetched).name
    needed = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.name != "README.md"}
    assert {path.relative_to(fetched) for path in Path(fetched).rglob("*") if path.is_file()} == needed
    assert embed_texts(fetched, TEXTS, device="cpu") == pytest.approx(embed_texts(str(folder), TEXTS, device="cpu"))


def test_a_folder_is_taken_as_the_embedder_that_it_is_and_one_that_the_hub_does_not_have_is_refused(folder, tmp_path):
    assert fetch_embedder(str(folder)) == str(folder)
    assert fetch_embedder(str(tmp_path / "nowhere")) == str(tmp_path / "nowhere")
    code = "from valuesassets.models.fetching import fetch_embedder; fetch_embedder('owner/none')"
    with loopback_hub() as hub:
        refused = [sys.executable, "-c", code]
        done = subprocess.run(refused, env=environment(hub, tmp_path), capture_output=True, text=True, check=False)
    assert "ModelError: owner/none: there is no such model on the hub, or it is private" in done.stderr
