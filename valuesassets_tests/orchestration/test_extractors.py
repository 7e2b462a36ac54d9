"""The extractors in the graph: Gemini through the real SDK, imports, two readings of one form; and the embedder."""

import json
import tomllib
from pathlib import Path

import dagster as dg
import numpy as np
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.instruments.survey.material.extracted_questions import extract_questions
from valuesassets.records.questions import questions_to_rows
from valuesassets.records.study import parse_study
from valuesassets.studies import questionnaires
from valuesassets_tests.instruments.survey.material.forms.gemini.loopback_server import gemini_server
from valuesassets_tests.models.tiny_embedder import save_embedder
from valuesassets_tests.remote.loopback_gemini import KEY, refusal, reset
from valuesassets_tests.studies.expected_questions import expected_questions

BUNDLED = Path(questionnaires.__file__).parent

STUDY = """
name = "readers"
title = "Extractors"
seed = 1
[questionnaires]
source = "bundled"
master = "eng"
[families.reference-mono]
kind = "reference"
model_type = "mono"
[languages.eng]
name = "English"
country = "GB"
zone = "English-Speaking"
"""


@pytest.fixture
def graph(request, tmp_path):
    """Materialises assets of a study by name, one instance for all; gives the results.

    The instance is kept in memory; with `stored` as its parameter, in files as a user's is.
    """
    (tmp_path / "dagster").mkdir()
    is_stored = getattr(request, "param", None) == "stored"
    stored_here = dg.instance_for_test(temp_dir=str(tmp_path / "dagster"))
    with stored_here if is_stored else dg.DagsterInstance.ephemeral() as instance:

        def materialise(settings, names, partition="eng", more=""):
            content = tomllib.loads(STUDY + more)
            content["questionnaires"] |= settings
            job = build_definitions(parse_study(content, "readers.toml"), tmp_path / "storage")
            return job.resolve_implicit_global_asset_job_def().execute_in_process(
                instance=instance,
                partition_key=partition,
                asset_selection=[dg.AssetKey(["survey", name]) for name in names],
                raise_on_error=False,
            )

        materialise.folder = tmp_path
        yield materialise


def by_page():
    pages = {}
    for question in extract_questions(BUNDLED / "eng.pdf", "eng"):
        (row,) = questions_to_rows([question])
        keys = ("id", "section", "text", "stem", "item", "response_type", "options", "answer_cue")
        pages.setdefault(question.page, []).append({key: row[key] for key in keys})
    return pages


def checks_of(result):
    return {each.check_name: each for each in result.get_asset_check_evaluations()}


def metadata_of(result):
    (event,) = [event for event in result.get_asset_materialization_events() if event.asset_key.path[-1] == FIRST[1]]
    return event.materialization.metadata


FIRST = ("questionnaire_pdf", "extracted_questions")


@pytest.mark.slow
@pytest.mark.parametrize("graph", ["stored"], indirect=True)
def test_gemini_reads_a_form_once_and_its_key_is_nowhere(graph, monkeypatch, capfd):
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    faults = {("generate", 1): refusal(429, headers={"Retry-After": "1"}), ("generate", 2): reset}
    with gemini_server(by_page(), faults) as server:
        settings = {"extractor": "gemini", "gemini": {"base_url": server.base_url, "prices": {"input": 1, "output": 2}}}
        first = graph(settings, FIRST)
        assert first.success
        sent = server.total
        again = graph(settings, FIRST)
        assert again.success
        assert server.total == sent
    shown = metadata_of(first)
    assert shown["input_tokens"].value > 0
    assert shown["cost"].value.startswith("at most 0.")
    assert metadata_of(again)["requests"].value == 0
    assert "questions in common; the same: text 100%" in shown["agreement"].value
    assert all(check.passed for check in checks_of(first).values())
    ids = [question["id"] for question in json.loads(stored(graph, "extracted_questions").read_text())]
    assert ids == [question.id for question in expected_questions("eng")]
    out, err = capfd.readouterr()
    assert KEY not in out + err
    files = [path for path in graph.folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".db" for path in files)
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


def stored(graph, asset, name="eng.json"):
    return graph.folder / "storage" / "readers" / "survey" / asset / name


