"""Expectations are enumerated by other code than scores are estimated by: here they meet."""

import ast
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.cultural_robustness.measures.scores import measure_model
from valuesassets.instruments.cultural_robustness.plants import expected_scores
from valuesassets.instruments.cultural_robustness.plants.expected_scores import (
    Expected,
    expected_distances,
    mean_vector,
)
from valuesassets.instruments.cultural_robustness.plants.planted_answers import (
    OWN_COUNTRIES,
    Cell,
    country_shares,
    planted_faults,
)
from valuesassets.instruments.cultural_robustness.plants.planted_embedder import Sentence, sentence_vector
from valuesassets.measure.seeding import seeded
from valuesassets.records.settings.measuring import Inference
from valuesassets_tests.instruments.cultural_robustness.planted_trials import bundled_questions

COUNTRIES = sorted(OWN_COUNTRIES.values())
FEW = Inference(resamples=99)


def planted_vectors(family, samples, samples_anchored, draw):
    """Rows of `vectors` as a family's answers would have them; `draw` gives the countries whose answers are given."""
    rows = []
    for row in bundled_questions().to_dict("records"):
        country = None if pd.isna(row["country"]) else row["country"]
        cell = Cell(row["language"], row["question_id"], country)
        if cell in planted_faults(family):
            continue
        n = samples if country is None else samples_anchored
        kind = "unspecific" if country is None else "specific"
        for sample, spoken in enumerate(draw(country_shares(family, cell), n, cell)):
            vector = sentence_vector(Sentence(cell.language, cell.question_id, spoken))
            rows.append((cell.language, kind, row["id"], sample, True, vector))
    return pd.DataFrame(rows, columns=pd.Index(["language", "kind", "id", "sample", "is_usable", "vector"]))


def in_shares(shares, n, _):
    """Each country exactly as often as planted."""
    return [country for country, share in shares.items() for _ in range(round(share * n))]


def drawn(seed):
    """Countries drawn as planted."""

    def draw(shares, n, cell):
        return seeded(seed, *vars(cell).values()).choice(list(shares), size=n, p=list(shares.values()))

    return draw


def test_nothing_of_the_estimators_is_used():
    tree = ast.parse(Path(expected_scores.__file__).read_text(encoding="utf-8"))
    used = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.rpartition(".")[2] for name in used if name.startswith("valuesassets")} == {
        "planted_answers",
        "planted_embedder",
    }


def test_ratios_by_hand():
    expected = Expected(unanchored=0.9, same_country=0.3, other_country=0.7, within_language=0.8)
    assert (expected.diversity, expected.robustness) == (pytest.approx(0.75), pytest.approx(0.5))


def test_a_mean_vector_is_between_its_answers():
    own, leader = (sentence_vector(Sentence("pol", "1", country)) for country in ("PL", "IE"))
    assert mean_vector("cultures", Cell("pol", "1")) == pytest.approx(0.95 * own + 0.05 * leader)


@pytest.mark.slow
def test_estimates_from_answers_in_the_planted_shares_meet_the_expectations():
    vectors = planted_vectors("cultures", 40, 40, in_shares)
    tables = measure_model("cultures", vectors, bundled_questions(), own_countries=OWN_COUNTRIES, inference=FEW)
    values = tables["scores"].set_index("score")["value"]
    expected = expected_distances("cultures", sorted(OWN_COUNTRIES), COUNTRIES)
    assert values["diversity"] == pytest.approx(expected.diversity, abs=0.003)
    assert values["robustness"] == pytest.approx(expected.robustness, abs=0.003)
    assert values["country_distance"] == pytest.approx(expected.within_language, abs=0.001)
    assert values["culture_gain"] == pytest.approx(expected.unanchored - expected.same_country, abs=0.001)
    assert values["country_follow"] == pytest.approx(expected.other_country - expected.same_country, abs=0.001)


@pytest.mark.slow
def test_as_many_answers_as_the_demonstration_draws_come_well_within_its_tolerance():
    expected = expected_distances("cultures", sorted(OWN_COUNTRIES), COUNTRIES)
    ratios = []
    for seed in range(8):
        vectors = planted_vectors("cultures", 8, 2, drawn(seed))
        scores = measure_model("cultures", vectors, bundled_questions(), inference=FEW)["scores"].set_index("score")
        ratios.append([scores["value"]["diversity"], scores["value"]["robustness"]])
    assert np.std(ratios, axis=0).max() < 0.05 / 3
    assert np.mean(ratios, axis=0) == pytest.approx([expected.diversity, expected.robustness], abs=0.02)


def test_without_a_signal_languages_differ_by_translation_alone():
    expected = expected_distances("no-signal", sorted(OWN_COUNTRIES), COUNTRIES)
    assert expected.unanchored == pytest.approx(expected.same_country) == pytest.approx(expected.other_country)
    assert expected.within_language == pytest.approx(0)


def test_a_country_at_fault_in_one_language_counts_in_none():
    languages = ["eng", "pol"]
    both = expected_distances("cultures", languages, ["DE", "GR"], ["1"])
    without = expected_distances("cultures", languages, ["DE", "FR", "GR"], ["5"])
    assert without == expected_distances("cultures", languages, ["DE", "FR"], ["5"])
    for a, b in product(("DE", "GR"), repeat=2):
        assert both.within_language > 0 or a == b
