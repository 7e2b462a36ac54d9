"""Models from a local folder or the hub: safetensors only, no code of theirs, tokenizer held against the weights."""

import contextlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from valuesassets.models.chat_templates import ChatTemplate, read_template
from valuesassets.models.gguf_folders import GgufOrigin
from valuesassets.models.gguf_folders import weights_id as id_of_converted
from valuesassets.models.kept_checks import kept_check
from valuesassets.models.memory import find_single_gpu, require_memory, require_on_gpus
from valuesassets.models.model_files import hash_folder, require_sound_settings
from valuesassets.models.tokenizer_files import read_tokenizer
from valuesassets.models.tokenizer_report import report_tokenizer
from valuesassets.records.errors import ModelError, TokenizerError
from valuesassets.records.places import named_model
from valuesassets.records.settings.prompting import AS_TEXT, Prompting
from valuesassets.records.trials import BosRule
from valuesassets.spelling.prompt_tokenizer import PromptTokenizer, describe_tokenizer, require_plain

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

DTYPES = ("float32", "bfloat16", "float16", "float64")

ROOMS = ("max_position_embeddings", "max_seq_len", "max_sequence_length", "n_positions", "context_length")
"""What configurations call the length of the longest text that a model was made for."""

WINDOWS = ("sliding_window", "window_size", "attention_window_size", "attention_chunk_size")
"""What configurations call the number of tokens that a layer looks back on."""

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
"""By words of a library's message; else by the part of the model that it could not read."""


@dataclass(frozen=True)
class OpenedModel:
    """What is known of a model before its weights are read.

    Attributes:
        model_id: hub id, folder or GGUF file as given.
        folder: with all of its files, on this machine.
        revision: commit of the hub; None for a folder.
        weights_id: the commit, the hash of the GGUF file, or one over the folder's weights and configuration: the same
            id, the same model.
        dtype: one of `DTYPES`; what `auto` came to.
        device: `cpu`, `cuda:0`, or `auto` for layers spread evenly over all visible GPUs.
        prompting: how it is shown trials.
        template: what a chat is rendered by; None where trials are shown as bare text.
        gguf: the file that the folder was made from, where it was.
    """

    model_id: str
    folder: Path
    revision: str | None
    weights_id: str
    config: "PretrainedConfig"
    tokenizer: PromptTokenizer
    dtype: str
    device: str = "cpu"
    prompting: Prompting = AS_TEXT
    template: ChatTemplate | None = None
    gguf: GgufOrigin | None = None

    @cached_property
    def control_texts(self) -> tuple[str, ...]:
        """The tokens that steer the model, as text: the special ones, and those that the template uses."""
        return self.tokenizer.control_texts(self.template.source if self.template else "")

    @property
    def has_template(self) -> bool:
        """Whether a chat template comes with the tokenizer, whether or not it is used."""
        try:
            return bool(self.tokenizer.hf.get_chat_template())
        except ValueError:  # there is none, or several of which none is the default
            return False

    @cached_property
    def bare(self) -> "OpenedModel":
        """The model as it is shown bare text, begun as its tokenizer's own template begins one."""
        if not self.prompting.is_chat:
            return self
        tokenizer = describe_tokenizer(self.tokenizer.hf, self.tokenizer.name, self._rows)
        return replace(self, tokenizer=tokenizer, prompting=AS_TEXT, template=None)

    @property
    def _rows(self) -> int:
        return self.config.get_text_config().vocab_size

    @property
    def window(self) -> int | None:
        """The least number of tokens that one of its layers looks back on; None where all see everything."""
        return self.least_setting(WINDOWS)

    def least_setting(self, names: Sequence[str]) -> int | None:
        """The least of those settings of the architecture that are numbers above 0; None where there is none."""
        config = self.config.get_text_config()
        found = (getattr(config, name, None) for name in names)
        return min((number for number in found if isinstance(number, int) and number > 0), default=None)

    def describe(self) -> dict[str, Any]:
        """What names the model, as it goes into a file's metadata; `bos` lists the tokens that begin every prompt.

        `prompting` stands there where it is asked in a chat, whose template begins prompts in place of `bos`; `gguf`
        and `quantisation` where it was made from a GGUF file.
        """
        made_of = {"gguf": self.gguf.describe(), "quantisation": self.gguf.said(self.dtype)} if self.gguf else {}
        chat = self.template and self.prompting.model_dump(mode="json") | {"template_sha256": self.template.sha256}
        return (
            {
                "model": named_model(self.model_id),
                "revision": self.revision,
                "weights_id": self.weights_id,
                "tokenizer_sha256": self.tokenizer.sha256,
                "bos": self.tokenizer.hf.convert_ids_to_tokens(list(self.tokenizer.bos)),
                "dtype": self.dtype,
            }
            | ({"prompting": chat} if chat else {})
            | made_of
        )


