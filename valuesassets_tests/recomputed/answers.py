"""Tables of answers: what models said, what people said, what of it is used, and each answer in numbers."""

import numpy as np
import pandas as pd

from valuesassets_tests.recomputed.basics import entropy_bits, w1
from valuesassets_tests.recomputed.checking import Check
from valuesassets_tests.recomputed.grid import LEAST_MEDIAN, Study, place_of

CELL = ["model", "language"]
NEAR_UNIFORM = 0.95
SINGLE = {"A008": "v7", "A165": "v31", "E018": "v114", "E025": "v98", "F063": "v63", "F118": "v153"}
SINGLE |= {"F120": "v154", "G006": "v170"}
INDICATORS = (*SINGLE, "Y002", "Y003")
AUTONOMY = {"v86": 1, "v92": 1, "v93": -1, "v95": -1}
"""Independence and determination less faith and obedience."""


def of_models(study: Study, check: Check) -> None:
    """`probe_distributions`, from trials and readings."""
    check.equal("probe_distributions", [*CELL, "question_id", "wording", "response_value"], study.probe)


def of_people(study: Study, check: Check) -> None:
    """`respondents` (their own indicators), `human_distributions` and `human_means`."""
    people = study.respondents
    given = {name: people[name].to_numpy(dtype=float, na_value=np.nan) for name in people if name.startswith("v")}
    given = {name: np.where(codes > 0, codes, np.nan) for name, codes in given.items()}
    own = people[["respondent_id"]].copy()
    for indicator, question in SINGLE.items():
        codes = given[question]
        own[indicator] = [np.nan if np.isnan(code) else place_of(question, int(code)) for code in codes]
    aims = np.stack([given["v110"], given["v111"]])
    own["Y002"] = np.where(np.isnan(aims).any(axis=0), np.nan, 1 + np.isin(aims, (2, 4)).sum(axis=0))
    # Mentioned is 1, not mentioned 2: independence and determination count for autonomy, faith and obedience against.
    own["Y003"] = sum(sign * (given[question] == 1) for question, sign in AUTONOMY.items())
    own.loc[np.isnan([given[question] for question in AUTONOMY]).any(axis=0), "Y003"] = np.nan
    own["weight"] = people["weight"] / people.groupby("country")["weight"].transform("mean")
    check.equal("respondents", ["respondent_id"], own)
    check.equal("human_distributions", ["country", "language", "question_id", "response_value"], study.people)
    ordinal = study.labels.loc[study.labels["response_type"] != "categorical", ["language", "question_id"]]
    rows = []
    for language, question in ordinal.drop_duplicates().itertuples(index=False):
        base = question.partition("@")[0]
        here = people[people["country"] == study.languages[language]["country"]]
        codes, weights = here[base].to_numpy(dtype=float, na_value=np.nan), here["weight"].to_numpy()
        asked = study.orders[(study.orders["language"] == language) & (study.orders["question_id"] == question)]
        places = {code: place_of(base, code) for code in set(asked["response_value"])}
        is_one = np.isin(codes, [*places])
        values = np.array([places[int(code)] for code in codes[is_one]], dtype=float)
        row = {"language": language, "question_id": base, "n": int(is_one.sum())}
        row |= {"mean": np.average(values, weights=weights[is_one])}
        row["effective_n"] = weights[is_one].sum() ** 2 / (weights[is_one] ** 2).sum()
        row["design_effect"] = row["n"] / row["effective_n"]
        rows.append(row | {"low": min(places.values()), "high": max(places.values())})
    check.equal("human_means", ["language", "question_id"], pd.DataFrame(rows).drop_duplicates())


