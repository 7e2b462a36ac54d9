"""`Analysis`: the declaration from which an analysis gets its asset, its figures, its line in the UI and its section.

Functions that compute or draw are given as `module:name` and imported when they are used, so that the graph of assets
loads without them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pandas as pd

from valuesassets.records.frames import records, rows_where
from valuesassets.records.instruments import named
from valuesassets.records.settings.measuring import USUAL, Inference, Thresholds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASSETS_OF = {"usable_answers": ("probe_distributions", "quality_report"), "people": ("human_distributions",)}
"""The assets behind those names in `Analysis.needs` that are not names of assets."""

RESTS_ON = ("human", "inference", "seed", "thresholds")
"""The settings of the study that most analyses read, besides families and languages."""
CALIBRATION, ANSWERS, SIGNAL, MAP, LANGUAGES, MODELS = QUESTIONS = (
    "Calibration",
    "Use of answers",
    "Signal",
    "Map",
    "Languages and zones",
    "Models and people",
)
"""The questions by which a page groups the claims of a run, in the order of the page."""


class Rules(Protocol):
    """The settings that figures need besides tables; a `Study` has them."""

    @property
    def is_planted(self) -> bool:
        """Whether some or all answers are planted; every figure says so."""
        ...

    @property
    def inference(self) -> Inference:
        """The settings of intervals and tests."""
        ...

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds above which readings count."""
        ...

    @property
    def distance(self) -> Literal["jsd", "cramer"]:
        """The distance between answers."""
        ...


@dataclass(frozen=True)
class FigureRules:
    """`Rules` for figures of a study whose answers, or people, are planted although the study does not say so."""

    is_planted: bool
    inference: Inference
    thresholds: Thresholds

    @property
    def distance(self) -> Literal["jsd", "cramer"]:
        """The distance between answers."""
        return self.inference.distance or "jsd"


@dataclass(frozen=True)
class Drawing:
    """The declaration of a figure of an analysis.

    Attributes:
        name: the name of its file and of its picture in the UI.
        tables: the tables that it draws, of the analysis or of the assets that it needs; it is drawn only if each has
            rows.
        alt: a description for readers who cannot see the figure.
        caption: the text under the figure; a figure without caption is in the UI, but not in the report.
        optional: tables that may be missing; `draw` gets None in their place.
        some: a `table.column`; the figure is drawn only if the column's sum is above zero.
        rules: names of the thresholds of the study that `draw` takes.
        by: columns; each combination of their values has its own figure, and `alt` and `caption` may name them.
        has_notes: whether the notes of the analysis are printed under the figure.
        draw: `module:function`, by default `figures/<name>.py:draw_<name>`. It takes the tables in their order, then
            `rules`, and `planted`, `inference` and `distance` if it has such parameters.
    """

    name: str
    tables: tuple[str, ...]
    alt: str = ""
    caption: str = ""
    optional: tuple[str, ...] = ()
    some: str = ""
    rules: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    has_notes: bool = False
    draw: str = ""

    @property
    def function(self) -> str:
        """`module:function` that draws it."""
        return self.draw or f"valuesassets.figures.{self.name}:draw_{self.name}"


@dataclass(frozen=True)
class Analysis:
    """The declaration of one analysis of an instrument; its key in the instrument's `ANALYSES` is its asset's name.

    Attributes:
        title: the title of its section in the report.
        about: the content of its asset, in one sentence.
        derive: `module:function` that returns tables by name. The names of its parameters select its inputs: `study`;
            `grid` (usable answers as arrays, with people's answers if it needs `people`); `answers` (the same as a
            table); `human` (people's answers); `n_parameters` (of each cell's model); or the name of an asset.
        needs: its inputs: `usable_answers`, `people`, and other assets of the instrument.
        line: `module:function` that returns the line for the UI. It takes the tables (or the one table), and
            `inference` if it has such a parameter.
        drawings: its figures, in order.
        captions: the caption of each table by its name; the others get their name as caption.
        hidden: tables that the report leaves out, since figures show them or they are too long to read.
        caution: the paragraph of its section if the analysis has no notes.
        section: `module:function` of (run, name) that returns its sections, instead of the usual one.
        stored: the storage format: `frames` for tables by name; `frame` or `csv` if `derive` returns one table.
        docs: its page of the documentation.
        decides: the verdict in its table `verdicts` by which its claim holds; its tests then make no claims.
        claim: the sentence that it claims of each family, with `{model}` in place of the name.
        question: the question that its claims answer and are grouped by.
        kinds: the kinds by which the UI marks its asset.
        reads: the tables of the study file that it reads, besides families and languages.
    """

    title: str
    about: str
    derive: str
    needs: tuple[str, ...]
    line: str
    drawings: tuple[Drawing, ...] = ()
    captions: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    caution: str = ""
    section: str = ""
    stored: Literal["frames", "frame", "csv"] = "frames"
    docs: str = "analyses"
    decides: str = ""
    claim: str = ""
    question: str = ""
    kinds: tuple[str, ...] = ("table", "parquet")
    reads: tuple[str, ...] = RESTS_ON

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the assets that it needs."""
        return tuple(asset for need in self.needs for asset in ASSETS_OF.get(need, (need,)))

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that compute its tables and draw its figures."""
        places = (self.derive, *(each.function for each in self.drawings))
        return tuple(place.partition(":")[0] for place in places if place)


