"""WorldValuesBench as a graph; each asset is derived by the instrument's file of its name. Here: people and prompts."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.instruments.worldvaluesbench import lines as own_lines
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
                f"{HOME}.plants:plant_ratings",
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
    settings = WorldValuesBench.of(study)
    asked = sha256_json(stamps_of_sets(study, "questions"))
    is_made_up = settings.answers == "planted"
    read = stamp_of(study, "answers", "repeated_ids", "splits")
    declared = partial(declare, study, WORLDVALUESBENCH, "people", docs=DOCS, step="analysis", reads=())

    @declared(
        line=own_lines.questions_line,
        checks=[checks.QUESTIONS_FIT_THEIR_CODES],
        modules=(f"{HOME}.plants", f"{HOME}.soundness"),
        stamp=asked,
        io_manager_key="frame",
    )
    def value_questions() -> Any:
        """The questions that are asked, with their scales and what of the survey's codes is another."""
        from valuesassets.instruments.worldvaluesbench.plants import asked_questions
        from valuesassets.instruments.worldvaluesbench.soundness import describe_questions, question_faults

        questions = asked_questions(study)
        results = [checks.QUESTIONS_FIT_THEIR_CODES.result(question_faults(questions), len(questions))]
        return dg.MaterializeResult(value=describe_questions(questions), check_results=results)

    @declared(
        line=own_lines.participants_line,
        checks=[checks.IDS_ARE_RESOLVED, checks.COUNTRIES_HAVE_CONTINENTS, checks.EDUCATION_HAS_LEVELS],
        modules=(f"{HOME}.plants", f"{HOME}.soundness", f"{HOME}.stored_dataset"),
        reads=("seed",) if is_made_up else (),
        stamp=sha256_json([read, stamp_of(study, "people"), asked]) if is_made_up else read,
        io_manager_key="frame",
    )
    def participants(context: dg.AssetExecutionContext, storage: Storage) -> Any:
        """People with their background, weight and split, under ids of their own; with their answers in one folder."""
        from valuesassets.instruments.worldvaluesbench.participants import read_participants
        from valuesassets.instruments.worldvaluesbench.plants import answered_questions, write_planted_people
        from valuesassets.instruments.worldvaluesbench.soundness import people_faults
        from valuesassets.instruments.worldvaluesbench.stored_dataset import write_dataset

        place = settings.answers
        if not isinstance(place, Path):
            place = write_planted_people(study, storage.path(context.asset_key, None, "csv"))
        found = read_participants(place, answered_questions(study), settings.repeated_ids, settings.splits)
        # A copy beside the assets' own files: commands take one folder that has both tables and the ledger, an asset
        # has a folder of its own; and `value_answers` would else read the survey's file, which is slow, once more.
        write_dataset(found, dataset_folder(storage))
        faults, n = people_faults(found.participants), len(found.participants)
        return dg.MaterializeResult(
            value=found.participants,
            metadata={"dataset": dg.MetadataValue.path(str(dataset_folder(storage)))},
            check_results=[
                checks.IDS_ARE_RESOLVED.result(faults["ids"], n),
                checks.COUNTRIES_HAVE_CONTINENTS.result(faults["continent"], n),
                checks.EDUCATION_HAS_LEVELS.result(faults["education"], n),
            ],
        )

    of_dataset = partial(declared, deps=[WORLDVALUESBENCH.key("participants")], modules=(f"{HOME}.stored_dataset",))

    @of_dataset(line=own_lines.answers_line, checks=[checks.ANSWERS_ARE_ON_THEIR_SCALE], io_manager_key="frame")
    def value_answers(storage: Storage) -> Any:
        """What people answered, on the scales of the questions; below 0 why there is no answer."""
        from valuesassets.instruments.worldvaluesbench.plants import asked_questions
        from valuesassets.instruments.worldvaluesbench.soundness import answer_faults
        from valuesassets.instruments.worldvaluesbench.stored_dataset import read_dataset

        found, questions = read_dataset(dataset_folder(storage)).value_answers, asked_questions(study)
        results = [checks.ANSWERS_ARE_ON_THEIR_SCALE.result(answer_faults(found, questions), len(questions))]
        return dg.MaterializeResult(value=found, check_results=results)

    @declared(line=own_lines.splits_line, io_manager_key="frame")
    def splits(participants: pd.DataFrame) -> Any:
        """Who is in train, valid and test."""
        return participants.loc[:, ["participant_id", "split"]]

    @of_dataset(line=own_lines.statistics_line, io_manager_key="frames")
    def dataset_statistics(storage: Storage) -> Any:
        """People and examples of each split, answers to each question, and what was done to rows of the file."""
        from valuesassets.instruments.worldvaluesbench.dataset_statistics import derive_dataset_statistics
        from valuesassets.instruments.worldvaluesbench.stored_dataset import read_dataset
        from valuesassets.people.own_variables import NO_COLUMN, NO_IDS

        found = read_dataset(dataset_folder(storage))
        lacking = found.ledger.loc[found.ledger["why"].isin((NO_COLUMN, NO_IDS)), "subject"]
        return dg.MaterializeResult(
            value=derive_dataset_statistics(found) | {"ledger": found.ledger},
            metadata={"columns_the_file_lacks": ", ".join(lacking)} if len(lacking) else {},
        )

    return [value_questions, participants, value_answers, splits, dataset_statistics]


def dataset_folder(storage: Storage) -> Path:
    """Where the data set lies whole, as `valuesassets worldvaluesbench` takes it."""
    return storage.path(WORLDVALUESBENCH.key("dataset"), None, "").parent


def prompt_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Of each set: who is asked about, their distinct profiles, and the prompts."""
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
        from valuesassets.instruments.worldvaluesbench.probe_samples import choose_samples
        from valuesassets.instruments.worldvaluesbench.set_ratings import dataset_of
        from valuesassets.instruments.worldvaluesbench.value_questions import chosen_questions

        asked = settings.sets[context.partition_key]
        people, probe = dataset_of(participants, value_answers), asked.probe
        found = choose_samples(people, chosen_questions(asked.questions), str(probe), study.seed)
        return found.astype(dict.fromkeys(found, str))

    @of_set(line=own_lines.personas_line, files=stamps_of_sets(study, "attributes"), io_manager_key="frame")
    def personas(
        context: dg.AssetExecutionContext, participants: pd.DataFrame, probe_samples: pd.DataFrame
    ) -> pd.DataFrame:
        """The distinct profiles of those asked about; people who share one are asked once."""
        from valuesassets.instruments.worldvaluesbench.personas import derive_personas

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
        modules=(f"{HOME}.personas",),
        io_manager_key="trials",
    )
    def trials(
        context: dg.AssetExecutionContext,
        participants: pd.DataFrame,
        probe_samples: pd.DataFrame,
        personas: pd.DataFrame,
    ) -> Any:
        """Every distinct question and profile, with the background and without, in both orders."""
        from valuesassets.instruments.worldvaluesbench.personas import asked_pairs
        from valuesassets.instruments.worldvaluesbench.trials import write_trials
        from valuesassets.instruments.worldvaluesbench.value_questions import chosen_questions

        asked = settings.sets[context.partition_key]
        return write_trials(
            personas,
            asked_pairs(participants, probe_samples, asked.attributes),
            chosen_questions(asked.questions),
            asked.attributes,
            asked.language,
            study.elicitation,
            settings.wordings,
            study.seed,
        )

    return trials
