import pytest

from valuesassets_tests.benchmarks import clustering

pytestmark = pytest.mark.benchmarks


def test_the_entry_says_what_part_of_the_plain_procedures_time_was_spent():
    told = []
    found = clustering.compare(told.append, questions=1, dimensions=60)["seed_clustering"]
    assert found["max"] > 0
    assert found["wanted"] == "<= 0.55"
    assert told == ["clustering: 1 questions, 22 languages, 60 dimensions"]


def test_another_k_than_the_plain_procedures_is_refused(monkeypatch):
    monkeypatch.setattr(clustering, "plain_k", lambda _: 1)
    with pytest.raises(AssertionError, match=r"question 0: .*'plain': 1"):
        clustering.compare(print, questions=1, dimensions=60)
