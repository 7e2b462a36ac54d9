"""The scorer against enumeration: 250 random questions, every tokenizer, any labels, both orders in one tree."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from valuesassets.models.loading import load_model
from valuesassets.records.trials import Status
from valuesassets_tests.models.brute_force import BruteForce
from valuesassets_tests.scored import read_trials
from valuesassets_tests.tiny_models import byte_level, sentencepiece_like, trial, write_model

CASES = 250
"""Others in every run."""
TOKENIZERS = ["sentencepiece", "byte_level"]
TEXTS = [
    "How important is work in your life?",
    "Wie wichtig ist Gott?",
    "Τι λέτε για την εμπιστοσύνη;",
    "Смятате ли, че може да се вярва на повечето хора?",
]
CUES = ["Answer:", "Antwort:", "Απάντηση:", "The answer is:"]
OPTIONS = ["Very important", "not at all", "überhaupt nicht", "Ναι", "не знам", "", "10", "1"]
NUMBERS = [str(number) for number in range(100)]
WORDS = ["yes", "no", "ja", "nein", "Ναι", "Όχι", "A", "B", "C", "yesterday", "no.", "not", "1", "10", "1.5"]

NESTED = [["1", "10", "2"], ["1", "10", "100"], ["7", "70", "71", "72"], NUMBERS[1:11]]
"""Of some labels others go on; random cases have such labels seldom, and each is compared beside every text and cue."""
label_sets = st.one_of(
    st.sampled_from(NESTED),
    st.integers(2, 11).map(lambda k: NUMBERS[1 : k + 1]),
    st.lists(st.sampled_from(NUMBERS), min_size=2, max_size=9, unique=True),
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=6, unique=True),
)


@pytest.fixture(scope="module")
def instruments(tmp_path_factory):
    """By tokenizer: enumeration in float64, and the scorer's model in both precisions."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    prompts = [f"{text}\n1. {option}\n{cue}" for text in TEXTS for option in OPTIONS for cue in CUES]
    found = {}
    for name, tokenizer in (("sentencepiece", sentencepiece_like(prompts)), ("byte_level", byte_level(prompts))):
        folder = str(write_model(tmp_path_factory.mktemp("exact") / name, tokenizer, spread=0.1))
        found[name] = BruteForce(folder), {dtype: load_model(folder, dtype=dtype) for dtype in ("float64", "float32")}
    yield found
    torch.set_num_threads(threads)


@pytest.mark.slow
def test_equals_enumeration_to_1e_12_in_float64_and_1e_5_in_float32(instruments):
    """Of every label, in probability (float64) and in log-probability (float32), however small it is."""
    counted = {"read": 0, "one label goes on from another": 0}

    def compare(name, labels, text, cue, orders):
        enumeration, models = instruments[name]
        trials = [
            trial(
                "\n".join([text, *(f"{n}. {option}" for n, option in enumerate(shown, 1)), cue]), tuple(labels), order
            )
            for order, shown in orders.items()
        ]
        exact, rounded = (read_trials(models[dtype], trials) for dtype in ("float64", "float32"))
        for asked, precise, single in zip(trials, exact, rounded, strict=True):
            if precise.status is Status.UNRESOLVED:
                assert precise.resolution_mass < 0.01
                continue
            expected = enumeration.label_probs(asked.prompt, asked.labels)
            assert precise.label_probs == pytest.approx(expected, abs=1e-12, rel=0)
            assert np.log(single.label_probs) == pytest.approx(np.log(expected), abs=1e-5, rel=0)
            counted["read"] += 1
            counted["one label goes on from another"] += precise.resolution_mass is not None

    @settings(max_examples=CASES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(
        name=st.sampled_from(TOKENIZERS),
        labels=label_sets,
        text=st.sampled_from(TEXTS),
        cue=st.sampled_from(CUES),
        options=st.lists(st.sampled_from(OPTIONS), min_size=2, max_size=4),
        data=st.data(),
    )
    def compare_random_case(name, labels, text, cue, options, data):
        compare(name, labels, text, cue, {"forward": options, "drawn": data.draw(st.permutations(options))})

    compare_random_case()
    for case in product(TOKENIZERS, NESTED, TEXTS, CUES):
        compare(*case, {"forward": OPTIONS[:3]})
    assert counted["read"] >= CASES
    assert counted["one label goes on from another"] >= CASES / 5, counted
