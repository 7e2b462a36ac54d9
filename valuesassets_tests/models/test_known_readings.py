"""What was once read comes back bit by bit or not at all, and an interrupted cell ends as an undisturbed one does."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.models.asking import Asking
from valuesassets.models.known_readings import KnownReadings
from valuesassets.models.loading import load_model
from valuesassets.models.scoring import score_spelled
from valuesassets.models.spelled_trials import model_key, spell_trials
from valuesassets.models.token_trees import BatchBudget
from valuesassets.records.errors import StorageError
from valuesassets.records.trials import Reading, Status
from valuesassets_tests.tiny_models import PROMPTS, trial

PROBS = st.floats(0, 0.1)
LIST, OTHER_LIST, UNKNOWN_LIST = ("0a" * 32, "ab" * 32, "cd" * 32)
TEXTS = st.one_of(st.text(), st.sampled_from(['"\\"', "\u2028\x85\r\n\x0b\x1c", "\x00\x7f", "\ufeff\ufffd", "🜨 ἔργον"]))


def reading(key, probs=(0.5, 0.25), outside=(), tokens=(1, 2), resolution=None):
    return Reading(
        trial_id=f"v1/0/{key}",
        label_probs=tuple(probs),
        p_valid=sum(probs),
        resolution_mass=resolution,
        resolution_mass_min=resolution,
        outside=tuple(outside),
        status=Status.OK,
        reason=None,
        reading_key=key,
        label_tokens=tokens,
    )


def without_probs(key, status, reason):
    return Reading(f"v1/0/{key}", None, None, 1e-3, 1e-4, (), status, reason, key)


@given(
    probs=st.lists(PROBS, min_size=1, max_size=9),
    outside=st.lists(st.tuples(TEXTS, PROBS), max_size=5),
    tokens=st.one_of(st.none(), st.lists(st.integers(1, 9), min_size=1, max_size=9).map(tuple)),
    resolution=st.one_of(st.none(), PROBS),
    reason=TEXTS,
)
@pytest.mark.slow
def test_every_field_comes_back_bit_by_bit(tmp_path_factory, probs, outside, tokens, resolution, reason):
    folder = tmp_path_factory.mktemp("known")
    kept = [
        reading("ok", probs, outside, tokens, resolution),
        without_probs("unresolved", Status.UNRESOLVED, reason),
    ]
    KnownReadings(folder).add(kept)
    # repr tells every float from its neighbours, and 0.0 from -0.0.
    assert [repr(KnownReadings(folder).get(each.reading_key)) for each in kept] == [repr(each) for each in kept]
    assert len(list(folder.iterdir())) == 1


def test_writers_of_one_folder_do_not_get_into_each_others_way(tmp_path):
    one, other = KnownReadings(tmp_path / "new"), KnownReadings(tmp_path / "new")
    one.add([reading("a"), reading("b")])
    other.add([reading("b"), reading("c")])
    assert (one.get("c"), other.get("a")) == (None, None)
    assert all(KnownReadings(tmp_path / "new").get(key) == reading(key) for key in "abc")


def test_what_is_known_stays_what_it_was(tmp_path):
    known = KnownReadings(tmp_path)
    known.add([reading("a")])
    known.add([reading("a", probs=(0.1, 0.1))])
    known.add([])
    assert known.get("a") == KnownReadings(tmp_path).get("a") == reading("a")
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("seed", range(8))
def test_a_file_damaged_at_any_byte_is_named_and_removed_and_only_its_own_readings_are_lost(tmp_path, seed):
    draw = random.Random(seed)  # noqa: S311
    KnownReadings(tmp_path).add([reading("a"), reading("b")])
    (damaged,) = tmp_path.iterdir()
    KnownReadings(tmp_path).add([reading("c")])
    KnownReadings(tmp_path).describe(LIST, {"batches": 2})
    content = bytearray(damaged.read_bytes())
    if seed:
        content[draw.randrange(len(content))] ^= draw.randint(1, 255)
    else:
        del content[draw.randrange(len(content)) :]
    damaged.write_bytes(content)
    said = []
    known = KnownReadings(tmp_path, said.append)
    assert said == [f"{damaged}: what was known is damaged; it is removed and read again from the model"]
    assert not damaged.exists()
    assert [known.get(key) for key in "abc"] == [None, None, reading("c")]
    assert known.description(LIST) == {"batches": 2}
    known.add([reading("a")])
    assert KnownReadings(tmp_path, said.append).get("a") == reading("a")
    assert len(said) == 1


def test_a_damaged_description_is_named_and_removed_and_the_readings_stay(tmp_path):
    KnownReadings(tmp_path).add([reading("a")])
    KnownReadings(tmp_path).describe(LIST, {"batches": 2})
    (damaged,) = tmp_path.glob("*.json")
    damaged.write_bytes(damaged.read_bytes().replace(b"2", b"3"))
    said = []
    known = KnownReadings(tmp_path, said.append)
    assert [str(damaged) in line for line in said] == [True]
    assert (known.description(LIST), known.get("a"), damaged.exists()) == (None, reading("a"), False)


def test_what_a_killed_writer_left_half_written_is_neither_read_nor_touched(tmp_path):
    KnownReadings(tmp_path).add([reading("a")])
    (whole,) = tmp_path.iterdir()
    half = whole.with_name(f".{whole.name}.0123abcd.jsonl")  # as whole_file names it
    half.write_bytes(whole.read_bytes()[:20])
    said = []
    assert KnownReadings(tmp_path, said.append).get("a") == reading("a")
    assert said == []
    assert half.read_bytes() == whole.read_bytes()[:20]


def test_a_failed_reading_is_not_kept_and_an_unresolved_one_is(tmp_path):
    failed, unresolved = (without_probs(str(status), status, "why") for status in (Status.FAILED, Status.UNRESOLVED))
    known = KnownReadings(tmp_path)
    known.add([failed])
    assert list(tmp_path.iterdir()) == []
    known.add([failed, unresolved])
    for each in (known, KnownReadings(tmp_path)):
        assert (each.get("failed"), each.get("unresolved")) == (None, unresolved)


def test_a_folder_that_cannot_be_written_is_one_line_and_nothing_is_taken_for_known(tmp_path):
    (tmp_path / "file").touch()
    known = KnownReadings(tmp_path / "file" / "known")  # nobody, root included, can make a folder in a file
    for write in (lambda: known.add([reading("a")]), lambda: known.describe(LIST, {})):
        with pytest.raises(StorageError, match="cannot be written") as error:
            write()
        assert str(tmp_path / "file" / "known") in str(error.value)
        assert "\n" not in str(error.value)
    assert (known.get("a"), known.description(LIST)) == (None, None)


def test_a_list_keeps_its_description_and_another_list_has_none(tmp_path):
    described = {"batch_plan": {"batches": 3, "budget": {"tokens": 1}}, "notes": ["Ω"], "revision": None}
    known = KnownReadings(tmp_path)
    known.describe(LIST, described)
    known.describe(OTHER_LIST, {})
    for each in (known, KnownReadings(tmp_path)):
        assert [each.description(key) for key in (LIST, OTHER_LIST, UNKNOWN_LIST)] == [described, {}, None]


@pytest.fixture
def llama(model_folders):
    return load_model(str(model_folders["sentencepiece"]), dtype="float32", device="cpu")


def asked_of(llama, count=40):
    trials = [trial(f"{n}. {PROMPTS[n % 3] * (1 + n % 2)}", 4 + n % 6, f"v{n}/0/forward") for n in range(count)]
    return spell_trials(llama.opened, trials)


@pytest.mark.parametrize("known_of_40", [1, 13, 27])
def test_a_cell_goes_on_in_the_batches_of_an_undisturbed_one(llama, tmp_path, known_of_40):
    """Over what is still unknown alone, other trials would share a batch, and bits would move."""
    spelled, budget = asked_of(llama), BatchBudget(1000, 16)
    whole = score_spelled(llama, spelled, budget=budget)
    assert whole.batches > 4
    known, calls = KnownReadings(tmp_path), []
    known.add(random.Random(known_of_40).sample(whole.readings, known_of_40))  # noqa: S311
    resumed = score_spelled(llama, spelled, lambda *counts: calls.append(counts), known, budget)
    assert resumed.describe() == whole.describe()
    assert list(map(repr, resumed.readings)) == list(map(repr, whole.readings))
    assert calls[0][0] > known_of_40
    assert calls[-1] == (40, 40)
    assert all(KnownReadings(tmp_path).get(each.key) for each in spelled)


def test_batches_whose_readings_are_known_do_not_go_through_the_model_again(llama, tmp_path):
    spelled, known, passes = asked_of(llama, 12), KnownReadings(tmp_path), []
    assert llama.tree_fault is None  # found by passes of its own, once
    with llama.model.register_forward_pre_hook(lambda *_: passes.append(1)):
        whole = score_spelled(llama, spelled, store=known)
        first, passes[:] = len(passes), []
        again = score_spelled(llama, spelled, store=known)
    assert again.readings == whole.readings
    assert len(passes) == first - whole.batches  # the certificate is made anew: it is not of the readings alone


def test_a_known_reading_is_served_for_its_own_question_under_the_id_it_is_asked_by(llama, tmp_path):
    known, opened = KnownReadings(tmp_path), llama.opened
    trials = [
        trial(PROMPTS[0], 4, "v1/0/forward"),
        trial(PROMPTS[1], 4, "v2/0/forward"),
        trial(PROMPTS[0], 4, "v3/0/x"),
    ]
    first, second, third = trials
    one, other, alike = spell_trials(opened, trials)
    assert Asking(opened, [first]).recall(known) is None
    (result, described) = Asking(llama.opened, [first]).ask(llama, store=known)
    (read,) = result.records
    described |= opened.describe()
    for asked in ([first], [first, second]):
        Asking(opened, asked).ask(llama)  # without the store: nothing is kept
    assert Asking(opened, [first]).recall(KnownReadings(tmp_path)) == ([read], described)
    assert Asking(opened, [third]).recall(known) == ([replace(read, trial_id="v3/0/x")], described)
    assert Asking(opened, [first, second]).recall(known) is None
    assert Asking(opened, [first, first]).recall(known) is None  # known, but not how such a list was read
    served = score_spelled(llama, [alike, one, other], store=known).readings
    assert served[:2] == (replace(read, trial_id="v3/0/x"), read)
    assert served[2].trial_id == "v2/0/forward"
    assert served[2].label_probs == pytest.approx(score_spelled(llama, [other]).readings[0].label_probs, rel=1e-4)


def test_a_cpu_and_a_gpu_know_readings_of_their_own_and_two_gpus_share_theirs(llama):
    keys = {device: model_key(replace(llama.opened, device=device)) for device in ("cpu", "cuda:0", "cuda:1", "auto")}
    assert keys["cpu"] == model_key(llama.opened)
    assert keys["cpu"] != keys["cuda:0"] == keys["cuda:1"] == keys["auto"]


def test_what_is_forgotten_is_gone_in_memory_and_on_disk_and_other_files_stay(tmp_path):
    known = KnownReadings(tmp_path)
    known.add([reading("a"), reading("b")])
    known.add([reading("c")])
    known.forget(["b", "never seen"])
    for each in (known, KnownReadings(tmp_path)):
        assert [each.get(key) is not None for key in "abc"] == [False, False, True]
    known.add([reading("b")])
    assert KnownReadings(tmp_path).get("b") is not None
