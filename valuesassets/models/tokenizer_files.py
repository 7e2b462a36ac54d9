"""`read_tokenizer`: the tokenizer in a model's folder."""

from pathlib import Path
from typing import Any

MANY_SCRIPTS = "How? Don't know.\n1. Zwölf\n10. Ελλάδα, България\n\n  2 000 %\r\nAnswer: 1\nAnswer:10\tx"
"""A text on which two ways of cutting show that they differ."""


def read_tokenizer(folder: Path) -> Any:
    """The tokenizer of a model, which cuts as its tokenizer.json says where it has one.

    transformers goes by the architecture's name: some classes (Qwen2Tokenizer) put their own rules for cutting in the
    place of those that were saved with the model, and say nothing.
    """
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    hf = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    if not (folder / "tokenizer.json").is_file():
        return hf
    saved = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
    cut, wanted = (each(MANY_SCRIPTS, add_special_tokens=False)["input_ids"] for each in (hf, saved))
    return hf if cut == wanted else saved
