import itertools

import pytest

from valuesassets.models import sampling
from valuesassets.models.loading import load_model
from valuesassets.models.sampling import sample_answers
from valuesassets_tests.models.brute_force import BruteForce
from valuesassets_tests.tiny_models import PROMPTS, sentencepiece_like, write_model

N, DEPTH, WIDTH = 100_000, 3, 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of two layers that is sure enough of itself for a few answers to come often."""
    return str(write_model(tmp_path_factory.mktemp("drawn") / "m", sentencepiece_like(), seed=4, spread=0.7))


@pytest.mark.slow
def test_every_draw_goes_on_from_what_it_has_drawn_itself(folder, monkeypatch):
    monkeypatch.setattr(sampling, "MAX_NEW_TOKENS", DEPTH)
    loaded, oracle = load_model(folder, dtype="float32"), BruteForce(folder)
    start = oracle.ids(PROMPTS[0])
    probs = {(): 1.0}
    for _ in range(DEPTH):
        longer = {}
        for tokens, prob in probs.items():
            found = oracle.next_probs([*start, *tokens])
            longer |= {(*tokens, token): prob * float(found[token]) for token in found.topk(WIDTH).indices.tolist()}
        probs = longer
    expected = {}
    for tokens, prob in probs.items():
        text = loaded.tokenizer.continuation_text(start, tokens)
        if "\n" not in text and not loaded.eos_ids & set(tokens):
            expected[text] = expected.get(text, 0.0) + prob
    (drawn,) = sample_answers(loaded, PROMPTS[:1], N, seed=1)
    assert sum(drawn.values()) == N
    assert sum(prob > 0.001 for prob in expected.values()) > 10
    # Other tokens may spell the same text, so it may come more often than this, never less.
    for text, prob in expected.items():
        assert drawn[text] / N > prob - 5 * (prob * (1 - prob) / N) ** 0.5, text


def test_answers_end_with_their_line_or_after_so_many_tokens(folder):
    loaded = load_model(folder, dtype="float32")
    seen = []
    drawn = sample_answers(loaded, PROMPTS[:2], 300, 2, on_progress=lambda done, total: seen.append((done, total)))
    assert all(text.find("\n") in (-1, len(text) - 1) for text in itertools.chain(*drawn))
    assert [sum(texts.values()) for texts in drawn] == [300, 300]
    assert seen == [(1, 2), (2, 2)]
