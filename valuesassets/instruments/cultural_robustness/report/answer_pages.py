"""The page of one model and language: prompts and answers as text, those with which something is wrong first."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from valuesassets.answers.language_codes import known_languages
from valuesassets.instruments.cultural_robustness.answers.answer_quality import KEY, STATUSES
from valuesassets.records.frames import parts_of, records, rows
from valuesassets.records.templates import template

PACKAGE = "valuesassets.instruments.cultural_robustness.report"
OK = "ok"
MOST_BYTES = 700_000
"""Of all texts of a page; what goes beyond is counted, and stands in the stored tables."""
MOST_LETTERS = 2_000
"""Of one text."""
AROUND_BYTES = 90
"""What the page writes around each answer."""
OPEN = 25
"""Answers of a status that stand open; more of them are folded."""
MEANS = {
    "empty": "neither a word nor a single number",
    "failed": "nothing was written",
    "echo": "what its prompt says",
    "loop": "goes round in circles",
    "truncated": "cut off",
    "wrong_language": "in another language",
}


def render_answer_page(answered: pd.DataFrame, quality: pd.DataFrame, title: str) -> str:
    """One HTML page that needs nothing else and runs no script.

    Args:
        answered: rows of `ANSWERED` of one model and language.
        quality: rows of `ANSWER_QUALITY` of the same answers.
        title: what model and language it is.
    """
    judged = pd.DataFrame(quality, columns=pd.Index([*KEY, "status", "reason", "spoken_language"]))
    judged = judged.rename(columns={"reason": "why"})
    found = answered.merge(judged, on=KEY, how="left", validate="one_to_one").astype({"sample": int})
    counts = {status: int((found["status"] == status).sum()) for status in STATUSES}
    left = Room(MOST_BYTES)
    flagged = [_group(rows(found, found["status"] == name), name, left) for name in STATUSES if name != OK]
    fine = _by_prompt(rows(found, found["status"] == OK), left)
    page = template(PACKAGE, "answer_page").render(
        title=title,
        lang=_tag(str(found["language"].iloc[0])) if len(found) else "",
        n=len(found),
        n_prompts=found["id"].nunique(),
        statuses=[(name, n) for name, n in counts.items() if n],
        n_flagged=len(found) - counts[OK],
        flagged=[group for group in flagged if group["n"]],
        fine=fine,
        n_fine=counts[OK],
        n_fine_shown=sum(len(each["answers"]) for each in fine),
    )
    return page.strip("\n") + "\n"


class Room:
    """How many bytes of text a page still has room for."""

    def __init__(self, most: int) -> None:
        self.left = most

    def takes(self, *texts: str) -> bool:
        """Whether these texts still fit; they are taken to be written where they do."""
        size = AROUND_BYTES + sum(len(text.encode()) for text in texts)
        if size > self.left:
            return False
        self.left -= size
        return True


def shortened(text: str, most: int = MOST_LETTERS) -> str:
    """A text of at most so many letters, which says how many more there are.

    >>> shortened("abcdef", 4)
    'abcd… (2 more characters)'
    """
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"


def _tag(language: str) -> str:
    """The language as HTML names it: ISO 639-1 where there is a code."""
    known = known_languages().get(language)
    return known.short or language if known else language


def _group(part: pd.DataFrame, status: str, left: Room) -> dict[str, Any]:
    """The answers of one status, each with its prompt, as long as there is room."""
    shown: list[dict[str, Any]] = []
    for row in records(part):
        item = _item(row)
        if not left.takes(item["prompt"], item["text"], item["reason"]):
            break
        shown.append(item)
    means = MEANS.get(status, "")
    return {"status": status, "means": means, "n": len(part), "answers": shown, "is_open": len(part) <= OPEN}


def _by_prompt(part: pd.DataFrame, left: Room) -> list[dict[str, Any]]:
    """Each prompt with its answers, as long as there is room."""
    found: list[dict[str, Any]] = []
    for _, own in parts_of(part, ["id"]):
        items = [_item(row) for row in records(own)]
        if not left.takes(items[0]["prompt"], *(f"{AROUND_BYTES * ' '}{item['text']}" for item in items)):
            break
        found.append({"id": items[0]["id"], "about": items[0]["about"], "prompt": items[0]["prompt"], "answers": items})
    return found


def _item(row: Mapping[str, Any]) -> dict[str, Any]:
    """An answer as the page shows it."""
    told = [str(row["country"])] if _is_known(row["country"]) else []
    told += [f"persona {int(row['persona'])}"] if _is_known(row["persona"]) else []
    return {
        "id": row["id"],
        "sample": row["sample"],
        "about": ", ".join(told),
        "prompt": shortened(_text(row["prompt"])),
        "text": shortened(_text(row["text"])),
        "reason": _text(row["why"]) or _text(row["reason"]),
        "spoken": _text(row["spoken_language"]),
    }


def _is_known(value: Any) -> bool:
    return value is not None and not pd.isna(value)


def _text(value: Any) -> str:
    return str(value) if _is_known(value) else ""
