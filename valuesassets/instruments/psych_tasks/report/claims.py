"""What tables of psych tasks let their reader claim and what not, each with the numbers that it rests on."""

from collections.abc import Iterator, Mapping
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
"""Gains by which it is told whether a model knows a person, the strictest first; a task has the first that it has."""
NULLS = {
    "uniform": "even chances",
    "place": "the model's own liking for places",
    "crowd": "others' answers",
    "counting": "counting answers",
}
"""What a model has to beat before it is said to predict people, in words."""
SAYS = {
    "content": "In {task}, what a person answered to which item helps to foretell them, beyond how they use the scale",
    "person": "In {task}, a person's own history foretells them better than another's",
    "history": "In {task}, a model knows the person whose history it reads",
}
WHY_NOT = {"history": "only the whole history could be taken away here: what is gained may be its format"}
SAYS_OF_TASK = "In {task}, what the task says helps to foretell people, beyond their answers alone"
SAYS_OF_SHORTCUT = "In {task}, a model that sees people's answers alone foretells more than counting them does"


def claims(frames: Frames, is_planted: bool) -> list[Claim]:
    """All of them: about whom, keying, alignment with people, consistency, the published score, layouts."""
    parts = (_keying, _people, _baselines, _identification, _consistency, _published, _layouts)
    found = [claim for part in parts for claim in part(frames)]
    if is_planted:
        why = "answers were made up to test the instrument"
        found.insert(0, Claim("Anything about people or about the traits of any model.", False, why))
    return found


def table_of(frames: Frames, name: str) -> pd.DataFrame | None:
    """A table that has rows; None where there is none."""
    found = frames.get(name)
    return found if found is not None and len(found) else None


def _keying(frames: Frames) -> Iterator[Claim]:
    table = table_of(frames, "keying/scales")
    if table is None:
        return
    said = {
        TRAIT: "Differences between models on {} are more in what they say of its items than in which labels they "
        "like.",
        LABEL: "Any score of a model on {}: models differ there more in which label they like than in what items say.",
        OPEN: "Whether a trait or a liking for labels is measured by {}: it cannot be told.",
    }
    named = named_scales(table)
    for verdict, sentence in said.items():
        found = records(rows_where(named, verdict=verdict))
        if found:
            numbers = (
                f"{row['name']}: share of the label {_ends(row, 'pi_bias', 2)}, {row['models']} models of "
                f"{row['lines']} lines, {spelled_p(row['p'])}"
                for row in found
            )
            names = some_of([str(row["name"]) for row in found])
            yield Claim(sentence.format(names), verdict == TRAIT, given(numbers))
    unknown = records(rows(named, column(named, "verdict").isna()))
    if unknown:
        names = some_of([str(row["name"]) for row in unknown])
        reasons = given(f"{row['name']}: {row['reason']}" for row in unknown)
        yield Claim(f"Whether a trait or a liking for labels is measured by {names}.", False, reasons)


def _people(frames: Frames) -> Iterator[Claim]:
    table = table_of(frames, "prediction/gains")
    if table is None:
        return
    gains = with_layout(table)
    for task in dict.fromkeys(gains["task"]):
        own = rows_where(gains, task=task)
        measured = set(rows(own, own["estimate"].notna())["gain"])
        strictest = next((name for name in ABOUT_A_PERSON if name in measured), None)
        if strictest:
            found = rows_where(own, gain=strictest)
            yield from _of_gain(SAYS[strictest].format(task=task), found, WHY_NOT.get(strictest))
        yield from _of_gain(SAYS_OF_TASK.format(task=task), rows_where(own, gain="task text"))
        yield from _of_gain(SAYS_OF_SHORTCUT.format(task=task), rows_where(own, gain=SHORTCUT))


