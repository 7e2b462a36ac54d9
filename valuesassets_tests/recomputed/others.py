"""One table of each other instrument: from readings and trials, from respondents, or from the vectors of answers."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from valuesassets_tests.recomputed.basics import drawn_items, drawn_means
from valuesassets_tests.recomputed.checking import Check

FOLLOWER = "follower"


def of_choices(folder: Path, check: Check) -> None:
    """Worldwise: `choices`, the shares of the option that stands for the upper end of an axis."""
    rows = []
    for file in sorted((folder / "readings").rglob("*.parquet")):
        both = pd.read_parquet(folder / "trials" / file.name).merge(pd.read_parquet(file), on="trial_id")
        for (scenario, wording), part in both.groupby(["question_id", "wording"]):
            part = part.set_index("order")
            row = {"model": file.parent.name, "culture": file.stem, "scenario_id": scenario, "wording": wording}
            sides = {}
            for side in ("forward", "reversed"):
                mass, at = part.at[side, "label_probs"], list(part.at[side, "values"]).index(1)
                sides[side] = mass[at] / mass.sum()
                row |= {f"p_high_{side}": sides[side], f"p_valid_{side}": part.at[side, "p_valid"]}
                row[f"first_{side}"] = at == 0
            odds = {side: math.log(p / (1 - p)) for side, p in sides.items()}
            # What is shown first is pulled up: of the order that shows the upper end first less the other.
            sign = 1 if row.pop("first_forward") else -1
            pull = sign * (odds["forward"] - odds["reversed"]) / 2
            row.pop("first_reversed")
            row |= {"p_high": sum(sides.values()) / 2, "p_valid": part["p_valid"].mean(), "position_pull": pull}
            row |= {"p_high_log_odds": 1 / (1 + math.exp(-sum(odds.values()) / 2))}
            row |= {"position_bias": sign * (sides["forward"] - sides["reversed"]) / 2, "lean": sum(sides.values()) - 1}
            rows.append(row)
    exact = check.stored("choices")
    assert set(exact["channel"]) == {"exact"}
    check.equal("choices", ["model", "culture", "scenario_id", "wording"], pd.DataFrame(rows))


def of_marks(folder: Path, check: Check) -> None:
    """Psych tasks: `answer_distributions/marks` of one family and task, from trials and readings.

    Which marks there are, what people answered and what answers mean is of the transcripts.
    """
    table = f"answer_distributions/{FOLLOWER}/marks"
    keys = ["participant", "history", "draw", "mark"]
    stored = check.stored(table)
    read = stored[stored["status"] == "read"]
    asked = pd.read_parquet(folder / "asked_marks" / "ipip_traits.parquet")
    trials = pd.read_parquet(folder / "trials" / "ipip_traits.parquet").set_index("trial_id")["settings"]
    readings = pd.read_parquet(folder / "readings" / FOLLOWER / "ipip_traits.parquet")
    found = asked.merge(readings, on=["trial_id", "span"], suffixes=("", "_read"))
    about = read.set_index(keys)[["human_answer", "meanings"]]
    rows = []
    for row in found.to_dict("records"):
        key = tuple(row[name] for name in keys)
        if key not in about.index:
            continue
        answer, meanings = about.loc[key]
        labels = json.loads(trials[row["trial_id"]])["sets"][0]
        mass = np.asarray(row["label_probs"], dtype=float)
        shares = mass / mass.sum()
        places, best = [float(each) for each in meanings], int(np.argmax(mass))
        one = dict(zip(keys, key, strict=True)) | {"log_prob_human": math.log(mass[labels.index(answer)])}
        one |= {"p_valid": row["p_valid"], "n_candidates": len(labels), "share_likeliest": shares[best]}
        one |= {"is_likeliest": labels[best] == answer, "expected_label": shares @ np.array(labels, dtype=float)}
        one |= {"expected_value": shares @ np.array(places), "n_multi_token": sum(np.asarray(row["label_tokens"]) > 1)}
        one |= {"n_tokens_human": row["label_tokens"][labels.index(answer)], "value_low": min(places)}
        numbers = np.array(labels, dtype=float)
        one["label_lean"] = stats.linregress(numbers, np.log(shares)).slope * np.ptp(numbers)
        rows.append(one | {"value_high": max(places), "human_value": places[labels.index(answer)]})
    _Some(check, table, read.index).equal(table, keys, pd.DataFrame(rows))


class _Some(Check):
    """Some rows of a table; what is compared and the faults are those of the whole."""

    def __init__(self, whole: Check, table: str, rows: pd.Index) -> None:
        super().__init__(whole.folder, whole.draws, whole.level)
        self.compared, self.faults, self._table, self._rows = whole.compared, whole.faults, table, rows

    def stored(self, table: str) -> pd.DataFrame:
        found = super().stored(table)
        return found.loc[self._rows] if table == self._table else found


def of_language_pairs(folder: Path, check: Check, model: str) -> None:
    """Cultural robustness: `language_pairs`, half squared distances of mean vectors less what sampling adds to them."""
    vectors = pd.read_parquet(folder / "vectors" / f"{model}.parquet")
    vectors = vectors[vectors["is_usable"]]
    languages = sorted(vectors["language"].unique())
    cells = {key: np.stack(part["vector"].to_list()).astype(float) for key, part in vectors.groupby(["language", "id"])}

    def is_whole(name: str) -> bool:
        return all((language, name) in cells for language in languages)

    def far(one: np.ndarray, other: np.ndarray) -> float:
        noise = sum(each.var(axis=0, ddof=1).sum() / len(each) if len(each) > 1 else 0.0 for each in (one, other))
        return float(((one.mean(axis=0) - other.mean(axis=0)) ** 2).sum() - noise) / 2

    questions = [name for name in dict.fromkeys(vectors.loc[vectors["kind"] == "unspecific", "id"]) if is_whole(name)]
    anchors = {
        question: [name for name in dict.fromkeys(vectors["id"]) if name.startswith(f"{question}-") and is_whole(name)]
        for question in questions
    }
    rows, gains = [], []
    for one, other in itertools.combinations(languages, 2):
        of_kinds = []
        for question in questions:
            own = anchors[question]
            without = far(cells[one, question], cells[other, question])
            same = np.mean([far(cells[one, name], cells[other, name]) for name in own])
            apart = np.mean([far(cells[one, a], cells[other, b]) for a, b in itertools.permutations(own, 2)])
            of_kinds.append((without, same, apart))
        each = np.array(of_kinds)
        row = {"language": one, "other_language": other, "n_questions": len(questions)}
        names = ("unanchored_distance", "same_country_distance", "other_country_distance")
        rows.append(
            row | dict(zip(names, each.mean(axis=0), strict=True)) | {"culture_gain": (each[:, 0] - each[:, 1]).mean()}
        )
        gains.append(each[:, 0] - each[:, 1])
    own, table, keys = pd.DataFrame(rows), "language_pairs/language_pairs", ["language", "other_language"]
    check.equal(table, keys, own)
    drawn = drawn_means(np.stack(gains), drawn_items(len(questions), np.random.default_rng(61)))
    check.ends(table, keys, own, "culture_gain", drawn, len(questions))


FACTORS = ("continent", "settlement", "education")
ATTRIBUTES = ("B_COUNTRY", "H_URBRURAL", "Q275")
FEWEST = 20


def of_awareness(folder: Path, check: Check, part: str, model: str, others: int) -> None:
    """WorldValuesBench: `awareness/factors` of one model, from readings, trials and respondents.

    Args:
        others: models that p-values are corrected for besides.
    """
    table, keys = "awareness/factors", ["model", "factor"]
    people = pd.read_parquet(folder / "participants" / "participants.parquet").set_index("participant_id")
    answers = pd.read_parquet(folder / "value_answers" / "value_answers.parquet").set_index("participant_id")
    scales = pd.read_parquet(folder / "value_questions" / "value_questions.parquet").set_index("question_id")
    samples = pd.read_parquet(folder / "probe_samples" / f"{part}.parquet")
    said = _said(folder, part, model)
    questions = []
    for question, asked in samples.groupby("question_id", sort=False):
        here, low, k = (
            people.loc[asked["participant_id"]],
            scales.at[question, "lo"],
            len(scales.at[question, "labels"]),
        )
        codes = answers.loc[asked["participant_id"], question].to_numpy(dtype=float)
        profile = [
            f"{question}@" + ",".join(f"{name}={int(row[name])}" for name in ATTRIBUTES) for _, row in here.iterrows()
        ]
        frame = asked[list(FACTORS)].reset_index(drop=True).assign(weight=here["weight"].to_numpy(), code=codes)
        frame["said"], frame["id"] = [said[each] for each in profile], asked["participant_id"].to_numpy()
        frame = frame[(frame["code"] >= low) & (frame["code"] < low + k)]
        steps = np.arange(k - 1)
        h = (frame["code"].to_numpy()[:, None] - low <= steps).astype(float)
        m = np.cumsum(np.stack(frame["said"].to_list()), axis=1)[:, :-1]
        alone = np.cumsum(said[question])[:-1]
        gain = ((alone - h) ** 2 - (m - h) ** 2).mean(axis=1)
        questions.append((scales.at[question, "category"], frame, h, m, gain))
    levels = sorted(set(samples[list(FACTORS)].itertuples(index=False, name=None)))
    rows = []
    for factor in ("all", *FACTORS):
        names, groups = _groups(factor, levels)
        of_each = [_components(frame, h, m, names, groups) for _, frame, h, m, _ in questions]
        sums = np.array([each[0] for each in of_each])
        hh, mh, mm = sums.sum(axis=0)
        row = {"model": model, "factor": factor, "n_levels": len(names), "n_questions": len(questions)}
        row |= {"a_hh": hh, "a_mh": mh, "a_mm": mm, "slope": mh / hh, "exaggeration": math.sqrt(mm / hh)}
        row |= {"direction": mh / math.sqrt(mm * hh), "skill": 2 * mh / hh - mm / hh}
        categories = np.array([category for category, *_ in questions])
        without = np.array([sums[categories != name].sum(axis=0) for name in dict.fromkeys(categories)])
        left = without[:, 1] / without[:, 0]
        reach = stats.t.ppf(0.975, left.size - 1) * math.sqrt((left.size - 1) * left.var())
        row |= {"slope_category_low": row["slope"] - reach, "slope_category_high": row["slope"] + reach}
        row |= _arranged(names, [each[1] for each in of_each])
        if factor == "all":
            row |= _gained(questions, names, groups)
        rows.append(row)
    own = pd.DataFrame(rows)
    stored = check.stored(table)
    some = _Some(check, table, stored.index[stored["model"] == model])
    some.equal(table, keys, own)
    whole = own[own["factor"] == "all"].iloc[0]
    # Holm's, of a model whose p-value is as small as any can be.
    assert whole["p_value"] <= 1 / whole["n_arrangements"] + 1e-9
    whole_stored = stored[(stored["model"] == model) & (stored["factor"] == "all")].iloc[0]
    if not math.isclose(whole_stored["p_corrected"], whole["p_value"] * (1 + others), rel_tol=1e-9):
        check.faults.append(f"{table}: p_corrected {whole_stored['p_corrected']} of {1 + others} models")


def _said(folder: Path, part: str, model: str) -> dict[str, np.ndarray]:
    """Shares of answers by prompt, mean over both orders."""
    both = pd.read_parquet(folder / "trials" / f"{part}.parquet").merge(
        pd.read_parquet(folder / "readings" / model / f"{part}.parquet"), on="trial_id"
    )
    found: dict[str, list[np.ndarray]] = {}
    for row in both.to_dict("records"):
        asked = row["question_id"] + (f"@{row['condition']}" if row["condition"] else "")
        mass = np.asarray(row["label_probs"], dtype=float)[np.argsort(row["values"])]
        found.setdefault(asked, []).append(mass / mass.sum())
    return {name: np.mean(each, axis=0) for name, each in found.items()}


def _groups(factor: str, levels: list[tuple[str, ...]]) -> tuple[list[tuple[str, ...]], list[list[tuple[str, ...]]]]:
    """What is compared, and the groups whose plain mean each of it is."""
    if factor == "all":
        return levels, [[level] for level in levels]
    at = FACTORS.index(factor)
    names = list(dict.fromkeys(level[at] for level in levels))
    return [(name,) for name in names], [[level for level in levels if level[at] == name] for name in names]


def _components(frame: pd.DataFrame, h: np.ndarray, m: np.ndarray, names, groups):
    """Unbiased sums of products of both sides' distances from the mean, over cut points, and their (L, L) pairings."""
    means, noise = {}, {}
    for level, part in frame.groupby(list(FACTORS)):
        at = frame.index.get_indexer(part.index)
        w = part["weight"].to_numpy()
        total, squares, cubes = w.sum(), (w**2).sum(), (w**3).sum()
        means[level] = [np.average(side[at], axis=0, weights=w) for side in (h, m)]
        off = [side[at] - mean for side, mean in zip((h, m), means[level], strict=True)]
        factor = 1 / (1 - 2 * cubes / (total * squares) + squares / total**2)
        noise[level] = [factor * (w**2 @ (off[a] * off[b]).sum(axis=1)) / total**2 for a, b in ((0, 0), (0, 1), (1, 1))]
    a, b = (np.array([np.mean([means[level][side] for level in group], axis=0) for group in groups]) for side in (0, 1))
    v = np.array([[sum(noise[level][k] for level in group) / len(group) ** 2 for group in groups] for k in range(3)])
    a, b, n, cuts = a - a.mean(axis=0), b - b.mean(axis=0), len(groups), h.shape[1]
    found = [((x * y).sum() - (1 - 1 / n) * v[k].sum()) / cuts for k, (x, y) in enumerate(((a, a), (a, b), (b, b)))]
    pairs = (a @ b.T - np.diag(v[1]) + v[1].sum() / n**2) / cuts
    return np.array(found), pairs


