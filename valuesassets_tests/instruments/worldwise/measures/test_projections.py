import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from valuesassets.instruments.worldwise.answers.vectors import lexical_vectors, vector_columns
from valuesassets.instruments.worldwise.measures.projections import (
    anchors,
    derive_projections,
    judge_advocates,
    positions,
    text_vectors,
)
from valuesassets.instruments.worldwise.tables import PROJECTIONS

SENTENCES = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_a_text_is_the_mean_direction_of_its_sentences():
    vectors, has_direction = text_vectors(SENTENCES, [["a", "b"], [], ["c"]])
    assert has_direction.tolist() == [True, False, True]
    assert vectors == pytest.approx(np.array([[0.5**0.5, 0.5**0.5, 0], [0, 0, 0], [0, 0, 1]]))


def test_sparse_and_dense_sentences_give_the_same():
    random = np.random.default_rng(0)
    dense, texts = random.normal(size=(7, 4)), [["a"] * 3, ["b"], ["c"] * 3]
    one, _ = text_vectors(dense, texts)
    other, _ = text_vectors(sparse.csr_array(dense), texts)
    assert other.toarray() == pytest.approx(one)
    direction, high, low = random.normal(size=(3, 4))
    assert positions(other, direction, high, low) == pytest.approx(positions(one, direction, high, low), nan_ok=True)


def test_poles_stand_at_plus_and_minus_one_and_their_midpoint_at_zero_however_long_the_axis():
    high, low = np.array([0.9, 0.1]), np.array([0.2, 0.5])
    texts = np.stack([high, low, (high + low) / 2])
    for length in (1, 7.5):
        assert positions(texts, length * (high - low), high, low) == pytest.approx([1, -1, 0])


def test_a_high_pole_below_the_low_one_gives_no_position():
    assert np.isnan(positions(np.eye(2), np.array([1.0, -1.0]), np.array([0.0, 1.0]), np.array([1.0, 0.0]))).all()


def test_advocates_of_the_own_scenario_are_left_out():
    means = anchors(np.array([[1.0, 0], [3, 0], [0, 6]]), ["a", "a", "b"], ["a", "b", "c"])
    assert means == pytest.approx(np.array([[0, 6], [2, 0], [4 / 3, 2]]))
    assert np.isnan(anchors(np.ones((2, 2)), ["a", "a"], ["a"])).all()


def test_each_text_may_have_its_own_poles():
    high, low = np.array([[1.0, 0], [2, 0]]), np.array([[-1.0, 0], [-2, 0]])
    assert positions(np.ones((2, 2)), np.array([1.0, 0]), high, low) == pytest.approx([1, 0.5])


AXIS = {"axis": "IDV", "held_out_auc": 0.9, "p": 0.01, "is_valid": True, "reason": None}
HIGH_WORDS, LOW_WORDS = ("mine", "alone"), ("ours", "together")


def vectors_of(words, form="open", culture="JPN", axis="IDV", pole=None):
    """A reason per scenario of the words that are given for it, as a bag of words."""
    keys = {"trial_id": "", "axis": axis, "culture": culture, "form": form, "pole": pole, "draw": 0, "kind": "reason"}
    rows = [keys | {"scenario_id": f"s{number}", "trial_id": f"{form}{pole}{number}"} for number in range(len(words))]
    return pd.DataFrame(rows).assign(**vector_columns(lexical_vectors(words)))


def exemplar_vectors():
    return pd.concat(
        [
            pd.DataFrame({"axis": "IDV", "pole": pole, **vector_columns(lexical_vectors(words))})
            for pole, words in (("high", HIGH_WORDS), ("low", LOW_WORDS))
        ],
        ignore_index=True,
    )


def speaking(high=("mine", "mine alone"), low=("ours", "ours together"), draws=3):
    """What a model says for each pole, one text of each to each dilemma, so many times over."""
    entries = [vectors_of(words, "advocate", "unprompted", pole=pole) for pole, words in (("high", high), ("low", low))]
    return pd.concat([each.assign(draw=draw) for draw in range(draws) for each in entries], ignore_index=True)


def test_reasons_stand_between_what_advocates_of_other_dilemmas_say():
    result = derive_projections(
        vectors_of(["mine alone", "ours together", "mine ours"]), speaking(), exemplar_vectors(), pd.DataFrame([AXIS])
    )
    # Of the first dilemma stand the second's advocates: "mine alone" is one of them, "ours together" the other's pole.
    assert result["position"].tolist()[:2] == pytest.approx([1.0, -(2**0.5)])
    assert result["position"].tolist()[2] == pytest.approx(0.0, abs=1e-6)
    assert set(result["status"]) == {"ok"}


def test_without_advocates_the_means_of_exemplars_are_the_poles():
    result = derive_projections(vectors_of(["mine", "together"]), None, exemplar_vectors(), pd.DataFrame([AXIS]))
    assert result["position"].tolist() == pytest.approx([2**0.5 / 2 * 2**0.5, -1.0])


@pytest.mark.parametrize(
    ("axis", "advocates", "reason"),
    [
        (AXIS | {"reason": "the axis is not valid"}, speaking(), "the axis is not valid"),
        (
            AXIS,
            speaking(high=("ours", "ours"), low=("mine", "mine")),
            "does not distinguish the model's advocates: AUC 0.00",
        ),
        (AXIS, speaking().head(0), "no dilemma of the axis has advocates of both poles"),
        (AXIS, speaking(high=("mine",), low=("ours",), draws=5), "no other dilemma of the axis has advocates"),
        (AXIS, speaking(draws=2), "4 texts of advocates for the high pole and 4 for the low one, 5 of each are needed"),
    ],
    ids=["invalid axis", "advocates in the wrong order", "no advocates", "the same dilemma alone", "too few texts"],
)
def test_where_poles_are_not_there_a_reason_has_no_position_and_says_why(axis, advocates, reason):
    result = derive_projections(vectors_of(["mine"]), advocates, exemplar_vectors(), pd.DataFrame([axis]))
    assert result["position"].isna().all()
    assert set(result["status"]) == {"undefined"}
    assert reason in result["reason"].iloc[0]


@pytest.mark.slow
def test_texts_without_a_pole_are_seldom_told_apart_and_texts_with_one_are():
    """Texts whose place on the axis has nothing to do with their pole, in 200 models; and texts a little apart."""
    random = np.random.default_rng(0)
    questions = pd.DataFrame(
        [{"axis": "IDV", "scenario_id": f"s{at}", "pole": pole} for at in range(4) for pole in ("high", "low")] * 2
    )
    is_high = (questions["pole"] == "high").to_numpy()

    def share_told(apart):
        places = random.normal(0, 1, (200, len(questions), 1)) + apart * is_high[:, None]
        return np.mean(
            [judge_advocates(questions, each, "IDV", np.ones(1)).why_not_distinguished is None for each in places]
        )

    assert share_told(0.0) <= 0.07
    assert share_told(3.0) >= 0.95


def test_a_model_that_wrote_nothing_has_no_rows():
    result = derive_projections(vectors_of(["mine"]).head(0), None, exemplar_vectors(), pd.DataFrame([AXIS]))
    assert result.columns.tolist() == PROJECTIONS.names
    assert result.empty
