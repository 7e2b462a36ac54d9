"""Spells the candidates of a text's spans in place: encoded together with the text before them."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from valuesassets.models.loaded_model import OpenedModel
from valuesassets.models.spelled_trials import require_room
from valuesassets.models.token_trees import shared_length
from valuesassets.records.errors import TokenizerError
from valuesassets.records.readouts import ScoreSpans
from valuesassets.records.trials import SpanFault
from valuesassets.spelling.prompt_tokenizer import PromptTokenizer
from valuesassets.spelling.spellings import MOST_TOKENS, SpelledPrompt, require_short
from valuesassets.spelling.tokens import Tokens
from valuesassets.spelling.trie import build_trie

WINDOW = 32
"""Tokens before a span that are encoded together with its candidates, instead of the whole text before it."""
SETTLED, UNSETTLED = 12, 4
"""Tokens at a window's beginning, and at its end, that may differ from those of the whole text."""
NEAR = 8
"""Tokens of the context that a span keeps, to decode continuations behind them."""


class Place(NamedTuple):
    """The place of an answer in the text that a model sees, characters `start` to before `end`, and its candidates.

    `leads` are the texts that may precede a candidate, first the one in the text; all of them count.
    """

    start: int
    end: int
    set: int
    leads: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class SpelledSpan:
    """A span of a text with the spellings of its candidates, their trie, and the context's last tokens.

    Attributes:
        shared: number of tokens that the context shares with the whole text; mostly all of the context's.
        rest: the context's other tokens, where the given answer merges with the text before it.
        stops: the tokens that end a candidate, at each node where another candidate continues.
        answer_at: the token of the whole text in which the given answer begins; None without an answer.
    """

    shared: int
    rest: Tokens
    spelled: SpelledPrompt
    stops: Mapping[Tokens, frozenset[int]]
    answer_at: int | None


@dataclass(frozen=True)
class SpannedText:
    """A text with answers as tokens, and its spelled spans; a span that cannot be spelled is the reason in words."""

    ids: Tokens
    spans: tuple[SpelledSpan | str, ...]


class TextTokens:
    """A text's tokens (`body`), with the tokens that begin every prompt (`ids`), and their places in the text."""

    def __init__(self, tokenizer: PromptTokenizer, text: str) -> None:
        hf, bos = tokenizer.hf, tokenizer.bos
        encoded = hf(text, add_special_tokens=False, return_offsets_mapping=hf.is_fast, verbose=False)
        self.text = text
        self.body: Tokens = tuple(encoded["input_ids"])
        self._lead = bos if self.body[: len(bos)] != bos else ()
        self.ids: Tokens = (*self._lead, *self.body)
        offsets: list[tuple[int, int]] = encoded.get("offset_mapping") or []
        self._starts, self._ends = [start for start, _ in offsets], [end for _, end in offsets]

    def start_of(self, token: int) -> int:
        """The character at which a token of `ids` begins."""
        return self._starts[token - len(self._lead)]

    def token_at(self, character: int) -> int | None:
        """The first token of `ids` that begins at a character; None where none does."""
        place = bisect_left(self._starts, character)
        is_there = place < len(self._starts) and self._starts[place] == character
        return place + len(self._lead) if is_there else None

    def token_over(self, start: int, end: int) -> int | None:
        """The first token of `ids` with a character from `start` to before `end`; None where there is none."""
        place = bisect_right(self._ends, start)
        is_there = start < end and place < len(self._starts) and self._starts[place] < end
        return place + len(self._lead) if is_there else None

    def window(self, start: int) -> tuple[int, int]:
        """Where a window before a character may begin: token and character; (0, 0) where all of the text is needed."""
        place = bisect_left(self._starts, start) - WINDOW
        while place > 0 and (self._starts[place] == self._starts[place - 1]):
            place -= 1  # the tokens of one character
        return (place + len(self._lead), self._starts[place]) if place > 0 else (0, 0)


def span_text(opened: OpenedModel, text: str, places: Sequence[Place], readout: ScoreSpans) -> SpannedText:
    """The tokens of a text, and its places' spellings; a TokenizerError if the tokenizer does not keep it whole."""
    tokenizer = opened.tokenizer
    tokenizer.require_round_trip(text)
    whole = TextTokens(tokenizer, text)
    turn_ends = opened.template.turn_ends if opened.template else frozenset[int]()
    spans: list[SpelledSpan | str] = []
    for place in places:
        fault = ""
        try:
            span = _spell(whole, tokenizer, place, readout.sets[place.set], readout.close, turn_ends)
            longest = span.shared + len(span.rest) + max(map(len, span.spelled.trie.inner_nodes))
            fault = f"{SpanFault.TOO_LONG}: "
            require_room(opened, longest)
            spans.append(span)
        except TokenizerError as error:
            spans.append(f"character {place.start}: {fault}{error}")
    return SpannedText(whole.ids, tuple(spans))


