"""The tokenizer of a converted GGUF file, held against what the file says: entries, control tokens, cuts of words."""

from collections.abc import Mapping, Sequence
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
"""A sentence in each of twelve scripts."""
WHOLE_WORDS = ("Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Hebrew", "Arabic", "Hangul")
"""Scripts whose words no rule divides before merging: no marks beside their letters, blanks between words."""

CONTROL, USER_DEFINED = 3, 4
"""Kinds of tokens, as `tokenizer.ggml.token_type` counts them."""
BYTE_PAIRS, PIECES = "gpt2", "llama"
"""What `tokenizer.ggml.model` calls byte-level pairs, and pieces that are merged by their scores."""
AS_GPT2 = ("gpt-2", "gpt2", "phi-2", "mpt", "olmo", "jais", "jina-es", "jina-de", "exaone4", "trillion")
"""Rules of cutting (`tokenizer.ggml.pre`) that are GPT-2's, which transformers takes where it knows no other."""
SINGLE_DIGITS = ("smollm", "starcoder", "refact", "command-r", "codeshell")
"""Rules of cutting that differ from GPT-2's in one thing: every digit stands alone."""


def mend_beginning(hf: Any, file: GgufFile) -> None:
    """Have a tokenizer begin texts as the file says, where its class does otherwise."""
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
    """Whether the file says that texts begin with its beginning-of-text token; pieces do where it says nothing."""
    kind = file.metadata.get("tokenizer.ggml.model")
    told = file.metadata.get("tokenizer.ggml.add_bos_token", kind == PIECES)
    return bool(told) and file.metadata.get("tokenizer.ggml.bos_token_id") is not None


def find_doubts(hf: Any, file: GgufFile) -> list[str]:
    """What a converted tokenizer may do otherwise than the file's model learned, in words; empty where nothing.

    Raises:
        TokenizerError: entries, control tokens, beginning, chat template or cuts of words are others than the file's.
    """
    told = file.metadata
    tokens: list[str] = told["tokenizer.ggml.tokens"]
    kinds: list[int] = told.get("tokenizer.ggml.token_type") or [1] * len(tokens)
    _require_entries(hf, file, tokens)
    for key, name in (("bos", "bos"), ("eos", "eos"), ("unknown", "unk")):
        wanted, found = told.get(f"tokenizer.ggml.{key}_token_id"), getattr(hf, f"{name}_token_id", None)
        if wanted is not None and found is not None and wanted != found:
            raise _differs(file, f"its {key} token is entry {found}, the file says {wanted}")
    bos = told.get("tokenizer.ggml.bos_token_id")
    if _begins(hf, bos) != begins_with_bos(file) and told.get("tokenizer.ggml.model") != "gemma4":
        raise _differs(file, "texts do not begin as the file says")
    template = told.get("tokenizer.chat_template")
    if template and getattr(hf, "chat_template", None) != template:
        raise _differs(file, "its chat template is another one")
    broken = [i for i, kind in enumerate(kinds) if kind == CONTROL and tokens[i] and not _is_whole(hf, tokens[i], i)]
    needed = {told.get(f"tokenizer.ggml.{key}_token_id") for key in ("bos", "eos", "eot")}
    steering = next((i for i in broken if i in needed or (template and tokens[i] in template)), None)
    if steering is not None:
        raise _differs(file, f"its control token {tokens[steering]!r} is cut into pieces")
    doubts = []
    if broken:
        doubts.append(f"{len(broken)} control tokens are cut as text, first {tokens[broken[0]]!r}")
    lost = [script for script, text in SCRIPTS.items() if _round_trip(hf, text) != text]
    if "Latin" in lost:
        raise _differs(file, f"{SCRIPTS['Latin']!r} does not come back from it")
    if lost:
        doubts.append(f"texts in {', '.join(lost)} letters do not come back from its tokens")
    _require_cuts(hf, file, tokens)
    return doubts + _doubts_of_rule(hf, file)


