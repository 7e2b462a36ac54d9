"""The tokenizer beside an adapter, where there is one, is that of its base."""

import json
import re
import shutil
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from valuesassets.models.loading import open_model
from valuesassets.records.errors import TokenizerError
from valuesassets.records.settings.prompting import Prompting
from valuesassets_tests.peft_adapters import write_adapter
from valuesassets_tests.tiny_chats import CHATML, LLAMA3, write_chat_model
from valuesassets_tests.tiny_models import byte_level

CHAT = Prompting(style="chat")


@pytest.fixture(scope="module")
def chat_base(tmp_path_factory):
    return write_chat_model(tmp_path_factory.mktemp("base") / "chat", "chatml")


@pytest.fixture(scope="module")
def trained(chat_base, tmp_path_factory):
    return write_adapter(tmp_path_factory.mktemp("trained") / "run7", chat_base, target_modules=["q_proj"])


@pytest.fixture
def adapter(trained, tmp_path):
    return Path(shutil.copytree(trained, tmp_path / "run7"))


def save_tokenizer(base, adapter, **changes):
    """The base's tokenizer, changed, beside an adapter, as training leaves it."""
    tokenizer = AutoTokenizer.from_pretrained(base)
    for name, value in changes.items():
        setattr(tokenizer, name, value)
    tokenizer.save_pretrained(adapter)
    return tokenizer


def test_the_tokenizer_of_the_base_beside_the_adapter_is_no_fault(chat_base, adapter):
    save_tokenizer(chat_base, adapter, padding_side="left", model_max_length=512)
    settings = json.loads((adapter / "tokenizer.json").read_text())
    settings["truncation"] = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}
    (adapter / "tokenizer.json").write_text(json.dumps(settings))
    for prompting in (Prompting(), CHAT):
        opened = open_model(str(chat_base), adapter=str(adapter), prompting=prompting)
        assert opened.tokenizer.sha256 == open_model(str(chat_base), prompting=prompting).tokenizer.sha256


def refused(base, adapter, prompting=CHAT):
    with pytest.raises(TokenizerError) as caught:
        open_model(str(base), adapter=str(adapter), prompting=prompting)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{adapter}: its tokenizer ")
    return message


def test_a_token_that_the_base_has_not_is_named(chat_base, adapter):
    tokenizer = save_tokenizer(chat_base, adapter)
    number = len(tokenizer)
    tokenizer.add_tokens(["<pad!>"])
    tokenizer.save_pretrained(adapter)
    assert f"is not the base's: it has '<pad!>' as token {number}, the other has not" in refused(chat_base, adapter)


def test_a_token_that_only_the_base_has_is_named(chat_base, adapter):
    byte_level().save_pretrained(adapter)
    message = refused(chat_base, adapter, Prompting())
    assert re.search(r"is not the base's: the base has '.*' as token 0, the other has not; name the base", message)


def test_the_same_entries_cut_otherwise_are_another_tokenizer(chat_base, adapter):
    save_tokenizer(chat_base, adapter)
    settings = json.loads((adapter / "tokenizer.json").read_text())
    settings["model"]["merges"] = []
    (adapter / "tokenizer.json").write_text(json.dumps(settings))
    assert "is not the base's: it cuts words otherwise" in refused(chat_base, adapter, Prompting())


def test_another_chat_template_counts_in_a_chat_alone(chat_base, adapter):
    save_tokenizer(chat_base, adapter, chat_template=LLAMA3)
    assert "is not the base's: has another chat template" in refused(chat_base, adapter)
    assert open_model(str(chat_base), adapter=str(adapter)).adapter is not None
    save_tokenizer(chat_base, adapter, chat_template=CHATML)
    assert open_model(str(chat_base), adapter=str(adapter), prompting=CHAT).adapter is not None


def test_a_tokenizer_that_cannot_be_read_is_one_line(chat_base, adapter):
    (adapter / "tokenizer.json").write_text('{"version": "1.0"}')
    assert "cannot be read: " in refused(chat_base, adapter)
