"""Every entry can be used, is whole, and is printed only where the run rests on it."""

import re
import tomllib

import pandas as pd
import pytest
import yaml

from valuesassets.instruments.cultural_robustness.report import methods as cultural_robustness
from valuesassets.instruments.psych_tasks.report import methods as psych_tasks
from valuesassets.instruments.survey.report.report import SOURCES
from valuesassets.instruments.worldvaluesbench.report import methods as worldvaluesbench
from valuesassets.instruments.worldwise.report import report as worldwise
from valuesassets.records.study import load_study
from valuesassets.reporting.methods import bibtex, entries, used_sources
from valuesassets_tests.figures.made_up import human_frame
from valuesassets_tests.figures.made_up_analyses import map_frame, mds_frame
from valuesassets_tests.instruments.survey.whole_report import made
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.reporting.test_claims import TESTS

NEEDED = {
    "article": {"author", "title", "journal", "volume", "pages", "year"},
    "book": {"author", "title", "publisher", "year"},
    "incollection": {"author", "title", "booktitle", "publisher", "pages", "year"},
    "inproceedings": {"author", "title", "booktitle", "pages", "year"},
    "misc": {"title", "year"},
    "software": {"author", "title", "version"},
}
RESTS_ON = {
    key: assets
    for instrument in (worldvaluesbench, psych_tasks, cultural_robustness, worldwise)
    for key, assets in instrument.RESTS_ON.items()
}


def used(name="demo_survey", **found):
    return set(used_sources(made(load_study(name), **found), SOURCES))


def test_every_entry_has_a_condition_and_every_condition_an_entry():
    assert set(entries()) == {*SOURCES, *RESTS_ON}


@pytest.mark.parametrize("key", sorted({*SOURCES, *RESTS_ON}))
def test_an_entry_is_whole(key):
    entry = entries()[key]
    kind = re.match(r"@(\w+)\{", entry)[1]
    fields = dict(re.findall(r"^  (\w+)\s*=\s*\{(.*)\},$", entry, re.MULTILINE))
    assert NEEDED[kind] <= set(fields), NEEDED[kind] - set(fields)
    assert entry.count("{") == entry.count("}")
    assert re.fullmatch(r"10\.\d{4,9}/\S+", fields.get("doi", "10.0000/none"))


def test_a_run_without_results_rests_on_the_software_alone():
    assert used() == {"valuesassets"}


def test_models_are_cited_where_they_were_asked():
    assert {"burchell2025", "ramos2026"} <= used("evs2017")
    assert not {"burchell2025", "ramos2026"} & used("demo_survey")


def test_a_map_with_the_reference_projector_rests_on_its_countries():
    found = used(cultural_map={"points": map_frame()})
    assert {"inglehart2005", "wvs7", "gower1975"} <= found
    assert "kaiser1958" not in found


def test_a_fitted_projector_rests_on_the_respondents_file_and_varimax():
    study = load_study("evs2017")
    human = type(study.human).model_validate({"source": "files", "files": [{"path": "a.sav", "survey": "joint"}]})
    fitted = {"projector": pd.DataFrame({"indicator": ["F063"], "loading_x": [0.4]})}
    study = study.model_copy(update={"human": human})
    run = made(study, human=human_frame(), cultural_map={"points": map_frame()} | fitted)
    found = set(used_sources(run, SOURCES))
    assert {"kaiser1958", "evswvs2024", "kish1965"} <= found
    assert "wvs7" not in found


def test_the_correction_that_was_used_is_cited_and_the_other_is_not():
    assert {"holm1979", "phipson2010"} <= used(signal={"tests": TESTS})
    assert "benjamini1995" not in used(signal={"tests": TESTS})
    other = used(signal={"tests": TESTS.assign(correction="benjamini-hochberg")})
    assert "benjamini1995" in other
    assert "holm1979" not in other


def test_measures_are_cited_by_the_analyses_that_use_them():
    distances = {"points": mds_frame()}
    assert {"lin1991", "endres2003", "kruskal1964"} <= used(distances=distances)
    assert "anderson2001" not in used(distances=distances)
    assert "anderson2001" in used(distances=distances | {"tests": TESTS})
    assert "brennan2001" in used(reliability={"families": TESTS})


def test_the_entries_come_one_behind_the_other_as_written():
    assert bibtex(("holm1979", "kish1965")) == f"{entries()['holm1979']}\n\n{entries()['kish1965']}"


def test_the_citation_file_is_valid_and_names_this_version():
    cff = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cff["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(cff)
    assert cff["type"] == "software"
    assert cff["authors"] == [{"name": "The valuesassets developers"}]
    assert (cff["version"], cff["license"]) == (project["version"], project["license"])
    assert f"version = {{{project['version']}}}" in entries()["valuesassets"]