@dataclass(frozen=True)
class Home:
    """The package of an instrument, whose analyses and drawings name their functions by places in it.

    Attributes:
        package: its name, whose last word is also that of its documentation page.
        needs: what an analysis needs unless its entry says otherwise.
        reads: the tables of the study file that an analysis reads unless its entry says otherwise.
    """

    package: str
    needs: tuple[str, ...]
    reads: tuple[str, ...]

    def analysis(self, derive: str, line: str, section: str = "", **more: Any) -> Analysis:
        """An analysis of the instrument.

        Args:
            derive: `folder.module:function` in the package.
            line: a function in `report/lines.py`.
            section: `module:function` in `report/`; the usual section if empty.
            more: further attributes of the analysis.
        """
        places = {"derive": f"{self.package}.{derive}", "line": f"{self.package}.report.lines:{line}"}
        if section:
            places["section"] = f"{self.package}.report.{section}"
        usual = {"docs": self.package.rpartition(".")[2], "needs": self.needs, "reads": self.reads}
        return Analysis(**places, **(usual | more))

    def drawing(self, name: str, *tables: str, **more: Any) -> Drawing:
        """A figure that `draw_<name>` in `report/pictures.py` draws."""
        return Drawing(name, tables, draw=f"{self.package}.report.pictures:draw_{name}", **more)


def derived(analysis: Analysis, offered: Mapping[str, Callable[[], Any]]) -> dict[str, pd.DataFrame]:
    """The tables of an analysis.

    Args:
        offered: a function for each possible input, by the name of its parameter; only inputs that are used are made.
    """
    derive = named(analysis.derive)
    return derive(**{name: offered[name]() for name in signature(derive).parameters})


def line_of(analysis: Analysis, frames: Mapping[str, pd.DataFrame], inference: Inference = USUAL) -> str:
    """The UI's line about an analysis; if the analysis was refused, the reason."""
    if "refused" in frames:
        return f"refused: {frames['refused'].reason.iloc[0]}"
    line = named(analysis.line)
    return line(frames, **({"inference": inference} if "inference" in signature(line).parameters else {}))


def all_figures(
    analyses: Mapping[str, Analysis], frames: Mapping[str, pd.DataFrame], rules: Rules
) -> dict[str, "Figure"]:
    """Every figure of several analyses whose tables are present, by the name of its file.

    Args:
        frames: tables by `<asset>/<table>`, or by `<asset>` if the asset is one table.
    """
    figures_by_name: dict[str, Figure] = {}
    for name, analysis in analyses.items():
        for drawing in analysis.drawings:
            tables = {each: frames.get(f"{name}/{each}", frames.get(each)) for each in drawing.tables}
            figures_by_name |= named_figures(drawing, tables, rules)
    return figures_by_name


def named_figures(
    drawing: Drawing, tables: Mapping[str, Any], rules: Rules, notes: Sequence[str] = ()
) -> dict[str, "Figure"]:
    """The figures of a drawing by file name; several figures have their values of `by` in their names."""
    figures_of_parts = list(figures(drawing, tables, rules, notes))
    is_one = len(figures_of_parts) == 1
    return {
        "-".join([drawing.name, *([] if is_one else map(str, part.values()))]).replace(" ", "_"): figure
        for part, figure in figures_of_parts
    }


def figures(
    drawing: Drawing, tables: Mapping[str, Any], rules: Rules, notes: Sequence[str] = ()
) -> Iterator[tuple[Mapping[str, str], "Figure"]]:
    """Each figure of a drawing, with its values of the columns `by`; none if a table that it needs is missing.

    Args:
        tables: tables by name; a value that is not a table counts as missing.
        notes: sentences to print under the figure if the drawing `has_notes`.
    """
    filled_tables = {name: table for name, table in tables.items() if isinstance(table, pd.DataFrame) and len(table)}
    if {*drawing.tables} - {*filled_tables, *drawing.optional}:
        return
    if drawing.some:
        name, _, column = drawing.some.partition(".")
        if name not in filled_tables or column not in filled_tables[name] or not sum(filled_tables[name][column]) > 0:
            return
    draw = named(drawing.function)
    offered = {"planted": rules.is_planted, "inference": rules.inference, "distance": rules.distance}
    options: dict[str, Any] = {word: offered[word] for word in offered.keys() & signature(draw).parameters.keys()}
    options |= {"notes": notes} if drawing.has_notes and notes else {}
    thresholds = [getattr(rules.thresholds, rule) for rule in drawing.rules]
    by = list(drawing.by)
    parts = records(filled_tables[drawing.tables[0]].loc[:, by].drop_duplicates()) if by else [{}]
    for part in parts:
        inputs = (rows_where(filled_tables[name], **part) if name in filled_tables else None for name in drawing.tables)
        if (figure := draw(*inputs, *thresholds, **options)) is not None:
            yield part, figure
