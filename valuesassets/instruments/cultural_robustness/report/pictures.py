"""The figures of cultural robustness, out of its tables: each takes frames alone; what has no rows is not drawn."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from valuesassets.answers.language_codes import scripts_of
from valuesassets.figures import (
    country_profiles,
    diversity_robustness,
    language_map,
    published_and_null,
    status_bars,
)
from valuesassets.figures.backgrounds import has_numbers
from valuesassets.instruments.cultural_robustness.measures.scores import DIVERSITY, ROBUSTNESS
from valuesassets.measure.mds import plane_from_distances
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import parts_of, records, rows, rows_where
from valuesassets.reporting.interval_words import spelled
from valuesassets.reporting.parts import is_absent

PUBLISHED = ("seed_diversity", "seed_robustness", "seed_product", "cd", "cr", "csp", "csp_question")
"""Scores of the seed and its successor."""
RATIOS = (DIVERSITY, ROBUSTNESS)
PLANES = {"culture gain": "culture_gain", "plain distance": "unanchored_distance"}
"""What is laid out as a plane: its name, and the column of `language_pairs`."""
NO_GROUPS = pd.DataFrame(columns=pd.Index(["model", "language", "group"]))
NO_POINTS = ["model", "distance", "language", "script", "x", "y", "stress", "group"]


def draw_seed_and_null(scores: pd.DataFrame, planted: bool = False) -> Figure | None:
    """Published scores, each beside its null."""
    shown = published_scores(scores)
    return published_and_null.draw_published_and_null(shown, planted) if len(shown) else None


def draw_diversity_robustness(scores: pd.DataFrame, planted: bool = False) -> Figure | None:
    """Models by diversity and robustness, those without a point named with the reason."""
    points, without = ratio_points(scores)
    if not len(points) and not without:
        return None
    return diversity_robustness.draw_diversity_robustness(points, without, planted)


def draw_country_profiles(profiles: pd.DataFrame, planted: bool = False) -> Figure | None:
    """How close each language's answers without a country are to those for each country."""
    return country_profiles.draw_country_profiles(profiles, planted) if has_numbers(profiles, "closeness") else None


def draw_language_map(pairs: pd.DataFrame, groups: pd.DataFrame | None, planted: bool = False) -> Figure:
    """Languages as points, near where they answer alike, and the models that have no plane."""
    points, notes = language_points(pairs, NO_GROUPS if groups is None else groups)
    return language_map.draw_language_map(points, planted, notes)


def draw_answer_quality(quality: pd.DataFrame, planted: bool = False) -> Figure:
    """The shares of answers with which something is wrong."""
    return status_bars.draw_answer_quality(status_counts(quality), planted)


def published_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """The rows of published scores, score by score."""
    found = rows(scores, scores["score"].isin(PUBLISHED))
    return found.sort_values("score", key=lambda names: names.map(PUBLISHED.index), kind="stable")


def ratio_points(scores: pd.DataFrame) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """A row for each model that has both ratios, with their ends; and of each other what it has, and why not all."""
    found, without = [], []
    for (model,), part in parts_of(rows(scores, scores["score"].isin(RATIOS)), ["model"]):
        told = {str(row["score"]): row for row in records(part)}
        if all(name in told and not is_absent(told[name]["value"]) for name in RATIOS):
            ends = {f"{name}{end}": told[name][key] for name in RATIOS for end, key in ENDS.items()}
            found.append({"model": model} | ends)
            continue
        without.append((model, "; ".join(_said(told[name]) for name in RATIOS if name in told)))
    columns = ["model", *(f"{name}{end}" for name in RATIOS for end in ENDS)]
    return pd.DataFrame(found, columns=pd.Index(columns)), _reasons_once(without)


ENDS = {"": "value", "_low": "low", "_high": "high"}


def _said(row: dict[str, object]) -> str:
    if is_absent(row["value"]):
        return f"{row['score']} {row['status']}, {row['reason']}"
    return f"{row['score']} {spelled(row['value'], row['low'], row['high'], digits=2)}"


def _reasons_once(without: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same where both ratios have the same reason, said once."""
    found = []
    for model, said in without:
        first, _, second = said.partition("; ")
        both = second and first.partition(" ")[2] == second.partition(" ")[2]
        found.append((model, f"both {first.partition(' ')[2]}" if both else said))
    return found


def pair_square(pairs: pd.DataFrame, name: str) -> tuple[list[str], NDArray[np.float64]]:
    """The languages of one model's pairs, and a column as a symmetric matrix with a zero diagonal."""
    languages = [str(each) for each in dict.fromkeys([*pairs["language"], *pairs["other_language"]])]
    square = np.full((len(languages), len(languages)), np.nan)
    np.fill_diagonal(square, 0.0)
    for row in records(pairs):
        at = languages.index(row["language"]), languages.index(row["other_language"])
        square[at] = square[at[::-1]] = row[name]
    return languages, square


def language_points(pairs: pd.DataFrame, groups: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """A row for each model, plane and language, with its group; and of which models there are no planes, and why."""
    found, notes = [], []
    for (model,), part in parts_of(pairs, ["model"]):
        named = rows_where(groups, model=model)
        group_of = dict(zip(named["language"], named["group"], strict=True))
        for plane, name in PLANES.items():
            languages, square = pair_square(part, name)
            try:
                laid = plane_from_distances(np.sqrt(2 * np.maximum(square, 0)))
            except MissingData:
                notes.append(f"{model} has no plane of {name.replace('_', ' ')}: {_lack(languages)}.")
                continue
            for language, (x, y) in zip(languages, laid.points, strict=True):
                script = " or ".join(scripts_of(language)).title()
                row = {"model": model, "distance": plane, "language": language, "script": script, "x": x, "y": y}
                found.append(row | {"stress": laid.stress, "group": group_of.get(language)})
    return pd.DataFrame(found, columns=pd.Index(NO_POINTS)), notes


def _lack(languages: list[str]) -> str:
    few = len(languages) < 3
    return f"{len(languages)} languages lie on a line" if few else "answers of one kind are not there"


def status_counts(quality: pd.DataFrame) -> pd.DataFrame:
    """How many answers of each status each model has in each language, in their order."""
    by = ["model", "language", "status"]
    counted = quality.groupby(by, sort=False).agg(n=("id", "size")).reset_index()
    order = {name: place for place, name in enumerate(dict.fromkeys(quality["model"]))}
    return counted.sort_values("model", key=lambda models: models.map(order), kind="stable")
