"""WorldValuesBench as a graph; each asset is derived by the instrument's file of its name. Here: people and prompts."""

from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.instruments.worldvaluesbench.report import lines as own_lines
from valuesassets.orchestration.assets.calibration import Planting, calibration_assets
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.grid import grid_assets
from valuesassets.orchestration.assets.worldvaluesbench import checks
from valuesassets.orchestration.assets.worldvaluesbench.analyses import score_assets
from valuesassets.orchestration.assets.worldvaluesbench.answers import answer_assets
from valuesassets.orchestration.assets.worldvaluesbench.stamps import stamp_of, stamps_of_sets
from valuesassets.orchestration.first_look import lines
from valuesassets.orchestration.instruments import WORLDVALUESBENCH
from valuesassets.orchestration.partitions import part_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_json
from valuesassets.records.settings.worldvaluesbench import WorldValuesBench
from valuesassets.records.study import Study


def worldvaluesbench_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Every asset of the instrument."""
    return [
        *people_assets(study),
        *prompt_assets(study),
        *calibration_assets(
            Planting(
                study,
                WORLDVALUESBENCH,
                f"{WORLDVALUESBENCH.package}.plants.plants:plant_ratings",
                answers="rating_distributions",
                stamp=stamp_of(study, "slopes"),
            )
        ),
        *grid_assets(study, WORLDVALUESBENCH),
        *answer_assets(study),
        *score_assets(study),
    ]


def people_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Questions, people and what they answered."""
    question_stamp = sha256_json(stamps_of_sets(study, "questions"))
    is_made_up = WorldValuesBench.of(study).answers == "planted"
    stamp = stamp_of(study, "answers", "repeated_ids", "splits")
    dataset, soundness, plants = ".material.stored_dataset", ".material.soundness", ".plants.plants"
    declared = partial(declare, study, WORLDVALUESBENCH, "people", step="analysis", reads=(), io_manager_key="frame")
    of_dataset = partial(declared, deps=[WORLDVALUESBENCH.key("participants")], modules=[dataset])
    return [
        declared(
            line=own_lines.questions_line,
            checks=[checks.QUESTIONS_FIT_THEIR_CODES],
            modules=[plants, soundness],
            stamp=question_stamp,
        )(value_questions),
        declared(
            line=own_lines.participants_line,
            checks=[checks.IDS_ARE_RESOLVED, checks.COUNTRIES_HAVE_CONTINENTS, checks.EDUCATION_HAS_LEVELS],
            modules=[plants, soundness, dataset],
            reads=("seed",) if is_made_up else (),
            stamp=sha256_json([stamp, stamp_of(study, "people"), question_stamp]) if is_made_up else stamp,
        )(participants),
        of_dataset(line=own_lines.answers_line, checks=[checks.ANSWERS_ARE_ON_THEIR_SCALE])(value_answers),
        declared(line=own_lines.splits_line)(splits),
        of_dataset(line=own_lines.statistics_line, io_manager_key="frames")(dataset_statistics),
    ]


def value_questions(study: Study) -> Any:
    """The questions that are asked, with their scales and where the survey's codes differ from them."""
    from valuesassets.instruments.worldvaluesbench.material.soundness import describe_questions, question_faults
    from valuesassets.instruments.worldvaluesbench.plants.plants import asked_questions

    questions = asked_questions(study)
    results = [checks.QUESTIONS_FIT_THEIR_CODES.result(question_faults(questions), len(questions))]
    return dg.MaterializeResult(value=describe_questions(questions), check_results=results)


def participants(context: dg.AssetExecutionContext, study: Study, storage: Storage) -> Any:
    """People with their background, weight and split, under ids of their own; with their answers in one folder."""
    from valuesassets.instruments.worldvaluesbench.material.participants import read_participants
    from valuesassets.instruments.worldvaluesbench.material.soundness import people_faults
    from valuesassets.instruments.worldvaluesbench.material.stored_dataset import write_dataset
    from valuesassets.instruments.worldvaluesbench.plants.plants import answered_questions, write_planted_people

    settings = WorldValuesBench.of(study)
    path = settings.answers
    if not isinstance(path, Path):
        path = write_planted_people(study, storage.path(context.asset_key, None, "csv"))
    dataset = read_participants(path, answered_questions(study), settings.repeated_ids, settings.splits)
    # A copy beside the assets' own files: commands take one folder that has both tables and the ledger, an asset
    # has a folder of its own; and `value_answers` would else read the survey's file, which is slow, once more.
    write_dataset(dataset, dataset_folder(storage))
    faults, n = people_faults(dataset.participants), len(dataset.participants)
    return dg.MaterializeResult(
        value=dataset.participants,
        metadata={"dataset": dg.MetadataValue.path(str(dataset_folder(storage)))},
        check_results=[
            checks.IDS_ARE_RESOLVED.result(faults["ids"], n),
            checks.COUNTRIES_HAVE_CONTINENTS.result(faults["continent"], n),
            checks.EDUCATION_HAS_LEVELS.result(faults["education"], n),
        ],
    )


