"""How a tokenizer spells the labels of a question after its prompt, and what ends them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from valuesassets.records.errors import TokenizerError
from valuesassets.spelling.prompt_tokenizer import PromptTokenizer
from valuesassets.spelling.tokens import Tokens
from valuesassets.spelling.trie import Trie, build_trie

TERMINATORS = ("\n", "\n\n", "\r\n", " ", ".", ",")
"""Texts that end an answer where they are a single token after it; the end-of-text tokens come on top."""
MOST_TOKENS = 512
"""Of a label: each of its beginnings is a node of the trie, and those of a much longer one fill the memory."""


@dataclass(frozen=True)
class SpelledPrompt:
    """A prompt and, per label, its spellings as token ids; the text that each of them spells, and the trie over all."""

    prompt: str
    prompt_ids: Tokens
    spellings: tuple[tuple[Tokens, ...], ...]
    texts: Mapping[Tokens, str]
    trie: Trie


def spell_labels(tokenizer: PromptTokenizer, prompt: str, labels: Sequence[str]) -> SpelledPrompt:
    """The spellings `label` and ` label` of each label after a prompt.

    Prompt and spelling are encoded together: only so is it known how the tokenizer continues this prompt.

    Raises:
        TokenizerError: the tokenizer does not keep the prompt whole, or spells two labels alike.
    """
    tokenizer.require_round_trip(prompt)
    texts = [(label, text) for label in range(len(labels)) for text in (labels[label], f" {labels[label]}")]
    encoded = tokenizer.encode([prompt, *(prompt + text for _, text in texts)])
    prompt_ids = tuple(encoded[0])
    if not prompt_ids:
        raise TokenizerError(f"tokenizer of {tokenizer.name}: the prompt has no tokens; give it some text")
    text_at: dict[Tokens, str] = {}
    spellings: list[list[Tokens]] = [[] for _ in labels]
    for (label, text), ids in zip(texts, encoded[1:], strict=True):
        tokens = _continuation(tokenizer, prompt, prompt_ids, text, ids)
        if tokens in spellings[label]:
            continue
        if tokens in text_at:
            raise TokenizerError(
                f"tokenizer of {tokenizer.name}: {text_at[tokens]!r} and {text!r} are the same tokens after "
                f"{prompt[-40:]!r}; the labels cannot be told apart"
            )
        text_at[tokens] = text
        spellings[label].append(tokens)
    return SpelledPrompt(prompt, prompt_ids, tuple(map(tuple, spellings)), text_at, build_trie(spellings))


def find_terminators(
    tokenizer: PromptTokenizer, spelled: SpelledPrompt, eos_ids: frozenset[int]
) -> dict[Tokens, frozenset[int]]:
    """The tokens that end a label, at each node where another label goes on from it.

    They are found as spellings are, in place: alone, many tokenizers write a full stop or a newline differently.
    """
    shared = spelled.trie.shared_nodes
    asked = [(node, spelled.prompt + spelled.texts[node] + end) for node in shared for end in TERMINATORS]
    found = {node: set(eos_ids) for node in shared}
    encoded = tokenizer.cut([text for _, text in asked]) if asked else []
    for (node, _), ids in zip(asked, encoded, strict=True):
        path = (*spelled.prompt_ids, *node)
        is_single = len(ids) == len(path) + 1 and tuple(ids[:-1]) == path
        if is_single and ids[-1] != tokenizer.hf.unk_token_id and tokenizer.is_embedded(ids[-1]):
            found[node].add(ids[-1])
    return {node: frozenset(ids) for node, ids in found.items()}


def _continuation(tokenizer: PromptTokenizer, prompt: str, prompt_ids: Tokens, text: str, ids: list[int]) -> Tokens:
    tokens = tuple(ids[len(prompt_ids) :])
    if tuple(ids[: len(prompt_ids)]) != prompt_ids or not tokens:
        raise TokenizerError(
            f"tokenizer of {tokenizer.name}: the tokens of the prompt ending in {prompt[-40:]!r} change when {text!r} "
            "follows; end the prompt in another way or use another tokenizer"
        )
    unknown = tokenizer.hf.unk_token_id
    if unknown is not None and unknown in tokens:
        raise TokenizerError(f"tokenizer of {tokenizer.name}: it has no token for {text!r} after {prompt[-40:]!r}")
    require_short(tokenizer, tokens, text)
    return tokens


def require_short(tokenizer: PromptTokenizer, tokens: Tokens, text: str) -> None:
    """See that a label has no more tokens than can be read.

    Raises:
        TokenizerError: it has.
    """
    if len(tokens) > MOST_TOKENS:
        raise TokenizerError(
            f"tokenizer of {tokenizer.name}: the answer that begins {text[:40]!r} has {len(tokens)} tokens, "
            f"{MOST_TOKENS} at most can be read; shorten it"
        )