def _of_gain(sentence: str, found: pd.DataFrame, why_not: str | None = None) -> Iterator[Claim]:
    """One claim for the models in which a gain is above 0 beyond chance, one for the others."""
    sides: dict[bool, list[str]] = {True: [], False: []}
    models: dict[bool, list[str]] = {True: [], False: []}
    for row in records(found):
        if is_absent(row["estimate"]):
            numbers, is_sure = str(row.get("reason") or "not measured"), False
        else:
            is_sure = is_above_chance(row) and why_not is None
            numbers = f"{spelled(row['estimate'], row['low'], row['high'], is_signed=True)} nats"
            numbers += f", {row['reason'] if is_absent(row.get('p')) else spelled_p(row.get('p_corrected'))}"
        models[is_sure].append(str(row["model"]))
        sides[is_sure].append(f"{row['model']} {numbers}")
    for is_sure in (True, False):
        if sides[is_sure]:
            because = given(sides[is_sure])
            yield Claim(
                f"{sentence} ({some_of(models[is_sure])}).",
                is_sure,
                because if is_sure or why_not is None else f"{why_not}; {because}",
            )


def is_above_chance(row: Mapping[str, Any]) -> bool:
    """Whether a gain's interval lies above what reading may be off by, and its corrected p-value counts."""
    return _is_rejected(row) and row["low"] > READING_ERROR


def _is_rejected(row: Mapping[str, Any]) -> bool:
    """Whether a difference was tested, and its corrected p-value counts."""
    return not is_absent(row.get("is_rejected")) and bool(row["is_rejected"])


def _baselines(frames: Frames) -> Iterator[Claim]:
    """Whether a model predicts people better than everything that knows nothing of their answer: all, not the mean."""
    table = table_of(frames, "prediction/gains")
    if table is None:
        return
    by_task: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for (task, model), by_null in _gains_over_nulls(table).items():
        by_task.setdefault(task, []).append((model, by_null))
    for task, asked in by_task.items():
        numbers: dict[bool, list[str]] = {True: [], False: []}
        models: dict[bool, list[str]] = {True: [], False: []}
        for model, by_null in asked:
            models[_beats_all(by_null)].append(model)
            numbers[_beats_all(by_null)].append(f"{model}: {_over(by_null)}")
        for is_better, told in numbers.items():
            if told:
                than = "even chances, a liking for places, others' answers and counting answers"
                sentence = f"In {task}, answers are predicted better than by {than} ({some_of(models[is_better])})."
                yield Claim(sentence, is_better, "gain in nats " + given(told))


