"""Reasons of missing answers from the labels of a survey's file."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.people.surveys import DONT_KNOW, NO_ANSWER, NOT_APPLICABLE, NOT_ASKED, OTHER

REASONS = {
    NOT_ASKED: r"not asked|never asked|wasn.?t asked|not (included|fielded|in (the|this|that)|part of)|not available"
    r"|question (was )?(omitted|dropped)|split (ballot|half|sample)|nicht (gefragt|erhoben|gestellt)|(non|pas) pos[ée]"
    r"|no (se )?pregunt|não pergunt|non chiest|niet gevraagd|nie zadano|nie pytano|не задав|не спрашив|не запит"
    r"|ikke (spurt|stillet)|inte (frågad|ställd)|nem kérdez",
    NOT_APPLICABLE: r"not appl|inapp|does ?n.?t apply|does not apply|filter|skip|routing|trifft nicht zu"
    r"|nicht zutreffend"
    r"|entfällt|non concern|sans objet|no (procede|aplica|corresponde)|não (se )?aplic|non (pertinente|applicabile)"
    r"|niet van toepassing|n\.v\.t|nie dotyczy|неприменимо|не относится|не стосується|ikke (aktuel|relevant)|ej aktuell"
    r"|netýk|nem vonatkoz",
    DONT_KNOW: r"do ?n.?t know|do not know|\bdk\b|not sure|can.?t (say|choose)|wei(ß|ss) nicht|ne sai[ts] pas"
    r"|n[oã]o? sab"
    r"|non s[ao]\b|weet (het )?niet|nie wiem|trudno powiedzie|не зна|затрудн|ve[dt] ikke|vet (ej|inte)"
    r"|nev[íi]|nem tudja",
    NO_ANSWER: r"no answer|not answered|no response|refus|declin|keine (angabe|antwort)|verweiger"
    r"|sans réponse|no contest"
    r"|sem resposta|non rispond|geen antwoord|weiger|brak odpowiedzi|odmow|нет ответа|отказ|немає відповіді|відмов",
}
"""Patterns of labels by reason; the first one that matches counts, and labels that match none are other reasons."""


def reason_of(label: str) -> int:
    """The code of the reason why an answer is missing, from its label.

    >>> [reason_of(label) for label in ("Not asked in survey", "Don't know", "Refused", "Missing; other")]
    [-4, -1, -2, -5]
    """
    return next((reason for reason, words in REASONS.items() if re.search(words, label, re.IGNORECASE)), OTHER)


def with_reasons(values: NDArray, labels: Mapping[Any, str]) -> NDArray:
    """(n,) values of a Stata file, with lettered missing values (`.a` to `.z`) replaced by the reasons in their labels.

    Letters without a label are kept.
    """
    letters = {letter: reason_of(label) for letter, label in labels.items() if isinstance(letter, str)}
    if values.dtype != object or not letters:
        return values
    recoded = pd.Series(values, dtype=object).map(lambda value: letters.get(value, value))
    is_number = recoded.map(lambda value: not isinstance(value, str)).to_numpy(dtype=bool)
    return recoded.to_numpy(dtype=np.float64, na_value=np.nan) if is_number.all() else recoded.to_numpy()


def unlabelled(values: NDArray) -> list[str]:
    """Lettered missing values without a label in the file, in Stata's notation."""
    letters = {value for value in values if isinstance(value, str)} if values.dtype == object else set()
    return sorted(f".{letter}" for letter in letters if len(letter) == 1)
