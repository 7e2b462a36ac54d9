"""`preflight`: a test with ten questions per cell before GPU hours are spent, with a verdict for each part."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from valuesassets.measure.distances import Distribution, distribution, tvd
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.records.trials import Reading, Status, Trial, main_trials

Side = Literal["low", "high"]
"""The end of a scale to which answers lean."""


@dataclass(frozen=True)
class Finding:
    """The result of one check of one cell."""

    model: str
    part: str
    what: str
    found: float | None
    wanted: str
    passed: bool
    is_gate: bool
    """Whether a failure excludes the cell; other failures are for review."""


@dataclass(frozen=True)
class WordingStability:
    """Stability of one answer cue in one cell, judged without people's answers.

    Attributes:
        cue: the last line of most of its prompts.
        questions: number of questions that were read under it.
        median_p_valid: median over its trials; None where none was read.
        tvd_to_others: total variation distance to answers under other cues: mean over questions and other cues, in
            [0, 1]; None where no question was read under two cues.
    """

    model: str
    part: str
    wording: int
    cue: str
    questions: int
    median_p_valid: float | None
    tvd_to_others: float | None


def choose_preflight_trials(trials: Sequence[Trial], n_questions: int, directional: Mapping[str, Side]) -> list[Trial]:
    """The trials of `n_questions` questions in all orders: directional and ten-point items, and others evenly spread.

    Questions that are not answered by labels are left out, so a part without label questions has no preflight.

    Args:
        directional: items with an answer to which every working model leans, and the end to which it leans.
    """
    trials = [trial for trial in main_trials(trials) if isinstance(trial.readout, ScoreLabels)]
    questions = list(dict.fromkeys(trial.asked_id for trial in trials))
    longest = [a for a in questions if any(len(t.labels) >= 10 for t in trials if t.asked_id == a)][:2]
    first = list(dict.fromkeys([a for a in questions if a in directional] + longest))
    rest = [a for a in questions if a not in first]
    n_more = max(0, min(n_questions, len(questions)) - len(first))
    spread = [rest[round(k)] for k in np.linspace(0, len(rest) - 1, n_more)] if n_more else []
    chosen = set(first[:n_questions]) | set(spread)
    return [trial for trial in trials if trial.asked_id in chosen]


def examine_preflight(
    model: str,
    part: str,
    trials: Sequence[Trial],
    readings: Sequence[Reading],
    thresholds: Thresholds,
    tokenizer: Mapping[str, Any],
    directional: Mapping[str, Side],
) -> list[Finding]:
    """The checks of one cell's preflight readings: gates first, then checks for review.

    Args:
        tokenizer: the model's tokenizer report from the metadata of its readings; empty for a model behind an API,
            whose best possible readings may still be `unresolved`.
        directional: items with an answer to which every working model leans, and the end to which it leans.
    """
    by_trial = {trial.trial_id: trial for trial in trials}
    read = [reading for reading in readings if reading.status is Status.OK]

    def finding(what: str, value: float | None, wanted: str, passed: bool, is_gate: bool = True) -> Finding:
        return Finding(model, part, what, value, wanted, passed, is_gate)

    answered = [reading for reading in readings if reading.status is not Status.FAILED] if not tokenizer else read
    findings = [
        finding("share of trials read", len(answered) / max(len(readings), 1), "1", len(answered) == len(readings) > 0),
        *examine_masses(model, part, readings, thresholds),
        *(_examine_tokenizer(finding, trials, tokenizer) if tokenizer else _examine_bounds(finding, readings)),
        *examine_template(model, part, tokenizer),
    ]
    shares = [entropy for r in read if (entropy := _entropy_share(r)) is not None]
    if shares:
        mean = float(np.mean(shares))
        findings.append(finding("entropy as a share of uniform", mean, "< 0.98", mean < 0.98, is_gate=False))
    for question, side in directional.items():
        positions = [_position(by_trial[r.trial_id], r) for r in read if by_trial[r.trial_id].asked_id == question]
        means = [position for position in positions if position is not None]
        if means:
            mean, is_low = float(np.mean(means)), side == "low"
            passed, wanted = (mean < 0.5, "< 0.5") if is_low else (mean > 0.5, "> 0.5")
            findings.append(finding(f"{question} leans {side}", mean, wanted, passed, is_gate=False))
    return findings


def _examine_tokenizer(
    finding: Callable[..., Finding], trials: Sequence[Trial], tokenizer: Mapping[str, Any]
) -> list[Finding]:
    """Checks of how a tokenizer spells answers."""
    findings = []
    if any("10" in trial.labels for trial in trials) and _ten_goes_on_from_one(tokenizer):
        ends = len(tokenizer["eos"]) + sum(token is not None for token in tokenizer["terminators"].values())
        findings.append(finding("tokens that end a 1 where 10 goes on", ends, ">= 1", ends >= 1))
    single = sum(len(tokenizer["answers"][str(digit)] or ()) == 1 for digit in range(1, 10))
    findings.append(finding("digits that are one token", single, "9", single == 9, is_gate=False))
    changing = sum(tokens is None for tokens in tokenizer["answers"].values())
    findings.append(finding("answers that change the prompt's tokens", changing, "0", not changing, is_gate=False))
    return findings


def examine_template(model: str, part: str, tokenizer: Mapping[str, Any]) -> list[Finding]:
    """A check of whether the chat template adds its own instructions to the study's prompts."""
    added_text = tokenizer.get("own_system")
    what = "words that the chat template adds"
    return [Finding(model, part, what, len(added_text.split()), "0", passed=False, is_gate=False)] if added_text else []


