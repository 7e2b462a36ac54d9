"""Single assets of the graph: what a good one leaves, and what a bad input is told."""

import json
import re

import dagster as dg
import pytest

from valuesassets.answers.estimator_disagreement import list_disagreements
from valuesassets.definitions import build_definitions
from valuesassets.orchestration.assets.survey.answers import probe_asset
from valuesassets.orchestration.checks import ESTIMATORS_AGREE, EXTRACTION
from valuesassets.orchestration.partitions import cell_key
from valuesassets.records.pages import page_link
from valuesassets.records.parquet import trial_rows, write_table
from valuesassets.records.settings.measuring import Elicitation, Preflight
from valuesassets.records.study import load_study
from valuesassets.records.tables import TRIALS
from valuesassets_tests import preflights
from valuesassets_tests.figures.made_up import probe_frame
from valuesassets_tests.instruments.survey.material.forms.paper_forms import PaperForm
from valuesassets_tests.orchestration.one_asset import failures, materialise
from valuesassets_tests.orchestration.small_study import write_small_study
from valuesassets_tests.tiny_models import trial


@pytest.mark.slow
def test_a_doubt_is_reviewed_corrected_and_settled_by_materialising_again(tmp_path):
    study = load_study(str(write_small_study(tmp_path, steps=1)))
    (tmp_path / "pdfs").mkdir()
    form = PaperForm(tmp_path / "pdfs" / "fra.pdf")
    form.question("Q1", "Est-ce que vous êtes très heureux ces jours-ci ?")
    form.options("v7", "1 – très heureux", "2 – assez heureux", "3 – pas très heureux")
    form.options(None, "8 – ne sait pas", "9 – sans réponse")
    form.save()
    folder = study.questionnaires.model_copy(update={"source": "folder", "pdf_dir": tmp_path / "pdfs"})
    study = study.model_copy(update={"questionnaires": folder})

    def extract():
        result = materialise(tmp_path, study, ["questionnaire_pdf", "extracted_questions"], "fra")
        assert result.success
        failed = {c.check_name: c for c in result.get_asset_check_evaluations() if not c.passed}
        questions = json.loads((tmp_path / "small/survey/extracted_questions/fra.json").read_text(encoding="utf-8"))
        return failed, questions

    failed, (question,) = extract()
    assert set(failed) == {"questions_are_complete"}
    assert failed["questions_are_complete"].severity is dg.AssetCheckSeverity.ERROR  # one of one
    page = tmp_path / "small/survey/extracted_questions/fra.review.html"
    assert failed["questions_are_complete"].metadata["review"].value == page_link(tmp_path, page)
    mark = re.search(r"of = &#34;([0-9a-f]{8})&#34;", page.read_text(encoding="utf-8"))[1]
    labels = [*(option["label"] for option in question["options"]), "pas du tout heureux"]
    options = ", ".join(f'{{ value = {n}, label = "{label}" }}' for n, label in enumerate(labels, 1))
    overrides = study.questionnaires.overrides / "fra.toml"
    assert overrides.parent == tmp_path / "small.overrides"
    overrides.parent.mkdir()
    overrides.write_text(f'[v7]\nreason = "sur la carte"\nof = "{mark}"\noptions = [{options}]\n', encoding="utf-8")
    for _ in range(2):
        failed, (question,) = extract()
        assert failed == {}
        assert [option["label"] for option in question["options"]] == labels
    assert "override: sur la carte" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_language_is_extracted_with_its_checks_and_a_bad_pdf_is_a_failure_in_one_line(tmp_path):
    study = load_study(str(write_small_study(tmp_path, steps=1)))
    good = materialise(tmp_path, study, ["questionnaire_pdf", "extracted_questions"], "fra")
    assert good.success
    passed = {check.check_name: check.passed for check in good.get_asset_check_evaluations()}
    assert passed == {sentence.name: True for sentence in EXTRACTION}
    (tmp_path / "pdfs").mkdir()
    (tmp_path / "pdfs" / "fra.pdf").write_text("<html>Not found</html>")
    folder = study.questionnaires.model_copy(update={"source": "folder", "pdf_dir": tmp_path / "pdfs"})
    bad = materialise(tmp_path, study.model_copy(update={"questionnaires": folder}), ["questionnaire_pdf"], "fra")
    assert not bad.success
    (failure,) = failures(bad)
    assert failure.description.startswith("fra.pdf: not a PDF but an HTML page")


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        ({"dagster/partition": "xyz"}, "'xyz' is none of its partitions; there are eng, fra"),
        ({"dagster/partition/language": "xyz"}, "a partition has to be chosen; there are eng, fra"),
        ({}, "a partition has to be chosen; there are eng, fra"),
    ],
)
def test_a_run_launched_by_hand_over_a_partition_that_does_not_exist_names_those_that_do(tmp_path, tags, said):
    study = load_study(str(write_small_study(tmp_path, steps=1)))
    job = build_definitions(study, tmp_path).resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral() as instance:
        result = job.execute_in_process(
            instance=instance,
            tags=tags,
            asset_selection=[dg.AssetKey(["survey", "questionnaire_pdf"])],
            raise_on_error=False,
        )
    (failure,) = failures(result)
    assert failure.description == f"survey/questionnaire_pdf: {said}"


