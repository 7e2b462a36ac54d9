"""A file on prompting, which `valuesassets read` takes."""

import datetime

import pytest

from valuesassets.records.errors import InputError
from valuesassets.records.settings.prompting import Prompting, load_prompting


def load(folder, text):
    (folder / "prompting.toml").write_text(text, encoding="utf-8")
    return load_prompting(folder / "prompting.toml")


def test_a_file_has_the_keys_of_the_study_files_table(tmp_path):
    arguments = {"level": "low", "n": 2, "share": 0.5, "is_short": True}
    text = 'style = "chat"\ntemplate_date = 2026-01-05\n'
    text += 'template_arguments = { level = "low", n = 2, share = 0.5, is_short = true }\n'
    found = load(tmp_path, text)
    assert found == Prompting(style="chat", template_date=datetime.date(2026, 1, 5), template_arguments=dict(arguments))
    assert [type(value) for value in found.template_arguments.values()] == [str, int, float, bool]
    assert Prompting.model_validate(found.model_dump(mode="json")) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('system = "Be brief."', "prompting.toml: system: for style = 'chat', and the style is 'text'"),
        ('stile = "chat"', r"prompting.toml: unknown key 'stile' \(did you mean 'style'\?\)"),
        ('style = "chat', "prompting.toml: not TOML"),
        ('style = "chat"\nsystem = 7', "key 'system': "),
        ('style = "chat"\ntemplate_arguments = { messages = 1 }', "names messages: the trial says it; leave it out"),
        ('style = "chat"\nthinking = "on"', "answer_prefix = 'cue' begins the answer for the model"),
        ('style = "chat"\ntemplate_arguments = { a = [1] }', "key 'template_arguments"),
    ],
)
def test_a_fault_is_one_line_with_file_and_key(tmp_path, text, said):
    with pytest.raises(InputError, match=said) as error:
        load(tmp_path, text)
    assert "\n" not in str(error.value)
