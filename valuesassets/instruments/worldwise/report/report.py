"""The words of worldwise's report: a section for each question, and worldWiseAI's figures in an appendix."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from valuesassets.answers.calibration import summarise_recovery
from valuesassets.instruments.worldwise.analyses import ANALYSES
from valuesassets.instruments.worldwise.answers.model_answers import CHOICE, READOUT_NAMES
from valuesassets.instruments.worldwise.answers.reasons import DECLINED, LOOP, OK, TRUNCATED, UNPARSED
from valuesassets.instruments.worldwise.material.dimensions import CONTROLS
from valuesassets.instruments.worldwise.measures.alignment import FOLLOWED
from valuesassets.instruments.worldwise.measures.inference import REFUSED
from valuesassets.instruments.worldwise.measures.reliability import WORDS
from valuesassets.instruments.worldwise.measures.say_do_gap import is_beyond
from valuesassets.records.frames import parts_of, records, rows, rows_where
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.study import Study
from valuesassets.reporting.claims import preflight_gates
from valuesassets.reporting.in_short import in_short
from valuesassets.reporting.interval_words import given, spelled, spelled_p
from valuesassets.reporting.methods import CORRECTIONS, counted, some_of, sources_of_tables
from valuesassets.reporting.model_gates import OF_ORDERS, first_failure, judged, order_gates, preflight_word
from valuesassets.reporting.page_parts import tabulate
from valuesassets.reporting.parts import Claim, Gate, Refused, Section, is_absent, table
from valuesassets.reporting.run import Run
from valuesassets.reporting.sections import analysis_section

RESTS_ON = {
    "valuesassets": (),
    "phipson2010": ("alignment",),
    "holm1979": ("alignment",),
    "efron1993": ("cultural_profiles",),
    "brennan2001": ("reliability",),
    "an2018": ("axes",),
    "hofstede2010": ("cultural_profiles",),
    "westfall1993": ("say_do_gap",),
    "cheng2023": ("stereotyping",),
    "worldwiseai2025": ("seed_scores",),
}
"""By key of a source: the assets that rest on it; none means that every page does."""
OF_POSITIONS = ("cultural_profiles", "alignment", "say_do_gap")
"""Sections with figures of reasons."""
FIRST_COLUMNS = ("axis", "held_out_auc", "p", "is_valid", "reason")


def within_study(run: Run) -> Run:
    """The run with the validity of its axes; without axes, figures of their validity are removed."""
    if "axes" in run.found:
        return replace(run, found={**run.found, "validity": run.found["axes"]["validity"]})
    analyses = {
        name: replace(each, drawings=tuple(drawing for drawing in each.drawings if "validity" not in drawing.tables))
        for name, each in run.analyses.items()
    }
    return replace(run, analyses=analyses)


def opening(run: Run) -> Section:
    """The opening: whether each model's choices change with the culture, and which checks failed."""
    return in_short(short_answers(run), run.gates, claims(run), weaknesses(run))


def beside_claims(section: Section, run: Run) -> None:
    """Add the table of what the answers of each model are worth."""
    section.tables.insert(0, table("What each model of the study is worth as an answerer.", family_rows(run)))


def sections(run: Run) -> list[Section]:
    """A section for each analysis; the last one also has the calibration of choices."""
    lost = invalid_axes(run)
    page_sections = [_section(run, name, lost) for name in run.analyses]
    if "calibration" in run.found:
        if "recovery" not in run.analyses:
            page_sections.append(Section("recovery", ANALYSES["recovery"].title, [ANALYSES["recovery"].caution]))
        _show_calibration(page_sections[-1], run.study, run.found["calibration"])
    return page_sections


def sources(run: Run) -> tuple[str, ...]:
    """Keys of the sources of the tables."""
    used = {name: [1] for name, tables in run.found.items() if not isinstance(tables, Refused)}
    return sources_of_tables(RESTS_ON, used, run.study.inference.correction)  # type: ignore[arg-type]


def asked_axes(run: Run) -> pd.DataFrame:
    """The rows of `AXIS_VALIDITY` of the study's embedder, for axes with dilemmas."""
    if "validity" not in run.found:
        return pd.DataFrame(columns=pd.Index(FIRST_COLUMNS))
    validity, bounds = run.found["validity"], run.frames("quality_report").get("bounds")
    own = validity["embedder"] == Worldwise.of(run.study).embedder
    return rows(validity, own if bounds is None else own & validity["axis"].isin(list(bounds["axis"])))


