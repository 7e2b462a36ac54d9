import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valuesassets.instruments.worldwise.answers.vectors import lexical_vectors
from valuesassets.instruments.worldwise.material.exemplars import read_exemplars
from valuesassets.instruments.worldwise.measures.axes import axis_validity, exchanged, fit_axes, held_out_auc
from valuesassets_tests.instruments.worldwise.made_answer_files import exemplar_lines, write_lines


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def drawn(seed, n_pairs, apart=0.0, dimensions=8):
    """Vectors of pairs whose poles lie apart along the first dimension; high ones first."""
    random = np.random.default_rng(seed)
    topics = np.tile(random.normal(size=(n_pairs, dimensions)), (2, 1))
    noise = random.normal(size=topics.shape)
    is_high = np.arange(2 * n_pairs) < n_pairs
    noise[:, 0] += np.where(is_high, apart, -apart)
    return unit(topics + noise), is_high, np.tile(np.arange(n_pairs).astype(str), 2)


def by_hand(vectors, is_high, pairs):
    """The definition, written out."""
    wins = []
    for i, j in itertools.product(np.flatnonzero(is_high), np.flatnonzero(~is_high)):
        out = {i, j} if pairs is None else {k for k in range(len(pairs)) if pairs[k] in (pairs[i], pairs[j])}
        kept = np.array([k not in out for k in range(len(vectors))])
        axis = vectors[kept & is_high].mean(axis=0) - vectors[kept & ~is_high].mean(axis=0)
        wins.append(vectors[i] @ axis > vectors[j] @ axis)
    return np.mean(wins)


@given(st.integers(0, 10**6), st.integers(3, 6), st.booleans())
@settings(max_examples=25, deadline=None)
def test_held_out_auc_is_its_definition(seed, n_pairs, is_paired):
    vectors, is_high, names = drawn(seed, n_pairs, apart=0.5)
    pairs = names if is_paired else None
    labels = np.vstack([is_high, exchanged(is_high, pairs, 2, np.random.default_rng(seed))])
    aucs = held_out_auc(vectors @ vectors.T, labels, pairs)
    assert aucs == pytest.approx([by_hand(vectors, each, pairs) for each in labels])


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_poles_that_change_places_everywhere_change_nothing(seed):
    vectors, is_high, pairs = drawn(seed, 5)
    one, other = held_out_auc(vectors @ vectors.T, np.vstack([is_high, ~is_high]), pairs)
    assert one == pytest.approx(other)


def test_level_sentences_count_half():
    assert held_out_auc(np.ones((6, 6)), np.array([[True] * 3 + [False] * 3])).tolist() == [0.5]


def test_poles_are_exchanged_within_pairs_and_shuffled_where_there_are_none():
    _, is_high, pairs = drawn(0, 6)
    within = exchanged(is_high, pairs, 200, np.random.default_rng(1))
    assert (within[:, :6] != within[:, 6:]).all()
    assert within[:, 0].mean() == pytest.approx(0.5, abs=0.12)
    shuffled = exchanged(is_high, None, 200, np.random.default_rng(1))
    assert (shuffled.sum(axis=1) == 6).all()
    assert not (shuffled[:, :6] != shuffled[:, 6:]).all()


@pytest.mark.slow
def test_p_values_of_sentences_without_a_pole_are_even():
    """Of 200 made axes with nothing to find, a twentieth has p <= .05, within three standard errors."""
    p = []
    for seed in range(200):
        vectors, is_high, pairs = drawn(seed, 8)
        labels = np.vstack([is_high, exchanged(is_high, pairs, 99, np.random.default_rng(seed))])
        auc, *chance = held_out_auc(vectors @ vectors.T, labels, pairs)
        p.append((1 + np.sum(np.array(chance) >= auc - 1e-12)) / 100)
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 200))


def test_an_axis_of_words_is_valid_by_words_and_says_why_where_it_is_not(tmp_path):
    lines = exemplar_lines(["IDV", "PDI"])
    random = np.random.default_rng(0)
    texts = [line.rpartition(",")[2] for line in lines[13:]]
    shuffled = [
        f"{line.rpartition(',')[0]},{texts[k]}" for line, k in zip(lines[13:], random.permutation(12), strict=True)
    ]
    sentences = read_exemplars(write_lines(tmp_path / "e.csv", [*lines[:13], *shuffled]))
    axes = fit_axes(sentences, lexical_vectors(list(sentences["text"])).toarray())
    assert (axes["IDV"].held_out_auc, axes["IDV"].is_valid, axes["IDV"].reason) == (1.0, True, None)
    assert axes["IDV"].p <= 0.05
    assert not axes["PDI"].is_valid
    assert axes["PDI"].reason == (
        f"the axis is not valid: held-out AUC {axes['PDI'].held_out_auc:.2f}, p {axes['PDI'].p:.3f}, at least 0.75 and "
        "at most 0.05 were expected"
    )
    table = axis_validity(axes)
    assert table["is_valid"].tolist() == [True, False]
    assert table["cosine_IDV"].tolist() == pytest.approx([1, table["cosine_PDI"][0]])
    assert table["cosine_MAS"].isna().all()


def test_the_same_seed_gives_the_same_p():
    lines = read_exemplars("bundled")
    vectors = lexical_vectors(list(lines["text"])).toarray()
    one, same, other = (fit_axes(lines, vectors, draws=99, seed=seed)["UAI"].p for seed in (1, 1, 2))
    assert one == same
    assert one == pytest.approx(other, abs=0.15)
