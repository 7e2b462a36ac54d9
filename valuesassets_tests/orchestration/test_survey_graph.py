"""The graph itself, on a real instance with real node jobs: from questionnaire PDFs to the map and the report."""

import json
import re
import shutil
from pathlib import Path

import dagster as dg
import pandas as pd
import pyarrow.parquet as pq
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.instruments.survey.report.provenance import trace_point
from valuesassets.orchestration.grid.shown_records import flat_report
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.io_managers import declared_table
from valuesassets.orchestration.partitions import cell_key
from valuesassets.records.parquet import read_readings, read_table, table_metadata
from valuesassets.records.study import load_study
from valuesassets.records.tables import PROBE_DISTRIBUTIONS, SAMPLED_ANSWERS
from valuesassets_tests.cli.commands import run
from valuesassets_tests.instruments.survey.derived_indicators import placed
from valuesassets_tests.needs import REPOSITORY, shared_file
from valuesassets_tests.orchestration.one_asset import materialise
from valuesassets_tests.orchestration.run_again import run_again_here
from valuesassets_tests.orchestration.small_study import (
    THREE_LANGUAGES,
    run_study_file,
    study_environment,
    write_small_study,
)

CELLS = [f"{model}/{language}" for model in ("reference-mono", "reference-multi") for language in THREE_LANGUAGES]


@pytest.fixture(scope="module")
def small(small_study):
    """The storage of the small study, and its environment."""
    return small_study / "storage" / "small" / "survey", study_environment(small_study, small_study / "small.toml")


@pytest.mark.slow
@pytest.mark.group("graph")
@pytest.mark.first_look
def test_every_asset_leaves_its_file_where_its_name_says(small):
    survey, _ = small
    for asset in ("questionnaire_pdf", "extracted_questions", "aligned_questions"):
        assert {path.stem for path in (survey / asset).glob("???.json")} == set(THREE_LANGUAGES)
    for asset in ("readings", "probe_distributions", "calibration"):
        found = {
            path.relative_to(survey / asset).with_suffix("").as_posix() for path in (survey / asset).rglob("*.parquet")
        }
        assert found == set(CELLS)
    for name in ("cultural_map/cultural_map.png", "cultural_map/cultural_map.svg", "report/report.html"):
        assert (survey / name).stat().st_size > 10_000
    assert not [path for path in survey.rglob(".*") if path.is_file()], "a temporary file was left behind"


@pytest.mark.slow
@pytest.mark.group("graph")
def test_the_bundle_of_the_graph_is_the_one_of_the_command(small, tmp_path):
    survey, environment = small
    done = run("bundle", environment["VALUESASSETS_STUDY"], "--output", tmp_path / "small.zip", **environment)
    assert done.returncode == 0, done.stderr
    made = (survey / "replication_bundle" / "replication_bundle.zip").read_bytes()
    assert (tmp_path / "small.zip").read_bytes() == made
    assert len(made) < 15e6


@pytest.mark.slow
@pytest.mark.group("graph")
def test_every_asset_says_what_it_holds_and_every_column_what_it_means(small, monkeypatch):
    _, environment = small
    for name in ("DAGSTER_HOME", "VALUESASSETS_DAGSTER"):
        monkeypatch.setenv(name, environment[name])
    with dg.DagsterInstance.get() as instance:
        made = {key.path[-1]: instance.get_latest_materialization_event(key) for key in instance.all_asset_keys()}
    shown = {name: event.asset_materialization.metadata for name, event in made.items()}
    assert len(shown) > 20
    assert [name for name, metadata in shown.items() if "summary" not in metadata] == []
    tables = {name: metadata["dagster/column_schema"] for name, metadata in shown.items() if "preview" in metadata}
    assert {"trials", "readings", "calibration", "cultural_map", "distances"} <= set(tables)
    undescribed = [
        (name, each.name) for name, table in tables.items() for each in table.value.columns if not each.description
    ]
    assert undescribed == []
    # By these it is seen that files were removed.
    paths = {
        name: [Path(value.value) for value in metadata.values() if isinstance(value, dg.PathMetadataValue)]
        for name, metadata in shown.items()
    }
    assert [name for name, found in paths.items() if not found or not all(path.exists() for path in found)] == []


