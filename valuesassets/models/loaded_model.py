"""`OpenedModel` and `LoadedModel`: what is known of a model before and after its weights are loaded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from valuesassets.models.adapter_files import Adapter
from valuesassets.models.chat_templates import ChatTemplate
from valuesassets.models.gguf_folders import GgufOrigin
from valuesassets.models.kept_checks import kept_check
from valuesassets.models.tokenizer_report import report_tokenizer
from valuesassets.records.errors import ModelError
from valuesassets.records.places import named_model
from valuesassets.records.settings.prompting import AS_TEXT, Prompting
from valuesassets.spelling.prompt_tokenizer import PromptTokenizer, describe_tokenizer

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

DTYPES = ("float32", "bfloat16", "float16", "float64")

ROOMS = ("max_position_embeddings", "max_seq_len", "max_sequence_length", "n_positions", "context_length")
"""Settings of configurations that hold the most tokens a model was made for."""
WINDOWS = ("sliding_window", "window_size", "attention_window_size", "attention_chunk_size")
"""Settings of configurations that hold the number of tokens that a layer looks back on."""


@dataclass(frozen=True)
class OpenedModel:
    """A model whose weights are not loaded.

    Attributes:
        model_id: hub id, folder or GGUF file that the user gave.
        revision: commit on the hub; None for a folder.
        weights_id: the commit, the GGUF file's hash, or a hash of the folder, and with an adapter a hash over that and
            the adapter's files; models with equal ids are the same.
        dtype: one of `DTYPES`; never `auto`.
        device: `cpu`, `cuda:0`, or `auto` for layers spread evenly over all visible GPUs.
        prompting, template: how the model is shown trials; no template where they are shown as bare text.
        gguf: the GGUF file that the folder was converted from, if any.
        adapter: the LoRA adapter that is put on the weights when they are loaded, if any.
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
    adapter: Adapter | None = None

    @cached_property
    def control_texts(self) -> tuple[str, ...]:
        """The texts of the tokens that steer the model: special tokens, and tokens that the template uses."""
        return self.tokenizer.control_texts(self.template.source if self.template else "")

    @property
    def has_template(self) -> bool:
        """Whether the tokenizer has a chat template, used or not."""
        try:
            return bool(self.tokenizer.hf.get_chat_template())
        except ValueError:  # there is none, or there are several without a default
            return False

    @cached_property
    def bare(self) -> "OpenedModel":
        """The model as it is shown bare text, which begins as its tokenizer's own template begins one."""
        if not self.prompting.is_chat:
            return self
        tokenizer = describe_tokenizer(self.tokenizer.hf, self.tokenizer.name, self.config.get_text_config().vocab_size)
        return replace(self, tokenizer=tokenizer, prompting=AS_TEXT, template=None)

    def template_in(self, language: str) -> ChatTemplate | None:
        """The chat template with what the system says in a language."""
        if self.template is None or (prompting := self.prompting.in_language(language)) == self.template.prompting:
            return self.template
        return self._templates.setdefault(language, replace(self.template, prompting=prompting))

    @cached_property
    def _templates(self) -> dict[str, ChatTemplate]:
        """The chat template in further languages, so that each is prepared once."""
        return {}

    @property
    def window(self) -> int | None:
        """The smallest number of tokens that a layer looks back on; None where all layers see everything."""
        return self.least_setting(WINDOWS)

    def least_setting(self, names: Sequence[str]) -> int | None:
        """The smallest of these settings that are numbers above 0; None where there is none."""
        config = self.config.get_text_config()
        values = (getattr(config, name, None) for name in names)
        return min((number for number in values if isinstance(number, int) and number > 0), default=None)

    def describe(self) -> dict[str, Any]:
        """The model's description for a file's metadata; `bos` lists the tokens that begin every prompt.

        It has `prompting` where the model is asked in a chat, whose template begins prompts instead of `bos`, or behind
        a preamble; `gguf` and `quantisation` where the model was converted from a GGUF file; and `adapter` and what it
        is with one.
        """
        source = {"gguf": self.gguf.describe(), "quantisation": self.gguf.caution(self.dtype)} if self.gguf else {}
        chat = {"template_sha256": self.template.sha256} if self.template else {}
        if self.template or self.prompting.preamble is not None:
            chat = self.prompting.model_dump(mode="json") | chat
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
            | source
            | (self.adapter.describe() if self.adapter else {})
        )

    @property
    def cautions(self) -> list[str]:
        """What a person should know of how the model was put together: text that its template adds, another base."""
        template = self.template.caution if self.template else None
        adapter = self.adapter.caution(self.model_id) if self.adapter else None
        return [*filter(None, (template, adapter))]


