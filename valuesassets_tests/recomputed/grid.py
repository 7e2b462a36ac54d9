"""Answers of models and of people, from readings, trials and respondents, as arrays over the same items."""

import json
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

LEAST_P_VALID, LEAST_MEDIAN, MOST_DROPPED, MOST_BIAS, LEAST_MASS = 0.10, 0.20, 0.50, 0.20, 0.80
"""The rules of quality where a study names none: what docs/study_file.md gives."""
RELIABLE, MAP_INDICATORS = 0.50, 6
PLACES = {"v113": {1: 1, 2: 3, 3: 2}, "v114": {1: 1, 2: 3, 3: 2}}
"""Codes that do not stand in the order of what they mean: good, bad, don't mind."""
DONT_KNOW = (-1, -2, -5)
"""No answer to a question that was asked: not known, refused, another answer."""
DRAWS, LEVEL = 2000, 0.95


def place_of(question: str, code: int) -> int:
    """Where an answer code stands on the scale that is analysed."""
    return PLACES.get(question.partition("@")[0], {}).get(int(code), int(code))


@dataclass
class Study:
    """A study that was run, its files below one folder."""

    file: Path
    storage: Path
    about: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.about = tomllib.loads(self.file.read_text(encoding="utf-8"))

    @property
    def folder(self) -> Path:
        """Of the survey."""
        return self.storage / self.about["name"] / "survey"

    @property
    def draws(self) -> int:
        """For each interval and p-value."""
        return self.about.get("inference", {}).get("resamples", DRAWS)

    @property
    def languages(self) -> dict[str, dict[str, str]]:
        """By code, as the study file has them."""
        return self.about["languages"]

    def table(self, name: str) -> pd.DataFrame:
        """A stored table of the survey."""
        return pd.read_parquet(self.folder / name / f"{name}.parquet")

    @cached_property
    def orders(self) -> pd.DataFrame:
        """One row per (cell, question, wording, order, answer): its share, and p_valid and mass of the reading."""
        parts = []
        for file in sorted((self.folder / "readings").rglob("*.parquet")):
            model, language = file.parent.name, file.stem
            trials = pd.read_parquet(self.folder / "trials" / f"{language}.parquet")
            trials = trials[trials["estimator"].isna()]
            both = trials.merge(pd.read_parquet(file), on="trial_id", suffixes=("", "_read"))
            assert len(both) == len(trials), f"{file}: a trial has no reading"
            parts.append(both.assign(model=model, language=language))
        rows = []
        for row in pd.concat(parts).to_dict("records"):
            asked = row["question_id"] + (f"@{row['condition']}" if row["condition"] else "")
            shared = {name: row[name] for name in ("model", "language", "wording", "order", "p_valid", "status")}
            shared |= {"question_id": asked, "resolution_mass": row["resolution_mass"], "kind": row["readout"]}
            mass = np.asarray(row["label_probs"], dtype=float)
            for code, one in zip(row["values"], mass / mass.sum(), strict=True):
                rows.append(shared | {"response_value": int(code), "prob": one})
        return pd.DataFrame(rows)

    @cached_property
    def probe(self) -> pd.DataFrame:
        """Answers of both orders and their average, one row per (cell, question, wording, answer)."""
        assert set(self.orders["order"]) == {"forward", "reversed"}, "orders that are averaged otherwise"
        keys = ["model", "language", "question_id", "wording"]
        wide = self.orders.pivot(index=[*keys, "response_value"], columns="order", values=["prob", "p_valid"])
        wide.columns = ["_".join(each) for each in wide.columns]
        probe = wide.reset_index()
        probe["prob_averaged"] = (probe["prob_forward"] + probe["prob_reversed"]) / 2
        probe["p_valid"] = (probe["p_valid_forward"] + probe["p_valid_reversed"]) / 2
        probe["apart"] = (probe["prob_forward"] - probe["prob_reversed"]).abs()
        probe["position_bias_magnitude"] = probe.groupby(keys)["apart"].transform("max")
        mass = self.orders.groupby(keys)["resolution_mass"].mean().rename("resolution_mass").reset_index()
        probe = probe.merge(mass, on=keys).drop(columns="apart")
        places = [place_of(*each) for each in zip(probe["question_id"], probe["response_value"], strict=True)]
        return probe.assign(analysis_value=places)

    @cached_property
    def labels(self) -> pd.DataFrame:
        """What the material says of each (cell, question): response type, and whether a list item was asked alone."""
        files = sorted((self.folder / "probe_distributions").rglob("*.parquet"))
        columns = ["model", "language", "question_id", "response_type", "is_converted", "model_type"]
        return pd.concat([pd.read_parquet(file, columns=columns) for file in files]).drop_duplicates()

    @cached_property
    def quality(self) -> pd.DataFrame:
        """One row per (cell, question), wordings averaged: whether its answer is used."""
        numbers = ["p_valid", "p_valid_forward", "p_valid_reversed", "position_bias_magnitude", "resolution_mass"]
        keys = ["model", "language", "question_id"]
        once = self.probe.drop_duplicates([*keys, "wording"]).groupby(keys)[numbers].mean().reset_index()
        once["is_low"] = once["p_valid"] < LEAST_P_VALID
        once["is_vague"] = once["resolution_mass"] < LEAST_MASS
        once["is_readable"] = once.groupby(["model", "language"])["p_valid"].transform("median") >= LEAST_MEDIAN
        questions = []
        for question, part in once.groupby("question_id"):
            deciding = part[part["is_readable"]] if part["is_readable"].any() else part
            questions.append((question, deciding["is_low"].mean()))
        shares = pd.DataFrame(questions, columns=["question_id", "share_unreliable"])
        once = once.merge(shares, on="question_id")
        once["is_dropped"] = once["share_unreliable"] > MOST_DROPPED
        once["is_usable"] = ~(once["is_low"] | once["is_vague"] | once["is_dropped"])
        return once.assign(is_position_biased=once["position_bias_magnitude"] > MOST_BIAS)

    @cached_property
    def grid(self) -> "Grid":
        """The usable answers as arrays."""
        return Grid(self)

    @cached_property
    def respondents(self) -> pd.DataFrame:
        """The table of people."""
        return self.table("respondents")

    @cached_property
    def people(self) -> pd.DataFrame:
        """Weighted shares of answers, one row per (country, language, question, answer)."""
        asked = self.orders.drop_duplicates(["language", "question_id", "response_value"])
        rows = []
        for (language, question), part in asked.groupby(["language", "question_id"]):
            country = self.languages[language]["country"]
            people = self.respondents[self.respondents["country"] == country]
            name, _, condition = question.partition("@")
            if condition:
                earlier, _, chosen = condition.partition("=")
                people = people[people[earlier] == int(chosen)]
            codes, weights = people[name].to_numpy(dtype=float, na_value=np.nan), people["weight"].to_numpy()
            answered, silent = codes > 0, np.isin(codes, DONT_KNOW)
            given = weights[answered].sum()
            shared = {"country": country, "language": language, "question_id": question, "n": int(answered.sum())}
            shared |= {"weighted_n": given, "dk_rate": weights[silent].sum() / (given + weights[silent].sum())}
            squares = (weights[answered] ** 2).sum()
            shared["design_effect"] = answered.sum() * squares / given**2
            shared["effective_n"] = given**2 / squares
            for code in sorted(part["response_value"]):
                share = weights[codes == code].sum() / given
                here = {"response_value": code, "analysis_value": place_of(question, code), "prob": share}
                rows.append(shared | here)
        return pd.DataFrame(rows)


