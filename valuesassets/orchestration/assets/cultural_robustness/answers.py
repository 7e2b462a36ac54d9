"""Cultural robustness as a graph, second part: what each model writes, which answers count, and their vectors."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import pandas as pd

from valuesassets.desk.staleness import folder_metadata
from valuesassets.instruments.cultural_robustness.report import lines as own_lines
from valuesassets.orchestration.assets.cultural_robustness import checks
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.embedding import Embedded, embed_texts
from valuesassets.orchestration.assets.training import reference_models_asset
from valuesassets.orchestration.code_versions import TRAINED
from valuesassets.orchestration.first_look.shown import SUMMARY, link_to
from valuesassets.orchestration.grid.cells import WEIGHTS, answers_job
from valuesassets.orchestration.grid.node_jobs import run_node_job
from valuesassets.orchestration.grid.shown_records import show_answers, version_checks
from valuesassets.orchestration.instruments import CULTURAL_ROBUSTNESS
from valuesassets.orchestration.partitions import cell_of, cell_partitions, model_partitions
from valuesassets.orchestration.record_checks import checks_of
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_file, sha256_json, write_text
from valuesassets.records.frames import records, rows
from valuesassets.records.settings.cultural_robustness import CulturalRobustness
from valuesassets.records.study import Cell, Study
from valuesassets.records.tables import ANSWERS
from valuesassets.records.trials import Answer

EMBEDDER = "planted_embedder"


def answer_assets(study: Study) -> list[dg.AssetsDefinition]:
    """From trials to vectors of answers."""
    planted = []
    if study.has_reference_models:
        calibration = partial(declare, study, CULTURAL_ROBUSTNESS, "calibration", reads=(), many=["questions"])
        embedder = calibration(modules=["valuesassets.models.static_embedder"])(planted_embedder)
        planted = [planted_models_asset(study), embedder]
    settings, key = CulturalRobustness.of(study), CULTURAL_ROBUSTNESS.key
    models = partial(declare, study, CULTURAL_ROBUSTNESS, "models", reads=())
    of_a_model = partial(models, partitions_def=model_partitions(study), many=["answers"], everywhere=["questions"])
    as_vectors: dict[str, Any] = {
        "line": own_lines.vectors_line,
        "kinds": {"pytorch", "parquet"},
        "pool": "node",
        "io_manager_key": "frame",
        "stamp": sha256_json([settings.embedder, settings.embedder_revision, settings.embedder_prefix]),
        "deps": [key(EMBEDDER)] if settings.is_planted else [],
    }
    trials = ["trials", *(["chat_trials"] if has_chat(study) else [])]
    trained = ["reference_models"] if study.has_reference_models else []
    return [
        models(
            checks=[*version_checks(study), *checks_of(CULTURAL_ROBUSTNESS, ANSWERS)],
            partitions_def=cell_partitions(study, CULTURAL_ROBUSTNESS),
            deps=[*map(key, (*trials, "model_languages")), WEIGHTS, *map(key, trained)],
            kinds={"pytorch", "parquet"},
            pool="slurm",
        )(answers),
        of_a_model(
            step="analysis",
            line=own_lines.quality_line,
            checks=[checks.ANSWERS_ARE_USABLE],
            io_manager_key="csv",
            entries=("languages",),
            stamp=sha256_json([settings.usable_share, settings.keep]),
            modules=[".answers.answer_files", ".report.answer_pages"],
        )(answer_quality),
        of_a_model(modules=[".answers.answer_files", ".answers.answer_quality"], **as_vectors)(vectors),
        models(many=["questions"], **as_vectors)(question_vectors),
        *planted,
    ]


def has_chat(study: Study) -> bool:
    """Whether the study asks models in a chat."""
    return any(family.prompting.is_chat for family in study.families.values())


def answers(context: dg.AssetExecutionContext, study: Study, storage: Storage) -> dg.MaterializeResult:
    """What the model writes to each question, without a country and with each: the one GPU step."""
    name, part = cell_of(context)
    cell = Cell(name, CULTURAL_ROBUSTNESS.part_of(study, part))
    job = answers_job(study, storage, CULTURAL_ROBUSTNESS, cell)
    log = run_node_job(context, job, study, storage, name)
    metadata, version, results = show_answers(job.cells[0].answers, log, storage, CULTURAL_ROBUSTNESS, study)
    return dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(version), check_results=results)


def answer_quality(
    context: dg.AssetExecutionContext,
    study: Study,
    storage: Storage,
    questions: dict[str, pd.DataFrame],
    answers: dict[tuple[str, str], list[Answer]],
) -> Any:
    """Whether each answer counts: its status, why, and the language that it is in."""
    from valuesassets.instruments.cultural_robustness.answers.answer_quality import is_usable, judge_answers
    from valuesassets.instruments.cultural_robustness.report.answer_pages import render_answer_page

    settings = CulturalRobustness.of(study)
    name = context.partition_key
    answered = _answered(answers, name, questions)
    judged = judge_answers(answered, tuple(study.languages), settings.keep)
    links = {}
    for language in dict.fromkeys(answered["language"]):
        page = storage.path(context.asset_key, name, "html").with_suffix("") / f"{language}.html"
        is_in_it = answered["language"] == language
        title = f"{name} in {language}"
        write_text(page, render_answer_page(rows(answered, is_in_it), rows(judged, is_in_it), title))
        links[f"answers in {language}"] = link_to(storage, page)
    unusable = rows(judged, ~is_usable(judged, settings.keep))
    shares = unusable.groupby("language").size() / judged.groupby("language").size()
    are_few = bool(shares.fillna(0.0).le(1 - settings.usable_share).all())
    failing = _with_texts(unusable, answered)
    result = checks.ANSWERS_ARE_USABLE.result(failing, len(judged), is_warning=are_few, **links)
    return dg.MaterializeResult(value=judged, metadata=links, check_results=[result])


def vectors(
    context: dg.AssetExecutionContext,
    study: Study,
    storage: Storage,
    questions: dict[str, pd.DataFrame],
    answers: dict[tuple[str, str], list[Answer]],
    answer_quality: pd.DataFrame,
) -> Any:
    """Every answer with a letter or digit as a vector of the embedder, and whether it counts."""
    from valuesassets.instruments.cultural_robustness.answers.vectors import answer_vectors, embeddable

    settings = CulturalRobustness.of(study)
    answered = embeddable(_answered(answers, context.partition_key, questions), answer_quality)
    embedded = _embedded(context, study, storage, answered["text"])
    table = answer_vectors(answered, answer_quality, embedded.vectors, settings.keep)
    return dg.MaterializeResult(value=table, metadata=embedded.metadata)


def question_vectors(
    context: dg.AssetExecutionContext, study: Study, storage: Storage, questions: dict[str, pd.DataFrame]
) -> Any:
    """Every question without a country as a vector, which shows whether the embedder knows the languages."""
    from valuesassets.instruments.cultural_robustness.answers.question_vectors import question_rows, question_texts

    texts = question_texts(questions)
    embedded = _embedded(context, study, storage, texts["prompt"])
    return dg.MaterializeResult(value=question_rows(texts, embedded.vectors), metadata=embedded.metadata)


def planted_models_asset(study: Study) -> dg.AssetsDefinition:
    """The reference models, which learn to write whole answers."""

    def plant(cells: Sequence[Cell], inputs: Mapping[str, Any]) -> tuple[list[dict[str, Any]], dict[str, object]]:
        from valuesassets.instruments.cultural_robustness.plants.plants import planted_text_rows

        texts = (planted_text_rows(cell.family, inputs["trials"][cell.language]) for cell in cells)
        return [row for rows_of_cell in texts for row in rows_of_cell], {}

    return reference_models_asset(
        study,
        CULTURAL_ROBUSTNESS,
        "write what is planted",
        plant,
        inputs=["trials"],
        many=["trials"],
        reads=("phantom", "seed", TRAINED),
        entries=("languages",),
        modules=[".plants.plants"],
    )


def planted_embedder(
    context: dg.AssetExecutionContext, study: Study, storage: Storage, questions: dict[str, pd.DataFrame]
) -> dg.MaterializeResult:
    """The embedder that knows the made-up answers: its word vectors are solved for, so that each has its vector."""
    from valuesassets.instruments.cultural_robustness.plants.planted_embedder import planted_sentences
    from valuesassets.models.static_embedder import write_static_embedder

    prompts = {
        (language, row["question_id"]): row["prompt"]
        for language, frame in questions.items()
        for row in records(rows(frame, frame["anchor"].isna()))
    }
    sentences = planted_sentences(prompts)
    folder = write_static_embedder(_embedder_folder(storage), list(sentences), np.stack(list(sentences.values())))
    weights = sha256_file(folder / "model.safetensors")
    return dg.MaterializeResult(
        metadata={SUMMARY: f"an embedder that knows {len(sentences)} texts", **folder_metadata(folder)},
        data_version=dg.DataVersion(weights[:16]),
    )


def _embedded(context: dg.AssetExecutionContext, study: Study, storage: Storage, texts: Iterable[str]) -> Embedded:
    """Texts as vectors of the embedder that the study names, or of the planted one."""
    settings = CulturalRobustness.of(study)
    model = str(_embedder_folder(storage).absolute()) if settings.is_planted else settings.embedder
    return embed_texts(context, study, storage, texts, model, settings.embedder_revision, settings.embedder_prefix)


def _embedder_folder(storage: Storage) -> Path:
    return storage.folder.joinpath(*CULTURAL_ROBUSTNESS.key(EMBEDDER).path, "embedder")


def _answered(
    answers: dict[tuple[str, str], list[Answer]], family: str, questions: dict[str, pd.DataFrame]
) -> pd.DataFrame:
    """All answers of a family that exist, a row each."""
    from valuesassets.instruments.cultural_robustness.answers.answer_files import answered_frame

    by_part = {part: written for (name, part), written in answers.items() if name == family}
    return answered_frame(by_part, questions)


def _with_texts(unusable: pd.DataFrame, answered: pd.DataFrame) -> list[dict[str, Any]]:
    """Answers that do not count, each with the beginning of its text."""
    keys = ["language", "kind", "id", "sample"]
    joined = unusable.merge(answered.loc[:, [*keys, "text"]], on=keys, how="left")
    return [row | {"text": str(row["text"] or "")[:120]} for row in records(joined)]
