"""What a shell offers after Tab as values of options and arguments, each with what it is."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from valuesassets.records.places import STUDIES, bundled_names, storage_root
from valuesassets.records.plugins import installed

Offered = list[tuple[str, str]]
"""Values, each with what it is; shells without room for that show the value alone."""


def offer_studies(incomplete: str) -> Offered:
    """Bundled studies, and files of this folder that may be study files."""
    import tomllib

    files = [(path.name, "file") for path in sorted(Path().glob("*.toml"))]
    bundled = [name for name in bundled_names(".", ".toml") if name.startswith(incomplete)]
    titles = ((STUDIES / f"{name}.toml").read_text("utf-8") for name in bundled)
    return [*((name, tomllib.loads(text)["title"]) for name, text in zip(bundled, titles, strict=True)), *files]


def offer_languages(incomplete: str) -> Offered:
    """Languages with bundled words around questions, by their codes."""
    from valuesassets.answers.language_codes import known_languages

    names = {code: known_languages()[code].names[0] for code in bundled_names("lexicons", ".toml")}
    return [(code, name) for code, name in names.items() if code.startswith(incomplete)]


def offer_tasks(incomplete: str) -> Offered:
    """Bundled tasks of psych tasks."""
    return [(name, "task") for name in bundled_names("psych_tasks", ".toml") if name.startswith(incomplete)]


def offer_assets(incomplete: str) -> Offered:
    """Instruments, and what they make once an instrument is named; of other packages' instruments what is stored."""
    from valuesassets.cli.study_help import stale_assets

    ours = {name for names in stale_assets().values() for name in names}
    names = sorted({*ours, *stored_assets(installed().instruments)})
    others = dict.fromkeys(f"{name}/" for name in sorted(installed().instruments))
    instruments = dict.fromkeys(f"{name.partition('/')[0]}/" for name in names)
    offered = names if "/" in incomplete else instruments | others
    return [(name, "asset" if "/" in incomplete else "instrument") for name in offered if name.startswith(incomplete)]


def offer_keys(incomplete: str) -> Offered:
    """Keys of a study file."""
    from valuesassets.records.study import installed_kind
    from valuesassets.records.study_schema import study_keys

    keys = study_keys(installed_kind(lambda _: None))
    return [(place, key.description) for place, key in keys.items() if place.startswith(incomplete)]


def stored_assets(instruments: Iterable[str]) -> Iterator[str]:
    """The assets of instruments that a study has stored, as `<instrument>/<asset>`."""
    for instrument in instruments:
        yield from (f"{instrument}/{path.name}" for path in storage_root().glob(f"*/{instrument}/*") if path.is_dir())