def value_answers(study: Study, storage: Storage) -> Any:
    """What people answered, on the scales of the questions; a code below 0 says why an answer is missing."""
    from valuesassets.instruments.worldvaluesbench.material.soundness import answer_faults
    from valuesassets.instruments.worldvaluesbench.material.stored_dataset import read_dataset
    from valuesassets.instruments.worldvaluesbench.plants.plants import asked_questions

    answers, questions = read_dataset(dataset_folder(storage)).value_answers, asked_questions(study)
    results = [checks.ANSWERS_ARE_ON_THEIR_SCALE.result(answer_faults(answers, questions), len(questions))]
    return dg.MaterializeResult(value=answers, check_results=results)


def splits(study: Study, participants: pd.DataFrame) -> Any:
    """Who is in train, valid and test."""
    return participants.loc[:, ["participant_id", "split"]]


def dataset_statistics(study: Study, storage: Storage) -> Any:
    """People and examples of each split, answers to each question, and what was done to rows of the file."""
    from valuesassets.instruments.worldvaluesbench.material.dataset_statistics import derive_dataset_statistics
    from valuesassets.instruments.worldvaluesbench.material.stored_dataset import read_dataset
    from valuesassets.people.own_variables import NO_COLUMN, NO_IDS

    dataset = read_dataset(dataset_folder(storage))
    lacking = dataset.ledger.loc[dataset.ledger["why"].isin((NO_COLUMN, NO_IDS)), "subject"]
    return dg.MaterializeResult(
        value=derive_dataset_statistics(dataset) | {"ledger": dataset.ledger},
        metadata={"columns_the_file_lacks": ", ".join(lacking)} if len(lacking) else {},
    )


def dataset_folder(storage: Storage) -> Path:
    """Where the data set lies whole, as `valuesassets worldvaluesbench` takes it."""
    return storage.path(WORLDVALUESBENCH.key("dataset"), None, "").parent


def prompt_assets(study: Study) -> list[dg.AssetsDefinition]:
    """The people that each set asks about, their distinct profiles, and the prompts."""
    are_drawn = isinstance(study.elicitation.orders, int)
    declared = partial(declare, study, WORLDVALUESBENCH, "prompts", reads=(), io_manager_key="frame")
    of_set = partial(declared, partitions_def=part_partitions(study, WORLDVALUESBENCH))
    return [
        of_set(
            line=own_lines.samples_line,
            stamp=sha256_json(study.seed),
            files=stamps_of_sets(study, "questions", "probe"),
        )(probe_samples),
        of_set(line=own_lines.personas_line, files=stamps_of_sets(study, "attributes"))(personas),
        of_set(
            line=lines.trials_line,
            stamp=stamp_of(study, "wordings"),
            reads=("elicitation", "seed") if are_drawn else ("elicitation",),
            files=stamps_of_sets(study, "questions", "attributes", "language"),
            modules=[".material.personas"],
            io_manager_key="trials",
        )(trials),
    ]


def probe_samples(
    context: dg.AssetExecutionContext, study: Study, participants: pd.DataFrame, value_answers: pd.DataFrame
) -> pd.DataFrame:
    """Who is asked which question, and the group of each."""
    from valuesassets.instruments.worldvaluesbench.material.probe_samples import choose_samples
    from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions
    from valuesassets.instruments.worldvaluesbench.measures.set_ratings import dataset_of

    settings = WorldValuesBench.of(study)
    entry = settings.sets[context.partition_key]
    people, questions = dataset_of(participants, value_answers), chosen_questions(entry.questions)
    samples = choose_samples(people, questions, str(entry.probe), study.seed)
    return samples.astype(dict.fromkeys(samples, str))


def personas(
    context: dg.AssetExecutionContext, study: Study, participants: pd.DataFrame, probe_samples: pd.DataFrame
) -> pd.DataFrame:
    """The distinct profiles of those asked about; people who share one are asked once."""
    from valuesassets.instruments.worldvaluesbench.material.personas import derive_personas

    settings = WorldValuesBench.of(study)
    return derive_personas(participants, probe_samples, settings.sets[context.partition_key].attributes)


def trials(
    context: dg.AssetExecutionContext,
    study: Study,
    participants: pd.DataFrame,
    probe_samples: pd.DataFrame,
    personas: pd.DataFrame,
) -> Any:
    """Every distinct question and profile, with the background and without, in both orders."""
    from valuesassets.instruments.worldvaluesbench.material.personas import asked_pairs
    from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions
    from valuesassets.instruments.worldvaluesbench.trials.trials import write_trials

    settings = WorldValuesBench.of(study)
    entry = settings.sets[context.partition_key]
    return write_trials(
        personas,
        asked_pairs(participants, probe_samples, entry.attributes),
        chosen_questions(entry.questions),
        entry.attributes,
        entry.language,
        study.elicitation,
        settings.wordings,
        study.seed,
    )
