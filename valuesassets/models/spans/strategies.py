"""The reading strategies for spans: beside one cached text, on copies of its cache, or each sequence alone."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from valuesassets.models.cached_text import CHUNK, CHUNK_OF_A_GPU, LARGEST_LOGITS, Ask, CachedText, Cost
from valuesassets.models.engine import OutOfMemory, read_batch
from valuesassets.models.forked_text import ForkedText
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.token_trees import grow_tree, part_into_chains, shared_length
from valuesassets.spelling.tokens import NextToken, Tokens


class ReadingStrategy(ABC):
    """A way to read next-token distributions at many places of texts, one text after the other."""

    name: str
    """Its name in a file's metadata."""
    chunk: int
    """Most tokens of a text in one pass."""
    cost: Cost
    """What was computed so far."""

    def begin(self, asks: Sequence[Ask]) -> None:  # noqa: B027  # a strategy that keeps nothing has nothing to begin
        """Begin a text (all `asks`, as far as known); no bit of its readings may depend on the text before."""

    @abstractmethod
    def read(self, ids: Tokens, ends: Sequence[int], beside: Sequence[Ask], asks: Sequence[Ask]) -> list[NextToken]:
        """Read the next token at every ask of a text, or of a text that continues the last one.

        Args:
            ends: where the text's pieces end; OutOfMemory is raised where the text does not fit in these.
            beside: asks of other texts within the beginning that they share with this one, read now and kept for later.
        """

    def clear(self) -> None:  # noqa: B027
        """Free the memory that holds the last text."""


