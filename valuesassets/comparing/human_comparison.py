"""`human_comparison`: distance between each cell's answers and those of its own country, compared with null answers.

Where only published means of people are available, differences of means give lower bounds of W1, and no other measure
is computed.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.country_distances import (
    UNBIASED,
    advantages,
    at_own,
    cramer_to_countries,
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
from valuesassets.measure.skewed_means import skewed_mean_ends
from valuesassets.records.frames import parts_of, records, rows, rows_where
from valuesassets.records.study import Study, why_no_people
from valuesassets.records.tables import TABLES

AVERAGED = ("w1_unit", "jsd_distance", "kl_bits", "jsd_bits_unbiased")
PLUG_INS = ("w1_unit", "tvd", "jsd_bits", "jsd_distance", "kl_bits", "jsd_bits_unbiased")
"""Measures that would take the noise of drawn answers for distance."""
CRAMER = UNBIASED["cramer"]
MEANS_ONLY = "Only published means of people are there: W1, JSD and KL need their distributions and are refused."
LEAST_LANGUAGES = 2
"""Fewest languages of each kind of resource."""
EXCHANGED = "exchanged"
"""Name of the comparison with the family's own answers in its other languages."""
NULLS = {UNIFORM: "uniform", ALWAYS_FIRST: "first", OTHERS: "pooled"}
"""Null answers that a difference between languages has to exceed, and the suffixes of their columns."""


def derive_human_comparison(
    grid: AnswerGrid, human: pd.DataFrame, study: Study, human_means: pd.DataFrame | None = None
) -> dict[str, pd.DataFrame]:
    """The tables `human_comparison/...`; empty tables with a note where there are no human data.

    `kind` is `model`, `null` (answers without content, and the people of other countries) or `floor`: a perfect model
    of the own country, compared with a sample of its people. No model can be expected to come closer than the floor.
    List items asked as statements are left out.

    Args:
        grid: with people's answers.
        human: rows of `HUMAN_DISTRIBUTIONS`, for the numbers of respondents and the rates of missing answers.
        human_means: rows of `human_means`; used where there are no distributions.
    """
    own_tables = {name: table for name, table in TABLES.items() if name.startswith("human_comparison/")}
    tables = {name.partition("/")[2]: table.frame([]) for name, table in own_tables.items()}
    tables["tests"] = tests_table([], study)
    if grid.countries:
        counted_grid = replace(grid.of_level(), respondents=grid.effective_n_of(human))
        tables |= _by_distributions(counted_grid, human, study)
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
    if study.distance == "cramer":
        nulls = ((0, len(labels) - len(grid.cells)), (0, 0))
        divergences = cramer_to_countries(grid, answers, np.pad(grid.cramer_noise, nulls))
        is_exact = ~np.pad(grid.is_drawn, nulls)
        measured |= {name: np.where(is_exact, measured[name], np.nan) for name in PLUG_INS}
        measured[CRAMER] = of_own(divergences, own)
    entropy = np.concatenate([grid.entropy_bits, entropy_bits_of(answers[len(grid.cells) :])])
    dk_rate = grid.of_countries(human, grid.countries, "dk_rate")
    p_invalid = np.full(is_compared.shape, np.nan)
    p_invalid[: len(grid.cells)] = 1 - grid.p_valid
    secondary = {"entropy_bits": entropy, "dk_rate": at_own(dk_rate, own), "p_invalid": p_invalid}
    # The floor of every language's own country, for the items that are compared.
    random = seeded(study.seed, "human_comparison", "floor")
    perfect = sampling_floor(grid.scales, grid.people, grid.effective_n, random)
    floor = np.flatnonzero((labels["model"] == UNIFORM) & (own >= 0))
    is_asked = np.isfinite(answers[floor]).all(axis=-1)
    floors = {name: np.where(is_asked, each[own[floor]], np.nan) for name, each in perfect.items()}
    floors["kl_bits"] = np.full(is_asked.shape, np.nan)
    floors |= {
        name: np.where(np.isfinite(floors["jsd_distance"]), 0.0, np.nan)
        for name in UNBIASED.values()
        if name in measured
    }
    floor_labels = labels.iloc[floor].assign(kind="floor", model=PERFECT).reset_index(drop=True)

    level, draws = study.inference.level, study.inference.resamples
    counts = resample_counts(len(grid.items), draws, seeded(study.seed, "human_comparison", "items"))
    ranks = rank_countries(advantages(divergences), own, counts)
    source = ", ".join(sorted(set(human["source"])))
    averages = _averages(measured, counts, level) | {
        name: mean_of_known(np.where(is_compared, values, np.nan)) for name, values in secondary.items()
    }
    rank_values = rank_columns(grid, ranks, is_compared.sum(axis=1), level)
    has_items = is_compared.any(axis=1)
    cells = rows(labels.assign(**averages, **rank_values, source=source), has_items)
    # The pool of other countries lacks the own country, so its rank would be an artefact.
    cells.loc[cells["model"] == OTHERS, [name for name in rank_values if name.startswith("own_country")]] = np.nan
    floor_cells = floor_labels.assign(**_averages(floors, counts, level), source=source)
    cells = pd.concat([cells, floor_cells], ignore_index=True)
    types = {"response_type": np.array(grid.scales.response_types, dtype=object)}
    floor_beside = {"dk_rate": dk_rate[own[floor]], "p_invalid": np.full(is_asked.shape, np.nan)}
    questions = [
        grid.listed(labels, is_compared, types | measured | {name: secondary[name] for name in floor_beside}),
        grid.listed(floor_labels, np.isfinite(floors["jsd_distance"]), types | floors | floor_beside),
    ]
    families, tests = own_country_of_families(grid, ranks, study)
    to_countries = {UNBIASED[study.distance]: divergences, "own_country_advantage": advantages(divergences)}
    resources, resource_tests = compare_levels(cells, exchanged_languages(labels, own, to_countries), study)
    all_tests = tests_table([*tests, *resource_tests], study)
    corrected = {
        f"{name}_p_corrected": all_tests.loc[all_tests["statistic"] == name, "p_corrected"].to_numpy()
        for name in ("mean_rank", "own_country_advantage")
    }
    all_labels = pd.concat([labels, floor_labels], ignore_index=True)
    with_floors = {name: np.concatenate([measured[name], floors[name]]) for name in measured}
    notes = [
        *(
            f"{row['model']}/{row['language']}: no item shared with the people of {row['country']}."
            for row in records(rows_where(rows(labels, ~has_items), kind="model"))
        ),
        *grid.notes,
        f"Intervals are {level:.0%} bootstrap intervals over items; list items asked as statements are left out; "
        f"KL smooths the model's answer with a share of {KL_SMOOTHING:g} of a uniform one.",
        *_about_distances(grid, study),
        f"Floor: {PERFECT}, compared with n / design effect people drawn from these answers.",
    ]
    return {
        "questions": pd.concat(questions, ignore_index=True).assign(source=source),
        "cells": cells,
        "by_response_type": _by_response_type(grid, all_labels, with_floors, study),
        "own_country": families.assign(**corrected),
        "resources": resources.assign(p_corrected=all_tests["p_corrected"].iloc[len(tests) :].reset_index(drop=True)),
        "tests": all_tests,
        "notes": pd.DataFrame({"note": notes}),
    }


