"""GGUF files of tiny models, written by the format's own library from folders of safetensors."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from safetensors.numpy import load_file

NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
ENDS = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
PLAIN, CONTROL = 1, 3
TEMPLATE = (
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)


def write_gguf(
    path: Path,
    folder: Path,
    quantised: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.F32,
    told: Mapping[str, Any] | None = None,
    tensors: Mapping[str, np.ndarray] | None = None,
    architecture: str = "llama",
    parts: int = 1,
    change: Callable[[dict[str, np.ndarray]], object] = lambda _: None,
) -> Path:
    """A folder's model (Llama, byte-level tokenizer) as a GGUF file, or as parts beside each other; gives the first.

    Args:
        told: entries of metadata to add or, where None, to leave out.
        tensors: to add.
        change: what is done to the tensors before they are written.
    """
    config = json.loads((folder / "config.json").read_text())
    held = {**_tensors(folder, config), **(tensors or {})}
    change(held)
    entries = _entries(folder, config, architecture, quantised) | dict(told or {})
    names = sorted(held)
    groups = [names[number::parts] for number in range(parts)]
    paths = [path if parts == 1 else path.with_name(f"{path.stem}-{n + 1:05}-of-{parts:05}.gguf") for n in range(parts)]
    for number, (group, place) in enumerate(zip(groups, paths, strict=True)):
        writer = gguf.GGUFWriter(place, architecture)
        of_part = entries if number == 0 else {}
        if parts > 1:
            of_part = of_part | {"split.no": number, "split.count": parts, "split.tensors.count": len(names)}
        for key, value in of_part.items():
            _add(writer, key, value)
        for name in group:
            _add_tensor(writer, name, held[name], quantised)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    return paths[0]


def _tensors(folder: Path, config: dict[str, Any]) -> dict[str, np.ndarray]:
    found = {}
    for name, values in load_file(folder / "model.safetensors").items():
        stem = name.removesuffix(".weight")
        if stem in ENDS:
            found[f"{ENDS[stem]}.weight"] = values
            continue
        _, _, layer, part = stem.split(".", 3)
        heads = {"self_attn.q_proj": "num_attention_heads", "self_attn.k_proj": "num_key_value_heads"}.get(part)
        found[f"blk.{layer}.{NAMES[part]}.weight"] = _rotated(values, config[heads]) if heads else values
    return found


def _rotated(values: np.ndarray, heads: int) -> np.ndarray:
    """Rows as llama.cpp turns them: pairs side by side, where transformers has them half a head apart."""
    return (
        values.reshape(heads, 2, values.shape[0] // heads // 2, *values.shape[1:]).swapaxes(1, 2).reshape(values.shape)
    )


def _entries(
    folder: Path, config: dict[str, Any], architecture: str, quantised: gguf.GGMLQuantizationType
) -> dict[str, Any]:
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    added = {each["content"]: each["id"] for each in tokenizer["added_tokens"]}
    vocabulary = tokenizer["model"]["vocab"] | added
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    theta = config["rope_parameters"]["rope_theta"]
    kinds = {"F32": 0, "F16": 1, "Q8_0": 7, "Q4_0": 2}
    return {
        "general.file_type": kinds[quantised.name],
        f"{architecture}.context_length": config["max_position_embeddings"],
        f"{architecture}.embedding_length": config["hidden_size"],
        f"{architecture}.block_count": config["num_hidden_layers"],
        f"{architecture}.feed_forward_length": config["intermediate_size"],
        f"{architecture}.rope.dimension_count": config["hidden_size"] // config["num_attention_heads"],
        f"{architecture}.rope.freq_base": float(theta),
        f"{architecture}.attention.head_count": config["num_attention_heads"],
        f"{architecture}.attention.head_count_kv": config["num_key_value_heads"],
        f"{architecture}.attention.layer_norm_rms_epsilon": config["rms_norm_eps"],
        f"{architecture}.vocab_size": len(tokens),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [CONTROL if token in added else PLAIN for token in tokens],
        "tokenizer.ggml.merges": [" ".join(pair) for pair in tokenizer["model"]["merges"]],
        "tokenizer.ggml.eos_token_id": added["<|endoftext|>"],
        "tokenizer.ggml.bos_token_id": added["<|endoftext|>"],
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": TEMPLATE,
    }


def _add(writer: gguf.GGUFWriter, key: str, value: Any) -> None:
    match value:
        case None:
            return
        case bool():
            writer.add_bool(key, value)
        case int():
            writer.add_uint32(key, value)
        case float():
            writer.add_float32(key, value)
        case str():
            writer.add_string(key, value)
        case _:
            writer.add_array(key, value)


def _add_tensor(writer: gguf.GGUFWriter, name: str, values: np.ndarray, kind: gguf.GGMLQuantizationType) -> None:
    block = gguf.GGML_QUANT_SIZES[kind][0]
    if values.ndim < 2 or values.shape[-1] % block:
        kind = gguf.GGMLQuantizationType.F32
    if kind == gguf.GGMLQuantizationType.F32:
        writer.add_tensor(name, np.ascontiguousarray(values, np.float32))
    else:
        writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
