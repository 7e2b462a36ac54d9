"""What is printed on a page: characters, rectangles and lines, as pdfplumber has them."""

from pathlib import Path

import pdfplumber
import pytest

from valuesassets.instruments.survey.material.forms.layout.page_content import PrintedPage
from valuesassets.studies import questionnaires

BUNDLED = Path(questionnaires.__file__).parent


@pytest.mark.parametrize("language", ["ell", "fra"])
def test_characters_rectangles_and_lines_are_those_of_pdfplumber(language):
    with pdfplumber.open(BUNDLED / f"{language}.pdf") as document:
        theirs = document.pages[1]
        ours = PrintedPage(document, theirs.page_obj, theirs.page_number, theirs.initial_doctop)
        for kind in ("chars", "rects", "lines"):
            expected, objects = getattr(theirs, kind), getattr(ours, kind)
            assert objects == [{name: each[name] for name in objects[0]} for each in expected]
        assert ours.chars
        assert ours.rects or ours.lines
        assert not ours.curves
        assert not ours.images
