"""What a GPU does with this engine: exactness, speed over the first plan's, share of what the card can do, memory.

Weights are random and made on the device; nothing is read from a disk or the hub. Every entry runs on a CPU too, at
the sizes that a test has for it.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from transformers import ContinuousBatchingConfig, GenerationConfig

from valuesassets.models.asking import Asking
from valuesassets.models.loaded_model import LoadedModel, OpenedModel
from valuesassets.models.row_width import choose_width, row_bytes
from valuesassets.records.trials import Reading, Trial
from valuesassets.spelling.prompt_tokenizer import describe_tokenizer
from valuesassets_tests.benchmarks import generation
from valuesassets_tests.benchmarks.counting import counting
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry, not_measured
from valuesassets_tests.benchmarks.paired import flat, run_engine, warm_up
from valuesassets_tests.benchmarks.seed_algorithm import SeedReader
from valuesassets_tests.benchmarks.spans import transcripts
from valuesassets_tests.benchmarks.workload import SHAPES, VOCABULARY, Asked, Shape, choose_questions, random_model
from valuesassets_tests.scored import score_trials

Result = TypeVar("Result")
LARGE = 128_000
"""Entries of the larger models' vocabularies."""
CELLS = 22
"""Languages of the grid: a cell of a model of its own each, and one of the model for all."""


@dataclass(frozen=True)
class Sizes:
    """How much is measured.

    Attributes:
        shapes: of models, with their vocabularies, by name.
        questions, exact_questions: asked for speed, and for exactness.
        slow: prompts or answers of the slow ways that are timed; the rest is reckoned from them.
        texts, text_tokens, spans: transcripts, tokens of each, and spans of each.
        answers: that are written.
        matmul, copied: size of the product, numbers that are copied.
        repetitions: of what is timed.
        blocks: of the cache of continuous batching; as many as the memory holds where not given.
    """

    shapes: Mapping[str, tuple[Shape, int]] = field(
        default_factory=lambda: {
            "1b": (Shape(16, 2048, 8192, 32, 8), LARGE),
            "2b": (SHAPES["2b"], VOCABULARY),
            "7b": (Shape(32, 4096, 14336, 32, 8), LARGE),
            "22b": (SHAPES["20b"], LARGE),
        }
    )
    questions: int = 250
    exact_questions: int = 40
    slow: int = 12
    texts: int = 4
    text_tokens: int = 8192
    spans: int = 100
    answers: int = 2048
    matmul: int = 8192
    copied: int = 2**30
    repetitions: int = 3
    blocks: int | None = None


