"""What a release promises: one version, short lines on changes, no licence that ours does not go with."""

import re
import tomllib

import pytest

from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.release import copyleft, describe_audit

VERSION = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
CHANGES = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
MOST_WORDS, FROM_VERSION = 25, (0, 2, 0)


def long_entries(text):
    """Entries of more than 25 words, of versions from 0.2.0 on."""
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        head, _, body = section.partition("\n")
        if tuple(map(int, head.partition(",")[0].split("."))) >= FROM_VERSION:
            yield from (entry for entry in re.findall(r"^- (.*)", body, re.M) if len(entry.split()) > MOST_WORDS)


def test_changes_begin_with_the_version_of_the_package():
    first = re.search(r"^## ([\d.]+)", CHANGES, re.M)
    assert first is not None
    assert first[1] == VERSION


def test_entries_on_changes_are_short():
    assert list(long_entries(CHANGES)) == []
    long = " ".join(["word"] * 26)
    assert list(long_entries(f"## 0.2.0\n\n- {long}\n\n## 0.1.0\n\n- {long} and more\n")) == [long]


@pytest.mark.parametrize(
    ("licence", "is_refused"),
    [
        ("GNU General Public License v3 (GPLv3)", True),
        ("AGPL-3.0-only", True),
        ("GPL-2.0-or-later", True),
        ("LGPL-3.0", False),
        ("GNU Library or Lesser General Public License (LGPL)", False),
        ("MIT OR GPL-3.0", False),
        ("MPL-2.0", False),
    ],
)
def test_copyleft_licences_are_refused_and_lesser_ones_are_not(licence, is_refused):
    assert copyleft([{"Name": "it", "License": licence}]) == (["it"] if is_refused else [])


def test_an_audit_that_could_not_ask_says_so_and_a_fault_is_named():
    assert describe_audit([{"name": "a", "skip_reason": "not found"}]) == (
        "Not audited: the list of known vulnerabilities could not be reached.\n",
        False,
    )
    fault = {"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1"}]}
    assert describe_audit([fault]) == ("known vulnerabilities: a 1: PYSEC-1\n", True)
