"""Terminators by a tokenizer that runs digits and what follows them together."""

import pytest
from tokenizers import Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast

from valuesassets.models.loading import load_model
from valuesassets.records.errors import ScoringError
from valuesassets.spelling.prompt_tokenizer import describe_tokenizer
from valuesassets.spelling.spellings import find_terminators, spell_labels
from valuesassets_tests.scored import score_trials
from valuesassets_tests.tiny_models import trial, write_model

PROMPT = "A:"


def merging(*merged, eos: str | None = "<eos>"):
    """One token per character, and one for each of these pairs."""
    entries = ["<eos>", *"0123456789AB:. ,\r\n", *merged]
    bpe = models.BPE(vocab={entry: n for n, entry in enumerate(entries)}, merges=[tuple(pair) for pair in merged])
    tokenizer = Tokenizer(bpe)
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=eos, clean_up_tokenization_spaces=False)


def ends_of_one(hf):
    """What ends `1` and ` 1` where `10` is a label too."""
    tokenizer = describe_tokenizer(hf, "merging", len(hf))
    spelled = spell_labels(tokenizer, PROMPT, ["1", "10"])
    found = find_terminators(tokenizer, spelled, frozenset({0}))
    return [set(hf.convert_ids_to_tokens(sorted(ends))) for ends in found.values()]


def test_what_ends_a_label_is_one_token_behind_the_labels_own():
    assert ends_of_one(merging()) == [{"<eos>", "\n", " ", ".", ","}] * 2
    # `1.` is one token, `1\n` too, and the second newline behind it is no end of `1`.
    assert ends_of_one(merging("1.", "1\n")) == [{"<eos>", " ", ","}] * 2


def test_a_label_that_nothing_ends_is_refused_not_read(tmp_path):
    folder = write_model(tmp_path / "m", merging("1.", "1\n", "1 ", "1,", eos=None))
    asked = trial(PROMPT, ("1", "10"))
    with pytest.raises(ScoringError, match="no token of its own ends '1' where another label goes on from it"):
        score_trials(load_model(str(folder), dtype="float32", device="cpu"), [asked])
