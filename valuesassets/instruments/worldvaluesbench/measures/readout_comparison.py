"""`worldvaluesbench/readout_comparison`: one prompt read in several ways, and what every score becomes under each.

Exact: the distribution over the scale. Greedy: its mode, as a model gives it that always writes the likeliest answer.
Sampled: answers to the same prompt that were drawn and parsed as text. They lie as far from the exact distribution as
chance has it; a mode lies as far as the distribution is wide, however often it is asked for. Figures: what was written
to the benchmark's own prompts, which are others, so that chance alone says nothing of their distance.
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
"""What a distribution is of; answers to other prompts than the one read are compared with the average."""
SCORES = ("w1_seed", "slope", "slope_low", "slope_high", "exaggeration", "direction", "skill")
"""What is told of each readout, beside the distances between them."""
Score = Callable[[Mapping[str, pd.DataFrame]], Mapping[str, Mapping[str, Any]]]


def derive_readout_comparison(
    cells: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]], score: Score, seed: int
) -> dict[str, pd.DataFrame]:
    """How far readouts of the same prompts are from each other, and every score under each of them.

    Args:
        cells: by model its rows of `rating_distributions` and of `decoded_ratings`.
        score: gives `SCORES` by name, of ratings (`question_id`, `response_value`, `prob`) by name.

    Returns:
        `readouts`: a row for each model and readout; `prompts`: one for each prompt of it.
    """
    prompts = [compare_prompts(read, drawn, seed).assign(model=model) for model, (read, drawn) in cells.items()]
    prompt_rows = pd.concat(prompts, ignore_index=True)
    rows = []
    for model, (read, drawn) in cells.items():
        scored = score(ratings_by_readout(read, drawn))
        for readout, scores in scored.items():
            of_both = rows_where(prompt_rows, model=model, readout=readout)
            rows.append({"model": model, "readout": readout} | _summary(of_both) | {n: scores.get(n) for n in SCORES})
    return {"readouts": pd.DataFrame(rows), "prompts": prompt_rows}


def compare_prompts(read: pd.DataFrame, drawn: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The distance of each other readout from the exact one, for each prompt in each order that it was made in.

    Args:
        read: rows of `rating_distributions` of a model.
        drawn: rows of `decoded_ratings` of the same; answers that are no rating are counted, and left out.

    Returns:
        question_id, wording, order, readout, n, n_unparsed, w1_unit; and where answers to the same prompt were drawn
        `w1_expected_unit` and `w1_expected_sd`, what chance alone makes of it.
    """
    counted = _counts(drawn)
    first = read["wording"].min()
    rows: list[dict[str, Any]] = []
    for (asked_as, number), answers in parts_of(read.sort_values("response_value"), ["question_id", "wording"]):
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
                one = {"readout": GREEDY, "n": 1, "n_unparsed": 0, "w1_unit": float(w1_unit_of(exact, mode, unit))}
                rows.append(named | one)
            elif wording != first:
                continue
            for readout, (parsed, n_unparsed) in counted.get(
                (asked_as, order if order == AVERAGED else wording, order), {}
            ).items():
                n = int(sum(parsed.values()))
                said: dict[str, Any] = {"readout": readout, "n": n, "n_unparsed": n_unparsed}
                if n:
                    shares = np.array([parsed.get(int(value), 0) for value in values]) / n
                    said |= {"w1_unit": w1_unit_of(exact, shares, unit)}
                if n and readout == SAMPLED:
                    chance = _by_chance(exact, unit, n, seeded(seed, "readouts", str(asked_as), order))
                    said |= {"w1_expected_unit": chance.mean(), "w1_expected_sd": chance.std(ddof=1)}
                rows.append(named | said)
    names = [
        "question_id",
        "wording",
        "order",
        "readout",
        "n",
        "n_unparsed",
        "w1_unit",
        "w1_expected_unit",
        "w1_expected_sd",
    ]
    return pd.DataFrame(rows, columns=pd.Index(names))


