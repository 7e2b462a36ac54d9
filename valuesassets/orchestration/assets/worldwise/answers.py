"""Worldwise as a graph, second part: what models write to dilemmas, as vectors and as positions on the axes."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.instruments.worldwise.report import lines as own_lines
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.embedding import embed_texts
from valuesassets.orchestration.assets.grid import models_first
from valuesassets.orchestration.assets.worldwise import checks
from valuesassets.orchestration.first_look import lines
from valuesassets.orchestration.grid.cells import generate_job
from valuesassets.orchestration.grid.node_jobs import run_node_job, shown_log
from valuesassets.orchestration.grid.shown_records import judge_versions, version_checks
from valuesassets.orchestration.instruments import WORLDWISE
from valuesassets.orchestration.partitions import cell_of, cell_partitions, model_partitions, part_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData
from valuesassets.records.files import sha256_file, sha256_json
from valuesassets.records.frames import records, rows, rows_where
from valuesassets.records.parquet import read_answers, table_metadata
from valuesassets.records.settings.worldwise import CONTROLS, LEXICAL, Worldwise
from valuesassets.records.study import Cell, Study
from valuesassets.records.trials import Trial

UNPROMPTED = CONTROLS[1]
"""The condition in which advocates are asked, who are nobody."""
Cells = dict[tuple[str, str], pd.DataFrame]


def reason_assets(study: Study) -> list[dg.AssetsDefinition]:
    """From requests for reasons to their positions; nothing where the study asks for none."""
    settings = Worldwise.of(study)
    if not settings.has_reasons:
        return []
    cells, embedder = cell_partitions(study, WORLDWISE), material_stamp(settings, "embedder", "embedder_revision")
    requests = ("values", "forms", "wordings", "advocates", "draws", "temperature", "max_tokens")
    prompts = partial(declare, study, WORLDWISE, "prompts")
    models = partial(declare, study, WORLDWISE, "models", io_manager_key="frame")
    return [
        prompts(
            line=own_lines.exemplars_line,
            stamp=material_stamp(settings, "exemplars"),
            reads=(),
            io_manager_key="frame",
        )(exemplars),
        prompts(
            line=own_lines.axes_line,
            checks=[checks.AXES_ARE_VALID],
            stamp=embedder,
            reads=("seed",),
            modules=[".answers.vectors"],
            pool="node",
            io_manager_key="frames",
        )(axes),
        prompts(
            modules=[".material.cultures", ".material.value_names"],
            stamp=material_stamp(settings, *requests),
            **of_cultures(study),
        )(reason_trials),
        models(
            line=own_lines.reasons_line,
            checks=[*version_checks(study), checks.EVERY_REQUEST_WAS_ASKED, checks.ANSWERS_ARE_PARSED],
            partitions_def=cells,
            deps=models_first(study, WORLDWISE),
            stamp=sha256_json([material_stamp(settings, "values"), settings.thresholds.model_dump()]),
            modules=[".trials.reason_trials", ".material.value_names"],
            reads=("seed",),
            kinds={"pytorch", "parquet"},
            pool="slurm",
        )(reasons),
        models(
            partitions_def=cells,
            reads=(),
            line=own_lines.vectors_line,
            stamp=sha256_json([embedder, country_words(settings)]),
            modules=[".answers.vectors"],
            pool="node",
        )(reason_vectors),
        models(
            line=own_lines.projections_line,
            step="analysis",
            # A partition is a model and not a cell: all reasons are placed between its advocates' words, in one cell.
            partitions_def=model_partitions(study),
            many=["reason_vectors"],
            stamp=material_stamp(settings, "embedder", "advocates"),
            reads=(),
        )(projections),
    ]


def of_cultures(study: Study) -> dict[str, Any]:
    """What is declared of every asset with the prompts of a culture."""
    cultures = Worldwise.of(study).cultures.items()
    return {
        "line": lines.trials_line,
        "partitions_def": part_partitions(study, WORLDWISE),
        "reads": ("seed",),
        "files": {name: sha256_json(culture.model_dump(exclude={"names"})) for name, culture in cultures},
        "io_manager_key": "trials",
    }


def country_words(settings: Worldwise) -> list[str]:
    """All words that identify a country of the study in a text."""
    return [name for culture in settings.cultures.values() for name in culture.names]


def material_stamp(settings: Worldwise, *names: str) -> str:
    """A hash of keys of the instrument's table: of a file that a key names, its content and not its place."""
    values = {name: getattr(settings, name) for name in names}
    return sha256_json(
        {name: sha256_file(value) if isinstance(value, Path) else value for name, value in values.items()}
    )


def exemplars(study: Study) -> pd.DataFrame:
    """Sentences that stand for the poles of the dimensions, in matched pairs."""
    from valuesassets.instruments.worldwise.material.exemplars import read_exemplars

    settings = Worldwise.of(study)
    return read_exemplars(settings.exemplars)


def axes(context: dg.AssetExecutionContext, study: Study, storage: Storage, exemplars: pd.DataFrame) -> Any:
    """The direction of each dimension among the vectors of the embedder, and whether it orders unseen sentences."""
    from valuesassets.instruments.worldwise.measures.axes import derive_axes

    settings = Worldwise.of(study)
    vectors, _, metadata = _embedded(context, storage, study, exemplars["text"])
    tables = derive_axes(exemplars, vectors, str(settings.embedder), seed=study.seed)
    validity = rows_where(tables["validity"], embedder=settings.embedder)
    invalid = records(rows(validity, ~validity["is_valid"].astype(bool)))
    results = [checks.AXES_ARE_VALID.result(invalid, len(validity))]
    return dg.MaterializeResult(value=tables, metadata=metadata, check_results=results)


