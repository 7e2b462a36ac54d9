"""The words of the page that worldwise ends in: a section for each question, worldWiseAI's figures in an appendix."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from valuesassets.answers.calibration import summarise_recovery
from valuesassets.instruments.worldwise.analyses import ANALYSES
from valuesassets.instruments.worldwise.answers.scenario_answers import READOUT_NAMES
from valuesassets.instruments.worldwise.measures.alignment import FOLLOWED
from valuesassets.instruments.worldwise.measures.inference import REFUSED
from valuesassets.instruments.worldwise.measures.say_do_gap import is_beyond
from valuesassets.instruments.worldwise.report.model_gates import chosen_models, family_rows, model_gates, weaknesses
from valuesassets.records.frames import records, rows, rows_where
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.study import Study
from valuesassets.reporting.analyses import Analysis
from valuesassets.reporting.in_short import in_short
from valuesassets.reporting.interval_words import given, spelled, spelled_p
from valuesassets.reporting.methods import CORRECTIONS, counted, some_of, sources_of_tables
from valuesassets.reporting.model_gates import judged
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
"""By key of its entry: the assets of which any makes it a source; none: every page rests on it."""
OF_POSITIONS = ("cultural_profiles", "alignment", "say_do_gap")
"""Sections whose figures have reasons in them."""
FIRST_COLUMNS = ("axis", "held_out_auc", "p", "is_valid", "reason")


def within_study(run: Run) -> Run:
    """The run with the validity of its axes; of choices alone without figures of axes, which are not there."""
    if "axes" in run.found:
        return replace(run, found={**run.found, "validity": run.found["axes"]["validity"]})
    return replace(run, analyses={name: _without(each, "validity") for name, each in run.analyses.items()})


def opening(run: Run) -> Section:
    """What the page opens with: whether each model's choices change with the culture, and which checks failed."""
    return in_short(short_answers(run), run.gates, claims(run), weaknesses(run))


def beside_claims(section: Section, run: Run) -> None:
    """Add what each model is worth as an answerer."""
    section.tables.insert(0, table("What each model of the study is worth as an answerer.", family_rows(run)))


def sections(run: Run) -> list[Section]:
    """A section for each analysis, then what the calibration of choices says."""
    lost = invalid_axes(run)
    page_sections = [_section(run, name, lost) for name in run.analyses]
    if "calibration" in run.found:
        if "recovery" not in run.analyses:
            page_sections.append(Section("recovery", ANALYSES["recovery"].title, [ANALYSES["recovery"].caution]))
        _show_calibration(page_sections[-1], run.study, run.found["calibration"])
    return page_sections


def sources(run: Run) -> tuple[str, ...]:
    """Keys of the entries of what the tables rest on."""
    used = {name: [1] for name, tables in run.found.items() if not isinstance(tables, Refused)}
    return sources_of_tables(RESTS_ON, used, run.study.inference.correction)  # type: ignore[arg-type]


def _without(analysis: Analysis, table: str) -> Analysis:
    """An analysis without the figures of a table."""
    return replace(analysis, drawings=tuple(each for each in analysis.drawings if table not in each.tables))


def asked_axes(run: Run) -> pd.DataFrame:
    """The rows of `AXIS_VALIDITY` of the study's embedder, of axes that there are dilemmas on."""
    if "validity" not in run.found:
        return pd.DataFrame(columns=pd.Index(FIRST_COLUMNS))
    validity, bounds = run.found["validity"], run.frames("quality_report").get("bounds")
    own = validity["embedder"] == Worldwise.of(run.study).embedder
    return rows(validity, own if bounds is None else own & validity["axis"].isin(list(bounds["axis"])))


def invalid_axes(run: Run) -> pd.DataFrame:
    """Those of them that no reason is placed on."""
    axes = asked_axes(run)
    return rows(axes, ~axes["is_valid"].astype(bool))


