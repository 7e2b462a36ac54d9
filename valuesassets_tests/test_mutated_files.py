"""Every reader of people's files, held against files that are nearly right: it reads them, or says in one line why not.

Files of each kind are cut, doubled, and written over in a few places. No Python error may come out of it.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from valuesassets.cli.outputs import lines_of_changes, types_of
from valuesassets.instruments.survey.material.analysis_scale import analysis_places
from valuesassets.instruments.survey.material.extracted_questions import examine_questions
from valuesassets.instruments.survey.material.forms.imported_questions import _read_imported
from valuesassets.instruments.survey.material.forms.layout.pages import Page, read_pages
from valuesassets.instruments.survey.material.forms.layout.readings import read_form
from valuesassets.instruments.survey.material.forms.layout.words import Word
from valuesassets.instruments.survey.material.forms.overrides import apply_overrides, read_overrides
from valuesassets.instruments.survey.trials.trials import write_trials
from valuesassets.people.survey_file import read_people
from valuesassets.people.variables import load_variables
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.places import STUDIES
from valuesassets.records.questions import require_sound
from valuesassets.records.settings.human import HumanFile
from valuesassets.records.study import load_study
from valuesassets_tests.instruments.survey.material.forms.hostile_pdfs import pdf, stream
from valuesassets_tests.instruments.survey.material.forms.ten_questions import rows, write_xlsx

pytestmark = pytest.mark.limited
FEW, MANY = 30, 300
"""Files tried of each kind by `make test`, and by `make test-all`."""
PIECES = [
    *(b"\0", b"\xff", b"\n", b"\r\n", b'"', b"'", b"|", b",", b";", b"\t", b"=", b"[", b"]", b"{", b"}", b"...", b"-"),
    *(b"0", b"1", b"99", b"-1", b"1.0", b"1e999", b"99999999999999999999", b"null", b"true", b"NaN", b"<", b">", b"&"),
    *("é\u202e".encode(), "١".encode(), "²".encode(), b" = ", b"1. ", b"a) ", b"don't know", b"\xef\xbb\xbf"),
]
"""What is written over a place: marks that files are parted by, numbers of all sizes, other scripts' figures."""


@st.composite
def edits(draw: st.DrawFn) -> list[tuple[float, int, bytes]]:
    """Places (shares of a file's length), how much is taken out there, and what is put in."""
    one = st.tuples(
        st.floats(0, 1, exclude_max=True), st.sampled_from([0, 1, 1, 3, 40]), st.sampled_from([b"", *PIECES])
    )
    return draw(st.lists(one, min_size=1, max_size=6))


def mutated(content: bytes, changes: list[tuple[float, int, bytes]]) -> bytes:
    for place, length, piece in changes:
        start = int(place * len(content))
        content = content[:start] + piece + content[start + length :]
    return content


@contextmanager
def refused_in_a_line() -> Iterator[None]:
    """Nothing is raised, or what people are told in a line."""
    said = "nothing"
    try:
        yield
    except ValuesAssetsError as error:
        said = str(error)
    assert said.splitlines() == [said]


def tried(count: int) -> Callable:
    """So many examples, each as fast as it is."""
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(max_examples=count, deadline=None, suppress_health_check=checks, database=None, derandomize=True)


COUNTS = [pytest.param(FEW, id="few"), pytest.param(MANY, id="many", marks=pytest.mark.slow)]
every_count = pytest.mark.parametrize("count", COUNTS)


def to_prompts(path: Path) -> None:
    """From a file of questions to prompts, as the commands go."""
    questions, _ = _read_imported(path)
    examined = examine_questions(questions, None, "eng")
    assert [*types_of(examined.questions, examined.guessed), *lines_of_changes(examined.changes)]
    analysis_places(examined.questions)
    write_trials(require_sound(examined.questions, str(path)), "eng", load_lexicon("eng"), load_variables())


TABLE = (
    "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows()) + '\n"s","How much?","","0 = no | 10 = yes"\n'
)
RECORDS = [
    {"id": "a", "text": "How?", "response_type": "likert3", "order": [1, 3, 2], "stem": None, "item": None}
    | {"options": [{"value": n, "label": label} for n, label in enumerate(("1. very", "2. hardly", "3. not"), 1)]},
    {
        "id": "b",
        "text": "Which?",
        "response_type": "scale",
        "options": [{"value": "0", "label": "low"}, {"value": 9.0}],
    },
]


@every_count
@pytest.mark.parametrize("ending", ["csv", "tsv", "json"])
def test_a_mutated_file_of_questions_is_read_or_refused(ending, count, tmp_path):
    whole = {"csv": TABLE, "tsv": TABLE.replace('","', '"\t"'), "json": json.dumps(RECORDS)}[ending].encode()
    path = tmp_path / f"eng.{ending}"

    @tried(count)
    @given(edits())
    def tries(changes):
        path.write_bytes(mutated(whole, changes))
        with refused_in_a_line():
            to_prompts(path)

    tries()


