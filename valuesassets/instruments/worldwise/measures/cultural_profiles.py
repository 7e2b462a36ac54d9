"""`worldwise/cultural_profiles`: a model's lean as each culture on each axis, and its difference from the placebo."""

import numpy as np
import pandas as pd

from valuesassets.instruments.worldwise.answers.model_answers import (
    Answered,
    ByReadout,
    Frames,
    by_scenario,
    of_models,
    profiled,
)
from valuesassets.instruments.worldwise.material.dimensions import PLACEBO
from valuesassets.instruments.worldwise.measures.inference import OK, UNDEFINED, narrow_interval, random_of
from valuesassets.instruments.worldwise.measures.reliability import give_way
from valuesassets.instruments.worldwise.tables import CULTURAL_PROFILES
from valuesassets.measure.resampling import means_with_intervals, resample_counts
from valuesassets.records.settings.measuring import Inference


def derive_cultural_profiles(
    answered: Answered, reliability: Frames, z: pd.DataFrame, how: Inference
) -> dict[str, pd.DataFrame]:
    """`profiles` of all models, without the numbers of readouts that are not reliable."""
    profiles = of_models(answered, lambda model, each: profile_model(model, each.by_readout, how, z))
    return {"profiles": give_way(profiles, reliability)}


def profile_model(model: str, answers: ByReadout, how: Inference, z: pd.DataFrame | None = None) -> pd.DataFrame:
    """The table `cultural_profiles` of one model: a row per readout, condition and axis.

    Means and intervals are over scenarios. Intervals of eight scenarios have the width of the t interval
    (`interval_ends`) and held the truth in .94 to .95 of simulations; those of five or fewer cannot, and the reason
    says so. z has a row per culture and a column per axis.
    """
    profiles = []
    for readout in profiled(answers):
        means = by_scenario(answers[readout])
        for axis in dict.fromkeys(means.axes.tolist()):
            is_on = means.axes == axis
            counts = resample_counts(int(is_on.sum()), how.resamples, random_of(how, model, "profiles", readout, axis))
            leans, effects = (
                means_with_intervals(each[:, is_on], counts, how.level) for each in (means.values, means.effects)
            )
            for place, culture in enumerate(means.conditions):
                row = {"model": model, "readout": readout, "culture": culture, "axis": axis, "z": _z(z, culture, axis)}
                row |= {name: each[place] for name, each in leans.columns("lean").items()}
                row |= {"n_scenarios": int(leans.n[place]), "status": OK, "n_compared": 0}
                if leans.n[place] == 0:
                    row |= {"status": UNDEFINED, "reason": "no scenario has an answer in every order and wording"}
                elif culture == PLACEBO:
                    row |= {"reason": "effects are told from this condition"}
                elif effects.n[place] == 0:
                    row |= {"reason": "no scenario was answered as this condition and as the placebo"}
                else:
                    row |= {name: each[place] for name, each in effects.columns("effect").items()}
                    n = int(effects.n[place])
                    row |= {"n_compared": n, "reason": narrow_interval(n, how.level)}
                profiles.append(row)
    return CULTURAL_PROFILES.frame(profiles)


def _z(z: pd.DataFrame | None, culture: str, axis: str) -> float:
    return float(z.at[culture, axis]) if z is not None and culture in z.index and axis in z else np.nan
