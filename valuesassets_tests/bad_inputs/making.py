"""Good files to spoil, and ways to spoil them."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from valuesassets_tests.needs import REPOSITORY

FORMS = REPOSITORY / "valuesassets" / "studies" / "questionnaires"
Make = Callable[[Path], object]


def question(number: int, n_options: int, kind: str, **changes: object) -> dict:
    labels = [f"{kind} label {n}" if n_options < 10 or n in (1, 10) else "" for n in range(1, n_options + 1)]
    options = [{"value": n, "label": label} for n, label in enumerate(labels, 1)]
    return {
        "id": f"v{number}",
        "text": f"Question {number}, {kind}?",
        "response_type": kind,
        "options": options,
    } | changes


QUESTIONS = [question(1, 4, "likert4"), question(46, 5, "likert5"), question(39, 10, "likert10")]


def files(contents: Mapping[str, object]) -> Make:
    """Puts files into a folder by name: bytes as they are, text as UTF-8, anything else as JSON."""

    def make(folder: Path) -> None:
        for name, content in contents.items():
            put(folder / name, content)

    return make


def put(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def all_of(*makes: Make) -> Make:
    def make(folder: Path) -> None:
        for each in makes:
            each(folder)

    return make


def folders(*names: str) -> Make:
    def make(folder: Path) -> None:
        for name in names:
            (folder / name).mkdir(parents=True)

    return make


good_questions = files({"questions.json": QUESTIONS})


def form(language: str, name: str | None = None) -> Make:
    """A bundled questionnaire under its own or another name."""
    return lambda folder: shutil.copyfile(FORMS / f"{language}.pdf", folder / (name or f"{language}.pdf"))