class CachedStrategy(ReadingStrategy):
    """Reads a text beside its own cache, and keeps the beginning that the next text shares."""

    name = "beside one cached text"

    def __init__(self, loaded: LoadedModel, n_likeliest: int, notes: list[str]) -> None:
        self.chunk = _chunk(loaded)
        self._window, self._notes = loaded.opened.window, notes
        self._loaded, self._n_likeliest = loaded, n_likeliest
        self._text = CachedText(loaded.model, n_likeliest)
        self.cost = self._text.cost
        self._most_rows = _most_rows(loaded)
        self._rows: dict[int, tuple[tuple[int, ...], NextToken]] = {}
        """What was read at places of the cached text: the requested tokens, and the answer."""

    def read(self, ids: Tokens, ends: Sequence[int], beside: Sequence[Ask], asks: Sequence[Ask]) -> list[NextToken]:
        """See `ReadingStrategy`; text beyond the model's window is read by another strategy if masks cannot hold it."""
        if self._is_beyond(asks):
            self.clear()
            self._beyond.chunk = self.chunk
            return self._beyond.read(ids, ends, beside, asks)
        try:
            self._follow(ids, ends, [*beside, *(ask for ask in asks if not ask.path)])
            twigs = {
                ask: answer
                for part in self._group_twigs(asks)
                for ask, answer in zip(part, self._text.twigs(part), strict=True)
            }
        except OutOfMemory:
            self.clear()
            raise
        return [twigs[ask] if ask.path else self._answer(ask) for ask in asks]

    def begin(self, asks: Sequence[Ask]) -> None:
        """See `ReadingStrategy`; pieces end at the same places, whatever the cache holds."""
        if "_beyond" in vars(self) or self._is_beyond(asks):  # for the note, even where all readings are stored
            self._beyond.begin(asks)

    def clear(self) -> None:
        """See `ReadingStrategy`."""
        self._text.crop(0)
        self._rows.clear()

    def _is_beyond(self, asks: Sequence[Ask]) -> bool:
        """Whether asks reach beyond a window that cannot be applied beside a cached text."""
        longest = max((ask.at + len(ask.path) for ask in asks), default=0)
        return self._window is not None and longest > self._window and self._loaded.text_window_fault is not None

    @cached_property
    def _beyond(self) -> ReadingStrategy:
        """The strategy for texts beyond the window."""
        subject = f"texts longer than the model's window of {self._window} tokens were read"
        strategy, how = _uncached_strategy(self._loaded, self._n_likeliest, self.cost)
        self._notes.append(f"{subject} {how}: {self._loaded.text_window_fault}")
        return strategy

    def _follow(self, ids: Tokens, ends: Sequence[int], asks: Sequence[Ask]) -> None:
        """Make the cache hold a text, and read the requested rows; the beginning shared with the last text stays."""
        n_shared = shared_length(self._text.tokens, ids)
        n_kept = max((end for end in ends if end <= n_shared), default=0)
        while unread := [ask.at for ask in asks if ask.at <= n_kept and not self._has(ask)]:
            n_kept = max((end for end in ends if end < min(unread)), default=0)
        self._text.crop(n_kept)
        self._rows = {at: row for at, row in self._rows.items() if at <= n_kept}
        tokens_by_place: dict[int, set[int]] = {}
        for ask in asks:
            if ask.at > n_kept:
                tokens_by_place.setdefault(ask.at, set()).update(ask.tokens)
        for end in ends:
            places = sorted(at for at in tokens_by_place if len(self._text.tokens) < at <= end)
            while len(self._text.tokens) < end:
                part, places = places[: self._most_rows], places[self._most_rows :]
                stop = part[-1] if places else end
                rows = [Ask(at, (), tuple(sorted(tokens_by_place[at]))) for at in part]
                answers = self._text.extend(ids[len(self._text.tokens) : stop], rows)
                self._rows |= {row.at: (row.tokens, answer) for row, answer in zip(rows, answers, strict=True)}

    def _has(self, ask: Ask) -> bool:
        return ask.at in self._rows and set(ask.tokens) <= set(self._rows[ask.at][0])

    def _answer(self, ask: Ask) -> NextToken:
        tokens, row = self._rows[ask.at]
        place = {token: number for number, token in enumerate(tokens)}
        return NextToken(tuple(row.log_probs[place[token]] for token in ask.tokens), row.likeliest, row.is_finite)

    def _group_twigs(self, asks: Sequence[Ask]) -> Iterator[list[Ask]]:
        """Group the asks beyond the text by span, in parts that fit into one pass."""
        part: list[Ask] = []
        size = 0
        twigs = [ask for ask in asks if ask.path]
        for at in dict.fromkeys(ask.at for ask in twigs):
            asks_here = [ask for ask in twigs if ask.at == at]
            nodes = len(grow_tree([ask.path for ask in asks_here]).tokens)
            if part and size + nodes > min(self.chunk, self._most_rows):
                yield part
                part, size = [], 0
            part, size = part + asks_here, size + nodes
        if part:
            yield part


class ForkedStrategy(ReadingStrategy):
    """Reads a text through one cache, and what is asked beyond the text on a copy of the cache at each place.

    Texts share nothing, since such a cache cannot be cropped to their shared beginning.
    """

    name = "on copies of the cached text"

    def __init__(self, loaded: LoadedModel, n_likeliest: int, cost: Cost | None = None) -> None:
        self.chunk = _chunk(loaded)
        self._text, self._most_rows = ForkedText(loaded.model, n_likeliest, cost), _most_rows(loaded)
        self.cost = self._text.cost

    def begin(self, asks: Sequence[Ask]) -> None:
        """See `ReadingStrategy`."""
        self.clear()

    def read(self, ids: Tokens, ends: Sequence[int], beside: Sequence[Ask], asks: Sequence[Ask]) -> list[NextToken]:
        """See `ReadingStrategy`; `beside` is not used."""
        cached_tokens = self._text.tokens
        if ids[: len(cached_tokens)] != cached_tokens or min(ask.at for ask in asks) <= len(cached_tokens):
            self.clear()
        try:
            return self._read(ids, ends, asks)
        except OutOfMemory:
            self.clear()
            raise

    def _read(self, ids: Tokens, ends: Sequence[int], asks: Sequence[Ask]) -> list[NextToken]:
        answers: dict[Ask, NextToken] = {}
        places = sorted({ask.at for ask in asks if not ask.path})
        forks = {ask.at for ask in asks if ask.path}
        last = max([*places[-1:], *forks])
        for end in sorted({*ends, *places[self._most_rows - 1 :: self._most_rows], *forks, last}):
            while (start := len(self._text.tokens)) < min(end, last):
                stop = min(end, last, start + self.chunk)
                rows = [ask for ask in asks if not ask.path and start < ask.at <= stop]
                answers |= zip(rows, self._text.extend(ids[start:stop], rows), strict=True)
            branches = [ask for ask in asks if ask.path and ask.at == end]
            for part in part_into_chains([ask.path for ask in branches]):
                chain = [branches[place] for place in part]
                answers |= zip(chain, self._text.branch(chain, self._most_rows), strict=True)
        return [answers[ask] for ask in asks]

    def clear(self) -> None:
        """See `ReadingStrategy`."""
        self._text.clear()


