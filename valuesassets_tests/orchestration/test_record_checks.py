"""Checks that count records, in graphs that put trials and texts to tiny models."""

from dataclasses import replace

import dagster as dg
import pytest

from valuesassets.orchestration.grid.node_jobs import run_node_job
from valuesassets.orchestration.instruments import INSTRUMENTS
from valuesassets.orchestration.record_checks import CHECKS, checks_of, judge_rows
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import write_json
from valuesassets.records.jobs import EmbedJob, GenerateCell, GenerateJob
from valuesassets.records.parquet import read_table, trial_rows, write_table
from valuesassets.records.readouts import Generate
from valuesassets.records.tables import ANSWERS, EMBEDDED_TEXTS, READINGS, TRIALS
from valuesassets_tests.models.tiny_embedder import save_embedder
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.tiny_models import PROMPTS, sentencepiece_like, trial, write_model
from valuesassets_tests.toy_instrument import study as toy
from valuesassets_tests.toy_instrument.wiring import TOY

ESSAYS = replace(TOY, checks=("every_answer_is_written", "answers_come_to_an_end", "embedded_texts_are_whole"))
ERROR, WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN
TEXTS = ["Work is important.", "Family. " * 300, "Leisure."]


def row(**columns):
    return {"trial_id": "t1", "span": 0, "status": "ok", "reason": None} | columns


@pytest.mark.parametrize(("failing", "severity"), [(0, WARN), (1, WARN), (2, ERROR)])
def test_a_check_is_red_above_its_share_and_warns_below(failing, severity):
    rows = [row(status="failed", reason="torn") for _ in range(failing)] + [row() for _ in range(20 - failing)]
    (found,) = judge_rows(TOY, READINGS, [*rows, row(span=None, status="failed")])
    assert (found.passed, found.severity) == (failing == 0, severity)
    assert {name: found.metadata[name].value for name in ("looked_at", "failing", "share")} == {
        "looked_at": 20,
        "failing": failing,
        "share": failing / 20,
    }


def test_nothing_to_look_at_is_nothing_to_complain_of():
    (found,) = judge_rows(TOY, READINGS, [])
    assert found.passed


def test_instruments_name_checks_that_there_are_and_each_serves_the_assets_of_its_table():
    assert {name for instrument in (*INSTRUMENTS, TOY, ESSAYS) for name in instrument.checks} <= CHECKS.keys()
    assert [check.name for check in checks_of(ESSAYS, ANSWERS)] == [*ESSAYS.checks[:2]]
    assert checks_of(ESSAYS, READINGS) == []


def test_the_page_on_adding_an_instrument_names_every_check_with_its_table():
    rows = (REPOSITORY / "docs" / "add_an_instrument.md").read_text(encoding="utf-8").splitlines()
    listed = {tuple(row.split("|")[1:3]) for row in rows}
    assert {(f" `{check.name}` ", f" `{check.table.name}` ") for check in CHECKS.values()} <= listed


def run(asset, folder):
    """A run of an asset; by check what it says: whether it passed, how serious that is, and how many fail."""
    storage = Storage(root=str(folder / "storage"), study="small")
    result = dg.materialize([asset], resources={"storage": storage})
    return {
        each.check_name: (each.passed, each.severity, each.metadata["failing"].value)
        for each in result.get_asset_check_evaluations()
    }


@pytest.mark.slow
def test_texts_that_the_embedder_cuts_off_are_counted(tmp_path):
    study, key = toy.toy_study(tmp_path), ESSAYS.key("vectors")
    embedder = save_embedder(tmp_path, TEXTS)

    @dg.asset(key=key, check_specs=[check.spec(key) for check in checks_of(ESSAYS, EMBEDDED_TEXTS)])
    def vectors(context: dg.AssetExecutionContext, storage: dg.ResourceParam[Storage]):
        folder = storage.job_folder(context.asset_key, None)
        write_json(folder / "texts.json", TEXTS)
        report = folder / "report.parquet"
        job = EmbedJob(model=str(embedder), texts=folder / "texts.json", vectors=folder / "vectors.npy", report=report)
        run_node_job(context, job, study, storage)
        rows = read_table(report, EMBEDDED_TEXTS).to_pylist()
        return dg.MaterializeResult(check_results=judge_rows(ESSAYS, EMBEDDED_TEXTS, rows))

    assert run(vectors, tmp_path) == {"embedded_texts_are_whole": (False, WARN, 1)}


@pytest.mark.slow
def test_answers_that_were_not_written_or_cut_off_are_counted(tmp_path):
    study, key = toy.toy_study(tmp_path), ESSAYS.key("essays")
    model = write_model(tmp_path / "tiny", sentencepiece_like(), spread=0.2)
    far = trial("word " * 3000, 2, "far")
    asked = [replace(each, readout=Generate(4, seed=1)) for each in (trial(PROMPTS[0], 2, "near"), far)]

    @dg.asset(key=key, check_specs=[check.spec(key) for check in checks_of(ESSAYS, ANSWERS)])
    def essays(context: dg.AssetExecutionContext, storage: dg.ResourceParam[Storage]):
        folder = storage.job_folder(context.asset_key, None)
        write_table(folder / "trials.parquet", trial_rows(asked), TRIALS)
        cell = GenerateCell(
            name="tiny", model=str(model), trials=folder / "trials.parquet", answers=folder / "a.parquet"
        )
        run_node_job(context, GenerateJob(cells=(cell,), dtype="float32", device="cpu"), study, storage)
        rows = read_table(cell.answers, ANSWERS).to_pylist()
        assert [row["status"] for row in rows] == ["ok", "failed"]
        return dg.MaterializeResult(check_results=judge_rows(ESSAYS, ANSWERS, rows))

    assert run(essays, tmp_path) == {
        "every_answer_is_written": (False, ERROR, 1),
        "answers_come_to_an_end": (False, WARN, 1),
    }
