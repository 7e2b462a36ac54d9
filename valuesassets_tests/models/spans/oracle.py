"""The oracle of spans: one full pass in float64 for every step of every candidate; no trie, no cache, no window."""

import functools
import math

from valuesassets_tests.models.brute_force import BruteForce


class SpanOracle(BruteForce):
    """Log-probabilities of candidates in places of a text, by the definition."""

    def __init__(self, folder):
        super().__init__(folder)
        self.ids = functools.cache(super().ids)

    def log_probs(self, before, candidates, close, leads=("",)):
        """Log-probability (nats) of every candidate behind a text, with any of `leads` before it.

        With leads but the first, a candidate counts where that leaves what stands before it as it was, and where no
        other is spelled so.
        """
        start, said, whose = self.ids(before), {}, {}
        for lead in leads:
            for place, text in enumerate(candidates):
                ids = self.ids(before + lead + text)
                path = tuple(ids[len(start) :])
                if lead == leads[0] or (ids[: len(start)] == start and path not in said):
                    said[path], whose[path] = before + lead + text, place

        def stops(here):
            path, longer = [*start, *here], [self.ids(said[here] + end) for end in close]
            return {ids[len(path)] for ids in longer if ids[: len(path)] == path and len(ids) > len(path)}

        probs = [0.0] * len(candidates)
        for path, place in whose.items():
            probs[place] += self.path_prob(start, path, said, stops)
        return [math.log(prob) for prob in probs]

    def late(self, text, at, candidates, before):
        """The published reading: the row of the answer's first token, those behind it for later tokens."""
        ids, start = self.ids(text), len(self.ids(before))
        found = []
        for candidate in candidates:
            path = self.ids(before + candidate)[start:]
            rows = [ids[: at + 1 + step] for step in range(len(path)) if at + step < len(ids)]
            found.append(
                math.fsum(math.log(self.next_probs(row)[token]) for row, token in zip(rows, path, strict=False))
            )
        return found