def _section(run: Run, name: str, lost: pd.DataFrame) -> Section:
    """The section of an analysis; on axes that are not valid a table stands in place of the figure of reasons."""
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
    """Whether axes are valid, what each model is worth, advocates distinguished, refusals even, plants recovered."""
    all_gates, lost = [], invalid_axes(run)
    if "validity" in run.found:
        n = len(asked_axes(run))
        count = f"{n - len(lost)} of {n} are" + (f"; not {some_of(list(lost['axis']))}" if len(lost) else "")
        all_gates.append(Gate("All axes that dilemmas are on are valid.", not len(lost), count, of_instrument=True))
    all_gates += model_gates(run)
    alpha = run.study.inference.alpha
    quality = run.frames("quality_report")
    if Worldwise.of(run.study).has_reasons:
        advocates = records(quality.get("advocates", pd.DataFrame()))
        refusals = records(quality.get("refusals", pd.DataFrame()))
        if Worldwise.of(run.study).advocates:
            sentence = "What models say for the poles is told apart."
            all_gates.append(judged(sentence, advocates, lambda row: bool(row["is_told_apart"]), _of_advocates))
        even = "Refusals do not depend on the culture."
        all_gates.append(
            judged(even, refusals, lambda row: None if is_absent(row["p"]) else row["p_corrected"] > alpha, _of_form)
        )
    recovered = records(run.frames("recovery").get("measures", pd.DataFrame()))
    if recovered:
        all_gates.append(
            replace(
                judged("What was planted is found again.", recovered, lambda row: bool(row["is_within"]), _of_form),
                of_instrument=True,
            )
        )
    return all_gates


def _of_advocates(row: Mapping[str, Any]) -> str:
    return f"{row['model']} on {row['axis']}: {row['reason']}"


def _of_form(row: Mapping[str, Any]) -> str:
    return " ".join(str(row[n]) for n in ("model", "measure", "axis", "form") if not is_absent(row.get(n)))


