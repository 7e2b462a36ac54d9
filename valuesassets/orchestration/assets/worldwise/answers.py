"""Worldwise as a graph, second part: what models write to dilemmas, as vectors and as positions on the axes."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.instruments.worldwise.report import lines as own_lines
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.embedding import embed_texts
from valuesassets.orchestration.assets.worldwise import checks
from valuesassets.orchestration.first_look import lines
from valuesassets.orchestration.grid.cells import WEIGHTS, generate_job
from valuesassets.orchestration.grid.node_jobs import run_node_job, shown_log
from valuesassets.orchestration.grid.shown_readings import judge_versions, version_checks
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

HOME, DOCS = "valuesassets.instruments.worldwise", "worldwise"
UNPROMPTED = CONTROLS[1]
"""The condition in which advocates are asked, who are nobody."""
Cells = dict[tuple[str, str], pd.DataFrame]


def reason_assets(study: Study) -> list[dg.AssetsDefinition]:
    """From requests for reasons to their positions; nothing where the study asks for none."""
    if not Worldwise.of(study).has_reasons:
        return []
    return [
        exemplars_asset(study),
        axes_asset(study),
        reason_trials_asset(study),
        reasons_asset(study),
        vectors_asset(study),
        projections_asset(study),
    ]


def material_stamp(settings: Worldwise, *names: str) -> str:
    """A hash of keys of the instrument's table: of a file that a key names, its content and not its place."""
    values = {name: getattr(settings, name) for name in names}
    return sha256_json(
        {name: sha256_file(value) if isinstance(value, Path) else value for name, value in values.items()}
    )


def exemplars_asset(study: Study) -> dg.AssetsDefinition:
    """The sentences that axes are made of."""
    settings = Worldwise.of(study)

    @declare(
        study,
        WORLDWISE,
        "prompts",
        docs=DOCS,
        line=own_lines.exemplars_line,
        stamp=material_stamp(settings, "exemplars"),
        reads=(),
        io_manager_key="frame",
    )
    def exemplars() -> pd.DataFrame:
        """Sentences that stand for the poles of the dimensions, in matched pairs."""
        from valuesassets.instruments.worldwise.material.exemplars import read_exemplars

        return read_exemplars(settings.exemplars)

    return exemplars


def axes_asset(study: Study) -> dg.AssetsDefinition:
    """The axes that reasons are placed on."""
    settings = Worldwise.of(study)

    @declare(
        study,
        WORLDWISE,
        "prompts",
        docs=DOCS,
        line=own_lines.axes_line,
        checks=[checks.AXES_ARE_VALID],
        stamp=material_stamp(settings, "embedder", "embedder_revision"),
        reads=("seed",),
        modules=(f"{HOME}.answers.vectors",),
        pool="node",
        io_manager_key="frames",
    )
    def axes(context: dg.AssetExecutionContext, storage: Storage, exemplars: pd.DataFrame) -> Any:
        """The direction of each dimension among the vectors of the embedder, and whether it orders unseen sentences."""
        from valuesassets.instruments.worldwise.measures.axes import derive_axes

        vectors, _, metadata = _embedded(context, storage, study, exemplars["text"])
        tables = derive_axes(exemplars, vectors, str(settings.embedder), seed=study.seed)
        validity = rows_where(tables["validity"], embedder=settings.embedder)
        invalid = records(rows(validity, ~validity["is_valid"].astype(bool)))
        results = [checks.AXES_ARE_VALID.result(invalid, len(validity))]
        return dg.MaterializeResult(value=tables, metadata=metadata, check_results=results)

    return axes


