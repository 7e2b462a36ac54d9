"""What tables of cultural robustness let their reader claim and what not, with the numbers; and the page's gates."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from valuesassets.instruments.cultural_robustness.measures.scores import (
    DIVERSITY,
    FOLLOW,
    GAIN,
    OWN,
    ROBUSTNESS,
    STRUCTURE,
)
from valuesassets.instruments.cultural_robustness.report.page_tables import spelled_score
from valuesassets.records.frames import parts_of, records, rows, rows_where
from valuesassets.reporting.interval_words import given, spelled, spelled_p
from valuesassets.reporting.methods import counted, some_of
from valuesassets.reporting.parts import Claim, Frames, Gate, is_absent, number

ASKED_THE_SAME = (
    "All languages ask the same questions, each in its own language, and prompts for different countries differ."
)
KNOWN = "The embedder finds translations in every language."
RECOVERED = "The planted values were recovered."
ANSWERED = "Every model was asked in every language that it serves."
USABLE_SHARE = 0.8
COUNT = f"At least {USABLE_SHARE:.0%} of every model's answers in every language can be used."
SAYS = {
    GAIN: "Without a country, answers in different languages differ as cultures do, and not only as languages do",
    FOLLOW: "Where a country is named, answers in two languages are closer for the same country than for others",
    OWN: "Without a country, answers are closer to those for the country of their language than to those for others",
    STRUCTURE: "Some languages answer more alike than others, beyond what language does",
}
"""By score with a test: what it shows where it rejects and lies above 0. The first needs the third beside it: languages
may each have a way of answering that is no country's."""
RATIO_OF = {GAIN: DIVERSITY, FOLLOW: ROBUSTNESS}
PUBLISHED_SAYS = {
    "seed_diversity": "answers differ by culture",
    "seed_robustness": "a named country overrides the language",
    "cd": "answers differ by culture",
    "cr": "a named country overrides the language",
    "csp": "differences between languages are culture",
}
"""Published scores, and what they are taken to show."""


def claims(frames: Frames, is_planted: bool, alpha: float = 0.05) -> list[Claim]:
    """All of them: about whom, each test, languages that cannot be spoken of, published scores.

    Args:
        alpha: level of the tests.
    """
    listed = [*_tested(frames, alpha), *_left_out(frames), *_published(frames)]
    if is_planted:
        why = "answers were made up to test the instrument"
        listed.insert(0, Claim("Anything about the culture of any model.", False, why))
    return listed


def gates(frames: Frames) -> list[Gate]:
    """Whether questions ask the same, the embedder knows the languages, and what was planted came back."""
    listed = [
        _gate(ASKED_THE_SAME, frames.get("question_report"), _faults, is_empty_fine=True),
        _gate(KNOWN, frames.get("embedder_report"), _unknown, of_instrument=True),
    ]
    listed += [*_asked(frames), _gate(COUNT, frames.get("answer_quality"), _unusable)]
    if len(frames.get("calibration", ())):
        listed.append(_gate(RECOVERED, frames["calibration"], _lost, of_instrument=True))
    return listed


def _gate(
    sentence: str,
    table: pd.DataFrame | None,
    wrong: Any,
    is_empty_fine: bool = False,
    of_instrument: bool = False,
) -> Gate:
    """A gate that passes where a table holds nothing wrong."""
    if table is None or not (len(table) or is_empty_fine):
        why = "no such table was handed to the report, or it has no rows"
        return Gate(sentence, False, why, is_missing=True, of_instrument=of_instrument)
    lines, finding = wrong(table)
    return Gate(sentence, not lines, some_of(lines) if lines else finding, of_instrument=of_instrument)


def _faults(table: pd.DataFrame) -> tuple[list[str], str]:
    is_fault = ~table["is_warning"].astype(bool)
    listed = [f"{row['language']} {row['id'] or 'file'}: {row['fault']}" for row in records(rows(table, is_fault))]
    return listed, f"no fault, {counted(len(table), 'warning')}"


def _unknown(table: pd.DataFrame) -> tuple[list[str], str]:
    listed = [f"{row['language']}: {row['reason']}" for row in records(rows(table, table["status"] != "ok"))]
    least = table["found_share"].min()
    return listed, f"{len(table)} languages; at least {least:.2f} of the translations are found in each"


def weaknesses(quality: pd.DataFrame) -> list[str]:
    """What a reader has to know of each model's answers before anything else, in sentences; none where they are fine.

    Args:
        quality: rows of `ANSWER_QUALITY`, with `model` where there are several.
    """
    keys = ["model", "language"] if "model" in quality else ["language"]
    low = [(key, part) for key, part in parts_of(quality, keys) if (part["status"] == "ok").mean() < USABLE_SHARE]
    return [f"{' in '.join(key)} {_faults_of(part)}." for key, part in low]


def _faults_of(part: pd.DataFrame) -> str:
    counts = part["status"].value_counts()
    faults = ", ".join(f"{n} {str(name).replace('_', ' ')}" for name, n in counts.items() if name != "ok")
    return f"gives {int((part['status'] == 'ok').sum())} of {len(part)} answers that can be used: {faults}"


def _unusable(table: pd.DataFrame) -> tuple[list[str], str]:
    shares = [float((part["status"] == "ok").mean()) for _, part in parts_of(table, ["model", "language"])]
    finding = f"at least {min(shares):.0%} of each model's answers in each language"
    return [each.rstrip(".") for each in weaknesses(table)], finding


