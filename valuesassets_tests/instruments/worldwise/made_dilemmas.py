"""Little files of dilemmas and cultures, and what stands in them."""

import json

DILEMMAS = [
    {
        "id": "IVR-x1",
        "axis": "IVR",
        "domain": "leisure",
        "language": "eng",
        "situation": "A band that you love plays tonight. You had meant to spend the evening on your tax return.",
        "question": "What do you do?",
        "high": "Go and hear the band.",
        "low": "Stay in and do the return.",
    },
    {
        "id": "IVR-x2",
        "axis": "IVR",
        "domain": "work",
        "language": "eng",
        "situation": "Your work is done and the sun is out. An hour of the working day is left.",
        "question": "How do you spend it?",
        "high": "In the sun, with an ice.",
        "low": "At the desk, with old files.",
    },
]
JAPAN = {"name": "Japan", "place": "Japan", "demonym": "Japanese", "names": ["Japan", "Japanese", "Tokyo"]}
NETHERLANDS = {"name": "the Netherlands", "place": "the Netherlands", "demonym": "Dutch", "names": ["Netherlands"]}


def dilemmas(*changes, **first):
    """The two dilemmas: the first with these keys, both with those of `changes`, a key of None left out."""
    changed = [{**DILEMMAS[0], **first}, DILEMMAS[1]]
    changed = [{**each, **more} for each, more in zip(changed, [*changes, {}, {}][:2], strict=True)]
    return [{key: value for key, value in each.items() if value is not None} for each in changed]


def write(path, content):
    """A file of JSON, or of a text as it is."""
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path
