"""A study's storage as the graph leaves it, written without a model: real forms and prompts, drawn readings."""

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from valuesassets.answers.probe_distributions import Cell, derive_probe_distributions
from valuesassets.answers.quality_report import report_quality
from valuesassets.instruments.survey.material.aligned_questions import align_questions
from valuesassets.instruments.survey.material.alignment.match import write_matches
from valuesassets.instruments.survey.material.extracted_questions import examine_questions, extract_questions
from valuesassets.instruments.survey.material.master_questions import list_master_questions
from valuesassets.instruments.survey.material.normalisation import Normalised
from valuesassets.instruments.survey.material.questionnaire_pdf import fetch_questionnaire
from valuesassets.instruments.survey.trials.trials import write_trials
from valuesassets.people.variables import load_variables
from valuesassets.records.files import sha256_json, write_json
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.parquet import read_trials, reading_rows, trial_rows, write_table
from valuesassets.records.questions import askable, write_questions
from valuesassets.records.study import Study, load_study
from valuesassets.records.tables import PROBE_DISTRIBUTIONS, READINGS, TRIALS
from valuesassets.records.trials import Reading, Status
from valuesassets_tests.figures.made_up_analyses import map_frame

LANGUAGES = ("eng", "fra")
IDENTITY = {"weights_id": "ab" * 32, "tokenizer_sha256": "cd" * 32, "dtype": "float32", "scorer_version": "3"}


@dataclass(frozen=True)
class StoredStudy:
    """A study, its folder in the storage, and its tables as the report takes them."""

    study: Study
    folder: Path
    probe: pd.DataFrame
    quality: dict[str, pd.DataFrame]
    points: pd.DataFrame

    def path(self, asset: str, name: str) -> Path:
        return self.folder / "survey" / asset / name


def small_study() -> Study:
    """The demo in two languages."""
    demo = load_study("demo_survey")
    return demo.model_copy(update={"languages": {code: demo.languages[code] for code in LANGUAGES}})


def write_stored_study(folder: Path) -> StoredStudy:
    """Write every file that provenance is read from."""
    study, variables = small_study(), load_variables()
    survey = folder / study.name / "survey"
    extracted = {}
    for language in LANGUAGES:
        pdf = fetch_questionnaire(study, language, survey / "questionnaire_pdf" / f"{language}.pdf")
        write_json(survey / "questionnaire_pdf" / f"{language}.json", asdict(pdf))
        examined = examine_questions(extract_questions(Path(pdf.path), language), Path(pdf.path), language)
        extracted[language] = list(examined.questions)
        write_questions(survey / "extracted_questions" / f"{language}.json", extracted[language])
    master = list_master_questions(extracted, study.questionnaires.master, variables)
    probes = []
    for language in LANGUAGES:
        alignment = align_questions(Normalised.of(extracted[language]), language, master, variables)
        write_questions(survey / "aligned_questions" / f"{language}.json", alignment.questions)
        write_matches(survey / "aligned_questions" / f"{language}.alignment.csv", {language: alignment})
        questions_to_ask = askable(alignment.questions)
        trials = write_trials(questions_to_ask, language, load_lexicon(language), variables)
        write_table(survey / "trials" / f"{language}.parquet", trial_rows(trials), TRIALS)
        types = {question.id: str(question.response_type) for question in questions_to_ask}
        for model in study.families:
            readings = draw_readings(survey / "trials" / f"{language}.parquet", seed=len(model))
            metadata = IDENTITY | {"model": f"models/{model}", "revision": None, "torch": "2.13.0"}
            name = f"{model}/{language}.parquet"
            write_table(survey / "readings" / name, reading_rows(readings), READINGS, metadata)
            cell = Cell(f"{model}/{language}", study.families[model].model_type, model, language)
            rows = derive_probe_distributions(trials, readings, cell, types)
            write_table(survey / "probe_distributions" / name, rows, PROBE_DISTRIBUTIONS, metadata)
            probes.append(pd.DataFrame(rows))
    probe = pd.concat(probes, ignore_index=True)
    quality = report_quality(probe, study.cells(), study.thresholds).frames()
    for name, table in quality.items():
        _write(survey / "quality_report" / f"{name}.parquet", table)
    points = map_frame(list(LANGUAGES), list(study.families))
    _write(survey / "cultural_map" / "points.parquet", points)
    return StoredStudy(study, folder / study.name, probe, quality, points)


def draw_readings(trials: Path, seed: int) -> list[Reading]:
    """An answer to every trial; that to the question on pride is too faint to be used."""
    random, readings = np.random.default_rng(seed), []
    for trial in read_trials(trials):
        p_valid = 0.05 if trial.question_id == "v170" else 0.8
        probs = random.dirichlet(np.ones(len(trial.labels))) * p_valid
        key = sha256_json([seed, trial.prompt])
        read = tuple(map(float, probs)), float(sum(map(float, probs))), None, None, (), Status.OK, None, key
        readings.append(Reading(trial.trial_id, *read))
    return readings


def _write(path: Path, table: pd.DataFrame) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_parquet(path)