def _require_entries(hf: Any, file: GgufFile, tokens: Sequence[str]) -> None:
    found = hf.convert_ids_to_tokens(list(range(len(tokens))))
    respelled = (_spelled(token) for token in tokens)
    other = [i for i, (own, theirs) in enumerate(zip(found, respelled, strict=True)) if own not in theirs]
    if other:
        i = other[0]
        raise _differs(file, f"{len(other)} of {len(tokens)} entries, first {found[i]!r} for {tokens[i]!r} (entry {i})")


def _spelled(token: str) -> set[str | None]:
    """How a token may be spelled in a tokenizer: as it is, in the letters that stand for bytes, or blanks as bars."""
    return {token, "".join(map(_letter_of_byte, token.encode("utf-8", "surrogateescape"))), token.replace(" ", "▁")}


def _require_cuts(hf: Any, file: GgufFile, tokens: Sequence[str]) -> None:
    """See that sentences are cut as the file's own merges or scores cut them, by another program than the library's."""
    told, ids = file.metadata, {token: i for i, token in enumerate(tokens)}
    if told.get("tokenizer.ggml.model") == BYTE_PAIRS and "tokenizer.ggml.merges" in told:
        pairs = (merge.split(" ") for merge in told["tokenizer.ggml.merges"])
        ranks = {(pair[0], pair[-1]): rank for rank, pair in enumerate(pairs)}
        texts = [f" {word}" for script in WHOLE_WORDS for word in SCRIPTS[script].split()]
        cuts = {text: merged([*map(_letter_of_byte, text.encode())], ranks) for text in texts}
    elif told.get("tokenizer.ggml.model") == PIECES and "tokenizer.ggml.scores" in told:
        scores = dict(zip(tokens, told["tokenizer.ggml.scores"], strict=True))
        lead = "▁" if told.get("tokenizer.ggml.add_space_prefix", True) else ""
        cuts = {text: _pieces(lead + text.replace(" ", "▁"), scores) for text in SCRIPTS.values()}
    else:
        return
    for text, cut in cuts.items():
        found = hf(text, add_special_tokens=False)["input_ids"]
        if all(piece in ids for piece in cut) and found != [ids[piece] for piece in cut]:
            raise _differs(file, f"{text!r} is cut into {hf.convert_ids_to_tokens(found)}, by the file into {cut}")


def merged(pieces: list[str], ranks: Mapping[tuple[str, str], float]) -> list[str]:
    """Pieces merged pair by pair, the pair of the lowest rank first, until none has a rank.

    >>> merged(list("abab"), {("a", "b"): 0, ("ab", "ab"): 1})
    ['abab']
    """
    while True:
        ranked = [
            (ranks[pair], place)
            for place in range(len(pieces) - 1)
            if (pair := (pieces[place], pieces[place + 1])) in ranks
        ]
        if not ranked:
            return pieces
        _, place = min(ranked)
        pieces = [*pieces[:place], pieces[place] + pieces[place + 1], *pieces[place + 2 :]]


def _pieces(text: str, scores: Mapping[str, float]) -> list[str]:
    """A text cut by scores: of neighbours that make a token, those of the best one are joined first; then bytes."""
    pieces = list(text)
    while True:
        joined = [
            (-scores[both], place)
            for place in range(len(pieces) - 1)
            if (both := pieces[place] + pieces[place + 1]) in scores
        ]
        if not joined:
            break
        _, place = min(joined)
        pieces = [*pieces[:place], pieces[place] + pieces[place + 1], *pieces[place + 2 :]]
    spelled = ([piece] if piece in scores else [f"<0x{byte:02X}>" for byte in piece.encode()] for piece in pieces)
    return [piece for each in spelled for piece in each]


def _doubts_of_rule(hf: Any, file: GgufFile) -> list[str]:
    """Whether texts are divided before merging by a rule that transformers does not know."""
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


def _letter_of_byte(byte: int) -> str:
    """The letter that stands for a byte in byte-level vocabularies: itself where visible, else one above 255."""
    return _LETTERS[byte]


def _letters() -> list[str]:
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in seen else next(others)) for byte in range(0x100)]


_LETTERS = _letters()


def _differs(file: GgufFile, what: str) -> TokenizerError:
    return TokenizerError(
        f"{file.name}: the tokenizer that transformers makes of it is not the file's: {what}; use the model as "
        "safetensors, or another file of it"
    )
