"""The calibration of an instrument: reference models with planted answers, read in two ways, and negative controls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.desk.staleness import folder_metadata
from valuesassets.orchestration import checks
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.training import reference_models_asset, trained_cells
from valuesassets.orchestration.code_versions import TRAINED
from valuesassets.orchestration.first_look import lines, pictures
from valuesassets.orchestration.first_look.pictures import draw_written
from valuesassets.orchestration.first_look.shown import PICTURE, SUMMARY, picture_of
from valuesassets.orchestration.grid.cells import model_folder, score_cell
from valuesassets.orchestration.grid.node_jobs import run_node_job, shown_log
from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.io_managers import table_of
from valuesassets.orchestration.partitions import cell_key, cell_of, cell_partitions, is_reference
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData
from valuesassets.records.files import sha256_file, sha256_json
from valuesassets.records.instruments import named
from valuesassets.records.jobs import SampleCell, SampleJob, ScoreJob
from valuesassets.records.parquet import read_readings, read_table, trial_rows, write_table
from valuesassets.records.study import Cell, Study
from valuesassets.records.tables import SAMPLED_ANSWERS, TRIALS
from valuesassets.records.trials import Trial, main_trials


@dataclass(frozen=True)
class Planting:
    """What an instrument plants in its reference models.

    Attributes:
        plants: `module:function` of (study, family, part's name, questions of the part); gives the cell's `Plants`.
        questions: the asset, partitioned by part, that plants are made for.
        reads: tables of the study that plants are made from, besides those that every calibration reads.
        answers: the asset of a cell that has what its model answers, in the columns of `PROBE_DISTRIBUTIONS`.
        stamp: hash of what else plants are made from.
        as_distributions: `module:function` that gives these columns of a table of answers that has others.
        writes: `module:function` of (study, family, part's name, requests of the part); gives rows of `PLANTED_TEXTS`
            that reference models learn besides.
        requests: the asset, partitioned by part, of what models are asked to write.
    """

    study: Study
    instrument: Instrument
    plants: str
    questions: str = "trials"
    reads: Sequence[str] = ()
    answers: str = "probe_distributions"
    stamp: str = ""
    as_distributions: str = ""
    writes: str = ""
    requests: str = ""

    @property
    def inputs(self) -> list[str]:
        """The assets of all parts that plants are made from."""
        return [*dict.fromkeys(["trials", self.questions])]

    @property
    def modules(self) -> list[str]:
        """The modules of its functions, but that of `writes`."""
        return [_module(function) for function in (self.plants, self.as_distributions) if function]

    @property
    def declared(self) -> Any:
        """`declare` with what all assets of the calibration have in common."""
        return partial(declare, self.study, self.instrument, "calibration", docs="calibration", stamp=self.stamp)

    @property
    def of_all_parts(self) -> dict[str, Any]:
        """What is declared of an asset that takes the plants of all parts."""
        return {
            "inputs": self.inputs,
            "many": self.inputs,
            "modules": self.modules,
            "reads": ("elicitation", "phantom", "seed", TRAINED, *self.reads),
            "entries": ("languages",),
        }

    def plants_of(self, family: str, part: str, inputs: Mapping[str, Any]) -> Any:
        """The plants of a cell, of an asset's inputs for all parts."""
        return named(self.plants)(self.study, family, part, inputs[self.questions][part])

    def path_to_samples(self, storage: Storage, family: str, part: str) -> Path:
        """Where the sampled answers of a cell lie."""
        key = cell_key(family, part, self.instrument.part)
        return storage.path(self.instrument.key("sampled_answers"), key, "parquet").absolute()


def calibration_assets(planting: Planting) -> list[dg.AssetsDefinition]:
    """What proves an instrument, where the study trains reference models; nothing where it does not."""
    if not planting.study.has_reference_models:
        return []
    controls = [negative_controls_asset(planting)] if planting.study.control_families else []
    return [planted_models_asset(planting), sampled_answers_asset(planting), calibration_asset(planting), *controls]


def planted_models_asset(planting: Planting) -> dg.AssetsDefinition:
    """The reference models, which learn to answer as planted, and to write where the instrument lets models write."""
    study, requests = planting.study, [planting.requests] if planting.writes else []

    def plant(cells: Sequence[Cell], inputs: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], dict[str, object]]:
        from valuesassets.answers.reference_models import planted_text_rows

        rows: list[Mapping[str, Any]] = []
        for cell in cells:
            family, part = cell.family, cell.part.name
            rows += planted_text_rows(inputs["trials"][part], planting.plants_of(family, part, inputs))
            if planting.writes and part in inputs[planting.requests]:
                rows += named(planting.writes)(study, family, part, inputs[planting.requests][part])
        return rows, {}

    options: dict[str, Any] = planting.of_all_parts | {
        "inputs": [*planting.inputs, *requests],
        "many": [*planting.inputs, *requests],
        "modules": [*planting.modules, *([_module(planting.writes)] if planting.writes else [])],
    }
    instrument, skill = planting.instrument, "answer as planted"
    return reference_models_asset(study, instrument, skill, plant, docs="calibration", stamp=planting.stamp, **options)


def sampled_answers_asset(planting: Planting) -> dg.AssetsDefinition:
    """What the reference models write freely."""
    study, instrument = planting.study, planting.instrument

    @planting.declared(
        many=["trials"],
        deps=[instrument.key("reference_models")],
        kinds={"pytorch"},
        pool="node",
        reads=("phantom", "seed", TRAINED),
    )
    def sampled_answers(
        context: dg.AssetExecutionContext, storage: Storage, trials: dict[str, list[Trial]]
    ) -> dg.MaterializeResult:
        """What the reference models write when they answer freely: the second channel, which knows no labels."""
        samples = []
        for cell in (cells := trained_cells(study, instrument, {"trials": trials})):
            model = model_folder(study, storage, cell.family, cell.language, instrument).absolute()
            prompts = storage.path(instrument.key("trials"), cell.part.name, "parquet").absolute()
            answers = planting.path_to_samples(storage, cell.family, cell.part.name)
            samples.append(SampleCell(name=str(cell), model=str(model), trials=prompts, answers=answers))
        job = SampleJob(cells=tuple(samples), n=study.phantom.samples, seed=study.seed)
        log = run_node_job(context, job, study, storage, cells[0].family)
        first = read_table(job.cells[0].answers, SAMPLED_ANSWERS).to_pandas()
        common = first[first["trial_id"] == first["trial_id"].iloc[0]].nlargest(8, "n")
        return dg.MaterializeResult(
            metadata={
                SUMMARY: f"{job.n} answers to each prompt in {len(cells)} cells",
                "answers_per_prompt": job.n,
                "example": dg.MetadataValue.md(f"```\n{first['prompt'].iloc[0]}\n```"),
                "commonest_answers": table_of(
                    [{"answer": repr(row.answer_text), "n": row.n} for row in common.itertuples()]
                ),
                PICTURE: picture_of(draw_written(common, str(first["trial_id"].iloc[0]))),
            }
            | folder_metadata(storage.folder.joinpath(*context.asset_key.path))
            | shown_log(storage, log),
            data_version=dg.DataVersion(sha256_json([sha256_file(cell.answers) for cell in job.cells])[:16]),
        )

    return sampled_answers


def calibration_asset(planting: Planting) -> dg.AssetsDefinition:
    """What was planted in a cell against what is read of it."""
    study, instrument = planting.study, planting.instrument

    @planting.declared(
        inputs=planting.inputs,
        modules=planting.modules,
        line=lines.calibration_line,
        step="cell",
        checks=[checks.PLANTS_ARE_RECOVERED],
        partitions_def=cell_partitions(study, instrument, is_reference),
        deps=[instrument.key("sampled_answers")],
        ins={"probe_distributions": dg.AssetIn(instrument.key(planting.answers))},
        io_manager_key="frame",
        reads=("elicitation", "phantom", "seed", *planting.reads),
        entries=("families", "languages"),
    )
    def calibration(
        context: dg.AssetExecutionContext, storage: Storage, probe_distributions: pd.DataFrame, **inputs: Any
    ) -> Any:
        """Planted against recovered, question by question: as scored, and as written and parsed."""
        from valuesassets.answers.calibration import compare_with_plants, describe_hardness, summarise_recovery
        from valuesassets.answers.plants import planted_answers
        from valuesassets.answers.sampled_answers import derive_sampled_distributions
        from valuesassets.figures.calibration import draw_calibration

        name, part = cell_of(context)
        samples = read_table(planting.path_to_samples(storage, name, part), SAMPLED_ANSWERS).to_pandas()
        plants = named(planting.plants)(study, name, part, inputs[planting.questions])
        planted = planted_answers({(name, part): plants})
        sampled = derive_sampled_distributions(samples, inputs["trials"], plants, name, part)
        probe = probe_distributions
        if planting.as_distributions:
            probe = named(planting.as_distributions)(probe)
        comparison = compare_with_plants(probe, planted, sampled)
        summary = summarise_recovery(comparison, study.phantom)
        verdict_first = list(dict.fromkeys(["response_type", "is_recovered", "reason", *summary.columns]))
        failing = summary.loc[~summary.is_recovered.astype(bool), ["response_type", "n", "reason"]].to_dict("records")
        unread = sorted(set(planted.question_id) - set(probe.question_id))
        if unread:
            failing.append({"response_type": "all", "n": len(unread), "reason": f"never asked: {', '.join(unread)}"})
        return dg.MaterializeResult(
            value=comparison,
            metadata={
                "summary": table_of(summary.loc[:, verdict_first].to_dict("records")),
                "hardness": table_of(describe_hardness(comparison).to_dict("records")),
                "picture": picture_of(draw_calibration(comparison, *study.phantom.limits)),
            },
            check_results=[checks.PLANTS_ARE_RECOVERED.result(failing, len(comparison))],
        )

    return calibration


def negative_controls_asset(planting: Planting) -> dg.AssetsDefinition:
    """Models that are asked in a language they were not trained in."""
    study, instrument = planting.study, planting.instrument

    @planting.declared(
        line=lines.controls_line,
        picture=pictures.draw_controls,
        checks=[checks.WRONG_LANGUAGES_FAIL],
        deps=[instrument.key("reference_models")],
        io_manager_key="frame",
        kinds={"pytorch", "parquet"},
        pool="node",
        **planting.of_all_parts,
    )
    def negative_controls(context: dg.AssetExecutionContext, storage: Storage, **inputs: Any) -> Any:
        """Each language's prompts answered by another language's reference model: every pair must fail."""
        from valuesassets.answers.negative_controls import answered_as, derive_negative_controls, wrong_language_pairs
        from valuesassets.answers.plants import planted_answers

        parts = [part for part in instrument.parts_of(study) if inputs["trials"].get(part.name)]
        pairs = wrong_language_pairs(study, parts)
        if not pairs:
            raise MissingData(
                "there is no pair of languages to try: trials of two languages at least are needed; materialise trials"
            )
        folder = storage.job_folder(context.asset_key, None)
        trials = {part.name: main_trials(inputs["trials"][part.name]) for part in parts}
        prompts = {part: folder / f"{part}.trials.parquet" for part in dict.fromkeys(part for _, part, _ in pairs)}
        for part, path in prompts.items():
            write_table(path, trial_rows(trials[part]), TRIALS)
        readings = {pair: folder / pair[0] / f"{pair[1]}.by.{pair[2]}.parquet" for pair in pairs}
        cells = [
            score_cell(
                study,
                storage,
                family,
                language,
                prompts[part],
                readings[family, part, language],
                f"{family}/{part}.by.{language}",
                instrument,
            )
            for family, part, language in sorted(pairs, key=lambda pair: (pair[0], pair[2]))
        ]
        job = ScoreJob(known_readings=storage.known_readings, cells=tuple(cells), dtype="float32")
        run_node_job(context, job, study, storage, pairs[0][0])
        tried = dict.fromkeys((family, part) for family, part, _ in pairs)
        plants = {(family, part): planting.plants_of(family, part, inputs) for family, part in tried}
        answers = {
            pair: answered_as(pair, trials[pair[1]], read_readings(path), plants[pair[:2]])
            for pair, path in readings.items()
        }
        controls = derive_negative_controls(answers, planted_answers(plants), study.phantom)
        passing = controls.loc[~controls.fails.astype(bool), ["model", "language", "answered_by"]].to_dict("records")
        return dg.MaterializeResult(
            value=controls,
            metadata={"pairs": table_of(controls.to_dict("records"))},
            check_results=[checks.WRONG_LANGUAGES_FAIL.result(passing, len(controls))],
        )

    return negative_controls


def _module(function: str) -> str:
    """The module of a function that is named as `module:function`."""
    return function.partition(":")[0]
