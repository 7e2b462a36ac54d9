"""The roads on which spans are read: beside one cached text, on copies of it, or each sequence alone."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

from valuesassets.models.cached_text import CHUNK, CHUNK_OF_A_GPU, LARGEST_LOGITS, Ask, CachedText, Cost
from valuesassets.models.engine import OutOfMemory, read_batch
from valuesassets.models.forked_text import ForkedText
from valuesassets.models.loading import LoadedModel
from valuesassets.models.token_trees import grow_tree, part_into_chains, shared_length
from valuesassets.spelling.tokens import NextToken, Tokens


class Road(Protocol):
    """A way to read what comes next at many places of texts, one text after the other."""

    name: str
    """What a file's metadata calls it."""
    chunk: int
    """Most tokens of a text that go through together."""
    cost: Cost
    """What has gone through the model."""

    def begin(self, asks: Sequence[Ask]) -> None:
        """Another text comes: nothing of the one before may show in a bit of what is read of it.

        Args:
            asks: what is to be read of it, or is known already; none where nobody can tell yet.
        """
        ...

    def read(self, ids: Tokens, ends: Sequence[int], beside: Sequence[Ask], asks: Sequence[Ask]) -> list[NextToken]:
        """What comes next at every ask of a text, or of more of it than was read last.

        Args:
            ends: where its pieces end.
            beside: asks of texts that begin like this one, within what they share: read now, answered when asked again.

        Raises:
            OutOfMemory: the text does not fit in such pieces.
        """
        ...

    def clear(self) -> None:
        """Give up what is held in memory of the text before."""
        ...


class CachedRoad:
    """Reads a text beside its own cache, and keeps what the next one begins with alike."""

    name = "beside one cached text"

    def __init__(self, loaded: LoadedModel, n_likeliest: int, notes: list[str]) -> None:
        self.chunk = _chunk(loaded)
        self._window, self._notes = loaded.opened.window, notes
        self._loaded, self._n_likeliest = loaded, n_likeliest
        self._text = CachedText(loaded.model, n_likeliest)
        self.cost = self._text.cost
        self._most_rows = _most_rows(loaded)
        self._rows: dict[int, tuple[tuple[int, ...], NextToken]] = {}
        """What was read at the places of the cached text: the tokens asked for, and the answer."""

    def read(self, ids: Tokens, ends: Sequence[int], beside: Sequence[Ask], asks: Sequence[Ask]) -> list[NextToken]:
        """See `Road`; what reaches beyond the model's window is read otherwise where its masks cannot be given."""
        if self._is_beyond(asks):
            self.clear()
            self._beyond.chunk = self.chunk
            return self._beyond.read(ids, ends, beside, asks)
        try:
            self._follow(ids, ends, [*beside, *(ask for ask in asks if not ask.path)])
            twigs = {
                ask: answer
                for part in self._parted(asks)
                for ask, answer in zip(part, self._text.twigs(part), strict=True)
            }
        except OutOfMemory:
            self.clear()
            raise
        return [twigs[ask] if ask.path else self._answer(ask) for ask in asks]

    def begin(self, asks: Sequence[Ask]) -> None:
        """See `Road`; pieces end where they do, whatever the text before has left."""
        if "_beyond" in vars(self) or self._is_beyond(asks):  # told of in the notes, though it be known
            self._beyond.begin(asks)

    def clear(self) -> None:
        """See `Road`."""
        self._text.crop(0)
        self._rows.clear()

    def _is_beyond(self, asks: Sequence[Ask]) -> bool:
        """Whether asks reach beyond a window that cannot be heeded beside a cached text."""
        longest = max((ask.at + len(ask.path) for ask in asks), default=0)
        return self._window is not None and longest > self._window and self._loaded.text_window_fault is not None

    @cached_property
    def _beyond(self) -> "Road":
        """The road for texts beyond the window."""
        named = f"texts longer than the model's window of {self._window} tokens were read"
        road, how = _other_road(self._loaded, self._n_likeliest, self.cost)
        self._notes.append(f"{named} {how}: {self._loaded.text_window_fault}")
        return road

    def _follow(self, ids: Tokens, ends: Sequence[int], asks: Sequence[Ask]) -> None:
        """Have the cache hold a text, and its rows that are asked for; what it shares with the one before stays."""
        shared = shared_length(self._text.tokens, ids)
        kept = max((end for end in ends if end <= shared), default=0)
        while unread := [ask.at for ask in asks if ask.at <= kept and not self._has(ask)]:
            kept = max((end for end in ends if end < min(unread)), default=0)
        self._text.crop(kept)
        self._rows = {at: row for at, row in self._rows.items() if at <= kept}
        wanted: dict[int, set[int]] = {}
        for ask in asks:
            if ask.at > kept:
                wanted.setdefault(ask.at, set()).update(ask.tokens)
        for end in ends:
            places = sorted(at for at in wanted if len(self._text.tokens) < at <= end)
            while len(self._text.tokens) < end:
                part, places = places[: self._most_rows], places[self._most_rows :]
                stop = part[-1] if places else end
                rows = [Ask(at, (), tuple(sorted(wanted[at]))) for at in part]
                answers = self._text.extend(ids[len(self._text.tokens) : stop], rows)
                self._rows |= {row.at: (row.tokens, answer) for row, answer in zip(rows, answers, strict=True)}

    def _has(self, ask: Ask) -> bool:
        return ask.at in self._rows and set(ask.tokens) <= set(self._rows[ask.at][0])

    def _answer(self, ask: Ask) -> NextToken:
        tokens, row = self._rows[ask.at]
        place = {token: number for number, token in enumerate(tokens)}
        return NextToken(tuple(row.log_probs[place[token]] for token in ask.tokens), row.likeliest, row.is_finite)

    def _parted(self, asks: Sequence[Ask]) -> Iterator[list[Ask]]:
        """What is asked beyond the text, span by span, in parts that a pass can hold."""
        part: list[Ask] = []
        size = 0
        twigs = [ask for ask in asks if ask.path]
        for at in dict.fromkeys(ask.at for ask in twigs):
            own = [ask for ask in twigs if ask.at == at]
            nodes = len(grow_tree([ask.path for ask in own]).tokens)
            if part and size + nodes > min(self.chunk, self._most_rows):
                yield part
                part, size = [], 0
            part, size = part + own, size + nodes
        if part:
            yield part


