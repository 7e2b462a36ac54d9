"""What a release promises: one version, and no licence that ours does not go with."""

import re
import tomllib

import pytest

from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.release import copyleft, describe_audit

VERSION = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
CHANGES = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")


def test_changes_begin_with_the_version_of_the_package():
    first = re.search(r"^## ([\d.]+)", CHANGES, re.M)
    assert first is not None
    assert first[1] == VERSION


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
