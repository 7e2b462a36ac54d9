"""Answers drawn to the prompts of a set: which prompts are put for them, and what was counted as single ratings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.answers.decoded_ratings import derive_decoded_ratings
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion
from valuesassets.records.readouts import Generate
from valuesassets.records.trials import Answer, Status, Trial, main_trials

MAX_TOKENS = 8
"""Of an answer that should be a number: what goes on longer is none."""


def sampling_trials(trials: Sequence[Trial], samples: int, seed: int) -> dict[Trial, Trial]:
    """For each prompt, forward and reversed, the same to be answered in writing, at temperature 1."""
    drawn = Generate(max_tokens=MAX_TOKENS, samples=samples, seed=seed, stop=("\n",))
    both = (trial for trial in main_trials(trials) if trial.order in ("forward", "reversed"))
    return {trial: replace(trial, readout=drawn) for trial in both}


def derive_sampled_ratings(
    trials: Sequence[Trial], counted: pd.DataFrame, questions: Mapping[str, ValueQuestion]
) -> pd.DataFrame:
    """Rows of `decoded_ratings` of answers that were counted: one for each answer that was drawn.

    Args:
        counted: rows of `SAMPLED_ANSWERS` of the cell.

    Raises:
        MissingData: an answer belongs to no trial, or a trial has none.
    """
    answers, times = list[Answer](), dict[tuple[str, int], int]()
    for trial_id, part in counted.groupby("trial_id", sort=False):
        for number, (text, n) in enumerate(zip(part["answer_text"], part["n"], strict=True)):
            answers.append(Answer(str(trial_id), number, text, "stop", 1, Status.OK, None, ""))
            times[str(trial_id), number] = int(n)
    asked = {answer.trial_id for answer in answers}
    once = derive_decoded_ratings([trial for trial in trials if trial.trial_id in asked], answers, questions)
    n = [times[key] for key in zip(once["trial_id"], once["sample"], strict=True)]
    each = once.loc[np.repeat(once.index.to_numpy(), n)].reset_index(drop=True)
    return each.assign(sample=each.groupby("trial_id", sort=False).cumcount())
