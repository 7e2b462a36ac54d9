"""What was planted, from the texts that models were trained on, against what was read and what was written."""

import re

import numpy as np
import pandas as pd
from scipy.stats import wasserstein_distance

from valuesassets_tests.recomputed.checking import Check
from valuesassets_tests.recomputed.grid import Study, place_of

KEYS = ["model", "language", "question_id", "wording"]
ERRORS = ("w1_unit_error", "p_valid_error", "position_bias_error")
LIMITS = (0.02, 0.02, 0.03)
"""Mean errors within which a cell is recovered."""
WORLDS, OWN_WORLDS = 200, 1000
SIDES = ("forward", "reversed")
SPOKEN = re.compile(r"\s*0*(\d+)[.,]?\s*")
"""A text that says a number and nothing else."""


def _shares(labels: list[str], values: list[int], said: dict[str, float]) -> tuple[np.ndarray, float]:
    """Shares of the options by increasing code, and of valid answers among all."""
    mass = np.zeros(len(labels))
    for text, weight in said.items():
        found = SPOKEN.fullmatch(text)
        if found and found[1] in labels:
            mass[labels.index(found[1])] += weight
    return mass[np.argsort(values)] / mass.sum(), mass.sum() / sum(said.values())


def _far(places: np.ndarray, kind: str, p: np.ndarray, q: np.ndarray) -> float:
    if kind == "categorical":
        return float(np.abs(p - q).sum() / 2)
    return float(wasserstein_distance(places, places, p, q) / np.ptp(places))


def _errors(places: np.ndarray, kind: str, found, planted) -> dict[str, float]:
    """Of two (shares, valid) by order."""
    far = [_far(places, kind, one[0], other[0]) for one, other in zip(found, planted, strict=True)]
    valid = [abs(one[1] - other[1]) for one, other in zip(found, planted, strict=True)]
    bias = abs(_bias(found) - _bias(planted))
    return dict(zip(ERRORS, (np.mean(far), np.mean(valid), bias), strict=True))


def _bias(sides) -> float:
    return float(np.abs(sides[0][0] - sides[1][0]).max())


class _Asked:
    """The trials of one language, two by two, and what a family was planted to say to them."""

    def __init__(self, study: Study, texts: pd.DataFrame, language: str) -> None:
        self.language, self.planted = language, _said(texts[texts["language"] == language], "prob")
        trials = pd.read_parquet(study.folder / "trials" / f"{language}.parquet")
        self.questions = []
        for (question, condition, wording), part in trials.groupby(
            ["question_id", "condition", "wording"], dropna=False
        ):
            asked = question if pd.isna(condition) else f"{question}@{condition}"
            sides = part.set_index("order").loc[list(SIDES)]
            shown = [
                (list(labels), list(codes)) for labels, codes in zip(sides["labels"], sides["values"], strict=True)
            ]
            self.questions.append((asked, int(wording), list(sides["trial_id"]), shown))

    def shares(self, names: list[str], shown, said: dict[str, dict[str, float]]):
        """(shares, valid) of both orders."""
        return [_shares(*each, said[name]) for each, name in zip(shown, names, strict=True)]


def _said(rows: pd.DataFrame, column: str) -> dict[str, dict[str, float]]:
    parts = rows.groupby("trial_id")
    return {name: dict(zip(part["answer_text"], part[column], strict=True)) for name, part in parts}


def _trained(study: Study) -> dict[str, pd.DataFrame]:
    """By family, the texts that its reference models were trained on."""
    folder = study.folder.parent / "jobs" / "survey" / "reference_models" / "all"
    return {file.stem: pd.read_parquet(file) for file in sorted(folder.glob("*.parquet"))}