def _spell(
    whole: TextTokens,
    tokenizer: PromptTokenizer,
    place: Place,
    candidates: Sequence[str],
    close: Sequence[str],
    turn_ends: frozenset[int],
) -> SpelledSpan:
    """Spell a span's candidates, encoded together with the text before them."""
    before = _Before(whole, tokenizer, place.start)
    spellings, text_at = _spellings(before, tokenizer, candidates, place.leads)
    trie = _trie(spellings)
    stops = {
        node: (before.ends(node, text_at[node], close) | turn_ends) - set(trie.children[node])
        for node in trie.shared_nodes
    }
    endless = next((text_at[node] for node, ends in stops.items() if not ends), None)
    if endless is not None:
        raise TokenizerError(
            f"tokenizer of {tokenizer.name}: nothing ends {endless!r} where another candidate goes on from it; name "
            "what stands behind an answer as `close`"
        )
    shared = shared_length(before.ids, whole.ids)
    spelled = SpelledPrompt("", before.ids[-NEAR:], spellings, text_at, trie)
    return SpelledSpan(shared, before.ids[shared:], spelled, stops, whole.token_over(place.start, place.end))


Spellings = tuple[tuple[Tokens, ...], ...]
"""The spellings of each candidate."""
_trie = lru_cache(maxsize=256)(build_trie)
"""The trie over candidates' spellings; cached, since the spans of a task mostly share it."""


def _spellings(
    before: "_Before", tokenizer: PromptTokenizer, candidates: Sequence[str], leads: Sequence[str]
) -> tuple[Spellings, dict[Tokens, str]]:
    """The spellings of each candidate, and the text of each spelling.

    With the first lead, every candidate must have a spelling of its own. With another lead it gets one only if no other
    candidate has the same.
    """
    first, *others = ([lead + candidate for candidate in candidates] for lead in leads)
    text_at: dict[Tokens, str] = {}
    for text, path in zip(first, before.paths(first), strict=True):
        if path is None:
            raise TokenizerError(
                f"{SpanFault.BOUNDARY}: tokenizer of {tokenizer.name}: the tokens of the text ending in "
                f"{before.text[-40:]!r} change when {text!r} follows; end the text in another way or use another "
                "tokenizer"
            )
        require_short(tokenizer, path, text)
        if not _is_readable(tokenizer, path):
            raise TokenizerError(f"tokenizer of {tokenizer.name}: it has no token for {text!r}; use another model")
        if path in text_at:
            raise TokenizerError(
                f"tokenizer of {tokenizer.name}: candidates {text_at[path]!r} and {text!r} are the same tokens behind "
                f"{before.text[-20:]!r}; leave one of them out, or use another model"
            )
        text_at[path] = text
    spellings = [[path] for path in text_at]
    for texts in others:
        paths = before.paths(texts)
        times = Counter([*text_at, *paths])
        for spellings_here, text, path in zip(spellings, texts, paths, strict=True):
            if path is not None and times[path] == 1 and _is_readable(tokenizer, path):
                spellings_here.append(path)
                text_at[path] = text
    return tuple(map(tuple, spellings)), text_at


def _is_readable(tokenizer: PromptTokenizer, path: Tokens) -> bool:
    unknown = tokenizer.hf.unk_token_id
    is_known = (unknown is None or unknown not in path) and all(map(tokenizer.is_embedded, path))
    return is_known and 0 < len(path) <= MOST_TOKENS


class _Before:
    """The text before a span (`text`, with tokens `ids`), and the tokens of its continuations.

    Only a window of the text is encoded again with each candidate, if that gives the tokens of the whole text.
    """

    def __init__(self, whole: TextTokens, tokenizer: PromptTokenizer, start: int) -> None:
        self._hf, self.text = tokenizer.hf, whole.text[:start]
        first, character = whole.window(start)
        self._window, self._window_ids = self.text[character:], ()
        if first:
            window = TextTokens(tokenizer, self._window)
            settled = window.token_at(whole.start_of(first + SETTLED) - character)
            self.ids = (*whole.ids[: first + SETTLED], *window.ids[settled:]) if settled is not None else ()
            if settled is None or self.ids[:-UNSETTLED] != whole.ids[: len(self.ids) - UNSETTLED]:
                first = 0
            self._window_ids = window.body
        if not first:
            window = TextTokens(tokenizer, self.text)
            self._window, self._window_ids, self.ids = self.text, window.body, window.ids
        if not self.ids:
            raise TokenizerError(
                f"tokenizer of {tokenizer.name}: nothing stands before the answer that the model could have read; put "
                "some text before it, or ask with bos = 'always'"
            )

    def paths(self, texts: Sequence[str]) -> list[Tokens | None]:
        """The tokens that each text adds; None where it changes those before it."""
        if not texts:
            return []
        encoded = self._hf([self._window + text for text in texts], add_special_tokens=False, verbose=False)[
            "input_ids"
        ]
        n_before = len(self._window_ids)
        return [tuple(ids[n_before:]) if tuple(ids[:n_before]) == self._window_ids else None for ids in encoded]

    def ends(self, node: Tokens, text: str, close: Sequence[str]) -> frozenset[int]:
        """The first tokens of the texts that may close an answer which ends at a node."""
        paths = self.paths([text + end for end in close])
        return frozenset(
            path[len(node)] for path in paths if path and len(path) > len(node) and path[: len(node)] == node
        )