def _examine_bounds(finding: Callable[..., Finding], readings: Sequence[Reading]) -> list[Finding]:
    """A check of how many trials show enough tokens to compute the labels' shares."""
    resolved = sum(reading.status is not Status.UNRESOLVED for reading in readings) / max(len(readings), 1)
    return [finding("share of trials that are resolved", resolved, ">= 0.8", resolved >= 0.8, is_gate=False)]


def examine_masses(
    model: str, part: str, readings: Sequence[Reading], thresholds: Thresholds, is_gate: bool = True
) -> list[Finding]:
    """Checks of P_valid, the probability of any valid answer, and of the resolution mass."""
    read = [reading for reading in readings if reading.status is Status.OK]
    # For a model behind an API, the upper bound: the rest is not shown.
    p_valids = [r.p_valid if r.p_valid_high is None else r.p_valid_high for r in read if r.p_valid is not None]
    least = thresholds.p_valid_cell
    p_valid = float(np.median(p_valids)) if p_valids else None
    is_enough = p_valid is not None and p_valid >= least
    findings = [Finding(model, part, "median P_valid", p_valid, f">= {least:g}", is_enough, is_gate)]
    masses = [r.resolution_mass for r in read if r.resolution_mass is not None]
    if masses:
        mean, least = float(np.mean(masses)), thresholds.resolution_mass
        # Unresolved answers are excluded one by one; only if all readings have a mass can the cell be excluded.
        is_gate &= len(masses) == len(read)
        findings.append(Finding(model, part, "mean resolution mass", mean, f"> {least:g}", mean > least, is_gate))
    return findings


def compare_wordings(
    model: str, part: str, trials: Sequence[Trial], readings: Sequence[Reading]
) -> list[WordingStability]:
    """The stability of each answer cue, by P_valid and distance to the answers under other cues; empty with one cue."""
    by_trial = {trial.trial_id: trial for trial in trials}
    read = [(by_trial[reading.trial_id], reading) for reading in readings if reading.status is Status.OK]
    wordings = sorted({trial.wording for trial in trials})
    if len(wordings) < 2:
        return []
    answers = {wording: _mean_answers([pair for pair in read if pair[0].wording == wording]) for wording in wordings}
    stabilities = []
    for wording, own in answers.items():
        others = [answers[other] for other in wordings if other != wording]
        distances = sorted(tvd(own[each], other[each]) for other in others for each in own.keys() & other.keys())
        cues = Counter(trial.prompt.splitlines()[-1] for trial in trials if trial.wording == wording)
        p_valids = [r.p_valid for trial, r in read if trial.wording == wording and r.p_valid is not None]
        cue = cues.most_common(1)[0][0]
        p_valid = float(np.median(p_valids)) if p_valids else None
        distance = float(np.mean(distances)) if distances else None
        stabilities.append(WordingStability(model, part, wording, cue, len(own), p_valid, distance))
    return stabilities


def _mean_answers(read: Sequence[tuple[Trial, Reading]]) -> dict[str, Distribution]:
    """The answer distribution of each question over its labels, averaged over orders."""
    sums: dict[str, dict[int, float]] = {}
    for trial, reading in read:
        if not reading.p_valid or reading.label_probs is None:
            continue
        mass = sums.setdefault(trial.asked_id, {})
        for value, prob in zip(trial.values, reading.label_probs, strict=True):
            mass[value] = mass.get(value, 0.0) + prob / reading.p_valid
    return {question: distribution(list(mass), list(mass.values())) for question, mass in sums.items()}


