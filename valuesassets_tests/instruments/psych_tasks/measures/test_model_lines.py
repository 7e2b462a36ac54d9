"""Which models are taken for one line, by name and as a study declares it."""

import pandas as pd
import pytest

from valuesassets.instruments.psych_tasks.measures.model_lines import line_of_name, lines_of, lines_of_study, with_lines
from valuesassets.records.errors import StudyError
from valuesassets.records.study import load_study

STUDY = """
name = "lines"
title = "Lines"
seed = 1
[psych_tasks.tasks.care]
transcripts = "people.jsonl"
{lines}
[families.small]
kind = "huggingface"
model_type = "multi"
model_id = "google/gemma-3-270m-it"
[families.large]
kind = "huggingface"
model_type = "multi"
model_id = "google/gemma-3-1b-it"
[families.other]
kind = "huggingface"
model_type = "multi"
model_id = "somebody/merged-gemma-phi"
"""


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("google/gemma-3-270m-it", "gemma"),
        ("google/gemma-3-1b-pt", "gemma"),
        ("Qwen/Qwen2.5-7B-Instruct", "qwen"),
        ("Qwen/Qwen3-8B", "qwen"),
        ("meta-llama/Llama-3.2-1B", "llama"),
        ("mistralai/Mixtral-8x7B-v0.1", "mixtral"),
        ("openai-community/gpt2", "gpt"),
        ("openai-community/gpt2-xl", "gpt"),
        ("/somewhere/SmolLM2-135M-Instruct", "smollm"),
        ("gemma-3-4b-it-q4_0.gguf", "gemma"),
        ("m05", "m05"),
        ("model_1", "model_1"),
        ("goldfish-models/{lang}_latn_full", "goldfish-models/{lang}_latn_full"),
    ],
)
def test_a_line_is_what_stands_before_the_size(name, line):
    assert line_of_name(name) == line


def read(tmp_path, lines):
    (tmp_path / "people.jsonl").write_text("", encoding="utf-8")
    (tmp_path / "study.toml").write_text(STUDY.format(lines=lines), encoding="utf-8")
    return load_study(tmp_path / "study.toml")


def test_a_study_has_lines_by_name_and_declares_others(tmp_path):
    assert lines_of_study(read(tmp_path, "")) == {"small": "gemma", "large": "gemma", "other": "merged-gemma-phi"}
    declared = read(tmp_path, '[psych_tasks.lines]\nother = "gemma"')
    assert lines_of_study(declared)["other"] == "gemma"
    with pytest.raises(StudyError, match=r"psych_tasks.lines: nobody is no family of the study"):
        read(tmp_path, '[psych_tasks.lines]\nnobody = "gemma"')


def test_rows_have_the_line_that_was_said_else_that_of_the_name():
    frame = with_lines(pd.DataFrame({"model": ["a-7b", "b", "a-7b"]}), {"b": "a"})
    assert frame["line"].tolist() == ["a", "a", "a"]
    assert lines_of(frame, ["b", "a-7b"]) == ["a", "a"]
    assert lines_of(frame.drop(columns="line"), ["b", "a-7b"]) == ["b", "a-7b"]
