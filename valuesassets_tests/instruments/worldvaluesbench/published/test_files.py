"""The published files are read from the user's copy, and must be what the bundled scales suppose."""

import json

import pytest

from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
from valuesassets.instruments.worldvaluesbench.published.format import read_published_files
from valuesassets.records.errors import InputError
from valuesassets_tests.instruments.worldvaluesbench.made_files import write_published_files
from valuesassets_tests.needs import shared_file


def edit(folder, name, change):
    path = folder / f"{name}.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def test_wording_and_labels_are_the_files(tmp_path):
    published = read_published_files(write_published_files(tmp_path / "seed_files", ["Q1", "Q94"]))
    assert published.questions["Q94"].question == "from 0 to 2: Q94?"
    assert published.named("value") == ["Q1", "Q94"]
    assert len(published.named("demographic")) == 42
    assert published.labels["Q275"]["3"] == "Q275: é 3"


@pytest.mark.published
def test_the_published_files_agree_with_the_bundled_scales_and_recodings():
    published = read_published_files(shared_file("data", "wvb", "codebook.json").parent)
    assert published.named("value") == list(load_value_questions())


BROKEN = {
    "of another scale": (
        "question_metadata",
        lambda content: content["Q94"].update(answer_scale_max=3),
        r"question_metadata.json: Q94 has a scale of 0 to 3, 0 to 2 was expected; take the published file",
    ),
    "with another recoding": (
        "answer_adjustment",
        lambda content: content.pop("Q56"),
        r"answer_adjustment.json: Q56 is recoded by \{\}, \{'2': '3', '3': '2'\} was expected",
    ),
    "with a recoded attribute": (
        "answer_adjustment",
        lambda content: content.update(Q275={"7": "8"}),
        "Q275 is recoded, though no question",
    ),
    "with an unknown question": (
        "question_metadata",
        lambda content: content.update(Q999=content["Q94"]),
        "codebook.json: no Q999, which question_metadata.json has; take both of one version",
    ),
    "without the id": (
        "question_metadata",
        lambda content: content.pop("D_INTERVIEW"),
        "question_metadata.json: no D_INTERVIEW among its 44 variables",
    ),
    "of another use": (
        "question_metadata",
        lambda content: content["Q94"].update(use_case="other"),
        "question_metadata.json: .*use_case",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file(tmp_path, name):
    file, change, message = BROKEN[name]
    folder = write_published_files(tmp_path / "seed_files", ["Q56", "Q94"])
    edit(folder, file, change)
    with pytest.raises(InputError, match=message) as raised:
        read_published_files(folder)
    assert "\n" not in str(raised.value)


def test_a_folder_or_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere: no such folder"):
        read_published_files(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"question_metadata.json: no such file"):
        read_published_files(tmp_path)
