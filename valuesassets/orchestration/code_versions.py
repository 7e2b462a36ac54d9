"""Code versions: a hash of every source file that an asset's code can reach, of the bundled data, and of the study.

Dagster compares them with those recorded at a materialisation: unchanged code and inputs make a partition fresh.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from valuesassets.records.files import sha256_json
from valuesassets.records.study import Study

PACKAGE = "valuesassets"
ROOT = Path(__file__).resolve().parent.parent.parent
IMPORT = re.compile(rf"^[ \t]*((?:from|import) {PACKAGE}\b[^(\n]*(?:\([^)]*\))?)", re.MULTILINE)
"""A statement that imports modules of this package, over several lines where it has parentheses."""
BUNDLED = ("studies/lexicons/*", "studies/facts/*", "studies/questionnaires/*.pdf")
"""Data that lie in no instrument's folder."""
WORDS = {f"{PACKAGE}.records.{name}" for name in ("columns", "tables")}
"""Modules that say what is written and change nothing of it: other words make nothing stale."""
SHARED_HOMES = ("answers", "people", "comparing", "reporting")
"""Packages that derive assets of several instruments, in files of the assets' names."""
NO_RESULT = {"resources", "offline", "endpoint"}
"""What of a family changes no result: asking for more memory, or more patiently, makes nothing stale."""
WHERE_IT_RUNS: Any = {"families": {"__all__": NO_RESULT}}
TRAINED = "trained_families"
"""In `reads`: the families that are trained here, and no others."""
FACTS_OF_A_FAMILY = {"kind", "model_type", "model_id", "plants"}
"""What tables and figures say of a family; how its models are run is the data version of their weights."""


def code_version(modules: Sequence[str], study: Study, reads: Iterable[str], wiring: str = "", data: str = "") -> str:
    """Version of an asset derived by these modules in `study`: 16 hexadecimal digits.

    Args:
        reads: tables and keys of the study file that the derivation reads; a change of any other makes nothing stale.
        wiring: source of the function that calls the modules.
        data: the instrument whose bundled data the derivation may read; none where it is empty.
    """
    told = study.model_dump(mode="json", exclude=WHERE_IT_RUNS)
    trained = {name: family for name, family in told["families"].items() if family["kind"] == "reference"}
    read = {name: (told | {TRAINED: trained})[name] for name in sorted(reads)}
    digest = hashlib.sha256(sha256_json(read).encode())
    digest.update(wiring.encode())
    sources = sorted(set().union(*(reachable(module, wiring) for module in modules)))
    for path in sources + (_bundled_data(data) if data else []):
        digest.update(_content(path))
    return digest.hexdigest()[:16]


def entries_of(study: Study, tables: Iterable[str]) -> dict[str, dict[str, str]]:
    """Hashes of single entries of a study's tables, by table and entry.

    An asset remembers those that it was made from (`desk.staleness`). So a new entry makes nothing stale that was made
    without it, and a changed one what rests on it.

    Args:
        tables: `languages`; `families`, what tables and figures say of them; `models`, how families are run.
    """
    found: dict[str, dict[str, Any]] = {"languages": {}, "families": {}, "models": {}}
    for code, language in study.languages.items():
        found["languages"][code] = language.model_dump(mode="json")
    for name, family in study.families.items():
        found["families"][name] = family.model_dump(mode="json", include=FACTS_OF_A_FAMILY)
        run = family.model_dump(mode="json", exclude={*NO_RESULT, "languages"})
        answering = family.endpoint.asked if family.endpoint else {}
        found["models"][name] = [run | answering, study.model_ids(name)]
    return {
        table: {name: sha256_json(entry)[:12] for name, entry in found[table].items()} for table in sorted(set(tables))
    }


@cache
def homes(own: str, noun: str) -> list[str]:
    """The module that derives an asset: the one of its name in the instrument's own package, else a shared one."""
    packages = (own, *(f"{PACKAGE}.{shared}" for shared in SHARED_HOMES))
    found = (name for package in packages if _source(name := f"{package}.{noun}"))
    return [next(found, f"{own}.{noun}")]


@cache
def source_version(module: str) -> str:
    """Version of a module and of all that it imports of this package: 16 hexadecimal digits."""
    return hashlib.sha256(b"".join(map(_content, sorted(reachable(module))))).hexdigest()[:16]


def file_stamps(folder: Path | None, files: Mapping[str, str]) -> dict[str, str]:
    """Of the files that a folder has, size and time in one word: a replaced file has another."""
    return {name: stamp for name, file in files.items() if folder is not None and (stamp := _stamp(folder / file))}


def human_stamp(study: Study) -> str:
    """Sizes and times of the files of respondents, or of published means, that a study names."""
    paths = [*(file.path for file in study.human.files), *([study.human.means] if study.human.means else [])]
    return sha256_json(list(map(_stamp, paths))) if paths else ""


def _stamp(path: Path) -> str:
    if not path.is_file():
        return ""
    stat = path.stat()
    return sha256_json({path.name: [stat.st_size, stat.st_mtime_ns]})


def reachable(module: str, wiring: str = "") -> set[Path]:
    """Source files of a module, and of all modules of this package that it or the wiring imports, directly or not.

    Raises:
        ModuleNotFoundError: there is no such module; a version over nothing would never change.
    """
    if _source(module) is None:
        raise ModuleNotFoundError(f"{module}: no such module; an asset is derived by the file of its name")
    seen: dict[str, Path] = {}
    waiting = [module, *_imports(wiring)]
    while waiting:
        name = waiting.pop()
        path = _source(name)
        if name in seen or name in WORDS or path is None:
            continue
        seen[name] = path
        waiting += _imports(_content(path).decode())
    return set(seen.values())


def _content(path: Path) -> bytes:
    """What a file holds; read once, as long as it stays as it is."""
    stat = path.stat()
    return _content_of(path, stat.st_size, stat.st_mtime_ns)


@cache
def _content_of(path: Path, size: int, modified: int) -> bytes:
    return path.read_bytes()


@cache
def _source(module: str) -> Path | None:
    """The file of a module of this package. `find_spec` would import the packages above it, and torch with them."""
    path = ROOT.joinpath(*module.split("."))
    return next((found for found in (path / "__init__.py", path.with_name(f"{path.name}.py")) if found.is_file()), None)


@cache
def _bundled_data(instrument: str) -> list[Path]:
    """What an instrument's code reads that is not code: its data below studies/, shared facts, parts of pages."""
    pages = (f"{layer}/**/*.{kind}" for layer in ("instruments", "reporting") for kind in ("jinja", "js"))
    patterns = (f"studies/{instrument}/**/*", *BUNDLED, *pages)
    return sorted({path for pattern in patterns for path in (ROOT / PACKAGE).glob(pattern) if path.is_file()})


@cache
def _imports(source: str) -> tuple[str, ...]:
    """Modules of this package that a piece of source imports, at its top or inside its functions.

    Only these statements are parsed: whole files would take a second, in every process that loads the graph.
    """
    found = []
    for node in ast.parse("\n".join(IMPORT.findall(source))).body:
        if isinstance(node, ast.ImportFrom):
            found += [f"{node.module}", *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.startswith(PACKAGE)]
    return tuple(found)
