"""The benchmarks run end to end on a tiny model; what they count and compare can be wrong and is then refused."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from valuesassets.models.loading import load_model
from valuesassets.models.reading_pass import ReadingPass
from valuesassets.models.spelled_trials import spell_trials
from valuesassets.models.token_trees import BatchBudget
from valuesassets_tests.benchmarks import __main__ as command
from valuesassets_tests.benchmarks import gpu, gpu_check, lm_eval_harness, paired, prefixes, published
from valuesassets_tests.benchmarks.counting import Counts, counting, find_sequences, needed_counts, seed_counts
from valuesassets_tests.benchmarks.evidence import add_entries, entry, holds
from valuesassets_tests.benchmarks.seed_algorithm import SeedReader
from valuesassets_tests.benchmarks.simulated_people import Form, Law
from valuesassets_tests.benchmarks.workload import (
    SHAPES,
    choose_questions,
    cut_slices,
    is_ten_point,
    make_tokenizer,
    write_model,
)
from valuesassets_tests.needs import REPOSITORY

pytestmark = pytest.mark.benchmarks

VOCABULARY = 2048


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    folder = write_model(tmp_path_factory.mktemp("bench") / "tiny", SHAPES["tiny"], VOCABULARY)
    return load_model(str(folder), dtype="float32", device="cpu")


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_the_command_writes_every_entry_and_a_later_part_replaces_only_its_own(
    tmp_path, monkeypatch, capsys, one_thread
):
    monkeypatch.setenv("VALUESASSETS_STORAGE", str(tmp_path))
    assert command.main(["--quick", "--only", "5m,200m,scaling"]) == 0
    path = tmp_path / "evidence" / "bench_quick.json"
    first = json.loads(path.read_text())
    named = {"engine_vs_seed_5m", "engine_vs_seed_200m", "engine_vs_lm_eval_5m", "tokens_vs_seed"}
    assert named <= set(first)
    assert all({"min", "median", "max", "unit"} <= set(found) for found in first.values())
    assert command.main(["--quick", "--only", "memory,evaluate,remote"]) == 0
    second = json.loads(path.read_text())
    added = {"extra_peak_mib", "extra_peak_growth_mib", "wvb_evaluate_seconds", "wvb_evaluate_peak_gib"}
    added |= {"remote_400_of_200_ms", "remote_400_of_50_ms"}
    assert set(second) - set(first) == added
    assert second["engine_vs_seed_5m"] == first["engine_vs_seed_5m"]
    assert second["extra_peak_mib"]["max"] > 0
    assert "engine_vs_seed_5m" in capsys.readouterr().out


def test_without_a_gpu_the_check_of_one_says_so_and_writes_no_number(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv("VALUESASSETS_STORAGE", str(tmp_path))
    assert gpu_check.main() == 0
    assert "skipped: no GPU is visible" in capsys.readouterr().out
    entries = json.loads((tmp_path / "evidence" / "gpu.json").read_text())
    assert set(entries) == set(gpu.MEASURED)
    assert {(found["unit"], found["median"]) for found in entries.values()} == {("not measured", None)}
    assert all(found["reason"] for found in entries.values())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-S", "-m", "valuesassets_tests.benchmarks.gpu_check"], "has no torch; beside the site's torch it needs"),
        (
            [
                "-c",
                "import sys; sys.modules['dagster'] = None; import valuesassets_tests.benchmarks.gpu_check; "
                "sys.exit('needs no Dagster')",
            ],
            "needs no Dagster",
        ),
    ],
)
def test_a_sites_own_python_needs_no_dagster_and_is_told_what_it_lacks(arguments, said):
    done = subprocess.run([sys.executable, *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_law_of_simulated_people_is_that_of_those_who_answered_alike():
    random = np.random.default_rng(3)
    law = Law.draw(3, random)
    answers, laws = law.simulate(2, random)
    assert laws.sum(axis=-1) == pytest.approx(1)
    for person, said in enumerate(answers):
        for item in range(3):
            joint = [[k[: item + 1][range(item + 1), (*said[:item], n)].prod() for k in law.kinds] for n in range(100)]
            expected = np.array(joint).sum(axis=1) / np.array(joint).sum()
            assert laws[person, item] == pytest.approx(expected)
    many = law.simulate(20_000, random)[0]
    share = np.array([np.bincount(many[:, item], minlength=100) for item in range(3)]) / 20_000
    assert np.abs(share - law.kinds.mean(axis=0)).sum(axis=1).max() / 2 < 0.03


@pytest.mark.parametrize("digits", published.TOKENIZERS)
def test_a_model_of_simulated_people_is_read_in_both_ways_at_every_mark(digits, tmp_path):
    form = Form("How often?\n", ("Make a scene?", "Disturb the peace?"))
    found = published.compare(tmp_path / "m", form, Law.draw(2, np.random.default_rng(0)), digits, 4, 20)
    assert found["spans"] == 8
    assert (found["single"] == 10) is (digits == "split")
    assert found["tvd_between"] > 0.1
    assert 0 < found["p_valid"] < found["p_valid_exact"] <= 1


def test_without_the_questionnaire_nothing_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(published, "ITEMS", tmp_path / "absent")
    entries = published.measure(tmp_path, 1, 1, print)
    assert {(found["median"], found["reason"]) for found in entries.values()} == {
        (None, "needs ../shared/data/psych, which is not here")
    }


@pytest.mark.parametrize("load", prefixes.WORKLOADS, ids=lambda load: str(load.attributes))
def test_a_profile_before_all_questions_goes_through_the_body_once_by_the_plan(loaded, load):
    spelled = spell_trials(loaded.opened, prefixes.write_prompts(loaded, load, 1, 239))
    alone = sum(len(each.spelled.prompt_ids) for each in spelled)
    assert alone / len(spelled) == pytest.approx(load.tokens + prefixes.OWN_TOKENS, abs=6)
    plan = ReadingPass(loaded, spelled, BatchBudget.for_device("cpu"))
    assert plan.kept_prefixes == 1
    assert plan.tokens <= load.most * alone


def test_what_kept_prefixes_save_is_counted_where_it_is_done(loaded, tmp_path, monkeypatch):
    folder = write_model(tmp_path / "m", SHAPES["tiny"], VOCABULARY)
    monkeypatch.setattr(prefixes, "WORKLOADS", prefixes.WORKLOADS[1:])
    found = prefixes.compare(loaded, folder, 1, 16, lambda _: None)
    assert found["wvb_tokens_shared_42"]["over_whole_trees"] < 0.3
    assert [row["way"] for row in found["wvb_extra_peak_mib"]["rows"]] == ["kept", "whole"]


def test_what_is_measured_on_a_gpu_runs_on_a_cpu_at_the_size_of_a_toy():
    shapes = dict.fromkeys(("1b", "2b", "7b", "22b"), (SHAPES["tiny"], 4000))
    sizes = gpu.Sizes(shapes, 5, 4, 3, 2, 200, 3, 6, 64, 1000, 1, 8)
    found = gpu.Check("cpu", sizes, lambda _: None).measure()
    assert {name: one["reason"] for name, one in found.items() if one["median"] is None} == {
        "memory": "it is the card's memory that is looked at"
    }
    assert found["exactness_fp32"]["is_met"]
    assert found["exactness_bf16"]["same_twice"]
    assert 0 < found["exactness_bf16"]["median"] < 0.05
    assert found["labels_1b"]["head_rows"] == 5 * 4 + 4  # two orders, ` 1` in two tokens; a scale asks behind "1" too
    seconds = 22 * (min(found["labels_2b"]["seconds"]) + min(found["labels_22b"]["seconds"]))
    assert found["evs_44_cells"]["median"] == pytest.approx(seconds)


def test_an_entry_that_fails_says_why_and_the_others_are_measured(monkeypatch):
    def fails(_check):
        raise RuntimeError("no room\nand more")

    monkeypatch.setattr(gpu, "MEASURED", {"one": fails, "copy_tb_s": gpu.Check.copy})
    found = gpu.Check("cpu", gpu.Sizes(copied=1000, repetitions=1), lambda _: None).measure()
    assert found["one"]["reason"] == "no room"
    assert found["copy_tb_s"]["median"] > 0


def test_slices_hold_every_question_once_and_as_many_scales_each():
    questions = choose_questions(100)
    slices = cut_slices(questions, 5)
    assert sorted(q[0].trial_id for part in slices for q in part) == sorted(q[0].trial_id for q in questions)
    assert [sum(map(is_ten_point, part)) for part in slices] == [4] * 5
    assert all(len(part) == 20 for part in slices)


def test_no_two_prompts_of_the_workload_are_the_same():
    prompts = [trial.prompt for asked in choose_questions(400) for trial in asked]
    assert len(set(prompts)) == 800


def test_entries_that_fill_the_vocabulary_are_never_produced():
    small, large = make_tokenizer(VOCABULARY), make_tokenizer(2 * VOCABULARY)
    assert len(large) == 2 * VOCABULARY
    for asked in choose_questions(20):
        assert small(asked[0].prompt)["input_ids"] == large(asked[0].prompt)["input_ids"]


def test_the_seed_reads_whole_prompts_and_the_engine_a_tree(loaded):
    questions = choose_questions(10)
    sequences = [find_sequences(loaded, asked) for asked in questions]
    seed, tree = seed_counts(sequences), needed_counts(sequences)
    prompts = [len(prompt) for one in sequences for prompt in one.prompts]
    assert seed.calls == len(prompts) + 4
    assert seed.head_rows == seed.tokens > sum(prompts)
    assert tree.head_rows == 8 * 4 + 2 * 8  # rows behind prompt and space; on scales behind "1" in both
    assert tree.tokens < 0.7 * seed.tokens


def test_work_beyond_what_the_algorithm_implies_is_refused(loaded):
    trial = choose_questions(10)[0][0]
    reader = SeedReader(loaded)
    with counting(loaded.model) as counts:
        reader.answer(trial.prompt, trial.labels)
    run = lambda: reader.answer(trial.prompt, trial.labels)  # noqa: E731
    paired.timed_counts(loaded.model, run, counts, "seed")
    with pytest.raises(AssertionError, match="the algorithm implies"):
        paired.timed_counts(loaded.model, run, counts + Counts(tokens=1), "seed")


def test_a_model_that_answers_otherwise_is_refused(loaded, monkeypatch):
    questions = choose_questions(10)
    worst, left_out = paired.agreement_with_seed(loaded, questions)
    assert worst <= 1e-5
    assert left_out > 0.01
    exact = SeedReader.answer_fully
    monkeypatch.setattr(SeedReader, "answer_fully", lambda *given: tuple(p * 1.0001 for p in exact(*given)))
    with pytest.raises(AssertionError, match="differ by"):
        paired.agreement_with_seed(loaded, questions)


@pytest.mark.skipif(not lm_eval_harness.is_installed(), reason="needs the bench extra: make bench installs it")
def test_the_harness_reads_the_same_tokens_and_agrees(loaded):
    assert paired.agreement_with_harness(loaded, choose_questions(10)) <= 1e-5


@pytest.mark.parametrize(
    ("value", "wanted", "kept"), [(12, ">= 12", True), (11.9, ">= 12", False), (0.6, "<= 0.6", True)]
)
def test_a_limit_is_kept_or_not(value, wanted, kept):
    assert holds(value, wanted) is kept


def test_an_upper_limit_is_held_by_the_largest_and_a_lower_one_by_the_middle():
    assert not entry([0.1, 0.2, 0.9], "", wanted="<= 0.6")["is_met"]
    assert entry([1, 12, 13], "", wanted=">= 12")["is_met"]


def test_entries_of_an_interrupted_bench_stay(tmp_path):
    path = tmp_path / "evidence" / "bench.json"
    add_entries(path, {"one": entry([1.0], "s"), "two": entry([2.0], "s")})
    add_entries(path, {"two": entry([3.0], "s")})
    assert {name: found["median"] for name, found in json.loads(path.read_text()).items()} == {"one": 1.0, "two": 3.0}