def claims(run: Run) -> list[Claim]:
    """What the study lets its reader claim and what not, with the numbers."""
    all_claims = [
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
    if run.study.is_planted:
        all_claims.insert(0, Claim("Anything about any model.", False, "answers were made up to test the instrument"))
    return all_claims


def _differences(run: Run) -> Iterator[Claim]:
    """Of each model, the pairs of cultures that it tells apart by its choices."""
    pairs = run.frames("alignment").get("culture_pairs", pd.DataFrame())
    if not len(pairs):
        return
    chosen = rows(pairs, pairs["readout"] == "choice")
    for model, part in chosen.groupby("model", sort=False):
        chooses = f"{model}'s choices change with the culture of the persona."
        if (part["status"] == REFUSED).all():
            yield Claim(chooses, False, str(part["reason"].iloc[0]))
            continue
        distinguished = rows(part, part["is_told_apart"].isin([True]))
        named = [f"{row['culture']} and {row['other_culture']}" for row in records(distinguished)]
        because = f"{len(distinguished)} of {len(part)} pairs are told apart" + (f": {some_of(named)}" if named else "")
        yield Claim(chooses, bool(len(distinguished)), because)


def short_answers(run: Run) -> dict[str, str]:
    """A sentence by model: whether its choices differ between cultures, and as the scores of their countries do."""
    frames = run.frames("alignment")
    pairs, verdicts = (frames.get(name, pd.DataFrame()) for name in ("culture_pairs", "verdicts"))
    if not len(pairs):
        return {}
    answers = {}
    for model, part in rows(pairs, pairs["readout"] == "choice").groupby("model", sort=False):
        distinguished = rows(part, part["is_told_apart"].isin([True]))
        sentence = f"its choices differ in {len(distinguished)} of {len(part)} pairs of cultures"
        if (part["status"] == REFUSED).all():
            sentence = str(part["reason"].iloc[0]).rstrip(".")
        own = records(rows_where(verdicts, model=model, readout="choice")) if len(verdicts) else []
        for row in own:
            if is_absent(row["verdict"]):
                why = str(row["reason"]).partition(";")[0]
                sentence += f"; whether cultures differ as the scores of their countries do is not known ({why})"
            else:
                sentence += f"; {row['verdict']}"
        answers[str(model)] = f"{sentence}."
    return answers


def _agreement(run: Run) -> Iterator[Claim]:
    """What agreement amounts to; one claim for all models and readouts that the same is said of."""
    verdicts = run.frames("alignment").get("verdicts", pd.DataFrame())
    if not len(verdicts):
        return
    verdict_or_reason = verdicts["verdict"].fillna(verdicts["reason"])
    for because, part in verdicts.groupby(verdict_or_reason, sort=False):
        of = some_of([f"{row['model']} ({READOUT_NAMES[row['readout']]})" for row in records(part)])
        yield Claim(f"Cultures differ as the scores of their countries do: {of}.", because == FOLLOWED, str(because))


def _gaps(run: Run) -> Iterator[Claim]:
    """Of each model the axes on which it writes otherwise than it chooses."""
    gaps = run.frames("say_do_gap").get("gaps", pd.DataFrame())
    if not len(gaps):
        return
    decided = rows(gaps, (gaps["measure"] == "decision") & gaps["gap"].notna())
    for model in dict.fromkeys(rows(gaps, (gaps["measure"] == "decision") & (gaps["status"] == REFUSED))["model"]):
        why = str(rows_where(gaps, model=model, status=REFUSED)["reason"].iloc[0])
        yield Claim(f"{model}'s written decisions differ from its choices.", False, why)
    for model, part in decided.groupby("model", sort=False):
        alpha = run.study.inference.alpha
        by_chance = rows(part, part["p_corrected"].astype(float) <= alpha)
        beyond = rows(by_chance, [is_beyond(row, alpha) for row in records(by_chance)])
        gap_words = [
            f"{row['axis']} {spelled(row['gap'], row['gap_low'], row['gap_high'], digits=2)}, "
            f"{spelled_p(row['p_corrected'])}"
            for row in records(beyond)
        ]
        because = given(gap_words) if gap_words else f"none of {len(part)} gaps is beyond chance"
        if n_open := len(by_chance) - len(beyond):
            because += f"; {counted(n_open, 'gap')} could be what is not written: missing answers could undo it"
        yield Claim(f"{model}'s written decisions differ from its choices.", bool(gap_words), because)


def _published(run: Run) -> Iterator[Claim]:
    measures = run.frames("seed_scores").get("measures", pd.DataFrame())
    for row in records(measures):
        if row["measure"] == "mae" and not is_absent(row["value"]):
            yield Claim(
                f"That models are aligned with cultures, on the grounds of the published score ({row['composition']}).",
                False,
                f"its error is {row['value']:.2f}, that of a score of zero everywhere {row['zero']:.2f}, and "
                f"exchanged cultures do as well with {spelled_p(row['p'])}",
            )


def methods(run: Run) -> list[str]:
    """What was done, in sentences for a paper."""
    study, settings, how = run.study, Worldwise.of(run.study), run.study.inference
    models, cultures = chosen_models(run), list(settings.cultures)
    silent = [family for family in study.families if family not in models]
    sentences = [
        f"{counted(len(models), 'model').capitalize()} ({some_of(models)}) chose in dilemmas with two options each, as "
        f"persons of {counted(len(cultures), 'culture')} ({some_of(cultures) or 'none'}), as a person from nowhere and "
        "without a persona; the probability of each option was read from next-token probabilities, in both orders.",
        *(
            [f"{some_of(silent)} chose nothing and {'is' if len(silent) == 1 else 'are'} in no table."]
            if silent
            else []
        ),
        f"Intervals are over dilemmas ({how.resamples:,} resamples) and meant to hold in {how.level:g} of cases; tests "
        f"exchange or permute within dilemmas. A corrected p-value counts up to {how.alpha:g}; it is corrected by "
        f"{CORRECTIONS[how.correction]} procedure, or step-down where the tests of a family are exchanged together.",
    ]
    if settings.has_reasons:
        sentences.insert(
            1,
            f"They were also left to write ({some_of(list(settings.forms))}; {counted(settings.draws, 'draw')} each, "
            f"temperature {settings.temperature:g}); reasons were placed on axes between sentences for the poles, as "
            f"the embedder {settings.embedder} has them, and measured "
            + ("by what the model itself says for each option." if settings.advocates else "by these sentences."),
        )
    return sentences
