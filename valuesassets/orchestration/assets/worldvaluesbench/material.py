"""WorldValuesBench as a graph; each asset is derived by the instrument's file of its name. Here: people and prompts."""

from collections.abc import Callable
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

HOME, DOCS = "valuesassets.instruments.worldvaluesbench", "worldvaluesbench"


def worldvaluesbench_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Every asset of the instrument."""
    return [
        *people_assets(study),
        *prompt_assets(study),
        *calibration_assets(
            Planting(
                study,
                WORLDVALUESBENCH,
                f"{HOME}.plants.plants:plant_ratings",
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
    return [
        questions_asset(study),
        participants_asset(study),
        answers_asset(study),
        splits_asset(study),
        statistics_asset(study),
    ]


def of_people(study: Study) -> Callable[..., Any]:
    """`declare` with what assets of people have in common."""
    return partial(declare, study, WORLDVALUESBENCH, "people", docs=DOCS, step="analysis", reads=())


def of_dataset(study: Study) -> Callable[..., Any]:
    """The same of assets that read the whole data set."""
    return partial(
        of_people(study), deps=[WORLDVALUESBENCH.key("participants")], modules=(f"{HOME}.material.stored_dataset",)
    )


def stamp_of_questions(study: Study) -> str:
    """A hash of which questions the sets ask."""
    return sha256_json(stamps_of_sets(study, "questions"))


def questions_asset(study: Study) -> dg.AssetsDefinition:
    """The questions of all sets."""

    @of_people(study)(
        line=own_lines.questions_line,
        checks=[checks.QUESTIONS_FIT_THEIR_CODES],
        modules=(f"{HOME}.plants.plants", f"{HOME}.material.soundness"),
        stamp=stamp_of_questions(study),
        io_manager_key="frame",
    )
    def value_questions() -> Any:
        """The questions that are asked, with their scales and where the survey's codes differ from them."""
        from valuesassets.instruments.worldvaluesbench.material.soundness import describe_questions, question_faults
        from valuesassets.instruments.worldvaluesbench.plants.plants import asked_questions

        questions = asked_questions(study)
        results = [checks.QUESTIONS_FIT_THEIR_CODES.result(question_faults(questions), len(questions))]
        return dg.MaterializeResult(value=describe_questions(questions), check_results=results)

    return value_questions


def participants_asset(study: Study) -> dg.AssetsDefinition:
    """The people of the survey's file, or made-up ones."""
    settings = WorldValuesBench.of(study)
    is_made_up = settings.answers == "planted"
    stamp = stamp_of(study, "answers", "repeated_ids", "splits")

    @of_people(study)(
        line=own_lines.participants_line,
        checks=[checks.IDS_ARE_RESOLVED, checks.COUNTRIES_HAVE_CONTINENTS, checks.EDUCATION_HAS_LEVELS],
        modules=(f"{HOME}.plants.plants", f"{HOME}.material.soundness", f"{HOME}.material.stored_dataset"),
        reads=("seed",) if is_made_up else (),
        stamp=sha256_json([stamp, stamp_of(study, "people"), stamp_of_questions(study)]) if is_made_up else stamp,
        io_manager_key="frame",
    )
    def participants(context: dg.AssetExecutionContext, storage: Storage) -> Any:
        """People with their background, weight and split, under ids of their own; with their answers in one folder."""
        from valuesassets.instruments.worldvaluesbench.material.participants import read_participants
        from valuesassets.instruments.worldvaluesbench.material.soundness import people_faults
        from valuesassets.instruments.worldvaluesbench.material.stored_dataset import write_dataset
        from valuesassets.instruments.worldvaluesbench.plants.plants import answered_questions, write_planted_people

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

    return participants


def answers_asset(study: Study) -> dg.AssetsDefinition:
    """People's answers to all questions."""

    @of_dataset(study)(line=own_lines.answers_line, checks=[checks.ANSWERS_ARE_ON_THEIR_SCALE], io_manager_key="frame")
    def value_answers(storage: Storage) -> Any:
        """What people answered, on the scales of the questions; a code below 0 says why an answer is missing."""
        from valuesassets.instruments.worldvaluesbench.material.soundness import answer_faults
        from valuesassets.instruments.worldvaluesbench.material.stored_dataset import read_dataset
        from valuesassets.instruments.worldvaluesbench.plants.plants import asked_questions

        answers, questions = read_dataset(dataset_folder(storage)).value_answers, asked_questions(study)
        results = [checks.ANSWERS_ARE_ON_THEIR_SCALE.result(answer_faults(answers, questions), len(questions))]
        return dg.MaterializeResult(value=answers, check_results=results)

    return value_answers


