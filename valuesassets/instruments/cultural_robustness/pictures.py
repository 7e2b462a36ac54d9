"""The figures of cultural robustness, out of its tables: each takes frames alone; what has no rows is not drawn."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from valuesassets.answers.language_codes import scripts_of
from valuesassets.figures.answer_quality import draw_answer_quality
from valuesassets.figures.country_profiles import draw_country_profiles
from valuesassets.figures.diversity_robustness import draw_diversity_robustness
from valuesassets.figures.language_map import draw_language_map
from valuesassets.figures.published_and_null import draw_published_and_null
from valuesassets.instruments.cultural_robustness.scores import DIVERSITY, ROBUSTNESS
from valuesassets.measure.mds import plane_from_distances
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import parts_of, records, rows, rows_where
from valuesassets.reporting.interval_words import spelled
from valuesassets.reporting.page_parts import FigureText, drawable
from valuesassets.reporting.parts import Frames, is_absent

PUBLISHED = ("seed_diversity", "seed_robustness", "seed_product", "cd", "cr", "csp", "csp_question")
"""Scores of the seed and its successor."""
RATIOS = (DIVERSITY, ROBUSTNESS)
PLANES = {"culture gain": "culture_gain", "plain distance": "unanchored_distance"}
"""What is laid out as a plane: its name, and the column of `language_pairs`."""
NO_GROUPS = pd.DataFrame(columns=pd.Index(["model", "language", "group"]))
NO_POINTS = ["model", "distance", "language", "script", "x", "y", "stress", "group"]

PICTURES = {
    "seed_and_null": FigureText(
        ("scores",),
        "A row for each published score, with a dot for each model and a bar for its null: what the same formula gives "
        "for the questions themselves, or for answers dealt anew. The table holds the same numbers.",
        "What do published scores say that translations of one question, or arbitrary answers, do not get as well?",
        asset="scores",
    ),
    "diversity_robustness": FigureText(
        ("scores",),
        "A plane with models as points: across, diversity, upward, robustness, each with its interval; lines at 0 and "
        "at 1. Models without a point are named below with the reason.",
        "Do answers differ by culture where nothing is said, and does a named country override it?",
        asset="scores",
    ),
    "country_profiles": FigureText(
        ("country_profiles",),
        "A panel for each model, languages in rows and countries in columns: a shade for how close the answer without "
        "a country is to the one for the country; the language's own country is boxed.",
        "Which countries is what a language says without a country close to?",
        number="closeness",
    ),
    "language_map": FigureText(
        ("language_pairs",),
        "Two planes for each model with languages as points: by what they differ in beyond language, with their "
        "groups, and by plain distances, in which scripts stand apart.",
        "Which languages answer alike: beyond what language does, and as plain distances have it?",
    ),
    "answer_quality": FigureText(
        ("answer_quality",),
        "A bar for each model and language: the share of its answers with which something is wrong, by what, and how "
        "many these are.",
        "Which answers are empty, cut off, in another language or an echo?",
    ),
}
"""By name, in the order of the report."""


def draw_pictures(frames: Frames, is_planted: bool) -> dict[str, Figure]:
    """Every figure that the tables allow, by name.

    Args:
        frames: by name, those that are there.
        is_planted: whether answers are.
    """
    there = {name: frame for name, frame in frames.items() if len(frame)}
    drawn = {name: draw(name, there, is_planted) for name in drawable(PICTURES, there)}
    return {name: figure for name, figure in drawn.items() if figure is not None}


def draw(name: str, frames: Frames, is_planted: bool) -> Figure | None:
    """One of `PICTURES`, of tables that have rows; None where these hold nothing of it."""
    match name:
        case "diversity_robustness":
            points, without = ratio_points(frames["scores"])
            return draw_diversity_robustness(points, without, is_planted) if len(points) or without else None
        case "seed_and_null":
            published = published_scores(frames["scores"])
            return draw_published_and_null(published, is_planted) if len(published) else None
        case "country_profiles":
            return draw_country_profiles(frames["country_profiles"], is_planted)
        case "language_map":
            points, notes = language_points(frames["language_pairs"], frames.get("language_groups", NO_GROUPS))
            return draw_language_map(points, is_planted, notes)
        case _:
            return draw_answer_quality(status_counts(frames["answer_quality"]), is_planted)


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
