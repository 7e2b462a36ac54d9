"""Asset checks: sentences that are true when passing, one result per partition, every failing row named."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import dagster as dg

from valuesassets.orchestration.io_managers import table_of

MAX_ROWS = 50
"""Failing rows that a check shows; the count is always whole."""


@dataclass(frozen=True)
class Sentence:
    """A check: its name is a sentence; what it looks at, and how serious a failure is."""

    name: str
    description: str
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR

    def spec(self, asset: str, partitions: dg.PartitionsDefinition | None = None) -> dg.AssetCheckSpec:
        """The spec of this check on a survey asset."""
        return dg.AssetCheckSpec(
            self.name, asset=dg.AssetKey(["survey", asset]), description=self.description, partitions_def=partitions
        )

    def result(self, failing: Sequence[Any], looked_at: int, **metadata: Any) -> dg.AssetCheckResult:
        """Passed when nothing fails.

        Args:
            failing: dataclass records or dicts, each one row for a person to review.
            looked_at: how many things were looked at.
        """
        rows = [row if isinstance(row, dict) else asdict(row) for row in failing]
        shown: dict[str, Any] = {"looked_at": looked_at, "failing": len(rows)} | metadata
        if rows:
            shown["failing_rows"] = table_of(rows[:MAX_ROWS])
        return dg.AssetCheckResult(
            passed=not rows, check_name=self.name, severity=self.severity, metadata=shown, description=_first(rows)
        )


def _first(rows: list[dict[str, Any]]) -> str | None:
    if not rows:
        return None
    more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
    return "; ".join(f"{key}: {value}" for key, value in rows[0].items() if value not in (None, ""))[:300] + more


WARN = dg.AssetCheckSeverity.WARN

QUESTIONS_ARE_SOUND = Sentence(
    "extracted_questions_are_sound", "Text, options and codes of every extracted question are whole and on their page."
)
MASTER_IS_COVERED = Sentence(
    "master_questions_are_covered", "Every question of the master list was aligned, and no code contradicts it."
)
BATCHES_DO_NOT_MATTER = Sentence(
    "batches_do_not_change_the_answer", "Trials read one by one and in the batches of the plan agree within tolerance."
)
PREFLIGHT_PASSES = Sentence("models_are_fit_for_the_grid", "Every model of the family passes the preflight gates.")
PREFLIGHT_IS_PLAUSIBLE = Sentence(
    "preflight_answers_are_plausible", "Answers are not near uniform and lean the way every sane model leans.", WARN
)
EVERY_QUESTION_IS_READ = Sentence("every_question_is_read", "Every question has a distribution in both orders.")
P_VALID_IS_SUFFICIENT = Sentence(
    "p_valid_is_sufficient", "No question's P_valid lies below the threshold, and the median is above the cell's.", WARN
)
POSITION_BIAS_IS_SMALL = Sentence(
    "position_bias_is_small", "No question's answers move by more than the threshold when options are reversed.", WARN
)
ESTIMATORS_AGREE = Sentence(
    "estimators_agree", "No other estimator moves an item's answers by more than the threshold.", WARN
)
PLANTS_ARE_RECOVERED = Sentence(
    "plants_are_recovered", "What was planted into the reference model is read back, as scored and as written."
)
WRONG_LANGUAGES_FAIL = Sentence(
    "another_languages_model_fails", "No reference model of another language passes for the one that was trained."
)
CELLS_CAN_BE_TRUSTED = Sentence(
    "every_cell_can_be_trusted", "No cell is missing or flagged, and no question is dropped.", WARN
)
