from itertools import combinations

import numpy as np
import pytest

from valuesassets.instruments.cultural_robustness.plants.planted_answers import OWN_COUNTRIES, QUESTIONS, SCRIPTS
from valuesassets.instruments.cultural_robustness.plants.planted_embedder import (
    Sentence,
    planted_sentences,
    sentence_vector,
)
from valuesassets.models.embedding import open_embedder
from valuesassets.models.static_embedder import write_static_embedder
from valuesassets_tests.instruments.cultural_robustness.planted_trials import bundled_questions

COUNTRIES = sorted(OWN_COUNTRIES.values())


def apart(first, second):
    return float(((first - second) ** 2).sum()) / 2


def test_an_embedder_can_be_made_that_gives_every_planted_text_its_vector(tmp_path):
    questions = bundled_questions()
    plain = questions[questions["country"].isna()]
    prompts = {(row["language"], row["question_id"]): row["prompt"] for row in plain.to_dict("records")}
    sentences = planted_sentences(prompts)
    assert len(sentences) == 6 * 6 * 6 + 6 * 6
    vectors = np.stack(list(sentences.values()))
    folder = write_static_embedder(tmp_path / "embedder", list(sentences), vectors)
    assert open_embedder(str(folder)).embed(list(sentences)).vectors == pytest.approx(vectors, abs=1e-5)


def test_vectors_have_length_one_and_repeat():
    for language, question, country in zip(OWN_COUNTRIES, QUESTIONS, [None, *COUNTRIES[:5]], strict=True):
        vector = sentence_vector(Sentence(language, question, country))
        assert np.linalg.norm(vector) == pytest.approx(1)
        assert np.array_equal(vector, sentence_vector(Sentence(language, question, country)))


def test_in_one_language_a_region_lies_closer_than_the_world_by_what_is_planted():
    vectors = {country: sentence_vector(Sentence("eng", "1", country)) for country in COUNTRIES}
    noise = np.array([apart(vectors[a][24:], vectors[b][24:]) for a, b in combinations(COUNTRIES, 2)])
    content = [apart(vectors[a][:24], vectors[b][:24]) for a, b in combinations(COUNTRIES, 2)]
    regions = {"IE": 0, "PL": 0, "BG": 0, "DE": 1, "GR": 1, "FR": 2}
    expected = [0.2 * (0.15 if regions[a] == regions[b] else 1) for a, b in combinations(COUNTRIES, 2)]
    assert content == pytest.approx(expected)
    assert noise.mean() == pytest.approx(0.05, abs=0.01)


def test_scripts_lie_further_apart_than_what_is_said():
    script = {language: name for name, languages in SCRIPTS.items() for language in languages}
    answers = [
        (script[language], sentence_vector(Sentence(language, "1", country)))
        for language in OWN_COUNTRIES
        for country in COUNTRIES
    ]
    distances = {True: [], False: []}
    for (one, first), (two, second) in combinations(answers, 2):
        distances[one == two].append(apart(first, second))
    assert max(distances[True]) < min(distances[False])


def test_every_question_is_nearest_to_its_translation():
    prompts = {
        language: np.stack([sentence_vector(Sentence(language, question)) for question in QUESTIONS])
        for language in OWN_COUNTRIES
    }
    for one, two in combinations(OWN_COUNTRIES, 2):
        assert (prompts[one] @ prompts[two].T).argmax(axis=1).tolist() == list(range(6))
