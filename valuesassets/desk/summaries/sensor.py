"""The sensor that summarises every backfill once it has ended."""

from pathlib import Path

import dagster as dg

SENSOR = "summarise_backfills"
SECONDS_BETWEEN_LOOKS = 30


def backfill_sensor(root: Path, study: str) -> dg.SensorDefinition:
    """The sensor, which runs by default: its pages, in `<root>/<study>/summaries/`, are cheap, and notices need an
    address of the user."""

    @dg.sensor(
        name=SENSOR,
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Writes a page for each backfill that has ended: what was requested, what was done, what failed "
        "and why, and what to do next. Sends a notice to the addresses in VALUESASSETS_NOTIFY.",
    )
    def summarise_backfills(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        from valuesassets.desk.summaries.looking import look  # slow to import, and not needed to load the graph

        if context.repository_def is None:
            raise dg.DagsterInvariantViolationError("a sensor without a repository")
        lines, cursor = look(context.instance, context.repository_def, root, study, context.cursor)
        for line in lines:
            context.log.info(line)
        return dg.SensorResult(skip_reason=" | ".join(lines) or "no backfill has ended", cursor=cursor)

    return summarise_backfills
