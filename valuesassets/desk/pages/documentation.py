"""The documentation as a site that MkDocs builds: by `make docs`, or by the pages' server where it is not there yet.

mkdocs.yml names this file as MkDocs' hooks: README, CHANGELOG and others beside `docs/` are pages too.
"""

import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from filelock import FileLock

REPOSITORY = Path(__file__).resolve().parents[3]
SITE = REPOSITORY / "site"
BESIDE_DOCS = ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md")
ROOT_PAGES = {"index.md": "README.md"} | {name: name for name in BESIDE_DOCS}
"""Pages of the site by the files at the root of the project."""


def anchor(heading: str, separator: str = "-") -> str:
    """The name of a heading in links, as GitHub makes it.

    >>> anchor("What `P_valid` is, and isn't")
    'what-p_valid-is-and-isnt'
    """
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def on_config(config):  # noqa: D103
    config.mdx_configs["toc"] = {"slugify": anchor}
    decisions = sorted(path.name for path in (Path(config.docs_dir) / "decisions").glob("*.md"))
    config.nav = [*config.nav, {"Decisions": [f"decisions/{name}" for name in decisions]}]
    return config


def on_files(files, config):  # noqa: D103
    from mkdocs.structure.files import File

    first_decision = min(file.src_uri for file in files if file.src_uri.startswith("decisions/"))
    moved = {"](docs/decisions)": f"]({first_decision})", "](docs/": "](", "](README.md": "](index.md"}
    for name, source in ROOT_PAGES.items():
        text = (REPOSITORY / source).read_text(encoding="utf-8")
        for link, there in moved.items():
            text = text.replace(link, there)
        files.append(File.generated(config, name, content=text))
    return files


def build_missing_site() -> None:
    """Build the site where it is missing or older than a page; where that cannot be done, there is none."""
    with suppress(OSError), FileLock(REPOSITORY / ".site.lock"):
        pages = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.*"), REPOSITORY / "mkdocs.yml"]
        front = SITE / "index.html"
        if not (front.exists() and front.stat().st_mtime >= max(page.stat().st_mtime for page in pages)):
            _build_beside()


def _build_beside() -> None:
    """Build the site in another folder, and put it in place once it is whole: other servers are reading this one."""
    with tempfile.TemporaryDirectory(prefix=".site.", dir=REPOSITORY) as folder:
        built, before = Path(folder, "site"), Path(folder, "before")
        command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(built)]
        if subprocess.run(command, cwd=REPOSITORY, check=False).returncode == 0:
            with suppress(FileNotFoundError):
                SITE.rename(before)
            built.rename(SITE)
