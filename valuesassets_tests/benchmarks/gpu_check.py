"""`make gpu-check`: what a GPU does with this engine, a table and storage/evidence/gpu.json; skipped without one."""

import sys

try:
    import torch
    from rich.console import Console

    from valuesassets_tests.benchmarks.evidence import add_entries, draw_table, evidence_folder, not_measured
    from valuesassets_tests.benchmarks.gpu import MEASURED, Check, Sizes
except ModuleNotFoundError as missing:  # of a site's own Python
    sys.exit(
        f"gpu-check: {sys.executable} has no {missing.name}; beside the site's torch it needs what a node job imports: "
        f"{sys.executable} -m pip install -c constraints.txt accelerate pyarrow pydantic rich scipy transformers"
    )

NO_GPU = "no GPU is visible"


def main() -> int:
    """Measure what can be measured here; 0 also where there is no GPU, which is said and written down."""
    path, console = evidence_folder() / "gpu.json", Console(width=120)
    if not torch.cuda.is_available():
        print(f"skipped: {NO_GPU}")
        add_entries(path, {name: not_measured(NO_GPU) for name in MEASURED})
        print(f"written to {path}")
        return 0
    card = {"card": torch.cuda.get_device_name(), "cuda": torch.version.cuda}
    entries = Check("cuda:0", Sizes(), lambda line: print(line, flush=True)).measure()
    add_entries(path, {name: found | card for name, found in entries.items()})
    console.print(draw_table(entries))
    print(f"written to {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
