"""The claims about each model that the tables of WorldValuesBench support or do not support, and why."""

from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.measures.controls import OTHER_PEOPLE, models_only, with_sides
from valuesassets.instruments.worldvaluesbench.measures.wording_reliability import RELIABLE, first_wordings
from valuesassets.measure.multiple_tests import CORRECTIONS
from valuesassets.records.frames import column, records, rows_where
from valuesassets.records.settings.measuring import USUAL, Inference
from valuesassets.reporting.parts import Claim, is_absent

Frames = Mapping[str, pd.DataFrame]
ALIKE = 0.02
"""The largest difference of mean distances at which two models have similar scores."""
APART = 0.5
"""The least difference of slopes at which two models with similar scores are named."""


def claims(frames: Frames, is_planted: bool, inference: Inference = USUAL, least: float = RELIABLE) -> list[Claim]:
    """All claims, about the people, about each model's moves, and about the published score.

    Args:
        inference: the largest corrected p-value of a claim, and the correction over models if tables lack it.
        least: reliability over wordings below which models are not ranked.
    """
    moves = _moves(frames, inference, least)
    if is_planted:
        why = "answers were made up to test the instrument"
        moves = chain([Claim("Anything about people or about the values of any model.", False, why)], moves)
    return [*moves, *_scores(frames)]


def _moves(frames: Frames, inference: Inference, least: float) -> Iterator[Claim]:
    rows_of_models = _rows_of_models(frames, inference)
    if rows_of_models is None:
        yield Claim("That any model moves with a person's background.", False, "awareness was not measured")
        return
    for row in rows_of_models:
        yield from _of_model(row, inference.alpha)
    weak = [
        f"{row['model']} under {row['wording']} and {row['other_wording']}: "
        + ("it does not move" if is_absent(row["reliability"]) else f"{row['reliability']:.2f}")
        for row in records(frames.get("awareness/reliability", pd.DataFrame()))
        if not row["can_be_ranked"]
    ]
    if weak:
        why = f"the reliability of moves between wordings is below {least:g}: {'; '.join(weak)}"
        yield Claim("Any ranking of models by how they move with a person's background.", False, why)


def _rows_of_models(frames: Frames, inference: Inference) -> list[dict[str, Any]] | None:
    """The rows of awareness of models in their first wording, with corrected p-values; None without awareness."""
    if not len(frames.get("awareness/factors", ())):
        return None
    models = first_wordings(models_only(frames["awareness/factors"]), frames.get("awareness/reliability"))
    return records(_corrected(models, inference.correction))


def short_answers(frames: Frames, inference: Inference = USUAL) -> dict[str, str]:
    """A sentence for each model: whether it moves with a person's background, and whether as people do."""
    answers = {}
    for row in _rows_of_models(frames, inference) or []:
        first = next(_of_model(row, inference.alpha))
        way = ", the contrary way to people" if first.is_supported and row["slope_high"] < 0 else " as people do"
        moves = f"moves with a person's background{way}"
        moves = moves if first.is_supported else "is not shown to move with a person's background"
        answers[str(row["model"])] = f"{moves} (1 means as far as people, 0 not at all; {first.because})."
    return answers


def _corrected(awareness: pd.DataFrame, correction: str) -> pd.DataFrame:
    """The rows of all groups together, with p-values corrected over models unless they are so already."""
    awareness = rows_where(awareness, factor="all")
    if "p_corrected" in awareness or "p_value" not in awareness:
        return awareness
    names = {"p_value": "p_corrected", "p_opposite": "p_opposite_corrected"}
    columns = {new: awareness[old].to_numpy(float, na_value=np.nan) for old, new in names.items() if old in awareness}
    for p in columns.values():
        p[np.isfinite(p)] = CORRECTIONS[correction](p[np.isfinite(p)])
    return awareness.assign(**columns)


def _least_p(p: Any, corrected: Any, n: Any) -> float:
    """The corrected p-value of a row whose p-value is the least possible one; 0 for other rows."""
    return min(1.0, float(corrected) / float(p) / float(n)) if p and n and p <= 1 / n + 1e-9 else 0.0


def _beyond_chance(row: Mapping[str, Any], p: str, corrected: str, alpha: float) -> tuple[bool, str]:
    """Whether a slope with an interval on one side of 0 passes the test of exchanged levels, and why."""
    n = row.get("n_arrangements")
    if is_absent(row.get(p)) or is_absent(row.get(corrected)):
        ways = "" if is_absent(n) else f"{n:.0f} "
        return False, f"no test: {ways}arrangements of levels are too few to tell it from chance"
    p_value, least = float(row[corrected]), _least_p(row[p], row[corrected], n)
    if p_value > alpha and least > alpha:
        ways = f"{n:.0f} arrangements of levels allow no corrected p below {least:.3f}"
        return False, f"p {p_value:.3f}; {ways}, so that nothing can be told from chance: ask about more levels"
    return p_value <= alpha, f"p {p_value:.3f}" + ("" if p_value <= alpha else ", which chance can explain")


