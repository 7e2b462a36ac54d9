"""What a language is called and which words stand around its questions, and in which orders answers are shown."""

import os
import re
from pathlib import Path

from valuesassets.answers.language_codes import known_languages, language_code
from valuesassets.records.errors import InputError
from valuesassets.records.lexicon import bundled_lexicons, load_lexicon
from valuesassets.records.settings.cells import Language
from valuesassets.records.settings.measuring import Elicitation
from valuesassets.records.study import load_study


def named_language(language: str) -> Language:
    """A language as the bundled studies or the study that the environment names call it; InputError where ISO 639-3 has
    none."""
    if language_code(language) != language:
        bundled = ", ".join(bundled_lexicons())
        raise InputError(
            f"language {language}: unknown; an ISO 639-3 code was expected, one of {bundled}, or any other with "
            "--lexicon"
        )
    about = known_languages().get(language)
    return _languages_of_studies().get(language) or Language(name=about.names[0] if about else language)


def asked_language(language: str, lexicon: Path | None) -> Language:
    """A language in which questions are asked, as `named_language` gives it, with its lexicon.

    Args:
        lexicon: a file in place of the bundled one.

    Raises:
        InputError: ISO 639-3 does not have the language.
        LexiconError: there is no lexicon of the language.
    """
    named = named_language(language)
    named = named.model_copy(update={"lexicon": lexicon or named.lexicon})
    load_lexicon(language, named.lexicon)
    return named


def _languages_of_studies() -> dict[str, Language]:
    studies = filter(None, ("evs2017", "demo_survey", os.environ.get("VALUESASSETS_STUDY")))
    return {code: each for name in studies for code, each in load_study(name).languages.items()}


def elicitation_of(orders: str) -> Elicitation:
    """The orders of answer options of a name; InputError where there is none of it."""
    is_number = re.fullmatch("[1-9][0-9]{0,3}", orders) is not None
    if not is_number and orders not in ("both", "all", "cyclic"):
        raise InputError(f"orders {orders[:40]}: both, all, cyclic or a number from 1 to 9999 was expected")
    return Elicitation.model_validate({"orders": int(orders) if is_number else orders})