def reason_trials_asset(study: Study) -> dg.AssetsDefinition:
    """The requests of each culture."""
    settings = Worldwise.of(study)

    @declare(
        study,
        WORLDWISE,
        "prompts",
        docs=DOCS,
        line=lines.trials_line,
        partitions_def=part_partitions(study, WORLDWISE),
        modules=(f"{HOME}.material.cultures", f"{HOME}.material.value_names"),
        stamp=material_stamp(
            settings, "values", "forms", "wordings", "advocates", "draws", "temperature", "max_tokens"
        ),
        reads=("seed",),
        files={name: sha256_json(culture.model_dump(exclude={"names"})) for name, culture in settings.cultures.items()},
        io_manager_key="trials",
    )
    def reason_trials(context: dg.AssetExecutionContext, scenarios: pd.DataFrame) -> Any:
        """Requests for reasons: to decide and say why, to say openly what to do, to speak for an option."""
        from valuesassets.instruments.worldwise.material.scenarios import scenarios_of
        from valuesassets.instruments.worldwise.trials.reason_trials import study_trials

        return study_trials(settings, context.partition_key, scenarios_of(scenarios), study.seed)

    return reason_trials


def reasons_asset(study: Study) -> dg.AssetsDefinition:
    """What each cell's model writes, parsed."""
    settings, key = Worldwise.of(study), WORLDWISE.key

    @declare(
        study,
        WORLDWISE,
        "models",
        docs=DOCS,
        line=own_lines.reasons_line,
        checks=[*version_checks(study), checks.EVERY_REQUEST_WAS_ASKED, checks.ANSWERS_ARE_PARSED],
        partitions_def=cell_partitions(study, WORLDWISE),
        deps=[*([key("reference_models")] if study.has_reference_models else []), WEIGHTS],
        stamp=sha256_json([material_stamp(settings, "values"), settings.thresholds.model_dump()]),
        modules=(f"{HOME}.trials.reason_trials", f"{HOME}.material.value_names"),
        reads=("seed",),
        kinds={"pytorch", "parquet"},
        pool="slurm",
        io_manager_key="frame",
    )
    def reasons(
        context: dg.AssetExecutionContext, storage: Storage, scenarios: pd.DataFrame, reason_trials: list[Trial]
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

        name, part = cell_of(context)
        trials = storage.path(key("reason_trials"), part, "parquet")
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

    return reasons


def vectors_asset(study: Study) -> dg.AssetsDefinition:
    """The reasons of each cell as vectors."""
    settings = Worldwise.of(study)
    names = [name for culture in settings.cultures.values() for name in culture.names]

    @declare(
        study,
        WORLDWISE,
        "models",
        docs=DOCS,
        partitions_def=cell_partitions(study, WORLDWISE),
        reads=(),
        line=own_lines.vectors_line,
        stamp=sha256_json([material_stamp(settings, "embedder", "embedder_revision"), names]),
        modules=(f"{HOME}.answers.vectors",),
        pool="node",
        io_manager_key="frame",
    )
    def reason_vectors(
        context: dg.AssetExecutionContext, storage: Storage, scenarios: pd.DataFrame, reasons: pd.DataFrame
    ) -> Any:
        """Each reason as the mean of its sentences' vectors, countries masked; and texts that published scores take."""
        from valuesassets.instruments.worldwise.material.scenarios import scenarios_of
        from valuesassets.instruments.worldwise.measures.reason_vectors import derive_reason_vectors, reason_texts

        texts = reason_texts(reasons, scenarios_of(scenarios), names)
        vectors, is_truncated, metadata = _embedded(context, storage, study, texts.pieces)
        return dg.MaterializeResult(value=derive_reason_vectors(texts, vectors, is_truncated), metadata=metadata)

    return reason_vectors


def projections_asset(study: Study) -> dg.AssetsDefinition:
    """The positions of each model's reasons."""
    settings = Worldwise.of(study)

    @declare(
        study,
        WORLDWISE,
        "models",
        docs=DOCS,
        line=own_lines.projections_line,
        step="analysis",
        # A partition is a model and not a cell: all reasons are placed between its advocates' words, in one cell.
        partitions_def=model_partitions(study),
        many=["reason_vectors"],
        stamp=material_stamp(settings, "embedder", "advocates"),
        reads=(),
        io_manager_key="frame",
    )
    def projections(
        context: dg.AssetExecutionContext, axes: dict[str, pd.DataFrame], reason_vectors: Cells
    ) -> pd.DataFrame:
        """Where each reason of a model stands on each axis, between what the model itself says for the poles."""
        from valuesassets.instruments.worldwise.measures.projections import derive_projections

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

    return projections


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
