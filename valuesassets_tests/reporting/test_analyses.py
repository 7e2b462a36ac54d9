"""An entry is all that an analysis needs; the page that says so is tried as it stands."""

import re
import sys
import types

import pandas as pd
import pytest
from matplotlib.figure import Figure

from valuesassets.comparing.answer_grid import answer_grid
from valuesassets.comparing.signal import SIGNAL
from valuesassets.instruments.survey.analyses import ANALYSES
from valuesassets.records.study import load_study
from valuesassets.records.tables import TABLES
from valuesassets.reporting.analyses import Analysis, Drawing, derived, figures, line_of, named
from valuesassets.reporting.run import Run
from valuesassets.reporting.sections import analysis_section
from valuesassets_tests.comparing import planted_grid
from valuesassets_tests.needs import REPOSITORY

STUDY = load_study("demo_survey")
TABLE = pd.DataFrame({"model": ["a", "b"], "x": [1.0, 2.0]})


def draw_rows(table, other=None, planted=False):
    figure = Figure()
    figure.suptitle(f"{len(table)} {other is not None} {planted}")
    return figure


def drawing(*tables, **options):
    return Drawing("rows", tables, draw=f"{__name__}:draw_rows", **options)


def said(drawing, **tables):
    return {tuple(of.values()): figure.get_suptitle() for of, figure in figures(drawing, tables, STUDY)}


@pytest.fixture
def example(monkeypatch):
    """The module and the entry of the documentation, as they stand there."""
    page = (REPOSITORY / "docs" / "add_an_analysis.md").read_text(encoding="utf-8")
    module, table, entry = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    made = types.ModuleType("valuesassets.comparing.concentration")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    exec(module, made.__dict__)  # noqa: S102  # the documentation's own example
    names = {}
    monkeypatch.setitem(TABLES, "survey/concentration/cells", None)  # put back after the test
    exec(table + entry, names)  # noqa: S102
    return names["ANALYSES"]


def test_the_example_of_the_documentation_gives_tables_a_line_and_a_section(example):
    grid = answer_grid(planted_grid.answers())
    frames = derived(example["concentration"], {"grid": lambda: grid})
    assert frames["cells"]["concentration"].between(0, 1).all()
    assert [column.name for column in TABLES["survey/concentration/cells"].columns] == list(frames["cells"])
    assert line_of(example["concentration"], frames) == f"{len(grid.cells)} cells"
    section = analysis_section(Run(STUDY, {"concentration": frames}, example), "concentration")
    assert (section.anchor, section.title, section.refusals) == ("concentration", "Concentration", [])
    assert [table.caption for table in section.tables] == ["Mean probability that two answers of a cell agree."]


def test_a_refused_analysis_gives_its_reason_in_its_line():
    refused = {"refused": pd.DataFrame({"reason": ["too few"]})}
    assert {line_of(each, refused) for each in ANALYSES.values()} == {"refused: too few"}


def test_what_an_entry_names_is_there():
    for analysis in ANALYSES.values():
        places = [analysis.derive, analysis.line, *(each.function for each in analysis.drawings)]
        places += [place for place in (analysis.section, analysis.decides) if place]
        assert all(named(place) is not None for place in places)
    assert named(ANALYSES["signal"].decides) == SIGNAL


def test_a_figure_is_drawn_where_all_its_tables_have_rows_and_says_planted():
    assert said(drawing("table"), table=TABLE) == {(): "2 False True"}
    assert said(drawing("table", "other"), table=TABLE, other=TABLE.iloc[:0]) == {}
    assert said(drawing("table", "other", optional=("other",)), table=TABLE, other=TABLE.iloc[:0]) == {
        (): "2 False True"
    }
    assert said(drawing("table"), other=TABLE) == {}


def test_a_figure_stands_for_each_part_and_only_where_something_is_counted():
    assert said(drawing("table", by=("model",)), table=TABLE) == {("a",): "1 False True", ("b",): "1 False True"}
    assert said(drawing("table", some="table.x"), table=TABLE.assign(x=0)) == {}
    assert said(drawing("table", some="table.x"), table=TABLE) == {(): "2 False True"}


def test_needs_are_assets():
    needs = ("usable_answers", "people", "reliability")
    analysis = Analysis("t", "a", "m:d", needs, "m:l")
    assert analysis.inputs == ("probe_distributions", "quality_report", "human_distributions", "reliability")
