"""Published prompts: the texts of the user's copy in a frame of ours."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.answers.decoded_ratings import parse_rating
from valuesassets.instruments.worldvaluesbench.material.backgrounds import load_backgrounds
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
from valuesassets.instruments.worldvaluesbench.published.prompts import (
    FIGURES,
    WITH_ATTRIBUTES,
    WITHOUT,
    read_published_texts,
    write_published_trials,
)
from valuesassets.records.errors import StudyError
from valuesassets.records.parquet import read_trials, trial_rows, write_table
from valuesassets.records.tables import TRIALS
from valuesassets_tests.needs import shared_file

ATTRIBUTES = ("B_COUNTRY", "H_URBRURAL", "Q275")
PAIRS = pd.DataFrame(
    {
        "profile": ["B_COUNTRY=156,H_URBRURAL=1,Q275=3", "B_COUNTRY=404", "B_COUNTRY=404"],
        "question_id": ["Q1", "Q1", "Q94"],
    }
)


@pytest.fixture
def copy(tmp_path) -> Path:
    """A made-up copy of the published folder."""
    choices = {each.id: {"0": "zero", "-1": "unknown"} for each in load_backgrounds().attributes}
    choices["B_COUNTRY"] = {"156": "Land A", "404": "Land B", "-1": "unknown"}
    codebook = {"version": "1"} | {name: {"choices": labels} for name, labels in choices.items()}
    questions = {"B_COUNTRY": "Which land?", "H_URBRURAL": "Town?", "Q275": "School?", "Q1": "Kin?", "Q94": "Church?"}
    (tmp_path / "codebook.json").write_text(json.dumps(codebook))
    (tmp_path / "question_metadata.json").write_text(json.dumps({k: {"question": v} for k, v in questions.items()}))
    return tmp_path


def test_the_person_is_told_in_the_words_of_the_users_copy(copy):
    first, second, _ = write_published_trials(PAIRS, read_published_texts(copy), 5, ATTRIBUTES)
    background = first.prompt.partition("\n\n")[0]
    assert background.endswith(
        "1. Question: Which land?\n Answer: Land A\n2. Question: Town?\n Answer: 1\n3. Question: School?\n Answer: 3"
    )
    assert "Question: Kin?" in first.prompt
    assert "School?" not in second.prompt
    assert (first.condition, first.wording, first.readout) == (PAIRS["profile"][0], 5, WITH_ATTRIBUTES)


def test_without_attributes_each_question_is_asked_once_with_230_draws(copy):
    for figure in (9, 10):
        trials = write_published_trials(PAIRS, read_published_texts(copy), figure, ATTRIBUTES)
        assert [trial.trial_id for trial in trials] == [f"Q1/figure_{figure}", f"Q94/figure_{figure}"]
        assert {trial.condition for trial in trials} == {None}
        assert "Land" not in trials[0].prompt
        assert trials[0].readout == WITHOUT
    assert (WITHOUT.temperature, WITHOUT.samples, WITHOUT.stop) == (0.7, 230, ("\n\n",))
    assert (WITH_ATTRIBUTES.temperature, WITH_ATTRIBUTES.samples) == (0, 1)


def test_figures_differ_where_theirs_do(copy):
    texts = read_published_texts(copy)
    prompts = {figure: write_published_trials(PAIRS, texts, figure, ATTRIBUTES)[0].prompt for figure in FIGURES}
    assert prompts[6] == prompts[7]
    assert len(set(prompts.values())) == 5
    assert all(("JSON" in prompts[figure]) == (figure in (5, 9)) for figure in FIGURES)
    assert all(("whole number" in prompts[figure]) == (figure not in (8, 10)) for figure in FIGURES)


def test_an_answer_in_the_form_that_is_asked_for_can_be_read(copy):
    prompt = write_published_trials(PAIRS, read_published_texts(copy), 5, ATTRIBUTES)[0].prompt
    form = re.sub(r"\.\.\. a whole number \.\.\.", "3", prompt[prompt.index("{") :])
    assert parse_rating(form, load_value_questions()["Q1"]) == 3


def test_published_frames_beside_the_questions_are_used_to_the_letter(copy):
    (copy / "figure_8.txt").write_text("Told: {attributes}\nAsked: {question}\n")
    trials = write_published_trials(PAIRS.iloc[[1]], read_published_texts(copy), 8, ATTRIBUTES)
    assert trials[0].prompt == "Told: 1. Question: Which land?\n Answer: Land B\nAsked: Kin?"
    (copy / "figure_8.txt").write_text("Asked: {question}\n")
    with pytest.raises(StudyError, match=r"figure_8.txt: \{attributes\} is not in it; put it where the text belongs$"):
        read_published_texts(copy)


def test_braces_in_what_a_copy_says_are_no_places(copy):
    texts = read_published_texts(copy)
    texts.answers["B_COUNTRY"][156] = "{question}"
    prompt = write_published_trials(PAIRS.iloc[[0]], texts, 5, ATTRIBUTES)[0].prompt
    assert "Answer: {question}" in prompt
    assert prompt.count("Kin?") == 1


def test_published_trials_come_back_from_their_file(copy, tmp_path):
    trials = write_published_trials(PAIRS, read_published_texts(copy), 10, ATTRIBUTES)
    write_table(tmp_path / "trials.parquet", trial_rows(trials), TRIALS)
    assert read_trials(tmp_path / "trials.parquet") == trials


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("codebook.json", None, "codebook.json: no such file; check the path"),
        ("codebook.json", "[]", "codebook.json: list found, an object by question was expected"),
        ("codebook.json", "{}", "codebook.json: A_YEAR.choices: an object was expected; name the published codebook"),
        ("question_metadata.json", '{"Q1": {}}', "metadata.json: Q1.question: a text was expected; name the published"),
        ("question_metadata.json", "{", "metadata.json: line 1, column 2: not JSON"),
    ],
)
def test_a_broken_copy_is_told_in_one_line(copy, name, content, message):
    (copy / name).unlink()
    if content is not None:
        (copy / name).write_text(content)
    with pytest.raises(StudyError, match=re.escape(message)) as caught:
        read_published_texts(copy)
    assert "\n" not in str(caught.value)


def test_an_unknown_figure_attribute_or_question_is_told(copy):
    texts = read_published_texts(copy)
    with pytest.raises(StudyError, match=r"^figure 4 found; one of 5, 6, 7, 8, 9, 10 was expected$"):
        write_published_trials(PAIRS, texts, 4, ATTRIBUTES)
    with pytest.raises(StudyError, match=r"^attributes: Q1 unknown"):
        write_published_trials(PAIRS, texts, 5, ("Q1",))
    with pytest.raises(StudyError, match=r"^question_metadata.json: Q2 is not in it; name the published folder"):
        write_published_trials(PAIRS.assign(question_id="Q2"), texts, 5, ATTRIBUTES)


@pytest.mark.published
def test_the_benchmarks_own_files_give_a_prompt_for_all_42_attributes_and_239_questions():
    folder = shared_file("data", "wvb", "codebook.json").parent
    texts = read_published_texts(folder)
    backgrounds = load_backgrounds().named_by(texts.answers)
    profile = ",".join(
        f"{each.id}={min(backgrounds.attribute(each.id).labels, default=2018)}" for each in backgrounds.attributes
    )
    pairs = pd.DataFrame({"profile": profile, "question_id": list(load_value_questions())})
    trials = write_published_trials(pairs, texts, 7, [each.id for each in backgrounds.attributes])
    assert len(trials) == 239
    assert all("\n42. Question: " in trial.prompt for trial in trials)
    assert trials[0].prompt.count("On a scale of 1 to 4") == 1
