"""The engine against the seed's algorithm and lm-evaluation-harness: the same questions in one process, in turn."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.scoring import ScoredTrials
from valuesassets.records.trials import Trial
from valuesassets_tests.benchmarks import lm_eval_harness as harness
from valuesassets_tests.benchmarks.counting import (
    Counts,
    counting,
    find_sequences,
    lm_eval_counts,
    needed_counts,
    seed_counts,
)
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry
from valuesassets_tests.benchmarks.seed_algorithm import SeedReader
from valuesassets_tests.benchmarks.workload import Asked, cut_slices, is_ten_point
from valuesassets_tests.scored import score_trials

TOLERANCE = 1e-5
"""Largest difference of a label's log-probability between two ways of reading it in float32."""


@dataclass(frozen=True)
class EngineRun:
    """One call of `score_trials`. Its certificate is made once per call, however many questions there are."""

    scored: ScoredTrials
    seconds: float
    certificate_seconds: float
    counts: Counts
    certificate_counts: Counts


@dataclass(frozen=True)
class SliceTimes:
    """CPU seconds of one slice. The engine runs before and after the others; the mean of both counts.

    Attributes:
        engine: reading the slice.
        certificate: of one call, whatever its size.
        harness: None where it was not run.
    """

    engine: float
    certificate: float
    seed: float
    harness: float | None
    seed_counts: Counts
    harness_counts: Counts | None


def flat(questions: Sequence[Asked]) -> list[Trial]:
    """The trials of some questions."""
    return [trial for asked in questions for trial in asked]


def warm_up(loaded: LoadedModel, questions: Sequence[Asked]) -> None:
    """A first call, uncounted: it tries what the architecture can do and lets libraries set themselves up."""
    score_trials(loaded, flat(questions[:4]))


def run_engine(loaded: LoadedModel, questions: Sequence[Asked]) -> EngineRun:
    """Time and count one call, and hold the counts against what the questions' trees need."""
    ends: list[tuple[float, Counts]] = []
    with counting(loaded.model) as counts:
        start = time.process_time()
        scored = score_trials(
            loaded, flat(questions), on_progress=lambda *_: ends.append((time.process_time(), counts.copy()))
        )
        end = time.process_time()
    read_at, read = ends[-1]
    needed = needed_counts(find_sequences(loaded, asked) for asked in questions)
    assert read.head_rows == needed.head_rows, f"the engine read {read.head_rows} rows, {needed.head_rows} are needed"
    assert read.calls == scored.batches, f"{read.calls} calls of the body, {scored.batches} batches were planned"
    assert needed.tokens <= read.tokens == scored.tokens, f"{read}, {scored.tokens} tokens planned, {needed} needed"
    return EngineRun(scored, read_at - start, end - read_at, read, counts.copy() - read)


def timed_counts(model: Any, run: Callable[[], object], expected: Counts, name: str) -> float:
    """CPU seconds of `run`, which must do what is expected, no more and no less."""
    with counting(model) as counts:
        start = time.process_time()
        run()
        seconds = time.process_time() - start
    assert counts == expected, f"{name}: {counts}, the algorithm implies {expected}"
    return seconds


def agreement_with_seed(
    loaded: LoadedModel, questions: Sequence[Asked], tolerance: float = TOLERANCE
) -> tuple[float, float]:
    """Largest difference of a label's log-probability, and the largest share of P_valid that the seed leaves out.

    What the seed leaves out, digits behind a space of their own, is read by the same plain code and added.
    """
    reader, worst, left_out = SeedReader(loaded), 0.0, 0.0
    scored = score_trials(loaded, flat(questions))
    for trial, reading in zip(flat(questions), scored.readings, strict=True):
        assert reading.label_probs is not None, f"{trial.trial_id}: {reading.reason}"
        full = reader.answer_fully(trial.prompt, trial.labels)
        worst = max(worst, *(abs(math.log(a / b)) for a, b in zip(reading.label_probs, full, strict=True)))
        left_out = max(left_out, 1 - sum(reader.answer(trial.prompt, trial.labels)) / sum(full))
    assert worst <= tolerance, f"engine and seed differ by {worst:.2g} in log-probability, {tolerance:.2g} is allowed"
    return worst, left_out


