"""The demo's grid answered exactly as planted, for tests of the analyses."""

import functools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from valuesassets.answers.plants import planted_answers
from valuesassets.answers.quality_report import report_quality, usable_answers
from valuesassets.instruments.survey.material.human_distributions import derive_human_distributions
from valuesassets.instruments.survey.material.respondents import derive_respondents
from valuesassets.instruments.survey.plants.plants import plant_questions
from valuesassets.instruments.survey.trials.trials import write_trials
from valuesassets.people.variables import load_variables
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.questions import Question
from valuesassets.records.study import Study, load_study
from valuesassets.records.trials import Trial
from valuesassets_tests.instruments.survey.asked import ask

SCALES = {
    "v1 v5 v6 v7 v115 v119 v170": {"n_options": 4},
    "v31 v51": {"n_options": 2},
    "v39 v63 v102 v149 v153 v154": {"n_options": 10},
    "v46 v48": {"n_options": 5},
    "v54": {"n_options": 7, "response_type": "frequency"},
    "v98 v99": {"n_options": 3, "response_type": "action"},
    "v110 v111": {"n_options": 4, "response_type": "categorical"},
    "v113 v114": {"n_options": 3},
}
LISTED = ["v85", "v86", "v92", "v93", "v95"]


@functools.cache
def demo() -> Study:
    return load_study("demo_survey")


@functools.cache
def questions() -> tuple[Question, ...]:
    """The ten indicators and some company, in English whatever the language."""
    asked = [ask(code, **how) for codes, how in SCALES.items() for code in codes.split()]
    return (*asked, *(ask(code, 2, item=f"quality {code}") for code in LISTED))


def trials(language: str) -> list[Trial]:
    return write_trials(list(questions()), language, load_lexicon(language), load_variables())


def planted_in(study: Study, asked: Mapping[str, Sequence[Question]], families: Sequence[str] = ()) -> pd.DataFrame:
    """What reference families of a study are planted to answer to the questions asked in each language."""
    planted = {
        (name, language): plant_questions(study, name, language, asked[language])
        for name in families or [name for name, family in study.families.items() if family.kind == "reference"]
        for language in study.family_languages(name)
        if language in asked
    }
    return planted_answers(planted)


@functools.cache
def _planted() -> pd.DataFrame:
    return planted_in(demo(), {language: questions() for language in demo().languages})


def planted() -> pd.DataFrame:
    return _planted().copy()


def probe() -> pd.DataFrame:
    """Rows of PROBE_DISTRIBUTIONS as if every plant had been read without any error."""
    rows = planted()
    return rows.assign(
        model_id=rows["model"],
        model_type=rows["model"].str.removeprefix("reference-"),
        wording=0,
        resolution_mass=np.where(rows["response_type"] == "likert10", 0.99, np.nan),
        status="ok",
        reason=None,
    )


def answers(rows: pd.DataFrame | None = None) -> pd.DataFrame:
    rows = probe() if rows is None else rows
    return usable_answers(rows, report_quality(rows, demo().cells(), demo().thresholds))


@functools.cache
def people() -> pd.DataFrame:
    return derive_respondents(demo(), {language: questions() for language in demo().languages})


@functools.cache
def _human() -> pd.DataFrame:
    return derive_human_distributions(people(), demo(), {language: questions() for language in demo().languages})


def human() -> pd.DataFrame:
    return _human().copy()


def peopleless() -> Study:
    return demo().model_copy(update={"human": demo().human.model_copy(update={"source": "none"})})


def no_human() -> pd.DataFrame:
    return derive_human_distributions(no_people(), peopleless(), {})


def no_people() -> pd.DataFrame:
    return derive_respondents(peopleless(), {})
