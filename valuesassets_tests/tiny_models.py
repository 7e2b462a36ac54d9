"""Folders of tiny random models with real tokenizers: what a model folder is, in a tenth of a second."""

import math
from collections.abc import Mapping
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from valuesassets.models.reference_tokenizer import train_tokenizer
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.trials import Trial

PROMPTS = [
    "How important is work in your life?\n1. Very important\n2. Rather important\n3. Not very\n4. Not at all\nAnswer:",
    "Wie wichtig ist Gott in Ihrem Leben?\n1. überhaupt nicht\n2.\n3.\n9.\n10. sehr wichtig\nAntwort:",
    "Τι λέτε για την εμπιστοσύνη;\n1. Ναι\n2. Όχι\nΑπάντηση:",
]


NEVER = 1e-9
"""Probability of what a model of bigrams does not say."""


def sentencepiece_like(prompts: list[str] = PROMPTS) -> PreTrainedTokenizerBase:
    """` 1` is two tokens, `10` is two tokens."""
    return train_tokenizer(prompts, vocabulary=300)


def byte_level(prompts: list[str] = PROMPTS, size: int = 700) -> PreTrainedTokenizerBase:
    """` 1` and `10` are one token each; no beginning-of-text token. At a size of 257 every byte is one token."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    numbers = [f"{lead}{n}\n\nx" for n in range(100) for lead in ("", " ")] * 20
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([*prompts, *numbers], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|endoftext|>", clean_up_tokenization_spaces=False
    )


_ATTENTION = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 1024,
}
_HEADS_OF_EIGHT = _ATTENTION | {"head_dim": 8, "query_pre_attn_scalar": 8}
_GPT = {"n_embd": 32, "n_inner": 48, "n_layer": 2, "n_head": 4, "n_positions": 1024}
_ALTERNATING = {"layer_types": ["sliding_attention", "full_attention"]}

ARCHITECTURES: dict[str, dict[str, object]] = {
    "llama": {"model_type": "llama"} | _ATTENTION,
    "mistral": {"model_type": "mistral", "sliding_window": None, "head_dim": 8} | _ATTENTION,
    "qwen2": {"model_type": "qwen2"} | _ATTENTION,
    "qwen3": {"model_type": "qwen3", "head_dim": 8} | _ATTENTION,
    "gemma": {"model_type": "gemma", "head_dim": 8} | _ATTENTION,
    "gemma2": {"model_type": "gemma2", "sliding_window": 4096} | _HEADS_OF_EIGHT | _ALTERNATING,
    "gemma3": {"model_type": "gemma3_text", "sliding_window": 4096} | _HEADS_OF_EIGHT | _ALTERNATING,
    "gpt2": {"model_type": "gpt2"} | _GPT,
    "mistral with a window": {"model_type": "mistral", "sliding_window": 16, "head_dim": 8} | _ATTENTION,
    "gemma2 with a window": {"model_type": "gemma2", "sliding_window": 16} | _HEADS_OF_EIGHT | _ALTERNATING,
}
"""Settings of tiny models whose positions and mask may be given for each token: a tree can be read in one pass."""

_EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
WINDOWED: dict[str, dict[str, object]] = {
    "gemma3, one in six": {"model_type": "gemma3_text", "sliding_window": 16}
    | _HEADS_OF_EIGHT
    | {"num_hidden_layers": 6, "layer_types": ["sliding_attention"] * 5 + ["full_attention"]},
    "qwen2, alternating": {"model_type": "qwen2", "sliding_window": 16, "use_sliding_window": True}
    | _ATTENTION
    | _ALTERNATING,
    "qwen3, every layer": {"model_type": "qwen3", "sliding_window": 16, "use_sliding_window": True, "head_dim": 8}
    | _ATTENTION
    | {"layer_types": ["sliding_attention"] * 2},
    "phi3": {"model_type": "phi3", "sliding_window": 16, "original_max_position_embeddings": 1024} | _ATTENTION,
    "cohere2": {"model_type": "cohere2", "sliding_window": 16, "head_dim": 8, "logit_scale": 1.0}
    | _ATTENTION
    | _ALTERNATING,
    "olmo3": {"model_type": "olmo3", "sliding_window": 16} | _ATTENTION | _ALTERNATING,
    "gpt_oss": {"model_type": "gpt_oss", "sliding_window": 16, "head_dim": 8} | _EXPERTS | _ATTENTION | _ALTERNATING,
    "llama4, in chunks": {"model_type": "llama4_text", "attention_chunk_size": 16, "head_dim": 8}
    | {"intermediate_size_mlp": 48, "no_rope_layers": [1, 0], "moe_layers": [1]}
    | _EXPERTS
    | _ATTENTION
    | {"layer_types": ["chunked_attention", "full_attention"]},
    "gpt_neo": {"model_type": "gpt_neo", "hidden_size": 32, "num_layers": 2, "num_heads": 4, "window_size": 128}
    | {"max_position_embeddings": 1024, "attention_types": [[["global", "local"], 1]]},
}
"""More of them whose layers look back on few tokens; the last one's masks lie in buffers of its own."""

UNSUITABLE: dict[str, dict[str, object]] = {
    "bloom": {"model_type": "bloom", "hidden_size": 32, "n_layer": 2, "n_head": 4},
    "mpt": {"model_type": "mpt", "d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 1024},
    "mamba": {"model_type": "mamba", "hidden_size": 32, "num_hidden_layers": 2, "state_size": 4},
    "rwkv": {"model_type": "rwkv", "hidden_size": 32, "num_hidden_layers": 2, "context_length": 1024},
}
"""Tiny models that read only plain sequences rightly: distances counted along the sequence, or a state carried
through it."""


def write_model(
    folder: Path,
    tokenizer: PreTrainedTokenizerBase,
    seed: int = 0,
    spread: float = 0.5,
    architecture: str = "llama",
    **config: object,
) -> Path:
    """A folder with a two-layer model of random weights; a larger `spread` makes it more sure of itself."""
    torch.manual_seed(seed)
    settings = (WINDOWED | ARCHITECTURES | UNSUITABLE)[architecture] | {
        "vocab_size": len(tokenizer),
        "initializer_range": spread,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**(settings | config)))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def write_bigrams(folder: Path, tokenizer: PreTrainedTokenizerBase, table: Mapping[int, Mapping[int, float]]) -> Path:
    """A model whose next token hangs on the last one only: by the id of that, the probabilities of ids.

    Attention and feed-forward layers give nothing; one-hot embeddings make the head a table.
    """
    size = len(tokenizer)
    config = LlamaConfig(
        vocab_size=size,
        hidden_size=size + size % 2,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        tie_word_embeddings=False,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    torch.manual_seed(0)
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        model.model.embed_tokens.weight.copy_(torch.eye(size, config.hidden_size))
        model.lm_head.weight.zero_()
        for token, probabilities in table.items():
            logits = torch.full((size,), math.log(NEVER))
            for follower, probability in probabilities.items():
                logits[follower] = math.log(max(probability, NEVER))
            # The normalised one-hot state has length sqrt(d).
            model.lm_head.weight[:, token] = logits / math.sqrt(config.hidden_size)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def trial(prompt: str, labels: tuple[str, ...] | int, trial_id: str = "v1/0/forward", order: str = "forward") -> Trial:
    """A trial that asks for these labels, or for "1" to "K"."""
    names = tuple(map(str, range(1, labels + 1))) if isinstance(labels, int) else labels
    readout = ScoreLabels(names, tuple(range(len(names))))
    return Trial(trial_id, trial_id.split("/")[0], "eng", prompt, order, 0, None, readout)
