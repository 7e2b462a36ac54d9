"""What MkDocs does with our pages: mkdocs.yml uses this file as hooks, which add README, CHANGELOG and others from
outside `docs/` as pages. It imports nothing of ours, so that MkDocs can load it anywhere."""

import re
from pathlib import Path

BESIDE_DOCS = ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md")
ROOT_PAGES = {"index.md": "README.md"} | {name: name for name in BESIDE_DOCS}
"""Files at the root of the project, by their page in the site."""


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
        text = (Path(config.docs_dir).parent / source).read_text(encoding="utf-8")
        for link, target in moved.items():
            text = text.replace(link, target)
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown, page, config, files):  # noqa: D103
    for name in BESIDE_DOCS:
        markdown = markdown.replace(f"](../{name}", f"]({name}")
    return markdown
