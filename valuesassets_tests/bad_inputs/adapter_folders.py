"""LoRA folders for `probe` that do not fit, each of which is refused before anything is read."""

import atexit
import functools
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from valuesassets_tests.bad_inputs.case import Case
from valuesassets_tests.bad_inputs.making import all_of, good_questions
from valuesassets_tests.bad_inputs.model_folders import good_model
from valuesassets_tests.peft_adapters import write_adapter
from valuesassets_tests.tiny_models import byte_level

ASKED = "--questions questions.json --language eng --output probe.parquet"
COMMAND = f"probe --model model --adapter run7 {ASKED}"
CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
Q = "model.layers.0.self_attn.q_proj"
AGAIN = "name the base that it was trained on, or save the adapter again"


@functools.cache
def _good() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="valuesassets-tests-"))
    atexit.register(shutil.rmtree, folder)
    good_model(folder)
    return write_adapter(folder / "run7", folder / "model", target_modules=["q_proj", "v_proj"])


def bad(name: str, spoil: Callable[[Path], object], message: str, command: str = COMMAND, code: int = 1) -> Case:
    def make(folder: Path) -> None:
        spoil(Path(shutil.copytree(_good(), folder / "run7")))

    return Case(name, command, message, all_of(good_questions, good_model, make), code)


def set_to(**settings: object) -> Callable[[Path], object]:
    def spoil(adapter: Path) -> None:
        content = json.loads((adapter / CONFIG).read_text())
        (adapter / CONFIG).write_text(json.dumps(content | settings))

    return spoil


def tensors(change: Callable[[dict[str, torch.Tensor]], Mapping[str, torch.Tensor]]) -> Callable[[Path], object]:
    def spoil(adapter: Path) -> None:
        save_file(dict(change(load_file(adapter / WEIGHTS))), adapter / WEIGHTS)

    return spoil


def as_pickle(adapter: Path) -> None:
    torch.save(load_file(adapter / WEIGHTS), adapter / "adapter_model.bin")
    (adapter / WEIGHTS).unlink()