def reason_trials(context: dg.AssetExecutionContext, study: Study, scenarios: pd.DataFrame) -> Any:
    """Requests for reasons: to decide and say why, to say openly what to do, to speak for an option."""
    from valuesassets.instruments.worldwise.material.scenarios import scenarios_of
    from valuesassets.instruments.worldwise.trials.reason_trials import study_trials

    settings = Worldwise.of(study)
    return study_trials(settings, context.partition_key, scenarios_of(scenarios), study.seed)


def reasons(
    context: dg.AssetExecutionContext,
    study: Study,
    storage: Storage,
    scenarios: pd.DataFrame,
    reason_trials: list[Trial],
) -> Any:
    """What the model writes to each request, word for word and parsed; no answer is dropped."""
    from valuesassets.instruments.worldwise.answers.reasons import (
        derive_reasons,
        reply_of,
        share_read,
        unasked,
        unread,
    )
    from valuesassets.instruments.worldwise.material.scenarios import scenarios_of
    from valuesassets.instruments.worldwise.material.value_names import read_value_names
    from valuesassets.instruments.worldwise.trials.reason_trials import requests_of

    settings = Worldwise.of(study)
    name, part = cell_of(context)
    trials = storage.path(WORLDWISE.key("reason_trials"), part, "parquet")
    answers = storage.job_folder(context.asset_key, context.partition_key) / "answers.parquet"
    cell = Cell(name, WORLDWISE.part_of(study, part))
    job = generate_job(study, storage, cell, WORLDWISE, {"": (trials, answers)})
    log = run_node_job(context, job, study, storage, name)
    values = list(read_value_names(settings.values)["value"])
    requests = requests_of(reason_trials, scenarios_of(scenarios), values, study.seed)
    table = derive_reasons((requests[answer.trial_id], reply_of(answer)) for answer in read_answers(answers))
    table.attrs["file_metadata"] = described = table_metadata(answers)
    n, share = len(table), share_read(table)
    is_warning = share >= settings.thresholds.parsed
    return dg.MaterializeResult(
        value=table,
        metadata=shown_log(storage, log) | {f"node/{name}": value for name, value in described.items()},
        check_results=[
            *judge_versions(study, described),
            checks.EVERY_REQUEST_WAS_ASKED.result(_rows(unasked(table)), n),
            checks.ANSWERS_ARE_PARSED.result(_rows(unread(table)), n, is_warning, share=share),
        ],
    )


def reason_vectors(
    context: dg.AssetExecutionContext, study: Study, storage: Storage, scenarios: pd.DataFrame, reasons: pd.DataFrame
) -> Any:
    """Each reason as the mean of its sentences' vectors, countries masked; and texts that published scores take."""
    from valuesassets.instruments.worldwise.material.scenarios import scenarios_of
    from valuesassets.instruments.worldwise.measures.reason_vectors import derive_reason_vectors, reason_texts

    texts = reason_texts(reasons, scenarios_of(scenarios), country_words(Worldwise.of(study)))
    vectors, is_truncated, metadata = _embedded(context, storage, study, texts.pieces)
    return dg.MaterializeResult(value=derive_reason_vectors(texts, vectors, is_truncated), metadata=metadata)


def projections(
    context: dg.AssetExecutionContext, study: Study, axes: dict[str, pd.DataFrame], reason_vectors: Cells
) -> pd.DataFrame:
    """Where each reason of a model stands on each axis, between what the model itself says for the poles."""
    from valuesassets.instruments.worldwise.measures.projections import derive_projections

    settings = Worldwise.of(study)
    name = context.partition_key
    by_part = {part: vectors for (model, part), vectors in reason_vectors.items() if model == name}
    needed = UNPROMPTED if settings.advocates else next(iter(by_part), UNPROMPTED)
    if needed not in by_part:
        raise MissingData(
            f"{name}/{needed}: there are no vectors of its reasons yet; materialise reason_vectors of it first"
        )
    return derive_projections(
        pd.concat(by_part.values(), ignore_index=True),
        by_part[needed] if settings.advocates else None,
        axes["vectors"],
        rows_where(axes["validity"], embedder=settings.embedder),
    )


def _embedded(
    context: dg.AssetExecutionContext, storage: Storage, study: Study, texts: Iterable[str]
) -> tuple[Any, Any, dict[str, Any]]:
    """Vectors of texts, whether each text was cut off (None where none can be), and what the UI shows."""
    settings = Worldwise.of(study)
    if settings.embedder == LEXICAL:
        from valuesassets.instruments.worldwise.answers.vectors import lexical_vectors

        return lexical_vectors(list(texts)), None, {}
    return embed_texts(context, study, storage, texts, str(settings.embedder), settings.embedder_revision)


def _rows(answers: pd.DataFrame) -> Sequence[dict[str, Any]]:
    """Answers as a person looks at them: dilemma and prompt, the status of the answer and its reason."""
    columns = ("scenario_id", "form", "order", "draw", "status", "reason", "prompt", "text")
    return [{name: row[name] for name in columns} for row in records(answers)]
