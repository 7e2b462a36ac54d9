"""A small tokenizer in the style of Gemma: `▁` for a space, single digits, bytes for unknown characters."""

import json
import re
from collections.abc import Sequence
from typing import Any

PAD, EOS, BOS, UNK = SPECIAL = ("<pad>", "<eos>", "<bos>", "<unk>")
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))


def train_tokenizer(texts: Sequence[str], vocabulary: int = 3000, apart: Sequence[str] = ()) -> Any:
    """Train a `PreTrainedTokenizerFast`; ` 1` is two tokens (`▁`, `1`), and so is `10`; a newline or a mark is one.

    Args:
        vocabulary: most merged pieces, not counting bytes and special tokens.
        apart: texts that are never merged with others. Where some are given, only these and digits are split off: the
            text between them is one token per line, as far as the vocabulary has room.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    alone = (
        "|".join([r"\d", *map(_whole_word_pattern, sorted(apart, key=len, reverse=True))]) if apart else r"\d|[^\w▁]"
    )
    joined_sign = "\n" if apart else "▁"

    def dress(tokenizer: Tokenizer) -> Tokenizer:
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(alone), "isolated"),
                pre_tokenizers.Split(joined_sign, "merged_with_next"),
            ]
        )
        tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
        return tokenizer

    learner = dress(Tokenizer(models.BPE()))
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, initial_alphabet=["▁", *"0123456789"], show_progress=False)
    learner.train_from_iterator(texts, trainer)
    state = json.loads(learner.to_str())["model"]
    pieces = sorted(state["vocab"], key=state["vocab"].__getitem__)
    entries = [*SPECIAL, *BYTES, *(piece for piece in pieces if piece not in BYTES)]
    bpe = models.BPE(
        vocab={entry: index for index, entry in enumerate(entries)},
        merges=[tuple(pair) for pair in state["merges"]],
        unk_token=UNK,
        fuse_unk=True,
        byte_fallback=True,
    )
    tokenizer = dress(Tokenizer(bpe))
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A", pair=f"{BOS} $A $B", special_tokens=[(BOS, entries.index(BOS))]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=BOS,
        eos_token=EOS,
        unk_token=UNK,
        pad_token=PAD,
        clean_up_tokenization_spaces=False,
    )


def _whole_word_pattern(text: str) -> str:
    """A pattern that matches a text where it is no part of a longer word."""
    before, behind = r"(?<!\w)" if text[0].isalnum() else "", r"(?!\w)" if text[-1].isalnum() else ""
    return before + re.escape(text.replace(" ", "▁")) + behind
