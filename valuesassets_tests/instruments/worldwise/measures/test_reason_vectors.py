"""Reasons as vectors: sentences averaged, countries masked, and what worldWiseAI composed of decisions."""

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.worldwise.answers.vectors import lexical_vectors, read_vectors, vector_columns
from valuesassets.instruments.worldwise.material.scenarios import read_scenarios
from valuesassets.instruments.worldwise.measures.reason_vectors import derive_reason_vectors, reason_texts
from valuesassets.instruments.worldwise.tables import REASON_VECTORS
from valuesassets.records.parquet import read_frame, write_frame
from valuesassets_tests.instruments.worldwise.made_tables import reasons

SCENARIO = read_scenarios()[0]


def vectors_of():
    """Two answers that were read and one that was refused."""
    decided = {"decision": "low", "values": ["Loyalty", "Fun"], "explanation": "In Muldane we wait. I wait."}
    frame = reasons([("JPN", 0, SCENARIO.axis, decided), ("JPN", 0, SCENARIO.axis, {"status": "refused"})])
    openly = reasons([("JPN", 0, SCENARIO.axis, {"explanation": "I wait."})], form="open")
    return pd.concat([frame, openly], ignore_index=True).assign(scenario_id=SCENARIO.id)


def test_an_answer_gives_its_sentences_and_a_decision_also_the_texts_that_were_scored():
    texts = reason_texts(vectors_of(), [SCENARIO], ["Muldane"])
    assert [row["kind"] for row in texts.rows] == ["reason", "seed_final", "seed_stored", "reason"]
    assert texts.parts == [
        ["In local we wait.", "I wait."],
        [f"{3 * 'Loyalty Fun '}In Muldane we wait. I wait. {SCENARIO.low}"],
        [f"In Muldane we wait. I wait. {SCENARIO.low} Loyalty Fun"],
        ["I wait."],
    ]


def test_vectors_are_of_length_one_and_come_back_from_a_file(tmp_path):
    texts = reason_texts(vectors_of(), [SCENARIO])
    table = derive_reason_vectors(texts, lexical_vectors(texts.pieces))
    write_frame(tmp_path / "vectors.parquet", table, REASON_VECTORS)
    (back,) = read_vectors(read_frame(tmp_path / "vectors.parquet", REASON_VECTORS))
    assert np.linalg.norm(back, axis=1) == pytest.approx(np.ones(4))
    i_wait = lexical_vectors(["I wait."]).toarray()[0]
    assert back[3][back[3] > 0] == pytest.approx(i_wait[i_wait > 0])


def test_a_text_that_was_cut_in_one_of_its_sentences_was_cut():
    texts = reason_texts(vectors_of(), [SCENARIO])
    is_cut = np.array([False, True, False, False, False])
    assert derive_reason_vectors(texts, np.eye(5), is_cut)["is_truncated"].tolist() == [True, False, False, False]


def test_what_has_no_word_has_no_vector():
    texts = reason_texts(vectors_of().head(1).assign(explanation="..."), [SCENARIO])
    assert texts.parts[0] == []
    table = derive_reason_vectors(texts, lexical_vectors(texts.pieces))
    assert table["kind"].tolist() == ["seed_final", "seed_stored"]


def test_dense_vectors_stay_as_they_are_beside_each_other():
    one, other = np.arange(6.0).reshape(2, 3), np.ones((1, 3))
    back = read_vectors(*(pd.DataFrame(vector_columns(each)) for each in (one, other)))
    assert [each.tolist() for each in back] == [one.tolist(), other.tolist()]


def test_bags_of_words_of_two_tables_share_their_places_and_keep_their_products():
    texts = ["we wait here", "I wait", "you go"]
    sparse = lexical_vectors(texts)
    one, other = read_vectors(*(pd.DataFrame(vector_columns(part)) for part in (sparse[:2], sparse[2:])))
    assert one.shape[1] == other.shape[1] == 6
    wanted = (sparse @ sparse.T).toarray()
    assert np.vstack([one, other]) @ np.vstack([one, other]).T == pytest.approx(wanted)
