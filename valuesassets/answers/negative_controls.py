"""`negative_controls`: each language's prompts answered by another language's reference model. All must fail.

An instrument that calls these recovered would call anything recovered.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from valuesassets.answers.calibration import ERRORS, compare_with_plants, summarise_recovery
from valuesassets.answers.plants import Plants
from valuesassets.answers.probe_distributions import Cell, derive_probe_distributions
from valuesassets.records.settings.measuring import Phantom
from valuesassets.records.study import Part, Study
from valuesassets.records.trials import Reading, Trial

Pair = tuple[str, str, str]
"""Family, part asked, and the language whose model answers."""


def wrong_language_pairs(study: Study, parts: Sequence[Part]) -> list[Pair]:
    """Which language's model answers which part's prompts: of every monolingual reference family, the next ones.

    Args:
        parts: those that have trials.

    >>> from valuesassets.records.study import load_study
    >>> wrong_language_pairs(load_study("demo_survey"), [Part(code, code) for code in ("eng", "deu", "fra")])[1:]
    [('reference-mono', 'deu', 'fra'), ('reference-mono', 'fra', 'eng')]
    """
    pairs = []
    for name in study.control_families:
        asked = [part for part in parts if part.language in study.family_languages(name)]
        served = list(dict.fromkeys(part.language for part in asked))
        for part in asked:
            position = served.index(part.language)
            others = [*served[position + 1 :], *served[:position]][: study.phantom.wrong_languages]
            pairs += [(name, part.name, other) for other in others]
    return pairs


def answered_as(pair: Pair, trials: Sequence[Trial], readings: Sequence[Reading], plants: Plants) -> pd.DataFrame:
    """Rows of `PROBE_DISTRIBUTIONS` of a pair, filed under the part asked."""
    name, part, other = pair
    kinds = {trial.question_id: plants[trial.asked_id][0].response_type for trial in trials}
    cell = Cell(f"{name}/{other}", "mono", name, part)
    return pd.DataFrame(derive_probe_distributions(trials, readings, cell, kinds))


def derive_negative_controls(
    answered: Mapping[Pair, pd.DataFrame], plants: pd.DataFrame, phantom: Phantom
) -> pd.DataFrame:
    """One row per pair: how far the wrong model is from what is planted, and whether it fails as it must.

    Args:
        answered: as `answered_as` gives them, by pair.
        plants: as `planted_answers` gives them.

    Returns:
        rows of `negative_controls`; `reason` says what was off.
    """
    taken, rows = ["n", "n_unreadable", *(f"{error}_mean" for error in ERRORS)], []
    for pair, probe in answered.items():
        found = summarise_recovery(compare_with_plants(probe, plants), phantom).iloc[0]
        row = dict(zip(("model", "language", "answered_by"), pair, strict=True)) | {name: found[name] for name in taken}
        rows.append(row | {"fails": not found["is_recovered"], "reason": found["reason"]})
    return pd.DataFrame(rows)
