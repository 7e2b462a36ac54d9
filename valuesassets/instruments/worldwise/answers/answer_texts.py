"""Answers as they are embedded: without the names of countries, sentence by sentence."""

import re
from collections.abc import Iterable
from functools import cache

from valuesassets.records.places import STUDIES
from valuesassets.records.text_tables import read_rows

LOCAL = "local"
"""What stands for names of countries and of their people, which would tell the persona rather than the reason."""
WORDS = STUDIES / "worldwise" / "country_words.csv"
"""Names of countries and of their people, in English and with a capital letter, by ISO 3166 code; ours."""
SENTENCE_END = re.compile(r"""(?:(?<=[.!?…])|(?<=[.!?…]["'”’)\]]))\s+(?![a-z])|(?<=[。！？])|\n+""")
"""Between sentences: not before a small letter, which stands behind `e.g.`."""


def sentences(text: str, names: Iterable[str] = ()) -> list[str]:
    """The sentences of a text, countries masked; what holds no letter is left out.

    Args:
        names: more names to be masked, such as those of a study's cultures.

    >>> sentences("In Japan we wait, e.g. for elders. The Japanese do!\\n- And I?")
    ['In local we wait, e.g. for elders.', 'The local do!', '- And I?']
    """
    parts = (" ".join(part.split()) for part in SENTENCE_END.split(mask_countries(text, names)))
    return [part for part in parts if any(map(str.isalpha, part))]


def mask_countries(text: str, names: Iterable[str] = ()) -> str:
    """A text in which the names of countries and of their people are `local`; one in the plural loses its ending.

    Args:
        names: more names to be masked.

    >>> mask_countries("Mexico and the US: Mexicans ask us.")
    'local and the local: local ask us.'
    """
    return country_pattern(tuple(sorted(set(names)))).sub(LOCAL, text)


@cache
def country_pattern(names: tuple[str, ...] = ()) -> re.Pattern[str]:
    """Any name of a country or its people, longest first; words with a capital letter unless a study names them so.

    Args:
        names: more of them.
    """
    bundled = [word for row in read_rows(WORDS, ("country", "words")) for word in row.fields["words"].split(";")]
    listed = sorted({*bundled, *filter(None, names)}, key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, listed))})(?:s(?!\w)|(?!\w))")
