"""`make bench`: how fast and how small the engine is, as a table and in storage/evidence/bench.json."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch
from rich.console import Console

from valuesassets.models.generating import BLOCK_ROWS
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.loading import load_model
from valuesassets_tests.benchmarks import (
    clustering,
    evaluation,
    events,
    generation,
    grids,
    lm_eval_harness,
    paired,
    peak_memory,
    prefixes,
    published,
    real,
    remote,
    robustness,
    scaling,
    spans,
    windows,
)
from valuesassets_tests.benchmarks.evidence import Entries, Tell, add_entries, evidence_folder, not_measured, show
from valuesassets_tests.benchmarks.workload import SHAPES, VOCABULARY, choose_questions, write_model

SIZES = (50, 100, 200, 400)
MORE = 650
"""Questions of one more memory measurement: whether it is flat shows beyond the sizes that fill all batches."""
ANSWERS_VOCABULARY = 8192
VOCABULARIES = (32_768, 131_072, 262_144)


@dataclass(frozen=True)
class Bench:
    """What is run, and at which size.

    Attributes:
        questions: of the comparisons, each in both orders.
        slices: paired repetitions that the questions are cut into.
        sizes: numbers of questions of the scaling and memory tables.
        more: one more for memory.
        is_quick: a tiny model in place of all others, to try the command itself; its numbers mean nothing.
        models: folders of models with weights that mean something; without them `writing` measures nothing.
        texts, tokens: how many answers are written there, and how long each is.
    """

    questions: int = 250
    slices: int = 5
    sizes: tuple[int, ...] = SIZES
    more: int = MORE
    vocabularies: tuple[int, ...] = VOCABULARIES
    is_quick: bool = False
    models: tuple[Path, ...] = ()
    texts: int = 8
    tokens: int = 64

    @property
    def vocabulary(self) -> int:
        """Entries of the tokenizer."""
        return min(self.vocabularies) if self.is_quick else VOCABULARY

    def load(self, scratch: Path, name: str) -> LoadedModel:
        """A model of random weights, written once and loaded from its folder."""
        folder = self.folder(scratch, name)
        return load_model(str(folder), dtype="float32", device="cpu")

    def folder(self, scratch: Path, name: str) -> Path:
        """The folder of a model, written where it is not there yet."""
        folder = scratch / name
        if not folder.exists():
            write_model(folder, SHAPES["tiny" if self.is_quick else name], self.vocabulary)
        return folder


QUICK = Bench(questions=10, slices=2, sizes=(5,), more=10, vocabularies=(2048, 4096), is_quick=True)


def compare_5m(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """A body of five million parameters against both others."""
    has_harness = lm_eval_harness.is_installed()
    questions = choose_questions(bench.questions)
    entries = paired.compare(bench.load(scratch, "5m"), "5m", questions, bench.slices, 50, has_harness, tell)
    if not has_harness:
        reason = "lm-evaluation-harness is not installed: pip install -c constraints.txt -e '.[bench]'"
        entries |= {name: not_measured(reason) for name in ("engine_vs_lm_eval_5m", "agreement_with_lm_eval_5m")}
    return entries


def compare_200m(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """A body of two hundred million parameters against the seed's algorithm."""
    questions = choose_questions(bench.questions)
    return paired.compare(bench.load(scratch, "200m"), "200m", questions, bench.slices, 20, False, tell)


