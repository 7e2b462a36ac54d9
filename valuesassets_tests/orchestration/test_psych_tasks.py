"""Psych tasks as a graph: a study of real tiny models from transcripts to the page, and a mark that is mended."""

import dagster as dg
import pandas as pd
import pytest

from valuesassets.definitions import build_definitions
from valuesassets.orchestration.commands.run_study import QUIET
from valuesassets.orchestration.instruments import MODELS, PSYCH_TASKS
from valuesassets.orchestration.partitions import cell_key
from valuesassets.records.study import load_study
from valuesassets_tests.orchestration.rainy_study import EVERY_MARK, write_rainy_study, write_task
from valuesassets_tests.orchestration.study_here import unpainted

CELL = cell_key("random", "rain", "task")
PARTS = ("transcripts", "marks", "asked_marks", "trials")
OVER_ALL = ("mark_ledger", "prediction", "reliability", "keying", "published_scores", "layout_effect", "report")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("rainy")
    write_rainy_study(where)
    return where


@pytest.fixture(scope="module")
def instance():
    with unpainted(), dg.DagsterInstance.ephemeral() as made:
        yield made


def make(folder, instance, *nouns, partition=None):
    """The checks of some assets of the study as its files are now, by asset and name: whether each passes."""
    definitions = build_definitions(load_study(str(folder / "rainy.toml")), folder / "storage")
    keys = [MODELS.key(noun) if noun == "weights" else PSYCH_TASKS.key(noun) for noun in nouns]
    job = definitions.resolve_implicit_global_asset_job_def()
    done = job.execute_in_process(QUIET, instance, partition, asset_selection=keys, raise_on_error=False)
    failed = [event.step_failure_data.error.message for event in done.all_events if event.is_step_failure]
    assert done.success, failed
    checks = done.get_asset_check_evaluations()
    return {(check.asset_key.path[-1], check.check_name): check for check in checks}


def table(folder, *place):
    return pd.read_parquet(folder.joinpath("storage", "rainy", "psych_tasks", *place))


@pytest.mark.slow
@pytest.mark.first_look
def test_a_task_file_that_finds_too_little_fails_a_check_that_names_the_marks_and_mending_it_passes(folder, instance):
    checks = make(folder, instance, *PARTS, partition="rain")
    make(folder, instance, "weights", partition="random")
    make(folder, instance, "preflight", partition="random")
    checks |= make(folder, instance, "readings", "answer_distributions", partition=CELL)
    checks |= make(folder, instance, "mark_ledger")
    red = checks["marks", "marks_can_be_asked"]
    assert not red.passed
    assert "4" in str(red.metadata)
    unread = checks["answer_distributions", "marks_are_read"]
    assert not unread.passed
    assert checks["mark_ledger", "every_mark_is_accounted_for"].passed
    ledger = table(folder, "mark_ledger", "mark_ledger.parquet")
    assert ledger.groupby(["history", "status"])["marks"].sum().to_dict() == {
        (history, status): n
        for history in ("alone", "human", "other")
        for status, n in (("read", 2), ("no_candidates", 4))
    }
    page = folder / "storage" / "rainy" / "psych_tasks" / "answer_distributions" / "random" / "rain.html"
    assert "no kind of the task rain is found before it" in page.read_text(encoding="utf-8")
    before = table(folder, "answer_distributions", "random", "candidates.parquet")

    write_task(folder, "rain", EVERY_MARK)
    checks = make(folder, instance, *PARTS, partition="rain")
    checks |= make(folder, instance, "readings", "answer_distributions", partition=CELL)
    checks |= make(folder, instance, *OVER_ALL)
    assert checks["marks", "marks_can_be_asked"].passed
    assert checks["answer_distributions", "marks_are_read"].passed
    after = table(folder, "answer_distributions", "random", "candidates.parquet")
    assert len(after) == 3 * len(before)
    keys = ["participant", "history", "mark", "candidate"]
    both = before.merge(after, on=keys)
    assert len(both) == len(before)
    assert (both["log_prob_x"] - both["log_prob_y"]).abs().max() < 1e-6
    report = folder / "storage" / "rainy" / "psych_tasks" / "report" / "report.html"
    assert "Rain" in report.read_text(encoding="utf-8")


def test_more_resamples_make_stale_what_is_resampled_and_nothing_else(folder, instance):
    def versions():
        study = load_study(str(folder / "rainy.toml"))
        graph = build_definitions(study, folder / "storage").get_repository_def().asset_graph
        return {key.to_user_string(): graph.get(key).code_version for key in graph.get_all_asset_keys()}

    before = versions()
    study = folder / "rainy.toml"
    told = study.read_text(encoding="utf-8")
    study.write_text(told.replace("resamples = 99", "resamples = 199"), encoding="utf-8")
    after = versions()
    changed = {key for key in before if before[key] != after[key]}
    study.write_text(told, encoding="utf-8")
    analyses = ("prediction", "reliability", "keying", "published_scores", "layout_effect", "report")
    assert changed == {f"psych_tasks/{noun}" for noun in analyses}