@pytest.mark.slow
@pytest.mark.group("graph")
@pytest.mark.first_look
def test_every_table_that_was_stored_fits_its_record(small):
    names = set()
    for index in (path for path in small[0].glob("*/*.json") if path.stem == path.parent.name):
        listed = json.loads(index.read_text())
        for name in listed.get("tables", ()) if isinstance(listed, dict) else ():
            table, path = declared_table(SURVEY.key(index.stem), name), index.with_name(f"{name}.parquet")
            found = pq.read_table(path)
            assert table.checked(found, path).equals(found)
            assert found.num_rows == 0 or found.column_names == table.schema_with(found.column_names).names
            names.add(table.name)
    assert {"distances/pairs", "quality_report/cells", "survey/cultural_map/points", "tests", "notes"} <= names


@pytest.mark.slow
@pytest.mark.group("graph")
@pytest.mark.first_look
def test_a_probe_file_has_the_columns_and_metadata_that_people_script_against(small):
    path = small[0] / "probe_distributions" / "reference-mono" / "eng.parquet"
    table = read_table(path, PROBE_DISTRIBUTIONS)
    assert table.num_rows > 100
    assert {"model", "tokenizer_sha256", "dtype", "orders", "scorer_version", "batch_plan"} <= set(table_metadata(path))
    summed = table.to_pandas().groupby("question_id").prob_averaged.sum()
    assert summed.to_numpy() == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.group("graph")
def test_estimators_stand_beside_the_main_answer_and_their_check_names_items_and_estimators(small, tmp_path):
    study = load_study(small[1]["VALUESASSETS_STUDY"])
    probe = read_table(small[0] / "probe_distributions" / "reference-mono" / "eng.parquet", PROBE_DISTRIBUTIONS)
    frame = probe.to_pandas()
    made = frame.groupby("question_id")[["prob_label_likelihood", "prob_content_free"]].sum(min_count=1)
    tens = frame[frame.response_type == "likert10"].question_id.unique()
    assert made.prob_content_free.to_numpy() == pytest.approx(1)
    assert made.prob_label_likelihood.drop(tens).to_numpy() == pytest.approx(1)
    assert made.prob_label_likelihood.loc[tens].isna().all()
    assert frame.prob_pride.isna().all()
    assert set(frame.estimator_reason.dropna()) == {
        "label_likelihood, label_likelihood_per_token: not every option has a text of its own"
    }
    sampled = read_table(small[0] / "sampled_answers" / "reference-mono" / "eng.parquet", SAMPLED_ANSWERS)
    assert not [name for name in sampled["trial_id"].to_pylist() if name.count("/") != 2]
    shutil.copytree(small[0], tmp_path / study.name / "survey")
    result = materialise(tmp_path, study, ["probe_distributions"], cell_key("reference-mono", "eng"))
    (check,) = [c for c in result.get_asset_check_evaluations() if c.check_name == "estimators_agree"]
    far = frame[frame.estimator_disagreement > study.thresholds.estimator_disagreement]
    named = {record.data["question_id"] for record in check.metadata["failing_rows"].records}
    assert not check.passed
    assert named <= set(far.question_id)
    assert {record.data["estimator"] for record in check.metadata["failing_rows"].records} <= {
        *("label_likelihood", "label_likelihood_per_token", "content_free")
    }
    page = (small[0] / "report" / "report.html").read_text(encoding="utf-8")
    assert "How far other estimators lie from the answers used here" in page


