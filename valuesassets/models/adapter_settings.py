"""`LoraSettings`: the settings of a LoRA folder that decide what its tensors add to a base, and where."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import pydantic

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
"""The two files of a LoRA folder."""
TRAINED_WITH = (
    *("peft_type", "peft_version", "task_type", "auto_mapping", "inference_mode", "revision", "runtime_config"),
    *("lora_dropout", "loftq_config", "eva_config", "corda_config", "lora_ga_config", "velora_config", "megatron_core"),
    *("qalora_group_size", "fan_in_fan_out", "bias"),
)
"""Settings that say how an adapter was trained, or what its tensors and its base show by themselves."""
PLAIN_STARTS = (True, False, None, "gaussian", "eva", "orthogonal")
"""Values of `init_lora_weights` that leave the weights of the base as they are."""
LAYER = r".*?\.[^.]*\.(\d+)\."
"""Beginning of a module's name up to the number of its layer."""

Factor = Annotated[float, pydantic.Field(allow_inf_nan=False)]
Rank = Annotated[int, pydantic.Field(ge=1, le=10**6)]
Names = tuple[str, ...] | str | None


class LoraSettings(pydantic.BaseModel):
    """The settings in `adapter_config.json` on which weights depend; others have to be empty, so that none is ignored.

    Names of modules are matched as peft 0.21 matches them.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="allow")

    r: Rank
    lora_alpha: Factor
    target_modules: Names = None
    exclude_modules: Names = None
    modules_to_save: tuple[str, ...] | None = None
    rank_pattern: dict[str, Rank] | None = None
    alpha_pattern: dict[str, Factor] | None = None
    layers_to_transform: tuple[int, ...] | int | None = None
    layers_pattern: Names = None
    use_rslora: bool = False
    use_dora: bool = False
    lora_bias: bool = False
    ensure_weight_tying: bool = False
    init_lora_weights: bool | str | None = True
    base_model_name_or_path: str | None = None

    @pydantic.model_validator(mode="after")
    def _nothing_is_ignored(self) -> "LoraSettings":
        ignored = sorted(name for name, value in (self.model_extra or {}).items() if value and name not in TRAINED_WITH)
        if ignored:
            raise ValueError(
                f"{ignored[0]} is set, which would be ignored here; merge the adapter into its base with peft, and "
                "name the merged model"
            )
        if self.init_lora_weights not in PLAIN_STARTS:
            raise ValueError(
                f"init_lora_weights is {self.init_lora_weights!r}, which changes the base too; save the adapter with "
                "path_initial_model_for_weight_conversion"
            )
        for pattern in self._patterns():
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern[:80]!r} cannot be matched ({error}); save the adapter again") from None
        return self

    def targets(self, module: str) -> bool:
        """Whether a module of this name has low-rank tensors.

        >>> LoraSettings(r=8, lora_alpha=8, target_modules=("q_proj",)).targets("model.layers.0.self_attn.q_proj")
        True
        """
        saved = (rf"(^|.*\.){name}($|\..*)" for name in self.modules_to_save or ())
        if _is_named(module, self.exclude_modules) or any(re.match(pattern, module) for pattern in saved):
            return False
        is_in_full = not isinstance(self.target_modules, str) and module in (self.target_modules or ())
        return is_in_full or (_is_named(module, self.target_modules) and self._is_in_layer(module))

    def rank(self, module: str) -> int:
        """The rank of a module's tensors."""
        return _by_pattern(self.rank_pattern, module, self.r)

    def scale(self, module: str) -> float:
        """The factor of a module's product B A: alpha / r, or alpha / sqrt(r) where its rank is stabilised.

        >>> LoraSettings(r=4, lora_alpha=8, use_rslora=True).scale("lm_head")
        4.0
        """
        rank = self.rank(module)
        return _by_pattern(self.alpha_pattern, module, self.lora_alpha) / (math.sqrt(rank) if self.use_rslora else rank)

    def _is_in_layer(self, module: str) -> bool:
        """Whether a module is in one of the layers that are adapted, which are all where none is named."""
        wanted = self.layers_to_transform
        if wanted is None or wanted == ():
            return True
        named = [rf"(?:^|.*?\.){name}\.(\d+)\." for name in _listed(self.layers_pattern)]
        match = next(filter(None, (re.match(pattern, module) for pattern in named or [LAYER])), None)
        return match is not None and int(match[1]) in ((wanted,) if isinstance(wanted, int) else wanted)

    def _patterns(self) -> list[str]:
        """All that is matched as a regular expression."""
        listed = [*(self.rank_pattern or ()), *(self.alpha_pattern or ()), *(self.modules_to_save or ())]
        whole = [each for each in (self.target_modules, self.exclude_modules) if isinstance(each, str)]
        return [*listed, *whole, *_listed(self.layers_pattern)]


def _is_named(module: str, names: Names) -> bool:
    """Whether one of these names is a module's or its last part; a single text is a regular expression."""
    if isinstance(names, str):
        return bool(names) and re.fullmatch(names, module) is not None
    return any(module == name or module.endswith(f".{name}") for name in names or ())


def _listed(names: Names) -> Iterable[str]:
    return ((names,) if names else ()) if isinstance(names, str) else names or ()


def _by_pattern(values: Mapping[str, Any] | None, module: str, otherwise: Any) -> Any:
    """The value of the first pattern that the end of a module's name matches."""
    matching = (value for pattern, value in (values or {}).items() if re.match(rf"(.*\.)?({pattern})$", module))
    return next(matching, otherwise)
