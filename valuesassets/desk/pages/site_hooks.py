"""What MkDocs does with our pages: mkdocs.yml uses this file as hooks, which add README, CHANGELOG and others from
outside `docs/` as pages. It imports nothing of ours, so that MkDocs can load it anywhere."""

import re
from pathlib import Path

BESIDE_DOCS = ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md")
ROOT_PAGES = {"index.md": "README.md"} | {name: name for name in BESIDE_DOCS}
"""Files at the root of the project, by their page in the site."""
DECISION = "*A record of one decision: what made it necessary, what was chosen, and what was tried besides.*"
"""Stands under the title of each decision's page: many readers come there from a search."""


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
    for notebook in sorted(Path(config.docs_dir).glob("notebooks/*.py")):
        page = notebook_page(notebook.read_text(encoding="utf-8"), notebook.name)
        files.append(File.generated(config, f"notebooks/{notebook.stem}.md", content=page))
    return files


def on_page_markdown(markdown, page, config, files):  # noqa: D103
    for name in BESIDE_DOCS:
        markdown = markdown.replace(f"](../{name}", f"]({name}")
    title, gap, text = markdown.partition("\n\n")
    return f"{title}{gap}{DECISION}{gap}{text}" if page.file.src_uri.startswith("decisions/") else markdown


def notebook_page(script: str, name: str) -> str:
    """A notebook in jupytext's percent format as a page: its texts as they are, its code in fences.

    >>> print(notebook_page("# %% [markdown]\\n# # Sums\\n\\n# %%\\nprint(1 + 1)\\n", "sums.py"))
    # Sums
    <BLANKLINE>
    [This page is a notebook](sums.py): Jupyter opens it with jupytext.
    <BLANKLINE>
    ```python
    print(1 + 1)
    ```
    """
    _, *cells = re.split(r"^# %%", script, flags=re.MULTILINE)
    title, *parts = [_cell_text(*cell.split("\n", 1)) for cell in cells]
    heading, _, text = title.partition("\n\n")
    link = f"[This page is a notebook]({name}): Jupyter opens it with jupytext."
    return "\n\n".join(part for part in (heading, link, text, *parts) if part)


def _cell_text(kind: str, content: str) -> str:
    """A cell of a notebook in Markdown."""
    if "[markdown]" in kind:
        return re.sub(r"^# ?", "", content.strip(), flags=re.MULTILINE)
    return f"```python\n{content.strip()}\n```"
