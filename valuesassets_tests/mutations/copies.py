"""Copies of the package, and processes that say what a copy measures."""

import compileall
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import local
from typing import Any

from valuesassets_tests.costs import PART
from valuesassets_tests.mutations.mutants import Mutant
from valuesassets_tests.needs import REPOSITORY

COPIED = ("valuesassets", "valuesassets_tests")
AT_ONCE = 2
WARM_PROCESS = Path(__file__).with_name("warm_process.py")


class Copies:
    """Makes copies of the package under a folder, with or without a mutation, and asks them, two at a time.

    The phantom is trained once, by the first copy without a mutation that is asked to calibrate.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._phantom = folder, folder / "phantom"
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._own = local()
        self._started: list[subprocess.Popen[str]] = []
        # The sources may be edited while mutations are tried: they are copied and compiled once. Every other copy
        # is of links into this one, so that its own processes read it too, and costs hardly anything.
        self._sources = folder / "sources"
        for name in COPIED:
            shutil.copytree(REPOSITORY / name, self._sources / name)
            compileall.compile_dir(self._sources / name, quiet=1)
        shutil.copy(REPOSITORY / "pyproject.toml", self._sources)

    def calibrate(self, mutant: Mutant | None, is_sampled: bool) -> Future[dict[str, Any]]:
        """What the calibration comes to in a copy: `rows` of the summary, or an `error` of ours."""
        own = self._folder / "phantoms" / _slug(mutant) if mutant else self._phantom
        argument = {"known": str(self._phantom), "own": str(own), "is_sampled": is_sampled}
        return self._pool.submit(self._ask, mutant, "recalibrate", argument)

    def test(self, mutant: Mutant | None, tests: Sequence[str]) -> Future[dict[str, Any]]:
        """What tests come to in a copy: pytest's `code` and what those that `failed` said."""
        return self._pool.submit(self._ask, mutant, "retest", list(tests))

    def test_soundness(self, mutated: Sequence[Future[dict[str, Any]]]) -> Future[dict[str, Any]]:
        """What a copy without a mutation comes to in the tests that failed under one."""

        def ask() -> dict[str, Any]:
            failed = {test for each in mutated for test in each.result().get("failed", ())}
            return self._ask(None, "retest", sorted(failed)) if failed else {"code": 0, "failed": {}}

        return self._pool.submit(ask)

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown(cancel_futures=True)
        for process in self._started:
            process.communicate()

    def _ask(self, mutant: Mutant | None, module: str, argument: object) -> dict[str, Any]:
        copy = self._folder / "copies" / f"{module}_{_slug(mutant)}"
        copy.mkdir(parents=True)
        _link(self._sources, copy, Path(mutant.file).parts if mutant else ())
        if mutant:
            sound = (self._sources / mutant.file).read_text(encoding="utf-8")
            (copy / mutant.file).write_text(mutant.applied_to(sound), encoding="utf-8")
        answer = copy.with_suffix(".json")
        asked = {"copy": str(copy), "module": f"valuesassets_tests.mutations.{module}", "argument": argument}
        process = self._process()
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(asked | {"answer": str(answer)}) + "\n")
        process.stdin.flush()
        status = process.stdout.readline().strip()
        shutil.rmtree(copy)
        return json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else {"broken": f"it died: {status}"}

    def _process(self) -> subprocess.Popen[str]:
        """The warm process of this thread."""
        if not hasattr(self._own, "process"):
            # Nobody counts the lines that a copy runs, or stores what its tests cost.
            environment = {
                name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_") and name != PART
            }
            environment |= {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
            self._own.process = subprocess.Popen(
                [sys.executable, str(WARM_PROCESS)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment,
            )
            self._started.append(self._own.process)
        return self._own.process


def _link(sound: Path, copy: Path, changed: Sequence[str]) -> None:
    """Fill a folder with links to what is sound; it has folders of its own on the way to the file that changes."""
    for each in sound.iterdir():
        own = copy / each.name
        if changed[:1] == (each.name,):  # the file itself is left out
            if each.is_dir():
                own.mkdir()
                _link(each, own, changed[1:])
        elif each.name == "__pycache__" and len(changed) == 1:  # the changed file is compiled into it
            own.mkdir()
            for compiled in each.iterdir():
                if compiled.name.partition(".")[0] != Path(changed[0]).stem:
                    (own / compiled.name).symlink_to(compiled)
        else:
            own.symlink_to(each)


def _slug(mutant: Mutant | None) -> str:
    return re.sub(r"\W+", "_", mutant.name) if mutant else "sound"
