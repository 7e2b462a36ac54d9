"""`drawn_answers`: the texts that a family drew as its answers, what each says, and the readings counted from them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.answers.option_lines import Options, Standing
from valuesassets.answers.orders import averaged_orders
from valuesassets.answers.reference_models import shown_options
from valuesassets.answers.written_options import standing_of
from valuesassets.measure.drawn_answers import mean_variance_of
from valuesassets.records.errors import MissingData
from valuesassets.records.files import sha256_json
from valuesassets.records.lexicon import Lexicon
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.draws import Draws
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Answer, Reading, Status, Trial, main_trials

Row = dict[str, Any]
FAILED = "failed"
"""The standing of a draw that there is not, for example because the server did not answer."""
MOST_OUTSIDE = 5
"""Most texts that are no option and are shown with a reading, the most frequent first."""
MOST_LISTED = 50
"""Most different texts that are listed for a person to read."""
LONGEST_OUTSIDE = 40
"""Most characters of such a text."""


def drawn_trials(trials: Iterable[Trial], draws: Draws, prompting: Prompting, seed: int, n: int) -> list[Trial]:
    """The questions' own trials as they are asked for `n` written answers each.

    A model that is shown bare text goes on writing questions and answers of its own, so that its answer ends at the end
    of the line. In a chat the model ends its turn.
    """
    stop = () if prompting.is_chat else ("\n",)
    readout = Generate(draws.max_tokens, draws.temperature, samples=n, seed=seed, stop=stop)
    return [replace(trial, readout=readout) for trial in main_trials(trials)]


def derive_drawn_answers(trials: Iterable[Trial], answers: Sequence[Answer], lexicon: Lexicon) -> list[Row]:
    """Rows of `DRAWN_ANSWERS`: every text with the option that it is read as, or the reason why it is none.

    Args:
        trials: with the labels that a prompt shows; those of additional estimators are left out.
        answers: to these trials.

    Raises:
        MissingData: a trial has no answer.
    """
    by_trial: dict[str, list[Answer]] = {}
    for answer in answers:
        by_trial.setdefault(answer.trial_id, []).append(answer)
    rows = []
    for trial in main_trials(trials):
        if trial.trial_id not in by_trial:
            raise MissingData(f"{trial.language}: no answer was drawn to {trial.trial_id}; materialise readings again")
        options = shown_options_of(trial, lexicon)
        for answer in by_trial[trial.trial_id]:
            is_missing = answer.status is Status.FAILED and not answer.is_final
            value, standing, reason = (None, FAILED, answer.reason) if is_missing else standing_of(answer, options)
            rows.append(
                {
                    "trial_id": trial.trial_id,
                    "question_id": trial.asked_id,
                    "order": trial.order,
                    "wording": trial.wording,
                    "sample": answer.sample,
                    "text": answer.text,
                    "response_value": value,
                    "standing": str(standing),
                    "reason": reason,
                }
            )
    return rows


def shown_options_of(trial: Trial, lexicon: Lexicon) -> Options:
    """The options that a trial's prompt shows, with the words by which answers in its language are recognised."""
    texts = tuple(text for _, text in shown_options(trial.prompt, trial.trial_id))
    own_cue = trial.prompt.rpartition("\n")[2].rstrip().removesuffix(":")
    return Options(
        labels=trial.labels,
        texts=texts,
        values=trial.values,
        cues=tuple(dict.fromkeys((own_cue, *lexicon.answer_cues))),
        missing=(*lexicon.missing_answers, *lexicon.unsure_answers),
    )


def count_readings(trials: Sequence[Trial], answers: Sequence[Answer], rows: Iterable[Row]) -> list[Reading]:
    """The reading of each trial: the share of its draws that each option has.

    A trial is `failed` where one of its draws is, for example because the server did not answer: the others alone are
    not what was asked for.

    Args:
        rows: as `derive_drawn_answers` gives them for these trials and answers.
    """
    rows_by_trial: dict[str, list[Row]] = {}
    for row in rows:
        rows_by_trial.setdefault(row["trial_id"], []).append(row)
    answers_by_trial: dict[str, list[Answer]] = {}
    for answer in answers:
        answers_by_trial.setdefault(answer.trial_id, []).append(answer)
    return [
        _count_reading(trial, answers_by_trial[trial.trial_id], rows_by_trial[trial.trial_id])
        for trial in main_trials(trials)
    ]


