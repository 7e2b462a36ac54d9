"""`human_comparison`: how far each cell's answers are from its own country's, beside the nulls.

Where only published means of people are there, their differences are lower bounds of W1, and all else is refused.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.country_distances import (
    advantages,
    at_own,
    jsd_bits_to_countries,
    of_own,
    own_country_of_families,
    rank_columns,
    rank_countries,
)
from valuesassets.comparing.hypotheses import as_test, tests_table
from valuesassets.comparing.null_answers import ALWAYS_FIRST, OTHERS, PERFECT, UNIFORM, beside_nulls, sampling_floor
from valuesassets.measure.arrays import Array
from valuesassets.measure.distances import KL_SMOOTHING, entropy_bits_of, kl_bits_of
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.resampling import (
    group_labellings,
    interval_ends,
    labelled_p,
    means_with_intervals,
    resample_counts,
    resampled_means,
    with_ends,
)
from valuesassets.measure.seeding import seeded
from valuesassets.records.frames import parts_of, records, rows, rows_where
from valuesassets.records.study import Study, why_no_people
from valuesassets.records.tables import TABLES

AVERAGED = ("w1_unit", "jsd_distance", "kl_bits", "jsd_bits_unbiased")
MEANS_ONLY = "Only published means of people are there: W1, JSD and KL need their distributions and are refused."
LEAST_LANGUAGES = 2
"""Fewest languages on either side."""
EXCHANGED = "exchanged"
"""The family's own answers in its other languages."""
NULLS = {UNIFORM: "uniform", ALWAYS_FIRST: "first", OTHERS: "pooled"}
"""Answers that a difference between languages has to go beyond, and the ends of the columns' names."""


def derive_human_comparison(
    grid: AnswerGrid, human: pd.DataFrame, study: Study, human_means: pd.DataFrame | None = None
) -> dict[str, pd.DataFrame]:
    """The tables `human_comparison/...`; empty ones with a note where there are no human data.

    `kind` is `model`; `null` for answers without content and the other countries' people; `floor` for a model that
    knows the own country's answers, beside a sample of its people, to which no model can be expected to come nearer.
    List items asked as statements are left out.

    Args:
        grid: with the people's answers.
        human: rows of `HUMAN_DISTRIBUTIONS`, for how many answered and how many did not.
        human_means: rows of `human_means`; looked at where there are no distributions.
    """
    own = {name: table for name, table in TABLES.items() if name.startswith("human_comparison/")}
    tables = {name.partition("/")[2]: table.frame([]) for name, table in own.items()}
    tables["tests"] = tests_table([], study)
    if grid.countries:
        counted = replace(grid.of_level(), respondents=grid.effective_n_of(human))
        tables |= _by_distributions(counted, human, study)
    elif not human.empty:
        tables["notes"] = pd.DataFrame({"note": list(grid.notes)})
    elif human_means is None or human_means.empty:
        tables["notes"] = pd.DataFrame({"note": [why_no_people(study)]})
    else:
        bounds, cells, notes = _bound_by_means(grid.of_level(), human_means, study)
        tables |= {"lower_bounds": bounds, "lower_bound_cells": cells}
        tables["notes"] = pd.DataFrame({"note": [MEANS_ONLY, *notes]})
    return tables


