r"""`sampled_answers`: what a model wrote when it was left to answer, counted as a person would count it.

The second channel of the calibration. Like the first half of the text channel (`reference_models`) it reads the options
out of the prompt, so it shares neither labels nor orders nor spellings with how trials are scored.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.answers.plants import Plants
from valuesassets.answers.reference_models import shown_labels, shown_places, shown_plant
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import parts_of
from valuesassets.records.trials import Trial

_LABEL_FIRST = re.compile(r" ?(-?)0*(\d+|[A-Z])(?=[\s.,]|$)")


def answered_label(text: str) -> str | None:
    r"""The number or letter that an answer begins with; None where it begins with anything else.

    >>> [answered_label(text) for text in (" 10\n", "1.", "-2\n", "B\n", "3rd", "hm\n", "")]
    ['10', '1', '-2', 'B', None, None, None]
    """
    found = _LABEL_FIRST.match(text)
    return found[1] + found[2] if found else None


def derive_sampled_distributions(
    sampled: pd.DataFrame, trials: Iterable[Trial], plants: Plants, family: str, part: str
) -> pd.DataFrame:
    """Counted answers as distributions on the original scale, in the columns that `planted_answers` gives them.

    Args:
        sampled: rows of `SAMPLED_ANSWERS` of one cell.
        trials: of the cell; only their ids are looked at, and which question each of them asks.
        plants: of the cell; they say which options and answer cues its questions have.

    Returns:
        One row per (question, wording, answer), with `n`, the answers drawn in each order. Probabilities are null where
        no answer was an option. Orders other than forward and reversed are left out.

    Raises:
        MissingData: an answer belongs to no trial, or a question was not sampled in both orders.
    """
    counted: dict[tuple[str, int], dict[str, Any]] = {}
    asked = {trial.trial_id: trial.asked_id for trial in trials}
    for (trial_id, prompt), answers in parts_of(sampled, ["trial_id", "prompt"]):
        if trial_id not in asked:
            raise MissingData(f"{family}/{part}: sampled answers to {trial_id}, which is no trial; sample again")
        plant = shown_plant(prompt, plants[asked[trial_id]], trial_id)
        places = shown_places(prompt, plant, trial_id)
        forward = list(range(len(places)))
        if places not in (forward, forward[::-1]):
            continue
        counts, labels = np.zeros(len(places)), shown_labels(prompt, trial_id)
        for text, n in zip(answers["answer_text"], answers["n"], strict=True):
            if (label := answered_label(text)) in labels:
                counts[places[labels.index(label)]] += n
        entry = counted.setdefault((plant.question_id, plant.wording), {"values": plant.values})
        entry["forward" if places == forward else "reversed"] = (counts, int(answers["n"].sum()))
    frames = [_distribution(name, wording, entry) for (name, wording), entry in counted.items()]
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
