"""Spans of transcripts: ours against the seed's one pass per text, and against one pass per span and candidate."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch

from valuesassets.models.asking import Asking
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.loading import load_model
from valuesassets.models.spans.scoring import SpanReadings
from valuesassets.models.token_trees import shared_length
from valuesassets.records.trials import Trial
from valuesassets_tests.benchmarks.counting import counting
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry
from valuesassets_tests.benchmarks.peak_memory import extra_peak_mib
from valuesassets_tests.models.spans.texts import INSTRUCTIONS, NUMBERS, span_trial
from valuesassets_tests.needs import REPOSITORY

Result = TypeVar("Result")
MODULE = "valuesassets_tests.benchmarks.spans"
PASSES = 40
"""Passes of the slow way that are timed; the rest is reckoned from them."""
SPANS_OF_THE_LONG_TEXT, TOKENS_OF_THE_LONG_TEXT = 100, 16_000


def transcripts(people: int, questions: int, words: int, instructions: int) -> list[Trial]:
    """Answers from 0 to 99 of some people to the same questions, as the CARE scale of seed 001 asks them."""
    beginning = INSTRUCTIONS * instructions

    def text(person: int) -> str:
        lines = [
            f"{n}. {'How often, in the past six months, did you do this? ' * words}<<{person * n * 7 % 100}>>\n"
            for n in range(1, questions + 1)
        ]
        return beginning + "".join(lines)

    return [span_trial(text(person), trial_id=f"p{person}", as_published=True) for person in range(people)]


def compare(loaded: LoadedModel, trials: list[Trial], tell: Tell) -> Entries:
    """What reading transcripts costs in CPU time, over the two other ways."""
    asking = Asking(loaded.opened, trials)
    assert loaded.cache_fault is None
    tell(f"spans: {len(asking.entries)} spans of {len(trials)} texts, {len(NUMBERS)} candidates")
    ratios: list[float] = []
    for _ in range(3):
        seed, _ = _timed(lambda: [_seed(loaded, trial) for trial in trials])
        with counting(loaded.model) as counts:
            ours, read = _timed(lambda: _ask(loaded, trials))
        ratios.append(seed / ours)
    tokens = _needed(asking)
    reading, certified = (counts.tokens - left_out for left_out in (read.tokens_certificate, 0))
    one_pass = _timed(lambda: _slowly(loaded, asking, PASSES))[0] / PASSES
    brute = one_pass * len(asking.entries) * len(NUMBERS)
    return {
        "spans_vs_seed_5m": entry(ratios, "times the seed's speed", wanted=">= 4"),
        "spans_vs_candidates": entry([brute / ours], "times one pass per span and candidate", wanted=">= 1000"),
        "spans_tokens": entry(
            [reading / tokens],
            "tokens over those of texts and inner nodes",
            wanted="<= 1.02",
            with_certificate=certified / tokens,
        ),
    }


def compare_memory(folder: Path, tell: Tell) -> Entries:
    """The extra peak of one long text, in a process of its own."""
    tell(f"spans: a text of {TOKENS_OF_THE_LONG_TEXT} tokens in a fresh process")
    command = [sys.executable, "-m", MODULE, str(folder)]
    ran = subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True)
    row = json.loads(ran.stdout.splitlines()[-1])
    return {"spans_extra_peak_mib": entry([row.pop("extra_peak_mib")], "MiB over the weights", wanted="<= 400", **row)}


def _ask(loaded: LoadedModel, trials: list[Trial]) -> SpanReadings:
    asked, _ = Asking(loaded.opened, trials).ask(loaded)
    assert isinstance(asked, SpanReadings)
    assert asked.certificate.agrees
    return asked


def _timed(work: Callable[[], Result]) -> tuple[float, Result]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def _seed(loaded: LoadedModel, trial: Trial) -> list[list[float]]:
    """As seed 001: all rows of one pass, each candidate's tokens read from the answer's own row on."""
    encoded = loaded.tokenizer.hf(trial.prompt, return_offsets_mapping=True)
    model: Any = loaded.model
    with torch.inference_mode():
        rows = torch.log_softmax(model(input_ids=torch.tensor([encoded["input_ids"]])).logits[0].float(), dim=-1)
    found = []
    for mark in re.finditer(r"<<(\d+)>>", trial.prompt):
        low, high = mark.span(1)
        at = next(i for i, (start, end) in enumerate(encoded["offset_mapping"]) if not (end <= low or start >= high))
        spelled = [loaded.tokenizer.hf(text, add_special_tokens=False)["input_ids"] for text in NUMBERS]
        found.append([sum(rows[at + j][t].item() for j, t in enumerate(ids) if at + j < len(rows)) for ids in spelled])
    return found


def _needed(asking: Asking) -> int:
    """Tokens of all texts up to their last span, what they begin with alike once, and inner nodes."""
    nodes = total = 0
    before: tuple[int, ...] = ()
    for text in {id(asked.text): asked.text for asked in asking.entries}.values():
        ids = text.spelled.ids[: max(span.shared for span in text.spelled.spans)]
        nodes += sum(len(span.spelled.trie.inner_nodes) for span in text.spelled.spans)
        total, before = total + len(ids) - shared_length(before, ids), ids
    return total + nodes


def _slowly(loaded: LoadedModel, asking: Asking, passes: int) -> None:
    """One pass of the whole context for a span and inner node, some of all."""
    model: Any = loaded.model
    spans = [(each.text.spelled.ids, each.text.spelled.spans[each.number]) for each in asking.entries]
    asked = [ids[: span.shared] + node for ids, span in spans for node in span.spelled.trie.inner_nodes]
    with torch.inference_mode():
        for ids in asked[:: max(1, len(asked) // passes)][:passes]:
            torch.log_softmax(model(input_ids=torch.tensor([ids]), logits_to_keep=1).logits[0, -1].float(), dim=-1)


def measure(folder: str) -> dict[str, Any]:
    """In this process: one long text, and the highest mark of reading it above the weights."""
    torch.set_num_threads(1)
    loaded = load_model(folder, dtype="float32", device="cpu")
    words, (trial,) = 1, transcripts(1, SPANS_OF_THE_LONG_TEXT, 1, 1)
    while (tokens := len(loaded.tokenizer.encode([trial.prompt])[0])) < TOKENS_OF_THE_LONG_TEXT:
        words += 1
        (trial,) = transcripts(1, SPANS_OF_THE_LONG_TEXT, words, 1)
    extra, _, _ = extra_peak_mib(loaded, lambda: _ask(loaded, [trial]))
    return {"extra_peak_mib": extra, "tokens": tokens, "spans": SPANS_OF_THE_LONG_TEXT, "candidates": len(NUMBERS)}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