def cut(adapter: Path) -> None:
    whole = (adapter / WEIGHTS).read_bytes()
    (adapter / WEIGHTS).write_bytes(whole[: len(whole) // 2])


CASES = [
    bad(
        "an adapter that is not there",
        shutil.rmtree,
        "run7: is not in this machine's cache of the hub, and the hub is not to be asked (offline); download it once "
        "with the network allowed, or name a folder that holds it",
        f"probe --model model --adapter run7 --offline {ASKED}",
    ),
    bad(
        "a path of an adapter that is not there",
        lambda adapter: None,
        "./trained/run8: no such folder; there is no folder trained either; check the path, or give an adapter's "
        "hub id such as owner/name",
        f"probe --model model --adapter ./trained/run8 {ASKED}",
    ),
    bad(
        "the file of an adapter in place of its folder",
        lambda adapter: None,
        f"run7/{WEIGHTS}: is a file, a folder with {CONFIG} was expected; name the folder",
        f"probe --model model --adapter run7/{WEIGHTS} {ASKED}",
    ),
    bad(
        "an adapter without its settings",
        lambda adapter: (adapter / CONFIG).unlink(),
        f"run7: no {CONFIG}; name a folder as save_pretrained of peft writes it",
    ),
    bad(
        "a whole model in place of an adapter",
        lambda adapter: None,
        f"model: no {CONFIG}; name a whole model as the model",
        f"probe --model model --adapter model {ASKED}",
    ),
    bad(
        "an adapter in a pickle",
        as_pickle,
        f"run7: {WEIGHTS} was expected, found only adapter_model.bin, a pickle, which can run code; save the adapter "
        "again with a newer peft",
    ),
    bad(
        "an adapter as the model",
        lambda adapter: None,
        "run7: is an adapter; name its base as the model, and this folder as the adapter",
        f"probe --model run7 {ASKED}",
    ),
    bad(
        "an adapter without weights",
        lambda adapter: (adapter / WEIGHTS).unlink(),
        f"run7: {WEIGHTS} was expected, found none; copy it there, or save the adapter again",
    ),
    bad(
        "settings of an adapter that are no JSON",
        lambda adapter: (adapter / CONFIG).write_text("{"),
        f"run7/{CONFIG}: line 1, column 2: not JSON ([...]); mend the file there",
    ),
    bad(
        "an adapter of another kind",
        set_to(peft_type="LOHA"),
        f"run7: {CONFIG} has peft_type 'LOHA', LORA was expected; merge it into its base with peft, and name the "
        "merged model",
    ),
    bad(
        "low-rank tensors for parameters that are no modules",
        set_to(target_parameters=["feed_forward.experts.gate_up_proj"]),
        f"run7: {CONFIG}: target_parameters is set, which would be ignored here; merge the adapter into its base with "
        "peft, and name the merged model",
    ),
    bad(
        "layers that are repeated",
        set_to(layer_replication=[[0, 2], [1, 2]]),
        f"run7: {CONFIG}: layer_replication is set, which would be ignored here; merge the adapter into its base with "
        "peft, and name the merged model",
    ),
    bad(
        "an adapter that begins from other weights than the base's",
        set_to(init_lora_weights="pissa"),
        f"run7: {CONFIG}: init_lora_weights is 'pissa', which changes the base too; save the adapter with "
        "path_initial_model_for_weight_conversion",
    ),
    bad(
        "an adapter without a rank",
        set_to(r="eight"),
        f"run7: {CONFIG}: key 'r': a whole number was expected (found \"eight\")",
    ),
    bad(
        "a module that the base lacks",
        tensors(lambda each: {name.replace("layers.1", "layers.9"): tensor for name, tensor in each.items()}),
        f"run7: has tensors for model.layers.9.self_attn.q_proj, which the base lacks; {AGAIN}",
    ),
    bad(
        "a module of another shape",
        tensors(lambda each: each | {f"base_model.model.{Q}.lora_A.weight": torch.zeros(4, 64)}),
        f"run7: {Q}.A has the shape 4x64, 4x32 was expected by the base and {CONFIG}; {AGAIN}",
    ),
    bad(
        "a target module without tensors",
        tensors(lambda each: {name: tensor for name, tensor in each.items() if Q not in name}),
        f"run7: has no tensors for {Q}, which {CONFIG} targets; {AGAIN}",
    ),
    bad(
        "a cut file of an adapter's weights",
        cut,
        f"run7: {WEIGHTS} is not a whole file of weights: [...]; save or download it again",
    ),
    bad(
        "a pointer in place of an adapter's weights",
        lambda adapter: (adapter / WEIGHTS).write_text("version https://git-lfs.github.com/spec/v1\n"),
        f"run7/{WEIGHTS}: is a Git LFS pointer (the file itself was not downloaded), weights were expected; download "
        "the file again",
    ),
    bad(
        "a tokenizer that is not the base's",
        lambda adapter: byte_level().save_pretrained(adapter),
        "run7: its tokenizer is not the base's: [...]; name the base that it was trained on, or remove the tokenizer "
        "from a copy of the folder if it is not needed",
    ),
    bad(
        "a revision of an adapter in a folder",
        lambda adapter: None,
        "Invalid value: --adapter-revision main: run7 is a folder, which has none; leave it out; see "
        "`valuesassets probe --help`",
        f"probe --model model --adapter run7 --adapter-revision main {ASKED}",
        code=2,
    ),
    bad(
        "a revision of no adapter",
        lambda adapter: None,
        "Invalid value: --adapter-revision: is that of an --adapter; name one, or leave it out; see "
        "`valuesassets probe --help`",
        f"probe --model model --adapter-revision main {ASKED}",
        code=2,
    ),
    bad(
        "an adapter for a model behind an API",
        lambda adapter: None,
        "Invalid value: --adapter, --adapter-revision: for a model that is loaded here; leave them out; see "
        "`valuesassets probe --help`",
        f"probe --model gpt --base-url http://127.0.0.1:9/v1 --adapter run7 {ASKED}",
        code=2,
    ),
]