@dataclass(frozen=True)
class LoadedModel:
    """A model in evaluation mode; token ids go to `device`, that of its first layer."""

    opened: OpenedModel
    model: "PreTrainedModel"
    device: str

    def __str__(self) -> str:
        return f"{self.model_id} ({self.opened.dtype}, {self.device})"

    @property
    def model_id(self) -> str:
        """As opened."""
        return self.opened.model_id

    @property
    def tokenizer(self) -> PromptTokenizer:
        """As opened."""
        return self.opened.tokenizer

    @cached_property
    def named_eos_ids(self) -> frozenset[int]:
        """Every token that ends a text, by generation settings, configuration, tokenizer and chat template."""
        holders = (getattr(self.model, "generation_config", None), self.opened.config, self.tokenizer.hf)
        named = (getattr(holder, "eos_token_id", None) for holder in holders)
        listed = [ids if isinstance(ids, list) else [ids] for ids in named]
        listed += [list(self.opened.template.turn_ends)] if self.opened.template else []
        found = [i for ids in listed for i in ids if i is not None]
        if other := [i for i in found if type(i) is not int]:
            raise ModelError(
                f"{self.model_id}: {other[0]!r} stands as eos_token_id in its config.json or generation_config.json, "
                "ids of tokens were expected; download them again"
            )
        return frozenset(found)

    @cached_property
    def eos_ids(self) -> frozenset[int]:
        """The tokens that end a text, but for those beyond the embedding, which the model cannot say."""
        return frozenset(filter(self.tokenizer.is_embedded, self.named_eos_ids))

    @cached_property
    def tree_fault(self) -> str | None:
        """Why this architecture cannot read token trees, in words; None where it can. Found by trying."""
        from valuesassets.models.engine import find_tree_fault

        return self._tried("tree", lambda: find_tree_fault(self.model))

    @cached_property
    def padding_fault(self) -> str | None:
        """Why rows cannot be padded on the left, in words; None where they can. Found by trying."""
        from valuesassets.models.rows_in_flight import find_padding_fault

        return self._tried("padding", lambda: find_padding_fault(self.model))

    @cached_property
    def mixing_fault(self) -> str | None:
        """Why rows of one length cannot go together, in words; None where they can. Found by trying."""
        from valuesassets.models.rows_in_flight import find_mixing_fault

        return self._tried("mixing", lambda: find_mixing_fault(self.model))

    @cached_property
    def cache_fault(self) -> str | None:
        """Why this architecture's cache cannot be cropped and read beside, in words; None where it can."""
        from valuesassets.models.cached_text import find_cache_fault

        return self._tried("cache", lambda: find_cache_fault(self.model))

    @cached_property
    def fork_fault(self) -> str | None:
        """Why copies of this architecture's cache cannot be read on, in words; None where they can. Found by trying."""
        from valuesassets.models.forked_text import find_fork_fault

        window, room = self.opened.window, self.opened.least_setting(ROOMS)
        return self._tried("fork", lambda: find_fork_fault(self.model, window, room))

    @cached_property
    def prefix_fault(self) -> str | None:
        """Why this architecture cannot read trees beside a kept prefix, in words; None where it can."""
        from valuesassets.models.kept_prefixes import find_prefix_fault

        return self._tried("prefix", lambda: find_prefix_fault(self.model))

    @cached_property
    def tree_window_fault(self) -> str | None:
        """Why trees that exceed its window cannot be read, in words; None where they can. Found by trying."""
        from valuesassets.models.window_trial import find_window_fault, read_in_tree

        return self._tried("tree window", lambda: find_window_fault(self.model, read_in_tree))

    @cached_property
    def prefix_window_fault(self) -> str | None:
        """Why a kept prefix and trees that exceed its window together cannot be read; None where they can."""
        from valuesassets.models.window_trial import find_window_fault, read_beside_prefix

        return self._tried("prefix window", lambda: find_window_fault(self.model, read_beside_prefix))

    @cached_property
    def text_window_fault(self) -> str | None:
        """Why what stands beside a cached text that exceeds its window cannot be read; None where it can."""
        from valuesassets.models.window_trial import find_window_fault, read_beside_text

        return self._tried("text window", lambda: find_window_fault(self.model, read_beside_text))

    def _tried(self, name: str, find_fault: Callable[[], str | None]) -> str | None:
        """A fault of the architecture, found by trying; what passed for this very model is not tried again."""
        config = self.model.config
        asked = {"weights_id": self.opened.weights_id, "dtype": self.opened.dtype, "devices": self.devices}
        asked["gpus"] = self._gpus
        asked |= {"config": config.to_json_string(use_diff=False), "attention": config._attn_implementation}
        return kept_check(name, asked | self._arithmetic, find_fault)

    @property
    def devices(self) -> list[str]:
        """Where its layers are: several where it is spread."""
        places = getattr(self.model, "hf_device_map", {}).values()
        return sorted({f"cuda:{place}" if isinstance(place, int) else str(place) for place in places}) or [self.device]

    @property
    def _gpus(self) -> list[str]:
        """What kinds of GPU its layers are on, by their makers' names."""
        import torch

        return [torch.cuda.get_device_name(place) for place in self.devices if place.startswith("cuda")]

    @property
    def _arithmetic(self) -> dict[str, Any]:
        """What a GPU rounds to within a product; nothing on a CPU, which has no choice."""
        import torch

        products = torch.backends.cuda.matmul
        halves = products.allow_bf16_reduced_precision_reduction or products.allow_fp16_reduced_precision_reduction
        return {} if self.device == "cpu" else {"tf32": products.allow_tf32, "sums_in_half_precision": bool(halves)}

    @cached_property
    def tokenizer_report(self) -> dict[str, Any]:
        """See `report_tokenizer`."""
        report, template = report_tokenizer(self.tokenizer, self.named_eos_ids), self.opened.template
        return report | ({"own_system": template.own_system} if template and template.own_system else {})

    def describe(self) -> dict[str, Any]:
        """What names the model and tells its tokenizer's habits, as it goes into a file's metadata."""
        return (
            self.opened.describe()
            | self._arithmetic
            | {
                "device": self.device,
                "devices": self.devices,
                "n_parameters": sum(weights.numel() for weights in self.model.parameters()),
                "tokenizer_report": self.tokenizer_report,
            }
        )


