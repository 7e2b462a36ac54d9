import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.spelling.trie import NodeRead, build_trie, sum_labels

TOKENS = st.lists(st.integers(0, 2), min_size=1, max_size=3).map(tuple)


def test_ten_takes_its_mass_from_one_and_none_is_lost():
    trie = build_trie([[(1,)], [(1, 0)]])
    mass = sum_labels(trie, {(): NodeRead((0.6,), 0.0), (1,): NodeRead((0.2,), 0.3)}, 2)
    assert mass.label_probs == pytest.approx((0.36, 0.24))
    assert mass.resolution_mass == pytest.approx(0.5)


def test_resolution_mass_is_weighted_by_the_paths_and_its_minimum_kept():
    trie = build_trie([[(1,), (7, 1)], [(1, 0), (7, 1, 0)]])  # 7 stands for the space
    reads = {
        (): NodeRead((0.1, 0.5), 0.0),
        (1,): NodeRead((0.1,), 0.1),
        (7,): NodeRead((0.6,), 0.0),
        (7, 1): NodeRead((0.3,), 0.6),
    }
    mass = sum_labels(trie, reads, 2)
    assert mass.resolution_mass == pytest.approx((0.1 * 0.2 + 0.3 * 0.9) / 0.4)
    assert mass.resolution_mass_min == pytest.approx(0.2)
    assert mass.label_probs == pytest.approx((0.05 + 0.2, 0.05 + 0.1))


def test_a_node_that_says_nothing_gives_nothing():
    trie = build_trie([[(1,)], [(1, 0)]])
    mass = sum_labels(trie, {(): NodeRead((0.6,), 0.0), (1,): NodeRead((0.0,), 0.0)}, 2)
    assert mass.label_probs == (0.0, 0.0)
    assert mass.resolution_mass == 0.0


@given(st.sets(TOKENS, min_size=2, max_size=8), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_label_probabilities_are_what_arrives_at_the_root_and_leaves_by_a_child(paths, random):
    trie = build_trie([[path] for path in sorted(paths)])
    reads = {}
    for node, tokens in trie.children.items():
        parts = [random.random() + 1e-3 for _ in range(len(tokens) + 2)]
        probs = [part / sum(parts) for part in parts]
        reads[node] = NodeRead(tuple(probs[: len(tokens)]), probs[-1] if node in trie.label_at else 0.0)
    mass = sum_labels(trie, reads, len(paths))
    lost = sum(mass.reach[n] * (1 - sum(reads[n].child_probs)) for n in trie.children if n not in trie.label_at)
    assert sum(mass.label_probs) + lost == pytest.approx(1)
    assert all(prob >= 0 for prob in mass.label_probs)
