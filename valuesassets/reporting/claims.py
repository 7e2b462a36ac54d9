"""The claims that a run supports or does not support, with reasons, and the gates of the study.

A gate is a sentence that is true if the gate passed, with its outcome; a gate that was not checked has not passed. An
instrument adds its own claims and gates to these.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.records.frames import column, records, rows, rows_where
from valuesassets.records.instruments import named
from valuesassets.reporting.analyses import QUESTIONS
from valuesassets.reporting.interval_words import spelled
from valuesassets.reporting.methods import capital, counted, each_in, listed, planted_families, share_of, some_of, was
from valuesassets.reporting.option_orders import is_without_evidence
from valuesassets.reporting.parts import Claim, Gate, Refused, Section, is_absent
from valuesassets.reporting.run import Run

TEST_COLUMNS = (
    *("test_family", "test", "statistic", "value", "p", "p_corrected", "correction", "is_rejected"),
    *("n", "n_resamples", "seed", "verdict"),
)
RANKINGS = frozenset(["map", "own country", "nearest neighbours", "resources", "mono vs multi", "reliability"])
"""Families of tests whose claims do not hold for a family of models that is not reliable."""
COEFFICIENTS = {"generalizability": "generalizability", "beyond_position": "beyond position"}
NOT_TESTED = "not tested"
VAGUE = "; the family's answers are not reliable"
RELIABLE = "What sets the languages of {} apart replicates in other wordings."
MUST_FAIL = "The calibration refused another language's reference model in every pair tried."


def beside_claims(section: Section, run: Run) -> None:
    """Add to the section of claims the design of the study, the data left out with reasons, and every test."""
    study, gates = run.study, run.gates
    families = capital(counted(len(study.families), "model family", "model families"))
    languages = [f"{each.name} ({code}, {each.country})" for code, each in study.languages.items()]
    outcomes = Counter(gate.outcome for gate in gates)
    section.paragraphs += [
        f"{families} ({', '.join(study.families)}) in {counted(len(languages), 'language')}: "
        f"{counted(len(study.cells()), 'cell')}. {', '.join(languages)}.",
        f"Gates: {outcomes['passed']} passed, {outcomes['failed']} failed, {outcomes['missing']} not checked."
        if gates
        else "No gates were handed to the report.",
    ]
    if not section.refusals:
        section.paragraphs.append("Every figure and table of the study is on this page.")
    _tabulate_unused(section, run)
    if run.tests is not None:
        rule = f"p corrected within its family; a test counts at {study.inference.alpha:g} or below."
        section.tabulate(f"Every test of this run, {rule}", run.tests, TEST_COLUMNS)


def by_question(claims: Iterable[Claim]) -> list[Claim]:
    """The claims sorted by their questions, in the order of `QUESTIONS`; claims with other questions come last."""
    places = {question: place for place, question in enumerate(QUESTIONS)}
    return sorted(claims, key=lambda claim: (places.get(claim.question, len(places)), claim.question))


def about_whom(run: Run) -> Iterator[Claim]:
    """The claims that planted answers do not support, about models or people."""
    planted = planted_families(run.study)
    if planted:
        whom = "any model" if len(planted) == len(run.study.families) else listed(planted)
        reason = f"{listed(planted)} {was(planted)} trained here to give planted answers"
        yield Claim(f"Anything about the values of {whom}.", False, reason)
    if run.study.human.source == "planted":
        yield Claim("Anything about people.", False, "the respondents are synthetic, drawn from planted distributions")


def exactness(run: Run) -> Iterator[Claim]:
    """Whether the readings recovered the planted answers."""
    calibration, controls = run.part("calibration"), run.part("negative_controls")
    if isinstance(calibration, Refused):
        reason = calibration.reason if run.study.has_reference_models else "nothing was planted in this study"
        yield Claim("That the readings are exact on these prompts.", False, reason)
        return
    cells = rows_where(calibration["recovery"], response_type="all")
    n_recovered = int(cells["is_recovered"].astype(bool).sum())
    because = f"{share_of(n_recovered, len(cells), 'calibrated cell')} within the bounds"
    is_supported = n_recovered == len(cells) > 0
    if isinstance(controls, pd.DataFrame):
        n_failing = int(controls["fails"].astype(bool).sum())
        because += f"; {share_of(n_failing, len(controls), 'pair')} of another language failed, as they must"
        is_supported &= n_failing == len(controls)
    elif run.study.control_families:
        because += f"; {controls.reason}"
        is_supported = False
    sentence = "The readings recover planted answers within the study's bounds"
    sentence += ", and another language's model does not pass." if run.has_controls else "."
    yield _claim(sentence, is_supported, because)


def answers(run: Run) -> Iterator[Claim]:
    """How many answers can be used, and which cells cannot."""
    if not run.quality:
        yield Claim("Anything about answers.", False, "no quality report says which of them can be trusted")
        return
    readings = run.quality.get("readings", pd.DataFrame())
    n_usable = int(readings["is_usable"].astype(bool).sum()) if len(readings) else 0
    if n_usable:
        share = f"{n_usable:,} of {len(readings):,} answer distributions (an item in a cell) can be used."
        yield Claim(share, True, "they pass the study's rules on P_valid, and their labels could be distinguished")
    doubtful = run.cells_that("is_missing", "is_flagged")
    if len(doubtful):
        cells = some_of(each_in(doubtful, "{model} in {language}"))
        yield Claim(f"Anything that rests on {cells}.", False, "missing or flagged; the table below says why")


def reliable(run: Run) -> Iterator[Claim]:
    """Whether the differences between the languages of each family replicate in other wordings."""
    for row in records(run.frames("reliability").get("families", pd.DataFrame())):
        sentence = f"The differences between the languages of {row['model']} replicate in other wordings."
        is_reliable = row.get("is_reliable")
        if is_reliable is None or pd.isna(is_reliable):
            yield _claim(sentence, False, str(row.get("reason") or "it was not measured"))
        else:
            yield _claim(sentence, bool(is_reliable), _generalizability_words(row))


def _generalizability_words(row: Mapping[str, Any]) -> str:
    """The generalizability of a family's differences between languages, and their size beside people's."""
    words = f"generalizability {_value(row['generalizability'])}"
    if not is_absent(row.get("beyond_position")):
        words += f", {_value(row['beyond_position'])} beyond position"
    words += f"; at least {_value(row['threshold'])} is required"
    lows = [float(row.get(f"{name}_low", "nan")) for name in ("generalizability", "beyond_position")]
    words += ", an interval holds 0" * any(low <= 0 for low in lows)
    if not is_absent(row.get("languages_sd_unit")):
        words += f"; languages differ by {_value(row['languages_sd_unit'])} of a scale (standard deviation)"
        countries = row.get("countries_sd_unit")
        words += "" if is_absent(countries) else f", countries by {_value(countries)}"
    return words


def coefficients_in_words(row: Mapping[str, Any]) -> str:
    """The reliability coefficients that a family has, with their intervals."""
    present = (name for name in COEFFICIENTS if not is_absent(row.get(name)))
    ends = {name: (row.get(f"{name}_low"), row.get(f"{name}_high")) for name in present}
    return ", ".join(f"{COEFFICIENTS[name]} {spelled(row[name], *ends[name], digits=2)}" for name in ends)


def unreliable(run: Run) -> set[str]:
    """The families whose differences between languages do not replicate, or whose answers follow position."""
    families = run.frames("reliability").get("families", pd.DataFrame())
    vague = {str(row["model"]) for row in records(families) if row.get("is_reliable") in (False, np.False_)}
    return vague | {family for family in run.study.families if is_without_evidence(run, family)}


def tested(run: Run) -> Iterator[Claim]:
    """A claim for each verdict and each test that decides; tests of a family with a comma in its name decide nothing.

    If several tests have one name, each claim names its statistic.
    """
    vague, deciding = unreliable(run), {name: analysis for name, analysis in run.analyses.items() if analysis.decides}
    for name, analysis in deciding.items():
        # A verdict sums up all tests of a family; a single test does not.
        for row in records(run.frames(name).get("verdicts", pd.DataFrame())):
            verdict = row["verdict"] if isinstance(row["verdict"], str) else row.get("reason")
            is_vague = row["model"] in vague
            counts = verdict == named(analysis.decides) and not is_vague
            sentence, because = analysis.claim.format(model=row["model"]), f"{name}: {verdict}" + VAGUE * is_vague
            yield Claim(sentence, counts, because, analysis.question)
    tests = [] if run.tests is None else records(run.tests)
    tests = [row for row in tests if "," not in str(row["test_family"]) and row["test_family"] not in deciding]
    unmeasured = [row for row in tests if not _is_measured(row)]
    tests = [row for row in tests if _is_measured(row)]
    n_by_test = Counter(str(row["test"]) for row in tests)
    for row in tests:
        # A test names one family before a colon, or two with `and` between them.
        family = str(row["test_family"]).partition(" (")[0]
        is_vague = family in RANKINGS and not vague.isdisjoint(re.split(r":| and | differ ", row["test"]))
        counts = not is_vague and not pd.isna(row["is_rejected"]) and bool(row["is_rejected"])
        verdict, p = row.get("verdict"), row["p_corrected"]
        because = f"{row['test_family']}: {row['statistic']} {_value(row['value'])}, "
        because += "no p-value" if p is None or pd.isna(p) else f"corrected p = {p:.3g}"
        because += f"; {verdict}" if isinstance(verdict, str) and verdict else ""
        sentence = str(row["test"]).rstrip(".")
        begins_with_name = ":" in sentence or sentence.startswith(tuple(run.study.families))
        sentence = sentence if begins_with_name else capital(sentence)
        sentence += f" ({str(row['statistic']).replace('_', ' ')})" if n_by_test[str(row["test"])] > 1 else ""
        yield Claim(f"{sentence}.", counts, because + VAGUE * is_vague, run.analyses[row["analysis"]].question)
    yield from _not_tested(run, unmeasured)


def _is_measured(test: Mapping[str, Any]) -> bool:
    return not (is_absent(test["p_corrected"]) and is_absent(test["value"]))


def _not_tested(run: Run, tests: Sequence[Mapping[str, Any]]) -> Iterator[Claim]:
    """One unsupported claim for all tests of a family without a value, with the reason of the first."""
    families: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in tests:
        families.setdefault((str(row["analysis"]), str(row["test_family"]).partition(" (")[0]), []).append(row)
    for (analysis, family), family_tests in families.items():
        verdicts = [str(row["verdict"]) for row in family_tests if isinstance(row.get("verdict"), str)]
        reasons = [reason for reason in dict.fromkeys(verdicts) if reason != NOT_TESTED]
        because = f"{NOT_TESTED}: {reasons[0]}" if reasons else NOT_TESTED
        because += "; the table of all tests has the other reasons" if len(reasons) > 1 else ""
        sentence = f"Anything that {counted(len(family_tests), 'test')} of {family} would show."
        yield Claim(sentence, False, because, run.analyses[analysis].question)


def likeness(run: Run) -> Iterator[Claim]:
    """The unsupported claim about people, if the run has no people."""
    if isinstance(human := run.part("human_distributions"), Refused):
        yield Claim("How near models are to people.", False, human.reason)


def _tabulate_unused(section: Section, run: Run) -> None:
    """Add tables of the cells, items and answers that no analysis uses, with reasons."""
    doubtful, reason = run.cells_that("is_missing", "is_flagged"), ["model", "language", "reason"]
    section.tabulate("Cells missing or flagged, and why.", doubtful, reason)
    section.tabulate("Items dropped everywhere, and why.", run.dropped, ["question_id", "response_type", "reason"])
    readings = run.quality.get("readings", pd.DataFrame())
    if len(readings):
        unused = rows(readings, ~readings["is_usable"].astype(bool))
        groups = unused.assign(reason=unused["reason"].fillna("")).groupby(["standing", "reason"], sort=True)
        counts = [
            {"standing": standing, "reason": reason, "answers": len(part), "items": part["question_id"].nunique()}
            | {"cells": len(part.drop_duplicates(["model", "language"]))}
            for (standing, reason), part in groups  # type: ignore[misc]
        ]
        section.tabulate("Answers that no analysis uses, by reason.", counts)


def _claim(sentence: str, is_supported: bool, because: str) -> Claim:
    """A claim; if it is not supported, its sentence begins with `That`."""
    return Claim(sentence if is_supported else f"That {sentence[0].lower()}{sentence[1:]}", is_supported, because)


def _value(value: Any) -> str:
    return "not available" if value is None or pd.isna(value) else f"{value:.3g}"


def preflight_gates(run: Run) -> Iterator[Gate]:
    """One gate per family: whether every cell passed its preflight; cells that failed are left out."""
    preflight = run.found.get("preflight", {})
    for family in run.study.families:
        sentence, parts = f"Every cell of {family} passed its preflight.", preflight.get(family, {}).get("parts")
        if not parts:
            yield Gate(sentence, False, "no preflight yet", is_missing=True)
            continue
        failed = {part: verdict for part, verdict in parts.items() if verdict["reason"]}
        outcome = f"{len(parts) - len(failed)} of {len(parts)} cells passed"
        for part, verdict in failed.items():
            fate = f"overridden: {verdict['override']}" if verdict["override"] else "left out"
            outcome += f"; {part}: {verdict['reason']} ({fate})"
        yield Gate(sentence, not failed, outcome)


def calibration_gates(run: Run) -> Iterator[Gate]:
    """Whether planted answers were recovered, and whether the negative controls failed, if the study has any."""
    calibration, controls = run.part("calibration"), run.part("negative_controls")
    if isinstance(calibration, Refused):
        yield Gate("Planted answers were recovered.", False, calibration.reason, is_missing=True)
    else:
        cells = rows_where(calibration["recovery"], response_type="all")
        off_cells = each_in(rows(cells, ~column(cells, "is_recovered").astype(bool)), "{model}/{language}")
        yield _every("Planted answers were recovered in every calibrated cell.", len(cells), " cells", "off", off_cells)
    if run.has_controls and isinstance(controls, Refused):
        yield Gate(MUST_FAIL, False, controls.reason, is_missing=True)
    elif run.has_controls:
        passed = rows(controls, ~column(controls, "fails").astype(bool))
        wrong_pairs = each_in(passed, "{language} answered by {answered_by}")
        yield _every(MUST_FAIL, len(controls), " pairs failed", "not", wrong_pairs)


def quality_gates(run: Run) -> Iterator[Gate]:
    """Whether every cell can be trusted, and whether every question was kept."""
    n_cells, n_questions = (len(run.quality.get(name, ())) for name in ("cells", "questions"))
    doubtful = each_in(run.cells_that("is_missing", "is_flagged"), "{model}/{language}")
    yield _every("Every cell of the grid was read and can be trusted.", n_cells, "", "not", doubtful)
    dropped = run.dropped["question_id"].tolist() if n_questions else []
    outcome = f"{n_questions} questions" + (f"; dropped: {', '.join(dropped)}" if dropped else ", none dropped")
    yield Gate("No question was dropped.", bool(n_questions) and not dropped, outcome, is_missing=not n_questions)


def reliability_gates(run: Run) -> Iterator[Gate]:
    """One gate per family: whether its reliability reaches the study's threshold; missing if it was not measured."""
    reliability, threshold = run.part("reliability"), run.study.thresholds.reliability
    if isinstance(reliability, Refused):
        yield Gate(RELIABLE.format("the families"), False, reliability.reason, is_missing=True)
        return
    for row in records(reliability["families"]):
        if is_absent(row.get("generalizability")):
            yield Gate(RELIABLE.format(row["model"]), False, str(row["reason"]), is_missing=True)
            continue
        present = [name for name in COEFFICIENTS if not is_absent(row.get(name))]
        is_above = min(row[name] for name in present) >= threshold
        holds_0 = any(row[f"{name}_low"] <= 0 for name in present)
        words = f"{coefficients_in_words(row)}; at least {threshold:g} is required"
        words += ", and an interval without 0" * holds_0
        yield Gate(RELIABLE.format(row["model"]), is_above and not holds_0, words)


def _every(sentence: str, total: int, things: str, wrong_is: str, wrong: Sequence[str]) -> Gate:
    """A gate that passes if there are things to check and none is wrong; its outcome names the wrong ones.

    Args:
        things: what was counted, with a space in front.
        wrong_is: the word in front of the wrong ones.
    """
    outcome = f"{total - len(wrong)} of {total}{things}" + (f"; {wrong_is}: {', '.join(wrong)}" if wrong else "")
    return Gate(sentence, bool(total) and not wrong, outcome, is_missing=not total)
