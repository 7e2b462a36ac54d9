"""Which of the languages of one form is read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from valuesassets.answers.language_codes import known_languages
from valuesassets.records.errors import QuestionError

CODE = re.compile(r"([a-z]{2,3})(?:[-_].+)?", re.IGNORECASE)
"""`de`, `deu`, `de-AT`, `pt_BR`, `zh-Hans`, `de-informal`."""
PART_OF = {"nor": ("nb", "nob", "nn", "nno")}
"""Codes of languages that a wider one takes in."""


@dataclass(frozen=True)
class WantedLanguage:
    """The language to read: as a person names it, else by the codes and names of the language that is asked in."""

    named: str | None = None
    spoken: frozenset[str] = frozenset()

    @classmethod
    def of(cls, language: str | None, named: str | None = None) -> "WantedLanguage":
        """The language to read where a question file is to be in `language` (ISO 639-3)."""
        about = known_languages().get(language or "")
        names = (about.short, *about.names, *PART_OF.get(about.code, ())) if about else ()
        spoken = {name.casefold() for name in (language or "", *names) if name}
        return cls(named, frozenset(spoken))

    def among(self, languages: Sequence[str], main: str, path: Path) -> str:
        """The form's language to read; its main one where none is named and none fits.

        Raises:
            QuestionError: the form lacks the language that a person named.
        """
        if self.named is not None:
            return self._named_one(languages, path)
        fitting = [each for each in (main, *languages) if _keys(each) & self.spoken]
        exact = [each for each in fitting if each.casefold() in self.spoken]
        return next(iter([*exact, *fitting]), main)

    def _named_one(self, languages: Sequence[str], path: Path) -> str:
        wanted = _plain(self.named or "")
        exact = [each for each in languages if _plain(each) == wanted]
        fitting = exact or [each for each in languages if wanted in _keys(each)]
        if not fitting:
            listed = ", ".join(each or "one without a name" for each in languages)
            raise QuestionError(f"{path}: has no language {self.named}; name one of {listed} with --form-language")
        return fitting[0]


def _keys(language: str) -> frozenset[str]:
    """The names and codes in what a form calls a language.

    >>> sorted(_keys("Deutsch (de)")), sorted(_keys("pt_BR"))
    (['de', 'deutsch', 'deutsch (de)'], ['pt', 'pt-br'])
    """
    whole = _plain(language)
    name, _, code = whole.partition("(")
    parts = {whole, name.strip(), code.rstrip(") ").strip()}
    codes = {match[1] for part in parts if (match := CODE.fullmatch(part))}
    return frozenset({*parts, *codes} - {""})


def _plain(language: str) -> str:
    return language.strip().casefold().replace("_", "-")
