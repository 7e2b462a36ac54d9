"""What a release promises: one version, and no licence that ours does not go with."""

import re
import tomllib

import pytest

from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.release import copyleft, describe_audit, require_same

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = PROJECT["version"]
VERSIONS = {
    "CHANGELOG.md": r"^## (\S+?),? ",
    "CITATION.cff": r"^version: (\S+)$",
    "README.md": r"valuesassets-([\d.]+)-py3",
    "docs/installation.md": r"valuesassets-([\d.]+)-py3",
    "containers/valuesassets.def": r"valuesassets-([\d.]+)-py3",
}
"""Where the version stands, by file: a pattern whose first match is the newest."""


@pytest.mark.parametrize("name", VERSIONS)
def test_there_is_one_version(name):
    first, *_ = re.findall(VERSIONS[name], (REPOSITORY / name).read_text(encoding="utf-8"), re.MULTILINE)
    assert first == VERSION


def test_what_makes_a_release_is_pinned():
    pins = {line.partition("==")[0] for line in (REPOSITORY / "constraints.txt").read_text("utf-8").splitlines()}
    tools = {tool.replace("-", "_") for tool in PROJECT["optional-dependencies"]["release"]}
    assert tools <= {pin.replace("-", "_") for pin in pins}


def test_a_build_with_other_bytes_ends_the_release(tmp_path):
    package, again = tmp_path / "it.whl", tmp_path / "again"
    again.mkdir()
    package.write_bytes(b"built")
    (again / "it.whl").write_bytes(b"built")
    require_same([package], again, "two builds")
    (again / "it.whl").write_bytes(b"tliub")
    with pytest.raises(SystemExit, match=r"^it\.whl: two builds differ$"):
        require_same([package], again, "two builds")


@pytest.mark.parametrize(
    ("licence", "is_refused"),
    [
        ("GNU General Public License v3 (GPLv3)", True),
        ("AGPL-3.0-only", True),
        ("GPL-2.0-or-later", True),
        ("LGPL-3.0", False),
        ("GNU Library or Lesser General Public License (LGPL)", False),
        ("MIT OR GPL-3.0", False),
        ("GPL-2.0-only OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0", True),
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
