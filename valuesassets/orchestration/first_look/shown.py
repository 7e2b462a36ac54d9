"""Adds a summary line, a picture and a link to the docs to every materialisation.

Line and picture are computed from an asset's value by functions of `lines.py` and `pictures.py`, which are named where
the asset is declared. An asset without a value, or with further knowledge, returns `summary` or pictures itself.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import pandas as pd

from valuesassets.orchestration.resources import Storage
from valuesassets.records.pages import docs_link, page_link
from valuesassets.records.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUMMARY, PICTURE = "summary", "picture"
PNG = "![picture](data:image/png;base64,"
"""The beginning of a picture in the UI's Markdown."""
Line = Callable[[Any], str]
Picture = Callable[[Any, Study], "Figure | None"]


def first_look(result: Any, line: Line | None, picture: Picture | None, study: Study) -> dg.MaterializeResult[Any]:
    """An asset's result with its summary line first and its picture last.

    Args:
        result: the asset's value, or a `MaterializeResult`, whose own `summary` and pictures are kept.
        line, picture: functions of the value; None if the asset returns its own.
    """
    whole = result if isinstance(result, dg.MaterializeResult) else dg.MaterializeResult(value=result)
    metadata = dict(whole.metadata or {})
    summary = metadata.pop(SUMMARY, None) or _value_or_error(line, whole.value)
    is_drawn = any(str(getattr(entry, "value", "")).startswith(PNG) for entry in metadata.values())
    is_empty = isinstance(whole.value, pd.DataFrame) and not len(whole.value)
    if picture is not None and not is_drawn and not is_empty:
        drawn = _value_or_error(lambda value: (figure := picture(value, study)) and picture_of(figure), whole.value)
        if drawn is not None:
            metadata[PICTURE] = drawn
    return whole._replace(metadata=({SUMMARY: summary} if summary else {}) | metadata)


def _value_or_error(tell: Callable[[Any], Any] | None, value: Any) -> Any:
    """The result of `tell`, or the error as text, since a faulty line or picture must not fail hours of work."""
    try:
        return tell(value) if tell else None
    except Exception as error:
        return f"cannot be shown ({type(error).__name__}: {error}); the result itself is whole, please report this"


def picture_of(figure: Any) -> dg.MarkdownMetadataValue:
    """A matplotlib figure, or a saved one, as a picture for the UI."""
    from valuesassets.figures.saving import png_base64

    return picture_from(png_base64(figure))


def picture_from(png: str) -> dg.MarkdownMetadataValue:
    """A PNG in base64 as a picture for the UI."""
    return dg.MetadataValue.md(f"{PNG}{png})")


def link_to(storage: Storage, path: Path) -> dg.MetadataValue:
    """A link to a published file; the path of any other file."""
    try:
        return dg.MetadataValue.url(page_link(Path(storage.root), path))
    except ValueError:
        return dg.MetadataValue.path(str(path))


def docs_of(page: str) -> dg.UrlMetadataValue:
    """A link to a page of the documentation; a page of an instrument of another package has its own address."""
    return dg.MetadataValue.url(page if "://" in page else docs_link(page))
