"""A study that is run twice gives the same bytes: in another folder, under another hash seed."""

import pytest

from valuesassets.desk.staleness import files_below
from valuesassets_tests.cli.commands import run
from valuesassets_tests.orchestration.small_study import (
    run_study_file,
    study_environment,
    write_small_worldwise,
    write_three_languages,
)

pytestmark = pytest.mark.slow

STUDIES = {"small_study": write_three_languages, "small_worldwise": write_small_worldwise}
"""Those of two instruments in which everything was found that made runs differ: order of partitions, threads, paths."""
NOT_OF_THE_STUDY = ("dagster", "known_readings", "jobs")
"""Dagster's history, what models were read to say in files that are named by it, and files of a run."""


def bytes_of(folder):
    """What a study gives, by place; pages for the person at this machine name the folder, which is taken out."""
    storage = folder / "storage"
    files = (file for file in files_below(storage) if not {*file.relative_to(storage).parts} & {*NOT_OF_THE_STUDY})
    return {
        file.relative_to(storage).as_posix(): file.read_bytes().replace(
            str(folder).encode(), b"" if file.name.endswith(".review.html") else str(folder).encode()
        )
        for file in files
    }


@pytest.mark.parametrize("name", STUDIES)
def test_the_same_study_gives_the_same_bytes(name, request, tmp_path, monkeypatch):
    first, second = request.getfixturevalue(name), tmp_path / "another folder"
    second.mkdir()
    monkeypatch.setenv("PYTHONHASHSEED", "77")
    environment = run_study_file(second, STUDIES[name](second))
    one, other = bytes_of(first), bytes_of(second)
    assert one.keys() == other.keys()
    assert [place for place in one if one[place] != other[place]] == []
    again = run("run", second / "small.toml", **environment)
    assert again.stderr.startswith("0 made"), again.stderr
    zips = []
    for folder in (first, second):
        out = tmp_path / f"{len(zips)}.zip"
        done = run("bundle", folder / "small.toml", "--output", out, **study_environment(folder, folder / "small.toml"))
        assert done.returncode == 0 or "there is nothing to bundle" in done.stderr
        zips.append(out.read_bytes() if done.returncode == 0 else b"")
    assert zips[0] == zips[1]
