"""`make release`: the package, built twice and from its source package and compared, with its papers, in `dist/`.

The papers are `sbom.json` (CycloneDX: every package that `valuesassets[all]` brings), `LICENSES.csv` (their licences,
of which none may be the GPL or AGPL) and `AUDIT.txt` (known vulnerabilities, or that nobody could be asked for them).
"""

import argparse
import csv
import filecmp
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from valuesassets_tests.needs import REPOSITORY

DIST = REPOSITORY / "dist"
COPYLEFT = re.compile(r"\bA?GPL|(?<!Lesser )General Public License", re.I)
LICENSES, SBOM, AUDIT = "LICENSES.csv", "sbom.json", "AUDIT.txt"


def main() -> None:
    """Build, compare and describe; ends with a line about what is wrong."""
    parser = argparse.ArgumentParser(description="Build the package and its papers.")
    parser.add_argument("--python", type=Path, help="Python of an environment with the package; a new one if left out")
    chosen = parser.parse_args().python
    packages = build_twice()
    _run("twine", "check", "--strict", *map(str, packages))
    with tempfile.TemporaryDirectory() as folder:
        python = chosen or install(packages[-1], Path(folder))
        _run(
            "cyclonedx_py", "environment", str(python), "--of", "JSON", "--output-reproducible", "-o", str(DIST / SBOM)
        )
        _run(
            "piplicenses", "--python", str(python), "--format", "csv", "--with-urls", f"--output-file={DIST / LICENSES}"
        )
        (DIST / AUDIT).write_text(audit(python), encoding="utf-8")
    with open(DIST / LICENSES, encoding="utf-8", newline="") as stream:
        refused = copyleft(csv.DictReader(stream))
    if refused:
        sys.exit(f"{DIST / LICENSES}: {', '.join(refused)}: the GPL or AGPL does not go with the MIT licence")
    print(f"{DIST}: {', '.join(path.name for path in sorted(DIST.iterdir()))}")


def build_twice(dist: Path = DIST) -> list[Path]:
    """The source package and the wheel: the same from two builds, and the wheel from the source package too."""
    dist.mkdir(exist_ok=True)
    for old in dist.iterdir():
        old.unlink()
    _run("hatchling", "build", "-d", str(dist))
    source, wheel = sorted(dist.iterdir(), key=lambda path: path.suffix != ".gz")
    with tempfile.TemporaryDirectory() as folder:
        again, unpacked = Path(folder, "again"), Path(folder, "unpacked")
        _run("hatchling", "build", "-d", str(again))
        require_same([source, wheel], again, "two builds of the same sources")
        shutil.unpack_archive(source, unpacked)
        _run("hatchling", "build", "-t", "wheel", "-d", str(unpacked), cwd=next(unpacked.iterdir()))
        require_same([wheel], unpacked, "the build from the checkout and that from the source package")
    return [source, wheel]


def require_same(packages: Iterable[Path], folder: Path, builds: str) -> None:
    """End this program where a package has other bytes than its namesake in a folder."""
    if differing := [path.name for path in packages if not filecmp.cmp(path, folder / path.name, shallow=False)]:
        sys.exit(f"{', '.join(differing)}: {builds} differ")


def install(wheel: Path, folder: Path, extras: str = "[all]", python: str = sys.executable) -> Path:
    """The Python of a new environment with the wheel, some of its extras and the pinned packages."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    own = folder / "bin" / "python"
    pip = [str(own), "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
    subprocess.run([*pip, "-c", str(REPOSITORY / "constraints.txt"), f"{wheel}{extras}"], check=True)
    return own


def copyleft(rows: Iterable[dict[str, str]]) -> list[str]:
    """Names of packages whose licence is the GPL or AGPL, without the choice of another licence.

    >>> copyleft([{"Name": "a", "License": "GPLv3"}, {"Name": "b", "License": "GNU Lesser General Public License"}])
    ['a']
    """
    return [row["Name"] for row in rows if all(map(COPYLEFT.search, re.split(r"\sOR\s", row["License"], flags=re.I)))]


def audit(python: Path) -> str:
    """What is known of vulnerabilities of an environment's packages; ends this program where there are any."""
    listed = subprocess.run([str(python), "-m", "pip", "freeze", "--all"], capture_output=True, text=True, check=True)
    lines = [line for line in listed.stdout.splitlines() if "==" in line]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        command = [sys.executable, "-m", "pip_audit", "-r", file.name, "--no-deps", "--disable-pip", "-f", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        text, vulnerable = describe_audit(json.loads(done.stdout)["dependencies"])
    except (ValueError, KeyError):
        return "Not audited: the list of known vulnerabilities could not be reached.\n"
    if vulnerable:
        sys.exit(text)
    return text


def describe_audit(packages: list[dict]) -> tuple[str, bool]:
    """What an audit has found, and whether a package has a known vulnerability.

    >>> describe_audit([{"name": "a", "version": "1", "vulns": []}, {"name": "b", "skip_reason": "not there"}])
    ('1 package has no known vulnerability. Not audited: b.\\n', False)
    """
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    faults = [
        f"{package['name']} {package['version']}: {', '.join(fault['id'] for fault in package['vulns'])}"
        for package in packages
        if package.get("vulns")
    ]
    if faults:
        return f"known vulnerabilities: {'; '.join(faults)}\n", True
    n = len(packages) - len(skipped)
    if n == 0:
        return "Not audited: the list of known vulnerabilities could not be reached.\n", False
    rest = f" Not audited: {', '.join(skipped)}." if skipped else ""
    return f"{n} package{'s have' if n > 1 else ' has'} no known vulnerability.{rest}\n", False


def _run(module: str, *arguments: str, cwd: Path = REPOSITORY) -> None:
    done = subprocess.run([sys.executable, "-P", "-m", module, *arguments], cwd=cwd, check=False)
    if done.returncode != 0:
        sys.exit(f"make release: {module} has failed; its lines are above")


if __name__ == "__main__":
    main()
