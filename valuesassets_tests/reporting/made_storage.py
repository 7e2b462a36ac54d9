"""A study's storage with little in it: real prompts, drawn readings and what follows from them, without a model."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from valuesassets.answers.probe_distributions import Cell, derive_probe_distributions
from valuesassets.instruments.survey import tables  # noqa: F401 # declares what the survey alone writes
from valuesassets.records.files import sha256_json, write_text
from valuesassets.records.parquet import reading_rows, trial_rows, write_frame, write_table
from valuesassets.records.places import STUDIES
from valuesassets.records.questions import write_questions
from valuesassets.records.study import Study, load_study
from valuesassets.records.tables import PROBE_DISTRIBUTIONS, READINGS, TABLES, TRIALS
from valuesassets.records.trials import Reading, Status, Trial
from valuesassets_tests.comparing.planted_grid import people, questions, trials

LANGUAGES = ("deu", "eng")
FAMILIES = ("reference-mono", "reference-multi")


def small_study(name: str = "small") -> Study:
    """The demo in two languages."""
    demo = load_study("demo_survey")
    kept = {code: demo.languages[code] for code in LANGUAGES}
    return demo.model_copy(update={"name": name, "languages": kept})


def read(asked: list[Trial], seed: int, tilt: float = 0.0, noise: float = 0.0) -> list[Reading]:
    """Readings of trials: the same seed gives the same answers, which `tilt` moves to higher codes."""
    random, shaken, found = np.random.default_rng(seed), np.random.default_rng(seed + 1), []
    for trial in asked:
        probs = random.dirichlet(np.full(len(trial.labels), 2.0))
        values = np.array(trial.values, dtype=float)
        probs = probs * np.exp(tilt * (values - values.mean()) / np.ptp(values))
        probs = probs * np.exp(noise * shaken.normal(size=probs.size))
        probs = 0.8 * probs / probs.sum()
        key = sha256_json([seed, tilt, noise, trial.prompt])
        outside = ((" hm", 0.1),)
        told = (tuple(map(float, probs)), float(probs.sum()), None, None, outside, Status.OK, None, key)
        found.append(Reading(trial.trial_id, *told))
    return found


def write_storage(
    root: Path, name: str = "small", tilts: dict[str, float] | None = None, revision: str = "a" * 40, **how
) -> Path:
    """Write a study's trials, readings, answers, map and people below a folder; gives the study's.

    Args:
        tilts: by family, how far its answers are moved to higher codes.
        how: `noise` of readings; `cue`, which ends prompts in place of their own.
    """
    study, survey = small_study(name), root / name / "survey"
    types = {question.id: str(question.response_type) for question in questions()}
    write_questions(survey / "master_questions" / "master_questions.json", questions())
    for language in LANGUAGES:
        asked = trials(language)
        if cue := how.get("cue"):
            asked = [replace(trial, prompt=trial.prompt.rpartition("\n")[0] + cue) for trial in asked]
        write_table(survey / "trials" / f"{language}.parquet", trial_rows(asked), TRIALS)
        for family in FAMILIES:
            readings = read(
                asked, sum(map(ord, family + language)), (tilts or {}).get(family, 0.0), how.get("noise", 0.0)
            )
            said = {"model": f"/models/{family}/{language}", "revision": revision, "dtype": "float32"}
            cell = Cell(f"{family}/{language}", study.families[family].model_type, family, language)
            rows = derive_probe_distributions(asked, readings, cell, types)
            write_table(survey / "readings" / family / f"{language}.parquet", reading_rows(readings), READINGS, said)
            write_table(survey / "probe_distributions" / family / f"{language}.parquet", rows, PROBE_DISTRIBUTIONS)
    return root / name


def add_the_rest(folder: Path) -> None:
    """What a bundle takes besides, and what it must not take: people, a form as PDF."""
    from valuesassets.figures.cultural_map import draw_cultural_map
    from valuesassets.figures.saving import save_figure
    from valuesassets_tests.figures.made_up_analyses import map_frame

    survey = folder / "survey"
    points = map_frame(list(LANGUAGES), list(FAMILIES)).fillna({"missing": ""}).assign(margin_x=0.01, margin_y=0.01)
    write_frame(survey / "cultural_map" / "points.parquet", points, TABLES["survey/cultural_map/points"])
    save_figure(draw_cultural_map(points), survey / "cultural_map" / "cultural_map")
    write_frame(survey / "respondents" / "respondents.parquet", people(), TABLES["respondents"])
    form = survey / "questionnaire_pdf" / "eng.pdf"
    form.parent.mkdir()
    form.write_bytes((STUDIES / "questionnaires" / "eng.pdf").read_bytes())
    notes = pd.DataFrame({"note": ['of two lines,\nand "quoted"', "short", "=1+1"]})
    write_frame(survey / "signal" / "notes.parquet", notes, TABLES["notes"])
    write_frame(
        survey / "distances" / "pairs.parquet", TABLES["distances/pairs"].empty_frame(), TABLES["distances/pairs"]
    )
    write_text(survey / "report" / "report.html", "<!doctype html><title>report</title>")