def invalid_axes(run: Run) -> pd.DataFrame:
    """The axes with dilemmas on which no reason has a position."""
    axes = asked_axes(run)
    return rows(axes, ~axes["is_valid"].astype(bool))


def _section(run: Run, name: str, lost: pd.DataFrame) -> Section:
    """The section of an analysis; for axes that are not valid a table replaces the figure of reasons."""
    section = analysis_section(run, name)
    if name in OF_POSITIONS and len(lost) and not isinstance(run.part(name), Refused):
        axes = some_of(list(lost["axis"]))
        tabulate(
            section,
            f"In place of the figure of reasons on {axes}: these axes do not order sentences that they were not made "
            "of, so no reason is placed on them.",
            lost,
            FIRST_COLUMNS,
        )
    if name == "quality_report" and "validity" in run.found:
        tabulate(section, "Axes, and their cosines with each other.", run.found["validity"])
    return section


def _show_calibration(section: Section, study: Study, cells: Mapping[Any, pd.DataFrame]) -> None:
    if not cells:
        section.refusals.append(
            "no cell of a reference model was compared with what was planted; materialise calibration"
        )
        return
    recovery = summarise_recovery(pd.concat(cells.values(), ignore_index=True), study.phantom)
    tabulate(section, "Choices: planted beside recovered, by model and condition.", recovery)


def gates(run: Run) -> list[Gate]:
    """Whether axes are valid, models answer, advocates are distinguished, refusals even, and plants recovered."""
    all_gates, lost = [], invalid_axes(run)
    if "validity" in run.found:
        n = len(asked_axes(run))
        count = f"{n - len(lost)} of {n} are" + (f"; not {some_of(list(lost['axis']))}" if len(lost) else "")
        all_gates.append(Gate("All axes that dilemmas are on are valid.", not len(lost), count, of_instrument=True))
    all_gates += model_gates(run)
    settings, alpha = Worldwise.of(run.study), run.study.inference.alpha
    if settings.has_reasons and settings.advocates:
        all_gates.append(
            judged(
                "What models say for the poles is distinguished.",
                records(stored_table(run, "quality_report", "advocates")),
                lambda row: bool(row["is_told_apart"]),
                lambda row: f"{row['model']} on {row['axis']}: {row['reason']}",
            )
        )
    if settings.has_reasons:
        all_gates.append(
            judged(
                "Refusals do not depend on the culture.",
                records(stored_table(run, "quality_report", "refusals")),
                lambda row: None if is_absent(row["p"]) else row["p_corrected"] > alpha,
                _row_name,
            )
        )
    if recovered := records(stored_table(run, "recovery", "measures")):
        gate = judged("What was planted is recovered.", recovered, lambda row: bool(row["is_within"]), _row_name)
        all_gates.append(replace(gate, of_instrument=True))
    return all_gates


def _row_name(row: Mapping[str, Any]) -> str:
    return " ".join(str(row[n]) for n in ("model", "measure", "axis", "form") if not is_absent(row.get(n)))


def claims(run: Run) -> list[Claim]:
    """What the study supports and what not, with the numbers."""
    of_planted = Claim("Anything about any model.", False, "answers were made up to test the instrument")
    return [
        *([of_planted] if run.study.is_planted else []),
        Claim("Anything about persons.", False, "scores of countries and means of dilemmas describe no person"),
        *_differences(run),
        *_agreement(run),
        *_gaps(run),
        *(
            Claim(f"Anything about reasons on {row['axis']}.", False, str(row["reason"]))
            for row in records(invalid_axes(run))
        ),
        *_published(run),
    ]


def _pairs_by_model(run: Run) -> dict[str, tuple[str, list[str], int]]:
    """By model: why its choices cannot be compared, if so; the pairs of cultures that they distinguish; all pairs."""
    pairs = stored_table(run, "alignment", "culture_pairs")
    by_model = {}
    for (model,), part in parts_of(rows_where(pairs, readout="choice"), ["model"]) if len(pairs) else ():
        refusal = str(part["reason"].iloc[0]) if (part["status"] == REFUSED).all() else ""
        distinguished = records(rows(part, part["is_told_apart"].isin([True])))
        by_model[model] = refusal, [f"{row['culture']} and {row['other_culture']}" for row in distinguished], len(part)
    return by_model


