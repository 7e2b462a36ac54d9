"""A process that has imported torch and other packages, nothing of ours, and forks one child per copy of the package.

Each child imports the copy afresh, as a process of its own would, and is spared four seconds of other people's
imports. Started by its path, so that not even the package around it is imported. Reads one JSON object per line
({"copy", "module", "argument", "answer"}), calls `main(argument)` of that module of that copy, and prints a line when
its answer has been written as JSON, or when it has died without one.
"""

import contextlib
import gc
import importlib
import io
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

WARM = (
    *("numpy", "pandas", "scipy.optimize", "scipy.stats", "sklearn.manifold", "pydantic", "pyarrow.parquet", "typer"),
    *("rich.progress", "matplotlib", "torch", "tokenizers", "safetensors.torch", "transformers"),
    *("transformers.models.llama.modeling_llama", "transformers.models.auto.modeling_auto"),
    *("transformers.models.auto.tokenization_auto", "pytest", "hypothesis", "hypothesis.strategies", "dagster"),
)
PACKAGES = ("valuesassets", "valuesassets_tests")
MOST_SECONDS = 900
"""After which a copy hangs; slow machines train its phantom in minutes."""


def answer(asked: dict[str, Any]) -> Any:
    """What the copy says; called in a child that has imported nothing of any copy."""
    copy = Path(asked["copy"])
    os.chdir(copy)
    # The script's own folder goes: nothing but the copy may be found under our names.
    sys.path[0] = str(copy)
    import torch

    torch.set_num_threads(1)
    said = importlib.import_module(asked["module"]).main(asked["argument"])
    ours = [module for name, module in sys.modules.items() if name.partition(".")[0] in PACKAGES]
    elsewhere = [str(module.__file__) for module in ours if copy not in Path(str(module.__file__)).parents]
    if elsewhere:
        raise RuntimeError(f"not of the copy {copy}: {elsewhere[:3]}")
    return said


def child(asked: dict[str, Any]) -> None:
    signal.alarm(MOST_SECONDS)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            said = answer(asked)
        except BaseException:
            said = {"broken": traceback.format_exc()}
    Path(asked["answer"]).write_text(json.dumps(said), encoding="utf-8")


def main() -> None:
    for name in WARM:
        importlib.import_module(name)
    # What transformers computes at a process's first model: some 900 regular expressions.
    importlib.import_module("transformers.conversion_mapping").get_checkpoint_conversion_mapping("llama")
    gc.freeze()  # what all children share is never garbage: looking through it takes each of them a second
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                child(json.loads(line))
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
