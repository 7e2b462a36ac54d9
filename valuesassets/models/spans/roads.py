"""The two roads on which spans are read: beside one cached text, or each sequence alone where that is not exact."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from valuesassets.models.cached_text import CHUNK, CHUNK_OF_A_GPU, LARGEST_LOGITS, Ask, CachedText, Cost
from valuesassets.models.engine import NextToken, OutOfMemory, read_batch
from valuesassets.models.loading import LoadedModel
from valuesassets.models.reading_plan import WINDOWS
from valuesassets.models.token_trees import Tokens, grow_tree, part_into_chains, shared_length


class Road(Protocol):
    """A way to read what comes next at many places of texts, one text after the other."""

    name: str
    """What a file's metadata calls it."""
    chunk: int
    """Most tokens of a text that go through together."""
    cost: Cost
    """What has gone through the model."""

    def read(self, ids: Tokens, ends: Sequence[int], beside: Sequence[Ask], asks: Sequence[Ask]) -> list[NextToken]:
        """What comes next at every ask of a text.

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
        self.chunk = CHUNK if loaded.device == "cpu" else CHUNK_OF_A_GPU
        self._window, self._notes = loaded.opened.least_setting(WINDOWS), notes
        self._alone = AloneRoad(loaded, n_likeliest)
        self._text = CachedText(loaded.model, n_likeliest)
        self.cost = self._alone.cost = self._text.cost
        head: Any = loaded.model.get_output_embeddings()
        self._most_rows = max(16, LARGEST_LOGITS // head.weight.shape[0])
        self._rows: dict[int, tuple[tuple[int, ...], NextToken]] = {}
        """What was read at the places of the cached text: the tokens asked for, and the answer."""

    def read(self, ids: Tokens, ends: Sequence[int], beside: Sequence[Ask], asks: Sequence[Ask]) -> list[NextToken]:
        """See `Road`; what reaches beyond the model's window is read alone: the mask of twigs knows no window."""
        if self._window is not None and max(ask.at + len(ask.path) for ask in asks) > self._window:
            note = (
                f"texts longer than the model's window of {self._window} tokens were read one sequence after the other"
            )
            self._notes += [note] if note not in self._notes else []
            return self._alone.read(ids, ends, beside, asks)
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

    def clear(self) -> None:
        """See `Road`."""
        self._text.crop(0)
        self._rows.clear()

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


class AloneRoad:
    """Reads each sequence by itself; those that are beginnings of one another are one."""

    name = "each sequence alone"

    def __init__(self, loaded: LoadedModel, n_likeliest: int) -> None:
        self.chunk = CHUNK
        self._model, self._n_likeliest = loaded.model, n_likeliest
        self.cost = Cost()

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
    notes.append(f"spans were read one sequence after the other: {loaded.cache_fault}")
    return AloneRoad(loaded, n_likeliest)


def new_road(loaded: LoadedModel, n_likeliest: int, like: Road) -> Road:
    """Another road of the same kind, with nothing read on it."""
    return CachedRoad(loaded, n_likeliest, []) if isinstance(like, CachedRoad) else AloneRoad(loaded, n_likeliest)