def _ten_goes_on_from_one(tokenizer: Mapping[str, Any]) -> bool:
    """Whether the tokens of "10" begin with those of "1", with or without a leading space."""
    pairs = [(tokenizer["answers"][f"{lead}1"], tokenizer["answers"][f"{lead}10"]) for lead in ("", " ")]
    return any(one and ten and ten[: len(one)] == one for one, ten in pairs)


def _entropy_share(reading: Reading) -> float | None:
    if reading.label_probs is None or not reading.p_valid:
        return None
    probs = np.asarray(reading.label_probs) / reading.p_valid
    return float(-(probs[probs > 0] * np.log(probs[probs > 0])).sum() / np.log(len(probs)))


def _position(trial: Trial, reading: Reading) -> float | None:
    """Mean answer on the scale from 0 (lowest code) to 1 (highest)."""
    if reading.label_probs is None or not reading.p_valid:
        return None
    values = np.asarray(trial.values, dtype=float)
    mean = float(np.asarray(reading.label_probs) @ values / reading.p_valid)
    return (mean - values.min()) / (values.max() - values.min())


Examine = Callable[
    [str, str, Sequence[Trial], Sequence[Reading], Thresholds, Mapping[str, Any], Mapping[str, Any]], list[Finding]
]
"""What an instrument finds in the readings of one cell: `examine_preflight`, or its own."""


def judge_preflight(
    model: str,
    trials: Mapping[str, Sequence[Trial]],
    readings: Mapping[str, Sequence[Reading]],
    tokenizers: Mapping[str, Mapping[str, Any]],
    thresholds: Thresholds,
    overrides: Mapping[str, str],
    directional: Mapping[str, Any],
    not_asked: Mapping[str, str] = MappingProxyType({}),
    examine: Examine = examine_preflight,
) -> tuple[dict[str, Any], list[Finding], list[Finding]]:
    """The verdict on a family, as it is stored; the gates that failed, and what a person should look at.

    Args:
        trials: by part; readings and tokenizer reports of the same.
        overrides: by part, why it is asked whatever was found.
        not_asked: by part that has no trials, why not; nothing overrides that.
    """
    findings: list[Finding] = []
    wordings: list[WordingStability] = []
    for part, few in trials.items():
        if not few:
            continue
        findings += examine(model, part, few, readings[part], thresholds, tokenizers[part], directional)
        wordings += compare_wordings(model, part, few, readings[part])
    failed = [finding for finding in findings if not finding.passed]
    failing, doubtful = ([finding for finding in failed if finding.is_gate is gate] for gate in (True, False))
    unasked = {"is_left_out": True, "override": None, "is_asked": False}
    parts: dict[str, dict[str, Any]] = {part: unasked | {"reason": reason} for part, reason in not_asked.items()}
    for part in trials:
        of_part = [finding for finding in failing if finding.part == part]
        reason, override = _why_left_out(of_part, readings.get(part, ())), overrides.get(part)
        is_left_out = bool(of_part) and not override
        parts[part] = {"is_left_out": is_left_out, "reason": reason, "override": override, "is_asked": True}
    verdict = {"parts": parts, "findings": list(map(asdict, findings)), "tokenizers": dict(tokenizers)}
    return verdict | {"wordings": list(map(asdict, wordings))}, failing, doubtful


def _why_left_out(failing: Sequence[Finding], readings: Sequence[Reading]) -> str | None:
    """The gates of a part that failed, and why the first answer was not read; None where every gate passed."""
    if not failing:
        return None
    unread = [reading for reading in readings if reading.status is not Status.OK and reading.reason]
    n_unread = f"{len(unread)} of {len(readings)} answers were not read, the first because"
    why = [f"{n_unread} {unread[0].reason}"] if unread else []
    return "; ".join([*map(_gate_in_words, failing), *why])


def _gate_in_words(finding: Finding) -> str:
    value = "none" if finding.found is None else f"{finding.found:.3g}"
    return f"{finding.what} {value} ({finding.wanted} wanted)"


def left_out_parts(verdict: Mapping[str, Any], overrides: Mapping[str, str]) -> dict[str, str]:
    """The parts in which a family is not asked, with the reasons.

    Args:
        overrides: overrides in the current study file, by part; the verdict may be older.
    """
    return {
        part: part_verdict["reason"]
        for part, part_verdict in verdict.get("parts", {}).items()
        if part_verdict["is_left_out"] and not (part_verdict["is_asked"] and overrides.get(part))
    }
