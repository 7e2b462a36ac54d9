"""`calibrate`: are answers that were planted in a tiny model recovered with these questions?"""

# pyright: strict, reportMissingTypeStubs=false

import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from valuesassets.library.answering import answer_rows_of
from valuesassets.library.progress import Progress, silent
from valuesassets.library.questionnaires import make_trials
from valuesassets.records.errors import ScoringError
from valuesassets.records.extras import require
from valuesassets.records.frames import records
from valuesassets.records.questions import Question
from valuesassets.records.settings.measuring import Phantom
from valuesassets.records.settings.questionnaires import Questionnaires
from valuesassets.records.study import DEMO, Study, load_study
from valuesassets.records.trials import Reading, Record, Trial

if TYPE_CHECKING:
    import pandas as pd

    from valuesassets.answers.plants import Plants
    from valuesassets.models.loaded_model import LoadedModel

CALIBRATED = "reference-mono"
"""Name of the model that is trained for a calibration."""
TRAINING = "training the reference model"
LIMITS = ("max_w1_unit", "max_p_valid_error", "max_position_bias_error")
MARGIN = 0.5
"""Share of these limits: a model within it after half of the passes is not trained longer."""


def calibrate(
    questions: Sequence[Question],
    language: str,
    *,
    orders: str = "both",
    passes: int | None = None,
    lexicon: Path | None = None,
    progress: Progress = silent,
) -> "pd.DataFrame":
    """Whether answers that are planted in a tiny model are recovered with these questions: a row per response type.

    Args:
        passes: most passes of training; those of studies if left out.
        progress: shows how training and reading go on.

    Returns:
        `is_recovered`, the errors of both channels, and `reason` where they are too large.

    Raises:
        InputError: an extra is not installed.
    """
    require("calibrate", "models")
    from valuesassets.answers.calibration import summarise_recovery

    comparison = compare_with_planted(questions, language, orders, passes, lexicon, progress)
    return summarise_recovery(comparison, Phantom())


def compare_with_planted(
    questions: Sequence[Question],
    language: str,
    orders: str = "both",
    passes: int | None = None,
    lexicon: Path | None = None,
    progress: Progress = silent,
) -> "pd.DataFrame":
    """Planted and recovered answers, a row per question; half of the passes are tried first."""
    from valuesassets.answers.calibration import summarise_recovery
    from valuesassets.instruments.survey.plants.plants import plant_questions

    study = calibration_study(language, orders, lexicon)
    trials = make_trials(questions, language, orders, seed=study.seed, lexicon=lexicon)
    plants = plant_questions(study, CALIBRATED, language, list(questions))
    most = passes or study.phantom.steps
    tight = study.phantom.model_copy(update={name: getattr(study.phantom, name) * MARGIN for name in LIMITS})
    comparison = _read_back(study, questions, trials, plants, max(1, most // 2), progress)
    if most > 1 and not all(row["is_recovered"] for row in records(summarise_recovery(comparison, tight))):
        comparison = _read_back(study, questions, trials, plants, most, progress)
    return comparison


def calibration_study(language: str, orders: str, lexicon: Path | None = None) -> Study:
    """A study of one language, one reference family and some option orders, with the demo's random seed."""
    from valuesassets.answers.asked_languages import asked_language, elicitation_of

    pattern, named = load_study(DEMO), asked_language(language, lexicon)
    # Planted answers lean towards some country; any country does where the language names none.
    named = named.model_copy(update={"country": named.country or pattern.languages["eng"].country})
    return pattern.model_copy(
        update={
            "name": "calibration",
            "questionnaires": Questionnaires.of(pattern).model_copy(update={"master": language}),
            "languages": {language: named},
            "families": {CALIBRATED: pattern.families[CALIBRATED]},
            "elicitation": elicitation_of(orders),
            "phantom": Phantom(),
        }
    )


def _read_back(
    study: Study,
    questions: Sequence[Question],
    trials: list[Trial],
    plants: "Plants",
    passes: int,
    progress: Progress,
) -> "pd.DataFrame":
    """Planted and recovered answers of a newly trained model, by both channels (see `compare_with_plants`)."""
    import pandas as pd
    from threadpoolctl import threadpool_limits

    from valuesassets.answers.calibration import compare_with_plants
    from valuesassets.answers.plants import planted_answers
    from valuesassets.answers.reference_models import planted_text_rows
    from valuesassets.answers.sampled_answers import derive_sampled_distributions
    from valuesassets.models.loading import load_model
    from valuesassets.models.reference import train_reference_model
    from valuesassets.models.sampling import sample_answers
    from valuesassets.records.parquet import answer_rows

    answers: dict[str, dict[str, float]] = {}
    for row in planted_text_rows(trials, plants):
        answers.setdefault(str(row["prompt"]), {})[str(row["answer_text"])] = float(str(row["prob"]))
    language = trials[0].language
    with tempfile.TemporaryDirectory(prefix="valuesassets-") as folder, threadpool_limits(1), _one_thread():
        with progress(TRAINING) as tick:
            place = Path(folder, "phantom")
            train_reference_model(answers, place, passes, study.seed, lambda done, _: tick(done, passes))
        loaded = load_model(f"{folder}/phantom", None, "float32", "cpu")
        replies = ask_reference(CALIBRATED, loaded, trials, "reading answers", progress)
        readings = [record for record in replies if isinstance(record, Reading)]
        recovered = answer_rows_of(questions, trials, readings, CALIBRATED)
        with progress("drawing answers") as tick:
            drawn = sample_answers(loaded, [trial.prompt for trial in trials], study.phantom.samples, study.seed, tick)
    texts = pd.DataFrame(answer_rows(trials, drawn))
    sampled = derive_sampled_distributions(texts, trials, plants, CALIBRATED, language)
    planted = planted_answers({(CALIBRATED, language): plants})
    return compare_with_plants(pd.DataFrame(recovered), planted, sampled)


@contextmanager
def _one_thread() -> Generator[None, None, None]:
    """A block with one thread of torch: a second one gains nothing on matrices this small, and waits busily."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def ask_reference(
    name: str, loaded: "LoadedModel", trials: Sequence[Trial], title: str, progress: Progress = silent
) -> list[Record]:
    """The replies of a model that was trained for a calibration; ScoringError where they depend on the batch, so that
    the instrument is at fault."""
    from valuesassets.models.asking import Asking

    asking = Asking(loaded.opened, trials)
    with progress(title) as tick:
        result, _ = asking.ask(loaded, tick, None)
    if doubt := result.certificate.doubt:
        raise ScoringError(f"{name}: {doubt}; report it")
    return list(result.records)
