"""`PromptTokenizer`: a tokenizer whose beginning-of-text token, hash and faithfulness to a text are known."""

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
in silence has three entries for tens of thousands of rows."""

PLAIN_TEXT = "1. 2. 3.\n4 5 6 7 8 9 10\nA:"
"""What any prompt of ours has in it, and any tokenizer must give back."""


UNFINISHED = "\ufffd"
"""What stands in a text for bytes that are no character."""


@dataclass(frozen=True)
class PromptTokenizer:
    """A tokenizer (`hf`, a `PreTrainedTokenizerBase`) as prompts meet it.

    Attributes:
        name: folder or hub id, for messages.
        bos: the token ids that begin every prompt by `bos_rule`; empty where nothing does.
        embedding_rows: how many tokens the model knows; None where no model is given.
    """

    hf: Any
    name: str
    bos: tuple[int, ...]
    bos_rule: BosRule = "template"
    embedding_rows: int | None = None

    @cached_property
    def sha256(self) -> str:
        """Hash of everything that decides how a text is cut and what ends it, whatever files it came from."""
        backend = getattr(self.hf, "backend_tokenizer", None)
        content = backend.to_str() if backend is not None else json.dumps(sorted(self.hf.get_vocab().items()))
        ends = [self.hf.eos_token_id, self.hf.unk_token_id]
        return hashlib.sha256(f"{list(self.bos)}{ends}{content}".encode()).hexdigest()

    @cached_property
    def special_texts(self) -> tuple[str, ...]:
        """The special tokens, as text."""
        added = self.hf.added_tokens_decoder.values()
        return tuple(dict.fromkeys([*self.hf.all_special_tokens, *(each.content for each in added if each.special)]))

    def control_texts(self, template: str) -> tuple[str, ...]:
        """The special tokens, and the added ones of other kinds that a chat template writes, as text."""
        added = (each.content for each in self.hf.added_tokens_decoder.values())
        used = (text for text in added if text.strip() and text in template)
        return tuple(dict.fromkeys([*self.special_texts, *used]))

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of whole texts, each begun by `bos` once; for a model to read.

        Raises:
            TokenizerError: a text needs a token that the model has no embedding for; names token and id.
        """
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
        """As `encode`, whether or not the model knows the tokens; to look at, never to read."""
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
        """The text that `continuation` adds to a prompt (alone, many tokenizers would drop its leading space)."""
        shown, length = "", 0
        for length in range(min(4, len(prompt_ids)), min(8, len(prompt_ids)) + 1):
            shown = self.decode(prompt_ids[len(prompt_ids) - length :])
            if not shown.startswith(UNFINISHED):  # else the first token ends a character that another one has begun
                break
        both = self.decode([*prompt_ids[len(prompt_ids) - length :], *continuation])
        # A tokenizer of bytes gives up whole characters beside one that is none.
        return both[len(shown) :] if both.startswith(shown) else self.decode(continuation)

    def require_faithful(self) -> None:
        """Refuse a tokenizer that cuts a text otherwise each time, or loses plain digits and lines.

        Raises:
            TokenizerError: it does.
        """
        if getattr(getattr(getattr(self.hf, "backend_tokenizer", None), "model", None), "dropout", None):
            raise TokenizerError(
                f"{self.name}: the tokenizer cuts at random (dropout in tokenizer.json), so readings would change each "
                "time; set dropout to null there"
            )
        self.require_round_trip(PLAIN_TEXT)

    def require_round_trip(self, text: str) -> None:
        """Refuse a text that the tokenizer cannot hold.

        Raises:
            TokenizerError: an unknown token, or another text (up to Unicode compatibility forms) comes back.
        """
        (ids,) = self.encode([text])
        body = ids[len(self.bos) :]
        if self.hf.unk_token_id is not None and body.count(self.hf.unk_token_id) > text.count(self.hf.unk_token):
            position = body.index(self.hf.unk_token_id)
            place = f"behind {self.decode(body[:position])[-30:]!r}" if position else "at the beginning"
            raise TokenizerError(
                f"{self.name}: the tokenizer has no token for what stands {place} of {text[:60]!r}; use a model that "
                "writes this language"
            )
        found, expected = (self._bare(part) for part in (self.decode(body), text))
        if found != expected:
            raise TokenizerError(
                f"{self.name}: {text[:60]!r} comes back as {found[:60]!r} from the tokenizer, which is broken or made "
                "for other texts: save it again beside the weights, or use another model"
            )

    def _bare(self, text: str) -> str:
        """A text up to compatibility forms, and to the space that some tokenizers put behind a special token."""
        within = [re.escape(token) for token in self.special_texts if token in text]
        spaced = re.sub(rf"\s*({'|'.join(within)})\s*", r"\1", text) if within else text
        return unicodedata.normalize("NFKC", spaced).strip()


def describe_tokenizer(hf: Any, name: str, embedding_rows: int, bos: BosRule = "template") -> PromptTokenizer:
    """A tokenizer checked against its model; added tokens beyond the embedding pass, as long as no prompt needs them.

    Args:
        embedding_rows: the model's vocabulary size.

    Raises:
        TokenizerError: its size does not fit the embedding, plain digits and lines do not survive it, or it has no
            beginning-of-text token that was asked for.
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


def require_plain(named: str, controls: Sequence[str], texts: Iterable[str]) -> None:
    """See that what people wrote holds no token that steers the model.

    Args:
        named: model and, where it is not clear, what it is asked by, for the message.
        controls: what steers it, as text.

    Raises:
        TokenizerError: a text holds one, in a form that Unicode calls compatible at least.
    """
    for text in texts:
        for form in {text, unicodedata.normalize("NFKC", text)}:
            found = next((token for token in controls if token in form), None)
            if found is not None:
                near = text[max(0, form.find(found) - 20) :][:60]
                raise TokenizerError(
                    f"{named}: the text {near!r} holds {found!r}, which steers this model and is no text to it; write "
                    "it in another way"
                )


def beginning_of(hf: Any, name: str, bos: BosRule) -> tuple[int, ...]:
    """The tokens that begin a prompt, by a rule; of a template never the same twice, nor what it puts after a text."""
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
