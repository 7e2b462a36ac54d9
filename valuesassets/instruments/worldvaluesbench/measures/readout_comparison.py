"""`worldvaluesbench/readout_comparison`: distances between readouts of the same prompts, and the scores of each.

Exact is the distribution over the scale; greedy is its mode, which a model gives that always writes the most probable
answer. Sampled are drawn answers parsed from text, whose distance from the exact distribution is due to chance; the
distance of a mode grows with the width of the distribution. Figures are answers to the published prompts, whose
distance is not due to chance alone.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.published.prompts import FIGURES
from valuesassets.measure.distances import w1_unit_of
from valuesassets.measure.means import Array
from valuesassets.measure.sampling_error import SIMULATED_SAMPLES, allowed_mean
from valuesassets.measure.seeding import seeded
from valuesassets.records.frames import column, parts_of, records, rows, rows_where

EXACT, GREEDY, SAMPLED = "exact", "greedy", "sampled"
AVERAGED = "averaged"
ORDERS = {"forward": "prob_forward", "reversed": "prob_reversed", AVERAGED: "prob_averaged"}
"""The columns of distributions by order; answers to other prompts are compared with the average."""
SCORES = ("w1_seed", "slope", "slope_low", "slope_high", "exaggeration", "direction", "skill")
"""The scores of each readout."""
PROMPT_COLUMNS = ("question_id", "wording", "order", "readout", "n", "n_unparsed", "w1_unit")
PROMPT_COLUMNS += ("w1_expected_unit", "w1_expected_sd")
Score = Callable[[Mapping[str, pd.DataFrame]], Mapping[str, Mapping[str, Any]]]


def derive_readout_comparison(
    cells: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]], score: Score, seed: int
) -> dict[str, pd.DataFrame]:
    """Distances between readouts of the same prompts, and the scores of each readout.

    Args:
        cells: rows of `rating_distributions` and of `decoded_ratings`, by model.
        score: returns `SCORES` by readout, from ratings (`question_id`, `response_value`, `prob`) by readout.

    Returns:
        `readouts`: a row for each model and readout; `prompts`: a row for each of their prompts.
    """
    prompts, table_rows = [], []
    for model, (exact, drawn) in cells.items():
        prompts.append(compare_prompts(exact, drawn, seed).assign(model=model))
        for readout, scores in score(ratings_by_readout(exact, drawn)).items():
            summary = _summary(rows_where(prompts[-1], readout=readout))
            table_rows.append({"model": model, "readout": readout} | summary | {n: scores.get(n) for n in SCORES})
    return {"readouts": pd.DataFrame(table_rows), "prompts": pd.concat(prompts, ignore_index=True)}


def compare_prompts(distributions: pd.DataFrame, drawn: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The distances of the other readouts from the exact one, for each prompt and order.

    Args:
        distributions: rows of `rating_distributions` of a model.
        drawn: rows of `decoded_ratings` of the same model; answers that are no rating are counted and left out.

    Returns:
        `PROMPT_COLUMNS`; the expected distance by chance, `w1_expected_unit` and `w1_expected_sd`, only of answers that
        were drawn to the same prompt.
    """
    counted = _counts(drawn)
    first = distributions["wording"].min()
    rows: list[dict[str, Any]] = []
    in_order = distributions.sort_values("response_value")
    for (asked_as, number), answers in parts_of(in_order, ["question_id", "wording"]):
        wording = int(number)
        values = answers["response_value"].to_numpy()
        unit = (values - values[0]) / np.ptp(values)
        for order, prob in ORDERS.items():
            exact = answers[prob].to_numpy(float)
            if not np.isfinite(exact).all():
                continue
            named = {"question_id": asked_as, "wording": wording, "order": order}
            mode = np.eye(len(exact))[exact.argmax()]
            if order != AVERAGED:
                greedy = {"readout": GREEDY, "n": 1, "n_unparsed": 0, "w1_unit": float(w1_unit_of(exact, mode, unit))}
                rows.append(named | greedy)
            elif wording != first:
                continue
            place = asked_as, order if order == AVERAGED else wording, order
            for readout, (parsed, n_unparsed) in counted.get(place, {}).items():
                n = int(sum(parsed.values()))
                row: dict[str, Any] = {"readout": readout, "n": n, "n_unparsed": n_unparsed}
                if n:
                    shares = np.array([parsed.get(int(value), 0) for value in values]) / n
                    row |= {"w1_unit": w1_unit_of(exact, shares, unit)}
                if n and readout == SAMPLED:
                    chance = _by_chance(exact, unit, n, seeded(seed, "readouts", str(asked_as), order))
                    row |= {"w1_expected_unit": chance.mean(), "w1_expected_sd": chance.std(ddof=1)}
                rows.append(named | row)
    return pd.DataFrame(rows, columns=pd.Index(PROMPT_COLUMNS))