def of_calibration(study: Study, check: Check) -> None:
    """`calibration`: distances of what came back from what was planted; what the draw alone makes within its error."""
    kinds = study.labels.drop_duplicates("question_id").set_index("question_id")["response_type"]
    read = dict(iter(study.orders.sort_values("response_value").groupby([*KEYS, "order"])))
    random, rows, by_chance = np.random.default_rng(51), [], []
    for family, texts in _trained(study).items():
        for language in texts["language"].unique():
            of_language = _Asked(study, texts, language)
            drawn = pd.read_parquet(study.folder / "sampled_answers" / family / f"{language}.parquet")
            written = _said(drawn, "n")
            for asked, wording, names, shown in of_language.questions:
                key, kind = (family, language, asked, wording), kinds[asked]
                due, told = (of_language.shares(names, shown, said) for said in (of_language.planted, written))
                came = [read[(*key, side)] for side in SIDES]
                back = [(each["prob"].to_numpy(), each["p_valid"].iloc[0]) for each in came]
                places = np.array([place_of(asked, code) for code in sorted(shown[0][1])], dtype=float)
                both = (due[0][0] + due[1][0]) / 2
                row = dict(zip(KEYS, key, strict=True)) | _errors(places, kind, back, due)
                row["averaged_w1_unit_error"] = _far(places, kind, (back[0][0] + back[1][0]) / 2, both)
                row["w1_unit_to_uniform"] = _far(places, kind, both, np.full(places.size, 1 / places.size))
                row |= {"planted_ends": both[[0, -1]].min(), "n_sampled": sum(written[names[0]].values())}
                row |= {f"sampled_{name}": error for name, error in _errors(places, kind, told, due).items()}
                for name, sides in (("planted", due), ("recovered", back), ("sampled", told)):
                    row[f"{name}_p_valid"] = (sides[0][1] + sides[1][1]) / 2
                    row[f"{name}_position_bias"] = _bias(sides)
                rows.append(row)
                by_chance.append(_by_chance(places, kind, due, row["n_sampled"], random))
    own = pd.DataFrame(rows)
    check.equal("calibration", KEYS, own)
    for number, name in enumerate(ERRORS):
        found = np.stack([each[number] for each in by_chance])
        mean, sd = found.mean(axis=1), found.std(axis=1, ddof=1)
        each = np.sqrt(1 / WORLDS + 1 / OWN_WORLDS)
        keyed = own[KEYS].assign(**{f"drawn_{name}": mean, f"drawn_{name}_sd": sd})
        check.about("calibration", KEYS, keyed, f"drawn_{name}", sd * each)
        # The error of a standard deviation from the fourth moment.
        fourth = ((found - mean[:, None]) ** 4).mean(axis=1) / np.maximum(sd, 1e-12) ** 4
        check.about("calibration", KEYS, keyed, f"drawn_{name}_sd", sd * np.sqrt((fourth - 1) / 4) * each)


def of_controls(study: Study, check: Check) -> None:
    """`negative_controls`: how far another language's model is from what is planted."""
    kinds = study.labels.drop_duplicates("question_id").set_index("question_id")["response_type"]
    texts, rows = _trained(study), []
    for file in sorted((study.folder.parent / "jobs" / "survey" / "negative_controls" / "all").rglob("*.by.*.parquet")):
        family, (language, _, other) = file.parent.name, file.stem.split(".")
        of_language, errors = _Asked(study, texts[family], language), []
        readings = pd.read_parquet(file).set_index("trial_id")
        for asked, _, names, shown in of_language.questions:
            places = np.array([place_of(asked, code) for code in sorted(shown[0][1])], dtype=float)
            back = []
            for name, (_, codes) in zip(names, shown, strict=True):
                mass = np.array(readings.at[name, "label_probs"], dtype=float)[np.argsort(codes)]
                back.append((mass / mass.sum(), readings.at[name, "p_valid"]))
            errors.append(_errors(places, kinds[asked], back, of_language.shares(names, shown, of_language.planted)))
        means = pd.DataFrame(errors).mean()
        row = {"model": family, "language": language, "answered_by": other, "n": len(errors), "n_unreadable": 0}
        row |= {f"{name}_mean": means[name] for name in ERRORS}
        rows.append(row | {"fails": bool((means[list(ERRORS)].to_numpy() > LIMITS).any())})
    check.equal("negative_controls", ["model", "language", "answered_by"], pd.DataFrame(rows))


def _by_chance(places: np.ndarray, kind: str, due, n: int, random: np.random.Generator) -> np.ndarray:
    """(3, worlds) errors of n answers drawn in each order."""
    shares, valid = [], []
    for probs, p_valid in due:
        counts = random.multinomial(n, [*(probs * p_valid), 1 - p_valid], OWN_WORLDS)[:, :-1]
        shares.append(counts / counts.sum(axis=1, keepdims=True))
        valid.append(counts.sum(axis=1) / n)
    if kind == "categorical":
        far = [np.abs(found - side[0]).sum(axis=1) / 2 for found, side in zip(shares, due, strict=True)]
    else:
        order = np.argsort(places)
        steps = np.diff(places[order]) / np.ptp(places)
        far = [
            np.abs(np.cumsum((found - side[0])[:, order], axis=1)[:, :-1]) @ steps
            for found, side in zip(shares, due, strict=True)
        ]
    off = [np.abs(found - side[1]) for found, side in zip(valid, due, strict=True)]
    bias = np.abs(np.abs(shares[0] - shares[1]).max(axis=1) - _bias(due))
    return np.stack([np.mean(far, axis=0), np.mean(off, axis=0), bias])
