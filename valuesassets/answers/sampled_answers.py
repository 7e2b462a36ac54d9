r"""`sampled_answers`: answers that a model wrote freely, parsed and counted like a person would count them.

This is the second channel of the calibration. Like the planted texts (`reference_models`) it reads the options from the
prompt, so it shares neither labels nor orders nor spellings with the scoring of trials.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.answers.plants import Plants
from valuesassets.answers.reference_models import shown_options, shown_places, shown_plant
from valuesassets.answers.written_options import Options, read_option
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import parts_of
from valuesassets.records.trials import Trial


def derive_sampled_distributions(
    sampled: pd.DataFrame, trials: Iterable[Trial], plants: Plants, family: str, part: str
) -> pd.DataFrame:
    """Distributions of counted answers on the original scale, in the columns of `planted_answers`.

    Args:
        sampled: rows of `SAMPLED_ANSWERS` of one cell.
        trials: trials of the cell; only their ids and the questions they ask are used.
        plants: plants of the cell, with the options and answer cues of its questions.

    Returns:
        One row per (question, wording, answer), with `n`, the number of answers in each order. Probabilities are null
        if no answer was an option. Orders other than forward and reversed are left out.

    Raises:
        MissingData: an answer belongs to no trial, or a question was not sampled in both orders.
    """
    entries: dict[tuple[str, int], dict[str, Any]] = {}
    question_of_trial = {trial.trial_id: trial.asked_id for trial in trials}
    for (trial_id, prompt), answers in parts_of(sampled, ["trial_id", "prompt"]):
        if trial_id not in question_of_trial:
            raise MissingData(f"{family}/{part}: sampled answers to {trial_id}, which is no trial; sample again")
        plant = shown_plant(prompt, plants[question_of_trial[trial_id]], trial_id)
        places = shown_places(prompt, plant, trial_id)
        forward = list(range(len(places)))
        if places not in (forward, forward[::-1]):
            continue
        counts, labels, texts = np.zeros(len(places)), *zip(*shown_options(prompt, trial_id), strict=True)
        options = Options(labels, texts, tuple(places), (plant.cue,))
        for text, n in zip(answers["answer_text"], answers["n"], strict=True):
            if (place := read_option(text, options).value) is not None:
                counts[place] += n
        entry = entries.setdefault((plant.question_id, plant.wording), {"values": plant.values})
        entry["forward" if places == forward else "reversed"] = (counts, int(answers["n"].sum()))
    frames = [_distribution(name, wording, entry) for (name, wording), entry in entries.items()]
    if not frames:
        raise MissingData(f"{family}/{part}: there are no sampled answers; materialise sampled_answers")
    return pd.concat(frames, ignore_index=True).assign(model=family, language=part)


def _distribution(asked_as: str, wording: int, entry: Mapping[str, Any]) -> pd.DataFrame:
    missing = {"forward", "reversed"} - set(entry)
    if missing:
        raise MissingData(f"{asked_as}: not sampled {' and '.join(sorted(missing))}; materialise sampled_answers again")
    probs, p_valid = {}, {}
    for order in ("forward", "reversed"):
        counts, n = entry[order]
        probs[order] = counts / counts.sum() if counts.sum() else np.full(len(counts), np.nan)
        p_valid[order] = counts.sum() / n
    forward, backward = probs["forward"], probs["reversed"]
    return pd.DataFrame(
        {
            "question_id": asked_as,
            "wording": wording,
            "response_value": entry["values"],
            "prob_forward": forward,
            "prob_reversed": backward,
            "prob_averaged": (forward + backward) / 2,
            "p_valid_forward": p_valid["forward"],
            "p_valid_reversed": p_valid["reversed"],
            "p_valid": (p_valid["forward"] + p_valid["reversed"]) / 2,
            "position_bias_magnitude": np.abs(forward - backward).max(),
            "n": entry["forward"][1],
        }
    )
