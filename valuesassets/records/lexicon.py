"""`Lexicon`: words of a language that prompts need and questionnaires do not print."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pydantic

from valuesassets.records.errors import LexiconError
from valuesassets.records.faults import validated
from valuesassets.records.files import read_toml
from valuesassets.records.places import STUDIES, bundled_names

_FOLDER = "valuesassets/studies/lexicons"

Word = Annotated[str, pydantic.Field(min_length=1)]


class Lexicon(pydantic.BaseModel):
    """One language's words around a question; one TOML file, in studies/lexicons or a study's own."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=True)

    language: str
    """ISO 639-3 code."""
    source: str
    """The file that holds it, for messages."""
    answer_cues: Annotated[tuple[Word, ...], pydantic.Field(min_length=2, strict=False)]
    """Words that introduce the answer, before a colon; with a space at the end where the language has one there."""
    yes: Word
    no: Word
    agree: Word
    disagree: Word
    first_choice: Word
    """The line that states the first choice, with `{label}` in it."""
    missing_answers: Annotated[tuple[Word, ...], pydantic.Field(min_length=1, strict=False)]
    """Don't know, no answer and the like, as forms print them; never offered as answers."""
    unsure_answers: Annotated[tuple[Word, ...], pydantic.Field(strict=False)] = ()
    """Not sure, no opinion: no answer where they stand last, else the middle answer."""
    statements: dict[str, Word]
    """A statement to agree with for each list of items that are mentioned or not, with `{item}` in it."""

    def statement(self, list_name: str, item: str) -> str:
        """The statement made from an item of a list.

        Raises:
            LexiconError: the language has no statement for that list.
        """
        if list_name not in self.statements:
            names = ", ".join(sorted(self.statements))
            raise LexiconError(
                f"{self.source}: no statement for the list '{list_name}' (there are {names}); "
                "add one with {item} in it under [statements]"
            )
        return self.statements[list_name].format(item=item)


def lexicon_template() -> str:
    """A lexicon to fill in, with the English words."""
    return (STUDIES / "lexicons" / "template.txt").read_text(encoding="utf-8")


def bundled_lexicons() -> list[str]:
    """ISO 639-3 codes of the languages that have a lexicon."""
    return bundled_names("lexicons", ".toml")


def load_lexicon(language: str, own: Path | None = None) -> Lexicon:
    """The lexicon of a language: the user's own file if there is one, else the bundled one.

    Raises:
        LexiconError: the language has no lexicon, or the file is faulty; names file, key and what to do.
    """
    if own is not None:
        return as_lexicon(read_toml(own, "a lexicon (TOML)", LexiconError), language, str(own))
    if language not in bundled_lexicons():
        languages = ", ".join(bundled_lexicons())
        raise LexiconError(
            f"{language}: no lexicon; there are {languages}; write one (valuesassets template lexicon {language}.toml) "
            f'and name it: lexicon = "{language}.toml" under [languages.{language}], or --lexicon'
        )
    return _bundled(language)


def known_lexicon(language: str, own: Path | None = None) -> Lexicon | None:
    """The lexicon of a language; None where there is no own or bundled one."""
    return load_lexicon(language, own) if own is not None or language in bundled_lexicons() else None


@functools.cache
def _bundled(language: str) -> Lexicon:
    path = STUDIES / "lexicons" / f"{language}.toml"
    return as_lexicon(read_toml(path, "a lexicon (TOML)", LexiconError), language, f"{_FOLDER}/{language}.toml")


def as_lexicon(table: Mapping[str, Any], language: str, source: str) -> Lexicon:
    """A lexicon from the content of its file.

    Args:
        source: the file's name, for messages.

    Raises:
        LexiconError: a key is missing or unknown, or a template lacks its placeholder; names file and key.
    """
    for key in ("language", "source"):
        if key in table:
            raise LexiconError(f"{source}: unknown key '{key}'; the file itself says it")
    keys = [name for name in Lexicon.model_fields if name not in ("language", "source")]
    lexicon = validated(Lexicon, dict(table) | {"language": language, "source": source}, LexiconError, source, keys)
    templates = [("first_choice", "label", lexicon.first_choice)]
    templates += [(f"statements.{name}", "item", template) for name, template in lexicon.statements.items()]
    for key, place, template in templates:
        try:
            has_place = template.format(**{place: "\0"}).count("\0") == 1
        except (KeyError, IndexError, ValueError):
            has_place = False
        if not has_place:
            raise LexiconError(f"{source}: key '{key}': {{{place}}} is expected once and no other braces: {template!r}")
    return lexicon
