"""`python -m valuesassets.node job.json`: runs one job, in a fork with its imports done if a fork server is there."""

import json
import os
import sys
from pathlib import Path

from valuesassets.node.fork_server import hand_over
from valuesassets.records.garbage import collect_seldom

MODELS = (
    "dagster_pipes",
    "pydantic.main",
    "pydantic.types",
    "pyarrow.parquet",
    "pyarrow.dataset",
    "pandas",  # which pyarrow imports when it reads its first table
    "torch",
    "transformers.modeling_utils",
    "transformers.generation",
    "transformers.models.auto.modeling_auto",
    "transformers.models.auto.tokenization_auto",
    "transformers.models.llama.modeling_llama",
    "valuesassets.node.warm",
)
IMPORTS = {"score": MODELS, "generate": MODELS, "sample": MODELS, "embed": (*MODELS, "sentence_transformers")}
"""Modules of other projects that a kind of job imports and that take seconds; missing ones are skipped."""


def main(arguments: list[str]) -> int:
    """Run a job, here or in a fork; returns its exit status."""
    collect_seldom()
    # Threads that wait in a loop take cores from threads that compute, and slow a busy machine down several times.
    # OpenMP reads this when torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # read when transformers is imported
    imports = _imports(arguments)
    if imports and (status := hand_over(arguments, imports)) is not None:
        return status
    from valuesassets.node import job_process

    return job_process.main(arguments)


def _imports(arguments: list[str]) -> tuple[str, ...]:
    """The modules that a job imports; none if its models are behind an API, or if its file cannot be read."""
    try:
        job = json.loads(Path(*arguments).read_bytes())
        return () if any(cell.get("endpoint") for cell in job.get("cells", ())) else IMPORTS.get(job["kind"], ())
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return ()  # `job_process` reports it


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
