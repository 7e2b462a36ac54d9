"""How the engine's work grows with the number of questions and with the vocabulary."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.loading import load_model
from valuesassets_tests.benchmarks.counting import find_sequences, seed_counts
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry
from valuesassets_tests.benchmarks.paired import run_engine, warm_up
from valuesassets_tests.benchmarks.workload import Shape, choose_questions, write_model


def by_questions(loaded: LoadedModel, sizes: Sequence[int], tell: Tell) -> Entries:
    """The same model over growing sets."""
    rows = []
    for size in sizes:
        tell(f"scaling: {size} questions")
        rows.append({"questions": size} | _measure(loaded, size))
    return {"seconds_per_question_by_questions": _entry(rows)}


def by_vocabulary(scratch: Path, shape: Shape, sizes: Sequence[int], questions: int, tell: Tell) -> Entries:
    """The same body and questions under growing vocabularies."""
    rows = []
    for size in sizes:
        tell(f"scaling: vocabulary of {size}, {questions} questions")
        loaded = load_model(
            str(write_model(scratch / f"vocabulary_{size}", shape, size)), dtype="float32", device="cpu"
        )
        rows.append({"vocabulary": size, "questions": questions} | _measure(loaded, questions))
    return {"seconds_per_question_by_vocabulary": _entry(rows)}


def _measure(loaded: LoadedModel, size: int) -> dict[str, Any]:
    questions = choose_questions(size)
    warm_up(loaded, questions)
    run = run_engine(loaded, questions)
    seed = seed_counts(find_sequences(loaded, asked) for asked in questions)
    return {
        "seconds": round(run.seconds, 3),
        "certificate_seconds": round(run.certificate_seconds, 3),
        "calls": run.counts.calls,
        "tokens": run.counts.tokens,
        "head_rows": run.counts.head_rows,
        "seed_tokens": seed.tokens,
        "tokens_vs_seed": run.counts.tokens / seed.tokens,
    }


def _entry(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return entry([row["seconds"] / row["questions"] for row in rows], "CPU seconds per question", rows=rows)
