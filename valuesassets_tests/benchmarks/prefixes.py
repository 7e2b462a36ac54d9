"""Profiles before many questions, as WorldValuesBench asks them: what a kept prefix saves, and its memory."""

import json
import random
import subprocess
import sys
import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.loading import load_model
from valuesassets.models.reading_pass import ReadingPass
from valuesassets.models.spelled_trials import SpelledTrial, spell_trials
from valuesassets.models.token_trees import BatchBudget
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.trials import Trial
from valuesassets_tests.benchmarks.counting import Counts, counting
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry, not_measured
from valuesassets_tests.benchmarks.peak_memory import extra_peak_mib
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.scored import score_trials

MODULE = "valuesassets_tests.benchmarks.prefixes"
WORDS = ("work", "family", "people", "country", "trust", "often", "never", "science", "money", "future", "law", "vote")
OWN_TOKENS = 97
"""Of a prompt behind its profile."""
ALONE = 12
"""One prompt in so many is also timed alone; the rest is reckoned from them by their tokens."""


@dataclass(frozen=True)
class Workload:
    """People of whom each is described by a profile and asked all questions.

    Attributes:
        attributes: how many the profile has.
        tokens: of the profile.
        orders: in which each question is asked.
        most: what tokens over those of every prompt alone may come to.
    """

    attributes: int
    tokens: int
    orders: int
    most: float


WORKLOADS = (Workload(3, 88, 2, 0.56), Workload(42, 1213, 1, 0.10))


