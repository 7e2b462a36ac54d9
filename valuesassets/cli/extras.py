"""Packages that only some commands need: each extra of pyproject.toml brings some, and a command says what it lacks."""

from importlib.util import find_spec

from valuesassets.records.errors import InputError

MODULES = {
    "models": ("torch", "transformers", "accelerate", "safetensors", "tokenizers", "huggingface_hub", "httpx2"),
    "openai": ("openai", "httpx2", "tokenizers", "huggingface_hub"),
    "gemini": ("google.genai", "httpx2", "tokenizers", "huggingface_hub"),
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


def _first_lacking(extra: str) -> str | None:
    return next((name for name in MODULES[extra] if not _is_installed(name)), None)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # of `google.genai`, where nothing of `google` is there
        return False