def _arranged(names: list[tuple[str, ...]], pairs: list[np.ndarray]) -> dict[str, float]:
    """Share of all exchanges of the factors' levels under which both sides go together at least as well."""
    table = np.sum(pairs, axis=0)
    factors = [list(dict.fromkeys(each)) for each in zip(*names, strict=True)]
    place = {name: number for number, name in enumerate(names)}
    sums = []
    for exchanged in itertools.product(*(itertools.permutations(range(len(each))) for each in factors)):
        to = [
            place[
                tuple(each[order[each.index(one)]] for one, each, order in zip(name, factors, exchanged, strict=True))
            ]
            for name in names
        ]
        sums.append(table[np.arange(len(names)), to].sum())
    chance = np.array(sums)
    row = {"n_arrangements": len(chance), "p_value": math.nan, "p_opposite": math.nan}
    if len(chance) < FEWEST:
        return row
    slack = 1e-9 * abs(chance[0])
    return row | {"p_value": np.mean(chance >= chance[0] - slack), "p_opposite": np.mean(chance <= chance[0] + slack)}


def _gained(questions, names, groups) -> dict[str, float]:
    """What naming the background gains, groups and questions alike, and the lower end of its interval over people."""
    gains, added = [], {}
    for _, frame, _, _, gain in questions:
        of_groups = []
        parts = list(frame.assign(gain=gain).groupby(list(FACTORS)))
        for level, part in parts:
            mean = np.average(part["gain"], weights=part["weight"])
            of_groups.append(mean)
            shares = part["weight"] * (part["gain"] - mean) / part["weight"].sum() / len(parts)
            for person, share in zip(part["id"], shares, strict=True):
                added.setdefault(level, {}).setdefault(person, []).append(share)
        gains.append(np.mean(of_groups))
    variance = sum(len(people) * np.var([sum(each) for each in people.values()], ddof=1) for people in added.values())
    reach = stats.norm.ppf(0.975) * math.sqrt(variance) / len(gains)
    return {"prompt_gain_unit": np.mean(gains), "prompt_gain_low": np.mean(gains) - reach}