def _by_distributions(grid: AnswerGrid, human: pd.DataFrame, study: Study) -> dict[str, pd.DataFrame]:
    labels, answers, own = beside_nulls(grid, grid.countries, grid.people, study, lambda answers: answers)
    people = at_own(grid.people, own)
    measured = grid.scales.distances(answers, people)
    is_compared = np.isfinite(measured["jsd_distance"])
    kl_bits = kl_bits_of(people, answers, grid.scales.uniform())
    measured["kl_bits"] = np.where(is_compared, kl_bits, np.nan)
    divergences = jsd_bits_to_countries(answers, grid.people, grid.effective_n)
    measured["jsd_bits_unbiased"] = of_own(divergences, own)
    dk_rate = grid.of_countries(human, grid.countries, "dk_rate")
    p_invalid = np.full(is_compared.shape, np.nan)
    p_invalid[: len(grid.cells)] = 1 - grid.p_valid
    beside = {"entropy_bits": entropy_bits_of(answers), "dk_rate": at_own(dk_rate, own), "p_invalid": p_invalid}
    # The floor of every language's own country, on the items that are compared there.
    random = seeded(study.seed, "human_comparison", "floor")
    perfect = sampling_floor(grid.scales, grid.people, grid.effective_n, random)
    floor = np.flatnonzero((labels["model"] == UNIFORM) & (own >= 0))
    is_asked = np.isfinite(answers[floor]).all(axis=-1)
    floors = {name: np.where(is_asked, each[own[floor]], np.nan) for name, each in perfect.items()}
    floors["kl_bits"] = np.full(is_asked.shape, np.nan)
    floors["jsd_bits_unbiased"] = np.where(np.isfinite(floors["jsd_distance"]), 0.0, np.nan)
    floored = labels.iloc[floor].assign(kind="floor", model=PERFECT).reset_index(drop=True)

    level, draws = study.inference.level, study.inference.resamples
    counts = resample_counts(len(grid.items), draws, seeded(study.seed, "human_comparison", "items"))
    ranks = rank_countries(advantages(divergences), own, counts)
    source = ", ".join(sorted(set(human["source"])))
    averages = _averages(measured, counts, level) | {
        name: mean_of_known(np.where(is_compared, values, np.nan)) for name, values in beside.items()
    }
    standing = rank_columns(grid, ranks, is_compared.sum(axis=1), level)
    shown = is_compared.any(axis=1)
    cells = rows(labels.assign(**averages, **standing, source=source), shown)
    # The pool lacks the own country, so that its rank would be one of the pool's making.
    cells.loc[cells["model"] == OTHERS, [name for name in standing if name.startswith("own_country")]] = np.nan
    cells = pd.concat([cells, floored.assign(**_averages(floors, counts, level), source=source)], ignore_index=True)
    types = {"response_type": np.array(grid.scales.response_types, dtype=object)}
    floor_beside = {"dk_rate": dk_rate[own[floor]], "p_invalid": np.full(is_asked.shape, np.nan)}
    questions = [
        grid.listed(labels, is_compared, types | measured | {name: beside[name] for name in floor_beside}),
        grid.listed(floored, np.isfinite(floors["jsd_distance"]), types | floors | floor_beside),
    ]
    families, tests = own_country_of_families(grid, ranks, study)
    to_countries = {"jsd_bits_unbiased": divergences, "own_country_advantage": advantages(divergences)}
    resources, more = compare_levels(cells, exchanged_languages(labels, own, to_countries), study)
    made = tests_table([*tests, *more], study)
    corrected = {
        f"{name}_p_corrected": made.loc[made["statistic"] == name, "p_corrected"].to_numpy()
        for name in ("mean_rank", "own_country_advantage")
    }
    both = {name: np.concatenate([measured[name], floors[name]]) for name in measured}
    notes = [
        *(
            f"{row['model']}/{row['language']}: no item shared with the people of {row['country']}."
            for row in records(rows_where(rows(labels, ~shown), kind="model"))
        ),
        *grid.notes,
        f"Intervals are {level:.0%} bootstrap intervals over items; list items asked as statements are left out; "
        f"KL smooths the model's answer with a share of {KL_SMOOTHING:g} of a uniform one.",
        "Own-country advantages, ranks and differences between resources are of Jensen-Shannon divergences in bits, "
        "less what the size of each country's sample adds to them; distances beside the floor are as observed.",
        f"Floor: {PERFECT}, beside n / design effect people drawn from them.",
    ]
    return {
        "questions": pd.concat(questions, ignore_index=True).assign(source=source),
        "cells": cells,
        "by_response_type": _by_response_type(grid, pd.concat([labels, floored], ignore_index=True), both, study),
        "own_country": families.assign(**corrected),
        "resources": resources.assign(p_corrected=made["p_corrected"].iloc[len(tests) :].reset_index(drop=True)),
        "tests": made,
        "notes": pd.DataFrame({"note": notes}),
    }


