"""Cells whose answers are drawn: their files, the readings that are counted, and whether another round is drawn."""

from collections.abc import Sequence
from pathlib import Path

from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.partitions import cell_key
from valuesassets.orchestration.resources import Storage
from valuesassets.records.instruments import named
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.parquet import (
    read_answers,
    read_trials,
    reading_rows,
    table_metadata,
    trial_rows,
    write_table,
)
from valuesassets.records.questions import askable, read_questions
from valuesassets.records.settings.draws import Draws
from valuesassets.records.study import Cell, Study
from valuesassets.records.tables import READINGS, TRIALS
from valuesassets.records.trials import Reading, Trial

DRAWN_TEXTS = "drawn_texts"
"""The folder of an instrument with the texts that its drawn cells are read from."""
DRAWN_TRIALS = "drawn_trials.parquet"
"""The file of a job's folder with the trials that are drawn."""
PREFLIGHT_DRAWS = 5
"""Draws of each prompt in a preflight."""


def draws_of(study: Study, instrument: Instrument, family: str) -> Draws | None:
    """How a family's answers are drawn; None where its probabilities are read."""
    return study.families[family].draws if instrument.scale else None


def path_to_texts(storage: Storage, instrument: Instrument, cell: Cell) -> Path:
    """The file with the texts of a drawn cell."""
    key = cell_key(cell.family, cell.part.name, instrument.part)
    return storage.path(instrument.key(DRAWN_TEXTS), key, "parquet").absolute()


def write_drawn_trials(path: Path, trials: Sequence[Trial], study: Study, draws: Draws, family: str, n: int) -> None:
    """Write the trials of a job that draws `n` answers to each of these."""
    from valuesassets.answers.drawn_answers import drawn_trials

    drawn = drawn_trials(trials, draws, study.families[family].prompting, study.seed, n)
    write_table(path, trial_rows(drawn), TRIALS)


def count_draws(study: Study, language: str, trials: Sequence[Trial], texts: Path) -> list[Reading]:
    """The readings of a cell: its texts are read as options, and the share of each option is counted."""
    from valuesassets.answers.drawn_answers import count_readings, derive_drawn_answers

    lexicon, answers = load_lexicon(language, study.languages[language].lexicon), read_answers(texts)
    return count_readings(trials, answers, derive_drawn_answers(trials, answers, lexicon))


def take_draws(study: Study, storage: Storage, instrument: Instrument, cell: Cell, rounds: int) -> bool:
    """Write the readings of a cell whose texts are drawn, unless another round is to be drawn.

    Args:
        rounds: the number of rounds that have been drawn.

    Returns:
        Whether another round is to be drawn: the mean answers are not precise enough yet, and neither `most` nor the
        budget is reached. The rule stops the cell and never one question, which would move its mean.
    """
    draws = draws_of(study, instrument, cell.family)
    if draws is None:
        return False
    trials = read_trials(storage.path(instrument.key("trials"), cell.part.name, "parquet"))
    texts = path_to_texts(storage, instrument, cell)
    readings = count_draws(study, cell.language, trials, texts)
    error = _standard_error(storage, instrument, cell, trials, readings)
    why_no_more = _why_no_more(study, storage, cell, trials, draws, rounds, error)
    if why_no_more is None:
        return True
    described = {"draws": {"n": draws.n * rounds, "standard_error": error, "stopped": why_no_more}}
    path = storage.path(instrument.key("readings"), cell_key(cell.family, cell.part.name, instrument.part), "parquet")
    write_table(path, reading_rows(readings), READINGS, table_metadata(texts) | described)
    return False


def _standard_error(
    storage: Storage, instrument: Instrument, cell: Cell, trials: Sequence[Trial], readings: Sequence[Reading]
) -> float | None:
    """The standard error of a cell's mean answers, in scale units; None where it has none."""
    from valuesassets.answers.drawn_answers import standard_error

    questions = read_questions(storage.path(instrument.key("aligned_questions"), cell.part.name, "json"))
    return standard_error(trials, readings, named(instrument.scale)(askable(questions)))


def _why_no_more(
    study: Study, storage: Storage, cell: Cell, trials: Sequence[Trial], draws: Draws, rounds: int, error: float | None
) -> str | None:
    """Why no further round is drawn, in words; None where one is."""
    if draws.se_unit is None:
        return "the study asks for one round"
    if error is None or error <= draws.se_unit:
        return f"the standard error is not above {draws.se_unit:g}" if error is not None else "no question has a mean"
    if rounds >= draws.rounds:
        return f"another round would exceed most = {draws.most}"
    return _why_not_payable(study, storage, cell, trials, draws, draws.n * (rounds + 1))


def _why_not_payable(
    study: Study, storage: Storage, cell: Cell, trials: Sequence[Trial], draws: Draws, n: int
) -> str | None:
    """Why the budget of a model behind an API does not reach for `n` draws; None where it does, or there is none."""
    from valuesassets.answers.drawn_answers import drawn_trials
    from valuesassets.remote.asking import RemoteAsking

    family = study.families[cell.family]
    if family.endpoint is None:
        return None
    drawn = drawn_trials(trials, draws, family.prompting, study.seed, n)
    model = str(family.model_id).format(lang=cell.language)
    asking = RemoteAsking(model, family.endpoint, family.prompting, drawn, is_compared=False)
    asking.open_known(storage.known_readings)
    return asking.refusal()
