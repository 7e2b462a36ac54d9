import json

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.cultural_robustness.published.clustering import (
    SPECIFIC,
    UNSPECIFIC,
    cluster_questions,
    clustering_tables,
    first_texts,
    write_clustering,
)
from valuesassets_tests.instruments.cultural_robustness.published_vectors import made_vectors, noise

PAIRED = {"deu": (1.0, 0.0, 0), "eng": (1.0, 0.1, 0), "fra": (0, 1.0, 0.1), "pol": (0, 1.0, 0)}


def paired(languages=tuple(PAIRED), **given):
    return made_vectors(lambda language, *_: PAIRED[language], languages, **given)


def clustered(vectors, kind):
    return cluster_questions(first_texts(vectors, kind))


def test_two_pairs_of_languages_are_two_clusters_and_score_nothing():
    tables = clustering_tables(clustered(paired(questions=1, anchors=1), UNSPECIFIC), UNSPECIFIC)
    row = tables["results"].iloc[0]
    assert (row["languages"], row["optimal_k"], row["relative_score"]) == ("deu, eng, fra, pol", 2, 0.0)
    assert tables["language_clusters"]["languages_in_cluster"].tolist() == ["deu, eng", "fra, pol"]
    labels = tables["cluster_assignments"].set_index("language")["cluster_id"]
    assert labels["deu"] == labels["eng"] != labels["fra"] == labels["pol"]


def test_under_a_country_the_score_is_what_is_left_of_one():
    questions = clustered(made_vectors(noise()), SPECIFIC)
    assert {each.relative_score(SPECIFIC) for each in questions} != {1.0}
    for each in questions:
        assert each.relative_score(SPECIFIC) == 1 - (each.clustering.k - 2) / 3


def test_files_are_the_published_ones_in_their_columns(tmp_path):
    vectors = paired(questions=2, anchors=2)
    write_clustering(tmp_path, {kind: clustered(vectors, kind) for kind in (UNSPECIFIC, SPECIFIC)}, "a-model")
    common = ["n_languages", "total_items", "languages", "optimal_k", "silhouette_score", "relative_score"]
    plain = pd.read_csv(tmp_path / "unspecific" / "diversity_results.csv")
    assert list(plain) == ["sentence_id", *common]
    assert plain["optimal_k"].tolist() == [2, 2]
    anchored = pd.read_csv(tmp_path / "specific" / "robustness_results.csv")
    assert list(anchored) == ["sentence_id", "full_id", "base_id", "variation_id", *common]
    assert anchored["full_id"].tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert anchored["variation_id"].tolist() == [1, 2, 1, 2]
    assigned = pd.read_csv(tmp_path / "unspecific" / "diversity_cluster_assignments.csv")
    assert list(assigned) == ["sentence_id", "language", "cluster_id", "optimal_k", "relative_score"]
    together = pd.read_csv(tmp_path / "unspecific" / "diversity_language_clusters.csv")
    assert list(together) == [
        "sentence_id",
        "cluster_id",
        "languages_in_cluster",
        "cluster_size",
        "optimal_k",
        "relative_score",
    ]
    summary = json.loads((tmp_path / "specific" / "robustness_summary.json").read_text(encoding="utf-8"))
    assert summary == {
        "model": "a-model",
        "analysis_type": "robustness",
        "total_sentence_variation_combinations": 4,
        "average_relative_score": 1.0,
        "duplicates_detected": 0,
        "total_results": 4,
    }


def test_a_kind_without_answers_has_no_files(tmp_path):
    write_clustering(tmp_path, {UNSPECIFIC: clustered(paired(questions=1), UNSPECIFIC), SPECIFIC: []}, "m")
    assert [path.name for path in tmp_path.iterdir()] == ["unspecific"]


@pytest.mark.parametrize("languages", [("deu", "eng"), ("deu", "eng", "fra")])
def test_with_fewer_than_four_languages_rows_have_no_score(tmp_path, languages):
    questions = clustered(paired(languages, questions=1), UNSPECIFIC)
    assert clustering_tables(questions, UNSPECIFIC)["results"]["relative_score"].isna().all()
    write_clustering(tmp_path, {UNSPECIFIC: questions}, "m")
    summary = json.loads((tmp_path / "unspecific" / "diversity_summary.json").read_text(encoding="utf-8"))
    assert summary["average_relative_score"] is None


def test_equal_answers_have_no_clusters_to_list():
    tables = clustering_tables(clustered(made_vectors(lambda *_: (1, 2)), UNSPECIFIC), UNSPECIFIC)
    assert tables["results"]["silhouette_score"].tolist() == [0.0] * 3
    assert tables["cluster_assignments"].empty
    assert tables["language_clusters"].empty


def test_first_samples_count_by_order_of_figures_whether_usable_or_not():
    vectors = made_vectors(noise(), questions=11, samples=3)
    vectors.loc[vectors["language"] == "bul", "is_usable"] = False
    texts = first_texts(vectors.sample(frac=1, random_state=0), UNSPECIFIC)
    assert [each.id for each in texts] == [str(n) for n in range(1, 12)]
    assert texts[0].languages == ("bul", "deu", "ell", "eng", "fra", "pol")
    rows = vectors[(vectors["id"] == "1") & (vectors["kind"] == UNSPECIFIC) & (vectors["sample"] == 0)]
    assert np.array_equal(texts[0].vectors, np.stack(rows["vector"].tolist()).astype(np.float32))
