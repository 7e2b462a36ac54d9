"""`python -m valuesassets_tests.repeated_code [COMMIT]`: fails where added statements repeat others of the same shape.

Statements have the same shape where they differ in names of variables and in constants alone. Lines count as added
since COMMIT; without one, since the branch left `main`, or, on `main`, since the commit before.
"""

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.plain_words import added_lines, git

FOLDERS = ("valuesassets", "slurm_runner")
LEAST_LINES, LEAST_STATEMENTS = 8, 3
"""Shorter runs of statements are often alike by chance."""
Place = tuple[Path, int, int]
"""A file, the first and the last line of a run of statements."""


def shape(node: Any, names: dict[str, int]) -> Any:
    """A statement as nested tuples, variables numbered as they first appear, constants by their type alone.

    Names of attributes, keywords and called functions stay: they say what the code does.
    """
    match node:
        case list():
            return tuple(shape(each, names) for each in node)
        case ast.Constant():
            return type(node.value).__name__
        case ast.Call(func=ast.Name(id=function)):
            return function, shape(node.args, names), shape(node.keywords, names)
        case ast.Name(id=name) | ast.arg(arg=name):
            return names.setdefault(name, len(names))
        case ast.AST():
            return type(node).__name__, *(shape(value, names) for _, value in ast.iter_fields(node))
    return node


def runs(path: Path) -> Iterator[tuple[Any, Place]]:
    """The shortest runs of statements in functions that are long enough, one from each statement on."""
    functions = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)]
    blocks = {id(block): block for node in functions for each in ast.walk(node) for _, block in ast.iter_fields(each)}
    for block in blocks.values():
        if not (isinstance(block, list) and block and isinstance(block[0], ast.stmt)):
            continue
        for first, statement in enumerate(block):
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):  # a docstring
                continue
            for last in range(first + LEAST_STATEMENTS, len(block) + 1):
                end = block[last - 1].end_lineno or 0
                if end - statement.lineno + 1 >= LEAST_LINES:
                    yield shape(block[first:last], {}), (path, statement.lineno, end)
                    break


def repetitions(files: list[Path]) -> list[list[Place]]:
    """Places that have one shape, two or more of each."""
    places: dict[Any, list[Place]] = defaultdict(list)
    for path in files:
        for key, place in runs(path):
            places[key].append(place)
    return [alike for alike in places.values() if len(alike) > 1]


def complaints(files: list[Path], added: set[tuple[Path, int]]) -> list[str]:
    """A line for each added run of statements that stands elsewhere too; of runs that overlap, for the first."""
    lines, ends = [], dict.fromkeys(files, 0)
    new = ((place, alike) for alike in repetitions(files) for place in alike if _lines(place) <= added)
    for place, alike in sorted(new):
        path, first, last = place
        if first > ends[path]:
            other = next(other for other in alike if other != place)
            lines.append(f"{_named(place)} repeats {_named(other)}; write it once")
        ends[path] = last
    return lines


def _lines(place: Place) -> set[tuple[Path, int]]:
    path, first, last = place
    return {(path, line) for line in range(first, last + 1)}


def _named(place: Place) -> str:
    path, first, last = place
    return f"{path.relative_to(REPOSITORY) if path.is_relative_to(REPOSITORY) else path}:{first}-{last}"


def _base() -> str:
    """The commit at which this branch left `main`; on `main`, and where there is none, the one before the last."""
    with suppress(subprocess.CalledProcessError):
        left = git("merge-base", "main", "HEAD").strip()
        return left if left != git("rev-parse", "HEAD").strip() else "HEAD~1"
    return "HEAD~1"


def main(arguments: list[str]) -> int:
    """Compare what was added with all product code; 1 where it repeats any."""
    try:
        added = added_lines(arguments[0] if arguments else _base())
    except (OSError, subprocess.CalledProcessError):
        print("repeated code: not looked for, this is no git checkout with a commit before its last")
        return 0
    lines = complaints(sorted(path for name in FOLDERS for path in (REPOSITORY / name).rglob("*.py")), added)
    print(*lines, sep="\n", end="\n" if lines else "")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
