"""A question of the master that was not found in a language: the records that it may be, and what a person can say."""

import math
from collections.abc import Mapping, Sequence

from valuesassets.instruments.survey.alignment.match import Match

NOT_FOUND = "not found in this language's questionnaire"
SHOWN = 5
"""Records that a row names; more are counted."""


def match_of_missing(code: str, order: Sequence[str], places: Mapping[str, int], unmatched: Sequence[Match]) -> Match:
    """The row of a question that was not found, with the unmatched records between its neighbours in the form.

    Args:
        order: ids of the master, `code` among them.
        places: by id, where the form has those that it has in the master's order.
        unmatched: records of the language that are no question of the master.
    """
    at = order.index(code)
    after = max((places[each] for each in order[:at] if each in places), default=-1)
    before = min((places[each] for each in order[at:] if each in places), default=math.inf)
    candidates = [match for match in unmatched if match.position is not None and after < match.position < before]
    return Match(code, None, "missing", f"{NOT_FOUND}; {_advice(code, candidates)}")


def _advice(code: str, candidates: Sequence[Match]) -> str:
    if not candidates:
        return (
            f"no unmatched record stands between its neighbours; in the overrides drop = true for {code} says that it "
            "is not asked, add = true how the form asks it"
        )
    named = ", ".join(_named(match) for match in candidates[:SHOWN])
    more = f" and {len(candidates) - SHOWN} more" if len(candidates) > SHOWN else ""
    return (
        f'unmatched between its neighbours: {named}{more}; id = "{code}" in the overrides pins one of them, '
        f"drop = true for {code} says that it is not asked"
    )


def _named(match: Match) -> str:
    page = f"page {match.page}, " if match.page else ""
    return f"{match.source_id or 'a record without an id'} ({page}mark {match.mark})"
