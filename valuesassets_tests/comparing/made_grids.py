"""Grids of answers made to have one property, as arrays."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.scales import Scales
from valuesassets.records.study import Study, load_study

LANGUAGES = ("eng", "deu", "fra", "pol", "ell", "bul", "ita", "spa", "fin", "swe")


def study(n_languages=10, families=("mono", "multi"), **inference) -> Study:
    whole = load_study("demo_survey_22")
    kinds = {"mono": whole.families["reference-mono"], "multi": whole.families["reference-multi"]}
    settings = whole.inference.model_copy(update={"resamples": 499} | inference)
    return whole.model_copy(
        update={
            "languages": {code: whole.languages[code] for code in LANGUAGES[:n_languages]},
            "families": {name: kinds.get(name, kinds["mono"]) for name in families},
            "inference": settings,
        }
    )


def scales(n_items=40, n_options=(2, 4, 10)) -> Scales:
    counts = [n_options[item % len(n_options)] for item in range(n_items)]
    codes = np.full((n_items, max(n_options)), np.nan)
    for item, count in enumerate(counts):
        codes[item, :count] = np.arange(1, count + 1)
    return Scales(
        tuple(f"v{200 + item}" for item in range(n_items)),
        tuple("likert10" if n == 10 else "likert4" for n in counts),
        codes,
    )


def tilted(on: Scales, tilt):
    """Answers (..., I, K) that lean to the upper end by (..., I) logits over the whole scale."""
    logits = np.where(np.isfinite(on.codes), np.asarray(tilt)[..., None] * (on.unit - 0.5), -np.inf)
    mass = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return mass / mass.sum(axis=-1, keepdims=True)


def made_grid(tilts, people, families=("mono", "multi"), on: Scales | None = None) -> AnswerGrid:
    """A grid of every family in every language.

    Args:
        tilts: (O, W, F, L, I) of the models' answers.
        people: (L, I) of the people's.
    """
    on = scales(np.shape(tilts)[-1]) if on is None else on
    n_languages = np.shape(tilts)[3]
    sides = tilted(on, tilts)
    sides = sides.reshape(*sides.shape[:2], -1, *sides.shape[4:])
    averaged = sides.mean(axis=(0, 1))
    codes = LANGUAGES[:n_languages]
    cells = tuple((family, code) for family in families for code in codes)
    about = load_study("demo_survey_22").languages
    return AnswerGrid(
        on,
        cells,
        tuple("multi" if family == "multi" else "mono" for family, _ in cells),
        averaged,
        sides,
        np.zeros(averaged.shape[:2], dtype=bool),
        np.ones(averaged.shape[:2]),
        tuple(about[code].country for code in codes),
        tilted(on, people),
    )


def probe_rows(grid: AnswerGrid) -> pd.DataFrame:
    """The models' answers as rows of PROBE_DISTRIBUTIONS, every wording apart."""
    n_wordings = grid.sides.shape[1]
    wording, cell, item, option = np.nonzero(
        np.broadcast_to(np.isfinite(grid.scales.codes), (n_wordings, len(grid.cells), *grid.scales.codes.shape))
    )
    models, languages = (np.array([each[side] for each in grid.cells])[cell] for side in (0, 1))
    forward, backward = (grid.sides[order][wording, cell, item, option] for order in (0, 1))
    items = np.array(grid.items)
    codes = original_codes(grid.scales)[item, option].astype(int)
    return pd.DataFrame(
        {
            "model_id": models,
            "model_type": np.array(grid.model_types)[cell],
            "model": models,
            "language": languages,
            "question_id": items[item],
            "response_type": np.array(grid.scales.response_types)[item],
            "wording": wording,
            "response_value": codes,
            "prob_forward": forward,
            "prob_reversed": backward,
            "prob_averaged": (forward + backward) / 2,
            "p_valid_forward": 0.9,
            "p_valid_reversed": 0.9,
            "p_valid": 0.9,
            "position_bias_magnitude": np.abs(forward - backward),
            "resolution_mass": np.nan,
            "is_converted": False,
            "status": "ok",
            "reason": None,
        }
    )


def human_rows(grid: AnswerGrid, languages: Sequence[str], n: int = 1000) -> pd.DataFrame:
    """People's answers as rows of HUMAN_DISTRIBUTIONS."""
    country, item, option = np.nonzero(
        np.broadcast_to(np.isfinite(grid.scales.codes), (len(grid.countries), *grid.scales.codes.shape))
    )
    return pd.DataFrame(
        {
            "country": np.array(grid.countries)[country],
            "language": np.array(languages)[country],
            "question_id": np.array(grid.items)[item],
            "response_value": original_codes(grid.scales)[item, option].astype(int),
            "prob": grid.people[country, item, option],
            "n": n,
            "weighted_n": float(n),
            "design_effect": 1.1,
            "dk_rate": 0.03,
            "source": "planted",
        }
    )


def original_codes(on: Scales):
    """(I, K) the codes as they stand in a questionnaire."""
    places = {name: item for item, name in enumerate(on.items)}
    codes = on.codes.copy()
    for name in ("v113", "v114"):
        if name in places:
            codes[places[name], :3] = [1, 3, 2]
    return codes
