"""What tables of WorldValuesBench let their reader claim of each model and what not, each with what it rests on."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.measures.controls import OTHER_PEOPLE
from valuesassets.instruments.worldvaluesbench.measures.sides import models_only, with_sides
from valuesassets.instruments.worldvaluesbench.measures.wording_reliability import RELIABLE, first_wordings
from valuesassets.measure.multiple_tests import CORRECTIONS
from valuesassets.records.frames import column, records, rows_where
from valuesassets.records.settings.measuring import USUAL, Inference
from valuesassets.reporting.parts import Claim, is_absent

Frames = Mapping[str, pd.DataFrame]
ALIKE = 0.02
"""Difference of mean distances up to which two models score alike."""
APART = 0.5
"""Difference of slopes from which two models that score alike are worth naming."""


def claims(frames: Frames, is_planted: bool, inference: Inference = USUAL, least: float = RELIABLE) -> list[Claim]:
    """All of them: about whom, about each model's moves, and about the published score.

    Args:
        inference: up to which alpha a corrected p-value counts; and the correction over models, where tables lack it.
        least: reliability over wordings below which models are not ranked.
    """
    return [*_about_whom(is_planted), *_moves(frames, inference, least), *_scores(frames)]


def _about_whom(is_planted: bool) -> Iterator[Claim]:
    if is_planted:
        why = "answers were made up to test the instrument"
        yield Claim("Anything about people or about the values of any model.", False, why)


def _moves(frames: Frames, inference: Inference, least: float) -> Iterator[Claim]:
    if "awareness/factors" not in frames or not len(frames["awareness/factors"]):
        yield Claim("That any model moves with a person's background.", False, "awareness was not measured")
        return
    reliability = frames.get("awareness/reliability")
    models = first_wordings(models_only(frames["awareness/factors"]), reliability)
    for row in records(_corrected(models, inference.correction)):
        yield from _of_model(row, inference.alpha)
    yield from _ranking(reliability, least)


def short_answers(frames: Frames, inference: Inference = USUAL) -> dict[str, str]:
    """A sentence by model: whether and how it moves with a person's background, beside how people do."""
    if "awareness/factors" not in frames or not len(frames["awareness/factors"]):
        return {}
    models = first_wordings(models_only(frames["awareness/factors"]), frames.get("awareness/reliability"))
    answers = {}
    for row in records(_corrected(models, inference.correction)):
        first = next(_of_model(row, inference.alpha))
        is_contrary = first.is_supported and row["slope_high"] < 0
        moves = "moves with a person's background" + (
            ", the contrary way to people" if is_contrary else " as people do"
        )
        moves = moves if first.is_supported else "is not shown to move with a person's background"
        answers[str(row["model"])] = f"{moves} (1: as far as people, 0: not at all; {first.because})."
    return answers


def _ranking(reliability: pd.DataFrame | None, least: float) -> Iterator[Claim]:
    """That models rank by their slopes, where a model's moves do not come back in another wording."""
    if reliability is None:
        return
    weak = [
        f"{row['model']} under {row['wording']} and {row['other_wording']}: "
        + ("it does not move" if is_absent(row["reliability"]) else f"{row['reliability']:.2f}")
        for row in records(reliability)
        if not row["can_be_ranked"]
    ]
    if weak:
        why = f"moves come back in another wording with a reliability below {least:g}: {'; '.join(weak)}"
        yield Claim("Any ranking of models by how they move with a person's background.", False, why)


def _corrected(awareness: pd.DataFrame, correction: str) -> pd.DataFrame:
    """The rows of all groups together with p-values corrected over models, where they are not yet."""
    awareness = rows_where(awareness, factor="all")
    if "p_corrected" in awareness or "p_value" not in awareness:
        return awareness
    names = {"p_value": "p_corrected", "p_opposite": "p_opposite_corrected"}
    there = {old: new for old, new in names.items() if old in awareness}
    return awareness.assign(**{new: _with_correction(awareness[old], correction) for old, new in there.items()})


def _with_correction(found: Any, correction: str) -> pd.Series:
    p = found.to_numpy(float, na_value=np.nan)
    corrected, is_there = np.full(p.shape, np.nan), np.isfinite(p)
    corrected[is_there] = CORRECTIONS[correction](p[is_there])
    return pd.Series(corrected, index=found.index)


def _least_p(p: Any, corrected: Any, n: Any) -> float:
    """The least corrected p-value that a row can have where nothing is less likely; 0 where others were."""
    return min(1.0, float(corrected) / float(p) / float(n)) if p and n and p <= 1 / n + 1e-9 else 0.0


def _beyond_chance(row: Mapping[str, Any], p: str, corrected: str, alpha: float) -> tuple[bool, str]:
    """Whether exchanging levels leaves no doubt that a slope whose interval lies on one side is no chance, and why."""
    n = row.get("n_arrangements")
    if is_absent(row.get(p)) or is_absent(row.get(corrected)):
        ways = "" if is_absent(n) else f"{n:.0f} "
        return False, f"no test: {ways}arrangements of levels are too few to tell it from chance"
    found, least = float(row[corrected]), _least_p(row[p], row[corrected], n)
    if found > alpha and least > alpha:
        ways = f"{n:.0f} arrangements of levels allow no corrected p below {least:.3f}"
        return False, f"p {found:.3f}; {ways}, so that nothing can be told from chance: ask about more levels"
    return found <= alpha, f"p {found:.3f}" + ("" if found <= alpha else ": no more than chance gives")


