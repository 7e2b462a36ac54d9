"""WorldValuesBench as a graph, second part: what each model answers, as distributions and as text that is parsed."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.instruments.worldvaluesbench.report import lines as own_lines
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.worldvaluesbench import checks
from valuesassets.orchestration.assets.worldvaluesbench.stamps import stamp_of
from valuesassets.orchestration.first_look.shown import picture_of
from valuesassets.orchestration.grid.cells import generate_job, model_label
from valuesassets.orchestration.grid.node_jobs import run_node_job
from valuesassets.orchestration.instruments import WORLDVALUESBENCH
from valuesassets.orchestration.partitions import cell_key, cell_of, cell_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.parquet import read_answers, read_table, table_metadata, trial_rows, write_table
from valuesassets.records.settings.worldvaluesbench import WorldValuesBench
from valuesassets.records.study import Cell, Study
from valuesassets.records.tables import SAMPLED_ANSWERS, TRIALS
from valuesassets.records.trials import Answer, Reading, Trial


def answer_assets(study: Study) -> list[dg.AssetsDefinition]:
    """What the readings of a cell say; and what models wrote: reference models always, others if asked."""
    settings, key = WorldValuesBench.of(study), WORLDVALUESBENCH.key
    cells = cell_partitions(study, WORLDVALUESBENCH)
    declared = partial(declare, study, WORLDVALUESBENCH, "models", partitions_def=cells, io_manager_key="frame")
    return [
        declared(
            step="cell",
            line=own_lines.ratings_line,
            checks=[checks.EVERY_PROMPT_IS_READ, checks.P_VALID_IS_SUFFICIENT],
            reads=("thresholds",),
            entries=("families",),
        )(rating_distributions),
        declared(
            line=own_lines.decoded_line,
            deps=[key("readings"), *([key("sampled_answers")] if study.has_reference_models else [])],
            kinds={"pytorch", "parquet"},
            pool="node",
            reads=("seed",) if settings.decode.samples or settings.decode.seed_prompts else (),
            stamp=stamp_of(study, "decode", "seed_files"),
        )(decoded_ratings),
    ]


def rating_distributions(
    context: dg.AssetExecutionContext, study: Study, storage: Storage, trials: list[Trial], readings: list[Reading]
) -> Any:
    """The distribution over the scale of each question, for each profile and without one."""
    from valuesassets.answers.probe_distributions import Cell, doubtful_questions
    from valuesassets.figures.probe_cell import draw_probe_cell
    from valuesassets.instruments.worldvaluesbench.answers.rating_distributions import derive_rating_distributions

    settings = WorldValuesBench.of(study)
    name, part = cell_of(context)
    language, rules = settings.sets[part].language, study.thresholds
    family = study.require_cell(name, language)
    label = model_label(study, storage, name, language)
    ratings = derive_rating_distributions(trials, readings, Cell(label, family.model_type, name, part))
    path = storage.path(WORLDVALUESBENCH.key("readings"), context.partition_key, "parquet")
    ratings.attrs["file_metadata"] = table_metadata(path) | {"orders": str(study.elicitation.orders)}
    once = ratings.drop_duplicates(["question_id", "wording"])
    doubtful = doubtful_questions(once, rules)
    return dg.MaterializeResult(
        value=ratings,
        metadata={
            "median_p_valid": float(once.p_valid.median()) if once.p_valid.notna().any() else None,
            "prompts": len(once),
            "picture": picture_of(draw_probe_cell(ratings, rules.p_valid_question, family.kind == "reference")),
        },
        check_results=[
            checks.EVERY_PROMPT_IS_READ.result(doubtful["every_question_is_read"], len(once)),
            checks.P_VALID_IS_SUFFICIENT.result(doubtful["p_valid_is_sufficient"], len(once)),
        ],
    )


def decoded_ratings(
    context: dg.AssetExecutionContext,
    study: Study,
    storage: Storage,
    trials: list[Trial],
    participants: pd.DataFrame,
    probe_samples: pd.DataFrame,
) -> Any:
    """What models wrote freely, parsed as ratings; what is no rating is kept as text."""
    from valuesassets.instruments.worldvaluesbench.answers.decoded_ratings import (
        derive_decoded_ratings,
        derive_sampled_ratings,
        sampling_trials,
    )
    from valuesassets.instruments.worldvaluesbench.material.personas import asked_pairs
    from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
    from valuesassets.instruments.worldvaluesbench.published.prompts import read_published_texts, write_published_trials
    from valuesassets.instruments.worldvaluesbench.tables import DECODED_RATINGS

    settings = WorldValuesBench.of(study)
    name, part = cell_of(context)
    decode, questions, attributes = settings.decode, load_value_questions(), settings.sets[part].attributes
    if study.families[name].kind == "reference":
        cell = cell_key(name, part, WORLDVALUESBENCH.part)
        place = storage.path(WORLDVALUESBENCH.key("sampled_answers"), cell, "parquet")
        return derive_sampled_ratings(trials, read_table(place, SAMPLED_ANSWERS).to_pandas(), questions)
    # The trials that ratings belong to, and the prompts that models write to: for samples with another readout.
    rated, requests = dict[str, list[Trial]](), dict[str, list[Trial]]()
    if decode.samples:
        by_trial = sampling_trials(trials, decode.samples, study.seed)
        rated["sampled"], requests["sampled"] = [*by_trial.keys()], [*by_trial.values()]
    if decode.seed_prompts and settings.seed_files:
        pairs, texts = asked_pairs(participants, probe_samples, attributes), read_published_texts(settings.seed_files)
        for figure in decode.seed_prompts:
            prompts = write_published_trials(pairs, texts, figure, attributes, study.seed)
            rated[f"figure_{figure}"] = requests[f"figure_{figure}"] = prompts
    answers = _written(context, study, storage, requests) if requests else {}
    ratings = [derive_decoded_ratings(rated[name], answers[name], questions) for name in requests]
    return pd.concat([DECODED_RATINGS.empty_frame(), *ratings], ignore_index=True)


def _written(
    context: dg.AssetExecutionContext, study: Study, storage: Storage, requests: Mapping[str, Sequence[Trial]]
) -> dict[str, list[Answer]]:
    """What a cell's model writes to lists of trials, each under its name; one node job loads the model once for all."""
    name, part = cell_of(context)
    folder = storage.job_folder(context.asset_key, context.partition_key)
    files = {title: (folder / f"{title}.trials.parquet", folder / f"{title}.parquet") for title in requests}
    for title, trials in requests.items():
        write_table(files[title][0], trial_rows(trials), TRIALS)
    cell = Cell(name, WORLDVALUESBENCH.part_of(study, part))
    job = generate_job(study, storage, cell, WORLDVALUESBENCH, files)
    run_node_job(context, job, study, storage, name)
    return {title: read_answers(answers) for title, (_, answers) in files.items()}
