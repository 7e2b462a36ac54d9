import subprocess
import sys

import numpy as np
import pytest

from valuesassets.instruments.worldwise.answers.vectors import PLACES, lexical_vectors


def test_a_bag_of_words_counts_words_and_forgets_their_order():
    one, other, twice, none = lexical_vectors(["a b c", "C, b: A!", "a a b", "..."]).toarray()
    assert one == pytest.approx(other)
    weight = 1 + np.log(2)
    assert one @ twice == pytest.approx((weight + 1) / np.sqrt(3 * (weight**2 + 1)))
    assert not none.any()


def test_a_text_has_the_same_vector_beside_any_others_and_in_any_process():
    alone, beside = lexical_vectors(["we wait"]), lexical_vectors(["x y z", "we wait"])
    assert (alone[[0]] != beside[[1]]).nnz == 0
    code = (
        "from valuesassets.instruments.worldwise.answers.vectors import *; print(*lexical_vectors(['we wait']).indices)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert sorted(map(int, done.stdout.split())) == sorted(alone.indices)


def test_no_text_at_all_gives_no_row():
    assert lexical_vectors([]).shape == (0, PLACES)
