"""Model folders, good and spoilt."""

import atexit
import functools
import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from valuesassets_tests.bad_inputs.making import Make, all_of, good_questions
from valuesassets_tests.tiny_models import byte_level, sentencepiece_like, write_model


@functools.cache
def _good() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="valuesassets-tests-"))
    atexit.register(shutil.rmtree, folder)
    return write_model(folder / "model", sentencepiece_like())


@functools.cache
def good_byte_level_model() -> Path:
    """A folder with a tiny Llama whose tokenizer cuts bytes, made once: what GGUF files are made of."""
    folder = Path(tempfile.mkdtemp(prefix="valuesassets-tests-"))
    atexit.register(shutil.rmtree, folder)
    return write_model(folder / "model", byte_level())


def good_model(folder: Path) -> None:
    """A folder with a tiny model, made once."""
    shutil.copytree(_good(), folder / "model")


def spoilt(spoil: Callable[[Path], object]) -> Make:
    return all_of(good_questions, good_model, lambda folder: spoil(folder / "model"))


def without(*patterns: str) -> Make:
    def spoil(model: Path) -> None:
        for path in [path for pattern in patterns for path in model.glob(pattern)]:
            path.unlink()

    return spoilt(spoil)


def replaced(name: str, content: bytes) -> Make:
    return spoilt(lambda model: (model / name).write_bytes(content))


def configured(**changes: object) -> Make:
    def spoil(model: Path) -> None:
        config = json.loads((model / "config.json").read_text())
        (model / "config.json").write_text(json.dumps(config | changes))

    return spoilt(spoil)


def weights(change: Callable[[dict], object]) -> Make:
    def spoil(model: Path) -> None:
        tensors = {name: tensor.clone() for name, tensor in load_file(model / "model.safetensors").items()}
        change(tensors)
        save_file(tensors, model / "model.safetensors", metadata={"format": "pt"})

    return spoilt(spoil)


def tokenizer(change: Callable[[dict], object]) -> Make:
    def spoil(model: Path) -> None:
        content = json.loads((model / "tokenizer.json").read_text())
        change(content)
        (model / "tokenizer.json").write_text(json.dumps(content))

    return spoilt(spoil)


def added(token: str, to_the_model: bool) -> Make:
    """A tokenizer that got another token, and a model whose embedding has a row for it or not."""

    def make(folder: Path) -> None:
        hf = sentencepiece_like()
        rows = len(hf)
        hf.add_tokens([token])
        write_model(folder / "model", hf, vocab_size=len(hf) if to_the_model else rows)

    return all_of(good_questions, make)


def pickle(model: Path) -> None:
    torch.save(load_file(model / "model.safetensors"), model / "pytorch_model.bin")
    (model / "model.safetensors").unlink()


def half(model: Path) -> None:
    whole = (model / "model.safetensors").read_bytes()
    (model / "model.safetensors").write_bytes(whole[: len(whole) // 2])


def three_entries(model: Path) -> None:
    content = json.loads((model / "tokenizer.json").read_text())
    content["model"] |= {"vocab": {"<unk>": 0, "a": 1, "b": 2}, "merges": [], "byte_fallback": False}
    content |= {"added_tokens": [], "post_processor": None}
    (model / "tokenizer.json").write_text(json.dumps(content))
    (model / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')


def no_digits(content: dict) -> None:
    """Every piece with a digit gone, and no bytes to spell them with."""
    model = content["model"]
    keep = [t for t in model["vocab"] if not any(c.isdigit() for c in t) or t.startswith("<")]
    model["vocab"] = {t: i for i, t in enumerate(keep)}
    model["merges"] = [m for m in model["merges"] if all(p in model["vocab"] for p in [*m, "".join(m)])]
    model["byte_fallback"] = False


def loses_lines(content: dict) -> None:
    lines = {"type": "Replace", "pattern": {"String": "\n"}, "content": "▁"}
    content["normalizer"] = {"type": "Sequence", "normalizers": [content["normalizer"], lines]}


def nan(tensors: dict) -> None:
    tensors["model.norm.weight"][:] = float("nan")


def infinite(tensors: dict) -> None:
    tensors["lm_head.weight"][:] = float("inf")


def own_code(model: Path) -> None:
    config = json.loads((model / "config.json").read_text())
    auto_map = {"AutoConfig": "code.Config", "AutoModelForCausalLM": "code.Model"}
    (model / "code.py").write_text("open('ran', 'w').close()\n")
    (model / "config.json").write_text(json.dumps(config | {"model_type": "own", "auto_map": auto_map}))


def index_without_shards(model: Path) -> None:
    index = {"metadata": {}, "weight_map": {"lm_head.weight": "model-00002-of-00002.safetensors"}}
    (model / "model.safetensors").rename(model / "model-00001-of-00002.safetensors")
    (model / "model.safetensors.index.json").write_text(json.dumps(index))
