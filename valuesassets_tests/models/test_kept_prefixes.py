"""What many prompts begin with is read once, and every answer is what one pass for it alone gives."""

import math
import weakref
from dataclasses import replace
from functools import cache

import pytest
import torch

from valuesassets.models import kept_prefixes
from valuesassets.models.engine import read_batch
from valuesassets.models.kept_prefixes import find_prefix_fault, keep_prefix
from valuesassets.models.known_readings import KnownReadings
from valuesassets.models.loading import load_model
from valuesassets.models.scoring import score_spelled
from valuesassets.models.spelled_trials import spell_trials
from valuesassets.models.token_trees import BatchBudget, grow_tree, part_into_trees, plan_batches
from valuesassets.records.trials import Status
from valuesassets_tests.benchmarks.counting import counting
from valuesassets_tests.models.brute_force import BruteForce
from valuesassets_tests.parameters import fast
from valuesassets_tests.scored import read_trials, score_trials
from valuesassets_tests.tiny_models import ARCHITECTURES, byte_level, trial, write_model

POSITIONS = {"gpt2": "n_positions", "bloom": None, "mamba": None}
"""What architectures call the positions that they were made for, where not `max_position_embeddings`."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders of models whose tokens are bytes, by architecture, made once."""
    made = {}

    def folder(architecture="llama", **config):
        if (key := (architecture, *config.items())) not in made:
            name = POSITIONS.get(architecture, "max_position_embeddings")
            config |= {name: 4096} if name else {}
            where = tmp_path_factory.mktemp("m") / "m"
            made[key] = write_model(where, byte_level(size=257), architecture=architecture, spread=0.2, **config)
        return made[key]

    return folder


@pytest.fixture(scope="module")
def oracles(folders):
    """What enumeration gives, by architecture: each sequence goes through in float64 once, whoever asks for it."""
    return cache(lambda architecture: BruteForce(folders(architecture)))


@pytest.fixture
def untried_llama(folders):
    """A model of which nothing has been tried yet."""
    return load_model(str(folders()), dtype="float32", device="cpu")


@pytest.fixture(scope="module")
def llama(folders):
    return load_model(str(folders()), dtype="float32", device="cpu")


def person(tokens, number=0):
    """A description of so many tokens, one a byte."""
    return f"{number}. A person was asked. {'qxzjvkwy ' * (tokens // 9 + 1)}"[: tokens - 1] + "\n"


def questions(profile, count, labels=3):
    """Prompts behind a profile: questions of about 60 tokens, each in two orders, one in three up to ten."""
    asked = []
    for number in range(count):
        stem = f"{number % 2}{number // 2}. How important is {'xyz'[number // 2 % 3] * 9} to you?\n"
        options = [f"{n}. {'yes'[n % 3] * 4}\n" for n in range(3)][:: 1 - number % 2 * 2]
        top = 10 if number // 2 % 3 == 0 else labels
        asked.append(trial(profile + stem + "".join(options) + "A:", top, f"{profile[:4]}/{number}"))
    return asked


def apart(readings, others):
    """The largest difference of a log-probability."""
    pairs = [(one.label_probs, other.label_probs) for one, other in zip(readings, others, strict=True)]
    assert [one is None for one, _ in pairs] == [other is None for _, other in pairs]
    return max(abs(math.log(a / b)) for one, other in pairs if one for a, b in zip(one, other, strict=True))


EXHAUSTIVE = fast(
    [
        *[(architecture, 3, 512) for architecture in ("llama", "mamba")],
        *[(architecture, 520, 512) for architecture in ("llama", "qwen3", "gemma2", "gemma3", "gpt2", "mamba")],
        *[(architecture, 1040, 512) for architecture in ("llama", "gpt2")],
        *[
            (architecture, 520, chunk)
            for architecture in ("mistral", "qwen2", "gemma", "gemma2", "gemma3", "bloom", "mistral with a window")
            for chunk in (512, 200)
            if (architecture, chunk) not in {("gemma2", 512), ("gemma3", 512)}
        ],
    ],
    *[("llama", 3, 512), ("llama", 520, 512), ("mamba", 520, 512)],
)
"""Architectures, tokens of a prefix, and how many of them go through together: all, or in two and in three pieces."""


