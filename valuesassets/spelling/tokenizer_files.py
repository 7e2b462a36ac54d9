"""Loads tokenizers from their files without transformers, for models that run elsewhere."""

import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from valuesassets.records.errors import TokenizerError
from valuesassets.spelling.prompt_tokenizer import PromptTokenizer, beginning_of

FILES = ("tokenizer.json", "tokenizer_config.json", "config.json", "generation_config.json")


class SavedTokenizer:
    """A `tokenizer.json` with its configuration's special tokens, in the interface that `PromptTokenizer` needs."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        config = _settings(folder / "tokenizer_config.json")
        entries = [config.get(f"{role}_token") for role in ("bos", "eos", "unk")]
        names = [entry.get("content") if isinstance(entry, dict) else entry for entry in entries]
        self.bos_token, self.eos_token, self.unk_token = names
        ids = [None if text is None else self._tokenizer.token_to_id(text) for text in names]
        self.bos_token_id, self.eos_token_id, self.unk_token_id = ids
        self.added_tokens_decoder = self._tokenizer.get_added_tokens_decoder()
        self.all_special_tokens = [each.content for each in self.added_tokens_decoder.values() if each.special]

    @property
    def backend_tokenizer(self) -> Tokenizer:
        """The tokenizer of the tokenizers library."""
        return self._tokenizer

    def __call__(self, texts: Any, add_special_tokens: bool = True, verbose: bool = False) -> dict[str, Any]:
        """Token ids of a text or of several."""
        if isinstance(texts, str):
            return {"input_ids": self._tokenizer.encode(texts, add_special_tokens=add_special_tokens).ids}
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=add_special_tokens)
        return {"input_ids": [each.ids for each in encoded]}

    def decode(self, ids: list[int], skip_special_tokens: bool, clean_up_tokenization_spaces: bool) -> str:
        """The text of token ids."""
        return self._tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)

    def convert_ids_to_tokens(self, ids: Any) -> Any:
        """The vocabulary's entries for token ids."""
        return self._tokenizer.id_to_token(ids) if isinstance(ids, int) else list(map(self._tokenizer.id_to_token, ids))

    def get_vocab(self) -> dict[str, int]:
        """All entries and their ids."""
        return self._tokenizer.get_vocab()


def open_tokenizer(place: str) -> tuple[PromptTokenizer, frozenset[int]]:
    """The tokenizer in a folder or of a hub id, which begins texts by its own template, and the tokens that end a text.

    Raises:
        TokenizerError: there is no tokenizer.json, it cannot be read, or it does not keep plain text.
    """
    folder = Path(place) if Path(place).is_dir() else _fetch(place)
    if not (folder / "tokenizer.json").is_file():
        raise TokenizerError(f"{place}: no tokenizer.json there; name the folder of the model's tokenizer")
    try:
        saved = SavedTokenizer(folder)
    except Exception as error:  # the library raises bare exceptions
        raise TokenizerError(f"{place}: tokenizer.json cannot be read: {' '.join(str(error).split())[:200]}") from error
    tokenizer = PromptTokenizer(saved, place, beginning_of(saved, place, "template"))
    tokenizer.require_faithful()
    eos_ids = [saved.eos_token_id]
    for file in ("config.json", "generation_config.json"):
        ends = _settings(folder / file).get("eos_token_id")
        eos_ids += ends if isinstance(ends, list) else [ends]
    return tokenizer, frozenset(each for each in eos_ids if isinstance(each, int))


def _fetch(repository: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(repository, allow_patterns=list(FILES)))
    except Exception as error:  # the hub's errors, and those of the libraries below it
        if repository.startswith("index:"):
            raise TokenizerError(
                f"{repository}: a tokenizer is named by its folder or by its id on the hub; `valuesassets models` "
                "prints where the folders of the package index are"
            ) from error
        reason = " ".join(str(error).split())[:150]
        raise TokenizerError(
            f"{repository}: is no folder, and the hub does not give it: {reason}; name the tokenizer's folder"
        ) from error


def _settings(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise TokenizerError(f"{path}: cannot be read as JSON: {error}") from error
    return content if isinstance(content, dict) else {}
