"""Runs of tests share the small studies: those that `make test` made are there for `make rest`."""

import os
from pathlib import Path

from valuesassets_tests.__main__ import shared_studies
from valuesassets_tests.needs import SHARED_STUDIES


def test_a_block_within_another_shares_its_studies_and_leaves_them_there(monkeypatch):
    monkeypatch.delenv(SHARED_STUDIES, raising=False)
    with shared_studies():
        study = Path(os.environ[SHARED_STUDIES], "small_study")
        study.touch()
        with shared_studies():
            assert Path(os.environ[SHARED_STUDIES], "small_study") == study
        assert study.exists()
    assert not study.parent.exists()
    assert SHARED_STUDIES not in os.environ
