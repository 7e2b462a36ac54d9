"""A cell of 300 participants, read by a real node job: it shows how far it is, and killed it loses nothing."""

import json
import re

import pytest
import torch

from valuesassets.instruments.psych_tasks.material.marks import people_of
from valuesassets.instruments.psych_tasks.material.task_files import load_task
from valuesassets.instruments.psych_tasks.material.transcripts import derive_transcripts, task_transcripts
from valuesassets.instruments.psych_tasks.trials.asked_marks import ask_task
from valuesassets.node.job_process import main
from valuesassets_tests.node import held_job
from valuesassets_tests.node.node_jobs import score_job, start
from valuesassets_tests.orchestration.rainy_study import EVERY_MARK, text, write_task
from valuesassets_tests.tiny_models import sentencepiece_like, write_model

PEOPLE, MARKS, BEFORE_THE_END = 300, 3, 100


def trials(folder):
    """What many people answered in three weeks, asked after their own answers."""
    texts = [f"Person {n}.\n{text([n % 10, n // 10 % 10, n // 100 % 10])}" for n in range(PEOPLE)]
    lines = [{"text": each, "experiment": "rain", "participant": n} for n, each in enumerate(texts)]
    (folder / "rain.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    write_task(folder, "rain", EVERY_MARK)
    task = load_task(str(folder / "rain.toml"))
    people = people_of(task_transcripts(derive_transcripts(folder / "rain.jsonl", task)), task)
    return ask_task(people, task, ["human"], ["marked"], 1).trials


def kept_in(store):
    files = sorted(store.rglob("[0-9a-f]*.jsonl"))
    return [json.loads(line)["reading_key"] for path in files for line in path.read_text().splitlines()]


def tokens_of(job):
    """Do a job in this process; how many tokens went through the model."""
    seen = []

    def count(module, inputs):
        if isinstance(module, torch.nn.Embedding):
            seen.append(inputs[0].numel())

    hook = torch.nn.modules.module.register_module_forward_pre_hook(count)
    try:
        assert main([job]) == 0
    finally:
        hook.remove()
    return sum(seen)


def counts_in(output):
    """How many marks were read, as a job says while it runs."""
    return [int(done) for done in re.findall(rf"^scored (\d+)/{PEOPLE * MARKS}$", output, re.MULTILINE)]


@pytest.mark.slow
@pytest.mark.job_faults
def test_killed_in_the_middle_it_reads_only_what_was_not_read_and_shows_how_far_it_is(tmp_path, capsys):
    model, trials_of_job = (
        write_model(tmp_path / "model", sentencepiece_like(), spread=0.2, num_hidden_layers=1),
        trials(tmp_path),
    )
    assert len(trials_of_job) == PEOPLE
    whole, killed = (
        score_job(tmp_path / name, model, asked=trials_of_job, known=tmp_path / name / "known")
        for name in ("whole", "killed")
    )
    store = tmp_path / "killed/known"
    process = start(killed, str(BEFORE_THE_END), program=held_job.PROGRAM)
    held_job.wait_until_held(process)
    process.kill()
    output, _ = process.communicate()
    before = set(kept_in(store))
    assert BEFORE_THE_END < len(before) < PEOPLE * MARKS
    assert not (tmp_path / "killed/0.parquet").exists()
    assert 0 < counts_in(output)[-1] < PEOPLE * MARKS

    tokens = tokens_of(killed)
    counts = counts_in(capsys.readouterr().out)
    assert counts == sorted(counts)
    assert counts[-1] == PEOPLE * MARKS
    after = kept_in(store)
    assert len(after) == len(set(after))
    assert before < set(after)
    left = 1 - len(before) / len(after)
    assert 0 < tokens <= left * 1.05 * tokens_of(whole)
    assert (tmp_path / "killed/0.parquet").read_bytes() == (tmp_path / "whole/0.parquet").read_bytes()
