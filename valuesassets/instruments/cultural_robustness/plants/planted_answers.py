"""The planted answers of reference models to the bundled questions: whose country's answer is given, and how often.

There are six languages with one country each; the countries lie in three regions, which differ from the scripts. An
answer for a country says what is done there, or in the country that leads its region. Where no country is named, a
language answers for its own; to two questions all languages answer for the same country.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from valuesassets.records.errors import StudyError
from valuesassets.records.files import parse_json, read_text
from valuesassets.records.places import STUDIES
from valuesassets.records.settings.cultural_robustness import PLANTED_FAMILIES

FOLDER = STUDIES / "cultural_robustness" / "answers"
OWN_COUNTRIES = {"bul": "BG", "deu": "DE", "ell": "GR", "eng": "IE", "fra": "FR", "pol": "PL"}
REGIONS = (("IE", "PL", "BG"), ("DE", "GR"), ("FR",))
"""Countries that answer nearly alike; the first of each leads."""
GROUPS = (("eng", "pol", "bul"), ("deu", "ell"), ("fra",))
"""The languages of these countries: what grouping by answers should find."""
SCRIPTS = {"latin": ("eng", "deu", "fra", "pol"), "greek": ("ell",), "cyrillic": ("bul",)}
"""What grouping by plain distances finds instead, as the embedder is planted."""
QUESTIONS = ("1", "2", "3", "4", "5", "6")
ALIKE, EVERYWHERE = ("3", "6"), "FR"
"""Questions that are answered for the same country in all languages where none is named, and that country."""
OWN_SHARE = 0.95
"""How often a country's own answer is given, and not its leader's."""
FOLLOWING, NO_SIGNAL = PLANTED_FAMILIES
"""Families: one that answers as said above, one that answers for either of two countries whatever is asked."""
EITHER = ("IE", "DE")


@dataclass(frozen=True, order=True)
class Cell:
    """A prompt: in a language, a question, with a country or without one."""

    language: str
    question_id: str
    country: str | None = None


class FaultKind(StrEnum):
    """What is written instead of an answer that counts: the status that it has to be given."""

    EMPTY = "empty"
    ENGLISH = "wrong_language"
    ENDLESS = "truncated"


FAULTS = {
    Cell("fra", "2", "PL"): FaultKind.EMPTY,
    Cell("ell", "4", "FR"): FaultKind.ENGLISH,
    Cell("pol", "5", "GR"): FaultKind.ENDLESS,
}
"""What the family that follows cultures writes to three prompts, always."""


def country_shares(family: str, cell: Cell) -> dict[str, float]:
    """How often a family answers a prompt as each country does; they sum to 1.

    Raises:
        StudyError: nothing is planted in that family or language.

    >>> country_shares("cultures", Cell("pol", "1"))
    {'PL': 0.95, 'IE': 0.05}
    """
    if cell.language not in OWN_COUNTRIES:
        raise StudyError(
            f"languages.{cell.language}: nothing is planted in it; name some of {', '.join(OWN_COUNTRIES)}"
        )
    if family == NO_SIGNAL:
        return dict.fromkeys(EITHER, 1 / len(EITHER))
    if family != FOLLOWING:
        raise StudyError(f"families.{family}: nothing is planted in it; call it {FOLLOWING} or {NO_SIGNAL}")
    country = cell.country
    if country is None:
        country = EVERYWHERE if cell.question_id in ALIKE else OWN_COUNTRIES[cell.language]
    leader = next((region[0] for region in REGIONS if country in region), country)
    return {country: OWN_SHARE, leader: round(1 - OWN_SHARE, 9)} if country != leader else {country: 1.0}


def planted_faults(family: str) -> Mapping[Cell, FaultKind]:
    """The prompts to which a family writes no answer that counts, and what it writes instead."""
    return FAULTS if family == FOLLOWING else {}


@cache
def load_answers() -> Mapping[tuple[str, str, str], str]:
    """Our own answer texts by language, question and country; those of a question are translations of each other.

    Raises:
        StudyError: a line of a file is no JSON.
    """
    texts = {}
    for language in OWN_COUNTRIES:
        path = FOLDER / f"{language}.jsonl"
        for number, line in enumerate(read_text(path, "answer texts", StudyError).splitlines(), 1):
            answer = parse_json(line, str(path), StudyError, number)
            texts[language, answer["question_id"], answer["country"]] = answer["answer"]
    return texts