FEWEST_RESPONDENTS = 50
"""Over the design effect: what fewer people of a country answered is left out there."""


class Grid:
    """Usable answers of C cells and of N countries over I items, answers in the order of the analysis scale.

    Attributes:
        cells: (model, language).
        items, types: of each item its id and response type.
        codes: (I, K), NaN beyond an item's options.
        sides: (2, W, C, I, K) forward and reversed by wording; answers: (C, I, K) averaged; NaN where missing.
        converted: (C, I); p_valid: (C, I).
        countries, people: (N, I, K); effective_n, dk_rate: (N, I).
        own: (C,) place of each cell's country.
    """

    def __init__(self, study: Study) -> None:
        keys = ["model", "language", "question_id"]
        usable = study.quality.loc[study.quality["is_usable"], keys]
        rows = study.probe.merge(usable, on=keys).merge(study.labels, on=keys)
        self.cells = list(dict.fromkeys(zip(rows["model"], rows["language"], strict=True)))
        self.models, self.languages = ([*dict.fromkeys(each)] for each in zip(*self.cells, strict=True))
        self.items = list(dict.fromkeys(rows["question_id"]))
        of_item = dict(iter(rows.groupby("question_id")))
        self.types = [of_item[item]["response_type"].iloc[0] for item in self.items]
        scales = [_commonest_scale(of_item[item]) for item in self.items]
        self.codes = np.full((len(scales), max(map(len, scales))), np.nan)
        for place, scale in enumerate(scales):
            self.codes[place, : len(scale)] = scale
        self.is_ordinal = np.array([kind != "categorical" for kind in self.types])
        self.n_options = np.isfinite(self.codes).sum(axis=1)
        wordings = sorted(set(rows["wording"]))
        shape = (2, len(wordings), len(self.cells), *self.codes.shape)
        self.sides = np.full(shape, np.nan)
        self.p_valid, self.converted = np.full(shape[2:4], np.nan), np.zeros(shape[2:4], dtype=bool)
        for (model, language, item, wording), part in rows.groupby([*keys, "wording"]):
            cell, at = self.cells.index((model, language)), self.items.index(item)
            part = part.sort_values("analysis_value")
            assert part["analysis_value"].tolist() == scales[at], f"{model}/{language}, {item}: another scale"
            for side, name in enumerate(("prob_forward", "prob_reversed")):
                self.sides[side, wordings.index(wording), cell, at] = 0
                self.sides[side, wordings.index(wording), cell, at, : len(part)] = part[name]
            self.converted[cell, at] = part["is_converted"].iloc[0]
        of_cells = study.quality.set_index(keys)["p_valid"]
        for cell, at in np.ndindex(self.p_valid.shape):
            if np.isfinite(self.sides[0, 0, cell, at, 0]):
                self.p_valid[cell, at] = of_cells[(*self.cells[cell], self.items[at])]
        self.answers = self.sides.mean(axis=(0, 1))
        self.listed_ends = np.array([_listed_ends(of_item[item]) for item in self.items])
        self._add_people(study)
        self.own = np.array([self.countries.index(study.languages[each]["country"]) for _, each in self.cells])

    def _add_people(self, study: Study) -> None:
        first = study.people[study.people["question_id"].isin(self.items)]
        self.countries = list(dict.fromkeys(each["country"] for each in study.languages.values()))
        self.people = np.full((len(self.countries), *self.codes.shape), np.nan)
        self.effective_n, self.dk_rate = (np.full(self.people.shape[:2], np.nan) for _ in range(2))
        for (country, item), part in first.groupby(["country", "question_id"]):
            if part["n"].iloc[0] / part["design_effect"].iloc[0] < FEWEST_RESPONDENTS:
                continue
            at = self.countries.index(country), self.items.index(item)
            part = part[part["language"] == part["language"].iloc[0]].sort_values("analysis_value")
            self.people[at] = 0
            self.people[(*at, slice(len(part)))] = part["prob"]
            self.effective_n[at] = part["n"].iloc[0] / part["design_effect"].iloc[0]
            self.dk_rate[at] = part["dk_rate"].iloc[0]

    @property
    def places(self) -> np.ndarray:
        """(I, K) the codes of items with an order; NaN elsewhere."""
        return np.where(self.is_ordinal[:, None], self.codes, np.nan)

    @property
    def unit(self) -> np.ndarray:
        """(I, K) the same from 0 to 1."""
        low, high = np.nanmin(self.codes, axis=1)[:, None], np.nanmax(self.codes, axis=1)[:, None]
        return np.where(self.is_ordinal[:, None], (self.codes - low) / (high - low), np.nan)

    def expected(self, answers: np.ndarray) -> np.ndarray:
        """(..., I) mean answers of (..., I, K) on a scale from 0 to 1; NaN without an order or an answer."""
        on_scale = np.where(np.isfinite(self.unit), self.unit, 0)
        return np.where(self.is_ordinal, (answers * on_scale).sum(axis=-1), np.nan)

    @property
    def uniform(self) -> np.ndarray:
        """(I, K) even chances."""
        return np.where(np.isfinite(self.codes), 1.0, 0.0) / self.n_options[:, None]

    @property
    def first(self) -> np.ndarray:
        """(I, K) whatever stands first, in both orders."""
        found = np.zeros(self.codes.shape)
        for place, (low, high) in enumerate(self.listed_ends):
            found[place, self.codes[place] == low] += 0.5
            found[place, self.codes[place] == high] += 0.5
        return found

    @property
    def in_level(self) -> np.ndarray:
        """(C, I, K) answers without list items that were asked as statements."""
        return np.where(self.converted[:, :, None], np.nan, self.answers)

    def of(self, model: str) -> list[int]:
        """Where a family's cells stand."""
        return [place for place, (name, _) in enumerate(self.cells) if name == model]


def _commonest_scale(rows: pd.DataFrame) -> list[float]:
    scales = [tuple(sorted(set(part["analysis_value"]))) for _, part in rows.groupby(["model", "language"])]
    return list(map(float, Counter(scales).most_common(1)[0][0]))


def _listed_ends(rows: pd.DataFrame) -> tuple[float, float]:
    """Where the first and the last option listed stand on the analysis scale."""
    by_code = rows.drop_duplicates("response_value").sort_values("response_value")["analysis_value"]
    return float(by_code.iloc[0]), float(by_code.iloc[-1])


def json_of(path: Path) -> Any:
    """A stored file of plain values."""
    return json.loads(path.read_text(encoding="utf-8"))