def _averages(measured: Mapping[str, Array], counts: Array, level: float) -> dict[str, NDArray]:
    """Means over items with the ends of their intervals; W1 over the items with an order."""
    means = {name: means_with_intervals(measured[name], counts, level) for name in AVERAGED}
    columns: dict[str, NDArray] = {"n_items": means["jsd_distance"].n, "n_items_w1": means["w1_unit"].n}
    for name, found in means.items():
        columns |= found.columns(name)
    return columns


def _by_response_type(
    grid: AnswerGrid, labels: pd.DataFrame, measured: Mapping[str, Array], study: Study
) -> pd.DataFrame:
    types = np.array(grid.scales.response_types)
    tables = []
    for kind in dict.fromkeys(grid.scales.response_types):
        items = np.flatnonzero(types == kind)
        random = seeded(study.seed, "human_comparison", "items", kind)
        counts = resample_counts(items.size, study.inference.resamples, random)
        averages = _averages({name: each[:, items] for name, each in measured.items()}, counts, study.inference.level)
        tables.append(labels.assign(response_type=kind, **averages))
    table = pd.concat(tables, ignore_index=True)
    return rows(table, table["n_items"] > 0).reset_index(drop=True)


def _bound_by_means(
    grid: AnswerGrid, means: pd.DataFrame, study: Study
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """|difference of means| / range per (cell or null, question), its means over items, and notes.

    W1 is at least that: moving the mean by d takes moving the mass by d on average (Source: Kantorovich duality, with
    the answer itself as a function that grows no faster than the answer).
    """
    countries = list(dict.fromkeys(means["country"]))
    of_people, low, high = (grid.of_countries(means, countries, name) for name in ("mean", "low", "high"))
    ends = grid.scales.ends
    fits = np.isclose(low, ends[:, 0]) & np.isclose(high, ends[:, 1]) & grid.scales.is_ordinal
    notes = [
        f"{item}: the published means run from {low[row, place]:g} to {high[row, place]:g}, the answers from "
        f"{ends[place, 0]:g} to {ends[place, 1]:g}; left out, compare the codes."
        for place, item in enumerate(grid.items)
        for row in np.flatnonzero(np.isfinite(of_people[:, place]) & ~fits[:, place])[:1]
        if grid.scales.is_ordinal[place]
    ]
    of_people = np.where(fits, of_people, np.nan)
    labels, of_models, own = beside_nulls(grid, countries, of_people, study, grid.scales.expected_code)
    of_own = at_own(of_people, own)
    bound = np.abs(of_models - of_own) / (ends[:, 1] - ends[:, 0])
    random = seeded(study.seed, "human_comparison", "lower bounds")
    counts = resample_counts(len(grid.items), study.inference.resamples, random)
    average = means_with_intervals(bound, counts, study.inference.level)
    source = ", ".join(sorted({str(each) for each in means["source"]}))
    cells = labels.assign(n_items=average.n, **average.columns("w1_unit_lower_bound"), source=source)
    columns = {"mean_model": of_models, "mean_human": of_own, "low": ends[:, 0], "high": ends[:, 1]}
    questions = grid.listed(labels, np.isfinite(bound), columns | {"w1_unit_lower_bound": bound})
    notes += [
        f"{each['model']}/{each['language']}: no published mean of {each['country']}."
        for each in records(rows_where(cells, n_items=0, kind="model"))
    ]
    return questions.assign(source=source), rows(cells, cells["n_items"] > 0).reset_index(drop=True), notes


def exchanged_languages(labels: pd.DataFrame, own: NDArray[np.intp], by_country: Mapping[str, Array]) -> pd.DataFrame:
    """What a family's answers in its other languages give at the own country of each: as sharp, but not the language's.

    Args:
        labels: R rows: kind, model, language.
        own: (R,) the own country of each; -1 where it has no people.
        by_country: by measure, (R, N, I) of each row's answers at every country.

    Returns:
        A row per cell of a family: model, language and the measures.
    """
    parts = []
    for (kind, model), part in parts_of(labels.reset_index(drop=True), ["kind", "model"]):
        places = part.index.to_numpy()
        if kind != "model" or len(places) < 2:
            continue
        measured = {}
        for measure, values in by_country.items():
            means = mean_of_known(values[places])[:, own[places]]
            means[:, own[places] < 0] = np.nan
            np.fill_diagonal(means, np.nan)
            measured[measure] = mean_of_known(means, axis=0)
        parts.append(pd.DataFrame({"model": model, "language": part["language"].to_numpy(), **measured}))
    columns = pd.Index(["model", "language", *by_country])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def compare_levels(
    cells: pd.DataFrame, exchanged: pd.DataFrame, study: Study
) -> tuple[pd.DataFrame, list[dict[str, object]]]:
    """Mean of low- minus mean of high-resource languages per family and measure, and its tests.

    Where people of one kind of country are more decided, answers without content lie further from them too, and noise
    costs more. So a difference counts where it is beyond that of each null answer, and of the family's answers in other
    languages: their value is taken off every language, and p is the largest of the difference's own and of those beyond
    each (an intersection-union test). The ends of an interval are over languages, drawn anew on either side.

    Args:
        cells: one row per cell of models and of nulls: kind, model, language and the measures.
        exchanged: see `exchanged_languages`; its measures are compared.

    Returns:
        Rows of `human_comparison/resources`, and their tests as `tests_table` takes them.
    """
    of_nulls = {name: rows_where(cells, kind="null", model=name).set_index("language") for name in NULLS}
    measures = [name for name in exchanged.columns if name not in ("model", "language")]
    of_models, without_content = [], []
    for (kind, model), part in parts_of(rows(cells, cells["kind"] != "floor"), ["kind", "model"]):
        is_low = np.array([study.languages[language].resource == "low" for language in part["language"]])
        for measure in measures:
            values = part[measure].to_numpy(dtype=float)
            known = np.isfinite(values)
            found = _difference(values[known], is_low[known], study, f"{model}", measure)
            row = {"kind": kind, "model": model, "measure": measure, "n": int(known.sum())} | found
            if kind == "null":
                without_content.append({name: value for name, value in row.items() if name != "p"})
                continue
            others = rows_where(exchanged, model=model).set_index("language")
            for null, theirs in (of_nulls | {EXCHANGED: others}).items():
                beyond = values - theirs[measure].reindex(part["language"]).to_numpy(dtype=float)
                known = np.isfinite(beyond)
                left = _difference(beyond[known], is_low[known], study, f"{model}", measure, null)
                row[f"beyond_{NULLS.get(null, null)}"] = left.get("difference", np.nan)
                if "p" in row and "p" in left:
                    row["p"] = max(row["p"], left["p"])
            of_models.append(row)
    test, statistic = "{model}: low- and high-resource languages differ", "difference of means of {measure}, two-sided"
    tests = [as_test(row, "resources", test, statistic, "difference", study, n="n") for row in of_models]
    return TABLES["human_comparison/resources"].frame([*of_models, *without_content]), tests


def _difference(values: Array, is_low: NDArray[np.bool_], study: Study, *purpose: str) -> dict[str, Any]:
    low, high = values[is_low], values[~is_low]
    found: dict[str, Any] = {"n_high": high.size, "n_low": low.size, "note": None}
    found |= {name: side.mean() if side.size else np.nan for name, side in (("mean_high", high), ("mean_low", low))}
    if min(low.size, high.size) < LEAST_LANGUAGES:
        few = f"{high.size} high- and {low.size} low-resource languages: two or more of both are needed"
        return found | {"note": few}
    draws, observed = study.inference.resamples, low.mean() - high.mean()
    random = seeded(study.seed, "human_comparison", "resources", *purpose)
    drawn_low, drawn_high = (resampled_means(part, resample_counts(part.size, draws, random)) for part in (low, high))
    ends = interval_ends(drawn_low - drawn_high, min(low.size, high.size), study.inference.level)
    permuted, is_all = group_labellings(is_low, draws, random)
    means = (permuted @ values) / low.size - ((~permuted) @ values) / high.size
    return found | with_ends("difference", observed, ends) | {"p": labelled_p(abs(observed), np.abs(means), is_all)}
