from pathlib import Path

from valuesassets.orchestration import code_versions
from valuesassets.orchestration.code_versions import code_version
from valuesassets.records.study import load_study

STUDY = load_study("demo")
TRIALS = "valuesassets.instruments.survey.trials"


def test_a_version_follows_imports_to_the_records_and_no_further():
    files = {path.name for path in code_versions._reachable(TRIALS)}
    assert {"trials.py", "lexicon.py", "variables.py", "questions.py", "errors.py"} <= files
    assert not {"cultural_map.py", "scoring.py"} & files


def test_a_version_changes_with_the_study_and_with_any_source_it_can_reach(tmp_path, monkeypatch):
    before = code_version(TRIALS, STUDY)
    assert before == code_version(TRIALS, STUDY)
    assert before != code_version(TRIALS, STUDY.model_copy(update={"seed": STUDY.seed + 1}))
    reachable = code_versions._reachable(TRIALS)
    changed = tmp_path / "questions.py"
    original = next(path for path in reachable if path.name == "questions.py")
    changed.write_text(original.read_text() + "# changed\n")
    swapped: set[Path] = (reachable - {original}) | {changed}
    monkeypatch.setattr(code_versions, "_reachable", lambda module: swapped)
    assert before != code_version(TRIALS, STUDY)


def test_what_a_node_job_writes_is_versioned_by_the_nodes_sources():
    assert "scoring.py" in {path.name for path in code_versions._reachable("valuesassets.node.score")}