def _differences(run: Run) -> Iterator[Claim]:
    """For each model, whether its choices distinguish cultures."""
    for model, (refusal, pairs, n) in _pairs_by_model(run).items():
        count = f"{len(pairs)} of {n} pairs are distinguished" + (f": {some_of(pairs)}" if pairs else "")
        claim = f"{model}'s choices change with the culture of the persona."
        yield Claim(claim, bool(pairs) and not refusal, refusal or count)


def short_answers(run: Run) -> dict[str, str]:
    """By model, whether its choices differ between cultures, and as the scores of their countries do."""
    verdicts = stored_table(run, "alignment", "verdicts")
    answers = {}
    for model, (refusal, pairs, n) in _pairs_by_model(run).items():
        sentence = refusal.rstrip(".") or f"its choices differ in {len(pairs)} of {n} pairs of cultures"
        for row in records(rows_where(verdicts, model=model, readout="choice")) if len(verdicts) else []:
            if is_absent(row["verdict"]):
                why = str(row["reason"]).partition(";")[0]
                sentence += f"; whether cultures differ as the scores of their countries do is not known ({why})"
            else:
                sentence += f"; {row['verdict']}"
        answers[model] = f"{sentence}."
    return answers


def _agreement(run: Run) -> Iterator[Claim]:
    """The verdicts on agreement; one claim for all models and readouts with the same verdict."""
    verdicts = stored_table(run, "alignment", "verdicts")
    if not len(verdicts):
        return
    for because, part in verdicts.groupby(verdicts["verdict"].fillna(verdicts["reason"]), sort=False):
        names = some_of([f"{row['model']} ({READOUT_NAMES[row['readout']]})" for row in records(part)])
        claim = f"Cultures differ as the scores of their countries do: {names}."
        yield Claim(claim, because == FOLLOWED, str(because))


def _gaps(run: Run) -> Iterator[Claim]:
    """For each model, the axes on which its written decisions differ from its choices."""
    gaps, alpha = stored_table(run, "say_do_gap", "gaps"), run.study.inference.alpha
    if not len(gaps):
        return
    decisions = rows_where(gaps, measure="decision")
    for model in dict.fromkeys(rows_where(decisions, status=REFUSED)["model"]):
        why = str(rows_where(gaps, model=model, status=REFUSED)["reason"].iloc[0])
        yield Claim(f"{model}'s written decisions differ from its choices.", False, why)
    for model, part in rows(decisions, decisions["gap"].notna()).groupby("model", sort=False):
        rejected = records(rows(part, part["p_corrected"].astype(float) <= alpha))
        beyond = [
            f"{row['axis']} {spelled(row['gap'], row['gap_low'], row['gap_high'], digits=2)}, "
            f"{spelled_p(row['p_corrected'])}"
            for row in rejected
            if is_beyond(row, alpha)
        ]
        because = given(beyond) if beyond else f"none of {len(part)} gaps is beyond chance"
        if n_open := len(rejected) - len(beyond):
            because += f"; {counted(n_open, 'gap')} could be what is not written: missing answers could undo it"
        yield Claim(f"{model}'s written decisions differ from its choices.", bool(beyond), because)


def _published(run: Run) -> Iterator[Claim]:
    for row in records(stored_table(run, "seed_scores", "measures")):
        if row["measure"] == "mae" and not is_absent(row["value"]):
            yield Claim(
                f"That models are aligned with cultures, on the grounds of the published score ({row['composition']}).",
                False,
                f"its error is {row['value']:.2f}, that of a score of zero everywhere {row['zero']:.2f}, and "
                f"exchanged cultures do as well with {spelled_p(row['p'])}",
            )


def methods(run: Run) -> list[str]:
    """The methods, in sentences for a paper."""
    study, settings, how = run.study, Worldwise.of(run.study), run.study.inference
    models, cultures = chosen_models(run), list(settings.cultures)
    sentences = [
        f"{counted(len(models), 'model').capitalize()} ({some_of(models)}) chose in dilemmas with two options each, as "
        f"persons of {counted(len(cultures), 'culture')} ({some_of(cultures) or 'none'}), as a person from nowhere and "
        "without a persona; the probability of each option was read from next-token probabilities, in both orders."
    ]
    if settings.has_reasons:
        sentences.append(
            f"They were also left to write ({some_of(list(settings.forms))}; {counted(settings.draws, 'draw')} each, "
            f"temperature {settings.temperature:g}); reasons were placed on axes between sentences for the poles, as "
            f"the embedder {settings.embedder} has them, and measured "
            + ("by what the model itself says for each option." if settings.advocates else "by these sentences."),
        )
    if silent := [family for family in study.families if family not in models]:
        sentences.append(f"{some_of(silent)} chose nothing and {'is' if len(silent) == 1 else 'are'} in no table.")
    return [
        *sentences,
        f"Intervals are over dilemmas ({how.resamples:,} resamples) and meant to hold in {how.level:g} of cases; tests "
        f"exchange or permute within dilemmas. A corrected p-value counts up to {how.alpha:g}; it is corrected by "
        f"{CORRECTIONS[how.correction]} procedure, or step-down where the tests of a family are exchanged together.",
    ]