def load_model(
    model: str, revision: str | None = None, dtype: str = "auto", device: str = "auto", offline: bool = False
) -> LoadedModel:
    """A model ready to be read, from a local folder, a hub id or a GGUF file; arguments and errors as `open_model`."""
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
) -> OpenedModel:
    """Configuration and tokenizer of a model, its weights only hashed: enough to tell which readings are known.

    What this machine lacks of a hub model is downloaded first; a commit that is whole in its cache asks nobody. A GGUF
    file is converted where it was not before.

    Args:
        revision: commit, branch or tag of the hub.
        dtype: one of `DTYPES`; `auto` is bfloat16 on a GPU (float16 where the weights are), the weights' own on a CPU.
        device: `cpu`, `cuda`, `cuda:1`; `auto` takes GPUs where there are any: one that is large enough, else all of
            them, which share the layers.
        offline: take hub models from the cache on this machine only.
        bos: what begins a prompt that is shown as bare text.
        prompting: how trials are shown; in a chat, what its template renders is all there is.
        say: is called with lines on how far a conversion is.

    Raises:
        ModelError: folder, configuration or weights are absent, unsafe or broken, or the hub does not answer.
        TokenizerError: the tokenizer is absent or does not fit the model, its chat template cannot be used, or
            `system` holds a control token.
    """
    from transformers import AutoConfig
    from transformers.utils import logging

    from valuesassets.models.model_sources import fetch_model, plan_model

    logging.disable_progress_bar()  # errors are one line on stderr: nothing else goes there
    logging.set_verbosity_error()
    there = fetch_model(plan_model(model, revision, offline), say=say)
    require_sound_settings(there.folder)
    with _one_line(model, "configuration", ModelError):
        config = AutoConfig.from_pretrained(there.folder, local_files_only=True, trust_remote_code=False)
    with _one_line(model, "tokenizer", TokenizerError):
        hf = read_tokenizer(there.folder)
    begun = "never" if prompting.is_chat else bos
    tokenizer = describe_tokenizer(hf, model, config.get_text_config().vocab_size, begun)
    template = read_template(hf, model, prompting)
    weights_id = there.commit or (id_of_converted(there.gguf.sha256) if there.gguf else hash_folder(there.folder))
    place = _choose_device(model, device)
    own = str(getattr(config, "dtype", None) or "float32").removeprefix("torch.")
    chosen = choose_dtype(own, place) if dtype == "auto" else dtype
    if chosen not in DTYPES:
        raise ModelError(f"{model}: dtype {chosen}; one of {', '.join(DTYPES[:3])} was expected; ask for one of them")
    if place == "auto":
        place = find_single_gpu(there.folder, chosen) or place
    opened = OpenedModel(
        model, there.folder, there.commit, weights_id, config, tokenizer, chosen, place, prompting, template, there.gguf
    )
    require_plain(f"{model}: system", opened.control_texts, [prompting.system or ""])
    return opened


