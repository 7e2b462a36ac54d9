"""`psych_tasks/preflight`: ten marks per cell before GPU hours are spent: layout, road, tokens, P_valid."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from valuesassets.answers.preflight import Finding, examine_masses, examine_template
from valuesassets.records.readouts import ScoreSpans
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.records.trials import Reading, Status, Trial


def choose_preflight_trials(trials: Sequence[Trial], n_marks: int, directional: Mapping[str, Any]) -> list[Trial]:
    """The first marks of the shortest transcripts, as people answered them."""
    given = [trial for trial in trials if isinstance(trial.readout, ScoreSpans) and trial.readout.history == "given"]
    human = [trial for trial in given if trial.condition == "human"] or given
    chosen: list[Trial] = []
    left = n_marks
    for trial in sorted(human, key=lambda trial: (len(trial.prompt), trial.trial_id)):
        readout = trial.readout
        if left > 0 and isinstance(readout, ScoreSpans):
            spans = readout.spans[:left]
            chosen.append(replace(trial, readout=replace(readout, spans=spans)))
            left -= len(spans)
    return chosen


def examine_preflight(
    model: str,
    part: str,
    trials: Sequence[Trial],
    readings: Sequence[Reading],
    thresholds: Thresholds,
    tokenizer: Mapping[str, Any],
    directional: Mapping[str, Any],
) -> list[Finding]:
    """What the marks of one cell say: gates first, then what a person should look at."""
    read = [reading for reading in readings if reading.status is Status.OK]

    def finding(what: str, found: float | None, wanted: str, passed: bool, is_gate: bool = False) -> Finding:
        return Finding(model, part, what, found, wanted, passed, is_gate)

    share = len(read) / len(readings) if readings else 0.0
    masses = examine_masses(model, part, readings, thresholds, is_gate=False)
    found = [finding("share of marks read", share, "1", share == 1, is_gate=True), *masses]
    found += examine_template(model, part, tokenizer)
    p_valid = masses[0].found
    late = [float(np.sum(r.label_probs_published)) for r in read if r.label_probs_published is not None]
    if late and p_valid is not None:
        wanted = "at most the median before the answer"
        behind = float(np.median(late))
        found.append(finding("median P_valid behind the answer", behind, wanted, behind <= p_valid))
    tokens = [n for r in read for n in r.label_tokens or ()]
    if tokens:
        several = sum(n > 1 for n in tokens) / len(tokens)
        found.append(finding("share of candidates of several tokens", several, "any", passed=True))
    in_chat = sum(trial.chat is not None for trial in trials) / len(trials) if trials else 0.0
    found.append(finding("share of transcripts that have a chat", in_chat, "any", passed=True))
    return found