def agreement_with_harness(loaded: LoadedModel, questions: Sequence[Asked], tolerance: float = TOLERANCE) -> float:
    """Largest difference of a label's log-probability over the questions that are no ten-point scales.

    A label's two continuation strings, "1" and " 1", are asked of the harness one by one and their probabilities added.
    """
    trials = flat([asked for asked in questions if not is_ten_point(asked)])
    reader, worst = harness.HarnessReader(loaded), 0.0
    harness.require_same_tokens(loaded, reader, flat(questions))
    leads = (harness.BARE, harness.SPACED)
    log_probs = iter(reader.log_likelihoods(harness.list_requests(trials, leads)))
    for trial, reading in zip(trials, score_trials(loaded, trials).readings, strict=True):
        assert reading.label_probs is not None, f"{trial.trial_id}: {reading.reason}"
        by_lead = [[next(log_probs) for _ in trial.labels] for _ in leads]
        together = [math.exp(a) + math.exp(b) for a, b in zip(*by_lead, strict=True)]
        worst = max(worst, *(abs(math.log(a / b)) for a, b in zip(reading.label_probs, together, strict=True)))
    assert worst <= tolerance, (
        f"engine and harness differ by {worst:.2g} in log-probability, {tolerance:.2g} is allowed"
    )
    return worst


def time_slice(loaded: LoadedModel, questions: Sequence[Asked], is_seed_first: bool, with_harness: bool) -> SliceTimes:
    """One paired repetition: engine, the others in turn, engine again."""
    trials = flat(questions)
    seed, seed_needs = SeedReader(loaded), seed_counts(find_sequences(loaded, asked) for asked in questions)
    seconds: dict[str, float] = {}

    def run_seed() -> None:
        def read() -> None:
            for trial in trials:
                seed.answer(trial.prompt, trial.labels)

        seconds["seed"] = timed_counts(loaded.model, read, seed_needs, "seed")

    harness_needs = None
    others = [run_seed]
    if with_harness:
        reader = harness.HarnessReader(loaded)
        requests = harness.list_requests(trials, (harness.BARE,))
        needs = harness_needs = lm_eval_counts(reader.tokens(requests))

        def run_harness() -> None:
            seconds["harness"] = timed_counts(
                loaded.model, lambda: reader.log_likelihoods(requests), needs, "lm-evaluation-harness"
            )

        others.append(run_harness)

    before = run_engine(loaded, questions)
    for run in others if is_seed_first else reversed(others):
        run()
    after = run_engine(loaded, questions)
    assert [r.label_probs for r in before.scored.readings] == [r.label_probs for r in after.scored.readings], (
        "the engine's readings changed from one run to the next"
    )
    return SliceTimes(
        engine=(before.seconds + after.seconds) / 2,
        certificate=(before.certificate_seconds + after.certificate_seconds) / 2,
        seed=seconds["seed"],
        harness=seconds.get("harness"),
        seed_counts=seed_needs,
        harness_counts=harness_needs,
    )


