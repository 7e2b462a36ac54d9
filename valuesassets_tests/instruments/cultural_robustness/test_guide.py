"""The guide of cultural robustness: what it shows runs, and what it says of files and columns is what there is."""

import json
import re

import pytest

from valuesassets.instruments.cultural_robustness.answers.answer_quality import STATUSES
from valuesassets.instruments.cultural_robustness.material.questions import read_questions
from valuesassets.instruments.cultural_robustness.measures.scores import NAMES
from valuesassets.records.settings.cultural_robustness import CulturalRobustness
from valuesassets.records.study import load_study
from valuesassets_tests.needs import REPOSITORY


@pytest.fixture(scope="module")
def guide():
    return (REPOSITORY / "docs" / "cultural_robustness.md").read_text(encoding="utf-8")


def test_the_study_is_one(guide, tmp_path):
    path = tmp_path / "my_study.toml"
    path.write_text(re.search(r"```toml\n(.*?)```", guide, re.S)[1], encoding="utf-8")
    (tmp_path / "my_questions").mkdir()
    study = load_study(path)
    assert CulturalRobustness.of(study).own_countries(study) == {"deu": "DE", "ell": "GR"}
    assert study.families["EuroLLM"].languages == "card"


def test_files_of_questions_are_as_shown(guide, tmp_path):
    examples = dict(re.findall(r"^(deu_\w+\.jsonl)\s+(\{.*\})$", guide, re.M))
    country = re.search(r"^countries\.csv\s+(anchor,country)\n\s+(7,PL)$", guide, re.M)
    (tmp_path / "countries.csv").write_text("\n".join(country.groups()) + "\n", encoding="utf-8")
    for name, line in examples.items():
        row = json.loads(line)
        for code in ("deu", "eng"):
            lines = [row | {"id": row["id"].replace("12", str(number))} for number in range(12, 17)]
            text = "\n".join(map(json.dumps, lines)) + "\n"
            (tmp_path / name.replace("deu", code)).write_text(text, encoding="utf-8")
    questions = read_questions(tmp_path)["deu"]
    assert questions["country"].dropna().unique().tolist() == ["PL"]


def test_every_score_and_every_status_is_explained(guide):
    assert set(re.findall(r"^\| `(\w+)` \|", guide, re.M)) >= {*NAMES, *STATUSES}