def _about_distances(grid: AnswerGrid, study: Study) -> list[str]:
    """What advantages and ranks are computed from, and which distances are empty."""
    if study.distance == "jsd":
        return [
            "Own-country advantages, ranks and differences between resources are computed from Jensen-Shannon "
            "divergences in bits, corrected for the size of each country's sample; distances and their floors are not "
            "corrected."
        ]
    return [
        "Own-country advantages, ranks and differences between resources are computed from squared Cramér distances, "
        "corrected for the size of each country's sample and for the number of draws; by chance they may be below 0. "
        "Other distances and their floors are not corrected.",
        *grid.why_empty("W1, JSD, KL and total variation"),
    ]


def _averages(measured: Mapping[str, Array], counts: Array, level: float) -> dict[str, NDArray]:
    """Means over items with the ends of their intervals; W1 over ordinal items only."""
    names = (*AVERAGED, CRAMER) if CRAMER in measured else AVERAGED
    means = {name: means_with_intervals(measured[name], counts, level) for name in names}
    n_items = means[CRAMER if CRAMER in measured else "jsd_distance"].n
    columns: dict[str, NDArray] = {"n_items": n_items, "n_items_w1": means["w1_unit"].n}
    for name, mean in means.items():
        columns |= mean.columns(name)
    if CRAMER in measured:
        # Squared distances of few items are skewed: percentile intervals would end too low.
        columns |= with_ends(CRAMER, means[CRAMER].mean, skewed_mean_ends(measured[CRAMER], level))
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

    It is a lower bound of W1: to move the mean by d, the mass has to move by d on average (Source: Kantorovich duality,
    with the identity as the 1-Lipschitz function).
    """
    countries = list(dict.fromkeys(means["country"]))
    human_means, low, high = (grid.of_countries(means, countries, name) for name in ("mean", "low", "high"))
    ends = grid.scales.ends
    fits = np.isclose(low, ends[:, 0]) & np.isclose(high, ends[:, 1]) & grid.scales.is_ordinal
    notes = [
        f"{item}: the published means run from {low[row, place]:g} to {high[row, place]:g}, the answers from "
        f"{ends[place, 0]:g} to {ends[place, 1]:g}; left out, compare the codes."
        for place, item in enumerate(grid.items)
        for row in np.flatnonzero(np.isfinite(human_means[:, place]) & ~fits[:, place])[:1]
        if grid.scales.is_ordinal[place]
    ]
    human_means = np.where(fits, human_means, np.nan)
    labels, model_means, own = beside_nulls(grid, countries, human_means, study, grid.scales.expected_code)
    own_means = at_own(human_means, own)
    bound = np.abs(model_means - own_means) / (ends[:, 1] - ends[:, 0])
    random = seeded(study.seed, "human_comparison", "lower bounds")
    counts = resample_counts(len(grid.items), study.inference.resamples, random)
    average = means_with_intervals(bound, counts, study.inference.level)
    source = ", ".join(sorted({str(each) for each in means["source"]}))
    cells = labels.assign(n_items=average.n, **average.columns("w1_unit_lower_bound"), source=source)
    columns = {"mean_model": model_means, "mean_human": own_means, "low": ends[:, 0], "high": ends[:, 1]}
    questions = grid.listed(labels, np.isfinite(bound), columns | {"w1_unit_lower_bound": bound})
    notes += [
        f"{each['model']}/{each['language']}: no published mean of {each['country']}."
        for each in records(rows_where(cells, n_items=0, kind="model"))
    ]
    return questions.assign(source=source), rows(cells, cells["n_items"] > 0).reset_index(drop=True), notes


def exchanged_languages(labels: pd.DataFrame, own: NDArray[np.intp], by_country: Mapping[str, Array]) -> pd.DataFrame:
    """A control for each cell: the family's answers in its other languages, measured at the cell's own country.

    These answers are as decided as the cell's own, but were given in other languages.

    Args:
        labels: R rows with kind, model and language.
        own: (R,) index of the own country of each row; -1 where it has no people.
        by_country: by measure, (R, N, I) values of each row's answers at every country.

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
    """Mean over low-resource minus mean over high-resource languages, per family and measure, and its tests.

    Where people of one kind of country are more decided, null answers are further from them too, and noise has a larger
    effect. A difference therefore counts only where it exceeds that of each null answer and that of the family's own
    answers in other languages. Their value is subtracted in each language, and p is the largest p-value of the
    difference and of all these (an intersection-union test). Intervals are over languages, resampled by kind.

    Args:
        cells: one row per cell of models and of nulls: kind, model, language and the measures.
        exchanged: as `exchanged_languages` returns it; its measures are compared.

    Returns:
        Rows of `human_comparison/resources`, and their tests as `tests_table` takes them.
    """
    cells_of_null = {name: rows_where(cells, kind="null", model=name).set_index("language") for name in NULLS}
    measures = [name for name in exchanged.columns if name not in ("model", "language")]
    model_rows, null_rows = [], []
    for (kind, model), part in parts_of(rows(cells, cells["kind"] != "floor"), ["kind", "model"]):
        is_low = np.array([study.languages[language].resource == "low" for language in part["language"]])
        for measure in measures:
            values = part[measure].to_numpy(dtype=float)
            is_known = np.isfinite(values)
            comparison = _difference(values[is_known], is_low[is_known], study, f"{model}", measure)
            row = {"kind": kind, "model": model, "measure": measure, "n": int(is_known.sum())} | comparison
            if kind == "null":
                null_rows.append({name: value for name, value in row.items() if name != "p"})
                continue
            others = rows_where(exchanged, model=model).set_index("language")
            for null, null_cells in (cells_of_null | {EXCHANGED: others}).items():
                beyond = values - null_cells[measure].reindex(part["language"]).to_numpy(dtype=float)
                is_known = np.isfinite(beyond)
                beyond_null = _difference(beyond[is_known], is_low[is_known], study, f"{model}", measure, null)
                row[f"beyond_{NULLS.get(null, null)}"] = beyond_null.get("difference", np.nan)
                if "p" in row and "p" in beyond_null:
                    row["p"] = max(row["p"], beyond_null["p"])
            model_rows.append(row)
    test, statistic = "{model}: low- and high-resource languages differ", "difference of means of {measure}, two-sided"
    tests = [as_test(row, "resources", test, statistic, "difference", study, n="n") for row in model_rows]
    return TABLES["human_comparison/resources"].frame([*model_rows, *null_rows]), tests


def _difference(values: Array, is_low: NDArray[np.bool_], study: Study, *purpose: str) -> dict[str, Any]:
    low, high = values[is_low], values[~is_low]
    means = [side.mean() if side.size else np.nan for side in (high, low)]
    comparison: dict[str, Any] = {"n_high": high.size, "n_low": low.size, "note": None}
    comparison |= {"mean_high": means[0], "mean_low": means[1]}
    if min(low.size, high.size) < LEAST_LANGUAGES:
        few = f"{high.size} high- and {low.size} low-resource languages: two or more of both are needed"
        return comparison | {"note": few}
    draws, observed = study.inference.resamples, low.mean() - high.mean()
    random = seeded(study.seed, "human_comparison", "resources", *purpose)
    drawn_low, drawn_high = (resampled_means(part, resample_counts(part.size, draws, random)) for part in (low, high))
    ends = interval_ends(drawn_low - drawn_high, min(low.size, high.size), study.inference.level)
    permuted, is_all = group_labellings(is_low, draws, random)
    by_chance = (permuted @ values) / low.size - ((~permuted) @ values) / high.size
    comparison["p"] = labelled_p(abs(observed), np.abs(by_chance), is_all)
    return comparison | with_ends("difference", observed, ends)
