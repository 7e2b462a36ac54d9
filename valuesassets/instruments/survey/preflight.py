"""`survey/preflight`: ten questions per model before GPU hours are spent."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from valuesassets.records.readings import Reading, Status
from valuesassets.records.study import Thresholds
from valuesassets.records.trials import Trial, main_trials

DIRECTIONAL = {"v149": "low"}
"""Items whose answer every sane model leans one way on: claiming benefits one has no right to is not justifiable."""


@dataclass(frozen=True)
class Finding:
    """One thing looked at in one model and language."""

    model: str
    language: str
    what: str
    found: float | None
    wanted: str
    passed: bool
    is_gate: bool
    """Whether a failure stops the grid; the others are for review."""


def choose_preflight_trials(trials: Sequence[Trial], n_questions: int) -> list[Trial]:
    """Every order of so many questions, spread over the questionnaire, ten-point and directional items among them."""
    trials = main_trials(trials)
    asked = list(dict.fromkeys(trial.asked_id for trial in trials))
    longest = [a for a in asked if any(len(t.readout.labels) >= 10 for t in trials if t.asked_id == a)][:2]
    first = list(dict.fromkeys([a for a in asked if a in DIRECTIONAL] + longest))
    rest = [a for a in asked if a not in first]
    want = max(0, min(n_questions, len(asked)) - len(first))
    spread = [rest[round(k)] for k in np.linspace(0, len(rest) - 1, want)] if want else []
    chosen = set(first[:n_questions]) | set(spread)
    return [trial for trial in trials if trial.asked_id in chosen]


def examine_preflight(
    model: str, language: str, trials: Sequence[Trial], readings: Sequence[Reading], thresholds: Thresholds
) -> list[Finding]:
    """What the preflight readings of one model in one language say: gates first, then what a person should look at."""
    by_trial = {trial.trial_id: trial for trial in trials}
    read = [reading for reading in readings if reading.status is Status.OK]

    def finding(what: str, found: float | None, wanted: str, passed: bool, is_gate: bool = True) -> Finding:
        return Finding(model, language, what, found, wanted, passed, is_gate)

    findings = [finding("share of trials read", len(read) / max(len(readings), 1), "1", len(read) == len(readings) > 0)]
    p_valids = [r.p_valid for r in read if r.p_valid is not None]
    p_valid = float(np.median(p_valids)) if p_valids else None
    least = thresholds.p_valid_cell
    findings.append(finding("median P_valid", p_valid, f">= {least:g}", p_valid is not None and p_valid >= least))
    masses = [r.resolution_mass for r in read if r.resolution_mass is not None]
    if masses:
        mean, least = float(np.mean(masses)), thresholds.resolution_mass
        findings.append(finding("mean resolution mass", mean, f"> {least:g}", mean > least))
    shares = [entropy for r in read if (entropy := _entropy_share(r)) is not None]
    if shares:
        mean = float(np.mean(shares))
        findings.append(finding("entropy as a share of uniform", mean, "< 0.98", mean < 0.98, is_gate=False))
    for question, side in DIRECTIONAL.items():
        positions = [_position(by_trial[r.trial_id], r) for r in read if by_trial[r.trial_id].asked_id == question]
        means = [position for position in positions if position is not None]
        if means:
            mean = float(np.mean(means))
            passed = mean < 0.5 if side == "low" else mean > 0.5
            findings.append(
                finding(f"{question} leans {side}", mean, "< 0.5" if side == "low" else "> 0.5", passed, False)
            )
    return findings


def _entropy_share(reading: Reading) -> float | None:
    if reading.label_probs is None or not reading.p_valid:
        return None
    probs = np.asarray(reading.label_probs) / reading.p_valid
    return float(-(probs[probs > 0] * np.log(probs[probs > 0])).sum() / np.log(len(probs)))


def _position(trial: Trial, reading: Reading) -> float | None:
    """Mean answer on the scale from 0 (lowest code) to 1 (highest)."""
    if reading.label_probs is None or not reading.p_valid:
        return None
    values = np.asarray(trial.readout.values, dtype=float)
    mean = float(np.asarray(reading.label_probs) @ values / reading.p_valid)
    return (mean - values.min()) / (values.max() - values.min())
