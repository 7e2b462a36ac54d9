from collections import Counter

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.cultural_robustness.published.columns import COLUMNS, published_scores
from valuesassets_tests.instruments.cultural_robustness.published_vectors import made_vectors, noise
from valuesassets_tests.needs import shared_file

ISO = {
    "en": "eng",
    "es": "spa",
    "fr": "fra",
    "ta": "tam",
    "ua": "ukr",
    "de": "deu",
    "el": "ell",
    "it": "ita",
    "pl": "pol",
}
RUN = "answers_unspecific_mistral-nemo-nationality_e5_small.npz"
SEED = ["seed_diversity", "seed_robustness", "seed_product"]


def by_score(vectors, **given):
    return published_scores(vectors, "m", **given).scores.set_index("score")


def public(name, codes):
    """Real vectors of length 1, in the columns of `vectors`."""
    arrays = np.load(shared_file("data", "robustness", "vectors", name))
    rows = [
        (ISO[code], "unspecific", str(number), 0, vector.astype(np.float32).tolist())
        for code in codes
        for number, vector in enumerate(arrays[code])
    ]
    return pd.DataFrame(rows, columns=pd.Index(["language", "kind", "id", "sample", "vector"]))


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "codes", "diversity", "ks", "cd"),
    [
        (RUN, ("en", "es", "fr", "ta", "ua"), 0.0990, {2: 85, 3: 12, 4: 4}, 0.1365),
        ("questions_e5_small.npz", ("de", "el", "en", "fr", "it", "pl"), 0.0924, {2: 82, 3: 12, 4: 5, 5: 2}, 0.1120),
    ],
    ids=["answers of a public run", "translations of the questions"],
)
def test_figures_of_public_vectors_come_out(name, codes, diversity, ks, cd):
    published = published_scores(public(name, codes), "m")
    scores = published.scores.set_index("score")
    assert scores["value"]["seed_diversity"] == pytest.approx(diversity, abs=5e-5)
    assert Counter(each.clustering.k for each in published.clustered["unspecific"]) == ks
    assert scores["value"]["cd"] == pytest.approx(cd, abs=5e-5)
    assert scores["n_questions"]["cd"] == 101


@pytest.mark.slow
def test_null_is_what_translations_of_the_questions_would_get():
    vectors = made_vectors(noise())
    questions = vectors[vectors["kind"] == "question"].assign(kind="unspecific")
    null, value = by_score(vectors)["null"], by_score(questions)["value"]
    assert (null["seed_diversity"], null["cd"]) == (value["seed_diversity"], value["cd"])
    assert value["seed_diversity"] != by_score(vectors)["value"]["seed_diversity"]


def test_questions_of_languages_without_answers_are_no_part_of_the_null():
    vectors = made_vectors(noise())
    few = vectors[vectors["language"] != "pol"]
    kept = vectors[(vectors["language"] != "pol") | (vectors["kind"] == "question")]
    pd.testing.assert_frame_equal(by_score(kept), by_score(few))


def test_nulls_of_both_kinds_are_of_the_same_questions():
    null = by_score(made_vectors(noise()))["null"]
    assert null["seed_robustness"] == 1 - null["seed_diversity"]
    assert null["seed_product"] == null["seed_diversity"] * null["seed_robustness"]
    assert null["cr"] == 1 - null["cd"]
    assert 0 < null["csp"] < 1


def test_without_question_vectors_only_csp_has_a_null():
    null = by_score(made_vectors(noise(), kinds=["unspecific", "specific"]))["null"]
    assert null.dropna().index.tolist() == ["csp", "csp_question"]


@pytest.mark.parametrize("languages", [("deu", "eng"), ("deu", "eng", "fra")])
def test_with_two_or_three_languages_the_seeds_scores_are_none_and_say_why(languages):
    scores = by_score(made_vectors(noise(), languages))
    assert scores.loc[SEED, "value"].isna().all()
    assert scores.loc[SEED, "null"].isna().all()
    expected = f"(k - 2) / (n - 3) needs 4 languages; no more than {len(languages)} answer the same question"
    assert scores.loc[SEED, "reason"].tolist() == [expected] * 3
    rest = scores.drop(index=SEED)
    assert rest["value"].notna().all()
    assert rest["status"].unique().tolist() == ["ok"]


def test_equal_answers_are_one_cluster_and_have_no_csp():
    scores = by_score(made_vectors(lambda *_: (1, 2)))
    assert scores.loc[[*SEED, "cd", "cr"], "value"].tolist() == [0, 1, 0, 0, 1]
    assert scores.loc[["csp", "csp_question"], "value"].isna().all()
    assert "distances differ" in scores["reason"]["csp"]


@pytest.mark.parametrize(
    ("kind", "lost"),
    [("unspecific", {"seed_diversity", "cd"}), ("specific", {"seed_robustness", "cr"})],
)
def test_what_one_kind_of_answers_cannot_say_is_said(kind, lost):
    vectors = made_vectors(noise())
    scores = by_score(vectors[vectors["kind"] != kind])
    assert set(scores.index[scores["value"].isna()]) == lost | {"seed_product", "csp", "csp_question"}
    assert scores["reason"].notna().tolist() == scores["value"].isna().tolist()


@pytest.mark.slow
def test_a_question_with_three_answers_does_not_count():
    vectors = made_vectors(noise())
    is_lost = (
        (vectors["id"] == "2") & vectors["language"].isin(["bul", "fra", "pol"]) & (vectors["kind"] == "unspecific")
    )
    whole, scores = by_score(vectors), by_score(vectors[~is_lost])
    assert (scores["n_questions"]["seed_diversity"], scores["n_questions"]["cd"]) == (2, 3)
    assert whole["n_questions"]["seed_diversity"] == 3
    assert whole["value"]["seed_robustness"] == scores["value"]["seed_robustness"]


def test_rows_are_those_of_scores():
    scores = published_scores(made_vectors(noise()), "a-model").scores
    assert tuple(scores) == COLUMNS
    assert scores["model"].unique().tolist() == ["a-model"]
    assert scores[["low", "high", "p"]].isna().all(axis=None)


def test_cd_and_cr_by_hand():
    """A right angle between two of three languages' answers without a country, none under one."""
    apart = {"deu": (1, 0), "eng": (0, 1), "fra": (0, 1)}
    vectors = made_vectors(lambda language, kind, _: apart[language] if kind == "unspecific" else (1, 0), tuple(apart))
    values = by_score(vectors)["value"]
    assert (values["cd"], values["cr"]) == (pytest.approx(2 / 3), 1)
