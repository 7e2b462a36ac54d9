"""Cultural robustness as a graph; the instrument's file of its name derives each asset. Here: up to the trials."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.instruments.cultural_robustness.report import lines as own_lines
from valuesassets.orchestration.assets.cultural_robustness import checks
from valuesassets.orchestration.assets.cultural_robustness.analyses import score_assets
from valuesassets.orchestration.assets.cultural_robustness.answers import answer_assets, has_chat
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.code_versions import file_stamps
from valuesassets.orchestration.first_look import lines
from valuesassets.orchestration.grid.cells import WEIGHTS, fetched_weights
from valuesassets.orchestration.instruments import CULTURAL_ROBUSTNESS
from valuesassets.orchestration.partitions import model_partitions, part_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData, QuestionError
from valuesassets.records.files import sha256_json
from valuesassets.records.frames import records, rows
from valuesassets.records.settings.cultural_robustness import CulturalRobustness
from valuesassets.records.study import Study
from valuesassets.records.trials import Trial


def cultural_robustness_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Every asset of the instrument."""
    return [*material_assets(study), *answer_assets(study), *score_assets(study)]


def stamp_of(study: Study, *keys: str) -> str:
    """A hash of some keys of the instrument's table, and of the files that they name."""
    settings = CulturalRobustness.of(study)
    values = settings.model_dump(mode="json", include={*keys} - {"questions", "countries"})
    paths = {name: getattr(settings, name) for name in ("questions", "countries") if name in keys}
    return sha256_json([values, {name: _contents(path) for name, path in paths.items()}])


def _contents(value: Any) -> Any:
    """The files at a path, by names, sizes and times; any other value as it is."""
    if not isinstance(value, Path):
        return value
    folder = value if value.is_dir() else value.parent
    names = sorted(path.name for path in folder.iterdir()) if value.is_dir() else [value.name]
    return file_stamps(folder, {name: name for name in names})


def material_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Questions, what is wrong with them, and how models are asked them."""
    of_parts = part_partitions(study, CULTURAL_ROBUSTNESS)
    declared = partial(declare, study, CULTURAL_ROBUSTNESS, "questions", reads=())
    asking = partial(
        declared,
        partitions_def=of_parts,
        line=lines.trials_line,
        io_manager_key="trials",
        reads=("seed",),
        entries=("languages",),
        modules=[".trials.trials", ".trials.chat_trials", ".material.countries"],
        stamp=stamp_of(study, "anchors", "samples", "samples_anchored", "greedy", "temperature", "max_tokens"),
    )
    return [
        declared(
            partitions_def=of_parts,
            line=own_lines.questions_line,
            io_manager_key="frame",
            dagster_type=dg.Any,  # the shared table of this name is another
            stamp=stamp_of(study, "questions", "countries"),
            modules=[".material.countries"],
        )(questions),
        declared(
            line=own_lines.report_line,
            checks=[checks.QUESTIONS_ASK_THE_SAME, checks.NO_TWO_QUESTIONS_READ_ALIKE],
            many=["questions"],
            io_manager_key="csv",
        )(question_report),
        asking()(trials),
        *([asking()(chat_trials)] if has_chat(study) else []),
        declared(
            line=own_lines.languages_line,
            partitions_def=model_partitions(study),
            deps=[WEIGHTS],
            io_manager_key="json",
            entries=("families", "languages"),
            stamp=sha256_json(os.environ.get("EVAL_LANGUAGES", "")),
        )(model_languages),
    ]


def questions(context: dg.AssetExecutionContext, study: Study) -> pd.DataFrame:
    """Everyday questions of a language, as they are and with each country named."""
    from valuesassets.instruments.cultural_robustness.material.questions import read_questions

    settings = CulturalRobustness.of(study)
    by_language, language = read_questions(settings.questions, settings.countries), context.partition_key
    if language not in by_language:
        raise QuestionError(
            f"{settings.questions}: there are no questions in {language}, only in {', '.join(by_language)}; add "
            f"{language}_unspecific.jsonl, or take the language out of the study"
        )
    return by_language[language]


def question_report(context: dg.AssetExecutionContext, study: Study, questions: dict[str, pd.DataFrame]) -> Any:
    """Every fault of the questions, by language and id."""
    from valuesassets.instruments.cultural_robustness.material.question_report import report_questions

    faults = report_questions(questions)
    is_warning = faults["is_warning"].astype(bool)
    n_questions = sum(map(len, questions.values()))
    return dg.MaterializeResult(
        value=faults,
        check_results=[
            checks.QUESTIONS_ASK_THE_SAME.result(records(rows(faults, ~is_warning)), n_questions),
            checks.NO_TWO_QUESTIONS_READ_ALIKE.result(records(rows(faults, is_warning)), n_questions),
        ],
    )


def _turns(context: dg.AssetExecutionContext, study: Study, questions: pd.DataFrame) -> list[Trial]:
    """What chat models are asked in a language, about the countries that the study names."""
    from valuesassets.instruments.cultural_robustness.material.countries import asked_countries, of_countries
    from valuesassets.instruments.cultural_robustness.trials.chat_trials import write_trials

    settings = CulturalRobustness.of(study)
    if settings.anchors is not None:
        countries = settings.own_countries(study).values()
        questions = of_countries(questions, asked_countries(questions, countries, settings.anchors, study.seed))
    return write_trials(questions, context.partition_key, settings, study.seed)


def trials(context: dg.AssetExecutionContext, study: Study, questions: pd.DataFrame) -> Any:
    """What models without a chat are asked: the question, below it the words that ask for an answer."""
    from valuesassets.instruments.cultural_robustness.trials.trials import as_text

    return as_text(_turns(context, study, questions))


def chat_trials(context: dg.AssetExecutionContext, study: Study, questions: pd.DataFrame) -> Any:
    """What chat models are asked: the question as it is, as one turn."""
    return _turns(context, study, questions)


def model_languages(context: dg.AssetExecutionContext, study: Study, storage: Storage) -> dict[str, Any]:
    """The languages that a model is asked in, and the source that names them."""
    from valuesassets.instruments.cultural_robustness.material.model_languages import find_languages

    name = context.partition_key
    family = study.families[name]
    card = _card_folder(storage, name) if family.languages == "card" else None
    return find_languages(name, study.family_languages(name), card, os.environ).as_json()


def _card_folder(storage: Storage, family: str) -> Path:
    """The folder of a family's fetched model, where its card lies."""
    from valuesassets.models.fetching import fetch_card

    for entry in fetched_weights(storage, family).get("models", []):
        return fetch_card(entry["model"], entry["commit"])
    raise MissingData(f"{family}: its weights have not been fetched; materialise models/weights of {family} first")
