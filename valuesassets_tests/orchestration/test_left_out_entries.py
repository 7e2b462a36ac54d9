"""What a form holds beside closed questions is stored beside its extraction, and goes when the form loses it."""

import json
import tomllib

from valuesassets.orchestration.assets.survey.answers import entries_not_asked
from valuesassets.orchestration.first_look.shown import SUMMARY
from valuesassets.orchestration.resources import Storage
from valuesassets.records.questions import read_questions
from valuesassets.records.study import parse_study
from valuesassets_tests.instruments.survey.material.forms.exchange.test_qsf import question, survey
from valuesassets_tests.orchestration.one_asset import materialise
from valuesassets_tests.orchestration.test_own_questionnaire import STUDY

FIRST = ("questionnaire_pdf", "extracted_questions")
OPEN = question("job", "What is your job?", kind="TE", selector="SL")
QUOTING = question("sure", "You said ${q://QID0/ChoiceGroup/SelectedChoices}. Are you sure?")


def extract(folder, *questions):
    """The metadata and the data version of the questions of a form of Qualtrics."""
    (folder / "forms").mkdir(exist_ok=True)
    survey(folder, *questions).replace(folder / "forms" / "eng.qsf")
    content = tomllib.loads(STUDY)
    content["questionnaires"]["extractions"] = str(folder / "forms")
    done = materialise(folder / "storage", parse_study(content, "own.toml"), FIRST, "eng")
    assert done.success
    events = done.get_asset_materialization_events()
    (event,) = [each for each in events if each.asset_key.path[-1] == FIRST[1]]
    return event.materialization.metadata[SUMMARY].value, event.materialization.tags["dagster/data_version"]


def test_what_was_left_out_of_a_form_lies_beside_the_questions_and_is_told(tmp_path):
    summary, version = extract(tmp_path, question("happy"), QUOTING, OPEN)
    stored = tmp_path / "storage" / "own" / "survey" / "extracted_questions" / "eng.left_out.json"
    (entry,) = json.loads(stored.read_text(encoding="utf-8"))
    assert (entry["id"], entry["text"]) == ("job", "What is your job?")
    assert entry["reason"].startswith("an open question")
    assert summary.endswith("; 1 cannot be asked as they stand; 1 entry of the form left out")
    questions = read_questions(stored.with_name("eng.json"))
    form = entries_not_asked(Storage(root=str(tmp_path / "storage"), study="own"), {"eng": questions})["eng"]
    assert ([each["id"] for each in form.entries], form.n_asked) == (["job", "sure"], 1)
    whole, other = extract(tmp_path, question("happy"), QUOTING)
    assert not stored.exists()
    assert whole.endswith("; 1 cannot be asked as they stand")
    assert other != version  # the report lists what was left out