def _count_reading(trial: Trial, answers: Sequence[Answer], rows: Sequence[Row]) -> Reading:
    key, n = sha256_json([answer.key for answer in answers]), len(rows)
    failed = [row for row in rows if row["standing"] == FAILED]
    refused = [row for row in rows if row["standing"] == Standing.REFUSED]
    version = next((answer.model_version for answer in answers if answer.model_version), None)
    if failed:
        why = f"{len(failed)} of {n} draws failed, the first because {failed[0]['reason']}; materialise it again"
        return _unread(trial, Status.FAILED, why, key, version)
    if len(refused) == n:
        return _unread(trial, Status.REFUSED, f"all of {n} draws were refused: {refused[0]['reason']}", key, version)
    options = Counter(row["response_value"] for row in rows if row["standing"] == Standing.OPTION)
    counts = tuple(options[value] for value in trial.values)
    others = Counter(_shortened(row) for row in rows if row["standing"] != Standing.OPTION)
    return Reading(
        trial_id=trial.trial_id,
        label_probs=tuple(count / n for count in counts),
        p_valid=sum(counts) / n,
        resolution_mass=None,
        resolution_mass_min=None,
        outside=tuple((text, count / n) for text, count in others.most_common(MOST_OUTSIDE)),
        status=Status.OK,
        reason=None,
        reading_key=key,
        model_version=version,
        label_counts=counts,
        n_drawn=n,
    )


def _unread(trial: Trial, status: Status, reason: str, key: str, version: str | None) -> Reading:
    return Reading(trial.trial_id, None, None, None, None, (), status, reason, key, model_version=version)


def _shortened(row: Row) -> str:
    """The beginning of a text that is no option; of one without visible text, its standing."""
    text = " ".join((row["text"] or "").split())
    return text[:LONGEST_OUTSIDE] if text else f"({row['standing'].replace('_', ' ')})"


def texts_that_are_no_option(drawn: pd.DataFrame) -> list[Row]:
    """The texts that were read as no option, the most frequent first: how often, their standing, reason and question.

    Args:
        drawn: rows of `DRAWN_ANSWERS`.
    """
    others = drawn.loc[drawn["standing"] != Standing.OPTION].assign(text=drawn["text"].fillna("").str.strip())
    groups = others.groupby(["standing", "text"], sort=False)
    table = groups.agg(n=("trial_id", "size"), reason=("reason", "first"), first_trial=("trial_id", "first"))
    ordered = table.reset_index().sort_values("n", ascending=False, kind="stable")
    return ordered[["n", "standing", "text", "reason", "first_trial"]].head(MOST_LISTED).to_dict("records")


def standard_error(
    trials: Sequence[Trial], readings: Sequence[Reading], places: Mapping[str, Callable[[int], int]]
) -> float | None:
    """Root mean square, over questions and wordings, of the standard error of a mean answer, in scale units.

    Args:
        places: for each ordinal question (by its id), the position of an answer code on the analysis scale.

    Returns:
        None where no ordinal question was read in all of its orders.
    """
    by_trial = {reading.trial_id: reading for reading in readings}
    orders_of: dict[tuple[str, int], list[Trial]] = {}
    for trial in main_trials(trials):
        if trial.question_id in places:
            orders_of.setdefault((trial.asked_id, trial.wording), []).append(trial)
    variances = []
    for orders in orders_of.values():
        averaged = averaged_orders({trial.order: trial.values for trial in orders})
        place = places[orders[0].question_id]
        drawn = [_mean_variance(by_trial[each.trial_id], each, place) for each in orders if each.order in averaged]
        variances.append(sum(drawn) / len(drawn) ** 2)
    is_known = np.isfinite(variances)
    return float(np.sqrt(np.mean(np.array(variances)[is_known]))) if is_known.any() else None


def _mean_variance(reading: Reading, trial: Trial, place: Callable[[int], int]) -> float:
    """Variance of a mean answer by drawing, in squared scale units; NaN where fewer than two draws are an option."""
    counts = np.array(reading.label_counts or (0,) * len(trial.values), dtype=float)
    if counts.sum() < 2:
        return float("nan")
    positions = np.array([place(value) for value in trial.values], dtype=float)
    units = (positions - positions.min()) / np.ptp(positions)
    return float(mean_variance_of(counts / counts.sum(), counts.sum(), units))