@every_count
def test_a_mutated_spreadsheet_is_read_or_refused(count, tmp_path):
    whole, path = write_xlsx(tmp_path / "whole.xlsx", rows()).read_bytes(), tmp_path / "eng.xlsx"

    @tried(count)
    @given(edits())
    def tries(changes):
        path.write_bytes(mutated(whole, changes))
        with refused_in_a_line():
            to_prompts(path)

    tries()


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-99, 10**20)
    | st.floats()
    | st.sampled_from(["", "1", "1.0", "x", "²", "…"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["value", "label", "id"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@every_count
def test_records_of_any_shape_are_read_or_refused(count, tmp_path):
    path = tmp_path / "eng.json"
    option = st.fixed_dictionaries({}, optional={"value": ANYTHING, "label": ANYTHING})
    keys = ["text", "stem", "item", "section", "response_type", "answer_cue", "order", "page", "box", "merged_from"]
    changed = st.dictionaries(st.sampled_from(keys), ANYTHING, max_size=1)
    options = st.dictionaries(st.just("options"), st.lists(option, max_size=4) | ANYTHING, max_size=1)
    record = st.tuples(st.sampled_from(RECORDS), changed, options)

    @tried(count)
    @given(st.lists(record, max_size=3))
    def tries(records):
        records = [sound | more | options for sound, more, options in records]
        path.write_text(json.dumps(records), encoding="utf-8")
        with refused_in_a_line():
            to_prompts(path)

    tries()


STUDY = (STUDIES / "demo_survey.toml").read_bytes()
OVERRIDES = b"""[q1]
reason = "looked at"
of = "1f0c9a3e"
text = "How?"
options = [{ value = 1, label = "yes" }, { value = 2, label = "no" }]

[q2]
reason = "not asked here"
drop = true

[whole_form]
reason = "read"
of = "1f0c9a3e"
"""


@every_count
def test_a_mutated_study_is_read_or_refused(count, tmp_path):
    path = tmp_path / "study.toml"

    @tried(count)
    @given(edits())
    def tries(changes):
        path.write_bytes(mutated(STUDY, changes))
        with refused_in_a_line():
            load_study(str(path))

    tries()


@every_count
def test_mutated_corrections_and_lexicons_are_read_or_refused(count, tmp_path):
    table, path, lexicon = tmp_path / "ten.csv", tmp_path / "eng.toml", tmp_path / "lexicon.toml"
    table.write_text(TABLE, encoding="utf-8")
    questions, _ = _read_imported(table)
    words = (STUDIES / "lexicons" / "eng.toml").read_bytes()

    @tried(count)
    @given(edits())
    def tries(changes):
        path.write_bytes(mutated(OVERRIDES, changes))
        with refused_in_a_line():
            apply_overrides(questions, read_overrides(path), path, set())
        lexicon.write_bytes(mutated(words, changes))
        with refused_in_a_line():
            load_lexicon("eng", lexicon)

    tries()


def people() -> pd.DataFrame:
    about = {"studyno": 7500.0, "year": 2018.0, "country": 276.0, "gweight": 1.0}
    return pd.DataFrame(about | {"id_cocas": np.arange(40.0), "v7": np.resize([1.0, 2.0, 3.0, 4.0, -1.0], 40)})


def write_people(path: Path) -> Path:
    frame, labels = people(), {"v7": {-1: "don't know", 1: "very happy"}}
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        write = pyreadstat.write_dta if path.suffix == ".dta" else pyreadstat.write_sav
        write(frame, path, variable_value_labels=labels)
    return path


@every_count
@pytest.mark.parametrize("ending", ["dta", "sav", "csv", "parquet"])
def test_a_mutated_file_of_people_is_read_or_refused(ending, count, tmp_path):
    whole, path = write_people(tmp_path / f"whole.{ending}").read_bytes(), tmp_path / f"people.{ending}"

    @tried(count)
    @given(edits())
    def tries(changes):
        path.write_bytes(mutated(whole, changes))
        with refused_in_a_line():
            read_people(HumanFile(path=path, survey="evs2017"), ["v7"], ["DE"])

    tries()


LINES = (
    b"BT /F1 11 Tf 60 760 Td (1. How happy are you?) Tj 0 -16 Td (a\\) very happy) Tj 0 -16 Td (b\\) not happy) Tj "
    b"0 -16 Td (2. How often?) Tj 0 -16 Td (a\\) always) Tj 0 -16 Td (b\\) never) Tj 200 40 Td (1 2 3 4) Tj ET"
)


@every_count
def test_a_mutated_pdf_is_read_or_refused(count, tmp_path):
    whole, path = pdf({4: stream(LINES)}), tmp_path / "eng.pdf"

    @tried(count)
    @given(edits())
    def tries(changes):
        path.write_bytes(mutated(whole, changes))
        with refused_in_a_line():
            read_form(read_pages(path))

    tries()


TEXTS = ["1", "2", "3", "10", "88", "1.", "2.", "Q1", "Q2.", "(v39)", "v40", "a)", "b)", "☐", "[1]", "[Q1A][v1]", "Q46"]
FIGURES = TEXTS[:8]
TEXTS += ["Very", "happy", "READ", "OUT", "not", "at", "all", "2019", "12.5", "%", "-", "=", "?", "(cid:12)", "…"]


@every_count
def test_pages_of_figures_charts_and_grids_are_no_error(count):
    few = st.lists(st.tuples(st.sampled_from(FIGURES), st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=8)
    many = st.lists(st.tuples(st.sampled_from(TEXTS), st.integers(0, 14), st.integers(0, 20)), max_size=60)

    @tried(count * 10)
    @given(few | many)
    def tries(placed):
        words = [
            Word(text, (30.0 + 38 * x, 40.0 + 13 * y, 30.0 + 38 * x + 5 * len(text), 50.0 + 13 * y), False, 1, False)
            for text, x, y in sorted(placed, key=lambda each: (each[2], each[1]))
        ]
        with refused_in_a_line():
            read_form((page_of(words),))

    tries()


def page_of(words: list[Word]) -> Page:
    from valuesassets.instruments.survey.material.forms.layout.words import printed_pattern, with_codes, with_notes

    noted = with_notes([tuple(words)])
    coded = with_codes(noted[0], printed_pattern(noted))
    none = np.zeros((0, 3))
    return replace(Page(1, 595.0, 842.0, (), none, none), words=coded)