@pytest.mark.slow
@pytest.mark.group("graph")
def test_run_again_unchanged_nothing_is_made_again(small_study):
    survey = small_study / "storage" / "small" / "survey"
    before = {path: path.stat().st_mtime_ns for path in survey.rglob("*") if path.is_file()}
    assert run_again_here(study_environment(small_study, small_study / "small.toml")) == []
    assert {path: path.stat().st_mtime_ns for path in survey.rglob("*") if path.is_file()} == before


@pytest.mark.slow
@pytest.mark.group("graph")
def test_the_preflight_looks_at_the_tokenizer_of_every_model(small):
    verdict = json.loads((small[0] / "preflight" / "reference-mono.json").read_text())
    assert set(verdict["tokenizers"]) == set(THREE_LANGUAGES)
    assert {finding["what"] for finding in verdict["findings"]} >= {
        "digits that are one token",
        "tokens that end a 1 where 10 goes on",
    }
    shown = flat_report(verdict["tokenizers"]["eng"])
    assert shown["leading space"] == "own token"
    assert "\n" not in "".join(shown.values())


@pytest.mark.slow
@pytest.mark.group("graph")
@pytest.mark.first_look
def test_the_report_says_what_failed(small):
    page = (small[0] / "report" / "report.html").read_text(encoding="utf-8")
    assert "Planted answers were recovered in every calibrated cell" in page
    assert "off: " in page
    assert "planted" in page.casefold()


@pytest.mark.slow
@pytest.mark.group("graph")
@pytest.mark.first_look
def test_every_point_is_traced_down_to_its_page_and_its_means_give_its_place(small):
    survey, _ = small
    for cell in CELLS:
        model, language = cell.split("/")
        point = trace_point(survey.parent, model, language)
        assert point.problems == ()
        means = {indicator.code: indicator.mean for indicator in point.indicators}
        assert all(indicator.mean is not None or indicator.reason for indicator in point.indicators)
        if None not in means.values():
            assert placed(means) == pytest.approx((point.place["x"], point.place["y"]))
        keys = {reading.reading_key for reading in read_readings(survey / "readings" / f"{cell}.parquet")}
        items = [item for indicator in point.indicators for item in indicator.items]
        assert len(items) == 17
        for item in items:
            assert {prompt.trial.order for prompt in item.prompts} == {"forward", "reversed"}
            assert {prompt.reading.reading_key for prompt in item.prompts} <= keys
            assert all(record.page and record.box for record in item.extracted)
            assert item.extracted
        assert point.form.path == survey / "questionnaire_pdf" / f"{language}.pdf"
        assert point.identity.weights_id == table_metadata(survey / "readings" / f"{cell}.parquet")["weights_id"]


@pytest.mark.slow
@pytest.mark.group("graph")
@pytest.mark.first_look
def test_the_report_shows_where_every_point_comes_from_and_by_what_it_was_made(small):
    page = (small[0] / "report" / "report.html").read_text(encoding="utf-8")
    for cell in CELLS:
        model, language = cell.split("/")
        assert page.count(f'id="trace-{model}-{language}"') == 1
        weights = table_metadata(small[0] / "readings" / f"{cell}.parquet")["weights_id"]
        assert page.count(weights) >= 2
    assert page.count('src="data:image/png') == 7 * len(CELLS)
    assert "A link does not hold" not in page
    assert str(small[0]) not in page
    assert re.search(r">scorer</th><td[^>]*>\d+<", page)


