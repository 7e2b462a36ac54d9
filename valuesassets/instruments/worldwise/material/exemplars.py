"""`worldwise/exemplars`: sentences that stand for the poles of axes, bundled or from a user's file.

Each bundled pair says opposite things about one matter, mostly in the first person. The low pole of long-term
orientation is two things, custom and quick results, and a sentence that names what it rejects ("not at some distant
future") lies near the other pole. The pairs of that axis therefore name the years ahead on one side and custom or the
present on the other. All sentences were chosen by their meaning and by how well one pair orders another, never by
answers of a model.
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
"""Sentences that each pole needs, so that one remains when two pairs are held out."""


def read_exemplars(source: str | Path) -> pd.DataFrame:
    """Rows of `EXEMPLARS` from a CSV file `axis,pole,pair,text`, or the bundled ones, in their order.

    Raises:
        InputError: an axis or pole is unknown, a text is empty or repeated, a pair is incomplete or on two axes, an
            axis is partly paired, or a pole has fewer than three sentences; names file and row.
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


def _require_known(path: Path, row: Row, column: str, names: tuple[str, ...]) -> None:
    if row.fields[column] not in names:
        raise InputError(
            f"{path}: row {row.number}: {column} {row.fields[column]!r} found, one of {', '.join(names)} was expected; "
            "mend it"
        )


def _require_pairs(path: Path, rows: list[Row]) -> None:
    """Check that a pair is a high and a low sentence of one axis, and that all rows of an axis have a pair or none."""
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