class Check:
    """One run of the check on a device; a model is made when it is asked for, and one is held at a time."""

    def __init__(self, device: str, sizes: Sizes, tell: Tell) -> None:
        self.device, self.sizes, self.tell = device, sizes, tell
        self._held: tuple[str, LoadedModel] | None = None
        self._seconds: dict[str, float] = {}
        self._rate = self._copy = math.nan

    def measure(self) -> Entries:
        """All entries; one that cannot be measured here says why."""
        entries: Entries = {}
        for name, one in MEASURED.items():
            self.tell(f"gpu: {name}")
            try:
                entries[name] = one(self)
            except Exception as error:  # whatever a card or a library has against one entry, the others are measured
                entries[name] = not_measured((str(error).splitlines() or [type(error).__name__])[0][:200])
        self._held = None
        return entries

    def model(self, name: str, dtype: str = "bfloat16") -> LoadedModel:
        """A random model of a size, made on the device.

        Raises:
            RuntimeError: the device has too little memory.
        """
        if self._held is None or self._held[0] != f"{name} {dtype}":
            self._held = None
            shape, vocabulary = self.sizes.shapes[name]
            self._require_room(shape, vocabulary, dtype)
            model, hf = random_model(shape, vocabulary, dtype, self.sizes.text_tokens + 2048, self.device)
            tokenizer = describe_tokenizer(hf, name, vocabulary)
            opened = OpenedModel(name, Path(name), None, name, model.config, tokenizer, dtype, self.device)
            self._held = f"{name} {dtype}", LoadedModel(opened, model, self.device)
        return self._held[1]

    def _require_room(self, shape: Shape, vocabulary: int, dtype: str) -> None:
        if self.device == "cpu":
            return
        torch.cuda.empty_cache()
        needed = 1.15 * getattr(torch, dtype).itemsize * (shape.body + 2 * vocabulary * shape.width)
        free, _ = torch.cuda.mem_get_info()
        if free < needed:
            raise RuntimeError(f"{needed / 2**30:.0f} GiB of GPU memory are needed, {free / 2**30:.0f} are free")

    def timed(self, work: Callable[[], Result]) -> tuple[float, Result]:
        """Seconds of some work, all of it done on the device, and its result."""
        self._wait()
        start = time.perf_counter()
        found = work()
        self._wait()
        return time.perf_counter() - start, found

    def _wait(self) -> None:
        if self.device != "cpu":
            torch.cuda.synchronize()

    # The entries

    def matmul(self) -> dict[str, Any]:
        """The rate of a large product."""
        size = self.sizes.matmul
        one, other = (torch.randn(size, size, device=self.device, dtype=torch.bfloat16) for _ in range(2))
        times = [self.timed(lambda: [one @ other for _ in range(10)])[0] for _ in range(self.sizes.repetitions + 2)]
        self._rate = 20 * size**3 / min(times)
        return entry([self._rate / 1e12], "TFLOP/s, bfloat16")

    def copy(self) -> dict[str, Any]:
        """The rate of copying."""
        one = torch.empty(self.sizes.copied, device=self.device, dtype=torch.bfloat16)
        other = torch.empty_like(one)
        times = [self.timed(lambda: other.copy_(one))[0] for _ in range(self.sizes.repetitions + 2)]
        self._copy = 2 * one.nbytes / min(times)
        return entry([self._copy / 1e12], "TB/s, read and written")

    def exactness(self) -> dict[str, Any]:
        """Alone, in its question's tree, and in a batch: how far the log-probabilities of labels part in float32."""
        loaded, trials = self.model("1b", "float32"), flat(choose_questions(self.sizes.exact_questions))
        batch = score_trials(loaded, trials).readings
        trees = [each for asked in zip(trials[::2], trials[1::2], strict=True) for each in _read(loaded, asked)]
        alone = [each for trial in trials for each in _read(loaded, [trial])]
        apart = [_apart(one, other) for others in (trees, alone) for one, other in zip(batch, others, strict=True)]
        return entry(apart, "nats", wanted="<= 0.00001", questions=self.sizes.exact_questions)

    def exactness_halved(self) -> dict[str, Any]:
        """The same weights in bfloat16: total variation from float32 by question; the same bytes when read twice."""
        loaded, trials = self.model("1b", "float32"), flat(choose_questions(self.sizes.exact_questions))
        exact = score_trials(loaded, trials).readings
        halved = LoadedModel(replace(loaded.opened, dtype="bfloat16"), loaded.model.to(torch.bfloat16), self.device)
        self._held = None
        once, again = (score_trials(halved, trials).readings for _ in range(2))
        apart = [_variation(one, other) for one, other in zip(exact, once, strict=True)]
        mean = sum(apart) / len(apart)
        return entry([mean], "total variation, mean", wanted="<= 0.01", largest=max(apart), same_twice=once == again)

    def labels(self, name: str, times: float) -> dict[str, Any]:
        """A language's questions, twice each: over the first plan's algorithm, and the share of the rate of products.

        Multiplications with weights are counted (2 per parameter and token, head rows apart), attention's own are not.
        """
        loaded, chosen = self.model(name), choose_questions(self.sizes.questions)
        shape, vocabulary = self.sizes.shapes[name]
        warm_up(loaded, chosen)
        seconds, shares = [], []
        for _ in range(self.sizes.repetitions):
            taken, run = self.timed(lambda: run_engine(loaded, chosen))
            counts = run.counts + run.certificate_counts
            done = 2 * (shape.body * counts.tokens + vocabulary * shape.width * counts.head_rows)
            seconds.append(taken)
            shares.append(done / taken / self._rate)
        self._seconds[name] = min(seconds)
        slowly = self._seed_seconds(loaded, chosen)
        return entry(
            [slowly / each for each in seconds],
            "times the first plan's speed",
            wanted=f">= {times:g}",
            seconds=seconds,
            share_of_matmul=max(shares),
            tokens=run.counts.tokens,
            head_rows=run.counts.head_rows,
        )

    def _seed_seconds(self, loaded: LoadedModel, chosen: Sequence[Asked]) -> float:
        reader, trials = SeedReader(loaded), flat(chosen)
        sample = trials[:: max(1, len(trials) // self.sizes.slow)]
        reader.answer(sample[0].prompt, sample[0].labels)
        return self.timed(lambda: [reader.answer(each.prompt, each.labels) for each in sample])[0] * (
            len(trials) / len(sample)
        )

    def spans(self) -> dict[str, Any]:
        """Long transcripts with a hundred candidates at each span: the share of the rate of products."""
        loaded, sizes = self.model("7b"), self.sizes
        words, trials = 1, transcripts(sizes.texts, sizes.spans, 1, 1)
        while len(loaded.tokenizer.encode([trials[0].prompt])[0]) < sizes.text_tokens:
            words, trials = words + 1, transcripts(sizes.texts, sizes.spans, words + 1, 1)
        Asking(loaded.opened, trials[:1]).ask(loaded)
        with counting(loaded.model) as counts:
            taken, _ = self.timed(lambda: Asking(loaded.opened, trials).ask(loaded))
        (shape, vocabulary), tokens, rows = sizes.shapes["7b"], counts.tokens, counts.head_rows
        share = 2 * (shape.body * tokens + vocabulary * shape.width * rows) / taken / self._rate
        return entry([share], "of the rate of products", wanted=">= 0.35", seconds=taken, tokens=tokens)

    def generate(self, name: str) -> dict[str, Any]:
        """Greedy answers: over one by one, over batches of the same width, beside continuous batching and the roofline.

        The roofline: weights and half of all keys and values are read once a step.
        """
        loaded = self.model(name)
        loaded.__dict__["eos_ids"] = frozenset()  # lengths are the drawn ones
        work = generation.make_work(loaded, self.sizes.answers)
        longest = generation.PROMPT_TOKENS[1] + generation.LENGTHS[1]
        tokens, width = sum(asked.readout.max_tokens for asked in work), choose_width(loaded, longest)
        generation.rolling(loaded, work[:8], 4)
        ours, _ = self.timed(lambda: generation.rolling(loaded, work, width))
        few = work[:: max(1, len(work) // self.sizes.slow)]
        alone, _ = self.timed(lambda: generation.by_generate(loaded, few, 1))
        alone *= tokens / sum(asked.readout.max_tokens for asked in few)
        batches, _ = self.timed(lambda: generation.by_generate(loaded, work, width))
        weights = sum(part.nbytes for part in loaded.model.parameters())
        read = math.ceil(tokens / width) * (weights + width * row_bytes(loaded, longest) / 2)
        return entry(
            [alone / ours],
            "times one by one",
            wanted=">= 60",
            tokens_per_second=tokens / ours,
            over_batches=batches / ours,
            over_continuous=self._continuous(loaded, work, ours),
            share_of_roofline=read / self._copy / ours,
            width=width,
        )

    def _continuous(self, loaded: LoadedModel, work: Sequence[generation.AnswerRequest], ours: float) -> float | str:
        """How many times as long continuous batching takes; why not, where it does not run."""
        settings = GenerationConfig(
            max_new_tokens=generation.LENGTHS[1], do_sample=False, pad_token_id=0, eos_token_id=None
        )
        cache = ContinuousBatchingConfig(num_blocks=self.sizes.blocks)
        prompts = [list(asked.prompt_ids) for asked in work]
        try:
            model: Any = loaded.model
            taken, found = self.timed(lambda: model.generate_batch(prompts, settings, cache))
        except Exception as error:
            return f"not run: {(str(error).splitlines() or [type(error).__name__])[0][:120]}"
        return taken / ours if len(found) == len(work) else f"{len(found)} of {len(work)} answers came"

    def memory(self) -> dict[str, Any]:
        """The highest mark of writing over what was planned; the same answers where 40 % of that is left."""
        if self.device == "cpu":
            return not_measured("it is the card's memory that is looked at")
        loaded, longest = self.model("7b"), generation.PROMPT_TOKENS[1] + generation.LENGTHS[1]
        work, width = generation.make_work(loaded, self.sizes.answers), choose_width(loaded, longest)
        weights = sum(part.nbytes for part in loaded.model.parameters())
        torch.cuda.reset_peak_memory_stats()
        answers = generation.rolling(loaded, work, width)
        peak, total = torch.cuda.max_memory_allocated(), torch.cuda.get_device_properties(0).total_memory
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction((weights + 0.4 * (peak - weights)) / total)
        try:
            same = generation.rolling(loaded, work, width) == answers
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)
        planned = weights + width * row_bytes(loaded, longest)
        return entry([peak / planned], "of what was planned", wanted="<= 1.1", width=width, same_in_40_percent=same)

    def cells(self) -> dict[str, Any]:
        """Seconds of the 44 cells of the EVS, without loading, from those of a language."""
        total = CELLS * (self._seconds["2b"] + self._seconds["22b"])
        return entry([total], "seconds for 44 cells", wanted="<= 150")


MEASURED: Mapping[str, Callable[[Check], dict[str, Any]]] = {
    "matmul_tflops": Check.matmul,
    "copy_tb_s": Check.copy,
    "exactness_fp32": Check.exactness,
    "exactness_bf16": Check.exactness_halved,
    "labels_1b": lambda check: check.labels("1b", 8),
    "labels_2b": lambda check: check.labels("2b", 8),
    "generate_1b": lambda check: check.generate("1b"),
    "labels_7b": lambda check: check.labels("7b", 8),
    "spans_7b": Check.spans,
    "generate_7b": lambda check: check.generate("7b"),
    "memory": Check.memory,
    "labels_22b": lambda check: check.labels("22b", 4),
    "evs_44_cells": Check.cells,
}


def _read(loaded: LoadedModel, trials: Sequence[Trial]) -> Sequence[Reading]:
    return score_trials(loaded, list(trials)).readings


def _apart(one: Reading, other: Reading) -> float:
    """The largest difference of two readings' log-probabilities."""
    pairs = zip(one.label_probs, other.label_probs, strict=True)
    return max(abs(math.log(a) - math.log(b)) for a, b in pairs)


def _variation(one: Reading, other: Reading) -> float:
    """Total variation of two readings, each over its labels."""
    a, b = (torch.tensor(each.label_probs, dtype=torch.float64) for each in (one, other))
    return float((a / a.sum() - b / b.sum()).abs().sum() / 2)
