"""`python -m valuesassets.node job.json`: does one job (`job_process.py`), or has a fork do it that has its imports."""

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
"""What the jobs of a kind import of others, where that takes seconds; what is not installed is passed over."""


def main(arguments: list[str]) -> int:
    """The job's exit status, wherever it was done."""
    collect_seldom()
    # Threads that wait busily take the cores that others need, and are waited for themselves: a busy machine slows down
    # several times over. OpenMP reads this when torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # read when transformers is imported
    imports = _imports(arguments)
    if imports and (status := hand_over(arguments, imports)) is not None:
        return status
    from valuesassets.node import job_process

    return job_process.main(arguments)


def _imports(arguments: list[str]) -> tuple[str, ...]:
    """What a job imports; nothing where its models stand behind an API, or where it is no job."""
    try:
        job = json.loads(Path(*arguments).read_bytes())
        return () if any(cell.get("endpoint") for cell in job.get("cells", ())) else IMPORTS.get(job["kind"], ())
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return ()  # which `job_process` says


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
