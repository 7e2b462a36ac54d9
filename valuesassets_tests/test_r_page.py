"""The commands of the page on R read a replication bundle as it was written, labels included."""

import io
import re
import shutil
import subprocess
import zipfile

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from valuesassets.records.questions import write_questions
from valuesassets.records.study import load_study
from valuesassets.reporting.replication_bundle import study_text, write_bundle
from valuesassets_tests.comparing.planted_grid import questions
from valuesassets_tests.needs import DEBIAN_PACKAGES, REPOSITORY
from valuesassets_tests.reporting.made_storage import add_the_rest, small_study, write_storage

PAGE = REPOSITORY / "docs" / "r.md"
STRICT = "options(warn = 2)\n"
"""Warnings end a script."""
WRITTEN = """
write_plain <- function(frame, file) write.csv(frame, file, row.names = FALSE, fileEncoding = "UTF-8")
write_plain(data.frame(variable = names(labels), label = labels), "labels.csv")
codes <- Filter(Negate(is.null), codes)
code_rows <- function(name) data.frame(variable = name, code = unname(codes[[name]]), label = names(codes[[name]]))
write_plain(do.call(rbind, lapply(names(codes), code_rows)), "codes.csv")
write_plain(means, "means.csv")
write_plain(factors, "factors.csv")
write_plain(usable[c("question_text", "option_label", "prob_averaged")], "usable.csv")
write_plain(distances, "distances.csv")
write_plain(data.frame(drawn = sum(points$drawn), rows = nrow(points), columns = nrow(codebook)), "counts.csv")
stopifnot(identical(read.csv(text = "a\\nINF\\n-INF\\n1.5", na.strings = "")$a, c(Inf, -Inf, 1.5)))
"""
"""What R has read, for a comparison with what Python reads; and how it reads infinite numbers, as the page says."""


@pytest.fixture(scope="module")
def rscript():
    """R's program; tests are skipped where haven is not."""
    program = shutil.which("Rscript") or pytest.skip("Rscript is not installed")
    done = subprocess.run([program, "-e", "library(haven)"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"haven is not installed: apt-get install {DEBIAN_PACKAGES['r'][1]}")
    return program


@pytest.fixture(scope="module")
def folder(rscript, tmp_path_factory):
    """A folder with a bundle, in which the page's commands have run."""
    folder, root = tmp_path_factory.mktemp("r"), tmp_path_factory.mktemp("storage")
    stored = write_storage(root)
    add_the_rest(stored)
    german = [question.model_copy(update={"text": f"Größe von {question.id}?"}) for question in questions()]
    write_questions(stored / "survey" / "aligned_questions" / "deu.json", german)
    write_questions(stored / "survey" / "aligned_questions" / "eng.json", questions())
    study_file = root / "small.toml"
    study_file.write_text(study_text(small_study()))
    write_bundle(folder / "demo_survey.zip", load_study(str(study_file)), stored, {"survey": ()})
    commands = re.findall(r"^```r\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(commands) > 5
    (folder / "page.R").write_text("\n".join([STRICT, *commands, WRITTEN]), encoding="utf-8")
    done = subprocess.run(
        [rscript, "page.R"], cwd=folder, env={"LC_ALL": "C.UTF-8"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def bundle(folder):
    return zipfile.ZipFile(folder / "demo_survey.zip")


@pytest.fixture(scope="module")
def items(bundle, folder):
    """The items as Python reads them: rows, and what describes them."""
    bundle.extract("survey/items/items.dta", folder)
    return pyreadstat.read_dta(str(folder / "survey" / "items" / "items.dta"))


@pytest.mark.r
@pytest.mark.slow
def test_labels_of_variables_and_of_their_values_are_those_that_were_written(folder, items):
    _, description = items
    labels = pd.read_csv(folder / "labels.csv").set_index("variable")["label"]
    assert labels.to_dict() == description.column_names_to_labels
    assert labels["v1"] == "What of v1? [v1, mean answer]"
    codes = pd.read_csv(folder / "codes.csv")
    by_variable = {
        name: dict(zip(rows["code"], rows["label"], strict=True)) for name, rows in codes.groupby("variable")
    }
    assert by_variable == description.variable_value_labels
    assert by_variable["v1"] == {1: "very", 2: "rather", 3: "hardly", 4: "not at all"}


@pytest.mark.r
@pytest.mark.slow
def test_means_stay_numbers_and_likeliest_answers_become_the_words_of_options(folder, items):
    rows, description = items
    means, factors = pd.read_csv(folder / "means.csv"), pd.read_csv(folder / "factors.csv")
    assert len(means.columns) > 20
    np.testing.assert_allclose(means, rows[list(means.columns)], rtol=1e-12)
    assert list(factors.columns) == [name for name in rows if name.startswith(("v110", "v111"))]
    for name in factors:
        assert list(factors[name]) == list(rows[name].map(description.variable_value_labels[name]))


@pytest.mark.r
@pytest.mark.slow
def test_answers_and_other_tables_have_the_rows_and_texts_of_the_bundle(folder, bundle):
    answers = pd.read_csv(io.BytesIO(bundle.read("survey/csv/probe_distributions.csv")))
    usable = pd.read_csv(folder / "usable.csv")
    np.testing.assert_allclose(usable["prob_averaged"], answers.loc[answers["status"] == "ok", "prob_averaged"])
    assert {"What of v1?", "Größe von v1?"} <= set(usable["question_text"])
    assert "not at all" in set(usable["option_label"])
    distances = pd.read_csv(io.BytesIO(bundle.read("survey/csv/distances/pairs.csv")))
    pd.testing.assert_frame_equal(pd.read_csv(folder / "distances.csv"), distances)
    points = pd.read_csv(io.BytesIO(bundle.read("survey/csv/cultural_map/points.csv")))
    codebook = pd.read_csv(io.BytesIO(bundle.read("codebook.csv")))
    (counts,) = pd.read_csv(folder / "counts.csv").to_dict("records")
    assert counts == {"drawn": points["drawn"].sum(), "rows": len(points), "columns": len(codebook)}
