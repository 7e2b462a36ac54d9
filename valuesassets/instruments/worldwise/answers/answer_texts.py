"""Splits answers into sentences for an embedder, and masks the names of countries."""

import re
from collections.abc import Iterable
from functools import cache

from valuesassets.records.places import STUDIES
from valuesassets.records.text_tables import read_rows

LOCAL = "local"
"""Replaces names of countries and peoples, which would show the persona instead of the reason."""
WORDS = STUDIES / "worldwise" / "country_words.csv"
"""English names of countries and of their people by ISO 3166 code."""
SENTENCE_END = re.compile(r"""(?:(?<=[.!?…])|(?<=[.!?…]["'”’)\]]))\s+(?![a-z])|(?<=[。！？])|\n+""")
"""Between sentences: not before a small letter, which stands behind `e.g.`."""


def sentences(text: str, names: Iterable[str] = ()) -> list[str]:
    """The sentences of a text with countries and further `names` masked; parts without a letter are left out.

    >>> sentences("In Japan we wait, e.g. for elders. The Japanese do!\\n- And I?")
    ['In local we wait, e.g. for elders.', 'The local do!', '- And I?']
    """
    parts = (" ".join(part.split()) for part in SENTENCE_END.split(mask_countries(text, names)))
    return [part for part in parts if any(map(str.isalpha, part))]


def mask_countries(text: str, names: Iterable[str] = ()) -> str:
    """The text with `local` for names of countries and peoples, also in the plural, and for further `names`.

    >>> mask_countries("Mexico and the US: Mexicans ask us.")
    'local and the local: local ask us.'
    """
    return country_pattern(tuple(sorted(set(names)))).sub(LOCAL, text)


@cache
def country_pattern(names: tuple[str, ...] = ()) -> re.Pattern[str]:
    """Any name of a country or its people, longest first; bundled ones have a capital letter, and `names` are added."""
    bundled = [word for row in read_rows(WORDS, ("country", "words")) for word in row.fields["words"].split(";")]
    listed = sorted({*bundled, *filter(None, names)}, key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, listed))})(?:s(?!\w)|(?!\w))")
