"""Claims that the tables of psych tasks support and do not support, each with its numbers."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from valuesassets.instruments.psych_tasks.measures.keying import LABEL, OPEN, TRAIT
from valuesassets.instruments.psych_tasks.measures.prediction import OVER, READING_ERROR, SHORTCUT
from valuesassets.instruments.psych_tasks.report.page_parts import without_depth
from valuesassets.instruments.psych_tasks.report.pictures import named_scales, scale_points, with_layout
from valuesassets.records.frames import column, parts_of, records, rows, rows_where
from valuesassets.reporting.interval_words import given, spelled, spelled_p
from valuesassets.reporting.methods import some_of
from valuesassets.reporting.parts import Claim, is_absent

Frames = Mapping[str, pd.DataFrame]
NO_SCORES = pd.DataFrame(columns=pd.Index(["task", "history", "skill"]))
ABOUT_A_PERSON = ("content", "person", "history")
"""Gains that show whether a model knows a person, the strictest first; a task is judged by the first that it has."""
NULLS = {
    "uniform": "even chances",
    "place": "the model's own liking for places",
    "crowd": "others' answers",
    "counting": "counting answers",
}
"""Predictions that a model must beat before it is said to predict people, in words."""
SAYS = {
    "content": "In {task}, what a person answered to which item helps to predict them, beyond how they use the scale",
    "person": "In {task}, a person's own history predicts them better than another's",
    "history": "In {task}, a model knows the person whose history it reads",
}
WHY_NOT = {"history": "only the whole history could be taken away here: what is gained may be its format"}
SAYS_OF_TASK = "In {task}, what the task says helps to predict people, beyond their answers alone"
SAYS_OF_SHORTCUT = "In {task}, a model that sees people's answers alone predicts more than counting them does"


def claims(frames: Frames, is_planted: bool) -> list[Claim]:
    """All claims: made-up answers, keying, alignment with people, consistency, the published score, layouts."""
    parts = (_keying, _people, _baselines, _identification, _consistency, _published, _layouts)
    planted = Claim(
        "Anything about people or about the traits of any model.", False, "answers were made up to test the instrument"
    )
    return [*([planted] if is_planted else []), *(claim for part in parts for claim in part(frames))]


def table_of(frames: Frames, name: str) -> pd.DataFrame | None:
    """A table, or None where it is missing or has no rows."""
    table = frames.get(name)
    return table if table is not None and len(table) else None


def _by_side(cases: Iterable[tuple[bool, str, str]]) -> Iterator[tuple[bool, str, str]]:
    """The cases for which something holds, then the others, in words: whether it holds, their names, their numbers.

    Args:
        cases: of each whether it holds, its name and its numbers.
    """
    listed = list(cases)
    for holds in (True, False):
        if side := [(name, numbers) for case_holds, name, numbers in listed if case_holds == holds]:
            yield holds, some_of([name for name, _ in side]), given([numbers for _, numbers in side])


def _keying(frames: Frames) -> Iterator[Claim]:
    table = table_of(frames, "keying/scales")
    if table is None:
        return
    sentences = {
        TRAIT: "Differences between models on {} are more in what they say of its items than in which labels they "
        "like.",
        LABEL: "Any score of a model on {}: models differ there more in which label they like than in what items say.",
        OPEN: "Whether a trait or a liking for labels is measured by {}: it cannot be told.",
    }
    named = named_scales(table)
    for verdict, sentence in sentences.items():
        cases = (
            (
                verdict == TRAIT,
                str(row["name"]),
                f"{row['name']}: share of the label {_ends(row, 'pi_bias', 2)}, {row['models']} models of "
                f"{row['lines']} lines, {spelled_p(row['p'])}",
            )
            for row in records(rows_where(named, verdict=verdict))
        )
        for holds, names, numbers in _by_side(cases):
            yield Claim(sentence.format(names), holds, numbers)
    unmeasured = records(rows(named, column(named, "verdict").isna()))
    cases = ((False, str(row["name"]), f"{row['name']}: {row['reason']}") for row in unmeasured)
    for _, names, reasons in _by_side(cases):
        yield Claim(f"Whether a trait or a liking for labels is measured by {names}.", False, reasons)


def _people(frames: Frames) -> Iterator[Claim]:
    table = table_of(frames, "prediction/gains")
    if table is None:
        return
    gains = with_layout(table)
    for task in dict.fromkeys(gains["task"]):
        of_task = rows_where(gains, task=task)
        measured = set(rows(of_task, of_task["estimate"].notna())["gain"])
        sentences = {"task text": SAYS_OF_TASK, SHORTCUT: SAYS_OF_SHORTCUT}
        strictest = next((name for name in ABOUT_A_PERSON if name in measured), None)
        if strictest:
            sentences = {strictest: SAYS[strictest]} | sentences
        for name, sentence in sentences.items():
            yield from _of_gain(sentence.format(task=task), rows_where(of_task, gain=name), WHY_NOT.get(name))


def _of_gain(sentence: str, gains: pd.DataFrame, why_not: str | None = None) -> Iterator[Claim]:
    """One claim for the models in which a gain is above 0 beyond chance, one for the others."""
    for is_sure, models, numbers in _by_side(_gain_case(row, why_not) for row in records(gains)):
        because = numbers if is_sure or why_not is None else f"{why_not}; {numbers}"
        yield Claim(f"{sentence} ({models}).", is_sure, because)


def _gain_case(row: Mapping[str, Any], why_not: str | None) -> tuple[bool, str, str]:
    model = str(row["model"])
    if is_absent(row["estimate"]):
        return False, model, f"{model} {row.get('reason') or 'not measured'}"
    test = row["reason"] if is_absent(row.get("p")) else spelled_p(row.get("p_corrected"))
    numbers = f"{spelled(row['estimate'], row['low'], row['high'], is_signed=True)} nats, {test}"
    return is_above_chance(row) and why_not is None, model, f"{model} {numbers}"


def is_above_chance(row: Mapping[str, Any]) -> bool:
    """Whether a gain's interval lies above the error of readings, and its corrected p-value is significant."""
    return _is_rejected(row) and row["low"] > READING_ERROR


