"""Texts that real weights write without drawing: those of `generate`."""

import pytest

from valuesassets_tests.models.writers import asked, by_generate, texts, written

pytestmark = [pytest.mark.slow, pytest.mark.real]
BEGUN = ("The weather today is", "Une famille se compose de", "What matters in life?\nAnswer:", "1, 2, 3,")


def test_greedy_texts_are_those_of_generate(real):
    trials = [asked(prompt, prompt, max_tokens=12, temperature=0) for prompt in BEGUN]
    result = written(real.loaded, trials)
    assert texts(result) == by_generate(real.loaded, trials)
    assert result.certificate.agrees
