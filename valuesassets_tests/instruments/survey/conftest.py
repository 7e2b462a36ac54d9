import shutil

import pytest

from valuesassets.instruments.survey.material.forms.layout import pages
from valuesassets_tests.instruments.survey.stored_study import StoredStudy, write_stored_study


@pytest.fixture(scope="session", autouse=True)
def _every_form_is_read_once():
    """Several tests look at the same forms, which take seconds to read, and at small ones of their own in between."""
    pages.REMEMBERED = 1000


@pytest.fixture(scope="session")
def stored_once(tmp_path_factory):
    """A stored study that no test may change."""
    return write_stored_study(tmp_path_factory.mktemp("stored"))


@pytest.fixture
def stored(stored_once, tmp_path):
    """A copy of it that a test may spoil."""
    folder = tmp_path / stored_once.folder.name
    shutil.copytree(stored_once.folder, folder)
    return StoredStudy(stored_once.study, folder, stored_once.probe, stored_once.quality, stored_once.points)
