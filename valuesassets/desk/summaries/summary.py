"""The summary of an ended backfill: as records, as a page and in one line."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from valuesassets.records.templates import template

Outcome = Literal["done", "failed", "cancelled", "not made"]
Partition = tuple[str, ...]
"""(), (language,), (model,), or for a cell (model, part)."""
MARKS: dict[Outcome, str] = {"done": "✓", "failed": "✗", "cancelled": "–", "not made": "○"}
LINES_OF_A_NOTICE = 10
NAMED = 3
"""Most assets that a title names."""


@dataclass(frozen=True)
class Failure:
    """A failed run with the first line of its error, or a failed check."""

    assets: tuple[str, ...]  # full keys
    partition: Partition
    reason: str
    run_id: str
    check: str = ""
    severity: str = ""

    @property
    def names(self) -> str:
        """The assets' names, without instruments."""
        return ", ".join(asset.rpartition("/")[2] for asset in self.assets)


@dataclass(frozen=True)
class BackfillSummary:
    """What a backfill requested, and the outcomes.

    Attributes:
        status: `completed`, `cancelled`, or `failed` if Dagster could not finish it.
        began: seconds since 1970.
        assets: the outcome of each partition, by the asset's full key.
        error: why Dagster could not finish it, or None.
    """

    study: str
    backfill_id: str
    status: str
    began: float
    seconds: float
    assets: dict[str, dict[Partition, Outcome]]
    failed_runs: list[Failure]
    failed_checks: list[Failure]
    error: str | None = None

    @property
    def counts(self) -> dict[Outcome, int]:
        """Number of partitions for each outcome that occurs."""
        return counted(outcome for outcomes in self.assets.values() for outcome in outcomes.values())

    @property
    def has_failed(self) -> bool:
        """Whether anything that was requested is missing."""
        return bool(self.counts.keys() - {"done"}) or self.error is not None

    @property
    def ended(self) -> str:
        """How it ended, in words; a backfill with missing parts is never called completed."""
        return "ended with failures" if self.status == "completed" and self.has_failed else self.status

    @property
    def title(self) -> str:
        """Assets, time and outcomes in one line, such as `readings, 2026-11-29 17:00 UTC: 40 done, 4 failed`."""
        nouns = [asset.rpartition("/")[2] for asset in self.assets]
        more = f" and {len(nouns) - NAMED} more" if len(nouns) > NAMED else ""
        return f"{', '.join(nouns[:NAMED]) or 'backfill'}{more}, {self.begin}: {self._outcomes}"

    @property
    def begin(self) -> str:
        """Time at which it began."""
        return datetime.fromtimestamp(self.began, UTC).strftime("%Y-%m-%d %H:%M UTC")

    @property
    def _outcomes(self) -> str:
        return ", ".join(f"{count} {outcome}" for outcome, count in self.counts.items()) or "nothing was requested"

    @property
    def line(self) -> str:
        """The summary in one line, such as `backfill abcdefgh completed in 12 min: 40 done; 2 checks failed`."""
        n_checks = len(self.failed_checks)
        checks = f"; {n_checks} {'check' if n_checks == 1 else 'checks'} failed" if n_checks else ""
        return f"backfill {self.backfill_id} {self.ended} in {duration(self.seconds)}: {self._outcomes}{checks}"

    def page(self, ui: str) -> str:
        """A self-contained HTML page; `ui` is the address of the web UI, without a slash at the end."""
        page = template("valuesassets.desk.summaries", "summary", counted=counted, duration=duration)
        return page.render(summary=self, ui=ui, marks=MARKS)

    def notice(self, page: str) -> str:
        """The summary as a few lines of text, with the address of its page."""
        failures = [f"- {'/'.join(run.partition) or 'no partition'}: {run.reason}" for run in self.failed_runs]
        more = [f"- and {len(failures) - LINES_OF_A_NOTICE} more"] if len(failures) > LINES_OF_A_NOTICE else []
        error = [self.error] if self.error else []
        return "\n".join([f"{self.study}: {self.line}", *error, *failures[:LINES_OF_A_NOTICE], *more, page])


def counted(outcomes: Iterable[Outcome]) -> dict[Outcome, int]:
    """Number of each outcome that occurs."""
    counts = Counter(outcomes)
    return {outcome: counts[outcome] for outcome in MARKS if counts[outcome]}


def duration(seconds: float) -> str:
    """A duration in a suitable unit.

    >>> duration(42), duration(600), duration(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
