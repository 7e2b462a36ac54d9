"""How an asset of an instrument is declared: its key, code version and the way its errors look."""

import functools
import inspect
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import dagster as dg
import pandas as pd
from dagster_pandas import PandasColumn, create_dagster_pandas_dataframe_type

from valuesassets.dagster_internals.tags import MADE_OF
from valuesassets.desk.inputs import NO_CELL
from valuesassets.desk.staleness import ENTRIES, entries_of_partition, tags_of_entries
from valuesassets.orchestration.checks import Sentence
from valuesassets.orchestration.code_versions import PACKAGE, code_version, entries_of, homes
from valuesassets.orchestration.first_look.shown import SUMMARY, Line, Picture, docs_of, first_look, link_to
from valuesassets.orchestration.following.automation import STEP, Step, condition_of
from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.io_managers import DICT_OF_PARTITIONS
from valuesassets.orchestration.partitions import own_partition, why_no_cell
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import StudyError, ValuesAssetsError
from valuesassets.records.study import Study
from valuesassets.records.table import Table
from valuesassets.records.tables import TABLES

NODE_JOBS = {
    "weights": "valuesassets.node.fetch_weights",
    "readings": "valuesassets.node.score",
    "preflight": "valuesassets.node.score",
    "negative_controls": "valuesassets.node.score",
    "self_calibration": "valuesassets.node.score",
    "reference_models": "valuesassets.node.train_reference",
    "sampled_answers": "valuesassets.node.sample",
    "decoded_ratings": "valuesassets.node.generate",
    "answers": "valuesassets.node.generate",
    "reasons": "valuesassets.node.generate",
    "vectors": "valuesassets.node.embed",
    "question_vectors": "valuesassets.node.embed",
    "reason_vectors": "valuesassets.node.embed",
    "axes": "valuesassets.node.embed",
    "aligned_questions": "valuesassets.node.embed",
}
"""Assets that run a node job: its code is theirs too, though nothing here imports it."""
NODE_ONLY = {"weights", "readings", "answers"}
"""Those that the instrument has no file for: the node job is all there is."""
KINDS = {kind: {"table", "parquet"} for kind in ("frame", "frames", "trials")} | {
    "csv": {"table", "csv"},
    "questions": {"table", "json"},
    "html": {"report", "html"},
}
"""What the UI marks an asset as that is written so, where the asset says nothing else."""
LOG = "log.txt"
STORAGE = dg.ResourceParam[Storage]
READS = "reads_of_the_study"
"""Metadata of an asset: the tables and keys of the study file that make it stale."""