def _asked(frames: Frames) -> Iterator[Gate]:
    """Whether there are answers of every cell; of a study, which knows what should be."""
    wanted, quality = frames.get("cells"), frames.get("answer_quality")
    if wanted is None:
        return
    there = set() if quality is None else set(zip(quality["model"], quality["language"], strict=True))
    missing = [row for row in records(wanted) if (row["model"], row["language"]) not in there]
    lacking = [f"{row['model']} in {row['language']}" for row in missing]
    missing_words = f"; missing: {some_of(lacking)}" if lacking else ""
    finding = f"{len(wanted) - len(lacking)} of {len(wanted)} cells{missing_words}"
    yield Gate(ANSWERED, not lacking, finding)


def _lost(table: pd.DataFrame) -> tuple[list[str], str]:
    off = rows(table, ~table["is_recovered"].astype(bool))
    listed = [
        f"{row['model']}, {row['fact']}: recovered {spelled(row['recovered'])}, planted {spelled(row['planted'])}"
        for row in records(off)
    ]
    return listed, f"{len(table)} facts"


def _tested(frames: Frames, alpha: float) -> Iterator[Claim]:
    """For each test one claim for the models in which it shows something, and one for the others."""
    scores = frames.get("scores")
    if scores is None or not len(scores):
        return
    for name, sentence in SAYS.items():
        sides: dict[bool, list[tuple[str, str]]] = {True: [], False: []}
        for model, by_score in _by_model(scores).items():
            if name in by_score:
                is_shown, numbers = _finding(by_score, name, alpha)
                sides[is_shown].append((model, numbers))
        for is_shown, findings in sides.items():
            if findings:
                models = some_of([model for model, _ in findings])
                yield Claim(f"{sentence} ({models}).", is_shown, given([f"{m}: {words}" for m, words in findings]))


def _by_model(scores: pd.DataFrame) -> dict[str, dict[str, Mapping[str, Any]]]:
    return {model: {row["score"]: row for row in records(part)} for (model,), part in parts_of(scores, ["model"])}


def _finding(by_score: Mapping[str, Mapping[str, Any]], name: str, alpha: float) -> tuple[bool, str]:
    """Whether a model's score shows what it is made to show, and its numbers."""
    is_shown, numbers = _is_shown(by_score[name], alpha), _numbers(by_score, name)
    if name == GAIN and is_shown and not (OWN in by_score and _is_shown(by_score[OWN], alpha)):
        return False, f"{numbers}; but these answers are not shown to be closer to the answers for their own countries"
    return is_shown, numbers


SHORT = {
    (GAIN, True): "without a country, its answers differ between languages as cultures do",
    (GAIN, False): "without a country, its answers are not shown to differ between languages as cultures do",
    (FOLLOW, True): "naming a country brings its answers in different languages closer together",
    (FOLLOW, False): "naming a country is not shown to bring its answers in different languages closer together",
}


def short_answers(frames: Frames, alpha: float) -> dict[str, str]:
    """A sentence by model: whether answers differ by culture without a country, and follow a country that is named."""
    scores = frames.get("scores")
    if scores is None or not len(scores):
        return {}
    answers = {}
    for model, by_score in _by_model(scores).items():
        findings = [(name, _finding(by_score, name, alpha)[0]) for name in (GAIN, FOLLOW) if name in by_score]
        sentences = [f"{SHORT[name, is_shown]} ({_in_brief(by_score[name])})" for name, is_shown in findings]
        answers[model] = f"{'; '.join(sentences)}."
    return answers


def _in_brief(row: Mapping[str, Any]) -> str:
    """A score and its p-value, or why there is none."""
    if is_absent(row["value"]):
        return str(row["reason"]).rstrip(".")
    return f"{str(row['score']).replace('_', ' ')} {spelled_score(row)}, {spelled_p(row['p'])}"


def _is_shown(row: Mapping[str, Any], alpha: float) -> bool:
    """Whether a score lies above 0 beyond chance: by its test, and by its interval where it has one."""
    if is_absent(row["value"]) or is_absent(row["p"]):
        return False
    return row["p"] <= alpha and row["value"] > 0 and (is_absent(row["low"]) or row["low"] > 0)


def _numbers(by_score: Mapping[str, Mapping[str, Any]], name: str) -> str:
    row, ratio = by_score[name], by_score.get(RATIO_OF.get(name, ""))
    if is_absent(row["value"]):
        return str(row["reason"])
    words = f"{name} {spelled_score(row)}, {spelled_p(row['p'])}"
    words += "" if is_absent(row["null"]) else f", {number(float(row['null']))} by chance"
    if ratio is not None and not is_absent(ratio["value"]):
        words += f"; {ratio['score']} {spelled(ratio['value'], ratio['low'], ratio['high'], digits=2)}"
    return words


def _left_out(frames: Frames) -> Iterator[Claim]:
    """Languages that nothing is said about."""
    for row in records(frames.get("dropped", pd.DataFrame())):
        yield Claim(f"Anything about {row['model']} in {row['language']}.", False, str(row["reason"]))
    embedder = frames.get("embedder_report", pd.DataFrame(columns=pd.Index(["status"])))
    for row in records(rows_where(embedder, status="unknown_language")):
        yield Claim(f"Anything that rests on answers in {row['language']}.", False, f"the embedder {row['reason']}")


def _published(frames: Frames) -> Iterator[Claim]:
    """What published scores are taken to show and do not, with what they give without it."""
    scores = frames.get("scores")
    if scores is None:
        return
    by_meaning: dict[str, list[str]] = {}
    for name, meaning in PUBLISHED_SAYS.items():
        for row in records(rows_where(scores, score=name)):
            if not is_absent(row["value"]):
                null = "" if is_absent(row["null"]) else f" (null {spelled(row['null'])})"
                by_meaning.setdefault(meaning, []).append(f"{row['model']}, {name} {spelled(row['value'])}{null}")
    for meaning, values in by_meaning.items():
        sentence = f"A published score shows that {meaning}."
        yield Claim(sentence, False, "the score cannot separate culture from language and noise; " + given(values))
