import pytest

from valuesassets.models.certificate import Certificate, largest_difference, largest_share_moved
from valuesassets.models.scoring import choose_sample
from valuesassets.records.trials import Reading, Status


def reading(probs):
    status = Status.UNRESOLVED if probs is None else Status.OK
    return Reading("v1/0/forward", probs, None if probs is None else sum(probs), None, None, (), status, None, "k")


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ((0.5, 0.25), (0.5, 0.25), 0.0),
        ((0.5, 0.2), (0.5, 0.1), 0.6931471805599453),
        ((0.5, 0.0), (0.5, 0.0), 0.0),
        ((0.5, 0.0), (0.5, 1e-30), float("inf")),
        (None, None, 0.0),
        (None, (0.5, 0.2), float("inf")),
    ],
)
def test_readings_are_as_far_apart_as_their_worst_label_and_a_lost_one_infinitely(one, other, apart):
    pairs = [(reading(one), reading(other)), (reading((0.3,)), reading((0.3,)))]
    assert largest_difference(pairs) == largest_difference([(b, a) for a, b in pairs]) == pytest.approx(apart)


@pytest.mark.parametrize(
    ("one", "other", "moved"),
    [
        ((0.5, 0.25), (0.5, 0.25), 0.0),
        ((0.5, 0.25), (0.05, 0.025), 0.0),  # what is outside the labels is no answer's
        ((0.3, 0.1), (0.2, 0.2), 0.25),
        ((0.5, 0.0), (0.0, 0.5), 1.0),
        ((0.0, 0.0), (0.0, 0.5), 1.0),
        ((0.0, 0.0), (0.0, 0.0), 0.0),
        (None, None, 0.0),
        (None, (0.5, 0.2), 1.0),
    ],
)
def test_a_share_moves_by_what_a_distribution_over_the_labels_would_show(one, other, moved):
    pairs = [(reading(one), reading(other)), (reading((0.3,)), reading((0.1,)))]
    assert largest_share_moved(pairs) == pytest.approx(moved)
    assert largest_share_moved([(b, a) for a, b in pairs]) == pytest.approx(moved)


@pytest.mark.parametrize(
    ("trials", "difference", "moved", "said"),
    [
        (4, 1e-5, 1e-6, None),
        (4, 1.5e-5, 2e-6, "by less than 0.001 percentage points, or 1.5e-05 nats, where rounding explains 1e-05"),
        (4, 1e-5, 0.05, "by up to 5 percentage points, or 1e-05 nats, which is rounding"),
        (4, float("inf"), 1.0, "by up to 100 percentage points, or inf nats, where rounding explains 1e-05"),
        (4, 0.5, None, "by 0.5 nats, where rounding explains 1e-05"),
        (0, 0.0, 0.0, None),
    ],
)
def test_a_doubt_says_its_size_in_points_and_nats_beside_what_rounding_explains(trials, difference, moved, said):
    doubt = Certificate(trials, difference, 1e-5, moved).doubt
    assert doubt == (said and f"warning: shares of answers change with the batch {said}")


@pytest.mark.parametrize("count", [1, 2, 5, 6, 7, 40])
def test_the_sample_has_the_shortest_and_the_longest_prompt_and_does_not_depend_on_the_order(count):
    lengths = {f"key {n}": 100 + (n * 17) % 41 for n in range(count)}
    chosen = choose_sample(lengths)
    assert len(set(chosen)) == len(chosen)
    assert {min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)} <= set(chosen) <= set(lengths)
    assert choose_sample(dict(reversed(lengths.items()))) == chosen


def test_what_was_not_read_again_is_not_certified():
    assert not Certificate(trials=0, max_difference=0.0, tolerance=1e-5).agrees
