"""One pass of trials through a model: plans trees, reads them batch by batch, and turns them into readings."""

from collections.abc import Callable, Sequence

from valuesassets.models.cached_text import CHUNK, CHUNK_OF_A_GPU
from valuesassets.models.engine import CachedPrefix, OutOfMemory, read_batch
from valuesassets.models.kept_prefixes import keep_prefix
from valuesassets.models.known_readings import KnownReadings
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.reading_plan import chains, list_rows, order_batches, part_rows, whole_trees
from valuesassets.models.spelled_trials import TRIAL, SpelledTrial, failed
from valuesassets.models.token_trees import BatchBudget
from valuesassets.records.trials import Reading
from valuesassets.spelling.open_reading import OUTSIDE_KEPT, OpenReading
from valuesassets.spelling.spellings import SpelledPrompt, find_terminators
from valuesassets.spelling.tokens import Tokens

OnProgress = Callable[[int, int], None]


class ReadingPass:
    """Plans the passes for some trials, reads them, and turns them into readings.

    Attributes:
        batches, tokens: counts of the plan, with padding and cached prefixes.
        kept_prefixes: number of prefixes that are cached while the trees behind them are read.
        beside: keys of the trials with a row beside a cached prefix.
        notes: what a person should know about the readings, in words.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        entries: Sequence[SpelledTrial],
        budget: BatchBudget,
        store: KnownReadings | None = None,
        on_progress: OnProgress | None = None,
        as_chains: bool = False,
    ) -> None:
        self._loaded, self._store, self._on_progress, self._as_chains = loaded, store, on_progress, as_chains
        self._entries = {entry.key: entry for entry in entries}
        self._open = {key: self._begin(entry.spelled) for key, entry in self._entries.items()}
        self._readings: dict[str, Reading] = {}
        self.notes: list[str] = []
        self.budget = budget
        self._prefix: CachedPrefix | None = None
        self._chunk = CHUNK if loaded.device == "cpu" else CHUNK_OF_A_GPU
        rows = list_rows(self._entries.values())
        self._parts = chains(rows) if as_chains else part_rows(loaded, rows, budget.rows, self.notes)
        self._plan = order_batches(self._parts, range(len(self._parts)), budget)
        prefixes = {part.prefix for part in self._parts if part.prefix}
        self.kept_prefixes = len(prefixes)
        self.beside = frozenset(row.key for part in self._parts if part.prefix for row in part.rows)
        self.batches = len(self._plan) + sum(-(-len(prefix) // self._chunk) for prefix in prefixes)
        self.tokens = sum(map(len, prefixes))
        self.tokens += sum(len(batch) * len(self._parts[batch[0]].tree.tokens) for batch in self._plan)

    def _begin(self, spelled: SpelledPrompt) -> OpenReading:
        tokenizer = self._loaded.tokenizer
        return OpenReading(tokenizer, spelled, find_terminators(tokenizer, spelled, self._loaded.eos_ids))

    def read(self) -> dict[str, Reading]:
        """The readings by key, in the order of the entries."""
        for key in self._entries:
            reading = self._store.get(key) if self._store else None
            if reading:
                self._readings[key] = reading
            elif fault := self._open[key].fault:
                self._readings[key] = failed(key, fault)
        batches = [batch for batch in self._plan if any(self._is_waiting(index) for index in batch)]
        while batches:
            try:
                self._read_batch(batches[0])
            except OutOfMemory:
                batches = self._halve(batches)
            else:
                del batches[0]
        self._prefix = None
        return {key: self._readings[key] for key in self._entries}

    def _is_waiting(self, index: int) -> bool:
        return any(row.key not in self._readings for row in self._parts[index].rows)

    def _read_batch(self, batch: Sequence[int]) -> None:
        rows = [row for index in batch for row in self._parts[index].rows]
        token_ids = [self._open[row.key].wanted(row.node) for row in rows]
        most = OUTSIDE_KEPT + max(len(self._entries[row.key].spelled.trie.children[row.node]) for row in rows)
        self._keep(self._parts[batch[0]].prefix)
        next_tokens = read_batch(
            self._loaded.model, [self._parts[index].tree for index in batch], token_ids, most, self._prefix
        )
        for row, next_token in zip(rows, next_tokens, strict=True):
            self._open[row.key].note(row.node, next_token)
        finished = [key for key in dict.fromkeys(row.key for row in rows) if self._open[key].is_whole]
        new = {key: self._close(key) for key in finished if key not in self._readings}
        self._readings |= new
        if self._store:
            self._store.add(new.values())
        if self._on_progress and new:
            self._on_progress(len(self._readings), len(self._entries))

    def _keep(self, prefix: Tokens) -> None:
        """Hold a prefix in the cache, and no other; none if it is empty."""
        if self._prefix is not None and self._prefix.tokens != prefix:
            self._prefix = None
        if self._prefix is None and prefix:
            self._prefix = keep_prefix(self._loaded.model, prefix, self._chunk)

    def _close(self, key: str) -> Reading:
        entry = self._entries[key]
        if not self._open[key].is_broken:
            return self._open[key].close(key)
        if not self._as_chains:  # another branch of its tree may be the cause
            return ReadingPass(self._loaded, [entry], BatchBudget(1, 1), as_chains=True).read()[key]
        return broken(key, self._loaded.opened.dtype)

    def _halve(self, batches: list[list[int]]) -> list[list[int]]:
        """Plan the remaining batches anew at half the size; a tree that does not fit alone becomes single sequences."""
        (first, *more), *rest = batches
        prefix = self._parts[first].prefix
        if prefix and self._prefix is None:
            return self._drop_prefix(prefix, batches)
        if more:
            self.budget = self.budget.halved()
            self.notes.append(f"out of memory: went on with batches of {self.budget.tokens} tokens")
            return order_batches(self._parts, [index for batch in batches for index in batch], self.budget)
        self._prefix = None
        if not prefix and self._parts[first].tree.is_chain:
            self._give_up(first)
            return rest
        new = chains(self._parts[first].rows)
        self.notes.append(f"out of memory: read {len(new)} sequences one by one")
        self._parts += new
        return [[index] for index in range(len(self._parts) - len(new), len(self._parts))] + rest

    def _drop_prefix(self, prefix: Tokens, batches: list[list[int]]) -> list[list[int]]:
        """Plan the remaining batches without a prefix that does not fit: its rows go into trees of whole sequences."""
        parts_behind, others = [], []
        for index in (index for batch in batches for index in batch):
            (parts_behind if self._parts[index].prefix == prefix else others).append(index)
        self.notes.append(f"out of memory: a beginning of {len(prefix)} tokens was read with every tree")
        rows = [row for index in parts_behind for row in self._parts[index].rows]
        new = whole_trees(self._loaded, rows, self.budget.rows, self.notes)
        self._parts += new
        return order_batches(self._parts, [*range(len(self._parts) - len(new), len(self._parts)), *others], self.budget)

    def _give_up(self, index: int) -> None:
        """Fail the trials of a chain that does not fit into memory."""
        tokens, device = len(self._parts[index].tree.tokens), self._loaded.device
        reason = f"{TRIAL}: {tokens} tokens do not fit into the memory of {device}; free some or use a larger device"
        for key in {row.key for row in self._parts[index].rows} - set(self._readings):
            self._readings[key] = failed(key, reason)


def broken(key: str, dtype: str) -> Reading:
    """The failed reading of a trial with NaN or infinite logits."""
    what_to_do = "the weights are damaged: download or save them again" if dtype == "float32" else "ask for float32"
    return failed(key, f"NaN or infinite logits at {TRIAL} (dtype {dtype}); {what_to_do}")