def load_weights(opened: OpenedModel) -> LoadedModel:
    """The weights of an opened model, on its device or over all GPUs.

    Raises:
        ModelError: weights absent, broken, incomplete, or more than the memory holds; of several GPUs, without the
            machine's own.
    """
    import torch
    from transformers import AutoModelForCausalLM

    from valuesassets.models.engine import first_device

    require_memory(opened)
    dtype: torch.dtype = getattr(torch, opened.dtype)
    with _one_line(opened.model_id, "weights", ModelError):
        loading: Any = AutoModelForCausalLM.from_pretrained(
            opened.folder,
            config=opened.config,
            dtype=dtype,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # named below, in one line
            **({} if opened.device == "cpu" else {"device_map": opened.device.replace("auto", "balanced")}),
        )
    model, info = loading
    if opened.device != "cpu":
        from valuesassets.models.wide_head import widen_head

        widen_head(model)
    if opened.device == "auto":
        require_on_gpus(opened, getattr(model, "hf_device_map", {"": model.device.type}))
    other = [
        f"{name} ({'x'.join(map(str, found))} in the file, {'x'.join(map(str, wanted))} by config.json)"
        for name, found, wanted in sorted(info["mismatched_keys"])
    ]
    absent = [*sorted(map(str, info["missing_keys"])), *other]
    left = layers_left(model.state_dict(), map(str, info["unexpected_keys"]))
    if left:
        raise ModelError(
            f"{opened.model_id}: the weights have layers that config.json does not count, first {left[0]}; they belong "
            "to another config.json: save both again, from one model"
        )
    if absent:
        raise ModelError(
            f"{opened.model_id}: {len(absent)} weights are missing or of another shape, first {absent[0]}; "
            "the weights are incomplete or belong to another config.json: save both again, from one model"
        )
    return LoadedModel(opened, model.eval(), first_device(model))


def layers_left(own: Iterable[str], unused: Iterable[str]) -> list[str]:
    """Of weights that a model has no place for, those of layers that come after its own.

    >>> layers_left(["model.layers.0.norm"], ["model.layers.1.norm", "model.layers.0.scale", "vision.layers.1.norm"])
    ['model.layers.1.norm']
    """
    numbered = re.compile(r"(.*?)\.(\d+)\.")
    last: dict[str, int] = {}
    for found in filter(None, map(numbered.match, own)):
        last[found[1]] = max(last.get(found[1], 0), int(found[2]))
    found = {name: numbered.match(name) for name in unused}
    return sorted(name for name, at in found.items() if at and at[1] in last and int(at[2]) > last[at[1]])


def choose_dtype(own: str, device: str) -> str:
    """The dtype of `auto`: half the memory on a GPU, whatever the weights were saved in; the weights' own on a CPU.

    >>> choose_dtype("float32", "cuda:0"), choose_dtype("float16", "cuda:0"), choose_dtype("float32", "cpu")
    ('bfloat16', 'float16', 'float32')
    """
    return own if device == "cpu" or own == "float16" else "bfloat16"


def _choose_device(model: str, device: str) -> str:
    """The device that was asked for: `auto` where several GPUs are visible."""
    import torch

    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device.startswith("cuda") and not gpus:
        raise ModelError(f"{model}: device {device} asked for, no GPU is visible; ask for cpu or a GPU node")
    if device in ("auto", "cuda") and gpus:
        return "cuda:0" if gpus == 1 else "auto"
    return "cpu" if device == "auto" else device


@contextlib.contextmanager
def _one_line(model: str, part: str, kind: type[ModelError]) -> Iterator[None]:
    """Whatever a library raises while it reads `part`, as one line of ours."""
    try:
        yield
    except Exception as error:  # the libraries raise OSError, ValueError, KeyError, RuntimeError and types of their own
        said = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, MemoryError) or "alloc_cpu" in said:
            said = "there is not enough memory for it"
        first_sentence = said.split(". ")[0][:200].removesuffix(".")
        what_to_do = next((advice for sign, advice in _WHAT_TO_DO.items() if sign in said), _WHAT_TO_DO[part])
        raise kind(f"{model}: {part} cannot be read: {first_sentence}; {what_to_do}") from error
