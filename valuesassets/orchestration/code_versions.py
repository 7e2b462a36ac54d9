"""Code versions: a hash of every source file that an asset's code can reach, and of the study.

Dagster compares them with those recorded at a materialisation: unchanged code and inputs make a partition fresh.
"""

import ast
import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from valuesassets.records.files import sha256_json
from valuesassets.records.study import Study

PACKAGE = "valuesassets"


def code_version(module: str, study: Study, wiring: str = "") -> str:
    """Version of an asset derived by `module` in `study`: 16 hexadecimal digits.

    Args:
        wiring: source of the function that calls the module.
    """
    files = sorted(_reachable(module))
    digest = hashlib.sha256(sha256_json(study.model_dump(mode="json")).encode())
    digest.update(wiring.encode())
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _reachable(module: str) -> set[Path]:
    """Source files of a module and of all modules of this package that it imports, directly or not."""
    seen: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _source(name)
        if name in seen or path is None:
            continue
        seen[name] = path
        waiting += _imports(path)
    return set(seen.values())


@cache
def _source(module: str) -> Path | None:
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        return None
    return Path(spec.origin) if spec is not None and spec.origin else None


@cache
def _imports(path: Path) -> tuple[str, ...]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(PACKAGE):
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.startswith(PACKAGE)]
    return tuple(found)