def write_prompts(loaded: LoadedModel, load: Workload, profiles: int, questions: int) -> list[Trial]:
    """Prompts of made-up words in these lengths; one question in five has ten options."""
    words = random.Random(load.attributes)  # noqa: S311  # a seeded text
    stems = [_text(loaded, words, OWN_TOKENS // 2) for _ in range(questions)]
    trials = []
    for number in range(profiles):
        profile = (
            f"Person {number}\n" + _text(loaded, words, load.tokens - _length(loaded, f"Person {number}\n")) + "\n"
        )
        for question, stem in enumerate(stems):
            labels = tuple(map(str, range(1, 11 if question % 5 == 0 else 5)))
            options = [f"{label}. {WORDS[(question + int(label)) % len(WORDS)]}" for label in labels]
            for order in range(load.orders):
                shown = "\n".join(options[:: 1 - 2 * order])
                missing = OWN_TOKENS - _length(loaded, f"{stem}\n{shown}\nAnswer:") + 1
                prompt = f"{profile}{stem} {_text(loaded, random.Random(question), missing)}\n{shown}\nAnswer:"  # noqa: S311
                readout = ScoreLabels(labels, tuple(range(len(labels))))
                trial_id = f"p{number}/{question}/{order}"
                trials.append(Trial(trial_id, f"q{question}", "eng", prompt, str(order), 0, None, readout))
    return trials


def _text(loaded: LoadedModel, words: random.Random, tokens: int) -> str:
    """Words of so many tokens, or the most fewer."""
    drawn = words.choices(WORDS, k=max(tokens, 0))
    whole = bisect_right(range(len(drawn) + 1), tokens, key=lambda count: _length(loaded, " ".join(drawn[:count])))
    return " ".join(drawn[: max(whole - 1, 0)])


def _length(loaded: LoadedModel, text: str) -> int:
    return len(loaded.tokenizer.encode([text])[0]) - 1  # without the beginning-of-text token


def compare(loaded: LoadedModel, folder: Path, profiles: int, questions: int, tell: Tell) -> Entries:
    """Tokens and CPU time of kept prefixes, over those of whole trees and of every prompt alone; extra peak memory."""
    entries: Entries = {}
    score_trials(loaded, write_prompts(loaded, WORKLOADS[0], 1, 12))  # libraries set themselves up
    assert loaded.tree_fault is loaded.prefix_fault is None
    for load in WORKLOADS:
        trials = write_prompts(loaded, load, profiles, questions)
        spelled = [each for each in spell_trials(loaded.opened, trials) if isinstance(each, SpelledTrial)]
        assert len(spelled) == len(trials)
        tell(f"prefixes: {profiles} profiles of {load.tokens} tokens, {len(trials)} prompts")
        kept = _run(loaded, ReadingPass(loaded, spelled, BatchBudget.for_device("cpu")))
        whole = _run(loaded, _without(loaded, spelled))
        alone, some = _alone_tokens(spelled), spelled[::ALONE]
        alone_counts, seconds = _run(loaded, ReadingPass(loaded, some, BatchBudget(1, 1), as_chains=True))
        alone_seconds = seconds * alone / alone_counts.tokens
        more = {
            "profiles": profiles,
            "prompts": len(trials),
            "tokens_a_prompt": round(alone / len(trials), 1),
            "tokens_alone": alone,
            "tokens_in_whole_trees": whole[0].tokens,
            "tokens_with_kept_prefixes": kept[0].tokens,
        }
        entries[f"wvb_tokens_shared_{load.attributes}"] = entry(
            [kept[0].tokens / alone],
            "tokens over those of every prompt alone",
            wanted=f"<= {load.most}",
            over_whole_trees=kept[0].tokens / whole[0].tokens,
            **more,
        )
        entries[f"wvb_time_shared_{load.attributes}"] = entry(
            [kept[1] / alone_seconds],
            "CPU time over that of every prompt alone",
            over_whole_trees=kept[1] / whole[1],
            seconds=kept[1],
            seconds_in_whole_trees=whole[1],
            seconds_alone=alone_seconds,
        )
    return entries | compare_memory(folder, questions, tell)


def _run(loaded: LoadedModel, reading: ReadingPass) -> tuple[Counts, float]:
    """What goes through the body, which must be what was planned, and CPU seconds."""
    with counting(loaded.model) as counts:
        start = time.process_time()
        reading.read()
        seconds = time.process_time() - start
    assert (counts.calls, counts.tokens) == (reading.batches, reading.tokens), f"{counts}: not as planned"
    return counts, seconds


def _without(loaded: LoadedModel, spelled: Sequence[SpelledTrial]) -> ReadingPass:
    """A pass that keeps no prefix."""
    vars(loaded)["prefix_fault"] = "left out for comparison"
    try:
        return ReadingPass(loaded, spelled, BatchBudget.for_device("cpu"))
    finally:
        vars(loaded)["prefix_fault"] = None


def _alone_tokens(spelled: Sequence[SpelledTrial]) -> int:
    """Tokens of every prompt alone, without padding or beginnings of answers."""
    return sum(len(each.spelled.prompt_ids) for each in spelled)


def compare_memory(folder: Path, questions: int, tell: Tell) -> Entries:
    """The extra peak of each way, in processes of their own."""
    if not Path("/proc/self/clear_refs").exists():
        return {"wvb_extra_peak_mib": not_measured("needs Linux's /proc")}
    rows = []
    for load in WORKLOADS:
        for way in ("kept", "whole"):
            tell(f"prefixes: memory, a profile of {load.tokens} tokens, {way}, in a fresh process")
            command = [sys.executable, "-m", MODULE, str(folder), str(load.attributes), way, str(questions)]
            ran = subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True)
            rows.append(json.loads(ran.stdout.splitlines()[-1]))
    kept = [row["extra_peak_mib"] for row in rows if row["way"] == "kept"]
    return {"wvb_extra_peak_mib": entry(kept, "MiB over the weights", wanted="<= 400", rows=rows)}


def measure(folder: str, attributes: int, way: str, questions: int) -> dict[str, Any]:
    """In this process: one profile, and the highest mark of reading it above the weights."""
    torch.set_num_threads(1)
    loaded = load_model(folder, dtype="float32", device="cpu")
    load = next(load for load in WORKLOADS if load.attributes == attributes)
    trials = write_prompts(loaded, load, 1, questions)
    if way == "whole":
        vars(loaded)["prefix_fault"] = "left out for comparison"
    extra, _, scored = extra_peak_mib(loaded, lambda: score_trials(loaded, trials))
    return {"attributes": attributes, "way": way, "extra_peak_mib": extra, "tokens": scored.tokens}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))))
