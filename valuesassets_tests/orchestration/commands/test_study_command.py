"""`run --only` on a study of which nothing is there yet."""

from valuesassets.definitions import build_definitions
from valuesassets.orchestration.assets.declaring import ASKING
from valuesassets.orchestration.commands.study_command import _made_first
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.records.study import load_study


def first(folder, noun):
    graph = build_definitions(load_study("demo_survey"), folder).get_repository_def().asset_graph
    return {key.path[-1] for key in _made_first({SURVEY.key(noun)}, graph, folder / "demo_survey")}


def test_what_an_asset_rests_on_is_made_first_where_there_is_none(tmp_path, capsys):
    assert first(tmp_path, "trials") == {
        "questionnaire_pdf", "extracted_questions", "master_questions", "aligned_questions"
    }  # fmt: skip
    assert "made first, since there is none yet: survey/aligned_questions, survey/ex" in capsys.readouterr().err
    stored = tmp_path / "demo_survey/survey/extracted_questions/eng.json"
    stored.parent.mkdir(parents=True)
    stored.touch()
    assert first(tmp_path, "trials") == {"master_questions", "aligned_questions"}
    assert first(tmp_path, "master_questions") == set()


def test_no_model_is_asked_for_it(tmp_path):
    names = first(tmp_path, "report")
    assert "human_distributions" in names
    assert not names & ASKING


def test_an_asset_that_is_there_brings_nothing(tmp_path, capsys):
    for noun in ("aligned_questions", "extracted_questions"):
        (tmp_path / "demo_survey/survey" / noun).mkdir(parents=True)
        (tmp_path / "demo_survey/survey" / noun / "eng.json").touch()
    assert first(tmp_path, "trials") == set()
    assert capsys.readouterr().err == ""
