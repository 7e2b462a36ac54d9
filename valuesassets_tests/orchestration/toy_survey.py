"""A survey of two languages and two models in which nothing takes time: its assets are named and wired as the real
ones, and follow by the real conditions."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import dagster as dg

from valuesassets.orchestration.commands.run_study import QUIET
from valuesassets.orchestration.following.automation import SENSOR, STEP, analyses_of, automation_sensor, condition_of
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.partitions import cell_key, cell_partitions, part_partitions
from valuesassets.records.study import Study, load_study

MODELS, LANGUAGES = ("reference-mono", "reference-multi"), ("eng", "deu")
CELLS = [str(cell_key(model, language)) for model in MODELS for language in LANGUAGES]
ANALYSES = {"respondents", "quality_report", "distances", "report"}
INPUTS = {
    "aligned_questions": [],
    "trials": ["aligned_questions"],
    "master_questions": [],
    "sampled_answers": [],
    "negative_controls": [],
    "readings": ["trials"],
    "probe_distributions": ["readings", "trials", "aligned_questions"],
    "calibration": ["probe_distributions", "sampled_answers"],
    "respondents": ["aligned_questions"],
    "quality_report": ["probe_distributions"],
    "distances": ["probe_distributions", "quality_report"],
    "report": ["master_questions", "quality_report", "distances", "respondents", "calibration", "negative_controls"],
}
STEPS = dict.fromkeys(ANALYSES, "analysis") | {
    "probe_distributions": "cell",
    "calibration": "cell",
    "master_questions": "basis",
}

CHECK = "batches_do_not_matter"


@cache
def toy_study() -> Study:
    demo = load_study("demo_survey")
    return demo.model_copy(update={"languages": {code: demo.languages[code] for code in LANGUAGES}})


@dataclass
class ToySurvey:
    """The graph on an instance.

    Attributes:
        failing: names of assets that fail for now.
        doubtful: what the check of readings says, where it fails.
        made: (name, partition) of all that was made by a run, in order.
    """

    instance: dg.DagsterInstance
    failing: set[str] = field(default_factory=set)
    doubtful: str | None = None
    made: list[tuple[str, str | None]] = field(default_factory=list)
    cursor: str | None = None
    said: int = 0

    def __post_init__(self) -> None:
        self.load()
        for name in ("aligned_questions", "trials"):
            for language in LANGUAGES:
                self.report(name, language)
        for name in ("master_questions", "sampled_answers", "negative_controls"):
            self.report(name)

    def load(self, code_version: str = "1") -> None:
        """Load the definitions."""
        assets = [self._asset(name, code_version) for name in INPUTS]
        jobs = [dg.define_asset_job("analyse", analyses_of("survey"))]
        jobs += [_empty_job(name) for name in ("demo", "probe_grid")]
        sensors = [automation_sensor(assets)]
        self.definitions = dg.Definitions(assets, sensors=sensors, jobs=jobs, executor=dg.in_process_executor)
        self.repository = self.definitions.get_repository_def()

    def report(self, name: str, partition: str | None = None) -> None:
        """Something came from elsewhere."""
        self.said += 1
        tags = {"dagster/data_version": f"{name} {partition} {self.said}"}
        self.instance.report_runless_asset_event(dg.AssetMaterialization(key(name), partition=partition, tags=tags))

    def arrive(self, *cells: str) -> None:
        """Readings come from elsewhere."""
        for cell in cells:
            self.report("readings", cell)

    def make(self, *names: str, partition: str | None = None, job: str | None = None, tags: Any = None) -> bool:
        """Make assets in one run."""
        chosen = {} if job else {"asset_selection": list(map(key, names))}
        result = self._job(job).execute_in_process(
            QUIET, self.instance, partition, raise_on_error=False, tags=tags, **chosen
        )
        return result.success

    def tick(self) -> list[tuple[set[str], str | None]]:
        """One look of the sensor: (assets, partition) of each run that it asks for."""
        context = dg.build_sensor_context(self.instance, cursor=self.cursor, repository_def=self.repository)
        found = self.repository.get_sensor_def(SENSOR).evaluate_tick(context)
        self.cursor = found.cursor
        return [({key.path[-1] for key in run.asset_selection}, run.partition_key) for run in found.run_requests or []]

    def follow(self) -> list[tuple[set[str], str | None]]:
        """One look of the sensor, and the runs that it asks for."""
        asked = self.tick()
        for names, partition in asked:
            self.make(*names, partition=partition)
        return asked

    def start(self, *names: str, job: str | None = None) -> dg.DagsterRun:
        """A run that has begun, and does not end by itself."""
        return self.instance.create_run_for_job(
            self._job(job),
            status=dg.DagsterRunStatus.STARTED,
            asset_selection=None if job else frozenset(map(key, names)),
        )

    def end(self, run: dg.DagsterRun) -> None:
        self.instance.report_run_failed(run)

    def _job(self, name: str | None) -> dg.JobDefinition:
        return self.repository.get_job(name) if name else self.definitions.resolve_implicit_global_asset_job_def()

    def _asset(self, name: str, code_version: str) -> dg.AssetsDefinition:
        step, study = STEPS.get(name), toy_study()
        partitions: Any = None
        if name in ("aligned_questions", "trials"):
            partitions = part_partitions(study, SURVEY)
        if name in ("readings", "probe_distributions", "calibration"):
            partitions = cell_partitions(study, SURVEY)

        @dg.asset(
            name=name,
            key_prefix="survey",
            tags={STEP: step} if step else {},
            partitions_def=partitions,
            deps=list(map(key, INPUTS[name])),
            code_version=code_version,
            automation_condition=condition_of(study, "survey", step),
            check_specs=[dg.AssetCheckSpec(CHECK, asset=key(name))] if name == "readings" else None,
        )
        def made(context: dg.AssetExecutionContext):
            if name in self.failing:
                raise dg.Failure(f"{name} is broken", allow_retries=False)
            self.made.append((name, context.partition_key if context.has_partition_key else None))
            found = dg.AssetCheckResult(passed=self.doubtful is None, check_name=CHECK, description=self.doubtful)
            return dg.MaterializeResult(check_results=[found] if name == "readings" else [])

        return made


def key(name: str) -> dg.AssetKey:
    return dg.AssetKey(["survey", name])


def _empty_job(name: str) -> dg.JobDefinition:
    @dg.op
    def nothing():
        pass

    @dg.job(name=name)
    def empty():
        nothing()

    return empty
