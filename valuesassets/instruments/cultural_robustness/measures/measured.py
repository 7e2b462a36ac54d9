"""What is measured of all models of a study: the tables of each, and those of all together."""

from collections.abc import Mapping, Sequence

import pandas as pd

from valuesassets.instruments.cultural_robustness.answers.answer_files import answered_frame
from valuesassets.instruments.cultural_robustness.material.questions import all_questions
from valuesassets.instruments.cultural_robustness.measures.embedder_report import derive_embedder_report
from valuesassets.instruments.cultural_robustness.measures.scores import measure_model
from valuesassets.instruments.cultural_robustness.tables import MEASURED
from valuesassets.records.errors import InputError
from valuesassets.records.settings.cultural_robustness import CulturalRobustness
from valuesassets.records.study import Study
from valuesassets.records.trials import Answer

Frames = dict[str, pd.DataFrame]
NONE_MEASURED = "no model was measured; see why cultural_robustness/language_pairs failed"


def measure_family(
    study: Study,
    family: str,
    questions: Mapping[str, pd.DataFrame],
    answers: Mapping[tuple[str, str], Sequence[Answer]],
    answer_quality: pd.DataFrame,
    vectors: pd.DataFrame,
    question_vectors: pd.DataFrame,
) -> Frames:
    """The tables of `MEASURED` of one family.

    Args:
        questions: by language.
        answers: by family and language, of all families.
    """
    settings = CulturalRobustness.of(study)
    own = {language: texts for (name, language), texts in answers.items() if name == family}
    tables = measure_model(
        family,
        pd.concat([vectors, question_vectors], ignore_index=True),
        all_questions(questions),
        answered=answered_frame(own, questions),
        quality=answer_quality,
        own_countries=settings.own_countries(study),
        usable_share=settings.usable_share,
        inference=study.inference.with_seed(study.seed),
    )
    return {name: tables[name] for name in MEASURED}


def embedder_report(question_vectors: pd.DataFrame) -> pd.DataFrame:
    """How well the embedder knows each language, by the questions' vectors."""
    return derive_embedder_report(question_vectors)


def country_profiles(measured: Frames) -> pd.DataFrame:
    """The table of that name."""
    return measured["country_profiles"]


def language_groups(measured: Frames) -> pd.DataFrame:
    """The table of that name."""
    return measured["language_groups"]


def all_scores(language_pairs: Mapping[str, Frames], clustering: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The scores of all models that are measured, then the published ones.

    Args:
        language_pairs: by model, its `MEASURED` tables.
        clustering: by model, its published scores.

    Raises:
        InputError: no model was measured.
    """
    scores = [*(frames["scores"] for frames in language_pairs.values()), *clustering.values()]
    if not scores:
        raise InputError(NONE_MEASURED)
    return pd.concat(scores, ignore_index=True)
