import json

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from valuesassets.models.tokenizer_report import CONTEXT, report_tokenizer
from valuesassets.spelling.prompt_tokenizer import PromptTokenizer, describe_tokenizer
from valuesassets.spelling.spellings import find_terminators, spell_labels
from valuesassets_tests.tiny_models import PROMPTS, byte_level, sentencepiece_like


def report(hf, rows=None, eos_ids=frozenset(), bos="template"):
    return report_tokenizer(describe_tokenizer(hf, "t", rows or len(hf), bos), frozenset(eos_ids))


def test_a_tokenizer_in_the_manner_of_sentencepiece():
    hf = sentencepiece_like()
    found = report(hf, eos_ids={hf.eos_token_id})
    assert (found["bos"], found["bos_rule"]) == (["<bos>"], "template")
    assert found["answers"]["7"] == ["7"]
    assert found["answers"]["10"] == ["1", "0"]
    assert found["answers"][" 10"] == ["▁", "1", "0"]
    assert found["digits_are_single"]
    assert found["leading_space"] == "own token"
    assert found["terminators"] == {"\n": "\n", "\n\n": None, "\r\n": None, " ": "▁", ".": ".", ",": "<0x2C>"}
    assert found["eos"] == ["<eos>"]
    assert found["vocabulary"] == found["embedding_rows"] == len(hf)
    assert (found["beyond_embedding"], found["round_trip"]) == (0, "ok")


def test_a_byte_level_tokenizer():
    found = report(byte_level())
    assert (found["bos"], found["eos"]) == ([], [])
    assert found["answers"][" 1"] == ["Ġ1"]
    assert found["answers"]["10"] == ["10"]
    assert found["leading_space"] == "merged"
    assert found["terminators"]["\n"] == "Ċ"
    assert found["terminators"]["\r\n"] is None


def test_what_the_embedding_lacks_is_counted_and_named():
    hf = sentencepiece_like()
    rows = len(hf)
    hf.add_tokens(["<extra>", "\n\n"])
    found = report(hf, rows, {1, rows, rows + 7})
    assert (found["beyond_embedding"], found["beyond_embedding_first"]) == (2, ["<extra>", "\n\n"])
    assert (found["eos"], found["eos_beyond_embedding"]) == (["<eos>"], [rows, rows + 7])
    assert found["terminators"]["\n\n"] is None
    assert (found["vocabulary"], found["embedding_rows"]) == (rows + 2, rows)


def merging_colon(ends=(":1", ":2")):
    """A tokenizer that writes ":1" as one token."""
    characters = sorted(set("".join(PROMPTS) + "0123456789\n:. A"))
    vocabulary = {token: i for i, token in enumerate([*characters, *ends])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[(end[0], end[1]) for end in ends]))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("\n", "isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, clean_up_tokenization_spaces=False)


def test_a_tokenizer_that_merges_the_colon_with_the_answer_shows_it():
    found = report(merging_colon())
    assert found["answers"]["1"] is None
    assert found["answers"]["3"] == ["3"]
    assert found["leading_space"] is None
    assert not found["digits_are_single"]


def test_a_space_that_is_lost_is_said_to_be():
    whole = Tokenizer(models.WordLevel({"<unk>": 0, **{str(n): n for n in range(1, 11)}, "Answer:": 11}, "<unk>"))
    whole.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits()])
    tokenizer = PromptTokenizer(PreTrainedTokenizerFast(tokenizer_object=whole, unk_token="<unk>"), "words", ())
    found = report_tokenizer(tokenizer, frozenset())
    assert found["leading_space"] == "lost"
    assert found["terminators"]["."] is None
    assert "no token for what stands" in found["round_trip"]


@pytest.mark.parametrize("rule", ["template", "always", "never"])
def test_how_prompts_begin_is_told_with_its_rule(rule):
    found = report(sentencepiece_like(), bos=rule)
    assert (found["bos"], found["bos_rule"]) == ([] if rule == "never" else ["<bos>"], rule)


def test_the_report_is_json_and_names_the_ends_that_the_scorer_counts(loaded):
    described = loaded.describe()["tokenizer_report"]
    assert json.loads(json.dumps(described)) == described
    spelled = spell_labels(loaded.tokenizer, CONTEXT, ["1", "1x"])
    ends = find_terminators(loaded.tokenizer, spelled, loaded.eos_ids)
    spaced = next(found for node, found in ends.items() if spelled.texts[node] == " 1")
    named = {*filter(None, described["terminators"].values()), *described["eos"]}
    assert named == set(loaded.tokenizer.hf.convert_ids_to_tokens(sorted(spaced)))
