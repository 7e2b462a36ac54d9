"""`PromptTokenizer`: a tokenizer with its beginning-of-text rule, its hash, and checks that it keeps texts whole."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from valuesassets.records.errors import TokenizerError
from valuesassets.records.trials import BosRule

FITTING_SHARE = 0.8
"""Fewest tokenizer entries per embedding row. Embeddings are padded by a few percent; a tokenizer that failed to load
silently has three entries for tens of thousands of rows."""

PLAIN_TEXT = "1. 2. 3.\n4 5 6 7 8 9 10\nA:"
"""Characters of every prompt of ours, which any tokenizer must give back."""


UNFINISHED = "\ufffd"
"""The character that decoding puts in place of bytes that are no character."""


@dataclass(frozen=True)
class PromptTokenizer:
    """A tokenizer (`hf`, a `PreTrainedTokenizerBase`) with the rule by which it begins prompts.

    Attributes:
        name: folder or hub id, for messages.
        bos: the token ids that begin every prompt by `bos_rule`; empty if none do.
        embedding_rows: number of tokens in the model's embedding; None where there is no model here.
    """

    hf: Any
    name: str
    bos: tuple[int, ...]
    bos_rule: BosRule = "template"
    embedding_rows: int | None = None

    @cached_property
    def sha256(self) -> str:
        """Hash of everything that decides how a text is cut and what ends it, independent of the files."""
        backend = getattr(self.hf, "backend_tokenizer", None)
        content = backend.to_str() if backend is not None else json.dumps(sorted(self.hf.get_vocab().items()))
        ends = [self.hf.eos_token_id, self.hf.unk_token_id]
        return hashlib.sha256(f"{list(self.bos)}{ends}{content}".encode()).hexdigest()

    @cached_property
    def special_texts(self) -> tuple[str, ...]:
        """The texts of the special tokens."""
        added = self.hf.added_tokens_decoder.values()
        return tuple(dict.fromkeys([*self.hf.all_special_tokens, *(each.content for each in added if each.special)]))

    def control_texts(self, template: str) -> tuple[str, ...]:
        """The texts of the special tokens, and of other added tokens that a chat template writes."""
        added = (each.content for each in self.hf.added_tokens_decoder.values())
        used = (text for text in added if text.strip() and text in template)
        return tuple(dict.fromkeys([*self.special_texts, *used]))

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of texts for a model to read, each begun by `bos` once; a TokenizerError without embedding."""
        encoded = self.cut(texts)
        for text, ids in zip(texts, encoded, strict=True):
            beyond = next((i for i in ids if not self.is_embedded(i)), None)
            if beyond is not None:
                raise TokenizerError(
                    f"{self.name}: token {self.hf.convert_ids_to_tokens(beyond)!r} (id {beyond}) of {text[-60:]!r} has "
                    f"no place among the {self.embedding_rows} rows of the model's embedding; the token was added to "
                    "the tokenizer and not to the model: save both again, from one model"
                )
        return encoded

    def cut(self, texts: Sequence[str]) -> list[list[int]]:
        """As `encode`, without the check that the model knows the tokens; never for a model to read."""
        encoded = self.hf(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
        bos = list(self.bos)
        return [ids if bos and ids[: len(bos)] == bos else bos + ids for ids in encoded]

    def is_embedded(self, token: int) -> bool:
        """Whether the model's embedding has a row for a token id."""
        return token >= 0 and (self.embedding_rows is None or token < self.embedding_rows)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of token ids, special tokens included."""
        return str(self.hf.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def continuation_text(self, prompt_ids: Sequence[int], continuation: Sequence[int]) -> str:
        """The text that `continuation` adds to a prompt; decoded alone, it often loses its leading space."""
        end_of_prompt, length = "", 0
        for length in range(min(4, len(prompt_ids)), min(8, len(prompt_ids)) + 1):
            end_of_prompt = self.decode(prompt_ids[len(prompt_ids) - length :])
            if not end_of_prompt.startswith(
                UNFINISHED
            ):  # otherwise the first token completes a character that an earlier token began
                break
        both = self.decode([*prompt_ids[len(prompt_ids) - length :], *continuation])
        # A byte tokenizer may also drop whole characters beside bytes that are no character.
        return both[len(end_of_prompt) :] if both.startswith(end_of_prompt) else self.decode(continuation)

    def require_faithful(self) -> None:
        """Raise a TokenizerError unless texts are cut alike each time, and plain digits and lines kept."""
        if getattr(getattr(getattr(self.hf, "backend_tokenizer", None), "model", None), "dropout", None):
            raise TokenizerError(
                f"{self.name}: the tokenizer cuts at random (dropout in tokenizer.json), so readings would change each "
                "time; set dropout to null there"
            )
        self.require_round_trip(PLAIN_TEXT)

    def require_round_trip(self, text: str) -> None:
        """Raise a TokenizerError unless a text comes back from its tokens, up to Unicode compatibility."""
        (ids,) = self.encode([text])
        body = ids[len(self.bos) :]
        if self.hf.unk_token_id is not None and body.count(self.hf.unk_token_id) > text.count(self.hf.unk_token):
            position = body.index(self.hf.unk_token_id)
            place = f"behind {self.decode(body[:position])[-30:]!r}" if position else "at the beginning"
            raise TokenizerError(
                f"{self.name}: the tokenizer has no token for what stands {place} of {text[:60]!r}; use a model that "
                "writes this language"
            )
        actual, expected = (self._normalise(part) for part in (self.decode(body), text))
        if actual != expected:
            raise TokenizerError(
                f"{self.name}: {text[:60]!r} comes back as {actual[:60]!r} from the tokenizer, which is broken or made "
                "for other texts: save it again beside the weights, or use another model"
            )

    def _normalise(self, text: str) -> str:
        """A text in compatibility form, without the space that some tokenizers put around special tokens."""
        within = [re.escape(token) for token in self.special_texts if token in text]
        spaced = re.sub(rf"\s*({'|'.join(within)})\s*", r"\1", text) if within else text
        return unicodedata.normalize("NFKC", spaced).strip()


def describe_tokenizer(hf: Any, name: str, embedding_rows: int, bos: BosRule = "template") -> PromptTokenizer:
    """Check a tokenizer against its model; added tokens beyond the embedding pass, unless a prompt needs one.

    Raises:
        TokenizerError: its size does not fit the embedding's rows, it loses plain digits or lines, or it lacks the
            beginning-of-text token that `bos` requires.
    """
    vocabulary, added = hf.get_vocab(), hf.get_added_vocab()
    beyond = [token for token, i in vocabulary.items() if i >= embedding_rows and token not in added]
    if len(vocabulary) < FITTING_SHARE * embedding_rows or beyond:
        raise TokenizerError(
            f"{name}: the tokenizer has {len(vocabulary)} entries, the model's embedding {embedding_rows}; "
            "the tokenizer's files are broken or belong to another model: save both again, from one model"
        )
    tokenizer = PromptTokenizer(hf, name, beginning_of(hf, name, bos), bos, embedding_rows)
    tokenizer.require_faithful()
    return tokenizer


def require_plain(source: str, controls: Sequence[str], texts: Iterable[str]) -> None:
    """Check that texts by people hold none of the `controls`, the texts of tokens that steer the model.

    Raises:
        TokenizerError: a text of `source` holds one, also in a Unicode compatibility form.
    """
    for text in texts:
        for form in {text, unicodedata.normalize("NFKC", text)}:
            control = next((token for token in controls if token in form), None)
            if control is not None:
                near = text[max(0, form.find(control) - 20) :][:60]
                raise TokenizerError(
                    f"{source}: the text {near!r} holds {control!r}, which steers this model and is no text to it; "
                    "write it in another way"
                )


def beginning_of(hf: Any, name: str, bos: BosRule) -> tuple[int, ...]:
    """The tokens that begin a prompt by a rule; from a template, each token once, and none that follow a text."""
    match bos:
        case "never":
            return ()
        case "always" if hf.bos_token_id is None:
            raise TokenizerError(
                f"{name}: bos = 'always', but the tokenizer names no beginning-of-text token; say 'template' or 'never'"
            )
        case "always":
            return (hf.bos_token_id,)
        case "template":
            plain, full = hf("1", add_special_tokens=False)["input_ids"], hf("1")["input_ids"]
            start = next((i for i in range(len(full) + 1) if full[i : i + len(plain)] == plain), 0)
            return tuple(dict.fromkeys(full[:start]))
