"""Every message that docs/troubleshooting.md quotes is one that the sources, or Dagster's, can say."""

import ast
import functools
import re
from importlib import resources
from pathlib import Path

import pytest

from valuesassets_tests.needs import REPOSITORY

PAGE = REPOSITORY / "docs" / "troubleshooting.md"
OURS = ("valuesassets", "slurm_runner")
DAGSTERS = ("dagster", "dagster_webserver")
GAP, DIFFERS = "\0", "…"
"""A place that differs: in what is read out of the sources, and in a quotation."""
LEAST_FIXED = 10
"""A quotation with fewer fixed characters would be found in anything."""


def quoted_messages():
    """(message, whether it is Dagster's) of every row of the page's tables."""
    found, is_dagsters = [], False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        first = line.split("|")[1].strip() if line.startswith("| ") else ""
        if first in ("Message", "Dagster's message"):
            is_dagsters = first != "Message"
        elif quoted := re.fullmatch("`(.+)`", first):
            found.append((quoted[1], is_dagsters))
    return found


MESSAGES = quoted_messages()


def template_of(node):
    """The text that an expression makes, a GAP for each part that differs; None where it makes none."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(template_of(part) or GAP for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            both = template_of(left), template_of(right)
            return None if both == (None, None) else "".join(text or GAP for text in both)
    return None


@functools.cache
def templates():
    """The lines of every text in the code of the project, but for docstrings."""
    found = set()
    for path in (path for name in OURS for path in (REPOSITORY / name).rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        found |= {text for node in nodes if id(node) not in docstrings and (text := template_of(node))}
    return "\n".join(found).split("\n")


@functools.cache
def dagsters_texts():
    """The lines of Dagster's sources and of its web UI's, as they are installed."""
    folders = [Path(str(resources.files(name))) for name in DAGSTERS]
    paths = [path for folder in folders for kind in ("*.py", "*.js") for path in folder.rglob(kind)]
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in paths).split("\n")


def is_said(message, lines):
    """Whether a line has the fixed parts of a message in their order."""
    parts = message.split(DIFFERS)
    longest, pattern = max(parts, key=len), re.compile(".*?".join(map(re.escape, parts)))
    return any(pattern.search(line) for line in lines if longest in line)


def test_the_page_quotes_messages_of_both_kinds():
    assert len(MESSAGES) > 40
    assert {is_dagsters for _, is_dagsters in MESSAGES} == {True, False}


@pytest.mark.parametrize(("message", "is_dagsters"), MESSAGES, ids=[message for message, _ in MESSAGES])
def test_every_quoted_message_is_in_the_sources(message, is_dagsters):
    assert len(message.replace(DIFFERS, "").replace(" ", "")) >= LEAST_FIXED, "too short to be looked up"
    assert is_said(message, dagsters_texts() if is_dagsters else templates())


@pytest.mark.parametrize(
    "message",
    [
        "port …, for …: is occupied",
        "… failed its preflight; …",
        "is gated and gives access",
        "the hub … cannot be reached…is gated and gives no access",
    ],
)
def test_a_message_that_nobody_says_is_not_found(message):
    assert not is_said(message, templates())


def test_a_docstring_is_no_message():
    assert is_said("; materialise it first, or see why it failed", templates())
    assert not is_said("Look at the study, the folders and the ports.", templates())
