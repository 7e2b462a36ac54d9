"""Checks the tokenizer of a converted GGUF file against the file: entries, control tokens, and how it cuts words."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from valuesassets.models.gguf_files import GgufFile
from valuesassets.records.errors import TokenizerError

SCRIPTS = {
    "Latin": "every person writes with their own words",
    "Greek": "κάθε άνθρωπος γράφει με δικά του λόγια",
    "Cyrillic": "каждый человек пишет своими словами",
    "Armenian": "ամեն մարդ գրում է իր խոսքերով",
    "Georgian": "ყველა ადამიანი წერს თავისი სიტყვებით",
    "Hebrew": "כל אדם כותב במילים שלו",
    "Arabic": "كل إنسان يكتب بكلماته",
    "Devanagari": "हर व्यक्ति अपने शब्दों में लिखता है",
    "Tamil": "ஒவ்வொருவரும் தம் சொற்களில் எழுதுகிறார்",
    "Thai": "ทุกคนเขียนด้วยคำของตน",
    "Han": "每个人都用自己的话写",
    "Hangul": "모든 사람은 자기 말로 쓴다",
}
"""One sentence in each of twelve scripts."""
WHOLE_WORDS = ("Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Hebrew", "Arabic", "Hangul")
"""Scripts whose words no rule splits before merging: they have blanks between words and no combining marks."""

CONTROL, USER_DEFINED = 3, 4
"""Kinds of tokens in `tokenizer.ggml.token_type`."""
BYTE_PAIRS, PIECES = "gpt2", "llama"
"""Values of `tokenizer.ggml.model`: byte-level pairs, and pieces that are merged by their scores."""
AS_GPT2 = ("gpt-2", "gpt2", "phi-2", "mpt", "olmo", "jais", "jina-es", "jina-de", "exaone4", "trillion")
"""Splitting rules (`tokenizer.ggml.pre`) equal to GPT-2's, which transformers uses for rules it does not know."""
SINGLE_DIGITS = ("smollm", "starcoder", "refact", "command-r", "codeshell")
"""Splitting rules that differ from GPT-2's only in that every digit is by itself."""
VISIBLE_BYTES = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
LETTERS = "".join(
    chr(n) if n in VISIBLE_BYTES else chr(0x100 + n - sum(v < n for v in VISIBLE_BYTES)) for n in range(256)
)
"""The letter for each byte in byte-level vocabularies: its own character if that is visible, else one above 255."""


def mend_beginning(hf: Any, file: GgufFile) -> None:
    """Make a tokenizer begin texts as the file says, if its class does not."""
    from tokenizers.processors import TemplateProcessing

    bos = file.metadata.get("tokenizer.ggml.bos_token_id")
    if _begins(hf, bos) == begins_with_bos(file):
        return
    if begins_with_bos(file):
        token = hf.convert_ids_to_tokens(bos)
        template = TemplateProcessing(single=f"{token} $A", special_tokens=[(token, bos)])
    else:
        template = TemplateProcessing(single="$A", special_tokens=[])
    hf.backend_tokenizer.post_processor = template


def begins_with_bos(file: GgufFile) -> bool:
    """Whether texts begin with the beginning-of-text token by the file; where it does not say, pieces do."""
    kind = file.metadata.get("tokenizer.ggml.model")
    is_added = file.metadata.get("tokenizer.ggml.add_bos_token", kind == PIECES)
    return bool(is_added) and file.metadata.get("tokenizer.ggml.bos_token_id") is not None


def find_doubts(hf: Any, file: GgufFile) -> list[str]:
    """How a converted tokenizer may differ from the one that the model was trained with, in words; empty if not at all.

    Raises:
        TokenizerError: entries, control tokens, beginning, chat template or cuts of words differ from the file's.
    """
    metadata = file.metadata
    tokens: list[str] = metadata["tokenizer.ggml.tokens"]
    kinds: list[int] = metadata.get("tokenizer.ggml.token_type") or [1] * len(tokens)
    _require_entries(hf, file, tokens)
    for key, name in (("bos", "bos"), ("eos", "eos"), ("unknown", "unk")):
        expected, actual = metadata.get(f"tokenizer.ggml.{key}_token_id"), getattr(hf, f"{name}_token_id", None)
        if expected is not None and actual is not None and expected != actual:
            raise _mismatch(file, f"its {key} token is entry {actual}, the file says {expected}")
    bos = metadata.get("tokenizer.ggml.bos_token_id")
    if _begins(hf, bos) != begins_with_bos(file) and metadata.get("tokenizer.ggml.model") != "gemma4":
        raise _mismatch(file, "texts do not begin as the file says")
    template = metadata.get("tokenizer.chat_template")
    if template and getattr(hf, "chat_template", None) != template:
        raise _mismatch(file, "its chat template is another one")
    broken = [i for i, kind in enumerate(kinds) if kind == CONTROL and tokens[i] and not _is_whole(hf, tokens[i], i)]
    needed = {metadata.get(f"tokenizer.ggml.{key}_token_id") for key in ("bos", "eos", "eot")}
    steering = next((i for i in broken if i in needed or (template and tokens[i] in template)), None)
    if steering is not None:
        raise _mismatch(file, f"its control token {tokens[steering]!r} is cut into pieces")
    doubts = []
    if broken:
        doubts.append(f"{len(broken)} control tokens are cut as text, first {tokens[broken[0]]!r}")
    lossy_scripts = [script for script, text in SCRIPTS.items() if _round_trip(hf, text) != text]
    if "Latin" in lossy_scripts:
        raise _mismatch(file, f"{SCRIPTS['Latin']!r} does not come back from it")
    if lossy_scripts:
        doubts.append(f"texts in {', '.join(lossy_scripts)} letters do not come back from its tokens")
    _require_cuts(hf, file, tokens)
    return doubts + _doubts_of_rule(hf, file)