def measure_memory(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """Extra peak memory over the number of questions."""
    return peak_memory.compare_sizes(bench.folder(scratch, "5m"), (*bench.sizes, bench.more), tell)


def measure_scaling(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """Time, tokens and head rows over the number of questions and over the vocabulary."""
    loaded = bench.load(scratch, "5m")
    shape = SHAPES["tiny" if bench.is_quick else "5m"]
    return scaling.by_questions(loaded, bench.sizes, tell) | scaling.by_vocabulary(
        scratch, shape, bench.vocabularies, bench.sizes[0], tell
    )


def measure_answers(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """Rolling rows against `generate`, in a model whose head does not outweigh its body."""
    folder = scratch / "answers"
    write_model(folder, SHAPES["tiny" if bench.is_quick else "5m"], ANSWERS_VOCABULARY)
    width, repetitions = (2, 1) if bench.is_quick else (32, 2)
    loaded = load_model(str(folder), dtype="float32", device="cpu")
    return generation.measure(loaded, BLOCK_ROWS * width, width, repetitions, tell)


def measure_writing(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """Whole answers with their certificate against `generate`, by the models whose folders are given."""
    folders = [bench.folder(scratch, "5m")] if bench.is_quick else bench.models
    sizes = (4, 6) if bench.is_quick else (bench.texts, bench.tokens)
    found: Entries = {} if folders else {"writing": not_measured("needs --models FOLDER")}
    for folder in folders:
        loaded = load_model(str(folder), dtype="float32", device="cpu")
        found |= generation.against_generate(loaded, folder.name, *sizes, tell)
    return found


def measure_spans(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """Candidates at the marks of transcripts: time against the seed and against brute force, memory of a long text."""
    folder = scratch / "spans"
    write_model(folder, SHAPES["tiny" if bench.is_quick else "5m"], bench.vocabulary, positions=16_384)
    loaded = load_model(str(folder), dtype="float32", device="cpu")
    trials = spans.transcripts(*((2, 3, 1, 1) if bench.is_quick else (6, 40, 1, 12)))
    return spans.compare(loaded, trials, tell) | spans.compare_memory(folder, tell)


def measure_prefixes(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """Profiles before many questions: tokens and time with a kept prefix, and its memory."""
    folder = scratch / "prefixes"
    write_model(folder, SHAPES["tiny" if bench.is_quick else "5m"], min(bench.vocabularies))
    loaded = load_model(str(folder), dtype="float32", device="cpu")
    return prefixes.compare(loaded, folder, *((2, 24) if bench.is_quick else (2, 239)), tell)


def measure_windows(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """A window of 512 tokens beside none: tokens, and what a label moves."""
    shape = SHAPES["tiny"]
    return windows.compare(scratch, shape, min(bench.vocabularies), bench.questions, tell)


def measure_evaluation(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """Ratings of a whole survey's people by four models, scored by the command."""
    return evaluation.measure(scratch, *((800, 20) if bench.is_quick else (94_000, 2000)), tell)


def measure_robustness(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """Answers in many languages: every score of one model, and the seed's clustering against the plain procedure."""
    size = (4, 3, 6, 16, 99) if bench.is_quick else (24, 36, 101, 1024, 2000)
    return robustness.measure(*size, tell) | clustering.compare(tell, *((3, 16) if bench.is_quick else ()))


def measure_published(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """A questionnaire read exactly and as seed 001's code does, from models that follow a known law."""
    return published.measure(scratch, *((2, 3) if bench.is_quick else (40, 500)), tell)


def measure_real(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """Models that people use, as they stand: agreement and speed beside the two others."""
    models = list(bench.models)
    if bench.is_quick:
        models = [write_model(scratch / "real", SHAPES["tiny"], bench.vocabulary)]
    questions = real.choose_real_questions(bench.questions)
    return real.measure([str(model) for model in models], questions, bench.slices, tell)


def measure_remote(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """Many requests to a model behind an API that takes its time."""
    return remote.measure(tell, 0.05 if bench.is_quick else 1.0)


def measure_events(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """Events of a run in Dagster's storage and in ours."""
    return events.measure(scratch, *((20, 1) if bench.is_quick else (300, 3)), tell)


def measure_grids(bench: Bench, scratch: Path, tell: Tell) -> Entries:
    """Grids of 630 to 6,000 cells: the load of the graph, looks of the sensor, staleness."""
    return grids.measure(scratch, (2,) if bench.is_quick else (21, 50, 100, 200), tell)


PARTS: dict[str, Callable[[Bench, Path, Tell], Entries]] = {
    "5m": compare_5m,
    "200m": compare_200m,
    "memory": measure_memory,
    "scaling": measure_scaling,
    "answers": measure_answers,
    "writing": measure_writing,
    "spans": measure_spans,
    "prefixes": measure_prefixes,
    "windows": measure_windows,
    "evaluate": measure_evaluation,
    "published": measure_published,
    "real": measure_real,
    "robustness": measure_robustness,
    "remote": measure_remote,
    "events": measure_events,
    "grids": measure_grids,
}


def run_parts(bench: Bench, names: Sequence[str], path: Path, tell: Tell) -> None:
    """Run parts one after the other; what each found is in the file before the next begins."""
    with tempfile.TemporaryDirectory(prefix="valuesassets-bench-") as scratch:
        for name in names:
            add_entries(path, PARTS[name](bench, Path(scratch), tell))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for, draw the table; 1 where an agreement or a count is not what it must be."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas: %(default)s")
    parser.add_argument("--questions", type=int, default=Bench.questions, help="questions compared (%(default)s)")
    parser.add_argument("--slices", type=int, default=Bench.slices, help="paired repetitions (%(default)s)")
    parser.add_argument("--models", type=Path, nargs="*", default=[], help="folders of models (writing, real)")
    parser.add_argument("--texts", type=int, default=Bench.texts, help="answers of each (writing; %(default)s)")
    parser.add_argument("--tokens", type=int, default=Bench.tokens, help="tokens of an answer (writing; %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="a tiny model and ten questions: tries the command")
    asked = parser.parse_args(arguments)
    names = asked.only.split(",")
    if unknown := sorted(set(names) - set(PARTS)):
        parser.error(f"--only {unknown[0]}: no such part; there are {', '.join(PARTS)}")
    if not 1 <= asked.slices <= asked.questions:
        parser.error(f"--slices {asked.slices}: from 1 to the number of questions was expected")
    torch.set_num_threads(asked.threads)
    console = Console() if sys.stdout.isatty() else Console(width=120)
    writing = {"models": tuple(asked.models), "texts": asked.texts, "tokens": asked.tokens}
    bench = QUICK if asked.quick else Bench(asked.questions, asked.slices, **writing)
    # Numbers of a tiny model never stand where real ones are looked for.
    path = evidence_folder() / ("bench_quick.json" if asked.quick else "bench.json")
    try:
        run_parts(bench, names, path, lambda line: console.print(line, highlight=False, soft_wrap=True))
    except AssertionError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    show(path, console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
