"""`worldwise/exemplars`: sentences that stand for the poles of dimensions, bundled or from a person's file.

Each bundled pair says opposite things about one matter, most of them in the first person. Long-term orientation is the
hardest: its low pole is two things, custom and quick results, and a sentence that names what it turns down ("not at
some distant future") lies near the other pole. Its pairs name the years ahead on one side, custom or the present on the
other, so that their words alone tell them apart, as the embedder `lexical` shows. All were judged by what they mean and
by how well one pair orders another, never by answers that a model gave.
"""

from collections import Counter, defaultdict
from pathlib import Path

import pandas as pd

from valuesassets.instruments.worldwise.material.dimensions import AXES, POLES
from valuesassets.instruments.worldwise.tables import EXEMPLARS
from valuesassets.records.bundled import given_or_bundled
from valuesassets.records.errors import InputError
from valuesassets.records.text_tables import Row, read_rows

FEWEST = 3
"""Sentences of each pole below which none is left when two pairs are held out."""


def read_exemplars(source: str | Path) -> pd.DataFrame:
    """Rows of `EXEMPLARS` from a CSV file `axis,pole,pair,text`, or those that are bundled; in the file's order.

    Args:
        source: path of the file, or `bundled`.

    Raises:
        InputError: no such table; an axis or pole is unknown, a text empty or doubled, a pair half there or on two
            axes, an axis partly paired, or a pole has fewer than three sentences; names file, row, found, expected.
    """
    path = given_or_bundled(source, "worldwise", "exemplars.csv")
    rows = read_rows(path, EXEMPLARS.names)
    seen: dict[str, int] = {}
    for row in rows:
        _require_known(path, row, "axis", AXES)
        _require_known(path, row, "pole", POLES)
        text = " ".join(row.fields["text"].split())
        if not any(map(str.isalpha, text)):
            raise InputError(
                f"{path}: row {row.number}: the text is empty, a sentence was expected; write it or remove the row"
            )
        first = seen.setdefault(text.casefold(), row.number)
        if first != row.number:
            raise InputError(
                f"{path}: row {row.number}: the text of row {first} again ({text[:40]!r}), each once was expected; "
                "remove one"
            )
    _require_pairs(path, rows)
    _require_enough(path, rows)
    return EXEMPLARS.frame([row.fields | {"pair": row.fields["pair"] or None} for row in rows])


def _require_known(path: Path, row: Row, column: str, expected: tuple[str, ...]) -> None:
    if row.fields[column] not in expected:
        raise InputError(
            f"{path}: row {row.number}: {column} {row.fields[column]!r} found, one of {', '.join(expected)} was expected; "
            "mend it"
        )


def _require_pairs(path: Path, rows: list[Row]) -> None:
    """See that a pair is a high and a low sentence of one axis, and that an axis has pairs throughout or none."""
    pairs: dict[str, list[Row]] = defaultdict(list)
    is_paired: dict[str, Row] = {}
    for row in rows:
        axis, pair = row.fields["axis"], row.fields["pair"]
        first = is_paired.setdefault(axis, row)
        if bool(pair) != bool(first.fields["pair"]):
            raise InputError(
                f"{path}: row {row.number}: {f'pair {pair}' if pair else 'no pair'} found, but row {first.number} of "
                f"{axis} has {'one' if first.fields['pair'] else 'none'}; a pair in every row of an axis, or in none, "
                "was expected; mend it"
            )
        if pair:
            pairs[pair].append(row)
    for pair, (first, *rest) in pairs.items():
        partner = rest[0] if len(rest) == 1 else None
        if (
            partner
            and partner.fields["axis"] == first.fields["axis"]
            and partner.fields["pole"] != first.fields["pole"]
        ):
            continue
        poles = ", ".join(f"{row.fields['axis']} {row.fields['pole']}" for row in (first, *rest))
        raise InputError(
            f"{path}: row {first.number}: pair {pair} has {poles}; one high and one low sentence of one axis were "
            "expected; mend it"
        )


def _require_enough(path: Path, rows: list[Row]) -> None:
    counts = Counter((row.fields["axis"], row.fields["pole"]) for row in rows)
    for axis in dict.fromkeys(axis for axis, _ in counts):
        for pole in POLES:
            if counts[axis, pole] < FEWEST:
                raise InputError(
                    f"{path}: {axis} {pole}: {counts[axis, pole]} sentences found, {FEWEST} or more were expected; add "
                    "some"
                )
