"""A warning about languages that an embedder does not know, by translations, by its card or by its tokens."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from valuesassets.answers.spoken_language import n_letters
from valuesassets.instruments.cultural_robustness.material.model_languages import CARD, card_languages
from valuesassets.instruments.cultural_robustness.measures.embedder_report import KNOWN, UNKNOWN, derive_embedder_report
from valuesassets.records.errors import ModelError
from valuesassets.records.frames import records

LETTERS = {False: 1.5, True: 0.6}
"""Least mean number of letters of a token where the embedder knows the language; True: of scripts without spaces."""
WITHOUT_SPACES = frozenset({"jpn", "zho", "yue", "tha", "lao", "mya", "khm"})
"""Languages that write no spaces between words."""


def embedder_doubt(
    vectors: pd.DataFrame,
    languages: Sequence[str],
    name: str,
    card: Sequence[str] = (),
    spelled: Mapping[str, float] | None = None,
) -> str | None:
    """One line that names the languages an embedder does not know, and the evidence; None where it knows all.

    Translations decide: whether the nearest question in another language is the same question. Where no questions are
    embedded, its card and its tokens raise the doubt.

    Args:
        vectors: with rows of kind `question`, where there are any.
        card: languages that its card names; none where it names none.
        spelled: by language, mean number of letters of a token; where the tokens are known.
    """
    report = derive_embedder_report(vectors)
    tested = {row["language"]: row for row in records(report) if row["status"] in (KNOWN, UNKNOWN)}
    if tested:
        chance = 1 / max(1, int(report["n_questions"].iloc[0]))
        doubts = {
            language: f"finds {row['found_share']:.2f} of its questions in other languages, {chance:.2f} by chance"
            for language, row in tested.items()
            if row["status"] == UNKNOWN
        }
    else:
        doubts = {each: f"its card names {', '.join(card)}" for each in languages if card and each not in card}
        for language, letters in (spelled or {}).items():
            if letters < LETTERS[language in WITHOUT_SPACES]:
                doubts[language] = f"a token of it says {letters:.1f} letters, so that it is spelled, not read"
    if doubts:
        listed = "; ".join(f"{language} ({why})" for language, why in doubts.items())
        return f"{name} does not know {listed}: what it makes of answers there is noise; use a multilingual embedder"
    if not tested and len(languages) > 1:
        return f"whether {name} knows {', '.join(languages)} was not tested; name the questions (--questions)"
    return None


def languages_of_card(folder: Path) -> tuple[str, ...]:
    """The languages that an embedder's card names; none where there is no card, or it names none."""
    try:
        return card_languages(folder / CARD)
    except ModelError:
        return ()


def letters_per_token(languages: Iterable[str], texts: Iterable[str], n_tokens: Iterable[int]) -> dict[str, float]:
    """By language, letters over tokens of its texts.

    >>> letters_per_token(["eng", "ell"], ["a house", "σπίτι"], [2, 5])
    {'eng': 3.0, 'ell': 1.0}
    """
    frame = pd.DataFrame({"language": list(languages), "letters": map(n_letters, texts), "tokens": list(n_tokens)})
    sums = frame.groupby("language", sort=False)[["letters", "tokens"]].sum()
    return {str(name): float(row["letters"] / max(1, row["tokens"])) for name, row in sums.iterrows()}
