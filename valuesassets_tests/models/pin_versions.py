"""Pins beside each hand-kept version a hash of the sources that it stands for.

python -m valuesassets_tests.models.pin_versions                   after a version was raised
python -m valuesassets_tests.models.pin_versions --same-results    after an edit that changes no result
"""

import ast
import functools
import hashlib
import json
import sys
from pathlib import Path

from valuesassets.models.embedding import EMBEDDER_VERSION
from valuesassets.models.follower_training import FOLLOWER_VERSION
from valuesassets.models.generating import GENERATOR_VERSION
from valuesassets.models.reference import PHANTOM_VERSION
from valuesassets.models.scoring import SCORER_VERSION
from valuesassets.models.spans.scoring import SPANS_VERSION
from valuesassets.orchestration.code_versions import reachable
from valuesassets_tests.needs import REPOSITORY

PINS = Path(__file__).with_name("pinned_versions.json")
COMMAND = "python -m valuesassets_tests.models.pin_versions"
VERSIONS = {
    "SCORER_VERSION": ("valuesassets.models.scoring", SCORER_VERSION, "a reading of the same model and trial"),
    "SPANS_VERSION": ("valuesassets.models.spans.scoring", SPANS_VERSION, "a reading of the same model and span"),
    "GENERATOR_VERSION": (
        "valuesassets.models.generating",
        GENERATOR_VERSION,
        "what the same model writes to the same trial",
    ),
    "EMBEDDER_VERSION": ("valuesassets.models.embedding", EMBEDDER_VERSION, "the vector of the same text"),
    "PHANTOM_VERSION": ("valuesassets.models.reference", PHANTOM_VERSION, "the model trained on the same texts"),
    "FOLLOWER_VERSION": (
        "valuesassets.models.follower_training",
        FOLLOWER_VERSION,
        "the model trained on the same transcripts",
    ),
}
"""By name: the module whose reach determines the results, the version, and what may come out differently."""
OF_LOADED_MODELS = ("SCORER_VERSION", "SPANS_VERSION", "GENERATOR_VERSION")
"""Versions of results that also depend on how a model is loaded."""
LOADING = "valuesassets.models.loading"


@functools.cache
def source_hashes(module: str) -> dict[str, str]:
    """By path, a hash of every source that a module can reach; comments, docstrings and layout count for nothing."""
    hashes = {}
    for path in sorted(reachable(module) | (reachable(LOADING) if _is_of_loaded_models(module) else {})):
        written = _written(_without_docstrings(ast.parse(path.read_text(encoding="utf-8"))))
        hashes[path.relative_to(REPOSITORY).as_posix()] = hashlib.sha256(written.encode()).hexdigest()[:16]
    return hashes


def _is_of_loaded_models(module: str) -> bool:
    return any(module == VERSIONS[name][0] for name in OF_LOADED_MODELS)


def current_pins() -> dict[str, dict[str, str]]:
    """The versions as they are, and the hashes of all sources that they stand for."""
    sources = {path: found for module, _, _ in VERSIONS.values() for path, found in source_hashes(module).items()}
    return {"versions": {name: version for name, (_, version, _) in VERSIONS.items()}, "sources": sources}


def faults(pins: dict[str, dict[str, str]]) -> list[str]:
    """What is wrong with each pin, and what to do about it; a changed source is named for each version it concerns."""
    said = []
    for name, (module, version, result) in VERSIONS.items():
        pinned = pins["versions"].get(name)
        changed = [path for path, found in source_hashes(module).items() if found != pins["sources"].get(path)]
        if version != pinned:
            said.append(f"{name} is {version}, {pinned} is pinned: run `{COMMAND}`")
        elif changed:
            said.append(
                f"{', '.join(changed)} changed, {name} in {module} is still {version}. If {result} may come out "
                f"differently, raise it and run `{COMMAND}`; if not, run `{COMMAND} --same-results`"
            )
    return said


def main() -> int:
    """Write the pins; without `--same-results`, only where each changed source has a raised version."""
    pins = json.loads(PINS.read_text(encoding="utf-8"))
    unraised = [fault for fault in faults(pins) if "is still" in fault]
    if unraised and "--same-results" not in sys.argv[1:]:
        print("\n".join(unraised), file=sys.stderr)
        return 1
    PINS.write_text(json.dumps(current_pins(), indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return 0


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            # Bare strings elsewhere in a body are docstrings of attributes.
            node.body = [part for part in node.body if not _is_bare_string(part)]
    return tree


def _is_bare_string(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _written(node: object) -> str:
    """A tree as text, the same under every Python: empty fields, which newer ones add, are left out."""
    if isinstance(node, ast.AST):
        fields = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, []) and name != "kind"]
        return f"{type(node).__name__}({', '.join(f'{name}={_written(value)}' for name, value in fields)})"
    if isinstance(node, list):
        return f"[{', '.join(map(_written, node))}]"
    return repr(node)


if __name__ == "__main__":
    sys.exit(main())
