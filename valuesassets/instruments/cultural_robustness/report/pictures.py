"""The figures of cultural robustness, out of its tables: each takes frames alone; what has no rows is not drawn."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from valuesassets.answers.language_codes import scripts_of
from valuesassets.figures import (
    country_profiles,
    diversity_robustness,
    language_map,
    published_and_null,
    status_bars,
)
from valuesassets.figures.backgrounds import has_numbers
from valuesassets.instruments.cultural_robustness.measures.language_pairs import pair_square
from valuesassets.instruments.cultural_robustness.measures.scores import DIVERSITY, ROBUSTNESS
from valuesassets.measure.mds import plane_from_distances
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import parts_of, records, rows, rows_where
from valuesassets.reporting.interval_words import spelled
from valuesassets.reporting.parts import is_absent

PUBLISHED = ("seed_diversity", "seed_robustness", "seed_product", "cd", "cr", "csp", "csp_question")
"""Scores of published code."""
RATIOS = (DIVERSITY, ROBUSTNESS)
PLANES = {"culture gain": "culture_gain", "plain distance": "unanchored_distance"}
"""What is laid out as a plane: its name, and the column of `language_pairs`."""
NO_GROUPS = pd.DataFrame(columns=pd.Index(["model", "language", "group"]))
NO_POINTS = ["model", "distance", "language", "script", "x", "y", "stress", "group"]


def draw_seed_and_null(scores: pd.DataFrame, planted: bool = False) -> Figure | None:
    """Published scores, each beside its null."""
    published = published_rows(scores)
    return published_and_null.draw_published_and_null(published, planted) if len(published) else None


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


def published_rows(scores: pd.DataFrame) -> pd.DataFrame:
    """The rows of published scores, score by score."""
    published = rows(scores, scores["score"].isin(PUBLISHED))
    return published.sort_values("score", key=lambda names: names.map(PUBLISHED.index), kind="stable")


def ratio_points(scores: pd.DataFrame) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """A row for each model that has both ratios, with their ends; and of each other what it has, and why not all."""
    points, without = [], []
    for (model,), part in parts_of(rows(scores, scores["score"].isin(RATIOS)), ["model"]):
        by_score = {str(row["score"]): row for row in records(part)}
        if all(name in by_score and not is_absent(by_score[name]["value"]) for name in RATIOS):
            ends = {f"{name}{end}": by_score[name][key] for name in RATIOS for end, key in ENDS.items()}
            points.append({"model": model} | ends)
            continue
        without.append((model, "; ".join(_in_words(by_score[name]) for name in RATIOS if name in by_score)))
    columns = ["model", *(f"{name}{end}" for name in RATIOS for end in ENDS)]
    return pd.DataFrame(points, columns=pd.Index(columns)), _reasons_once(without)


ENDS = {"": "value", "_low": "low", "_high": "high"}


def _in_words(row: dict[str, object]) -> str:
    if is_absent(row["value"]):
        return f"{row['score']} {row['status']}, {row['reason']}"
    return f"{row['score']} {spelled(row['value'], row['low'], row['high'], digits=2)}"


def _reasons_once(without: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same where both ratios have the same reason, said once."""
    reasons = []
    for model, reason in without:
        first, _, second = reason.partition("; ")
        both = second and first.partition(" ")[2] == second.partition(" ")[2]
        reasons.append((model, f"both {first.partition(' ')[2]}" if both else reason))
    return reasons


def language_points(pairs: pd.DataFrame, groups: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """A row for each model, plane and language, with its group; and of which models there are no planes, and why."""
    points, notes = [], []
    for (model,), part in parts_of(pairs, ["model"]):
        of_model = rows_where(groups, model=model)
        group_of = dict(zip(of_model["language"], of_model["group"], strict=True))
        for plane, name in PLANES.items():
            languages, square = pair_square(part, name)
            try:
                layout = plane_from_distances(np.sqrt(2 * np.maximum(square, 0)))
            except MissingData:
                n = len(languages)
                lack = f"{n} languages lie on a line" if n < 3 else "answers of one kind are missing"
                notes.append(f"{model} has no plane of {name.replace('_', ' ')}: {lack}.")
                continue
            for language, (x, y) in zip(languages, layout.points, strict=True):
                script = " or ".join(scripts_of(language)).title()
                row = {"model": model, "distance": plane, "language": language, "script": script, "x": x, "y": y}
                points.append(row | {"stress": layout.stress, "group": group_of.get(language)})
    return pd.DataFrame(points, columns=pd.Index(NO_POINTS)), notes


def status_counts(quality: pd.DataFrame) -> pd.DataFrame:
    """How many answers of each status each model has in each language, in their order."""
    by = ["model", "language", "status"]
    counted = quality.groupby(by, sort=False).agg(n=("id", "size")).reset_index()
    order = {name: place for place, name in enumerate(dict.fromkeys(quality["model"]))}
    return counted.sort_values("model", key=lambda models: models.map(order), kind="stable")