def _of_model(row: Mapping[str, Any], alpha: float) -> Iterator[Claim]:
    """What the slope of one model, its interval and its p-value amount to."""
    name, slope, low, high = (row[key] for key in ("model", "slope", "slope_low", "slope_high"))
    moves = f"{name} moves with a person's background in the direction that people move."
    if is_absent(slope):
        yield Claim(moves, False, "people's groups differ too little to say")
        return
    if is_absent(low) or is_absent(high):
        yield Claim(
            moves,
            False,
            f"slope {slope:.2f} without an interval: people's own moves are too uncertain, or nobody was resampled",
        )
        return
    interval = f"slope {slope:.2f} [{low:.2f}, {high:.2f}]"
    if low <= 0 <= high:
        yield Claim(moves, False, f"{interval}: the interval holds 0")
        return
    names = ("p_opposite", "p_opposite_corrected") if high < 0 else ("p_value", "p_corrected")
    is_sure, found = _beyond_chance(row, *names, alpha)
    again, of_questions = _in_other_questions(row, high < 0)
    is_sure, found = is_sure and again, found + of_questions
    if high < 0:
        moves = f"{name} moves with a person's background, the contrary way to people."
    yield Claim(moves, is_sure, f"{interval}; {found}")
    if low > 1 and is_sure:
        yield Claim(f"{name} makes more of a person's background than people do.", True, interval)
    if is_sure:
        yield from _of_gain(row)


def _in_other_questions(row: Mapping[str, Any], is_contrary: bool) -> tuple[bool, str]:
    """Whether the slope keeps its sign over categories of questions too, where there are two or more, and in words.

    Levels that are alike two by two, or rise in order, on both sides, look rarer among exchanges than they are; which
    way they go together then differs from question to question.
    """
    low: Any = row.get("slope_category_low")
    high: Any = row.get("slope_category_high")
    if is_absent(low) or is_absent(high):
        return True, "; of one category of questions, so that levels are taken to be unrelated"
    return bool(high < 0 if is_contrary else low > 0), f"; over categories of questions [{low:.2f}, {high:.2f}]"


def _of_gain(row: Mapping[str, Any]) -> Iterator[Claim]:
    """What a background that is told brings a model's answers nearer to."""
    gain: Any = row.get("prompt_gain_unit")
    skill: Any = row.get("skill")
    if not is_absent(gain):
        nearer = f"{row['model']}'s answers for a background are nearer to people than its answers for nobody."
        found = f"mean ranked probability score lower by {gain:.4f} with the background"
        yield Claim(nearer, *_above_zero(row.get("prompt_gain_low"), found))
    if not is_absent(skill):
        nearer = f"{row['model']}'s answers for a background are nearer to people than its own mean over backgrounds."
        found = f"skill {skill:.2f} of 1 that knowing the groups can gain"
        yield Claim(nearer, *_above_zero(row.get("skill_low"), found))


def _above_zero(low: Any, found: str) -> tuple[bool, str]:
    """Whether the lower end of an interval lies above 0, and what was found."""
    if is_absent(low):
        return False, f"{found}, without an interval"
    return float(low) > 0, f"{found}; the lower end of its interval is {low:.4f}"


def _scores(frames: Frames) -> Iterator[Claim]:
    if "benchmark_scores/scores" not in frames or not len(frames["benchmark_scores/scores"]):
        return
    yield Claim(
        "That a model knows what people of some background answer, because its published score (W1) is low.",
        False,
        "the score pools everybody: ratings shuffled over people score the same",
    )
    scores = with_sides(rows_where(frames["benchmark_scores/scores"], subset="all"))
    scores = first_wordings(scores, frames.get("awareness/reliability"))
    rated = rows_where(scores, attributes="with")
    parts = rated.groupby("model", sort=False)
    by_model = {str(name): column(part.set_index("question_id"), "w1_seed") for name, part in parts}
    known = frames.get("awareness/factors")
    slopes = {} if known is None else {row["model"]: row["slope"] for row in records(rows_where(known, factor="all"))}
    models = [name for name in by_model if not is_absent(slopes.get(name))]
    pairs = [
        f"{one} and {other} (W1 {a:.3f} and {b:.3f}, slopes {slopes[one]:.2f} and {slopes[other]:.2f})"
        for one, other in combinations(models, 2)
        for a, b in [_means_of_both(by_model[one], by_model[other])]
        if abs(a - b) <= ALIKE and abs(slopes[one] - slopes[other]) >= APART
    ]
    if pairs:
        yield Claim("That models which score alike on it are alike.", False, "; ".join(pairs))
    of_others = rows_where(scores, model=OTHER_PEOPLE).set_index("question_id")
    others = column(of_others, "w1_seed")
    if len(others):
        best = float(others.mean())
        # Others are a sample too: as many as were asked, they lie farther off than the truth by less than half a floor.
        by = ALIKE + float(column(of_others, "w1_floor_unit").mean()) / 2
        compared = {name: _means_of_both(by_model[name], others) for name in models}
        below = [name for name, (mean, theirs) in compared.items() if mean < theirs - by]
        found = f"lower by {by:.3f} or more: {', '.join(below)}" if below else f"no model is lower by {by:.3f}"
        yield Claim(
            "That a model's published score shows more than pooled answers of other people would.",
            bool(below),
            f"those score {best:.3f}, knowing no background; {found}",
        )


def _means_of_both(one: pd.Series, other: pd.Series) -> tuple[float, float]:
    """Mean distances of two models over the questions that both rate; NaN where there is none."""
    both = pd.concat([one, other], axis=1, join="inner").dropna()
    return float(both.iloc[:, 0].mean()), float(both.iloc[:, 1].mean())