def ratings_by_readout(read: pd.DataFrame, drawn: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """What a model says under each readout, in the columns that ratings come in; of its first wording.

    Exact answers are averaged over the orders, and drawn ones are too, however many of each order could be parsed; a
    mode is that of the average (the lowest of several), so that what it scores differs by the readout alone. Drawn ones
    say of how many answers each is. What was not asked has no row; an answer that is no rating has one without `prob`.
    """
    first = rows_where(read, wording=read["wording"].min()).sort_values(["question_id", "response_value"])
    exact = first[["question_id", "response_value"]].assign(prob=first["prob_averaged"])
    prob = column(exact, "prob")
    mode = prob == prob.groupby(exact["question_id"]).transform("max")
    is_first = mode & (mode.groupby(exact["question_id"]).cumsum() == 1)
    found = {EXACT: exact, GREEDY: exact.assign(prob=is_first.astype(float).where(prob.notna()))}
    counted = counted_ratings(drawn)
    of_first = rows(counted, counted["wording"].isin([read["wording"].min(), *FIGURES]))
    for (readout,), part in parts_of(of_first, ["readout"]):
        asked = rows(exact, column(exact, "question_id").isin(column(part, "question_id")))
        shares, n_draws = _shares(part, asked)
        found[str(readout)] = asked.assign(prob=shares)
        if readout == SAMPLED:  # at temperature 0 the same answer would be written again: no noise
            found[str(readout)]["n_draws"] = n_draws
    return found


def _shares(counted: pd.DataFrame, asked: pd.DataFrame) -> tuple[Array, Array]:
    """Of each row asked for its share of the ratings, mean over orders, and how many draws its variance is that of."""
    names = ["question_id", "response_value"]
    parsed = rows(counted, counted["response_value"].notna()).astype({"response_value": float})
    n = parsed.pivot_table(index=names, columns="order", values="n", aggfunc="sum")
    n = n.reindex(pd.MultiIndex.from_arrays([asked["question_id"], asked["response_value"].astype(float)])).fillna(0)
    total = pd.DataFrame(n.groupby(level="question_id").transform("sum"))
    total = total.where(total > 0)
    draws = total.notna().sum(axis=1) ** 2 / total.rdiv(1).sum(axis=1)
    return (n / total).mean(axis=1).to_numpy(float), draws.to_numpy(float)


def beyond_chance(readouts: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows whose drawn answers lie farther from the exact ones than the draw alone is to blame for."""
    shown = ["model", "readout", "w1_unit", "w1_expected_unit", "w1_allowed_unit"]
    return records(readouts.loc[readouts["w1_unit"] > readouts["w1_allowed_unit"], shown])


def _summary(prompts: pd.DataFrame) -> dict[str, Any]:
    """Of all prompts of a readout; the exact one has none of its own."""
    if not len(prompts):
        return {"n_prompts": 0, "n_answers": 0, "n_unparsed": 0}
    return {
        "n_prompts": len(prompts),
        "n_answers": int(prompts["n"].sum()),
        "n_unparsed": int(prompts["n_unparsed"].sum()),
        "w1_unit": prompts["w1_unit"].mean(),
        "w1_expected_unit": prompts["w1_expected_unit"].mean(),
        "w1_allowed_unit": allowed_mean(prompts["w1_expected_unit"], prompts["w1_expected_sd"]),
    }


def counted_ratings(drawn: pd.DataFrame) -> pd.DataFrame:
    """How often each rating was written: question_id (as asked), wording, order, readout, response_value, n.

    What is no rating of the scale has no `response_value`. Of the benchmark's own prompts the readout is the figure,
    and the order that of the exact distribution which they are compared with.
    """
    own = drawn["wording"].isin(list(FIGURES))
    asked_as = drawn["question_id"].where(
        drawn["profile"].isna(), drawn["question_id"] + "@" + drawn["profile"].fillna("")
    )
    named = pd.DataFrame(
        {
            "question_id": asked_as,
            "wording": drawn["wording"],
            "order": drawn["order"].where(~own, AVERAGED),
            "readout": ("figure " + drawn["wording"].astype(str)).where(own, SAMPLED),
            "response_value": drawn["rating"].astype("Float64").where(drawn["is_on_scale"].astype(bool)),
        }
    )
    counted = pd.Series(named.groupby(list(named), dropna=False, sort=False).size(), name="n")
    return counted.reset_index()


def _counts(drawn: pd.DataFrame) -> dict[tuple[Any, ...], dict[str, tuple[dict[int, int], int]]]:
    """By question, wording and order: by readout how often each rating was written, and how often none."""
    found: dict[tuple[Any, ...], dict[str, tuple[dict[int, int], int]]] = {}
    for row in records(counted_ratings(drawn)):
        place = (row["question_id"], row["wording"] if row["order"] != AVERAGED else AVERAGED, row["order"])
        parsed, n_unparsed = found.setdefault(place, {}).setdefault(row["readout"], ({}, 0))
        if pd.isna(row["response_value"]):
            found[place][row["readout"]] = parsed, n_unparsed + row["n"]
        else:
            parsed[int(row["response_value"])] = row["n"]
    return found


def _by_chance(exact: Array, unit: Array, n: int, random: np.random.Generator) -> Array:
    """(SIMULATED_SAMPLES,) distances of samples of n answers from the distribution that they are drawn from."""
    shares = random.multinomial(n, exact / exact.sum(), size=SIMULATED_SAMPLES) / n
    return w1_unit_of(exact, shares, unit)
