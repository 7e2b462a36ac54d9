"""Builds the documentation with MkDocs, for `make docs` and for the pages' server if the site is missing.

The pages come with the package; the site is built into the home, so that nothing is written beside the package.
"""

import json
import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from filelock import FileLock

from valuesassets.desk.pages import site_hooks
from valuesassets.records.home import SHIPPED, home_folder
from valuesassets.records.processes import python_module


def site_folder() -> Path:
    """The folder of the built site: in the home, or with Dagster's files where there is no home."""
    home = home_folder()
    return (home if home.is_dir() else Path(os.environ["VALUESASSETS_DAGSTER"])) / "site"


def build_missing_site(site: Path) -> None:
    """Build the site if it is missing or older than a page; if the build fails, nothing changes."""
    with suppress(OSError), FileLock(site.with_name(".site.lock")):
        pages = [*SHIPPED.glob("*.md"), *(SHIPPED / "docs").rglob("*.*"), SHIPPED / "mkdocs.yml"]
        front = site / "index.html"
        # Of an installed page only the time of its installation counts: the other may be older than any site.
        if not (front.exists() and front.stat().st_mtime >= max(page.stat().st_ctime for page in pages)):
            _build_beside(site)


def _build_beside(site: Path) -> None:
    """Build the site in another folder, and move it into place once it is whole, since servers may be reading it."""
    with tempfile.TemporaryDirectory(prefix=".site.", dir=site.parent) as folder:
        new_site, old_site, settings = Path(folder, "site"), Path(folder, "before"), Path(folder, "mkdocs.yml")
        # JSON is valid YAML. Paths are absolute: mkdocs.yml names the hooks as a checkout has them.
        own = {
            "INHERIT": str(SHIPPED / "mkdocs.yml"),
            "docs_dir": str(SHIPPED / "docs"),
            "hooks": [site_hooks.__file__],
        }
        settings.write_text(json.dumps(own), encoding="utf-8")
        command = python_module("mkdocs", "build", "--quiet", "-f", str(settings), "--site-dir", str(new_site))
        if subprocess.run(command, check=False).returncode == 0:
            with suppress(FileNotFoundError):
                site.rename(old_site)
            new_site.rename(site)
