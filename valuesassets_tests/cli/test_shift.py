"""`valuesassets shift`: what could be seen before a run, and what was seen after it."""

import pandas as pd
import pytest

from valuesassets.instruments.survey.tables import SHIFT_TABLES
from valuesassets.records.files import read_json
from valuesassets.records.parquet import write_table
from valuesassets.records.places import STUDIES
from valuesassets.records.questions import write_questions
from valuesassets.records.tables import HUMAN_DISTRIBUTIONS, TABLES
from valuesassets_tests.cli.commands import refuse, succeed
from valuesassets_tests.instruments.survey.measures.test_shift import QUESTIONS, a_grid, a_study, derived
from valuesassets_tests.instruments.survey.measures.test_shift_before_run import of_people

SHIFT = """
[shift.tuning]
before = "reference-multi"
after = "reference-mono"
toward = ["GB"]
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.setenv("VALUESASSETS_STORAGE", str(tmp_path / "storage"))
    path = tmp_path / "study.toml"
    path.write_text((STUDIES / "demo_survey.toml").read_text("utf-8") + SHIFT, encoding="utf-8")
    return path


def stored(tmp_path, **tables):
    for name, table in tables.items():
        place = tmp_path / "storage" / "demo_survey" / "survey" / "shift" / f"{name}.parquet"
        place.parent.mkdir(parents=True, exist_ok=True)
        write_table(place, table.to_dict("records"), SHIFT_TABLES.get(name) or TABLES[name])


def test_after_a_run_verdicts_are_printed_with_their_figures(study, tmp_path):
    tables = derived(a_grid(moved=0.5), a_study())
    stored(tmp_path, **{name: tables[name] for name in ("shifts", "verdicts", "moved")})
    moved, caution, towards = succeed("shift", study).splitlines()
    row, change = tables["shifts"].iloc[0], tables["moved"].iloc[0]
    assert moved == (
        "tuning, from reference-multi to reference-mono: answers moved alike in all wordings, by "
        f"{change['repeated_sd_unit']:.3f} scale units a question (p {change['p']:.2g}); this alone does not say where"
    )
    assert caution == "tuning: said of these two checkpoints; another training might have gone elsewhere"
    assert towards.startswith(
        f"tuning, towards GB: moved towards GB; slope {row['slope']:+.3f} [{row['slope_low']:+.3f}, "
    )
    assert towards.endswith(f"; {row['smallest_unit']:.3f} scale units or more are found in four of five cases")


def test_a_country_without_a_verdict_has_its_reason(study, tmp_path):
    tables = derived(a_grid(), a_study(toward=("VN",)))
    stored(tmp_path, **{name: tables[name] for name in ("shifts", "verdicts", "moved")})
    lines = succeed("shift", study).splitlines()
    assert lines[0].startswith("tuning, from reference-multi to reference-mono: answers ")
    assert lines[-1] == "tuning, towards VN: no verdict: no people of VN in the study's files"


def test_a_refused_analysis_says_why(study, tmp_path):
    stored(tmp_path, refused=pd.DataFrame({"reason": ["no people of any country"]}))
    assert "no people of any country" in refuse("shift", study)


def test_before_a_run_the_smallest_shift_is_printed(study, tmp_path):
    survey = tmp_path / "storage" / "demo_survey" / "survey"
    human = of_people().assign(weighted_n=1000.0, effective_n=1000.0, dk_rate=0.0, source="files")
    (survey / "human_distributions").mkdir(parents=True)
    write_table(
        survey / "human_distributions" / "human_distributions.parquet", human.to_dict("records"), HUMAN_DISTRIBUTIONS
    )
    (survey / "aligned_questions").mkdir()
    options = [{"value": value, "label": str(value)} for value in range(1, 6)]
    questions = [question.replace(options=options) for question in QUESTIONS["eng"]]
    write_questions(survey / "aligned_questions" / "eng.json", questions)
    assert read_json(survey / "aligned_questions" / "eng.json")
    output = succeed("shift", study)
    assert output.startswith("tuning, towards GB: a mean move of 0.0")
    assert "80 questions that weigh as" in output
    assert "1 wording, drift 0.05; reference-multi is not read yet, so that its answers are assumed" in output


def test_without_people_and_without_a_shift_one_line_says_what_to_do(study):
    output = refuse("shift", study)
    assert "--only survey/human_distributions` first" in output
    assert "it has no [shift.<name>]; add one" in refuse("shift", "demo_survey")