def _is_rejected(row: Mapping[str, Any]) -> bool:
    """Whether a difference was tested, and its corrected p-value is significant."""
    return not is_absent(row.get("is_rejected")) and bool(row["is_rejected"])


def _baselines(frames: Frames) -> Iterator[Claim]:
    """Whether a model predicts people better than each prediction without information on their answer."""
    table = table_of(frames, "prediction/gains")
    by_task: dict[str, list[tuple[bool, str, str]]] = {}
    for (task, model), by_null in _gains_over_nulls(table).items() if table is not None else ():
        by_task.setdefault(task, []).append((_beats_all(by_null), model, f"{model}: {_over(by_null)}"))
    than = "even chances, a liking for places, others' answers and counting answers"
    for task, cases in by_task.items():
        for is_better, models, numbers in _by_side(cases):
            sentence = f"In {task}, answers are predicted better than by {than} ({models})."
            yield Claim(sentence, is_better, f"gain in nats {numbers}")


def _gains_over_nulls(table: pd.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    """For each task and model the row of the gain over each null, by the null's name."""
    gains = with_layout(table)
    over = rows(gains, gains["gain"].isin(list(OVER.values())))
    return {
        (task, model): {str(row["less"]): row for row in records(part)}
        for (task, model), part in parts_of(over, ["task", "model"])
    }


def _beats_all(by_null: Mapping[str, Mapping[str, Any]]) -> bool:
    return all(name in by_null and is_above_chance(by_null[name]) for name in OVER)


def short_answers(frames: Frames) -> dict[str, str]:
    """A sentence for each model: the tasks in which it beats every null, and in which it knows a person by history."""
    gains, pairs = (table_of(frames, f"prediction/{name}") for name in ("gains", "identification"))
    if gains is None:
        return {}
    tasks: dict[str, dict[bool, list[str]]] = {}
    for (task, model), by_null in _gains_over_nulls(gains).items():
        tasks.setdefault(model, {True: [], False: []})[_beats_all(by_null)].append(task)
    identified: dict[str, list[str]] = {}
    for row in records(with_layout(pairs)) if pairs is not None else ():
        if _is_rejected(row) and row["low"] > 0.5:
            identified.setdefault(str(row["model"]), []).append(str(row["task"]))
    return {model: _short(by_side, identified.get(model, [])) for model, by_side in tasks.items()}


def _short(tasks: Mapping[bool, list[str]], identified: list[str]) -> str:
    predicts = "predicts people's answers better than chance, a liking for places, others' answers and counting"
    where = f"{predicts} in {some_of(tasks[True])}" if tasks[True] else "predicts people better than every null nowhere"
    where += f", not in {some_of(tasks[False])}" if tasks[True] and tasks[False] else ""
    knows = "a person's own history is nowhere shown to predict them better than another person's"
    if identified:
        knows = f"in {some_of(identified)} a person's own history predicts them better than another person's"
    return f"{where}; {knows}."


def _over(by_null: Mapping[str, Mapping[str, Any]]) -> str:
    """The gain over each null; a missing one counts as not beaten."""
    numbers = []
    for name, words in NULLS.items():
        row = by_null.get(name)
        gain = "not measured"
        if row is not None and not is_absent(row["estimate"]):
            gain = spelled(row["estimate"], row["low"], row["high"], is_signed=True)
        numbers.append(f"over {words} {gain}")
    if few := next((row["reason"] for row in by_null.values() if not is_absent(row["reason"])), None):
        numbers.append(str(few))
    return ", ".join(numbers)


def _identification(frames: Frames) -> Iterator[Claim]:
    table = table_of(frames, "prediction/identification")
    if table is None:
        return
    cases = []
    for row in records(with_layout(table)):
        where = f"{row['model']} in {row['task']}"
        test = row["reason"] if is_absent(row["p"]) else spelled_p(row["p_corrected"])
        numbers = f"{where} {spelled(row['share'], row['low'], row['high'])}, {test}"
        cases.append((_is_rejected(row) and row["low"] > 0.5, where, numbers))
    for is_identified, names, numbers in _by_side(cases):
        sentence = (
            "A person's own history, be it how or what they answered, predicts them better than that of others who "
            f"were shown the same ({names})."
        )
        yield Claim(sentence, is_identified, f"share of pairs (chance .5): {numbers}")


def _consistency(frames: Frames) -> Iterator[Claim]:
    scales, scores = table_of(frames, "reliability/scales"), table_of(frames, "prediction/scores")
    if scales is None:
        return
    points = scale_points(scales, NO_SCORES if scores is None else scores)
    measured = records(rows(points, points["generalizability"].notna()))
    if measured:
        numbers = (
            f"{row['name']} after {row['history']}: agrees with itself {row['generalizability']:.2f}, skill in "
            "predicting people " + ("not measured" if is_absent(row["skill"]) else f"{row['skill']:.2f}")
            for row in measured
        )
        sentence = "That models which agree with themselves answer as people do, or one number for both."
        yield Claim(sentence, False, f"they are two measurements: {given(numbers)}")


def _published(frames: Frames) -> Iterator[Claim]:
    table = table_of(frames, "published_scores/scales")
    if table is None:
        return
    cases, by_label = [], []
    for row in records(rows_where(named_scales(table), reading="exact")):
        if is_absent(row["alpha"]):
            continue
        numbers = f"{row['name']} alpha {without_depth(_ends(row, 'alpha', 2))} over {row['lines']} lines of models"
        bands = [float(row[name]) for name in ("null_high", "alpha_random_high") if not is_absent(row[name])]
        is_above = bool(bands) and not is_absent(row["alpha_low"]) and row["alpha_low"] > max(bands)
        chance = f"by chance up to {max(bands):.2f}" if bands else "by chance not known"
        cases.append((is_above, str(row["name"]), f"{numbers}, {chance}"))
        label = row["alpha_label"]
        if is_above and not is_absent(label) and label >= row["alpha_low"]:
            by_label.append(f"{numbers}, by a liking for labels alone {label:.2f}")
    for is_above, names, numbers in _by_side(cases):
        yield Claim(f"By the published score, the items of {names} go together over models.", is_above, numbers)
    if by_label:
        yield Claim("That they go together because models have a trait.", False, given(by_label))


def _layouts(frames: Frames) -> Iterator[Claim]:
    table = table_of(frames, "layout_effect/effects")
    if table is None:
        return
    measured = records(rows(table, table["log_score_difference"].notna()))
    different = [row for row in measured if _is_rejected(row)]
    numbers = (
        f"{row['model']} in {row['task']} after {row['history']}, {row['layout']} less {row['against']}: "
        f"{spelled(row['log_score_difference'], row['low'], row['high'], is_signed=True)} nats, "
        f"{row['reason'] if is_absent(row['p']) else spelled_p(row['p_corrected'])}"
        for row in different or measured
    )
    if measured:
        because = given(numbers) if different else f"no test rejects: {given(numbers)}"
        yield Claim("How transcripts are laid out changes how well people are predicted.", bool(different), because)


def _ends(row: Mapping[str, Any], name: str, digits: int) -> str:
    return spelled(row[name], row[f"{name}_low"], row[f"{name}_high"], digits=digits)
