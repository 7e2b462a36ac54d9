"""The calibration of one language, start to end, by whatever copy of the package this was imported from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from valuesassets.answers.calibration import compare_with_plants, summarise_recovery
from valuesassets.answers.plants import Plants, planted_answers
from valuesassets.answers.reference_models import planted_text_rows
from valuesassets.answers.sampled_answers import derive_sampled_distributions
from valuesassets.instruments.survey.plants.plants import plant_questions
from valuesassets.instruments.survey.trials.trials import write_trials
from valuesassets.library.answering import answer_rows_of
from valuesassets.library.calibrating import ask_reference, calibration_study
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.loading import load_model
from valuesassets.models.reference import hash_training, train_reference_model
from valuesassets.models.reference_folder import find_reference_model
from valuesassets.models.sampling import sample_answers
from valuesassets.people.variables import load_variables
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.parquet import answer_rows
from valuesassets.records.settings.measuring import Elicitation
from valuesassets.records.study import Study
from valuesassets.records.trials import Reading, Trial
from valuesassets_tests.studies.expected_questions import expected_questions

LANGUAGE, FAMILY = "eng", "reference-mono"
QUESTIONS = {
    *("v1", "v5", "v115", "v31", "v86", "v92", "v95", "v46", "v39", "v63", "v102", "v149"),
    *("v54", "v98", "v99", "v110", "v111", "v113", "v114"),
}
"""Of the bundled form: every response type, four ten-point scales, list items, a second choice, reordered scales."""
WORDINGS, PASSES = 2, 160
SAMPLES = 400
"""Answers drawn to each prompt where the second channel is asked for."""


def main(argument: dict[str, Any]) -> dict[str, Any]:
    """Verdict and errors by response type, or the error of ours that the calibration ended in.

    A phantom that was trained on just what this copy plants is taken from `known`; else one is trained in `own`.
    """
    try:
        return {"rows": calibrate(Path(argument["known"]), Path(argument["own"]), argument["is_sampled"])}
    except ValuesAssetsError as error:
        return {"error": f"{type(error).__name__}: {error}"}


def calibrate(known: Path, own: Path, is_sampled: bool) -> list[dict[str, Any]]:
    questions = [question for question in expected_questions(LANGUAGE) if question.id in QUESTIONS]
    pattern = calibration_study(LANGUAGE, "both")
    study = pattern.model_copy(update={"elicitation": Elicitation(wordings=WORDINGS)})
    trials = write_trials(questions, LANGUAGE, load_lexicon(LANGUAGE), load_variables(), study.elicitation, study.seed)
    plants = plant_questions(study, FAMILY, LANGUAGE, questions)
    answers: dict[str, dict[str, float]] = {}
    for row in planted_text_rows(trials, plants):
        answers.setdefault(str(row["prompt"]), {})[str(row["answer_text"])] = float(str(row["prob"]))
    found = find_reference_model(known, hash_training(answers, PASSES, study.seed))
    phantom = found or train_reference_model(answers, own, PASSES, study.seed)
    loaded = load_model(str(phantom.folder), None, "float32", "cpu")
    records = ask_reference(FAMILY, loaded, trials, "reading answers")
    readings = [record for record in records if isinstance(record, Reading)]
    probed = pd.DataFrame(answer_rows_of(questions, trials, readings, FAMILY))
    planted = planted_answers({(FAMILY, LANGUAGE): plants})
    sampled = draw(loaded, trials, plants, study) if is_sampled else None
    summary = summarise_recovery(compare_with_plants(probed, planted, sampled), study.phantom)
    return [{str(key): value for key, value in row.items()} for row in summary.to_dict(orient="records")]


def draw(loaded: LoadedModel, trials: Sequence[Trial], plants: Plants, study: Study) -> pd.DataFrame:
    """The second channel: answers that the model writes, counted as text."""
    counted = sample_answers(loaded, [trial.prompt for trial in trials], SAMPLES, study.seed)
    rows = answer_rows(trials, counted)
    return derive_sampled_distributions(pd.DataFrame(rows), trials, plants, FAMILY, LANGUAGE)
