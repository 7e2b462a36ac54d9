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


def test_a_text_may_be_one_for_each_language_and_the_preamble_begins_what_the_system_says(tmp_path):
    text = 'style = "chat"\nsystem = { eng = "Be brief.", deu = "" }\n'
    prompting = load(tmp_path, f'{text}preamble = "You live here."\n')
    assert prompting.system_in("eng") == "You live here.\nBe brief."
    assert prompting.in_language("deu") == Prompting(style="chat", system="You live here.")
    assert [each.system for each in prompting.variants()] == ["You live here.\nBe brief.", "You live here."]
    prompting.check(["eng", "deu"])
    with pytest.raises(ValueError, match=r'^prompting.system: no text in fra, ita; add fra = "..."$'):
        prompting.check(["ita", "eng", "fra"])
    assert Prompting.model_validate(prompting.model_dump(mode="json")) == prompting
    assert load(tmp_path, 'preamble = { eng = "You live here." }') == Prompting(preamble={"eng": "You live here."})


def test_without_a_preamble_what_is_written_and_hashed_is_what_it_was():
    assert list(Prompting(style="chat", system="Be brief.").model_dump(mode="json")) == [
        *("style", "system", "answer_prefix", "thinking", "template_arguments", "template_date")
    ]
    plain = Prompting(style="chat", system="Be brief.")
    assert plain.in_language("eng") is plain
    assert plain.variants() == [plain]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('preamble = ""', "prompting.toml: preamble: an empty text says nothing; write one, or leave it out"),
        ('preamble = { eng = " " }', "preamble: an empty text says nothing"),
        ("preamble = {}", "preamble: an empty text says nothing"),
        (
            'preamble = { English = "x" }',
            "prompting.toml: key 'preamble': a text in quotes, or a table of one for each",
        ),
        ("preamble = { eng = 7 }", "prompting.toml: key 'preamble': a text in quotes, or a table of one for each"),
        ('style = "chat"\nsystem = {}', "system: a table without a language says nothing; add one, or leave it out"),
        (
            'style = "chat"\nsystem = { eng = "a" }\npreamble = { deu = "b" }',
            "preamble and system name different languages; name the same in both",
        ),
        ('system = "Be brief."', "prompting.toml: system: for style = 'chat', and the style is 'text'"),
        ('stile = "chat"', r"prompting.toml: unknown key 'stile' \(did you mean 'style'\?\)"),
        ('style = "chat', "prompting.toml: not TOML"),
        (
            'style = "chat"\nsystem = 7',
            "prompting.toml: key 'system': a text in quotes, or a table of one for each language",
        ),
        ('style = "chat"\ntemplate_arguments = { messages = 1 }', "names messages: the trial says it; leave it out"),
        ('style = "chat"\nthinking = "on"', "answer_prefix = 'cue' begins the answer for the model"),
        ('style = "chat"\ntemplate_arguments = { a = [1] }', "key 'template_arguments"),
    ],
)
def test_a_fault_is_one_line_with_file_and_key(tmp_path, text, said):
    with pytest.raises(InputError, match=said) as error:
        load(tmp_path, text)
    assert "\n" not in str(error.value)
