"""LoRA folders and merged models as peft writes them: what ours are held against."""

import shutil
import warnings
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": ("llama", {"target_modules": ["q_proj", "v_proj", "down_proj"]}),
    "ranks and alphas by pattern": (
        "llama",
        {
            "target_modules": ["q_proj", "v_proj", "down_proj"],
            "rank_pattern": {"v_proj": 2, r"layers\.1\.mlp\.down_proj": 6},
            "alpha_pattern": {"q_proj": 16, "model.layers.0.self_attn.v_proj": 3},
        },
    ),
    "stabilised ranks": ("llama", {"target_modules": ["q_proj", "o_proj"], "use_rslora": True}),
    "DoRA": ("llama", {"target_modules": ["q_proj", "embed_tokens", "up_proj"], "use_dora": True}),
    "embeddings and saved modules": (
        "llama",
        {"target_modules": ["q_proj", "embed_tokens"], "modules_to_save": ["lm_head", "norm"]},
    ),
    "some layers": ("llama", {"target_modules": ["q_proj", "v_proj"], "layers_to_transform": [1]}),
    "a pattern but for some": ("llama", {"target_modules": r".*\.(q|up)_proj", "exclude_modules": r".*layers\.0.*"}),
    "Conv1D": ("gpt2", {"target_modules": ["c_attn", "c_proj"], "fan_in_fan_out": True}),
    "Conv1D with DoRA": ("gpt2", {"target_modules": ["c_attn"], "fan_in_fan_out": True, "use_dora": True}),
    "all biases": ("gpt2", {"target_modules": ["c_fc"], "fan_in_fan_out": True, "bias": "all"}),
    "biases of its layers": ("qwen2", {"target_modules": ["q_proj", "k_proj"], "bias": "lora_only"}),
    "biases of its tensors": ("qwen2", {"target_modules": ["q_proj"], "lora_bias": True}),
}
"""An architecture and peft's settings, by what is special about them."""


def write_adapter(folder: Path, base: Path, size: float = 0.05, seed: int = 0, **settings: Any) -> Path:
    """A LoRA folder for a base, whose trained numbers are off their beginnings by a normal distribution."""
    from peft import LoraConfig, get_peft_model

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peft's advice on embeddings
        given = {"r": 4, "lora_alpha": 8, "task_type": "CAUSAL_LM"} | settings
        model = get_peft_model(AutoModelForCausalLM.from_pretrained(base), LoraConfig(**given))
        torch.manual_seed(seed)
        with torch.no_grad():
            for weights in filter(lambda each: each.requires_grad, model.parameters()):
                weights.add_(size * torch.randn_like(weights))
        model.save_pretrained(folder)
    return folder


def open_with_peft(base: Path, adapter: Path) -> Any:
    """The model as peft runs it, its adapter beside the weights."""
    from peft import PeftModel

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), str(adapter)).eval()


def merge_with_peft(folder: Path, base: Path, adapter: Path) -> Path:
    """A folder with the model that peft makes of a base and an adapter, as people save it."""
    shutil.copytree(base, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        open_with_peft(base, adapter).merge_and_unload().save_pretrained(str(folder))
    return folder
