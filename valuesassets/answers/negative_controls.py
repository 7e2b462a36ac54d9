"""`negative_controls`: each language's prompts are answered by another language's reference model; all must fail.

A calibration that calls these answers recovered would call any answers recovered.
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
"""(family, part whose prompts are asked, language whose model answers)."""


def wrong_language_pairs(study: Study, parts: Sequence[Part]) -> list[Pair]:
    """The pairs of a part's prompts and another language's model, for every monolingual reference family.

    Args:
        parts: the parts that have trials.

    >>> from valuesassets.records.study import load_study
    >>> wrong_language_pairs(load_study("demo_survey"), [Part(code, code) for code in ("eng", "deu", "fra")])[1:]
    [('reference-mono', 'deu', 'fra'), ('reference-mono', 'fra', 'eng')]
    """
    pairs = []
    for name in study.control_families:
        family_parts = [part for part in parts if part.language in study.family_languages(name)]
        languages = list(dict.fromkeys(part.language for part in family_parts))
        for part in family_parts:
            position = languages.index(part.language)
            others = [*languages[position + 1 :], *languages[:position]][: study.phantom.wrong_languages]
            pairs += [(name, part.name, other) for other in others]
    return pairs


def answered_as(pair: Pair, trials: Sequence[Trial], readings: Sequence[Reading], plants: Plants) -> pd.DataFrame:
    """Rows of `PROBE_DISTRIBUTIONS` of a pair, under the part whose prompts were asked."""
    name, part, other = pair
    kinds = {trial.question_id: plants[trial.asked_id][0].response_type for trial in trials}
    cell = Cell(f"{name}/{other}", "mono", name, part)
    return pd.DataFrame(derive_probe_distributions(trials, readings, cell, kinds))


def derive_negative_controls(
    answered: Mapping[Pair, pd.DataFrame], plants: pd.DataFrame, phantom: Phantom
) -> pd.DataFrame:
    """One row per pair: the errors of the wrong model, and whether it fails as it should.

    Args:
        answered: as `answered_as` returns them, by pair.
        plants: as `planted_answers` returns them.

    Returns:
        Rows of `negative_controls`; `reason` names the errors above the limits.
    """
    copied, rows = ["n", "n_unreadable", *(f"{error}_mean" for error in ERRORS)], []
    for pair, probe in answered.items():
        summary = summarise_recovery(compare_with_plants(probe, plants), phantom).iloc[0]
        row = dict(zip(("model", "language", "answered_by"), pair, strict=True)) | dict(summary[copied])
        rows.append(row | {"fails": not summary["is_recovered"], "reason": summary["reason"]})
    return pd.DataFrame(rows)
