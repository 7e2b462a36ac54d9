"""Readings of trials as some law has them, without any model."""

import numpy as np

from valuesassets.records.trials import Reading, Status


def evenly_read(trials, failing=None):
    """Every candidate alike at every span; or none, for one reason."""
    return read_by(
        trials, lambda trial, span: np.full(n_candidates(trial, span), 0.9 / n_candidates(trial, span)), failing
    )


def n_candidates(trial, span):
    return len(trial.readout.sets[trial.readout.spans[span].set])


def read_by(trials, probs_of, failing=None):
    """Readings whose probabilities a function of trial and span gives."""
    readings = []
    for trial in trials:
        for span in range(len(trial.readout.spans)):
            key = f"{trial.trial_id}/{span}"
            if failing:
                why = f"span {span}: {failing}"
                readings.append(Reading(trial.trial_id, None, None, None, None, (), Status.FAILED, why, key, span=span))
                continue
            probs = tuple(map(float, probs_of(trial, span)))
            late = probs if trial.readout.as_published else None
            tokens = (1,) * len(probs)
            readings.append(
                Reading(
                    trial.trial_id,
                    probs,
                    sum(probs),
                    None,
                    None,
                    (),
                    Status.OK,
                    None,
                    key,
                    tokens,
                    span,
                    label_probs_published=late,
                )
            )
    return readings