def test_no_estimate_at_all_is_no_agreement_and_none_asked_for_is_no_check(tmp_path):
    study = load_study(str(write_small_study(tmp_path, steps=1)))
    probe = probe_frame(n_questions=2).assign(prob_content_free=None, estimator_reason="content_free: not read")
    rows, compared, lacking = list_disagreements(probe, study.thresholds.estimator_disagreement)
    check = ESTIMATORS_AGREE.result(rows, compared)
    assert not check.passed
    assert lacking == len(probe.drop_duplicates(["model", "language", "question_id", "wording"]))
    assert check.description.startswith("question_id: (no item); reason: content_free: not read. What to do: ")
    agreeing = probe.assign(prob_content_free=probe.prob_averaged, estimator_reason=None)
    rows, compared, lacking = list_disagreements(agreeing, study.thresholds.estimator_disagreement)
    assert (rows, lacking) == ([], 0)
    assert compared > 0

    def asks(study):
        return ESTIMATORS_AGREE.name in {check.name for check in probe_asset(study).check_specs}

    assert asks(study)
    assert not asks(study.model_copy(update={"elicitation": Elicitation()}))


def test_a_partition_that_is_no_cell_asks_nothing_and_says_so(tmp_path):
    study = load_study(str(write_small_study(tmp_path, steps=1)))
    narrow = study.families["reference-mono"].model_copy(update={"languages": ("eng",)})
    study = study.model_copy(update={"families": {**study.families, "reference-mono": narrow}})
    verdict = tmp_path / study.name / "survey" / "preflight" / "reference-mono.json"
    verdict.parent.mkdir(parents=True)
    verdict.write_text(json.dumps(preflights.verdict(["eng"])))
    result = materialise(tmp_path, study, ["readings"], cell_key("reference-mono", "fra"))
    (event,) = result.get_asset_materialization_events()
    said = [value.value for value in event.materialization.metadata.values()]
    assert "no cell of the study: reference-mono has no fra" in said
    assert not list(tmp_path.rglob("readings/**/*.parquet"))


@pytest.mark.slow
def test_a_failed_preflight_stops_the_grid_unless_overridden_with_a_reason(tmp_path):
    study = load_study(str(write_small_study(tmp_path, steps=1)))
    verdict = preflights.verdict(["fra"], {"eng": "median P_valid 0.01 (>= 0.2 wanted)"})
    path = tmp_path / study.name / "survey" / "preflight" / "reference-mono.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(verdict))
    asked = trial_rows([trial("Is it so? Answer:", 2)])
    write_table(tmp_path / study.name / "survey" / "trials" / "eng.parquet", asked, TRIALS)
    stopped = materialise(tmp_path, study, ["readings"], cell_key("reference-mono", "eng"))
    assert (
        "reference-mono/eng failed its preflight: median P_valid 0.01 (>= 0.2 wanted)"
        in failures(stopped)[0].description
    )
    study = study.model_copy(update={"preflight": Preflight(override="a pilot")})
    tried = materialise(tmp_path, study, ["readings"], cell_key("reference-mono", "eng"))
    assert "the node job ended with exit status 1" in failures(tried)[0].description
    assert "reference_models/reference-mono/eng: no such folder" in failures(tried)[0].description
