"""`cultural_robustness/model_languages`: the languages that a model is asked in, and the source of that list."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from valuesassets.answers.language_codes import language_code, language_named, language_names
from valuesassets.records.errors import ModelError, StudyError
from valuesassets.records.files import no_such_name, read_text

VARIABLE = "EVAL_LANGUAGES"
CARD = "README.md"
NO_LANGUAGES = frozenset({"multilingual", "code", "und", "mul", "zxx", "other"})
"""Entries of a card's languages that are no language."""
Source = Literal["study", "model card", "EVAL_LANGUAGES"]
FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class ModelLanguages:
    """The languages that a model is asked in.

    Attributes:
        languages: ISO 639-3, in the study's order.
        source: what names them.
        others: what the card or the variable names beside, which the study does not ask in.
    """

    languages: tuple[str, ...]
    source: Source
    others: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """What the asset's file holds."""
        return {"languages": list(self.languages), "source": self.source, "others": list(self.others)}


def find_languages(
    model: str, languages: Sequence[str], card: Path | None = None, environment: Mapping[str, str] | None = None
) -> ModelLanguages:
    """The languages that a model is asked in: of EVAL_LANGUAGES where that is set, else its card's or the study's.

    Args:
        model: its name, as messages say it.
        asked: languages that there are questions in, ISO 639-3.
        card: the folder of the model, where its card says the languages; None where the study does.
        environment: as `os.environ`.

    Raises:
        StudyError: EVAL_LANGUAGES names something unknown, or a language without questions.
        ModelError: the card names no language, or none that is asked in.
    """
    if (environment or {}).get(VARIABLE, "").strip():
        return ModelLanguages(_named((environment or {})[VARIABLE], languages), "EVAL_LANGUAGES")
    if card is None:
        return ModelLanguages(tuple(languages), "study")
    path = card / CARD
    named = card_languages(path)
    kept = tuple(language for language in languages if language in named)
    if not kept:
        raise ModelError(
            f"{path}: the card of {model} names {', '.join(named)}, the study asks in {', '.join(languages)}; name the "
            "family's languages in place of 'card'"
        )
    return ModelLanguages(kept, "model card", tuple(language for language in named if language not in kept))


def _named(written: str, languages: Sequence[str]) -> tuple[str, ...]:
    """The languages of EVAL_LANGUAGES: codes or English names, separated by commas."""
    named: list[str] = []
    for name in filter(None, map(str.strip, written.split(","))):
        language = language_named(name)
        if language is None:
            message = no_such_name(name, "language", language_names())
            if "did you mean" not in message:
                message = f"{name}: no such language; write its English name or code"
            raise StudyError(f"{VARIABLE}: {message}")
        if language not in languages:
            raise StudyError(
                f"{VARIABLE}: {name} ({language}) is none of the languages asked ({', '.join(languages)}); add it to "
                "the study, or leave it out"
            )
        named.append(language)
    if not named:
        raise StudyError(f"{VARIABLE}: names no language (found {written!r}); write some, or leave it unset")
    return tuple(language for language in languages if language in named)


def card_languages(path: Path) -> tuple[str, ...]:
    """The languages that a model card names under `language`, ISO 639-3, each once.

    Parts of a tag behind a hyphen are left out (`pt-BR` is por), and so is what is no language (`multilingual`).

    Raises:
        ModelError: no card, no front matter in YAML, or none that names a language; a silent card is never "all".
    """
    if not path.is_file():
        raise ModelError(f"{path}: no model card there, and languages = 'card'; name the family's languages")
    text = read_text(path, "a model card", ModelError) if path.stat().st_size else ""
    front = FRONT.match(text)
    advice = "name the family's languages in place of 'card'"
    try:
        # The base loader leaves all texts as they are: of any other, Norwegian (no) is false.
        content = yaml.load(front[1], Loader=yaml.BaseLoader) if front else {}  # noqa: S506
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        place = f"line {mark.line + 2}: " if mark else ""
        raise ModelError(f"{path}: {place}the card's front matter is no YAML; {advice}") from None
    value = content.get("language") if isinstance(content, dict) else None
    listed = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    languages = dict.fromkeys(_languages_of(listed))
    if not languages:
        content_of_key = f"lists {', '.join(map(str, listed))}" if listed else "has no key 'language'"
        raise ModelError(f"{path}: the card names no language ({content_of_key}); {advice}")
    return tuple(languages)


def _languages_of(listed: Iterable[Any]) -> Iterable[str]:
    for tag in listed:
        primary = re.split(r"[-_]", str(tag).strip().casefold())[0]
        if primary not in NO_LANGUAGES and (language := language_code(primary) or language_named(str(tag))):
            yield language