def _of_model(row: Mapping[str, Any], alpha: float) -> Iterator[Claim]:
    """The claims from the slope of one model, its interval and its p-value."""
    name, slope, low, high = (row[key] for key in ("model", "slope", "slope_low", "slope_high"))
    moves = f"{name} moves with a person's background in the direction that people move."
    if is_absent(slope):
        yield Claim(moves, False, "the groups of people differ too little to tell")
        return
    if is_absent(low) or is_absent(high):
        why = f"slope {slope:.2f} has no interval: people's own moves are too uncertain, or people were not resampled"
        yield Claim(moves, False, why)
        return
    interval = f"slope {slope:.2f} [{low:.2f}, {high:.2f}]"
    if low <= 0 <= high:
        yield Claim(moves, False, f"{interval}: the interval includes 0")
        return
    names = ("p_opposite", "p_opposite_corrected") if high < 0 else ("p_value", "p_corrected")
    is_sure, why = _beyond_chance(row, *names, alpha)
    again, of_questions = _in_other_questions(row, high < 0)
    is_sure, why = is_sure and again, why + of_questions
    if high < 0:
        moves = f"{name} moves with a person's background, the contrary way to people."
    yield Claim(moves, is_sure, f"{interval}; {why}")
    if low > 1 and is_sure:
        yield Claim(f"{name} makes more of a person's background than people do.", True, interval)
    if is_sure:
        yield from _of_gain(row)


def _in_other_questions(row: Mapping[str, Any], is_contrary: bool) -> tuple[bool, str]:
    """Whether the slope keeps its sign over categories of questions too, if there are two or more, and in words.

    Related levels, in pairs or in an order, appear rarer among exchanges than they are; their direction then differs
    from question to question.
    """
    low, high = row.get("slope_category_low"), row.get("slope_category_high")
    if low is None or high is None or is_absent(low) or is_absent(high):
        return True, "; with one category of questions, the levels are assumed to be unrelated"
    return bool(high < 0 if is_contrary else low > 0), f"; over categories of questions [{low:.2f}, {high:.2f}]"


def _of_gain(row: Mapping[str, Any]) -> Iterator[Claim]:
    """The claims that a background in the prompt brings a model's answers nearer to people's."""
    gain, skill = row.get("prompt_gain_unit"), row.get("skill")
    if not is_absent(gain):
        nearer = f"{row['model']}'s answers for a background are nearer to people than its answers for nobody."
        why = f"mean ranked probability score lower by {gain:.4f} with the background"
        yield Claim(nearer, *_above_zero(row.get("prompt_gain_low"), why))
    if not is_absent(skill):
        nearer = f"{row['model']}'s answers for a background are nearer to people than its own mean over backgrounds."
        why = f"skill {skill:.2f}, where knowing the groups can gain 1"
        yield Claim(nearer, *_above_zero(row.get("skill_low"), why))


def _above_zero(low: Any, why: str) -> tuple[bool, str]:
    """Whether the lower end of an interval is above 0, and why."""
    if is_absent(low):
        return False, f"{why}, without an interval"
    return float(low) > 0, f"{why}; the lower end of its interval is {low:.4f}"


def _scores(frames: Frames) -> Iterator[Claim]:
    if not len(frames.get("benchmark_scores/scores", ())):
        return
    yield Claim(
        "A low published score (W1) shows that a model knows what people of some background answer.",
        False,
        "the score pools everybody: ratings shuffled over people score the same",
    )
    scores = with_sides(rows_where(frames["benchmark_scores/scores"], subset="all"))
    scores = first_wordings(scores, frames.get("awareness/reliability"))
    rated = rows_where(scores, attributes="with")
    parts = rated.groupby("model", sort=False)
    by_model = {str(name): column(part.set_index("question_id"), "w1_seed") for name, part in parts}
    factors = frames.get("awareness/factors")
    slopes = (
        {} if factors is None else {row["model"]: row["slope"] for row in records(rows_where(factors, factor="all"))}
    )
    models = [name for name in by_model if not is_absent(slopes.get(name))]
    pairs = [
        f"{first} and {second} (W1 {a:.3f} and {b:.3f}, slopes {slopes[first]:.2f} and {slopes[second]:.2f})"
        for first, second in combinations(models, 2)
        for a, b in [_means_of_both(by_model[first], by_model[second])]
        if abs(a - b) <= ALIKE and abs(slopes[first] - slopes[second]) >= APART
    ]
    if pairs:
        yield Claim("Models with similar published scores are alike.", False, "; ".join(pairs))
    of_others = rows_where(scores, model=OTHER_PEOPLE).set_index("question_id")
    others = column(of_others, "w1_seed")
    if len(others):
        best = float(others.mean())
        # Other people are a sample of the same size, whose distance exceeds the truth's by less than half a floor.
        by = ALIKE + float(column(of_others, "w1_floor_unit").mean()) / 2
        compared = {name: _means_of_both(by_model[name], others) for name in models}
        below = [name for name, (mean, theirs) in compared.items() if mean < theirs - by]
        why = f"models lower by {by:.3f} or more: {', '.join(below)}" if below else f"no model is lower by {by:.3f}"
        yield Claim(
            "That a model's published score shows more than pooled answers of other people would.",
            bool(below),
            f"pooled answers score {best:.3f} without any background; {why}",
        )


def _means_of_both(first: pd.Series, second: pd.Series) -> tuple[float, float]:
    """Mean distances of two models over the questions that both rate; NaN without such a question."""
    both = pd.concat([first, second], axis=1, join="inner").dropna()
    return float(both.iloc[:, 0].mean()), float(both.iloc[:, 1].mean())