def of_quality(study: Study, check: Check) -> None:
    """`quality_report/...`: what is used, by reading, question and cell."""
    readings = study.quality
    columns = ["p_valid", "p_valid_forward", "p_valid_reversed", "position_bias_magnitude", "resolution_mass"]
    keys = [*CELL, "question_id"]
    check.equal("quality_report/readings", keys, readings[[*keys, *columns, "is_usable", "is_position_biased"]])
    of_question, of_cell = [], []
    for question, part in readings.groupby("question_id"):
        row = {"question_id": question, "n_cells": len(part), "n_readable": part["is_readable"].sum()}
        row |= {"n_unreliable": part["is_low"].sum(), "median_p_valid": np.median(part["p_valid"])}
        row |= {"share_unreliable": part["share_unreliable"].iloc[0], "is_dropped": part["is_dropped"].iloc[0]}
        of_question.append(row)
    for (model, language), part in readings.groupby(CELL):
        median = float(np.median(part["p_valid"]))
        row = {"model": model, "language": language, "n_questions": len(part), "n_usable": part["is_usable"].sum()}
        row |= {"n_unreliable": part["is_low"].sum(), "n_unreadable": part["p_valid"].isna().sum()}
        row |= {"median_p_valid": median, "share_above_threshold": 1 - part["is_low"].mean()}
        row |= {"mean_position_bias": part["position_bias_magnitude"].mean(), "is_missing": False}
        row |= {"share_position_biased": part["is_position_biased"].mean(), "is_flagged": median < LEAST_MEDIAN}
        of_cell.append(row)
    check.equal("quality_report/questions", ["question_id"], pd.DataFrame(of_question))
    check.equal("quality_report/cells", CELL, pd.DataFrame(of_cell))


def of_question_answers(study: Study, check: Check) -> None:
    """`question_answers/...`: shares of each option, averaged over wordings, where the answer is used."""
    keys, numbers = [*CELL, "question_id"], ["prob_averaged", "prob_forward", "prob_reversed"]
    usable = study.quality[[*keys, "is_usable", "p_valid"]]
    options = study.probe.groupby([*keys, "response_value"], as_index=False)[numbers].mean().merge(usable, on=keys)
    used = options["is_usable"].astype(bool)
    options.loc[~used, numbers] = np.nan
    options = options.rename(columns={"prob_averaged": "prob"})
    columns = ["prob", "prob_forward", "prob_reversed", "p_valid"]
    check.equal("question_answers/options", [*keys, "response_value"], options[[*keys, "response_value", *columns]])
    ordered = study.labels.loc[study.labels["response_type"] != "categorical", ["language", "question_id"]]
    is_ordered = set(ordered.drop_duplicates().itertuples(index=False, name=None))
    rows = []
    for (model, language, question), part in options.groupby(keys):
        row = {"model": model, "language": language, "question_id": question, "prob": part["prob"].max()}
        mean = (part["prob"] * part["response_value"]).sum(min_count=1)
        row |= {"mean_code": mean if (language, question) in is_ordered else np.nan}
        rows.append(row | {"p_valid": part["p_valid"].iloc[0]})
    check.equal("question_answers/answers", keys, pd.DataFrame(rows))


def of_items(study: Study, check: Check) -> None:
    """`item_statistics`: each usable answer in numbers."""
    grid = study.grid
    entropies, far = entropy_bits(grid.answers), w1(grid.places, grid.answers, grid.uniform)
    rows = []
    for (cell, item), entropy in np.ndenumerate(entropies):
        if np.isnan(entropy):
            continue
        n, probs = grid.n_options[item], grid.answers[cell, item]
        probs, codes = probs[:n], grid.codes[item, :n]
        mean = float(np.dot(probs, codes)) if grid.is_ordinal[item] else np.nan
        share = entropy / np.log2(n)
        row = {"model": grid.cells[cell][0], "language": grid.cells[cell][1], "question_id": grid.items[item]}
        row |= {"n_options": n, "expected_value": mean, "entropy_bits": entropy, "entropy_share": share}
        row["expected_value_unit"] = (mean - codes.min()) / np.ptp(codes)
        row["concentration"] = float(np.sum(probs**2))
        even = np.abs(probs - 1 / n).sum() / 2
        row["w1_unit_to_uniform"] = far[cell, item] if grid.is_ordinal[item] else even
        row |= {"p_valid": grid.p_valid[cell, item], "mode": codes[np.argmax(probs)]}
        rows.append(row | {"is_near_uniform": share >= NEAR_UNIFORM})
    check.equal("item_statistics", [*CELL, "question_id"], pd.DataFrame(rows))
