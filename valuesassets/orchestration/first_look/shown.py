"""Summary line, picture and docs link of every materialisation.

What an asset says and shows follows from its value, by a function of `lines.py` and `pictures.py` that is named where
it is declared. One that hands no value on, or that knows more than its value tells, gives `summary` or pictures itself.
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
"""How a picture in the UI begins."""
Line = Callable[[Any], str]
Picture = Callable[[Any, Study], "Figure | None"]


def first_look(result: Any, line: Line | None, picture: Picture | None, study: Study) -> dg.MaterializeResult[Any]:
    """An asset's result with its line in front and its picture at the end.

    Args:
        result: what the asset returned: a value, or a `MaterializeResult`, whose own `summary` and pictures stay.
        line, picture: how its value is told and drawn; None where the asset does so itself.
    """
    whole = result if isinstance(result, dg.MaterializeResult) else dg.MaterializeResult(value=result)
    given = dict(whole.metadata or {})
    said = given.pop(SUMMARY, None) or _told(line, whole.value)
    is_drawn = any(str(getattr(entry, "value", "")).startswith(PNG) for entry in given.values())
    is_empty = isinstance(whole.value, pd.DataFrame) and not len(whole.value)
    if picture is not None and not is_drawn and not is_empty:
        drawn = _told(lambda value: (figure := picture(value, study)) and picture_of(figure), whole.value)
        if drawn is not None:
            given[PICTURE] = drawn
    return whole._replace(metadata=({SUMMARY: said} if said else {}) | given)


def _told(tell: Callable[[Any], Any] | None, value: Any) -> Any:
    """What it gives, or why it cannot be given: hours of work are not lost for the line or the picture about them."""
    try:
        return tell(value) if tell else None
    except Exception as error:
        return f"cannot be shown ({type(error).__name__}: {error}); the result itself is whole, please report this"


def picture_of(figure: Any) -> dg.MarkdownMetadataValue:
    """A matplotlib figure, or one as it was saved, as a picture in the UI."""
    from valuesassets.figures.saving import png_base64

    return picture_from(png_base64(figure))


def picture_from(png: str) -> dg.MarkdownMetadataValue:
    """The same of a PNG in base64."""
    return dg.MetadataValue.md(f"{PNG}{png})")


def link_to(storage: Storage, path: Path) -> dg.MetadataValue:
    """A file as a link that the browser opens; its path where it is not among those that are shown."""
    try:
        return dg.MetadataValue.url(page_link(Path(storage.root), path))
    except ValueError:
        return dg.MetadataValue.path(str(path))


def docs_of(page: str) -> dg.UrlMetadataValue:
    """A page of the documentation as a link."""
    return dg.MetadataValue.url(docs_link(page))
