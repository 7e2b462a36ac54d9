"""The provenance of the map's points for the report, with the form once per language."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from valuesassets.instruments.survey.answers.stored_survey import StoredSurvey
from valuesassets.instruments.survey.material.forms.form_pictures import draw_questions
from valuesassets.instruments.survey.material.forms.layout.words import Box
from valuesassets.instruments.survey.report.map import trace_anchor
from valuesassets.instruments.survey.report.provenance import trace_stored
from valuesassets.instruments.survey.report.traces import FormTrace, IndicatorTrace, ItemTrace, PointTrace
from valuesassets.records.errors import ValuesAssetsError


@dataclass(frozen=True)
class Form:
    """A language's questionnaire.

    Attributes:
        uses: by question, in the map's order: the indicators and items made of it.
        pictures: by page and box of a question, that strip of the page.
    """

    trace: FormTrace
    uses: Mapping[str, Sequence[tuple[IndicatorTrace, ItemTrace]]]
    pictures: Mapping[tuple[int, Box], str]


@dataclass(frozen=True)
class Traces:
    """The provenance of all points; `untraced` are cells whose provenance could not be read, and why."""

    points: tuple[PointTrace, ...] = ()
    forms: Mapping[str, Form] = field(default_factory=dict)
    untraced: tuple[str, ...] = ()

    @property
    def cells(self) -> frozenset[tuple[str, str]]:
        """The cells with provenance."""
        return frozenset((point.model, point.language) for point in self.points)


def trace_cells(storage_folder: Path, cells: Iterable[tuple[str, str]]) -> Traces:
    """The provenance of these cells' points; cells that cannot be read are named with the reason."""
    stored = StoredSurvey(storage_folder)
    points, untraced = [], []
    for model, language in cells:
        try:
            points.append(trace_stored(stored, model, language))
        except ValuesAssetsError as error:
            untraced.append(f"{model} in {language}: {error}")
    firsts = {point.language: point for point in reversed(points)}
    return Traces(tuple(points), {language: _form(point) for language, point in firsts.items()}, tuple(untraced))


def item_anchor(model: str, language: str, question_id: str) -> str:
    """The anchor of an item of a point."""
    return f"{trace_anchor(model, language)}-{question_id}"


def form_anchor(language: str, variable: str) -> str:
    """The anchor of a question of a form."""
    return f"form-{language}-{variable}"


def _form(point: PointTrace) -> Form:
    """The form of a point's language, which all models share."""
    uses: dict[str, list[tuple[IndicatorTrace, ItemTrace]]] = {}
    for indicator in point.indicators:
        for item in indicator.items:
            uses.setdefault(item.variable, []).append((indicator, item))
    places = [question for items in uses.values() for _, item in items for question in item.extracted]
    return Form(point.form, uses, draw_questions(point.form.path, places) if point.form.path else {})