def compare(
    loaded: LoadedModel,
    name: str,
    questions: Sequence[Asked],
    slices: int,
    agreement: int,
    with_harness: bool,
    tell: Tell,
    tolerance: float = TOLERANCE,
) -> Entries:
    """Entries of the evidence file for one model: agreement first, then slice by slice, then one call for the set.

    Args:
        name: of the model, as the entries' names end.
        agreement: how many questions are compared before anything is timed.
        tolerance: what rounding may come to in this model, in nats.
    """
    sample = cut_slices(questions, max(len(questions) // agreement, 1))[0]
    tell(f"{name}: agreement with the seed on {len(sample)} questions")
    worst, left_out = agreement_with_seed(loaded, sample, tolerance)
    entries = {
        f"agreement_with_seed_{name}": entry(
            [worst],
            "nats",
            wanted=f"<= {tolerance:.1e}",
            questions=len(sample),
            largest_share_of_p_valid_the_seed_leaves_out=left_out,
        )
    }
    if with_harness:
        tell(f"{name}: agreement with lm-evaluation-harness on {len(sample)} questions")
        worst = agreement_with_harness(loaded, sample, tolerance)
        without_ten = sum(not is_ten_point(asked) for asked in sample)
        entries[f"agreement_with_lm_eval_{name}"] = entry(
            [worst], "nats", wanted=f"<= {tolerance:.1e}", questions=without_ten, lm_eval=harness.version()
        )
    parts = cut_slices(questions, slices)
    times: list[SliceTimes] = []
    for number, part in enumerate(parts):
        tell(f"{name}: slice {number + 1} of {slices}, {len(part)} questions{_last(times)}")
        times.append(time_slice(loaded, part, number % 2 == 0, with_harness))
    tell(f"{name}: all {len(questions)} questions in one call{_last(times)}")
    whole = run_engine(loaded, questions)
    return entries | _ratios(name, questions, times, whole, with_harness)


def _last(times: Sequence[SliceTimes]) -> str:
    if not times:
        return ""
    last = times[-1]
    harness_time = "" if last.harness is None else f", lm-evaluation-harness {last.harness:.1f} s"
    return (
        f" (the last: engine {last.engine:.1f} s, its certificate {last.certificate:.1f} s, seed {last.seed:.1f} s"
        f"{harness_time})"
    )


def _ratios(
    name: str, questions: Sequence[Asked], times: Sequence[SliceTimes], whole: EngineRun, with_harness: bool
) -> Entries:
    """The certificate of a call, which would be made once for the set, counts with a slice's share in each slice."""
    engine = [slice_.engine + slice_.certificate / len(times) for slice_ in times]
    seed = sum((slice_.seed_counts for slice_ in times), Counts())
    wanted = {"5m": (">= 12", ">= 10"), "200m": (">= 2.8", None)}.get(name, (None, None))
    common = {
        "questions": len(questions),
        "slices": len(times),
        "engine_seconds": [round(slice_.engine, 3) for slice_ in times],
        "certificate_seconds": [round(slice_.certificate, 3) for slice_ in times],
        "whole_set_engine_seconds": round(whole.seconds + whole.certificate_seconds, 3),
        "whole_set_certificate_share": whole.certificate_seconds / (whole.seconds + whole.certificate_seconds),
        "engine_tokens": whole.counts.tokens,
        "engine_calls": whole.counts.calls,
        "engine_head_rows": whole.counts.head_rows,
    }

    def against(other: Sequence[float], counts: Counts, limit: str | None) -> dict[str, Any]:
        return entry(
            [theirs / ours for theirs, ours in zip(other, engine, strict=True)],
            "ratio of CPU time",
            wanted=limit,
            without_certificate=[theirs / slice_.engine for theirs, slice_ in zip(other, times, strict=True)],
            whole_set=sum(other) / (whole.seconds + whole.certificate_seconds),
            other_seconds=[round(seconds, 3) for seconds in other],
            other_tokens=counts.tokens,
            other_calls=counts.calls,
            other_head_rows=counts.head_rows,
            **common,
        )

    entries = {f"engine_vs_seed_{name}": against([slice_.seed for slice_ in times], seed, wanted[0])}
    if with_harness:
        counts = sum((slice_.harness_counts for slice_ in times if slice_.harness_counts), Counts())
        seconds = [slice_.harness for slice_ in times if slice_.harness is not None]
        entries[f"engine_vs_lm_eval_{name}"] = against(seconds, counts, wanted[1]) | {"lm_eval": harness.version()}
    if name == "5m":
        again = whole.certificate_counts.tokens
        entries["tokens_vs_seed"] = entry(
            [whole.counts.tokens / seed.tokens],
            "ratio of tokens, padding included",
            wanted="<= 0.6",
            questions=len(questions),
            engine_tokens=whole.counts.tokens,
            certificate_tokens=again,
            seed_tokens=seed.tokens,
            with_certificate=(whole.counts.tokens + again) / seed.tokens,
        )
    return entries
