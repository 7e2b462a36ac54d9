"""Texts of tokens that end anywhere: in the middle of a character, or of a stop text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.models.written_text import count_tokens, whole_text
from valuesassets.records.readouts import cut_at_stop
from valuesassets.spelling.prompt_tokenizer import PromptTokenizer
from valuesassets_tests.tiny_models import byte_level, sentencepiece_like

TOKENIZERS = {
    name: PromptTokenizer(make(), name, ())
    for name, make in {"bytes": byte_level, "pieces and bytes": sentencepiece_like}.items()
}
WRITTEN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufffd"), max_size=12)


@pytest.mark.parametrize("name", TOKENIZERS)
@given(prompt=WRITTEN.filter(bool), written=WRITTEN, left_out=st.integers(0, 3))
def test_characters_that_are_whole_survive_a_cut_behind_them(name, prompt, written, left_out):
    tokenizer = TOKENIZERS[name]
    prompt_ids = tokenizer.encode([f"Q: {prompt}."])[0]
    tokens = tokenizer.encode([f"Q: {prompt}. {written}"])[0]
    if tokens[: len(prompt_ids)] != prompt_ids or tokenizer.decode(tokens) != f"Q: {prompt}. {written}":
        return
    tokens = tokens[len(prompt_ids) :]
    kept = tokens[: len(tokens) - left_out]
    text = whole_text(tokenizer, prompt_ids, kept)
    whole = f" {written}"
    assert whole.startswith(text)
    assert len(whole.encode()) - len(text.encode()) <= sum(
        len(tokenizer.continuation_text(prompt_ids, [token]).encode()) for token in tokens[len(kept) :]
    ) + 3 * bool(left_out)
    assert whole_text(tokenizer, prompt_ids, tokens) == whole


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("text", ["αβγδ", "日本語", "🙂🙃", "é"])
def test_a_character_in_bytes_appears_with_its_last_byte(name, text):
    tokenizer = TOKENIZERS[name]
    prompt_ids = tokenizer.encode(["日本語:語"])[0]
    tokens = tokenizer.encode([f"日本語:語{text}"])[0][len(prompt_ids) :]
    found = [whole_text(tokenizer, prompt_ids, tokens[:n]) for n in range(len(tokens) + 1)]
    assert found[-1] == text
    assert all(text.startswith(part) for part in found)
    assert set(found) == {text[:n] for n in range(len(text) + 1)}


@given(st.text("ab\n", max_size=20), st.lists(st.text("ab\n", min_size=1, max_size=3), max_size=3))
def test_what_is_left_before_a_stop_text_is_the_longest_beginning_without_one(text, stops):
    cut = cut_at_stop(text, stops)
    visible = len(text) - len(text.lstrip())
    found = [
        n for n in range(len(text)) if any(text.startswith(stop, n) for stop in stops if n >= visible or stop.strip())
    ]
    assert cut == (text[: found[0]] if found else None)


@pytest.mark.parametrize("begun", ["", "\n", " \n\n", "\t"])
def test_an_answer_that_begins_on_a_new_line_ends_behind_its_first_one(begun):
    assert cut_at_stop(f"{begun}Bread.\nQ: more", ["\n"]) == f"{begun}Bread."
    assert cut_at_stop(begun, ["\n"]) is None
    assert cut_at_stop(f"{begun}Q: more", ["Q:"]) == begun


@pytest.mark.parametrize("name", TOKENIZERS)
def test_the_tokens_of_a_text_are_the_fewest_that_say_it(name):
    tokenizer = TOKENIZERS[name]
    prompt_ids = tokenizer.encode(["Answer:"])[0]
    tokens = tokenizer.encode(["Answer: Very important\nQ"])[0][len(prompt_ids) :]
    count = count_tokens(tokenizer, prompt_ids, tokens, " Very important")
    assert tokenizer.continuation_text(prompt_ids, tokens[:count]).startswith(" Very important")
    assert not tokenizer.continuation_text(prompt_ids, tokens[: count - 1]).startswith(" Very important")
