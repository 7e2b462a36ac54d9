"""Spells the labels of a question as tokens behind its prompt, and finds the tokens that end them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from valuesassets.records.errors import TokenizerError
from valuesassets.spelling.prompt_tokenizer import PromptTokenizer
from valuesassets.spelling.tokens import Tokens
from valuesassets.spelling.trie import Trie, build_trie

TERMINATORS = ("\n", "\n\n", "\r\n", " ", ".", ",")
"""Texts that end an answer if they are a single token behind it; end-of-text tokens do so too."""
MOST_TOKENS = 512
"""Most tokens of a label: each of its beginnings is a node of the trie, and a much longer label fills the memory."""


@dataclass(frozen=True)
class SpelledPrompt:
    """A prompt and the spellings of each label as token ids, with the text of each spelling and the trie over all."""

    prompt: str
    prompt_ids: Tokens
    spellings: tuple[tuple[Tokens, ...], ...]
    texts: Mapping[Tokens, str]
    trie: Trie


def spell_labels(tokenizer: PromptTokenizer, prompt: str, labels: Sequence[str]) -> SpelledPrompt:
    """The spellings `label` and ` label` of each label, encoded behind the prompt, since tokens may differ alone.

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
                f"{prompt[-40:]!r}; the labels cannot be distinguished"
            )
        text_at[tokens] = text
        spellings[label].append(tokens)
    return SpelledPrompt(prompt, prompt_ids, tuple(map(tuple, spellings)), text_at, build_trie(spellings))


def find_terminators(
    tokenizer: PromptTokenizer, spelled: SpelledPrompt, eos_ids: frozenset[int]
) -> dict[Tokens, frozenset[int]]:
    """The tokens that end a label, at each node where another continues; encoded in place, as many tokenizers cut
    a full stop or a newline differently alone."""
    shared = spelled.trie.shared_nodes
    endings = [(node, spelled.prompt + spelled.texts[node] + end) for node in shared for end in TERMINATORS]
    stops = {node: set(eos_ids) for node in shared}
    encoded = tokenizer.cut([text for _, text in endings]) if endings else []
    for (node, _), ids in zip(endings, encoded, strict=True):
        path = (*spelled.prompt_ids, *node)
        is_single = len(ids) == len(path) + 1 and tuple(ids[:-1]) == path
        if is_single and ids[-1] != tokenizer.hf.unk_token_id and tokenizer.is_embedded(ids[-1]):
            stops[node].add(ids[-1])
    return {node: frozenset(ids) for node, ids in stops.items()}


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
    """Raise a TokenizerError if a label has more than `MOST_TOKENS` tokens."""
    if len(tokens) > MOST_TOKENS:
        raise TokenizerError(
            f"tokenizer of {tokenizer.name}: the answer that begins {text[:40]!r} has {len(tokens)} tokens, "
            f"{MOST_TOKENS} at most can be read; shorten it"
        )
