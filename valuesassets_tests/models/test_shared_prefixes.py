"""Beginnings worth keeping: found as an exhaustive search finds them, and none where nothing is saved."""

from itertools import groupby, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valuesassets.models import shared_prefixes
from valuesassets.models.shared_prefixes import find_prefixes
from valuesassets.models.token_trees import part_into_trees, shared_length

TREE, SHORTEST, WORTH, BRANCH = 12, 3, 6, 2
"""Limits for the property tests, so that short sequences suffice."""

LIMITS = {
    name: getattr(shared_prefixes, name)
    for name in ("LARGEST_TREE", "SHORTEST_PREFIX", "WORTH_KEEPING", "WORTH_SHARING")
}
"""Those of the product."""

SEQUENCES = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=14).map(tuple), min_size=1, max_size=24)


@pytest.fixture(scope="module", autouse=True)
def small_limits():
    with pytest.MonkeyPatch.context() as patch:
        for name, value in zip(LIMITS, (TREE, SHORTEST, WORTH, BRANCH), strict=True):
            patch.setattr(shared_prefixes, name, value)
        yield


def saved(sequences, length):
    """Tokens saved by a prefix of some sequences, by its definition."""
    own = [one[length:] for one in sorted(sequences)]
    new = [len(own[0]), *(len(b) - shared_length(a, b) for a, b in pairwise(own))]
    branches = 1 + sum(more >= BRANCH for more in new[1:])
    in_a_tree = max(1, (TREE - length) * branches // sum(new))
    return length * (-(-branches // in_a_tree) - 1)


def most_saved(sequences, depth=0):
    """The most that prefixes can save together: every group that begins alike, kept as one or as its own groups."""
    if max(map(len, sequences)) <= depth:
        return 0
    parts = [list(part) for _, part in groupby(sorted(sequences), key=lambda one: one[: depth + 1])]
    length = min(depth, min(map(len, sequences)) - 1)
    whole = saved(sequences, length) if length >= SHORTEST else 0
    return max(whole if whole >= WORTH else 0, sum(most_saved(part, depth + 1) for part in parts))


@settings(max_examples=150, deadline=None)
@given(SEQUENCES)
@pytest.mark.slow
def test_together_they_save_what_an_exhaustive_search_saves(sequences):
    found = find_prefixes(sequences)
    total = sum(saved([sequences[index] for index in prefix.members], prefix.length) for prefix in found)
    assert total == most_saved(sequences)


@settings(max_examples=150, deadline=None)
@given(SEQUENCES, st.randoms())
@pytest.mark.slow
def test_no_sequence_has_two_and_each_goes_on_beyond_its_own_whatever_their_order(sequences, random):
    found = find_prefixes(sequences)
    members = [index for prefix in found for index in prefix.members]
    assert len(set(members)) == len(members)
    for prefix in found:
        assert len({sequences[index][: prefix.length] for index in prefix.members}) == 1
        assert min(len(sequences[index]) for index in prefix.members) > prefix.length >= SHORTEST
    mixed = random.sample(sequences, len(sequences))
    again = {(p.length, tuple(mixed[index] for index in p.members)) for p in find_prefixes(mixed)}
    assert again == {(p.length, tuple(sequences[index] for index in p.members)) for p in found}


@given(SEQUENCES)
@pytest.mark.slow
def test_shared_length_is_that_of_the_definition(sequences):
    for one in sequences:
        for other in sequences:
            longest = max(n for n in range(len(one) + 1) if one[:n] == other[:n])
            assert shared_length(one, other) == longest


@pytest.mark.parametrize(("profile", "questions"), [(88, 478), (1213, 239), (1213, 2)])
def test_a_profile_before_many_questions_is_kept_by_the_limits_of_the_product(profile, questions):
    sequences = [(5,) * profile + (10 + n,) * 97 for n in range(questions)]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in LIMITS.items():
            patch.setattr(shared_prefixes, name, value)
        (found,) = find_prefixes(sequences)
        assert find_prefixes(sequences[:1]) == find_prefixes([one[-130:] for one in sequences[:60]]) == []
    assert (found.length, len(found.members)) == (profile, questions)
    trees = len(part_into_trees(sequences, 64))
    in_a_tree = max(1, (512 - profile) // 97)
    assert trees == -(-questions // in_a_tree)


def test_profiles_that_begin_alike_are_kept_each_where_that_saves_more():
    """70 tokens before 240 prompts would save 70 for a tree, each profile 88."""
    sequences = [(5,) * 70 + (6 + who,) * 18 + (10 + n,) * 97 for who in range(2) for n in range(120)]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in LIMITS.items():
            patch.setattr(shared_prefixes, name, value)
        assert [(prefix.length, len(prefix.members)) for prefix in find_prefixes(sequences)] == [(88, 120)] * 2