@pytest.mark.parametrize(("architecture", "tokens", "chunk"), EXHAUSTIVE)
def test_every_answer_behind_a_prefix_is_what_one_pass_for_it_in_float64_gives(
    folders, oracles, monkeypatch, architecture, tokens, chunk
):
    monkeypatch.setattr("valuesassets.models.reading_pass.CHUNK", chunk)
    loaded = load_model(str(folders(architecture)), dtype="float32", device="cpu")
    trials = questions(person(tokens), 4)[1:]
    result = score_trials(loaded, trials)
    for asked, reading in zip(trials, result.readings, strict=True):
        expected = oracles(architecture).label_probs(asked.prompt, asked.labels)
        if reading.status is Status.UNRESOLVED:
            assert reading.resolution_mass < 0.01
        else:
            assert reading.label_probs == pytest.approx(expected, abs=1e-6, rel=1e-4)
    assert result.certificate.agrees
    assert result.kept_prefixes == (1 if tokens > 3 and architecture in ARCHITECTURES else 0)


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize(("tokens", "count"), [(90, 90), (520, 30), (1040, 30)])
@pytest.mark.slow
def test_beside_a_prefix_and_alone_agree_within_the_rounding_of_the_dtype(folders, tokens, count, dtype):
    loaded = load_model(str(folders()), dtype=dtype, device="cpu")
    trials = questions(person(tokens), count)
    result = score_trials(loaded, trials)
    alone = [read_trials(loaded, [asked])[0] for asked in trials[:: count // 10]]
    assert result.kept_prefixes == 1
    assert result.certificate.agrees
    assert apart(result.readings[:: count // 10], alone) <= {"float64": 1e-12, "float32": 1e-5, "bfloat16": 0.15}[dtype]


@pytest.mark.slow
def test_what_goes_through_the_body_is_what_was_planned_and_a_prefix_goes_through_once(llama):
    profiles = [person(700, number) for number in range(3)]
    trials = [asked for profile in profiles for asked in questions(profile, 12)]
    assert llama.tree_fault is llama.prefix_fault is None  # found by passes of their own, once
    seen = []
    with counting(llama.model) as counts:
        result = score_trials(llama, trials, on_progress=lambda *_: seen.append(counts.copy()))
    assert (seen[-1].calls, seen[-1].tokens) == (result.batches, result.tokens)
    assert result.kept_prefixes == 3
    assert 3 * 700 < result.tokens < 0.2 * sum(len(asked.prompt) for asked in trials)


def test_one_prefix_is_in_memory_at_a_time_and_trees_leave_nothing_in_it(llama, monkeypatch):
    trials = [asked for number in range(3) for asked in questions(person(600, number), 6)]
    kept, keep = [], kept_prefixes.keep_prefix

    def watch(model, tokens, chunk):
        assert not any(other() is not None for other in kept)
        kept.append(weakref.ref(found := keep(model, tokens, chunk)))
        return found

    monkeypatch.setattr("valuesassets.models.reading_pass.keep_prefix", watch)
    assert score_trials(llama, trials).kept_prefixes == 3
    assert len(kept) >= 3  # the certificate may keep one of its own
    prefix = keep(llama.model, tuple(range(5, 55)), 20)
    before = [(layer.keys.clone(), layer.values.clone()) for layer in prefix.cache.layers]
    read_batch(llama.model, [grow_tree([(1, 2), (1, 3)]), grow_tree([(7,)])], [(1,)] * 3, 1, prefix)
    for layer, (keys, values) in zip(prefix.cache.layers, before, strict=True):
        assert torch.equal(layer.keys, keys)
        assert torch.equal(layer.values, values)
        assert layer.keys.shape[::2] == (1, 50)


def test_where_nothing_long_is_shared_trees_and_batches_are_those_of_before(untried_llama):
    llama = untried_llama
    trials = [asked for number in range(9) for asked in questions(person(60, number), 4)]
    result = score_trials(llama, trials)
    sequences = [
        (*one.spelled.prompt_ids, *node)
        for one in spell_trials(llama.opened, trials)
        for node in one.spelled.trie.inner_nodes
    ]
    trees = [grow_tree([sequences[i] for i in part]) for part in part_into_trees(sequences, 64)]
    plan = plan_batches(trees, BatchBudget(1536, 64))
    assert result.batches == len(plan)
    assert result.tokens == sum(len(batch) * len(trees[batch[0]].tokens) for batch in plan)
    assert "prefix_fault" not in vars(llama)  # it is tried where there is one
    assert "kept_prefixes" not in result.describe()["batch_plan"]


@pytest.mark.parametrize("window", [400, 519, 520, 521, 600])
@pytest.mark.slow
def test_a_prefix_beyond_what_a_layer_looks_back_on_is_kept_and_read_as_the_window_has_it(folders, window):
    folder = folders("mistral", sliding_window=window)
    loaded, oracle = load_model(str(folder), dtype="float32", device="cpu"), BruteForce(folder)
    trials = questions(person(520), 4)[1:]
    result = score_trials(loaded, trials)
    assert result.kept_prefixes == 1
    assert not result.notes
    for asked, reading in zip(trials, result.readings, strict=True):
        expected = oracle.label_probs(asked.prompt, asked.labels)
        assert reading.label_probs == pytest.approx(expected, abs=1e-6, rel=1e-4)


# ---------- memory


def refuse(model, most):
    """Makes passes of more than `most` tokens ask for more memory than there is.

    Args:
        most: of a pass that reads a prefix to be kept, of trees beside it, and of whole sequences.
    """

    def check(_module, _arguments, inputs):
        is_kept = inputs.get("past_key_values") is not None
        kind = "whole" if not is_kept else "prefix" if inputs.get("attention_mask") is None else "beside"
        if inputs["input_ids"].numel() > most.get(kind, math.inf):
            raise torch.OutOfMemoryError

    return model.register_forward_pre_hook(check, with_kwargs=True)


@pytest.fixture(scope="module")
def undisturbed(llama):
    """Trials behind one prefix, and their readings where there is memory enough."""
    trials = questions(person(600), 30)
    result = score_trials(llama, trials)
    assert result.kept_prefixes == 1
    return trials, result.readings


@pytest.mark.parametrize(
    ("most", "note"),
    [
        ({"beside": 600}, "went on with batches of 1536 tokens"),
        ({"beside": 200}, "sequences one by one"),
        ({"prefix": 500}, "a beginning of 600 tokens was read with every tree"),
    ],
    ids=["batch", "tree", "prefix"],
)
@pytest.mark.slow
def test_too_little_memory_beside_a_prefix_ends_with_the_same_answers_and_says_so(llama, undisturbed, most, note):
    trials, expected = undisturbed
    with refuse(llama.model, most):
        result = score_trials(llama, trials, budget=BatchBudget(3072, 64))
    assert any(said.startswith("out of memory: ") and note in said for said in result.notes), result.notes
    assert apart(result.readings, expected) <= 1e-5
    assert result.certificate.agrees


def test_a_prompt_that_does_not_fit_even_alone_fails_by_name_and_the_others_are_kept(llama):
    trials = [*questions(person(600), 4), trial("So?\n1. a\n2. b\nA:", 2, "short")]
    with refuse(llama.model, {"whole": 100, "beside": 100, "prefix": 100}):
        *failed, read = score_trials(llama, trials).readings
    assert read.status is Status.OK
    assert {reading.status for reading in failed} == {Status.FAILED}
    assert "tokens do not fit into the memory of cpu" in failed[0].reason


# ---------- interruption


@pytest.fixture(scope="module")
def behind_three(llama):
    """Trials behind three prefixes, spelled, and what an undisturbed run makes of them."""
    spelled = spell_trials(llama.opened, [asked for n in range(3) for asked in questions(person(520, n), 10)])
    return spelled, score_spelled(llama, spelled)


@pytest.mark.parametrize("stop", [1, 11, 25])
@pytest.mark.slow
def test_what_was_stopped_beside_a_prefix_ends_with_the_bytes_of_an_undisturbed_run(
    llama, behind_three, tmp_path, stop
):
    spelled, whole = behind_three

    def broken_off(done, _total):
        if done >= stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_spelled(llama, spelled, broken_off, store=KnownReadings(tmp_path))
    resumed = score_spelled(llama, spelled, store=KnownReadings(tmp_path))
    assert list(map(repr, resumed.readings)) == list(map(repr, whole.readings))
    assert resumed.describe() == whole.describe()
    kept = []
    with llama.model.register_forward_pre_hook(
        lambda _m, _a, inputs: kept.append(inputs.get("past_key_values")), with_kwargs=True
    ):
        score_spelled(llama, spelled, store=KnownReadings(tmp_path))
    assert len(kept) < whole.batches  # the certificate alone


@pytest.mark.slow
def test_the_same_bytes_come_out_twice_and_under_one_thread_and_two(llama):
    trials = [asked for number in range(2) for asked in questions(person(600, number), 12)]
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(list(map(repr, read_trials(llama, trials))))
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1]


# ---------- what cannot be trusted is found out


def test_the_certificate_reads_the_shortest_and_the_longest_prompt_beside_a_prefix_again(llama):
    alone = [trial(f"{'w' * n}?\n1. a\n2. b\nA:", 2, f"w{n}") for n in (1, 2, 3, 4, 1500)]
    trials = [*alone, *questions(person(600), 20)]
    lengths = [len(asked.prompt) for asked in trials[5:]]
    read = []
    with llama.model.register_forward_pre_hook(
        lambda _m, _a, inputs: read.append(inputs["input_ids"].shape), with_kwargs=True
    ):
        result = score_trials(llama, trials)
    assert result.certificate.agrees
    # Alone, a prompt is a row of its own: with " 1" in two tokens and "10" behind "1", one or two more.
    singles = {width - more for rows, width in read[result.batches :] if rows == 1 for more in (0, 1, 2)}
    assert {min(lengths), max(lengths), 1500 + 14} <= singles


def test_a_prefix_that_is_seen_wrongly_shows_in_the_self_test_and_in_the_certificate(llama, monkeypatch):
    trials = questions(person(600), 20)
    assert llama.prefix_fault is None
    update = kept_prefixes._KeptLayer.update

    def shortened(layer, keys, values, *rest, **more):
        found = update(layer, keys, values, *rest, **more)
        return tuple(torch.cat([part[:, :, :1] * 0, part[:, :, 1:]], 2) for part in found)

    monkeypatch.setattr(kept_prefixes._KeptLayer, "update", shortened)
    assert "its answers differ by" in find_prefix_fault(llama.model)
    certificate = score_trials(llama, trials).certificate
    assert certificate.trials
    assert not certificate.agrees


@pytest.mark.slow
def test_a_layer_that_keeps_what_was_read_beside_it_is_found_out(untried_llama, monkeypatch):
    llama = untried_llama
    update = kept_prefixes._KeptLayer.update

    def keeping(layer, *given, **more):
        found = update(layer, *given, **more)
        layer.keys, layer.values = (part[:1] for part in found)
        return found

    monkeypatch.setattr(kept_prefixes._KeptLayer, "update", keeping)
    assert find_prefix_fault(llama.model)
    trials = questions(person(600), 20)
    result = score_trials(llama, trials)
    assert result.notes[0].startswith("what prompts begin with was read with every tree: ")
    assert result.kept_prefixes == 0
    assert result.certificate.agrees


def test_a_prefix_is_read_in_pieces_as_it_is_in_one(llama):
    tokens, tree = tuple(n % 250 for n in range(300)), grow_tree([(1, 2), (1, 3)])
    one, many = (
        read_batch(llama.model, [tree], [range(257)] * 2, 1, keep_prefix(llama.model, tokens, chunk))
        for chunk in (300, 64)
    )
    for row, other in zip(one, many, strict=True):
        assert row.log_probs == pytest.approx(other.log_probs, abs=1e-5)


def test_a_trial_that_its_neighbours_broke_beside_a_prefix_is_read_alone(llama):
    trials = questions(person(600), 12)
    expected = read_trials(llama, trials)

    def spoil(_module, _inputs, logits):
        return logits * torch.nan if len(logits) > 3 else logits

    with llama.model.get_output_embeddings().register_forward_hook(spoil):
        found = read_trials(llama, trials)
    assert apart(found, expected) <= 1e-5


def test_a_prompt_that_is_the_beginning_of_others_is_read_beside_all_but_its_last_token(llama):
    profile = person(600)
    asked = [replace(each, readout=trial("", 3).readout) for each in questions(profile, 6)]
    trials = [trial(profile, 3, "none"), *asked]
    result = score_trials(llama, trials)
    assert result.kept_prefixes == 1
    alone = [read_trials(llama, [asked])[0] for asked in trials]
    assert apart(result.readings, alone) <= 1e-5