def ratings_by_readout(distributions: pd.DataFrame, drawn: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The ratings of a model's first wording under each readout, with the columns of files of ratings.

    Exact and drawn answers are averaged over orders with equal weights. A mode is that of the average (the lowest of
    several), so that its scores differ only by the readout. Drawn answers have `n_draws`. Questions without answers
    have no row, and those whose answers are no rating have rows without `prob`.
    """
    first = rows_where(distributions, wording=distributions["wording"].min())
    first = first.sort_values(["question_id", "response_value"])
    exact = first[["question_id", "response_value"]].assign(prob=first["prob_averaged"])
    prob = column(exact, "prob")
    mode = prob == prob.groupby(exact["question_id"]).transform("max")
    is_first = mode & (mode.groupby(exact["question_id"]).cumsum() == 1)
    readouts = {EXACT: exact, GREEDY: exact.assign(prob=is_first.astype(float).where(prob.notna()))}
    counted = counted_ratings(drawn)
    of_first = rows(counted, counted["wording"].isin([distributions["wording"].min(), *FIGURES]))
    for (readout,), part in parts_of(of_first, ["readout"]):
        answered = rows(exact, column(exact, "question_id").isin(column(part, "question_id")))
        shares, n_draws = _shares(part, answered)
        readouts[str(readout)] = answered.assign(prob=shares)
        if readout == SAMPLED:  # at temperature 0 an answer has no noise
            readouts[str(readout)]["n_draws"] = n_draws
    return readouts


def _shares(counted: pd.DataFrame, exact: pd.DataFrame) -> tuple[Array, Array]:
    """The share of ratings of each row of `exact`, averaged over orders, and the number of draws by its variance."""
    names = ["question_id", "response_value"]
    parsed = rows(counted, counted["response_value"].notna()).astype({"response_value": float})
    n = parsed.pivot_table(index=names, columns="order", values="n", aggfunc="sum")
    n = n.reindex(pd.MultiIndex.from_arrays([exact["question_id"], exact["response_value"].astype(float)])).fillna(0)
    total = pd.DataFrame(n.groupby(level="question_id").transform("sum"))
    total = total.where(total > 0)
    draws = total.notna().sum(axis=1) ** 2 / total.rdiv(1).sum(axis=1)
    return (n / total).mean(axis=1).to_numpy(float), draws.to_numpy(float)


def beyond_chance(readouts: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows whose drawn answers are farther from the exact ones than expected by chance."""
    columns = ["model", "readout", "w1_unit", "w1_expected_unit", "w1_allowed_unit"]
    return records(readouts.loc[readouts["w1_unit"] > readouts["w1_allowed_unit"], columns])


def _summary(prompts: pd.DataFrame) -> dict[str, Any]:
    """A summary of the prompts of a readout; the exact readout has no prompts here."""
    counts = {"n_prompts": len(prompts), "n_answers": int(prompts["n"].sum())}
    counts |= {"n_unparsed": int(prompts["n_unparsed"].sum())}
    if not len(prompts):
        return counts
    return counts | {
        "w1_unit": prompts["w1_unit"].mean(),
        "w1_expected_unit": prompts["w1_expected_unit"].mean(),
        "w1_allowed_unit": allowed_mean(prompts["w1_expected_unit"], prompts["w1_expected_sd"]),
    }


def counted_ratings(drawn: pd.DataFrame) -> pd.DataFrame:
    """Counts of ratings: question_id (with profile), wording, order, readout, response_value (null for no rating), n.

    The readout of published prompts is the figure, and their order that of the exact distribution to compare with.
    """
    is_published = drawn["wording"].isin(list(FIGURES))
    with_profile = drawn["question_id"] + "@" + drawn["profile"].fillna("")
    named = pd.DataFrame(
        {
            "question_id": drawn["question_id"].where(drawn["profile"].isna(), with_profile),
            "wording": drawn["wording"],
            "order": drawn["order"].where(~is_published, AVERAGED),
            "readout": ("figure " + drawn["wording"].astype(str)).where(is_published, SAMPLED),
            "response_value": drawn["rating"].astype("Float64").where(drawn["is_on_scale"].astype(bool)),
        }
    )
    counted = pd.Series(named.groupby(list(named), dropna=False, sort=False).size(), name="n")
    return counted.reset_index()


def _counts(drawn: pd.DataFrame) -> dict[tuple[Any, ...], dict[str, tuple[dict[int, int], int]]]:
    """By question, wording and order, and then by readout: counts of each rating, and of answers without one."""
    counts: dict[tuple[Any, ...], dict[str, tuple[dict[int, int], int]]] = {}
    for row in records(counted_ratings(drawn)):
        place = (row["question_id"], row["wording"] if row["order"] != AVERAGED else AVERAGED, row["order"])
        parsed, n_unparsed = counts.setdefault(place, {}).setdefault(row["readout"], ({}, 0))
        if pd.isna(row["response_value"]):
            counts[place][row["readout"]] = parsed, n_unparsed + row["n"]
        else:
            parsed[int(row["response_value"])] = row["n"]
    return counts


def _by_chance(exact: Array, unit: Array, n: int, random: np.random.Generator) -> Array:
    """(SIMULATED_SAMPLES,) distances of samples of n answers from their own distribution."""
    shares = random.multinomial(n, exact / exact.sum(), size=SIMULATED_SAMPLES) / n
    return w1_unit_of(exact, shares, unit)