class AloneStrategy(ReadingStrategy):
    """Reads each sequence by itself, together with those that are beginnings of it."""

    name = "each sequence alone"

    def __init__(self, loaded: LoadedModel, n_likeliest: int, cost: Cost | None = None) -> None:
        self.chunk = CHUNK
        self._model, self._n_likeliest = loaded.model, n_likeliest
        self.cost = Cost() if cost is None else cost

    def read(self, ids: Tokens, ends: Sequence[int], beside: Sequence[Ask], asks: Sequence[Ask]) -> list[NextToken]:
        """See `ReadingStrategy`; `ends` and `beside` are not used."""
        sequences = [ids[: ask.at] + ask.path for ask in asks]
        answers: dict[int, NextToken] = {}
        for part in part_into_chains(sequences):
            tree = grow_tree([sequences[place] for place in part])
            replies = read_batch(self._model, [tree], [asks[place].tokens for place in part], self._n_likeliest)
            answers |= dict(zip(part, replies, strict=True))
            self.cost.add(len(tree.tokens), len(part))
        return [answers[place] for place in range(len(asks))]


def choose_strategy(loaded: LoadedModel, n_likeliest: int, notes: list[str]) -> ReadingStrategy:
    """The best strategy for a model; `notes` gets the reason where it is not the cached one."""
    if loaded.cache_fault is None:
        return CachedStrategy(loaded, n_likeliest, notes)
    strategy, manner = _uncached_strategy(loaded, n_likeliest)
    notes.append(f"spans were read {manner}: {loaded.cache_fault}")
    return strategy


def new_strategy(loaded: LoadedModel, n_likeliest: int, like: ReadingStrategy) -> ReadingStrategy:
    """A new strategy of the same class, which has read nothing."""
    if isinstance(like, CachedStrategy):
        return CachedStrategy(loaded, n_likeliest, [])
    return (
        ForkedStrategy(loaded, n_likeliest) if isinstance(like, ForkedStrategy) else AloneStrategy(loaded, n_likeliest)
    )


def _uncached_strategy(
    loaded: LoadedModel, n_likeliest: int, cost: Cost | None = None
) -> tuple[ForkedStrategy | AloneStrategy, str]:
    """The strategy for text that cannot be read beside a cached text, and how it reads, in words."""
    if loaded.fork_fault is None:
        return ForkedStrategy(loaded, n_likeliest, cost), "on copies of the cached text"
    return AloneStrategy(loaded, n_likeliest, cost), f"one sequence after the other ({loaded.fork_fault})"


def _chunk(loaded: LoadedModel) -> int:
    return CHUNK if loaded.device == "cpu" else CHUNK_OF_A_GPU


def _most_rows(loaded: LoadedModel) -> int:
    """Most rows of a pass, so that it has at most `LARGEST_LOGITS` logits."""
    head: Any = loaded.model.get_output_embeddings()
    return max(16, LARGEST_LOGITS // head.weight.shape[0])
