"""`read_tokenizer`: loads the tokenizer in a model's folder."""

from pathlib import Path
from typing import Any

from valuesassets.models.kept_checks import kept_check
from valuesassets.records.files import sha256_file

MANY_SCRIPTS = "How? Don't know.\n1. Zwölf\n10. Ελλάδα, България\n\n  2 000 %\r\nAnswer: 1\nAnswer:10\tx"
"""A text on which different rules for cutting show that they differ."""
DECISIVE = ("tokenizer.json", "tokenizer_config.json", "config.json", "special_tokens_map.json", "added_tokens.json")
"""Files that decide how a tokenizer cuts, and which class loads it."""


def read_tokenizer(folder: Path) -> Any:
    """The tokenizer of a model, which cuts as its tokenizer.json says if there is one.

    transformers chooses the class by the architecture's name, and some classes (Qwen2Tokenizer) silently replace the
    rules for cutting that were saved with the model by their own.
    """
    from tokenizers import Tokenizer
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    hf = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    saved = folder / "tokenizer.json"
    if not saved.is_file():
        return hf
    cut = hf(MANY_SCRIPTS, add_special_tokens=False)["input_ids"]

    def find_fault() -> str | None:
        saved_tokenizer = Tokenizer.from_file(str(saved))
        saved_tokenizer.no_padding()  # as in transformers: both settings of a file are for training batches
        saved_tokenizer.no_truncation()
        expected = saved_tokenizer.encode(MANY_SCRIPTS, add_special_tokens=False).ids
        return None if cut == expected else "its class cuts otherwise than tokenizer.json says"

    files = {name: sha256_file(folder / name) for name in DECISIVE if (folder / name).is_file()}
    if kept_check("the tokenizer's class cuts as it was saved", {"files": files, "cut": cut}, find_fault) is None:
        return hf
    generic = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
    return hf if cut == generic(MANY_SCRIPTS, add_special_tokens=False)["input_ids"] else generic
