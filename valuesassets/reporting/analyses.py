"""What one analysis is: one entry gives its asset, figures, line in the UI and section of the report.

Everything that computes or draws is named as `module:name` and imported when it is used, so that the graph is loaded
without any derivation and any figure.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pandas as pd

from valuesassets.records.frames import records, rows_where
from valuesassets.records.settings.measuring import USUAL, Inference, Thresholds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASSETS_OF = {"usable_answers": ("probe_distributions", "quality_report"), "people": ("human_distributions",)}
"""What an analysis may need that is not one asset of that name: usable answers, and people's beside them."""

RESTS_ON = ("human", "inference", "seed", "thresholds")
"""What most analyses read of the study, besides families and languages."""


class Rules(Protocol):
    """What figures need to know besides tables; a study is one."""

    @property
    def is_planted(self) -> bool:
        """Whether some or all answers were made up: every figure says so."""
        ...

    @property
    def inference(self) -> Inference:
        """How intervals and tests were made."""
        ...

    @property
    def thresholds(self) -> Thresholds:
        """From where on an answer counts."""
        ...


@dataclass(frozen=True)
class FigureRules:
    """`Rules` where a study alone does not say that answers were made up."""

    is_planted: bool
    inference: Inference
    thresholds: Thresholds


@dataclass(frozen=True)
class Drawing:
    """A figure of an analysis.

    Attributes:
        name: of its file and of its picture in the UI.
        tables: of the analysis, or of the assets that it needs; without rows in each of them nothing is drawn.
        alt, caption: what it shows, for those who do not see it, and under it; without a caption it stands beside the
            tables and in the UI, and not in the report.
        optional: tables that may be missing; `draw` is given None in their place.
        some: `table.column` that has to hold more than zero.
        rules: thresholds of the study.
        by: columns of whose every combination there is a figure of its own; `alt` and `caption` may name them.
        has_notes: whether the notes of the analysis stand under it, where they do not stand beside it.
        draw: `module:function`, where that is not `figures/<name>.py:draw_<name>`; takes the tables in order, then
            `rules`, and `planted` and the study's `inference` where it knows these words.
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
        """`module:function` of what draws it."""
        return self.draw or f"valuesassets.figures.{self.name}:draw_{self.name}"


@dataclass(frozen=True)
class Analysis:
    """One analysis of an instrument; its key in the instrument's `ANALYSES` is its asset's name.

    Attributes:
        title: of its section in the report.
        about: what its asset holds, in one sentence.
        derive: `module:function`, which gives tables by name. Its parameters say what it takes: `study`; `grid`
            (usable answers as arrays, people's beside them where `people` are needed); `answers` (the same as a table);
            `human` (people's answers); `n_parameters` (of each cell's model); else an asset by its name.
        needs: `usable_answers`, `people`, and other assets of the instrument.
        line: `module:function` of its tables (or its one table), and of the study's `inference` where it has such a
            parameter: what the UI says of them in one line.
        drawings: its figures, in order.
        captions: by name of a table; tables without one stand under their name.
        hidden: tables that are in the figures already, or too long to read.
        caution: what stands in the report where the analysis itself notes nothing.
        section: `module:function` of (run, name) that writes its sections, where they are not like all others'.
        stored: how its asset is stored: `frames` for tables by name; `frame` or `csv` where `derive` gives one table.
        docs: page of the documentation.
        decides: the verdict, in its table `verdicts`, by which its claim holds; its tests then claim nothing.
        claim: the sentence that it claims of each family, `{model}` in place of the name.
        question: which question its claims answer; they stand together by it.
        kinds: what the UI marks its asset as.
        reads: tables of the study that it reads, besides families and languages.
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
        """The assets that it needs."""
        return tuple(asset for need in self.needs for asset in ASSETS_OF.get(need, (need,)))

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that its tables and figures come from."""
        places = (self.derive, *(each.function for each in self.drawings))
        return tuple(place.partition(":")[0] for place in places if place)


def named(place: str) -> Any:
    """What stands at `module:name`.

    >>> named("valuesassets.reporting.analyses:ASSETS_OF")["people"]
    ('human_distributions',)
    """
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def derived(analysis: Analysis, offered: Mapping[str, Callable[[], Any]]) -> dict[str, pd.DataFrame]:
    """The tables of an analysis.

    Args:
        offered: what a derivation may take, by the name of its parameter; made only where it is taken.
    """
    derive = named(analysis.derive)
    return derive(**{name: offered[name]() for name in signature(derive).parameters})


def line_of(analysis: Analysis, frames: Mapping[str, pd.DataFrame], inference: Inference = USUAL) -> str:
    """What the UI says of an analysis in one line; the reason where it was refused."""
    if "refused" in frames:
        return f"refused: {frames['refused'].reason.iloc[0]}"
    line = named(analysis.line)
    return line(frames, **({"inference": inference} if "inference" in signature(line).parameters else {}))


def all_figures(
    analyses: Mapping[str, Analysis], frames: Mapping[str, pd.DataFrame], rules: Rules
) -> dict[str, "Figure"]:
    """Every figure of several analyses that their tables allow, by its file's name.

    Args:
        frames: by `<asset>/<table>`, or by `<asset>` where that is one table.
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
    """The figures of a drawing by file name: that of the drawing, and of what each is of where there are several."""
    figures_of_parts = list(figures(drawing, tables, rules, notes))
    is_one = len(figures_of_parts) == 1
    return {
        "-".join([drawing.name, *([] if is_one else map(str, part.values()))]).replace(" ", "_"): figure
        for part, figure in figures_of_parts
    }


def figures(
    drawing: Drawing, tables: Mapping[str, Any], rules: Rules, notes: Sequence[str] = ()
) -> Iterator[tuple[Mapping[str, str], "Figure"]]:
    """Each figure of a drawing, with the values of `by` that it is of; none where there is nothing to draw.

    Args:
        tables: by name; what is no table counts as missing.
        notes: sentences that stand nowhere else beside the figure.
    """
    filled_tables = {name: table for name, table in tables.items() if isinstance(table, pd.DataFrame) and len(table)}
    if {*drawing.tables} - {*filled_tables, *drawing.optional}:
        return
    if drawing.some:
        name, _, column = drawing.some.partition(".")
        if name not in filled_tables or column not in filled_tables[name] or not sum(filled_tables[name][column]) > 0:
            return
    draw = named(drawing.function)
    offered = {"planted": rules.is_planted, "inference": rules.inference}
    options: dict[str, Any] = {word: offered[word] for word in offered.keys() & signature(draw).parameters.keys()}
    options |= {"notes": notes} if drawing.has_notes and notes else {}
    thresholds = [getattr(rules.thresholds, rule) for rule in drawing.rules]
    by = list(drawing.by)
    parts = records(filled_tables[drawing.tables[0]].loc[:, by].drop_duplicates()) if by else [{}]
    for part in parts:
        inputs = (rows_where(filled_tables[name], **part) if name in filled_tables else None for name in drawing.tables)
        if (figure := draw(*inputs, *thresholds, **options)) is not None:  # else there is nothing to see
            yield part, figure
