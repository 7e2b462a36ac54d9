"""`report_tokenizer`: how a tokenizer cuts the parts of our prompts and answers."""

from typing import Any

from valuesassets.records.errors import TokenizerError
from valuesassets.spelling.prompt_tokenizer import PLAIN_TEXT, PromptTokenizer
from valuesassets.spelling.spellings import TERMINATORS

CONTEXT = "Answer:"
"""The text before an answer: tokens are found behind it, since an answer alone may be cut into others."""
LISTED = 10
"""Most tokens beyond the embedding that the report names."""


def report_tokenizer(tokenizer: PromptTokenizer, eos_ids: frozenset[int]) -> dict[str, Any]:
    """A tokenizer's habits as plain JSON.

    Args:
        eos_ids: tokens that end a text by the model's own settings, beyond the embedding or not.

    Returns:
        bos, bos_rule: the tokens that begin every prompt, and the rule that chose them.
        answers: tokens of "1" to "9", "10", " 1" and " 10" behind "Answer:"; None where the answer changes the tokens
            before it.
        digits_are_single: whether each of "1" to "9" is one token.
        leading_space: `own token`, `merged` with the digit, `lost` (same tokens as without), or None as above.
        terminators: per text that may end an answer, its single token behind "Answer: 1", or None.
        eos: the tokens that end a text; eos_beyond_embedding: ids that the model cannot give, which `eos` leaves out.
        vocabulary, added_tokens, embedding_rows: numbers of entries.
        beyond_embedding, beyond_embedding_first: how many entries have no row, and the first of them.
        round_trip: `ok`, or what is wrong with the text that comes back.
    """
    hf, vocabulary = tokenizer.hf, tokenizer.hf.get_vocab()
    texts = (*map(str, range(1, 11)), " 1", " 10")
    answers = {text: _tokens_after(tokenizer, CONTEXT, text) for text in texts}
    beyond = sorted((i, token) for token, i in vocabulary.items() if not tokenizer.is_embedded(i))
    return {
        "bos": hf.convert_ids_to_tokens(list(tokenizer.bos)),
        "bos_rule": tokenizer.bos_rule,
        "answers": {text: ids if ids is None else hf.convert_ids_to_tokens(ids) for text, ids in answers.items()},
        "digits_are_single": all(len(answers[str(n)] or ()) == 1 for n in range(1, 10)),
        "leading_space": _leading_space(answers["1"], answers[" 1"]),
        "terminators": {end: _terminator(tokenizer, f"{CONTEXT} 1", end) for end in TERMINATORS},
        "eos": hf.convert_ids_to_tokens(sorted(filter(tokenizer.is_embedded, eos_ids))),
        "eos_beyond_embedding": sorted(i for i in eos_ids if not tokenizer.is_embedded(i)),
        "vocabulary": len(vocabulary),
        "added_tokens": len(hf.get_added_vocab()),
        "embedding_rows": tokenizer.embedding_rows,
        "beyond_embedding": len(beyond),
        "beyond_embedding_first": [token for _, token in beyond[:LISTED]],
        "round_trip": _round_trip(tokenizer),
    }


def _tokens_after(tokenizer: PromptTokenizer, context: str, text: str) -> list[int] | None:
    """The tokens of a text behind a context; None where the context's own tokens change."""
    start, whole = tokenizer.cut([context, context + text])
    return whole[len(start) :] if whole[: len(start)] == start else None


def _leading_space(plain: list[int] | None, spaced: list[int] | None) -> str | None:
    if plain is None or spaced is None:
        return None
    if spaced == plain:
        return "lost"
    return "own token" if spaced[1:] == plain else "merged"


def _terminator(tokenizer: PromptTokenizer, context: str, end: str) -> str | None:
    ids = _tokens_after(tokenizer, context, end)
    if ids is None or len(ids) != 1 or ids[0] == tokenizer.hf.unk_token_id or not tokenizer.is_embedded(ids[0]):
        return None
    return tokenizer.hf.convert_ids_to_tokens(ids[0])


def _round_trip(tokenizer: PromptTokenizer) -> str:
    try:
        tokenizer.require_round_trip(PLAIN_TEXT)
    except TokenizerError as error:
        return str(error)
    return "ok"