def _require_entries(hf: Any, file: GgufFile, tokens: Sequence[str]) -> None:
    entries = hf.convert_ids_to_tokens(list(range(len(tokens))))
    respelled = (_spellings(token) for token in tokens)
    differing = [
        i for i, (entry, spellings) in enumerate(zip(entries, respelled, strict=True)) if entry not in spellings
    ]
    if differing:
        i = differing[0]
        raise _mismatch(
            file, f"{len(differing)} of {len(tokens)} entries, first {entries[i]!r} for {tokens[i]!r} (entry {i})"
        )


def _spellings(token: str) -> set[str | None]:
    """Spellings of a token in a tokenizer: as it is, in letters that stand for bytes, or with bars for blanks."""
    return {token, "".join(LETTERS[byte] for byte in token.encode("utf-8", "surrogateescape")), token.replace(" ", "▁")}


def _require_cuts(hf: Any, file: GgufFile, tokens: Sequence[str]) -> None:
    """Check by code of our own that sentences are cut as the file's merges or scores cut them."""
    metadata, ids = file.metadata, {token: i for i, token in enumerate(tokens)}
    if metadata.get("tokenizer.ggml.model") == BYTE_PAIRS and "tokenizer.ggml.merges" in metadata:
        pairs = (merge.split(" ") for merge in metadata["tokenizer.ggml.merges"])
        ranks = {(pair[0], pair[-1]): rank for rank, pair in enumerate(pairs)}
        texts = [f" {word}" for script in WHOLE_WORDS for word in SCRIPTS[script].split()]
        cuts = {
            text: merged([LETTERS[byte] for byte in text.encode()], lambda *pair: ranks.get(pair)) for text in texts
        }
    elif metadata.get("tokenizer.ggml.model") == PIECES and "tokenizer.ggml.scores" in metadata:
        scores = dict(zip(tokens, metadata["tokenizer.ggml.scores"], strict=True))
        lead = "▁" if metadata.get("tokenizer.ggml.add_space_prefix", True) else ""
        cuts = {text: _pieces(lead + text.replace(" ", "▁"), scores) for text in SCRIPTS.values()}
    else:
        return
    for text, cut in cuts.items():
        token_ids = hf(text, add_special_tokens=False)["input_ids"]
        if all(piece in ids for piece in cut) and token_ids != [ids[piece] for piece in cut]:
            raise _mismatch(file, f"{text!r} is cut into {hf.convert_ids_to_tokens(token_ids)}, by the file into {cut}")


def merged(pieces: list[str], rank: Callable[[str, str], float | None]) -> list[str]:
    """Pieces merged pair by pair, the pair of the lowest rank first, until none has a rank.

    >>> merged(list("abab"), lambda *pair: {("a", "b"): 0, ("ab", "ab"): 1}.get(pair))
    ['abab']
    """
    while True:
        ranks = ((rank(*pair), place) for place, pair in enumerate(pairwise(pieces)))
        ranked = [(number, place) for number, place in ranks if number is not None]
        if not ranked:
            return pieces
        _, place = min(ranked)
        pieces = [*pieces[:place], pieces[place] + pieces[place + 1], *pieces[place + 2 :]]


def _pieces(text: str, scores: Mapping[str, float]) -> list[str]:
    """A text cut by scores: neighbours that form the best token are joined first; unknown pieces become bytes."""

    def rank(first: str, second: str) -> float | None:
        score = scores.get(first + second)
        return None if score is None else -score

    pieces = merged(list(text), rank)
    spellings = ([piece] if piece in scores else [f"<0x{byte:02X}>" for byte in piece.encode()] for piece in pieces)
    return [piece for each in spellings for piece in each]


def _doubts_of_rule(hf: Any, file: GgufFile) -> list[str]:
    """A doubt, in words, if transformers does not know the rule that splits texts before merging; else none."""
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

    rule = file.metadata.get("tokenizer.ggml.pre")
    if file.metadata.get("tokenizer.ggml.model") != BYTE_PAIRS or rule in GGUF_PRE_TOKENIZER_SPLITS or rule in AS_GPT2:
        return []
    if rule in SINGLE_DIGITS and len(hf("1234567890", add_special_tokens=False)["input_ids"]) == 10:
        return []
    return [
        f"transformers does not know its rule of dividing texts ({rule or 'none is named'}) and takes GPT-2's: numbers "
        "and signs may be cut otherwise than the model learned them"
    ]


def _begins(hf: Any, bos: int | None) -> bool:
    return bos is not None and hf("1")["input_ids"][:1] == [bos]


def _is_whole(hf: Any, token: str, i: int) -> bool:
    return hf(f"a{token}b", add_special_tokens=False)["input_ids"].count(i) == 1


def _round_trip(hf: Any, text: str) -> str:
    ids = hf(text, add_special_tokens=False)["input_ids"]
    return str(hf.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)).removeprefix(" ")


def _mismatch(file: GgufFile, what: str) -> TokenizerError:
    return TokenizerError(
        f"{file.name}: the tokenizer that transformers makes of it is not the file's: {what}; use the model as "
        "safetensors, or another file of it"
    )
