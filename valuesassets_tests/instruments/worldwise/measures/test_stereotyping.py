from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from valuesassets.instruments.worldwise.measures.stereotyping import (
    caricature,
    count_words,
    derive_caricature,
    derive_stereotyped_words,
    paired_differences,
)
from valuesassets.instruments.worldwise.tables import CARICATURE, STEREOTYPED_WORDS
from valuesassets.records.settings.measuring import Inference
from valuesassets_tests.instruments.worldwise.made_tables import reasons

HOW = Inference(resamples=499)


def reasons_of(n, cultures=("JPN",), draws=1):
    """Reasons as each culture and the placebo to n scenarios."""
    rows = [(f"s{at}", name) for at in range(n) for name in (*cultures, "placebo") for _ in range(draws)]
    return pd.DataFrame(rows, columns=["scenario_id", "culture"]).assign(form="open")


def brute_force(differences, signs):
    """Of each scenario, the share of pairs on the right side of the mean difference of the others."""
    turned = [sign * each for sign, each in zip(signs, differences, strict=True)]
    result = []
    for at, own in enumerate(turned):
        others = np.sum([each.mean(axis=0) for place, each in enumerate(turned) if place != at], axis=0)
        scores = own @ others
        result.append(np.mean((scores > 0) + 0.5 * (scores == 0)))
    return np.mean(result)


def test_accuracy_and_chance_are_those_of_leaving_scenarios_out_one_by_one():
    random = np.random.default_rng(2)
    differences = [random.normal(0.3, 1, (size, 3)) for size in (1, 2, 4, 1, 3, 2)]
    accuracies = caricature(differences, Inference(resamples=4000), np.random.default_rng(0))
    every = np.array([brute_force(differences, signs) for signs in product((1, -1), repeat=6)])
    assert accuracies["accuracy"] == pytest.approx(every[0])
    assert accuracies["accuracy_by_chance"] == pytest.approx(every.mean(), abs=0.02)
    assert accuracies["p"] == pytest.approx(np.mean(every >= every[0] - 1e-12), abs=0.03)


def test_a_persona_that_always_reasons_in_one_way_is_told_whatever_the_topic():
    rows = reasons_of(12, draws=2)
    topics = np.random.default_rng(1).normal(0, 9, (12, 5))[np.repeat(np.arange(12), 4)]
    moved = topics + np.where(rows["culture"] == "JPN", 1.0, 0.0)[:, None] * np.eye(5)[0]
    (row,) = derive_caricature("m", rows, moved, HOW).to_dict("records")
    assert (row["accuracy"], row["n_scenarios"], row["status"]) == (1, 12, "ok")
    assert row["p"] < 0.01


def test_equal_reasons_are_told_half_of_the_time():
    rows = reasons_of(8)
    topics = np.random.default_rng(1).normal(size=(8, 5))[np.repeat(np.arange(8), 2)]
    (row,) = derive_caricature("m", rows, topics, HOW).to_dict("records")
    assert (row["accuracy"], row["p"]) == (0.5, 1)


def test_pairs_are_within_scenarios():
    rows = reasons_of(2, draws=2)
    (first, second) = paired_differences(rows, np.arange(8.0)[:, None], "JPN")
    assert first.ravel().tolist() == [-2, -3, -1, -2]
    assert second.ravel().tolist() == [-2, -3, -1, -2]


def test_too_few_scenarios_are_refused_with_the_reason():
    rows = reasons_of(4, cultures=("JPN", "USA"))
    table = derive_caricature("m", rows, np.ones((12, 2)), HOW)
    assert table["reason"].tolist() == [
        f"4 scenarios with reasons as {name} and as the placebo, 6 or more are needed" for name in ("JPN", "USA")
    ]
    assert table[["accuracy", "accuracy_by_chance", "p"]].isna().all(axis=None)
    CARICATURE.checked(pa.Table.from_pandas(table, preserve_index=False), "made")


@pytest.mark.parametrize(
    ("text", "names", "generalising"),
    [
        ("Japanese people always bow.", 1, 1),
        ("Japan is where I live. I always bow.", 1, 0),
        ("I am never late.", 0, 0),
        ("In our culture, elders are usually heard.", 0, 1),
        ("Typical! The Japanese-style office of Japan tends to be so.", 2, 1),
        ("Japans and japan and Japanization.", 0, 0),
        ("Most people here think so. Nobody in this country asks. I do.", 0, 2),
    ],
)
def test_names_and_generalising_sentences(text, names, generalising):
    counts = count_words(text, ["Japan", "Japanese"])
    assert (counts["n_own_names"], counts["n_generalising"]) == (names, generalising)


def test_words_are_counted_as_words():
    assert count_words("I don't know 3 well-known rules - or so.", [])["n_words"] == 7
    assert count_words("", ["Japan"]) == {"n_words": 0, "n_own_names": 0, "n_generalising": 0}


def test_rates_are_of_all_words_of_answers_that_were_read():
    reason_table = reasons(
        [
            ("JPN", 0, "IDV", {"explanation": "Japan is my home and I stay in it now."}),
            ("JPN", 1, "IDV", {"explanation": "I go."}),
            ("JPN", 2, "IDV", {"status": "refused", "explanation": None}),
            ("placebo", 0, "IDV", {"explanation": "Japan is far."}),
        ]
    )
    table = derive_stereotyped_words("m", reason_table, {"JPN": ["Japan"]}, HOW).set_index("culture")
    assert table.loc["JPN", ["own_names", "generalising", "n_words", "n_scenarios"]].tolist() == pytest.approx(
        [100 / 12, 0, 12, 2]
    )
    assert table.loc["placebo", "own_names"] == 0
    assert np.isnan(table.loc["placebo", "own_names_low"])
    whole = table.reset_index()[STEREOTYPED_WORDS.names]
    STEREOTYPED_WORDS.checked(pa.Table.from_pandas(whole, preserve_index=False), "made")
