"""`psych_tasks/preflight`: ten marks per cell are read before GPU hours are spent: template, tokens, P_valid."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from valuesassets.answers.preflight import Finding, examine_masses, examine_template
from valuesassets.records.readouts import ScoreSpans
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.records.trials import Reading, Status, Trial


def choose_preflight_trials(trials: Sequence[Trial], n_marks: int, directional: Mapping[str, Any]) -> list[Trial]:
    """The first marks of the shortest transcripts, with the answers that people gave."""
    fixed = [trial for trial in trials if isinstance(trial.readout, ScoreSpans) and trial.readout.history == "given"]
    human = [trial for trial in fixed if trial.condition == "human"] or fixed
    preflight: list[Trial] = []
    for trial in sorted(human, key=lambda trial: (len(trial.prompt), trial.trial_id)):
        readout = trial.readout
        if n_marks > 0 and isinstance(readout, ScoreSpans):
            spans = readout.spans[:n_marks]
            preflight.append(replace(trial, readout=replace(readout, spans=spans)))
            n_marks -= len(spans)
    return preflight


def examine_preflight(
    model: str,
    part: str,
    trials: Sequence[Trial],
    readings: Sequence[Reading],
    thresholds: Thresholds,
    tokenizer: Mapping[str, Any],
    directional: Mapping[str, Any],
) -> list[Finding]:
    """Findings on the marks of one cell: the gate first, then what a person should look at."""
    read = [reading for reading in readings if reading.status is Status.OK]

    share = len(read) / len(readings) if readings else 0.0
    masses = examine_masses(model, part, readings, thresholds, is_gate=False)
    findings = [Finding(model, part, "share of marks read", share, "1", share == 1, True), *masses]
    findings += examine_template(model, part, tokenizer)
    p_valid = masses[0].found
    late = [float(np.sum(r.label_probs_published)) for r in read if r.label_probs_published is not None]
    if late and p_valid is not None:
        wanted = "at most the median before the answer"
        behind = float(np.median(late))
        passed = behind <= p_valid
        findings.append(Finding(model, part, "median P_valid behind the answer", behind, wanted, passed, False))
    tokens = [n for r in read for n in r.label_tokens or ()]
    if tokens:
        several = sum(n > 1 for n in tokens) / len(tokens)
        findings.append(Finding(model, part, "share of candidates of several tokens", several, "any", True, False))
    in_chat = sum(trial.chat is not None for trial in trials) / len(trials) if trials else 0.0
    findings.append(Finding(model, part, "share of transcripts that have a chat", in_chat, "any", True, False))
    return findings