@dataclass(frozen=True)
class LoadedModel:
    """A model with its weights, in evaluation mode; `device` is that of its first layer, which takes token ids."""

    opened: OpenedModel
    model: "PreTrainedModel"
    device: str

    def __str__(self) -> str:
        return f"{self.model_id} ({self.opened.dtype}, {self.device})"

    @property
    def model_id(self) -> str:
        """The opened model's `model_id`."""
        return self.opened.model_id

    @property
    def tokenizer(self) -> PromptTokenizer:
        """The opened model's tokenizer."""
        return self.opened.tokenizer

    @cached_property
    def named_eos_ids(self) -> frozenset[int]:
        """Every token that ends a text by generation settings, configuration, tokenizer or chat template."""
        holders = (getattr(self.model, "generation_config", None), self.opened.config, self.tokenizer.hf)
        values = (getattr(holder, "eos_token_id", None) for holder in holders)
        listed = [ids if isinstance(ids, list) else [ids] for ids in values]
        listed += [list(self.opened.template.turn_ends)] if self.opened.template else []
        candidates = [i for ids in listed for i in ids if i is not None]
        if no_ids := [i for i in candidates if type(i) is not int]:
            raise ModelError(
                f"{self.model_id}: {no_ids[0]!r} stands as eos_token_id in its config.json or generation_config.json, "
                "ids of tokens were expected; download them again"
            )
        return frozenset(candidates)

    @cached_property
    def eos_ids(self) -> frozenset[int]:
        """The tokens that end a text, without those beyond the embedding, which the model cannot give."""
        return frozenset(filter(self.tokenizer.is_embedded, self.named_eos_ids))

    @cached_property
    def tree_fault(self) -> str | None:
        """Why this architecture cannot read token trees, in words; None where a trial shows that it can."""
        from valuesassets.models.engine import find_tree_fault

        return self._try_once("tree", lambda: find_tree_fault(self.model))

    @cached_property
    def padding_fault(self) -> str | None:
        """Why rows cannot be padded on the left, in words; None where a trial shows that they can."""
        from valuesassets.models.rows_in_flight import find_padding_fault

        return self._try_once("padding", lambda: find_padding_fault(self.model))

    @cached_property
    def mixing_fault(self) -> str | None:
        """Why rows of equal length cannot share a batch, in words; None where a trial shows that they can."""
        from valuesassets.models.rows_in_flight import find_mixing_fault

        return self._try_once("mixing", lambda: find_mixing_fault(self.model))

    @cached_property
    def cache_fault(self) -> str | None:
        """Why the cache cannot be cropped and read beside, in words; None where a trial shows that it can."""
        from valuesassets.models.cached_text import find_cache_fault

        return self._try_once("cache", lambda: find_cache_fault(self.model))

    @cached_property
    def fork_fault(self) -> str | None:
        """Why text cannot be read on copies of the cache, in words; None where a trial shows that it can."""
        from valuesassets.models.forked_text import find_fork_fault

        window, room = self.opened.window, self.opened.least_setting(ROOMS)
        return self._try_once("fork", lambda: find_fork_fault(self.model, window, room))

    @cached_property
    def prefix_fault(self) -> str | None:
        """Why trees cannot be read beside a cached prefix, in words; None where a trial shows that they can."""
        from valuesassets.models.kept_prefixes import find_prefix_fault

        return self._try_once("prefix", lambda: find_prefix_fault(self.model))

    @cached_property
    def tree_window_fault(self) -> str | None:
        """Why trees larger than the window cannot be read, in words; None where a trial shows that they can."""
        from valuesassets.models.window_trial import find_window_fault, read_in_tree

        return self._try_once("tree window", lambda: find_window_fault(self.model, read_in_tree))

    @cached_property
    def prefix_window_fault(self) -> str | None:
        """Why a cached prefix and trees cannot exceed the window together; None where a trial shows that they can."""
        from valuesassets.models.window_trial import find_window_fault, read_beside_prefix

        return self._try_once("prefix window", lambda: find_window_fault(self.model, read_beside_prefix))

    @cached_property
    def text_window_fault(self) -> str | None:
        """Why text beside a cached text cannot exceed the window; None where a trial shows that it can."""
        from valuesassets.models.window_trial import find_window_fault, read_beside_text

        return self._try_once("text window", lambda: find_window_fault(self.model, read_beside_text))

    def _try_once(self, name: str, find_fault: Callable[[], str | None]) -> str | None:
        """Try the architecture for a fault; a trial that this model passed before is not repeated."""
        import torch

        config = self.model.config
        conditions = {"weights_id": self.opened.weights_id, "dtype": self.opened.dtype, "devices": self.devices}
        conditions["gpus"] = [torch.cuda.get_device_name(place) for place in self.devices if place.startswith("cuda")]
        conditions |= {"config": config.to_json_string(use_diff=False), "attention": config._attn_implementation}
        return kept_check(name, conditions | self._arithmetic, find_fault)

    @property
    def devices(self) -> list[str]:
        """The devices of its layers; several where it is spread."""
        places = getattr(self.model, "hf_device_map", {}).values()
        return sorted({f"cuda:{place}" if isinstance(place, int) else str(place) for place in places}) or [self.device]

    @property
    def _arithmetic(self) -> dict[str, Any]:
        """How a GPU rounds within a product; empty on a CPU, which has no such settings."""
        import torch

        products = torch.backends.cuda.matmul
        halves = products.allow_bf16_reduced_precision_reduction or products.allow_fp16_reduced_precision_reduction
        return {} if self.device == "cpu" else {"tf32": products.allow_tf32, "sums_in_half_precision": bool(halves)}

    @cached_property
    def tokenizer_report(self) -> dict[str, Any]:
        """How the tokenizer cuts prompts and answers (`report_tokenizer`), and any text that the template adds."""
        report, template = report_tokenizer(self.tokenizer, self.named_eos_ids), self.opened.template
        return report | ({"own_system": template.own_system} if template and template.own_system else {})

    def describe(self) -> dict[str, Any]:
        """The description of the model, its devices and its tokenizer, for a file's metadata."""
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
