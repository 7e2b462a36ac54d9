"""Packages that only some commands need: each extra of pyproject.toml brings some, and a command says what it lacks."""

from importlib.util import find_spec

from valuesassets.records.errors import InputError
from valuesassets.records.settings.kinds import BEHIND_AN_API
from valuesassets.records.study import Study

MODULES = {
    "models": ("torch", "transformers", "accelerate", "safetensors", "tokenizers", "huggingface_hub", "httpx2"),
    "openai": ("openai", "httpx2", "tokenizers", "huggingface_hub"),
    "gemini": ("google.genai", "httpx2", "tokenizers", "huggingface_hub"),
    "postgres": ("dagster_postgres",),
}
"""By extra, the modules that its commands import."""


def require(what: str, *extras: str) -> None:
    """See that the packages of extras are installed, before any work is done.

    Args:
        what: needs them: a command, a model or a study; the message begins with it.

    Raises:
        InputError: some are not; says how to install them.
    """
    lacking = {extra: name for extra in dict.fromkeys(extras) if (name := _first_lacking(extra)) is not None}
    if lacking:
        names = ", ".join(dict.fromkeys(lacking.values()))
        raise InputError(f'{what}: needs {names}; pip install "valuesassets[{",".join(lacking)}]"')


def is_complete(extra: str) -> bool:
    """Whether all packages of an extra are installed."""
    return _first_lacking(extra) is None


def extras_of(study: Study) -> list[str]:
    """The extras that asking the models of a study needs; a survey also calibrates itself on a model trained here."""
    kinds = [family.kind for family in study.families.values()]
    is_local = study.questionnaires is not None or any(kind not in BEHIND_AN_API for kind in kinds)
    return [*(["models"] if is_local else []), *(kind for kind in kinds if kind in BEHIND_AN_API)]


def _first_lacking(extra: str) -> str | None:
    return next((name for name in MODULES[extra] if not _is_installed(name)), None)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # of `google.genai`, where nothing of `google` is there
        return False
