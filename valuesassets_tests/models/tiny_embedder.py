"""A tiny random sentence-transformers model with a real tokenizer."""

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import BertConfig, BertModel

from valuesassets.models.reference_tokenizer import train_tokenizer


def save_embedder(folder: Path, texts: Sequence[str]) -> Path:
    """A folder with such a model, its vocabulary out of the texts."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    torch.manual_seed(1)
    tokenizer = train_tokenizer(list(texts), vocabulary=300)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4
    )
    BertModel(config).save_pretrained(folder / "bert")
    tokenizer.save_pretrained(folder / "bert")
    words = Transformer(str(folder / "bert"))
    SentenceTransformer(modules=[words, Pooling(config.hidden_size)]).save(str(folder / "embedder"))
    return folder / "embedder"