def _gains_over_nulls(table: pd.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    """By task and model the row of the gain over each null, by the null's name."""
    gains = with_layout(table)
    over = rows(gains, gains["gain"].isin(list(OVER.values())))
    return {
        (task, model): {str(row["less"]): row for row in records(part)}
        for (task, model), part in parts_of(over, ["task", "model"])
    }


def _beats_all(by_null: Mapping[str, Mapping[str, Any]]) -> bool:
    return all(name in by_null and is_above_chance(by_null[name]) for name in OVER)


def short_answers(frames: Frames) -> dict[str, str]:
    """A sentence by model: where it predicts people better than every null, and knows a person by their history."""
    gains, pairs = (table_of(frames, f"prediction/{name}") for name in ("gains", "identification"))
    if gains is None:
        return {}
    tasks: dict[str, dict[bool, list[str]]] = {}
    for (task, model), by_null in _gains_over_nulls(gains).items():
        tasks.setdefault(model, {True: [], False: []})[_beats_all(by_null)].append(task)
    known: dict[str, list[str]] = {}
    for row in records(with_layout(pairs)) if pairs is not None else ():
        if _is_rejected(row) and row["low"] > 0.5:
            known.setdefault(str(row["model"]), []).append(str(row["task"]))
    return {model: _short(of, known.get(model, [])) for model, of in tasks.items()}


def _short(tasks: Mapping[bool, list[str]], known: list[str]) -> str:
    predicts = "predicts people's answers better than chance, a liking for places, others' answers and counting"
    said = f"{predicts} in {some_of(tasks[True])}" if tasks[True] else "predicts people better than every null nowhere"
    said += f", not in {some_of(tasks[False])}" if tasks[True] and tasks[False] else ""
    knows = (
        f"in {some_of(known)} a person's own history predicts them better than another person's"
        if known
        else ("a person's own history is nowhere shown to predict them better than another person's")
    )
    return f"{said}; {knows}."


def _over(by_null: Mapping[str, Mapping[str, Any]]) -> str:
    """The gain over each null; that one is missing counts as not beaten."""
    told = []
    for name, words in NULLS.items():
        row = by_null.get(name)
        if row is None or is_absent(row["estimate"]):
            told.append(f"over {words} not measured")
        else:
            told.append(f"over {words} {spelled(row['estimate'], row['low'], row['high'], is_signed=True)}")
    if few := next((row["reason"] for row in by_null.values() if not is_absent(row["reason"])), None):
        told.append(str(few))
    return ", ".join(told)


def _identification(frames: Frames) -> Iterator[Claim]:
    table = table_of(frames, "prediction/identification")
    if table is None:
        return
    sides: dict[bool, list[str]] = {True: [], False: []}
    named: dict[bool, list[str]] = {True: [], False: []}
    for row in records(with_layout(table)):
        is_known = _is_rejected(row) and row["low"] > 0.5
        where = f"{row['model']} in {row['task']}"
        named[is_known].append(where)
        test = row["reason"] if is_absent(row["p"]) else spelled_p(row["p_corrected"])
        sides[is_known].append(f"{where} {spelled(row['share'], row['low'], row['high'])}, {test}")
    for is_known, numbers in sides.items():
        if numbers:
            sentence = (
                "A person's own history, be it how or what they answered, predicts them better than that of others who "
                f"were shown the same ({some_of(named[is_known])})."
            )
            yield Claim(sentence, is_known, f"share of pairs (chance .5): {given(numbers)}")


def _consistency(frames: Frames) -> Iterator[Claim]:
    scales, scores = table_of(frames, "reliability/scales"), table_of(frames, "prediction/scores")
    if scales is None:
        return
    points = scale_points(scales, NO_SCORES if scores is None else scores)
    known = records(rows(points, points["generalizability"].notna()))
    if known:
        numbers = (
            f"{row['name']} after {row['history']}: agrees with itself {row['generalizability']:.2f}, skill in "
            "foretelling " + ("not measured" if is_absent(row["skill"]) else f"{row['skill']:.2f}")
            for row in known
        )
        sentence = "That models which agree with themselves answer as people do, or one number for both."
        yield Claim(sentence, False, f"they are two measurements: {given(numbers)}")


def _published(frames: Frames) -> Iterator[Claim]:
    table = table_of(frames, "published_scores/scales")
    if table is None:
        return
    held, loose, by_label = [], [], []
    names: dict[bool, list[str]] = {True: [], False: []}
    for row in records(rows_where(named_scales(table), reading="exact")):
        if is_absent(row["alpha"]):
            continue
        numbers = f"{row['name']} alpha {without_depth(_ends(row, 'alpha', 2))} over {row['lines']} lines of models"
        bands = [float(row[name]) for name in ("null_high", "alpha_random_high") if not is_absent(row[name])]
        is_held = bool(bands) and not is_absent(row["alpha_low"]) and row["alpha_low"] > max(bands)
        chance = f"by chance up to {max(bands):.2f}" if bands else "by chance not known"
        (held if is_held else loose).append(f"{numbers}, {chance}")
        names[is_held].append(str(row["name"]))
        label = row["alpha_label"]
        if is_held and not is_absent(label) and label >= row["alpha_low"]:
            by_label.append(f"{numbers}, by a liking for labels alone {label:.2f}")
    sentence = "By the published score, the items of {} go together over models."
    if held:
        yield Claim(sentence.format(some_of(names[True])), True, given(held))
    if loose:
        yield Claim(sentence.format(some_of(names[False])), False, given(loose))
    if by_label:
        yield Claim("That they go together because models have a trait.", False, given(by_label))


def _layouts(frames: Frames) -> Iterator[Claim]:
    table = table_of(frames, "layout_effect/effects")
    if table is None:
        return
    known = records(rows(table, table["log_score_difference"].notna()))
    apart = [row for row in known if _is_rejected(row)]
    numbers = (
        f"{row['model']} in {row['task']} after {row['history']}, {row['layout']} less {row['against']}: "
        f"{spelled(row['log_score_difference'], row['low'], row['high'], is_signed=True)} nats, "
        f"{row['reason'] if is_absent(row['p']) else spelled_p(row['p_corrected'])}"
        for row in apart or known
    )
    if known:
        said = given(numbers) if apart else f"no test rejects: {given(numbers)}"
        yield Claim("How transcripts are laid out changes how well people are foretold.", bool(apart), said)


def _ends(row: Mapping[str, Any], name: str, digits: int) -> str:
    return spelled(row[name], row[f"{name}_low"], row[f"{name}_high"], digits=digits)
