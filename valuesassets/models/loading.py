"""Loads models from a folder, the hub or a GGUF file: safetensors only, no code of theirs, and a tokenizer that fits.

`open_model` reads configuration and tokenizer, `load_weights` the weights.
"""

import contextlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from valuesassets.models.adapter_files import Adapter, fetch_adapter, plan_adapter, require_same_tokenizer
from valuesassets.models.chat_templates import read_template
from valuesassets.models.gguf_folders import weights_id as id_of_converted
from valuesassets.models.loaded_model import DTYPES, LoadedModel, OpenedModel
from valuesassets.models.memory import find_single_gpu, require_memory, require_on_gpus
from valuesassets.models.model_files import hash_folder, require_sound_settings
from valuesassets.models.tokenizer_files import read_tokenizer
from valuesassets.records.errors import ModelError, TokenizerError
from valuesassets.records.settings.prompting import AS_TEXT, Prompting
from valuesassets.records.trials import BosRule
from valuesassets.spelling.prompt_tokenizer import describe_tokenizer, require_plain

_WHAT_TO_DO = {
    "custom code": "code that comes with a model is never run: choose a model that transformers knows by itself",
    "does not recognize this architecture": "choose another model, or one that this version of transformers knows",
    "Unrecognized configuration class": "choose a model that writes text (a causal language model)",
    "memory": "ask for more of it, or see whether config.json has the numbers of these weights",
    "out of memory": "ask for a GPU with more memory, for several of them, or for dtype bfloat16",
    "configuration": "check the model's name, or download its config.json again",
    "tokenizer": "save the tokenizer again beside the weights",
    "weights": "download the weights again, all of their files",
}
"""What to do, by words in a library's message, else by the part of the model that it could not read."""


def load_model(
    model: str, revision: str | None = None, dtype: str = "auto", device: str = "auto", offline: bool = False
) -> LoadedModel:
    """Open a model and load its weights; arguments and errors as for `open_model`."""
    return load_weights(open_model(model, revision, dtype, device, offline))


def open_model(
    model: str,
    revision: str | None = None,
    dtype: str = "auto",
    device: str = "auto",
    offline: bool = False,
    bos: BosRule = "template",
    prompting: Prompting = AS_TEXT,
    say: Callable[[str], None] = lambda line: print(line, file=sys.stderr),
    adapter: str | None = None,
    adapter_revision: str | None = None,
) -> OpenedModel:
    """Open a model: read its configuration and tokenizer, and hash its weights, which identifies stored readings.

    Missing files of a hub model are downloaded first; a commit that is whole in the cache needs no network. A GGUF file
    is converted once.

    Args:
        revision: commit, branch or tag of the hub.
        dtype: one of `DTYPES`, or `auto`: bfloat16 on a GPU (float16 if saved so), the weights' own on a CPU.
        device: `cpu`, `cuda`, `cuda:1`, or `auto`: a GPU that is large enough, else all GPUs together, else the CPU.
        offline: whether hub models come from this machine's cache only.
        bos: rule for the tokens that begin a bare text.
        say: called with lines about the progress of a conversion.
        adapter: folder or hub id of a LoRA adapter, which is put on the model's weights when they are loaded.
        adapter_revision: commit, branch or tag of the adapter on the hub.

    Raises:
        ModelError: folder, configuration or weights are absent, unsafe or broken, or the hub does not answer; the
            adapter's files are, or would not all be followed, or the model is a GGUF file.
        TokenizerError: tokenizer or chat template is absent, broken or unfit, or the system text holds a control token;
            the adapter's tokenizer is not the model's.
    """
    from transformers import AutoConfig
    from transformers.utils import logging

    from valuesassets.models.model_sources import fetch_model, plan_model

    logging.disable_progress_bar()  # errors are one line on stderr: nothing else goes there
    logging.set_verbosity_error()
    files = fetch_model(plan_model(model, revision, offline), say=say)
    require_sound_settings(files.folder)
    with _one_line(model, "configuration", ModelError):
        config = AutoConfig.from_pretrained(files.folder, local_files_only=True, trust_remote_code=False)
    with _one_line(model, "tokenizer", TokenizerError):
        hf = read_tokenizer(files.folder)
    bos_rule = "never" if prompting.is_chat else bos
    tokenizer = describe_tokenizer(hf, model, config.get_text_config().vocab_size, bos_rule)
    template = read_template(hf, model, prompting)
    weights_id = files.commit or (id_of_converted(files.gguf.sha256) if files.gguf else hash_folder(files.folder))
    lora = _open_adapter(model, adapter, adapter_revision, offline, files.gguf is not None) if adapter else None
    if lora is not None:
        weights_id = lora.weights_id(weights_id)
        require_same_tokenizer(lora, hf, template.source if template else None)
    place = _choose_device(model, device)
    saved_dtype = str(getattr(config, "dtype", None) or "float32").removeprefix("torch.")
    chosen_dtype = choose_dtype(saved_dtype, place) if dtype == "auto" else dtype
    if chosen_dtype not in DTYPES:
        raise ModelError(
            f"{model}: dtype {chosen_dtype}; one of {', '.join(DTYPES[:3])} was expected; ask for one of them"
        )
    if place == "auto":
        place = find_single_gpu(files.folder, chosen_dtype) or place
    opened = OpenedModel(
        model,
        files.folder,
        files.commit,
        weights_id,
        config,
        tokenizer,
        chosen_dtype,
        place,
        prompting,
        template,
        files.gguf,
        lora,
    )
    require_plain(f"{model}: system", opened.control_texts, [each.system_in("") or "" for each in prompting.variants()])
    return opened


