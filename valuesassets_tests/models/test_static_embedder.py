import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valuesassets.models.embedding import open_embedder
from valuesassets.models.static_embedder import solve_words, write_static_embedder
from valuesassets.records.errors import ModelError

TEXTS = [
    "Bring a tin of biscuits.",
    "Bring a potted plant.",
    "Σκύψε λίγο το κεφάλι, και χαμογέλα!",
    "Наведи леко глава.",
]
VECTORS = np.random.default_rng(0).normal(size=(4, 5))


def test_the_library_reads_from_the_folder_what_was_planted(tmp_path):
    folder = write_static_embedder(tmp_path / "embedder", TEXTS, VECTORS)
    found = open_embedder(str(folder)).embed([*TEXTS, "bring A TIN  of biscuits.", "unheard words"], normalise=False)
    assert found.vectors[:4] == pytest.approx(VECTORS, abs=1e-5)
    assert found.vectors[4] == pytest.approx(VECTORS[0], abs=1e-5)
    assert found.vectors[5] == pytest.approx(VECTORS.mean(axis=0), abs=1e-5)


def test_the_same_texts_make_the_same_embedder_in_place_of_the_one_before(tmp_path):
    first = open_embedder(str(write_static_embedder(tmp_path / "a", TEXTS, VECTORS))).weights_id
    write_static_embedder(tmp_path / "b", TEXTS, VECTORS + 1)
    assert open_embedder(str(write_static_embedder(tmp_path / "b", TEXTS, VECTORS))).weights_id == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_texts_of_the_same_words_cannot_be_told_apart(tmp_path):
    with pytest.raises(ModelError, match=r"text 1 of 2 .* holds the words of others; reword it"):
        write_static_embedder(tmp_path / "a", ["you and me", "me and you"], np.eye(2))
    assert not list(tmp_path.iterdir())


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 4))
def test_word_vectors_are_the_shortest_that_do(seed, n, d):
    random = np.random.default_rng(seed)
    texts = [[*random.integers(n + 1, n + 5, 3).tolist(), word] for word in range(1, n + 1)]  # each has one of its own
    vectors = random.normal(size=(n, d))
    shares = np.array([[words.count(word) / 4 for word in range(n + 5)] for words in texts])
    weights = solve_words(texts, n + 5, vectors)
    assert shares @ weights == pytest.approx(vectors)
    assert weights[1:] == pytest.approx((np.linalg.pinv(shares) @ vectors)[1:])