def splits_asset(study: Study) -> dg.AssetsDefinition:
    """The split of each person."""

    @of_people(study)(line=own_lines.splits_line, io_manager_key="frame")
    def splits(participants: pd.DataFrame) -> Any:
        """Who is in train, valid and test."""
        return participants.loc[:, ["participant_id", "split"]]

    return splits


def statistics_asset(study: Study) -> dg.AssetsDefinition:
    """Counts of people and answers."""

    @of_dataset(study)(line=own_lines.statistics_line, io_manager_key="frames")
    def dataset_statistics(storage: Storage) -> Any:
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

    return dataset_statistics


def dataset_folder(storage: Storage) -> Path:
    """Where the data set lies whole, as `valuesassets worldvaluesbench` takes it."""
    return storage.path(WORLDVALUESBENCH.key("dataset"), None, "").parent


def prompt_assets(study: Study) -> list[dg.AssetsDefinition]:
    """The people that each set asks about, their distinct profiles, and the prompts."""
    settings = WorldValuesBench.of(study)
    of_set = partial(declare, study, WORLDVALUESBENCH, "prompts", docs=DOCS, reads=())
    of_set = partial(of_set, partitions_def=part_partitions(study, WORLDVALUESBENCH))

    @of_set(
        line=own_lines.samples_line,
        stamp=sha256_json(study.seed),
        files=stamps_of_sets(study, "questions", "probe"),
        io_manager_key="frame",
    )
    def probe_samples(
        context: dg.AssetExecutionContext, participants: pd.DataFrame, value_answers: pd.DataFrame
    ) -> pd.DataFrame:
        """Who is asked which question, and the group of each."""
        from valuesassets.instruments.worldvaluesbench.material.probe_samples import choose_samples
        from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions
        from valuesassets.instruments.worldvaluesbench.measures.set_ratings import dataset_of

        entry = settings.sets[context.partition_key]
        people, questions = dataset_of(participants, value_answers), chosen_questions(entry.questions)
        samples = choose_samples(people, questions, str(entry.probe), study.seed)
        return samples.astype(dict.fromkeys(samples, str))

    @of_set(line=own_lines.personas_line, files=stamps_of_sets(study, "attributes"), io_manager_key="frame")
    def personas(
        context: dg.AssetExecutionContext, participants: pd.DataFrame, probe_samples: pd.DataFrame
    ) -> pd.DataFrame:
        """The distinct profiles of those asked about; people who share one are asked once."""
        from valuesassets.instruments.worldvaluesbench.material.personas import derive_personas

        return derive_personas(participants, probe_samples, settings.sets[context.partition_key].attributes)

    return [probe_samples, personas, trials_asset(study, of_set)]


def trials_asset(study: Study, of_set: Callable[..., Any]) -> dg.AssetsDefinition:
    """The prompts of a set."""
    settings = WorldValuesBench.of(study)
    are_drawn = isinstance(study.elicitation.orders, int)

    @of_set(
        line=lines.trials_line,
        stamp=stamp_of(study, "wordings"),
        reads=("elicitation", "seed") if are_drawn else ("elicitation",),
        files=stamps_of_sets(study, "questions", "attributes", "language"),
        modules=(f"{HOME}.material.personas",),
        io_manager_key="trials",
    )
    def trials(
        context: dg.AssetExecutionContext,
        participants: pd.DataFrame,
        probe_samples: pd.DataFrame,
        personas: pd.DataFrame,
    ) -> Any:
        """Every distinct question and profile, with the background and without, in both orders."""
        from valuesassets.instruments.worldvaluesbench.material.personas import asked_pairs
        from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions
        from valuesassets.instruments.worldvaluesbench.trials.trials import write_trials

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

    return trials