@pytest.mark.slow
@pytest.mark.group("graph")
def test_trace_prints_a_tree_and_json_and_refuses_what_the_study_does_not_have(small):
    def trace(*arguments):
        return run("trace", small[1]["VALUESASSETS_STUDY"], *arguments, **small[1])

    tree = trace("reference-mono", "eng").stdout
    assert "A008 happiness:" in tree
    assert "printed on page" in tree
    assert "4. not happy at all" in tree
    point = json.loads(trace("reference-mono", "eng", "--json").stdout)
    assert len(point["indicators"]) == 10
    assert point["indicators"][0]["items"][0]["prompts"][0]["trial"]["prompt"].endswith("Answer:")
    item = json.loads(trace("reference-mono", "eng", "v39", "--json").stdout)
    assert item["standing"] == "usable"
    for arguments, said in {
        ("reference-mono", "enx"): "enx: no such language in study small; did you mean eng?",
        ("reference-mno", "eng"): "did you mean reference-mono eng?",
        ("uniform answers", "eng"): "uniform answers: a point of kind content_free, which rests on no readings",
        ("reference-mono", "eng", "v309"): "v309: no such question among those asked in eng; did you mean v39?",
    }.items():
        refused = trace(*arguments)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert said in refused.stderr
        assert refused.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.group("graph")
def test_a_partial_grid_still_gives_a_quality_report_that_names_the_missing_cells(small, tmp_path):
    study = load_study(small[1]["VALUESASSETS_STUDY"])
    source = small[0] / "probe_distributions" / "reference-mono" / "eng.parquet"
    copy = tmp_path / study.name / "survey" / "probe_distributions" / "reference-mono" / "eng.parquet"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(source.read_bytes())
    result = materialise(tmp_path, study, ["quality_report"], None)
    assert result.success
    cells = pd.read_parquet(tmp_path / study.name / "survey" / "quality_report" / "cells.parquet")
    missing = cells[cells.is_missing.astype(bool)]
    assert {f"{row.model}/{row.language}" for row in missing.itertuples()} == set(CELLS) - {"reference-mono/eng"}
    passed = {check.check_name: check.passed for check in result.get_asset_check_evaluations()}
    assert passed == {"every_cell_can_be_trusted": False, "every_extraction_is_sound": True}


UP_TO_THE_MAP = (
    *("questionnaire_pdf", "extracted_questions", "master_questions", "aligned_questions", "trials"),
    *("reference_models", "weights", "preflight", "readings", "probe_distributions", "quality_report", "reliability"),
    *("respondents", "human_distributions", "human_means", "cultural_map"),
)
"""What the map of a real form rests on: neither a calibration nor made worlds, which other tests look at."""


@pytest.mark.published
@pytest.mark.slow
@pytest.mark.group("graph")
def test_real_field_questionnaires_run_to_the_map(tmp_path):
    forms = shared_file("data", "questionnaires", "ZA7500_q_gb.pdf").parent
    study = write_small_study(tmp_path, steps=60)
    text = study.read_text(encoding="utf-8").replace('source = "bundled"', f'source = "folder"\npdf_dir = "{forms}"')
    text = text.replace('country = "GB"', 'country = "GB"\npdf = "ZA7500_q_gb.pdf"')
    text = text.replace('country = "FR"', 'country = "FR"\npdf = "ZA7500_q_fr.pdf"')
    text = text[: text.index("[families.reference-multi]")] + text[text.index("[human]") :]
    study.write_text(text, encoding="utf-8")
    run_study_file(tmp_path, study, UP_TO_THE_MAP)
    survey = tmp_path / "storage" / "small" / "survey"
    british = json.loads((survey / "aligned_questions" / "eng.json").read_text(encoding="utf-8"))
    assert len(british) >= 150
    points = pd.read_parquet(survey / "cultural_map" / "points.parquet")
    assert set(points[points.kind == "model"].language) == {"eng", "fra"}
    faults = json.loads((survey / "extracted_questions" / "eng.faults.json").read_text(encoding="utf-8"))
    assert all(fault["question_id"] and fault["message"] for fault in faults)


def test_the_code_location_loads_as_dagster_loads_it():
    assert (REPOSITORY / "workspace.yaml").is_file()
    loaded = build_definitions(load_study("evs2017"), Path("storage"))
    dg.Definitions.validate_loadable(loaded)
    graph = loaded.get_repository_def().asset_graph
    assert len(graph.get(dg.AssetKey(["survey", "readings"])).partitions_def.get_partition_keys()) == 44
