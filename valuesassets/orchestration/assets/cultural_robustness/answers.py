"""Cultural robustness as a graph, second part: what each model writes, which answers count, and their vectors."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import pandas as pd

from valuesassets.desk.staleness import folder_metadata
from valuesassets.instruments.cultural_robustness import lines as own_lines
from valuesassets.orchestration.assets.cultural_robustness import checks
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.embedding import embed_texts
from valuesassets.orchestration.assets.training import train
from valuesassets.orchestration.code_versions import TRAINED
from valuesassets.orchestration.first_look.shown import SUMMARY, link_to
from valuesassets.orchestration.grid.cells import WEIGHTS, answers_job, model_folder
from valuesassets.orchestration.grid.node_jobs import run_node_job
from valuesassets.orchestration.grid.shown_answers import show_answers
from valuesassets.orchestration.grid.shown_readings import version_checks
from valuesassets.orchestration.instruments import CULTURAL_ROBUSTNESS
from valuesassets.orchestration.io_managers import DICT_OF_PARTITIONS
from valuesassets.orchestration.partitions import cell_of, cell_partitions, model_partitions
from valuesassets.orchestration.record_checks import checks_of
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_file, sha256_json, write_text
from valuesassets.records.frames import records, rows
from valuesassets.records.jobs import PhantomPlan
from valuesassets.records.parquet import write_table
from valuesassets.records.settings.cultural_robustness import CulturalRobustness
from valuesassets.records.study import Cell, Study
from valuesassets.records.tables import ANSWERS, PLANTED_TEXTS
from valuesassets.records.trials import Answer, Trial

HOME, DOCS = "valuesassets.instruments.cultural_robustness", "cultural_robustness"
EMBEDDER = "planted_embedder"


def answer_assets(study: Study) -> list[dg.AssetsDefinition]:
    """From trials to vectors of answers."""
    settings, key = CulturalRobustness.of(study), CULTURAL_ROBUSTNESS.key
    declared = partial(declare, study, CULTURAL_ROBUSTNESS, "models", docs=DOCS)
    has_chat = any(family.prompting.is_chat for family in study.families.values())
    asked = [key("trials"), *([key("chat_trials")] if has_chat else []), key("model_languages"), WEIGHTS]
    asked += [key("reference_models")] if study.has_reference_models else []

    @declared(
        checks=[*version_checks(study), *checks_of(CULTURAL_ROBUSTNESS, ANSWERS)],
        partitions_def=cell_partitions(study, CULTURAL_ROBUSTNESS),
        deps=asked,
        kinds={"pytorch", "parquet"},
        pool="slurm",
        reads=(),
    )
    def answers(context: dg.AssetExecutionContext, storage: Storage) -> dg.MaterializeResult:
        """What the model writes to each question, without a country and with each: the one GPU step."""
        name, part = cell_of(context)
        cell = Cell(name, CULTURAL_ROBUSTNESS.part_of(study, part))
        job = answers_job(study, storage, CULTURAL_ROBUSTNESS, cell)
        log = run_node_job(context, job, study, storage, name)
        shown = show_answers(job.cells[0].answers, log, storage, CULTURAL_ROBUSTNESS, study)
        metadata, version, results = shown
        return dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(version), check_results=results)

    of_a_model = partial(declared, partitions_def=model_partitions(study), step="analysis")
    written = {"answers": dg.AssetIn(key("answers"), input_manager_key="answers", metadata=DICT_OF_PARTITIONS)}
    written |= all_languages("questions")

    @of_a_model(
        line=own_lines.quality_line,
        checks=[checks.ANSWERS_ARE_USABLE],
        ins=written,
        io_manager_key="csv",
        reads=(),
        entries=("languages",),
        stamp=sha256_json([settings.usable_share, settings.keep]),
        modules=(f"{HOME}.answer_files", f"{HOME}.answer_pages"),
    )
    def answer_quality(
        context: dg.AssetExecutionContext,
        storage: Storage,
        questions: dict[str, pd.DataFrame],
        answers: dict[tuple[str, str], list[Answer]],
    ) -> Any:
        """Whether each answer counts: its status, why, and the language that it is in."""
        from valuesassets.instruments.cultural_robustness.answer_pages import render_answer_page
        from valuesassets.instruments.cultural_robustness.answer_quality import is_usable, judge_answers

        name = context.partition_key
        answered = _answered(answers, name, questions)
        found = judge_answers(answered, tuple(study.languages), settings.keep)
        links = {}
        for language in dict.fromkeys(answered["language"]):
            page = storage.path(context.asset_key, name, "html").with_suffix("") / f"{language}.html"
            own = answered["language"] == language
            write_text(page, render_answer_page(rows(answered, own), rows(found, own), f"{name} in {language}"))
            links[f"answers in {language}"] = link_to(storage, page)
        unusable = rows(found, ~is_usable(found, settings.keep))
        shares = unusable.groupby("language").size() / found.groupby("language").size()
        few = shares.fillna(0.0).le(1 - settings.usable_share).all()
        usable = checks.ANSWERS_ARE_USABLE.result(
            _with_texts(unusable, answered), len(found), is_warning=bool(few), **links
        )
        return dg.MaterializeResult(value=found, metadata=links, check_results=[usable])

    embedding = partial(
        declared,
        kinds={"pytorch", "parquet"},
        pool="node",
        io_manager_key="frame",
        reads=(),
        stamp=sha256_json([settings.embedder, settings.embedder_revision, settings.embedder_prefix]),
        deps=[key(EMBEDDER)] if settings.is_planted else [],
    )

    def embedded(
        context: dg.AssetExecutionContext, storage: Storage, texts: Iterable[str]
    ) -> tuple[np.ndarray, dict[str, Any]]:
        model = str(_embedder_folder(storage).absolute()) if settings.is_planted else settings.embedder
        found = embed_texts(context, study, storage, texts, model, settings.embedder_revision, settings.embedder_prefix)
        return found.vectors, found.shown

    @embedding(
        line=own_lines.vectors_line,
        partitions_def=model_partitions(study),
        ins=written,
        modules=(f"{HOME}.answer_files", f"{HOME}.answer_quality"),
    )
    def vectors(
        context: dg.AssetExecutionContext,
        storage: Storage,
        questions: dict[str, pd.DataFrame],
        answers: dict[tuple[str, str], list[Answer]],
        answer_quality: pd.DataFrame,
    ) -> Any:
        """Every answer with a letter or digit as a vector of the embedder, and whether it counts."""
        from valuesassets.instruments.cultural_robustness.vectors import answer_vectors, embeddable

        answered = embeddable(_answered(answers, context.partition_key, questions), answer_quality)
        found, metadata = embedded(context, storage, answered["text"])
        return dg.MaterializeResult(
            value=answer_vectors(answered, answer_quality, found, settings.keep), metadata=metadata
        )

    @embedding(line=own_lines.vectors_line, many=["questions"])
    def question_vectors(
        context: dg.AssetExecutionContext, storage: Storage, questions: dict[str, pd.DataFrame]
    ) -> Any:
        """Every question without a country as a vector: what tells whether the embedder knows the languages."""
        from valuesassets.instruments.cultural_robustness.question_vectors import question_rows, question_texts

        asked = question_texts(questions)
        found, metadata = embedded(context, storage, asked["prompt"])
        return dg.MaterializeResult(value=question_rows(asked, found), metadata=metadata)

    planted = planted_assets(study) if study.has_reference_models else []
    return [answers, answer_quality, vectors, question_vectors, *planted]


def all_languages(noun: str) -> dict[str, dg.AssetIn]:
    """An asset of every language, as an input of what is made for each model."""
    key, every = CULTURAL_ROBUSTNESS.key(noun), dg.AllPartitionMapping()
    return {noun: dg.AssetIn(key, metadata=DICT_OF_PARTITIONS, partition_mapping=every)}


def planted_assets(study: Study) -> list[dg.AssetsDefinition]:
    """The reference models, and the embedder that knows what they answer."""
    declared = partial(declare, study, CULTURAL_ROBUSTNESS, "calibration", docs=DOCS)

    @declared(
        many=["trials"],
        kinds={"pytorch"},
        pool="node",
        reads=("phantom", "seed", TRAINED),
        entries=("languages",),
        modules=(f"{HOME}.plants",),
    )
    def reference_models(
        context: dg.AssetExecutionContext, storage: Storage, trials: dict[str, list[Trial]]
    ) -> dg.MaterializeResult:
        """The reference models: tiny, trained here to write whole answers; folders of known hash are skipped."""
        from valuesassets.instruments.cultural_robustness.plants import planted_text_rows

        folder = storage.job_folder(context.asset_key, None)
        families = [name for name, family in study.families.items() if family.kind == "reference"]
        phantoms = []
        for family in families:
            served = [language for language in study.family_languages(family) if language in trials]
            place, made = folder / f"{family}.parquet", []
            by_folder: dict[Path, list[str]] = {}
            for language in served:
                made += planted_text_rows(family, trials[language])
                model = model_folder(study, storage, family, language, CULTURAL_ROBUSTNESS)
                by_folder.setdefault(model, []).append(language)
            write_table(place, made, PLANTED_TEXTS)
            phantoms += [
                PhantomPlan(planted_texts=place, languages=tuple(languages), folder=model)
                for model, languages in by_folder.items()
            ]
        return train(context, study, storage, phantoms, families[0], "write what is planted")

    @declared(many=["questions"], reads=(), modules=("valuesassets.models.static_embedder",))
    def planted_embedder(
        context: dg.AssetExecutionContext, storage: Storage, questions: dict[str, pd.DataFrame]
    ) -> dg.MaterializeResult:
        """The embedder that knows the made-up answers: its word vectors are solved for, so that each has its vector."""
        from valuesassets.instruments.cultural_robustness.planted_embedder import planted_sentences
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
            metadata={
                SUMMARY: f"an embedder that knows {len(sentences)} texts",
                **folder_metadata(folder),
            },
            data_version=dg.DataVersion(weights[:16]),
        )

    return [reference_models, planted_embedder]


def _embedder_folder(storage: Storage) -> Path:
    return storage.folder.joinpath(*CULTURAL_ROBUSTNESS.key(EMBEDDER).path, "embedder")


def _answered(
    answers: dict[tuple[str, str], list[Answer]], family: str, questions: dict[str, pd.DataFrame]
) -> pd.DataFrame:
    """All answers of a family that there are."""
    from valuesassets.instruments.cultural_robustness.answer_files import answered_frame

    return answered_frame({part: given for (name, part), given in answers.items() if name == family}, questions)


def _with_texts(unusable: pd.DataFrame, answered: pd.DataFrame) -> list[dict[str, Any]]:
    """Answers that do not count, each with the beginning of its text."""
    keys = ["language", "kind", "id", "sample"]
    found = unusable.merge(answered.loc[:, [*keys, "text"]], on=keys, how="left")
    return [row | {"text": str(row["text"] or "")[:120]} for row in records(found)]
