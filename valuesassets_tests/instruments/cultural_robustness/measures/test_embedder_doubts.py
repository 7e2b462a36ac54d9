"""An embedder that does not know a language is named in a line; one that finds translations is not doubted."""

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.cultural_robustness.measures.embedder_doubts import embedder_doubt, letters_per_token

LANGUAGES = ("deu", "ell", "eng")
NONE = pd.DataFrame({"language": [], "kind": [], "id": [], "vector": []})


def question_vectors(unknown=(), seed=0, n=24):
    """A vector of each question, the same in all languages; at random in those that are not known."""
    random = np.random.default_rng(seed)
    meanings = random.normal(size=(n, 32))
    rows = [
        {"language": language, "kind": "question", "id": str(number), "vector": vector}
        for language in LANGUAGES
        for number, meaning in enumerate(meanings)
        for vector in [random.normal(size=32) if language in unknown else meaning + 0.2 * random.normal(size=32)]
    ]
    return pd.DataFrame(rows)


def test_a_language_whose_translations_are_not_found_is_named_with_its_share_and_chance():
    message = embedder_doubt(question_vectors(unknown=("ell",)), LANGUAGES, "m")
    assert message is not None
    assert message.startswith("m does not know ell (finds 0.0")
    assert "0.04 by chance" in message
    assert "\n" not in message


def test_where_translations_are_found_neither_card_nor_tokens_raise_a_doubt():
    assert embedder_doubt(question_vectors(), LANGUAGES, "m", card=("eng",), spelled={"ell": 1.0}) is None


def test_without_questions_the_card_and_the_tokens_raise_it():
    assert "ell (its card names eng, deu)" in str(embedder_doubt(NONE, LANGUAGES, "m", card=("eng", "deu")))
    message = str(embedder_doubt(NONE, LANGUAGES, "m", spelled={"eng": 4.1, "deu": 3.0, "ell": 1.0}))
    assert "ell (a token of it says 1.0 letters" in message
    assert "deu (" not in message


@pytest.mark.parametrize(("letters", "is_doubted"), [(1.2, False), (0.3, True)])
def test_scripts_without_spaces_have_short_tokens(letters, is_doubted):
    message = embedder_doubt(NONE, ("jpn", "eng"), "m", spelled={"jpn": letters, "eng": 4.0})
    assert ("does not know jpn" in str(message)) == is_doubted


def test_where_nothing_was_tested_that_is_said():
    assert embedder_doubt(NONE, LANGUAGES, "m") == (
        "whether m knows deu, ell, eng was not tested; name the questions (--questions)"
    )


def test_letters_are_those_of_all_texts_of_a_language():
    assert letters_per_token(["ell", "ell"], ["αβ", "γδ ε"], [1, 4]) == {"ell": 1.0}
