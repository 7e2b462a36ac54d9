"""The ports of the UI and of its pages."""

import pytest

from valuesassets.desk import supervisor
from valuesassets_tests.cli.commands import run


@pytest.mark.parametrize(
    ("options", "ports"),
    [(["--port", "3010"], (3010, 3011)), (["--port", "3010", "--pages-port", "4000"], (3010, 4000))],
)
def test_the_pages_have_the_port_after_the_uis_or_their_own(options, ports, tmp_path, monkeypatch):
    served = []
    monkeypatch.setattr(supervisor, "serve_ui", lambda settings, _: served.append((settings.port, settings.pages_port)))
    places = {"VALUESASSETS_STORAGE": tmp_path, "VALUESASSETS_DAGSTER": tmp_path / "dagster"}
    done = run("ui", *options, VALUESASSETS_STUDY="demo_survey", **places)
    assert (done.returncode, served) == (0, [ports]), done.stderr
