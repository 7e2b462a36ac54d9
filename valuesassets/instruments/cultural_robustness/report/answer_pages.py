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
    "echo": "repeats its prompt",
    "loop": "repeats itself",
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
    merged = answered.merge(judged, on=KEY, how="left", validate="one_to_one").astype({"sample": int})
    counts = {status: int((merged["status"] == status).sum()) for status in STATUSES}
    room = Room(MOST_BYTES)
    flagged = [_group(rows(merged, merged["status"] == name), name, room) for name in STATUSES if name != OK]
    fine = _by_prompt(rows(merged, merged["status"] == OK), room)
    page = template(PACKAGE, "answer_page").render(
        title=title,
        lang=_tag(str(merged["language"].iloc[0])) if len(merged) else "",
        n=len(merged),
        n_prompts=merged["id"].nunique(),
        statuses=[(name, n) for name, n in counts.items() if n],
        n_flagged=len(merged) - counts[OK],
        flagged=[group for group in flagged if group["n"]],
        fine=fine,
        n_fine=counts[OK],
        n_fine_shown=sum(len(each["answers"]) for each in fine),
    )
    return page.strip("\n") + "\n"


class Room:
    """The number of bytes of text that a page can still take."""

    def __init__(self, most: int) -> None:
        self.left = most

    def takes(self, *texts: str) -> bool:
        """Whether these texts still fit; where they do, their bytes are counted as written."""
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
    language_entry = known_languages().get(language)
    return language_entry.short or language if language_entry else language


def _group(part: pd.DataFrame, status: str, room: Room) -> dict[str, Any]:
    """The answers of one status, each with its prompt, as long as there is room."""
    items: list[dict[str, Any]] = []
    for row in records(part):
        item = _item(row)
        if not room.takes(item["prompt"], item["text"], item["reason"]):
            break
        items.append(item)
    means = MEANS.get(status, "")
    return {"status": status, "means": means, "n": len(part), "answers": items, "is_open": len(part) <= OPEN}


def _by_prompt(part: pd.DataFrame, room: Room) -> list[dict[str, Any]]:
    """Each prompt with its answers, as long as there is room."""
    prompts: list[dict[str, Any]] = []
    for _, answers in parts_of(part, ["id"]):
        first, *_ = items = [_item(row) for row in records(answers)]
        if not room.takes(first["prompt"], *(f"{AROUND_BYTES * ' '}{item['text']}" for item in items)):
            break
        prompts.append({name: first[name] for name in ("id", "about", "prompt")} | {"answers": items})
    return prompts


def _item(row: Mapping[str, Any]) -> dict[str, Any]:
    """An answer as the page shows it."""
    about = [str(row["country"])] if _is_known(row["country"]) else []
    about += [f"persona {int(row['persona'])}"] if _is_known(row["persona"]) else []
    return {
        "id": row["id"],
        "sample": row["sample"],
        "about": ", ".join(about),
        "prompt": shortened(_text(row["prompt"])),
        "text": shortened(_text(row["text"])),
        "reason": _text(row["why"]) or _text(row["reason"]),
        "spoken": _text(row["spoken_language"]),
    }


def _is_known(value: Any) -> bool:
    return value is not None and not pd.isna(value)


def _text(value: Any) -> str:
    return str(value) if _is_known(value) else ""