class ForkedRoad:
    """Reads a text through one cache, and on a copy of that at every place what is asked beyond the text.

    Texts share nothing: a cache that cannot be cut cannot go back to where they part.
    """

    name = "on copies of the cached text"

    def __init__(self, loaded: LoadedModel, n_likeliest: int, cost: Cost | None = None) -> None:
        self.chunk = _chunk(loaded)
        self._text, self._most_rows = ForkedText(loaded.model, n_likeliest, cost), _most_rows(loaded)
        self.cost = self._text.cost

    def begin(self, asks: Sequence[Ask]) -> None:
        """See `Road`."""
        self.clear()

    def read(self, ids: Tokens, ends: Sequence[int], beside: Sequence[Ask], asks: Sequence[Ask]) -> list[NextToken]:
        """See `Road`; `beside` is of no use here."""
        held = self._text.tokens
        if ids[: len(held)] != held or min(ask.at for ask in asks) <= len(held):
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
        """See `Road`."""
        self._text.clear()


class AloneRoad:
    """Reads each sequence by itself; those that are beginnings of one another are one."""

    name = "each sequence alone"

    def __init__(self, loaded: LoadedModel, n_likeliest: int, cost: Cost | None = None) -> None:
        self.chunk = CHUNK
        self._model, self._n_likeliest = loaded.model, n_likeliest
        self.cost = Cost() if cost is None else cost

    def begin(self, asks: Sequence[Ask]) -> None:
        """See `Road`: nothing is held."""

    def read(self, ids: Tokens, ends: Sequence[int], beside: Sequence[Ask], asks: Sequence[Ask]) -> list[NextToken]:
        """See `Road`; `ends` and `beside` are of no use here."""
        sequences = [ids[: ask.at] + ask.path for ask in asks]
        answers: dict[int, NextToken] = {}
        for part in part_into_chains(sequences):
            tree = grow_tree([sequences[place] for place in part])
            read = read_batch(self._model, [tree], [asks[place].tokens for place in part], self._n_likeliest)
            answers |= dict(zip(part, read, strict=True))
            self.cost.add(len(tree.tokens), len(part))
        return [answers[place] for place in range(len(asks))]

    def clear(self) -> None:
        """See `Road`: nothing is held."""


def choose_road(loaded: LoadedModel, n_likeliest: int, notes: list[str]) -> Road:
    """The road on which a model's spans are read; why not the short one is added to `notes`."""
    if loaded.cache_fault is None:
        return CachedRoad(loaded, n_likeliest, notes)
    road, how = _other_road(loaded, n_likeliest)
    notes.append(f"spans were read {how}: {loaded.cache_fault}")
    return road


def new_road(loaded: LoadedModel, n_likeliest: int, like: Road) -> Road:
    """Another road of the same kind, with nothing read on it."""
    if isinstance(like, CachedRoad):
        return CachedRoad(loaded, n_likeliest, [])
    return ForkedRoad(loaded, n_likeliest) if isinstance(like, ForkedRoad) else AloneRoad(loaded, n_likeliest)


def _other_road(
    loaded: LoadedModel, n_likeliest: int, cost: Cost | None = None
) -> tuple["ForkedRoad | AloneRoad", str]:
    """The road for what cannot be read beside a cached text, and how that is read, in words."""
    if loaded.fork_fault is None:
        return ForkedRoad(loaded, n_likeliest, cost), "on copies of the cached text"
    return AloneRoad(loaded, n_likeliest, cost), f"one sequence after the other ({loaded.fork_fault})"


def _chunk(loaded: LoadedModel) -> int:
    return CHUNK if loaded.device == "cpu" else CHUNK_OF_A_GPU


def _most_rows(loaded: LoadedModel) -> int:
    """Most rows of a pass: their logits are no more than `LARGEST_LOGITS`."""
    head: Any = loaded.model.get_output_embeddings()
    return max(16, LARGEST_LOGITS // head.weight.shape[0])
