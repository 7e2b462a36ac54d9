"""Code versions: hashes of all source files that an asset's code can reach, of bundled data, and of the study.

Dagster compares them with those recorded at a materialisation: a partition with unchanged code and inputs is fresh.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any

from valuesassets.records.files import sha256_json
from valuesassets.records.study import Study

PACKAGE = "valuesassets"
ROOT = Path(__file__).resolve().parent.parent.parent
IMPORT = r"^[ \t]*((?:(?:from|import) (?:{packages})\b|from \.)[^(\n]*(?:\([^)]*\))?)"
"""A statement that imports modules of some packages; with parentheses it may span lines."""
OWN_FILES = ("data/**/*", "**/*.jinja", "**/*.js")
"""Files other than Python that code of another package's instrument may read, in its package."""
BUNDLED = ("studies/lexicons/*", "studies/facts/*", "studies/questionnaires/*.pdf")
"""Bundled data outside the instruments' folders."""
WORDS = {f"{PACKAGE}.records.{name}" for name in ("columns", "tables")}
"""Modules of descriptions, whose changes make nothing stale, since they do not change results."""
SHARED_HOMES = ("answers", "people", "comparing", "reporting")
"""Packages that derive assets of several instruments, in files with the assets' names."""
NO_RESULT = {"resources", "offline", "endpoint"}
"""Keys of a family that change no result, such as memory and timeouts, and make nothing stale."""
WHERE_IT_RUNS: Any = {"families": {"__all__": NO_RESULT}, "languages": {"__all__": {"script"}}}
TRAINED = "trained_families"
"""A name in `reads` that stands for the families trained here."""
FACTS_OF_A_FAMILY = {"kind", "model_type", "model_id", "adapter", "plants"}
"""Keys of a family that tables and figures show; how its models run is part of the data version of weights."""


def code_version(
    modules: Sequence[str],
    study: Study,
    reads: Iterable[str],
    wiring: str = "",
    data: str = "",
    package: str = PACKAGE,
    wired_in: str = "",
) -> str:
    """Version of an asset derived by these modules in `study`: 16 hexadecimal digits.

    Args:
        reads: tables and keys of the study file that the derivation reads; changes of others make nothing stale.
        wiring: source of the function that calls the modules.
        data: the instrument whose bundled data the derivation may read; empty for none.
        package: the package of the instrument; imports in it are followed too.
        wired_in: the module of the wiring.
    """
    settings = study.model_dump(mode="json", exclude=WHERE_IT_RUNS)
    trained = {name: family for name, family in settings["families"].items() if family["kind"] == "reference"}
    every = settings | {TRAINED: trained}
    read_settings = {name: every[name] for name in sorted(reads) if name in every or name not in Study.model_fields}
    digest = hashlib.sha256(sha256_json(read_settings).encode())
    digest.update(wiring.encode())
    sources: dict[Path, tuple[int, int]] = {}
    for module in modules:
        sources |= reachable(module, wiring, package, wired_in)
    for path in sorted(sources, key=_order):
        digest.update(_digest_of(path, *sources[path]))
    for path in [*_bundled_data(data), *_data_of(package)] if data else []:
        digest.update(_digest_of(path, *_size_and_time(path)))
    return digest.hexdigest()[:16]


def entries_of(study: Study, tables: Iterable[str]) -> dict[str, dict[str, str]]:
    """Hashes of single entries of a study's tables, by table and entry.

    An asset records those that it was made from (`desk.staleness`). A new entry therefore makes nothing stale, and a
    changed entry only the assets that use it.

    Args:
        tables: any of `languages`, `families` (what tables and figures show), and `models` (how families run).
    """
    entries: dict[str, dict[str, Any]] = {"languages": {}, "families": {}, "models": {}}
    for code, language in study.languages.items():
        entries["languages"][code] = language.model_dump(mode="json", exclude={"script"})
    for name, family in study.families.items():
        entries["families"][name] = family.model_dump(mode="json", include=FACTS_OF_A_FAMILY)
        run_settings = family.model_dump(mode="json", exclude={*NO_RESULT, "languages"})
        endpoint_settings = family.endpoint.asked if family.endpoint else {}
        entries["models"][name] = [run_settings | endpoint_settings, study.model_ids(name)]
    names = sorted(set(tables))
    return {table: {name: sha256_json(entry)[:12] for name, entry in entries[table].items()} for table in names}


@cache
def homes(package_name: str, noun: str) -> list[str]:
    """The module that derives an asset: the one with its name in the instrument's package, or else a shared one."""
    own_files = sorted(
        path.relative_to(root).with_suffix("")
        for root in _roots(package_name)
        for path in root.joinpath(*package_name.split(".")).glob(f"**/{noun}.py")
    )
    shared = (f"{PACKAGE}.{layer}.{noun}" for layer in SHARED_HOMES)
    modules = [*(".".join(path.parts) for path in own_files), *(name for name in shared if _source(name))]
    return [next(iter(modules), f"{package_name}.{noun}")]