def declare(
    study: Study,
    instrument: Instrument,
    group: str,
    *,
    checks: Iterable[Sentence] = (),
    stamp: str = "",
    inputs: Sequence[str] = (),
    many: Sequence[str] = (),
    reads: Sequence[str] = tuple(Study.model_fields),
    entries: Sequence[str] = (),
    files: Mapping[str, str] = MappingProxyType({}),
    modules: Sequence[str] = (),
    wiring: str = "",
    docs: str,
    line: Line | None = None,
    picture: Picture | None = None,
    step: Step | None = None,
    **options: Any,
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """Declare the asset `<instrument>/<function name>`, derived by the instrument's file of the same name.

    A parameter of the function is the instrument's asset of that name, unless it is a resource; `inputs` are more of
    them, for its `**` parameter. Those in `many` are given as a dict of the partitions that exist. A `stamp` of what
    lies outside the project goes into the version. An error of ours becomes a dagster Failure with its one line and a
    link to its node job's log, never retried: the input has to be mended first. Asking models costs: those assets have
    the tag `asks_models`.

    Args:
        group: as the survey calls it.
        reads: tables and keys of the study that the derivation reads, and goes stale with; always its name: another
            study of the same instance has files of its own.
        entries: tables of which each entry counts for itself, see `entries_of`; a new one makes nothing stale.
        files: stamps of files by partition, which count for themselves too.
        checks: sentences about the asset, one result of each per partition.
        modules: what the function names and does not import; its version covers them too.
        wiring: what the function was made from, where several are made alike.
        docs: page of the documentation that it is described on.
        line: what the UI says of its value, where it does not say so itself.
        picture: what the UI shows of its value, where it draws none itself.
        step: what it is between readings and report: whether it follows arriving cells by itself.
    """

    def declared(function: Callable[..., Any]) -> dg.AssetsDefinition:
        name = function.__name__
        key = instrument.key(name)
        own = [] if name in NODE_ONLY else homes(instrument.home or f"{PACKAGE}.instruments.{instrument.name}", name)
        reached = [*own, *modules, *([NODE_JOBS[name]] if name in NODE_JOBS else [])]
        read = sorted({"name", *reads})
        known = entries_of(study, entries) | ({"files": dict(files)} if files else {})
        data = "" if name in NODE_ONLY else instrument.name
        source = inspect.getsource(function) + wiring

        @functools.wraps(function)
        def failing_clearly(*args: Any, **kwargs: Any) -> Any:
            began, context = time.time(), dg.AssetExecutionContext.get()
            partition = own_partition(context)
            try:
                _require_partition(context, partition)
                if why := why_no_cell(context.assets_def.partitions_def, partition):
                    return _no_cell(context, why, is_frame="dagster_type" in options)
                result = first_look(function(*args, **kwargs), line, picture, study)
                entries = entries_of_partition(known, partition)
                made_of = {ENTRIES: dg.MetadataValue.json(entries)} if known else {}
                return result._replace(
                    metadata={**(result.metadata or {}), **made_of},
                    tags={**(result.tags or {}), **tags_of_entries(entries)},
                )
            except ValuesAssetsError as error:
                storage, told = kwargs.get("storage"), {}
                log = storage.job_folder(context.asset_key, partition) / LOG if storage else None
                if storage and log and log.exists() and log.stat().st_mtime >= began:  # else it is of another run
                    told["log"] = link_to(storage, log)
                raise dg.Failure(str(error), told, allow_retries=False) from error

        # Dagster reads "MaterializeResult" as "no value" where an asset has checks; ours carry values.
        signature = inspect.signature(function)
        untyped = signature.replace(
            parameters=[_as_resource(each) for each in signature.parameters.values()],
            return_annotation=inspect.Signature.empty,
        )
        failing_clearly.__signature__ = untyped  # type: ignore[attr-defined]
        taken = [
            each.name
            for each in untyped.parameters.values()
            if each.kind is not each.VAR_KEYWORD and each.annotation not in (dg.AssetExecutionContext, STORAGE)
        ]
        ins = {
            each: dg.AssetIn(instrument.key(each), metadata=DICT_OF_PARTITIONS if each in many else None)
            for each in (*taken, *inputs)
        }
        if options.get("io_manager_key") == "frame" and name in TABLES:
            options.setdefault("dagster_type", frame_type(TABLES[name]))
        options.setdefault("kinds", KINDS.get(options.get("io_manager_key", "")))
        return dg.asset(
            key=key,
            ins=ins | options.pop("ins", {}),
            group_name=instrument.called(group),
            tags={"study": study.name}
            | ({"asks_models": "yes"} if name in NODE_JOBS else {})
            | ({STEP: step} if step else {}),
            owners=list(study.owners) or None,
            metadata={"docs": docs_of(docs), READS: sorted({*read, *entries})} | ({ENTRIES: known} if known else {}),
            code_version=code_version(reached, study, read, source, data) + stamp[:8],
            check_specs=[each.spec(key, docs, options.get("partitions_def")) for each in checks] or None,
            automation_condition=condition_of(study, instrument.name, step),
            **options,
        )(failing_clearly)

    return declared


def _as_resource(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter as Dagster is to see it: the storage is no input; IO managers check inputs."""
    if parameter.annotation is Storage:
        return parameter.replace(annotation=STORAGE)
    is_input = parameter.annotation is not dg.AssetExecutionContext
    return parameter.replace(annotation=parameter.empty) if is_input else parameter


def _no_cell(context: dg.AssetExecutionContext, why: str, is_frame: bool) -> dg.MaterializeResult[Any]:
    """The result of a partition that is no cell: nothing is asked or written, its checks have nothing to look at."""
    # The Dagster type of a frame takes nothing else than a frame; it is not written.
    value: dict[str, Any] = {"value": pd.DataFrame()} if is_frame else {}
    context.log.info(why)
    checks = [
        dg.AssetCheckResult(passed=True, check_name=spec.name, description=why)
        for spec in context.assets_def.check_specs
    ]
    return dg.MaterializeResult(metadata={SUMMARY: why}, tags={MADE_OF: NO_CELL}, check_results=checks, **value)


def _require_partition(context: dg.AssetExecutionContext, asked: str | None) -> None:
    """See that a run which was launched by hand names a partition that there is; a click never names another.

    Raises:
        StudyError: names those that there are.
    """
    partitions = context.assets_def.partitions_def
    if partitions is not None and (asked is None or not partitions.has_partition_key(str(asked))):
        known = [str(key) for key in partitions.get_partition_keys()]
        said = "a partition has to be chosen" if asked is None else f"{str(asked)!r} is none of its partitions"
        raise StudyError(f"{context.asset_key.to_user_string()}: {said}; there are {', '.join(known)}")


@cache
def frame_type(table: Table) -> dg.DagsterType:
    """The dagster-pandas type of a table: what the UI says of an asset's value before it was ever made.

    No column has to be there: a table without rows has none yet. What may be written is checked by the table itself.
    """
    return create_dagster_pandas_dataframe_type(
        name=table.name.replace("_", " ").title().replace(" ", ""),
        description=f"One row is {table.row}.",
        columns=[PandasColumn(column.name, is_required=False) for column in table.columns if not column.pattern],
    )
