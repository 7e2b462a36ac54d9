"""What the UI shows of a materialisation before anybody opens a file: one line, one picture, where to read on.

What each asset says and shows follows from its value: `lines.py`, `pictures.py`, keyed by the asset's name. One
that hands no value on, or that knows more than its value tells, gives `summary` or pictures of its own.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg

from valuesassets.orchestration.first_look.lines import LINES
from valuesassets.orchestration.first_look.pictures import PICTURES
from valuesassets.orchestration.resources import Storage
from valuesassets.records.pages import docs_link, page_link
from valuesassets.records.study import Study

SUMMARY, PICTURE = "summary", "picture"
DOCS = {
    "questionnaire_pdf": "extraction",
    "extracted_questions": "review",
    "master_questions": "alignment",
    "aligned_questions": "alignment",
    "trials": "prompts",
    "model_weights": "own_model",
    "reference_models": "calibration",
    "sampled_answers": "calibration",
    "calibration": "calibration",
    "negative_controls": "calibration",
    "preflight": "scoring",
    "readings": "scoring",
    "probe_distributions": "estimators",
    "quality_report": "analyses",
    "respondents": "human_data",
    "human_distributions": "human_data",
    "human_means": "human_data",
    "item_statistics": "analyses",
    "reliability": "analyses",
    "signal": "analyses",
    "distances": "analyses",
    "human_comparison": "analyses",
    "mono_vs_multi": "analyses",
    "position_bias": "analyses",
    "simulated_worlds": "analyses",
    "cultural_map": "map",
    "report": "report",
}
"""The page of the documentation that an asset is described on."""


def first_look(name: str, result: Any, study: Study) -> dg.MaterializeResult[Any]:
    """An asset's result with its line in front and its picture at the end.

    Args:
        result: what the asset returned: a value, or a `MaterializeResult`, whose own `summary` and pictures stay.
    """
    whole = result if isinstance(result, dg.MaterializeResult) else dg.MaterializeResult(value=result)
    given = dict(whole.metadata or {})
    line: dict[str, Any] = {SUMMARY: given.pop(SUMMARY, None) or _told(lambda: LINES[name](whole.value))}
    if not any(isinstance(entry, dg.MarkdownMetadataValue) and is_picture(entry) for entry in given.values()):
        drawn = _told(lambda: _picture(name, whole.value, study))
        if drawn is not None:
            given[PICTURE] = drawn
    return dg.MaterializeResult(
        value=whole.value,
        metadata=line | given,
        check_results=whole.check_results,
        data_version=whole.data_version,
        tags=whole.tags,
    )


def _told(tell: Callable[[], Any]) -> Any:
    """What it gives, or why it cannot be given: hours of work are not lost for the line or the picture about them."""
    try:
        return tell()
    except Exception as error:
        return f"cannot be shown ({type(error).__name__}: {error}); the result itself is whole, please report this"


def _picture(name: str, value: Any, study: Study) -> dg.MarkdownMetadataValue | None:
    figure = PICTURES[name](value, study) if name in PICTURES else None
    return None if figure is None else picture_of(figure)


def picture_of(figure: Any) -> dg.MarkdownMetadataValue:
    """A matplotlib figure as a picture in the UI."""
    from valuesassets.figures.style import png_base64

    return picture_from(png_base64(figure))


def picture_from(png: str) -> dg.MarkdownMetadataValue:
    """The same of a PNG in base64."""
    return dg.MetadataValue.md(f"![picture](data:image/png;base64,{png})")


def is_picture(entry: dg.MarkdownMetadataValue) -> bool:
    """Whether a piece of metadata is a picture."""
    return (entry.value or "").startswith("![picture](data:image/png;base64,")


def link_to(storage: Storage, path: Path) -> dg.MetadataValue:
    """A file as a link that the browser opens; its path where it is not among those that are shown."""
    try:
        return dg.MetadataValue.url(page_link(Path(storage.root), path))
    except ValueError:
        return dg.MetadataValue.path(str(path))


def docs_of(name: str) -> dg.UrlMetadataValue:
    """Where an asset is described."""
    return dg.MetadataValue.url(docs_link(DOCS[name]))