@pytest.mark.slow
def test_without_a_key_the_partition_fails_with_one_line(graph, monkeypatch):
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    result = graph({"extractor": "gemini"}, FIRST)
    (failure,) = [event.step_failure_data for event in result.all_events if event.is_step_failure]
    assert failure.user_failure_data.description.startswith("GEMINI_API_KEY is not set, the gemini extractor needs it")
    assert not stored(graph, "extracted_questions").exists()


@pytest.fixture
def imports(tmp_path):
    """A folder with the English questions as something else extracted them."""
    rows = questions_to_rows(expected_questions("eng"))
    for number, row in enumerate(rows):
        row["options"].append({"value": 88, "label": "don't know"})
        row["id"] = f"Q{number}"
    folder = tmp_path / "imports"
    folder.mkdir()
    (folder / "eng.json").write_text(json.dumps(rows), encoding="utf-8")
    return folder


@pytest.mark.slow
def test_an_import_needs_no_pdf_and_offers_no_don_t_know(graph, imports):
    settings = {"source": "none", "extractor": "imported", "extractions": str(imports)}
    result = graph(settings, [*FIRST])
    assert result.success
    questions = json.loads(stored(graph, "extracted_questions").read_text())
    assert len(questions) == len(expected_questions("eng"))
    assert not any(option["value"] == 88 for question in questions for option in question["options"])
    assert metadata_of(result)["opinion_items"].value == "not known without a PDF"
    assert "imported, without a PDF" in stored(graph, "extracted_questions", "eng.review.html").read_text()


@pytest.mark.slow
def test_an_import_beside_its_pdf_takes_the_codes_that_the_form_prints(graph, imports):
    result = graph({"extractor": "imported", "extractions": str(imports)}, FIRST)
    questions = json.loads(stored(graph, "extracted_questions").read_text())
    assert [question["id"] for question in questions] == [question.id for question in expected_questions("eng")]
    assert questions[3]["source_id"] == "Q3"
    assert checks_of(result)["extractors_agree"].passed


@pytest.mark.slow
def test_what_two_extractors_read_otherwise_is_a_row_and_stands_on_the_review_page(graph, imports):
    rows = json.loads((imports / "eng.json").read_text())
    rows[3]["text"] = rows[3]["text"].replace("happy", "unhappy")
    (imports / "eng.json").write_text(json.dumps(rows))
    result = graph({"second_extractor": "imported", "extractions": str(imports)}, FIRST)
    check = checks_of(result)["extractors_agree"]
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.WARN)
    (row,) = check.metadata["failing_rows"].value.records
    assert row.data["question_id"] == "v7"
    assert "unhappy" in row.data["message"]
    review = stored(graph, "extracted_questions", "eng.review.html").read_text()
    assert "the second extractor reads" in review
    assert "unhappy" in review


def test_a_file_that_is_not_there_is_named(graph, imports):
    (imports / "eng.json").unlink()
    result = graph({"source": "none", "extractor": "imported", "extractions": str(imports)}, FIRST[:1])
    (failure,) = [event.step_failure_data for event in result.all_events if event.is_step_failure]
    assert "eng.json: no such file" in failure.user_failure_data.description


@pytest.mark.slow
def test_an_embedder_turns_every_question_and_target_into_a_vector_by_a_node_job(graph, tmp_path):
    embedder = save_embedder(tmp_path / "model", [question.text for question in expected_questions("eng")])
    settings = {"embedder": str(embedder)}
    assert graph(settings, FIRST).success
    assert graph(settings, ["master_questions"], None).success
    assert graph(settings, ["aligned_questions"]).success
    folder = graph.folder / "storage" / "readers" / "jobs" / "survey" / "aligned_questions" / "eng"
    texts = json.loads((folder / "texts.json").read_text())
    assert texts[: len(expected_questions("eng"))] == [q.item or q.text for q in expected_questions("eng")]
    assert len(np.load(folder / "vectors.npy")) == len(texts)
    aligned = json.loads(stored(graph, "aligned_questions").read_text())
    assert [question["id"] for question in aligned] == [question.id for question in expected_questions("eng")]
