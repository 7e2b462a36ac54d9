"""Answers for Stata and SPSS: names that both take, labels that tell the items of a battery apart."""

import pandas as pd
import pyreadstat
import pytest

from valuesassets.records.questions import Question, write_questions
from valuesassets.records.tables import PROBE_DISTRIBUTIONS
from valuesassets.reporting.item_files import STATA_LABEL, item_files, items_of, shortened, variable_names

STEM = (
    "Please tell me for each of the following, on a scale that runs from a great deal to not at all, how much you trust"
)
ITEMS = ("the police", "the press", "the courts", "the parliament")
IDS = ("model", "q.1", "Щастя", "7")
OPTIONS = [{"value": 1, "label": "a great deal"}, {"value": 2, "label": "not at all"}]


def battery():
    return [
        Question.model_validate(
            {"id": name, "text": f"{STEM}: {item}", "stem": STEM, "item": item, "response_type": "binary"}
            | {"options": OPTIONS}
        )
        for name, item in zip(IDS, ITEMS, strict=True)
    ]


def answers():
    cell = {"model": "m", "model_type": "mono", "model_id": "m/eng", "language": "eng"}
    shared = {"response_type": "binary", "status": "ok", "prob_averaged": 0.5, "wording": 0}
    rows = [
        {**cell, **shared, "question_id": name, "response_value": code, "analysis_value": code}
        for name in IDS
        for code in (1, 2)
    ]
    return pd.DataFrame(rows, columns=pd.Index(PROBE_DISTRIBUTIONS.names))


def test_the_items_of_a_battery_have_labels_that_differ_within_what_stata_shows():
    _, labels, values = items_of(answers(), {question.id: question for question in battery()})
    shown = [shortened(label, STATA_LABEL) for label in labels.values()]
    assert [label.split(" (")[0] for label in shown] == list(ITEMS)
    assert values["q_1"] == {1: "a great deal", 2: "not at all"}


def test_every_id_has_a_name_of_its_own_that_both_programs_take():
    names = variable_names([*IDS, "MODEL", "with", "x" * 40, "x" * 41], reserved=["model", "language"])
    assert len({name.casefold() for name in names.values()} | {"model", "language", "with"}) == len(names) + 3
    assert all(name.isascii() and name.isidentifier() and len(name) <= 32 for name in names.values())


@pytest.mark.parametrize("kind", ["dta", "sav"])
def test_answers_carry_the_words_of_their_question_and_option(tmp_path, kind):
    write_questions(tmp_path / "aligned_questions" / "eng.json", battery())
    content = item_files(answers(), PROBE_DISTRIBUTIONS, tmp_path)[f"answers.{kind}"]
    (tmp_path / "answers").write_bytes(content)
    found, _ = (pyreadstat.read_dta if kind == "dta" else pyreadstat.read_sav)(str(tmp_path / "answers"))
    assert set(found.loc[found["question_id"] == "q.1", "question_text"]) == {f"{STEM}: the press"}
    assert found["option_label"].tolist() == ["a great deal", "not at all"] * 4
