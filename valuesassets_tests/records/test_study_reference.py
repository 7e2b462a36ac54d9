from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.records.study_reference import study_reference
from valuesassets_tests.records.test_study import StudyOfTasks


def test_the_page_on_the_study_file_has_every_key_as_the_records_have_it():
    page = (REPOSITORY / "docs" / "study_file.md").read_text(encoding="utf-8")
    assert page == study_reference(), "python -m valuesassets_tests.records.study_reference > docs/study_file.md"


def test_a_key_has_type_unit_default_and_description():
    rows = study_reference().splitlines()
    assert "| `poll_seconds` | number, more than 0, seconds | `10.0` | Time between two queries to Slurm. |" in rows
    assert "| `wordings` | whole number, more than 0 | `1` |" in "\n".join(rows)
    assert {"## `[languages.<name>]`", "## `[[human.files]]`", "## `[questionnaires.gemini.prices]`"} <= set(rows)
    assert len([row for row in rows if row.startswith("| `")]) > 90


def test_another_instruments_table_is_listed_with_its_keys():
    page = study_reference(StudyOfTasks)
    named = ("questionnaires", "worldvaluesbench", "psych_tasks", "cultural_robustness", "worldwise")
    assert f"{', '.join(f'`[{each}]`' for each in named)} and `[tasks]`" in page
    assert "| `tasks` | array of text | - | Which tasks are put to the models. |" in page