@cache
def source_version(module: str) -> str:
    """Version of a module and of all modules of this package that it imports: 16 hexadecimal digits."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(reachable(module)))).hexdigest()[:16]


def file_stamps(folder: Path | None, files: Mapping[str, str]) -> dict[str, str]:
    """Stamps of the files that exist in a folder, from their sizes and times; a replaced file gets a new stamp."""
    return {name: stamp for name, file in files.items() if folder is not None and (stamp := _stamp(folder / file))}


def human_stamp(study: Study) -> str:
    """A stamp of the study's files of respondents or published means, from their sizes and times."""
    paths = [*(file.path for file in study.human.files), *([study.human.means] if study.human.means else [])]
    return sha256_json(list(map(_stamp, paths))) if paths else ""


def _stamp(path: Path) -> str:
    if not path.is_file():
        return ""
    stat = path.stat()
    return sha256_json({path.name: [stat.st_size, stat.st_mtime_ns]})


def reachable(module: str, wiring: str = "", package: str = PACKAGE, wired_in: str = "") -> dict[Path, tuple[int, int]]:
    """Source files of a module, and of all modules that it or the wiring imports, also indirectly; of this package, and
    of the one with an instrument's package.

    Returns:
        The size in bytes and the time of modification in nanoseconds of each file.

    Raises:
        ModuleNotFoundError: there is no such module, so that the version would never change.
    """
    if _source(module) is None:
        raise ModuleNotFoundError(f"{module}: no such module; an asset is derived by the file of its name")
    packages = tuple(dict.fromkeys((PACKAGE, package.partition(".")[0])))
    seen: set[str] = set()
    sources: dict[Path, tuple[int, int]] = {}
    pending = [module, *_imports(wiring, packages, wired_in.rpartition(".")[0])]
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        path = _source(name)
        if name in WORDS or path is None:
            continue
        sources[path] = _size_and_time(path)
        pending += _imports_of(path, *sources[path], packages, _package_of(name, path))
    return sources


def _package_of(module: str, path: Path) -> str:
    """The package in which the relative imports of a module count."""
    return module if path.name == "__init__.py" else module.rpartition(".")[0]


@cache
def _order(path: Path) -> tuple[bool, tuple[str, ...]]:
    """The order of sources, which is the same wherever packages are installed."""
    return not path.is_relative_to(ROOT / PACKAGE), path.parts


def _size_and_time(path: Path) -> tuple[int, int]:
    """What a file's content is cached by."""
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


@cache
def _digest_of(path: Path, _size: int, _modified: int) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


@cache
def _imports_of(path: Path, _size: int, _modified: int, packages: tuple[str, ...], here: str) -> tuple[str, ...]:
    """Modules of some packages that a file imports; see `_imports`."""
    return _imports(path.read_text(encoding="utf-8"), packages, here)


@cache
def _source(module: str) -> Path | None:
    """The file of a module of this or an instrument's package, without importing its parents as `find_spec` would."""
    paths = (root.joinpath(*module.split(".")) for root in _roots(module))
    files = (file for path in paths for file in (path / "__init__.py", path.with_name(f"{path.name}.py")))
    return next((file for file in files if file.is_file()), None)


@cache
def _roots(module: str) -> tuple[Path, ...]:
    """The folders in which the topmost package of a module stands; none where it is not installed."""
    topmost = module.partition(".")[0]
    if (ROOT / topmost).is_dir():
        return (ROOT,)
    spec = find_spec(topmost)
    return tuple(Path(place).parent for place in (spec and spec.submodule_search_locations) or ())


@cache
def _data_of(package: str) -> list[Path]:
    """Files other than Python that code of another package's instrument may read; none for one of this package."""
    if package.partition(".")[0] == PACKAGE:
        return []
    folders = [root.joinpath(*package.split(".")) for root in _roots(package)]
    paths = {path for folder in folders for pattern in OWN_FILES for path in folder.glob(pattern)}
    return sorted(path for path in paths if path.is_file())


@cache
def _bundled_data(instrument: str) -> list[Path]:
    """Files other than Python that an instrument's code reads: its data in studies/, shared facts, parts of pages."""
    pages = (f"{layer}/**/*.{kind}" for layer in ("instruments", "reporting") for kind in ("jinja", "js"))
    patterns = (f"studies/{instrument}/**/*", *BUNDLED, *pages)
    return sorted({path for pattern in patterns for path in (ROOT / PACKAGE).glob(pattern) if path.is_file()})


def _imports(source: str, packages: tuple[str, ...] = (PACKAGE,), here: str = "") -> tuple[str, ...]:
    """Modules of some packages that a source text imports, at its top or inside its functions.

    Only import statements are parsed, since parsing whole files would take a second in every process with the graph.

    Args:
        here: the package in which relative imports count; they are left out where it is none of the packages.
    """
    modules = []
    for node in ast.parse("\n".join(_import_of(packages).findall(source))).body:
        if isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), here) if node.level else f"{node.module}"
            modules += [module, *(f"{module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
    return tuple(name for name in modules if name.partition(".")[0] in packages)


@cache
def _import_of(packages: tuple[str, ...]) -> re.Pattern[str]:
    """A statement that imports modules of some packages."""
    return re.compile(IMPORT.format(packages="|".join(map(re.escape, packages))), re.MULTILINE)