def load_weights(opened: OpenedModel) -> LoadedModel:
    """Load the weights of an opened model, onto its device or all GPUs.

    Raises:
        ModelError: the weights are absent, broken, incomplete, or larger than the memory of the device or all GPUs.
    """
    import torch
    from transformers import AutoModelForCausalLM

    from valuesassets.models.engine import first_device

    require_memory(opened)
    dtype: torch.dtype = getattr(torch, opened.dtype)
    with _one_line(opened.model_id, "weights", ModelError):
        result: Any = AutoModelForCausalLM.from_pretrained(
            opened.folder,
            config=opened.config,
            dtype=dtype,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # reported below, in one line
            **({} if opened.device == "cpu" else {"device_map": opened.device.replace("auto", "balanced")}),
        )
    model, info = result
    if opened.device == "auto":
        require_on_gpus(opened, getattr(model, "hf_device_map", {"": model.device.type}))
    misshaped = [
        f"{name} ({'x'.join(map(str, in_file))} in the file, {'x'.join(map(str, in_config))} by config.json)"
        for name, in_file, in_config in sorted(info["mismatched_keys"])
    ]
    absent = [*sorted(map(str, info["missing_keys"])), *misshaped]
    extra_layers = layers_left(model.state_dict(), map(str, info["unexpected_keys"]))
    if extra_layers:
        raise ModelError(
            f"{opened.model_id}: the weights have layers that config.json does not count, first {extra_layers[0]}; "
            "they belong to another config.json: save both again, from one model"
        )
    if absent:
        raise ModelError(
            f"{opened.model_id}: {len(absent)} weights are missing or of another shape, first {absent[0]}; "
            "the weights are incomplete or belong to another config.json: save both again, from one model"
        )
    if opened.adapter is not None:
        from valuesassets.models.adapters import put_on

        put_on(model, opened.adapter)
    if opened.device != "cpu":
        from valuesassets.models.wide_head import widen_head

        widen_head(model)
    return LoadedModel(opened, model.eval(), first_device(model))


def _open_adapter(model: str, adapter: str, revision: str | None, offline: bool, is_gguf: bool) -> Adapter:
    """The adapter of this name, downloaded if needed; a ModelError for a model that was converted from a GGUF file."""
    if is_gguf:
        raise ModelError(
            f"{model}: comes of a GGUF file, on whose rounded weights no adapter was trained; name the model in "
            f"safetensors that {adapter} was trained on"
        )
    return fetch_adapter(plan_adapter(adapter, revision, offline))


def layers_left(used: Iterable[str], unused: Iterable[str]) -> list[str]:
    """The unused weights that belong to layers beyond the model's own.

    >>> layers_left(["model.layers.0.norm"], ["model.layers.1.norm", "model.layers.0.scale", "vision.layers.1.norm"])
    ['model.layers.1.norm']
    """
    numbered = re.compile(r"(.*?)\.(\d+)\.")
    last: dict[str, int] = {}
    for match in filter(None, map(numbered.match, used)):
        last[match[1]] = max(last.get(match[1], 0), int(match[2]))
    matches = {name: numbered.match(name) for name in unused}
    return sorted(name for name, at in matches.items() if at and at[1] in last and int(at[2]) > last[at[1]])


def choose_dtype(saved: str, device: str) -> str:
    """The dtype of `auto`: half precision on a GPU, the weights' own on a CPU.

    >>> choose_dtype("float32", "cuda:0"), choose_dtype("float16", "cuda:0"), choose_dtype("float32", "cpu")
    ('bfloat16', 'float16', 'float32')
    """
    return saved if device == "cpu" or saved == "float16" else "bfloat16"


def _choose_device(model: str, device: str) -> str:
    """The device to use; `auto` where several GPUs are visible."""
    import torch

    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device.startswith("cuda") and not gpus:
        raise ModelError(f"{model}: device {device} asked for, no GPU is visible; ask for cpu or a GPU node")
    if device in ("auto", "cuda") and gpus:
        return "cuda:0" if gpus == 1 else "auto"
    return "cpu" if device == "auto" else device


@contextlib.contextmanager
def _one_line(model: str, part: str, kind: type[ModelError]) -> Iterator[None]:
    """Turn any error of a library that reads `part` into one line."""
    try:
        yield
    except Exception as error:  # the libraries raise OSError, ValueError, KeyError, RuntimeError and types of their own
        message = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, MemoryError) or "alloc_cpu" in message:
            message = "there is not enough memory for it"
        first_sentence = message.split(". ")[0][:200].removesuffix(".")
        what_to_do = next((advice for sign, advice in _WHAT_TO_DO.items() if sign in message), _WHAT_TO_DO[part])
        raise kind(f"{model}: {part} cannot be read: {first_sentence}; {what_to_do}") from error
