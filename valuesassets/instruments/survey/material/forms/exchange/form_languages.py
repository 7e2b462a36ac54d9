"""Which of the languages of one form is read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from valuesassets.answers.language_codes import known_languages
from valuesassets.records.errors import QuestionError


@dataclass(frozen=True)
class WantedLanguage:
    """The language to read: as a person names it, else by the codes and names of the language that is asked in."""

    named: str | None = None
    spoken: frozenset[str] = frozenset()

    @classmethod
    def of(cls, language: str | None, named: str | None = None) -> "WantedLanguage":
        """The language to read where a question file is to be in `language` (ISO 639-3)."""
        about = known_languages().get(language or "")
        names = (about.short, *about.names) if about else ()
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
        return fitting[0] if fitting else main

    def _named_one(self, languages: Sequence[str], path: Path) -> str:
        wanted = (self.named or "").strip().casefold()
        exact = [each for each in languages if each.casefold() == wanted]
        fitting = exact or [each for each in languages if wanted in _keys(each)]
        if not fitting:
            listed = ", ".join(each or "one without a name" for each in languages)
            raise QuestionError(f"{path}: has no language {self.named}; name one of {listed} with --form-language")
        return fitting[0]


def _keys(language: str) -> frozenset[str]:
    """The names and codes in what a form calls a language.

    >>> sorted(_keys("Deutsch (de)")), sorted(_keys("PT-BR"))
    (['de', 'deutsch', 'deutsch (de)'], ['pt', 'pt-br'])
    """
    whole = language.strip().casefold()
    name, _, code = whole.partition("(")
    parts = {whole, name.strip(), code.rstrip(") ").strip()}
    return frozenset({*parts, *(part.partition("-")[0] for part in parts if len(part) <= 8)} - {""})
