import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from valuesassets.orchestration import code_versions
from valuesassets.orchestration.assets import declaring
from valuesassets.orchestration.assets.survey.material import survey_assets
from valuesassets.orchestration.assets.survey.stamps import questionnaire_stamps
from valuesassets.orchestration.code_versions import code_version, human_stamp, reachable
from valuesassets.orchestration.instruments import instruments_of
from valuesassets.records.settings.human import HumanData, HumanFile
from valuesassets.records.study import load_study
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.plugin import on_the_path, write_plugin

STUDY = load_study("demo_survey")
TRIALS = "valuesassets.instruments.survey.trials.trials"
WIRED = {
    "reference_models": {"reference_models.py", "plants.py", "train_reference.py", "reference.py"},
    "calibration": {"calibration.py", "plants.py", "sampled_answers.py"},
    "sampled_answers": {"sampled_answers.py", "sample.py", "sampling.py"},
    "negative_controls": {"negative_controls.py", "plants.py", "score.py", "scoring.py"},
    "preflight": {"preflight.py", "scoring.py"},
    "cultural_map": {"cultural_map.py", "projector.py", "indicators.py", "style.py"},
    "probe_distributions": {"probe_distributions.py", "variables.py", "probe_cell.py"},
    "readings": {"score.py", "scoring.py", "trie.py"},
    "report": {"report.py", "claims.py", "calibration.py", "sections.py"},
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


@pytest.mark.slow
def test_every_import_of_the_package_is_found_wherever_it_stands():
    sources = [path.read_text(encoding="utf-8") for path in (REPOSITORY / "valuesassets").rglob("*.py")]
    assert len(sources) > 100
    for source in sources:
        ours = {name for name in imported_modules(source) if name.split(".")[0] == "valuesassets"}
        assert set(code_versions._imports(source)) == ours


@pytest.mark.slow
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

    def noting(modules, study, reads, wiring="", data="", package="", wired_in=""):
        name = next(found[1] for line in wiring.splitlines() if (found := re.match(r"\s*def (\w+)\(", line)))
        name = modules[0].rpartition(".")[2] if name == "make" else name
        covered[name] = {path.name for module in modules for path in reachable(module, wiring)}
        return "1"

    monkeypatch.setattr(declaring, "code_version", noting)
    survey_assets(STUDY)
    assert WIRED[asset] <= covered[asset]


def test_a_version_changes_with_what_it_reads_of_the_study_wiring_source_and_bundled_data(tmp_path, monkeypatch):
    def version(wiring="", **changes):
        return code_version([TRIALS], STUDY.model_copy(update=changes), ["elicitation", "seed"], wiring, "survey")

    before = version()
    assert before == version()
    assert before != version(seed=STUDY.seed + 1)
    assert before == version(
        title="Another title", thresholds=STUDY.thresholds.model_copy(update={"p_valid_cell": 0.01})
    )
    assert before != version(wiring="other = 1")
    files, data = reachable(TRIALS), code_versions._bundled_data("survey")
    assert {"deu.toml", "evs2017_variables.toml", "eng.pdf", "page.html.jinja"} <= {path.name for path in data}
    original = next(path for path in files if path.name == "questions.py")
    changed = tmp_path / "questions.py"
    changed.write_text(original.read_text() + "# changed\n")
    kept = {path: stamp for path, stamp in files.items() if path != original}
    monkeypatch.setattr(code_versions, "reachable", lambda module, *_: kept | {changed: (1, 1)})
    assert before != version()
    monkeypatch.undo()
    monkeypatch.setattr(code_versions, "_bundled_data", lambda instrument: data[1:])
    assert before != version()


@pytest.mark.slow
def test_the_graph_is_built_without_loading_what_models_need():
    """Every server and every run builds it: torch and transformers would take ten seconds of each."""
    code = "import sys, valuesassets.definitions as d; d.defs(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=REPOSITORY).returncode == 0


def test_a_module_that_is_not_there_is_an_error_not_an_empty_version():
    with pytest.raises(ModuleNotFoundError, match="no such module"):
        code_version(["valuesassets.instruments.survey.nothing"], STUDY, [])


def test_a_replaced_pdf_makes_another_stamp(tmp_path):
    folder = STUDY.questionnaires.model_copy(update={"source": "folder", "pdf_dir": tmp_path})
    study = STUDY.model_copy(update={"questionnaires": folder})
    (tmp_path / "eng.pdf").write_bytes(b"one")
    before = questionnaire_stamps(study)
    assert before == questionnaire_stamps(study)
    assert set(before) == {"eng"}
    (tmp_path / "eng.pdf").write_bytes(b"another")
    assert before["eng"] != questionnaire_stamps(study)["eng"]
    (tmp_path / "deu.pdf").write_bytes(b"one more")
    assert set(questionnaire_stamps(study)) == {"deu", "eng"}


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


def tides_versions(study):
    """The code versions of the assets of an instrument of another package, by noun."""
    (instrument,) = instruments_of(study)
    return {asset.key.path[-1]: asset.code_versions_by_key[asset.key] for asset in instrument.assets(study)}


def stale_after(study, path, old, new):
    """The assets of that instrument whose versions a change of a file changes."""
    before, text = tides_versions(study), path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return {noun for noun, version in tides_versions(study).items() if version != before[noun]}


def test_a_version_of_another_packages_instrument_follows_its_own_package_and_its_data(tmp_path):
    with on_the_path(folder := write_plugin(tmp_path)):
        study, package = load_study(str(folder / "example.toml")), folder / "valuesassets_tides"
        every, helper = {*tides_versions(study)}, package / "measures" / "means.py"
        assert stale_after(study, helper, ".mean()", ".median()") == {"leanings", "report"}
        leanings = package / "measures" / "leanings.py"
        relative = ("from valuesassets_tides.measures.means", "from .means")
        assert stale_after(study, leanings, *relative) == {"leanings", "report"}
        assert stale_after(study, helper, ".median()", ".mean()") == {"leanings", "report"}
        prompts = package / "trials" / "trials.py"
        assert {"trials", "calibration"} <= stale_after(study, prompts, '"Answer"', '"Reply"') <= every - {"readings"}
        data = package / "data" / "questions.csv"
        assert stale_after(study, data, ",0.8", ",0.7") == every - {"readings"}
        assert stale_after(study, package / "commands.py", "Print what", "Print all that") == set()


def test_a_table_of_another_packages_instrument_makes_its_own_prompts_and_page_stale(tmp_path):
    with on_the_path(folder := write_plugin(tmp_path)):
        example = folder / "example.toml"
        before = tides_versions(load_study(str(example)))
        example.write_text(example.read_text().replace("[tides]", '[tides]\ntasks = ["habits"]'))
        after = tides_versions(load_study(str(example)))
        assert {noun for noun, version in after.items() if version != before[noun]} == {"trials", "report"}


def test_a_version_is_the_same_wherever_the_other_package_is_installed(tmp_path):
    versions = []
    for place in ("a", "z"):
        with on_the_path(folder := write_plugin(tmp_path / place)):
            versions.append(tides_versions(load_study(str(folder / "example.toml"))))
    assert versions[0] == versions[1]
    ours = code_versions.ROOT / "valuesassets" / "z.py"
    theirs = [Path("/a/valuesassets_tides/a.py"), Path("/zz/valuesassets_tides/a.py")]
    assert all(code_versions._order(ours) < code_versions._order(path) for path in theirs)
