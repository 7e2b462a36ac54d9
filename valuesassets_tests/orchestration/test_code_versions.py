import ast
import re
import subprocess
import sys

import pytest

from valuesassets.orchestration import code_versions
from valuesassets.orchestration.assets import declaring
from valuesassets.orchestration.assets.survey import survey_assets
from valuesassets.orchestration.code_versions import code_version, human_stamp, questionnaire_stamp, reachable
from valuesassets.records.study import HumanData, HumanFile, Study
from valuesassets.records.study_files import load_study
from valuesassets_tests.needs import REPOSITORY

STUDY = load_study("demo")
TRIALS = "valuesassets.instruments.survey.trials"
WIRED = {
    "reference_models": {"reference_models.py", "plants.py", "train_reference.py", "reference.py"},
    "calibration": {"calibration.py", "plants.py", "sampled_answers.py"},
    "sampled_answers": {"sampled_answers.py", "sample.py", "sampling.py"},
    "negative_controls": {"negative_controls.py", "plants.py", "score.py", "scoring.py"},
    "preflight": {"preflight.py", "scoring.py"},
    "cultural_map": {"cultural_map.py", "projector.py", "indicators.py", "map_marks.py", "style.py"},
    "probe_distributions": {"probe_distributions.py", "variables.py", "probe_cell.py"},
    "readings": {"score.py", "scoring.py", "trie.py"},
    "report": {"report.py", "gates.py", "calibration.py", "sections.py"},
}


def test_a_version_follows_imports_to_the_records_and_no_further():
    files = {path.name for path in reachable(TRIALS)}
    assert {"trials.py", "lexicon.py", "variables.py", "questions.py", "errors.py"} <= files
    assert not {"cultural_map.py", "scoring.py"} & files


def imported_modules(source):
    """What `ast` sees in the whole of a file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            yield from (node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_every_import_of_the_package_is_found_wherever_it_stands():
    sources = [path.read_text(encoding="utf-8") for path in (REPOSITORY / "valuesassets").rglob("*.py")]
    assert len(sources) > 100
    for source in sources:
        ours = {name for name in imported_modules(source) if name.split(".")[0] == "valuesassets"}
        assert set(code_versions._imports(source)) == ours


def test_a_version_imports_nothing_that_it_covers():
    """Models' modules bring torch along; every run of the UI computes versions."""
    code = f"""
import sys
from {code_versions.__name__} import source_version
source_version("valuesassets.node.score")
sys.exit("torch" in sys.modules or "valuesassets.node" in sys.modules)"""
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True)


@pytest.mark.parametrize("asset", WIRED)
def test_a_version_covers_what_the_wiring_calls(asset, monkeypatch):
    covered = {}

    def noting(modules, study, wiring="", has_prompts=False):
        name = next(found[1] for line in wiring.splitlines() if (found := re.match(r"\s+def (\w+)\(", line)))
        covered[name] = {path.name for module in modules for path in reachable(module, wiring)}
        return "1"

    monkeypatch.setattr(declaring, "code_version", noting)
    survey_assets(STUDY)
    assert WIRED[asset] <= covered[asset]


def test_a_version_changes_with_study_wiring_source_and_bundled_data(tmp_path, monkeypatch):
    before = code_version([TRIALS], STUDY)
    assert before == code_version([TRIALS], STUDY)
    assert before != code_version([TRIALS], STUDY.model_copy(update={"seed": STUDY.seed + 1}))
    assert before != code_version([TRIALS], STUDY, "other = 1")
    files, data = reachable(TRIALS), code_versions._bundled_data()
    assert {"deu.toml", "evs2017_variables.toml", "eng.pdf", "page.html.jinja"} <= {path.name for path in data}
    original = next(path for path in files if path.name == "questions.py")
    changed = tmp_path / "questions.py"
    changed.write_text(original.read_text() + "# changed\n")
    monkeypatch.setattr(code_versions, "reachable", lambda module, wiring: (files - {original}) | {changed})
    assert before != code_version([TRIALS], STUDY)
    monkeypatch.undo()
    monkeypatch.setattr(code_versions, "_bundled_data", lambda: data[1:])
    assert before != code_version([TRIALS], STUDY)


def test_the_graph_is_built_without_loading_what_models_need():
    """Every server and every run builds it: torch and transformers would take ten seconds of each."""
    code = "import sys, valuesassets.definitions as d; d.defs(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=REPOSITORY).returncode == 0


def test_a_module_that_is_not_there_is_an_error_not_an_empty_version():
    with pytest.raises(ModuleNotFoundError, match="no such module"):
        code_version(["valuesassets.instruments.survey.nothing"], STUDY)


def test_a_replaced_pdf_makes_another_stamp(tmp_path):
    folder = STUDY.questionnaires.model_copy(update={"source": "folder", "pdf_dir": tmp_path})
    study = STUDY.model_copy(update={"questionnaires": folder})
    (tmp_path / "eng.pdf").write_bytes(b"one")
    before = questionnaire_stamp(study)
    assert before == questionnaire_stamp(study)
    (tmp_path / "eng.pdf").write_bytes(b"another")
    assert before != questionnaire_stamp(study)


def test_a_replaced_file_of_respondents_makes_another_stamp(tmp_path):
    path = tmp_path / "evs.sav"
    path.write_bytes(b"one")
    human = HumanData(source="files", files=(HumanFile(path=path, survey="evs2017"),))
    study = STUDY.model_copy(update={"human": human})
    before = human_stamp(study)
    assert before == human_stamp(study)
    path.write_bytes(b"another")
    assert before != human_stamp(study)
    assert human_stamp(STUDY) == ""


def test_readings_go_stale_with_the_scorer_and_the_model_and_with_nothing_else_of_the_study(monkeypatch):
    scorer = "valuesassets.node.score"

    def version(**changes):
        return code_version([scorer], Study.model_validate(STUDY.model_dump() | changes), has_prompts=True)

    def families(**changes):
        return {name: family.model_dump() | changes for name, family in STUDY.families.items()}

    before = version()
    assert before == version(thresholds={"p_valid_cell": 0.5}, title="Another title", seed=1)
    assert before == version(slurm={"account": "p1"}, families=families(resources={"memory_gib": 64}))
    assert before != version(families=families(dtype="bfloat16"))
    monkeypatch.setattr(code_versions, "_bundled_data", list)
    assert before == version()
    monkeypatch.setattr(code_versions, "reachable", lambda module, wiring: set())
    assert before != version()


def test_asking_slurm_for_more_makes_nothing_stale():
    families = {name: f.model_dump() | {"resources": {"hours": 9}} for name, f in STUDY.families.items()}
    asked = Study.model_validate(STUDY.model_dump() | {"slurm": {"partition": "gpu"}, "families": families})
    assert code_version([TRIALS], STUDY) == code_version([TRIALS], asked)