MISSING = "Every model was asked as every culture and control."
PARSED = "What models wrote can be read."


def stored_table(run: Run, asset: str, name: str) -> pd.DataFrame:
    """A table of an analysis; without columns if it is not there."""
    return run.frames(asset).get(name, pd.DataFrame())


def chosen_models(run: Run) -> list[str]:
    """The families that have choices."""
    return list(dict.fromkeys(model for model, _ in _cells(run)))


def family_rows(run: Run) -> list[dict[str, Any]]:
    """A row for each family of the study: its preflight, its cells, and the worth of its answers."""
    orders, verdicts, cells = _orders(run), run.found.get("preflight", {}), _cells(run)
    return [
        {
            "family": family,
            "preflight": preflight_word(verdicts.get(family)),
            "cells": f"{sum(model == family for model, _ in cells)} of {len(_conditions(run))}",
            **{name: orders.get(family, {}).get(name) for name in ("n_read", *OF_ORDERS)},
            "share_parsed": _share_parsed(run, family),
        }
        for family in run.study.families
    ]


def weaknesses(run: Run) -> list[str]:
    """Sentences on the families whose answers should be read with care."""
    sentences, verdicts, orders = [], run.found.get("preflight", {}), _orders(run)
    for gate, family in zip(preflight_gates(run), run.study.families, strict=False):
        if family in chosen_models(run):
            reason = orders.get(family, {}).get("reason")
            sentences += [] if is_absent(reason) else [f"{reason}."]
        elif not gate.is_passed and not gate.is_missing:
            failure = first_failure(verdicts.get(family))
            sentences.append(f"{family} failed its preflight and chose nothing: {failure}.")
        else:
            sentences.append(f"{family} chose nothing: its cells were not read.")
    return sentences


def model_gates(run: Run) -> Iterator[Gate]:
    """Preflight, missing cells, P_valid, agreement of orders, and the share of texts that can be read."""
    yield from preflight_gates(run)
    cells = [(family, culture) for family in run.study.families for culture in _conditions(run)]
    missing = [f"{family} as {culture}" for family, culture in cells if (family, culture) not in _cells(run)]
    count = f"{len(cells) - len(missing)} of {len(cells)} cells" + (f"; not {some_of(missing)}" if missing else "")
    yield Gate(MISSING, not missing, count)
    yield from order_gates(list(_orders(run).values()), run.study.thresholds, WORDS.things)
    settings = Worldwise.of(run.study)
    if settings.has_reasons:
        least = settings.thresholds.parsed
        yield judged(
            PARSED,
            [{"model": name, "share": _share_parsed(run, name)} for name in chosen_models(run)],
            lambda row: None if row["share"] is None else row["share"] >= least,
            lambda row: f"{row['model']} {row['share']:.0%}, {least:.0%} is asked for",
        )


def _conditions(run: Run) -> tuple[str, ...]:
    return (*Worldwise.of(run.study).cultures, *CONTROLS)


def _orders(run: Run) -> dict[str, dict[str, Any]]:
    return {row["model"]: row for row in records(stored_table(run, "reliability", "orders"))}


def _cells(run: Run) -> dict[tuple[str, str], None]:
    """Model and culture of each cell with choices, in order."""
    statuses = records(stored_table(run, "quality_report", "statuses"))
    return {(row["model"], row["culture"]): None for row in statuses if row["form"] == CHOICE}


def _share_parsed(run: Run, family: str) -> float | None:
    """Share of a family's texts that can be read, among those that exist and that nobody refused."""
    statuses = stored_table(run, "quality_report", "statuses")
    if not len(statuses):
        return None
    texts = rows_where(statuses, model=family)
    counts = texts.loc[texts["form"] != CHOICE].groupby("status")["n_status"].sum()
    n_read, n_unread = (int(counts.reindex(names).sum()) for names in ((OK, DECLINED), (LOOP, TRUNCATED, UNPARSED)))
    return n_read / (n_read + n_unread) if n_read + n_unread else None
