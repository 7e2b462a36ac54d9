"""A download as tests ask for it: what comes, or the one line that says why not."""

import pytest

from valuesassets.instruments.survey.material.forms.download import download
from valuesassets.records.errors import PdfError

CONTENT = b"".join(b"%09d\n" % number for number in range(10_000))


def fetch(url, pauses=None, **limits):
    """The bytes behind an address; nobody waits, `pauses` takes down how long it would have been."""
    return download(url, (lambda _: None) if pauses is None else pauses.append, **limits)


def refused(url, **more):
    """The message of a download that fails; it is one line."""
    with pytest.raises(PdfError) as error:
        fetch(url, **more)
    assert "\n" not in str(error.value)
    return str(error.value)
