"""Content streams: they are read as pdfminer reads them, whatever stands in them."""

from pathlib import Path

import pdfplumber
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pdfminer.pdfinterp import PDFContentParser
from pdfminer.pdftypes import PDFStream
from pdfminer.psexceptions import PSEOF, PSException

from valuesassets.instruments.survey.forms.layout.page_content import Content, PrintedPage
from valuesassets.studies import questionnaires

BUNDLED = Path(questionnaires.__file__).parent
USUAL = (b"1", b"-2", b"4.5", b"-.5", b"Tj", b"T*", b"/N", b"(s)", b"<41>", b"[", b"]", b"[1 (s)]", b"true", b"'")
UNUSUAL = (
    *(b"+", b".", b"1.2.3", b"--1", b"12ab", b"/A#42", b"/", b"/\xff", b"(a(b)c)", b"(a\\)b)", b"(\\101)", b"(", b")"),
    *(b"<4>", b"<4 1>", b"<>", b"<", b">", b"<<", b">>", b"{", b"}", b"%c\n", b"\x00", b"#", b"\xe4", b"null"),
    *(b"BI", b"ID", b"EI", b"BI /W 1 /H 1 ID x EI", b"BI /W 1 /H 2 /F /A85 ID ab~> EI"),
)


def objects(reader, streams, in_memory):
    """What a reader makes of the streams, of which it holds so many bytes in memory."""
    read = []
    try:
        content = reader([PDFStream({}, each) for each in streams])
        content.BUFSIZ = in_memory
        while True:
            place, each = content.nextobject()
            read.append((place, repr((each.attrs, each.rawdata)) if isinstance(each, PDFStream) else repr(each)))
    except (PSEOF, PSException) as end:
        return [*read, type(end)]


TOKENS = st.lists(st.tuples(st.sampled_from(USUAL + UNUSUAL), st.sampled_from((b"", b" ", b"\r\n"))), max_size=12)


@settings(max_examples=300)
@given(
    st.lists(TOKENS.map(lambda tokens: b"".join(b"".join(each) for each in tokens)), min_size=1, max_size=2),
    st.sampled_from((1, 5, 64, 4096)),
)
def test_usual_and_unusual_tokens_are_read_as_pdfminer_reads_them(streams, in_memory):
    assert objects(Content, streams, in_memory) == objects(PDFContentParser, streams, in_memory)


def test_a_bracket_that_closes_nothing_begins_no_array():
    assert objects(Content, [b"1 ] ] 2 [3 /N] "], 4096) == [(0, "1"), (6, "2"), (8, "[3, /'N']"), PSEOF]


@pytest.mark.parametrize("language", ["ell", "fra"])
def test_characters_rectangles_and_lines_are_those_of_pdfplumber(language):
    with pdfplumber.open(BUNDLED / f"{language}.pdf") as document:
        theirs = document.pages[1]
        ours = PrintedPage(document, theirs.page_obj, theirs.page_number, theirs.initial_doctop)
        for kind in ("chars", "rects", "lines"):
            expected, found = getattr(theirs, kind), getattr(ours, kind)
            assert found == [{name: each[name] for name in found[0]} for each in expected]
        assert ours.chars
        assert ours.rects or ours.lines
        assert not ours.curves
        assert not ours.images
