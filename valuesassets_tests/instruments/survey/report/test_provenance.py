"""Every link from a point of the map down to the page is recovered, and a broken one is named."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pdfplumber
import pytest

from valuesassets.cli.app import app
from valuesassets.instruments.survey.material.forms.form_pictures import ABOVE, MARGIN
from valuesassets.instruments.survey.material.indicators import INDICATORS, components
from valuesassets.instruments.survey.report.provenance import trace_item, trace_point
from valuesassets.models.loading import open_model
from valuesassets.models.prompting import first_shown, show_trial
from valuesassets.records.errors import InputError, StorageError
from valuesassets.records.files import sha256_file
from valuesassets.records.parquet import (
    read_readings,
    read_trials,
    reading_rows,
    table_metadata,
    trial_rows,
    write_table,
)
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.tables import PROBE_DISTRIBUTIONS, READINGS, TRIALS
from valuesassets_tests.tiny_chats import write_chat_model

CELL = ("reference-mono", "fra")


def items(point):
    return {item.question_id: item for indicator in point.indicators for item in indicator.items}


@pytest.fixture(scope="module")
def point(stored_once):
    return trace_point(stored_once.folder, *CELL)


def rewrite(path, change):
    """Readings of a cell, changed, under the metadata that they had."""
    metadata = table_metadata(path)
    write_table(path, change(reading_rows(read_readings(path))), READINGS, metadata)


def test_a_point_rests_on_ten_indicators_and_every_question_they_need(point):
    assert [indicator.code for indicator in point.indicators] == list(INDICATORS)
    assert list(items(point)) == [part for code in INDICATORS for part in components(code)]
    assert point.problems == ()
    assert point.place["label"] == "reference-mono fra"


def test_the_means_are_those_of_the_stored_answers_by_hand(stored_once, point):
    probe = stored_once.probe
    cell = probe[(probe.model == CELL[0]) & (probe.language == CELL[1])]
    means = {indicator.code: indicator.mean for indicator in point.indicators}
    god = cell[cell.question_id == "v63"]
    assert means["F063"] == pytest.approx((god.response_value * god.prob_averaged).sum())
    mentioned = cell[cell.response_value == 1].set_index("question_id").prob_averaged
    autonomy = mentioned["v86"] + mentioned["v92"] - mentioned["v93"] - mentioned["v95"]
    assert means["Y003"] == pytest.approx(autonomy)


def test_a_missing_indicator_says_which_item_and_why(point):
    pride = next(indicator for indicator in point.indicators if indicator.code == "G006")
    assert pride.mean is None
    assert pride.reason == "v170: dropped: unreliable in too many cells"
    assert pride.items[0].probs == {}
    assert len(pride.items[0].prompts) == 2


def test_prompts_are_the_trials_word_for_word_with_their_readings(stored_once, point):
    trials = {trial.trial_id: trial for trial in read_trials(stored_once.path("trials", "fra.parquet"))}
    readings = {
        each.trial_id: each for each in read_readings(stored_once.path("readings", "reference-mono/fra.parquet"))
    }
    prompts = [prompt for item in items(point).values() for prompt in item.prompts]
    assert len(prompts) == 34
    for prompt in prompts:
        assert prompt.trial == trials[prompt.trial.trial_id]
        assert prompt.reading == readings[prompt.trial.trial_id]
    assert point.identity.weights_id == "ab" * 32
    assert (point.identity.scorer_version, point.identity.revision) == ("3", None)


@pytest.mark.slow
def test_the_strip_of_the_page_holds_the_printed_question(stored_once, point):
    path = stored_once.path("questionnaire_pdf", "fra.pdf")
    assert point.form.sha256 == sha256_file(path)
    with pdfplumber.open(path) as pdf:
        for item in items(point).values():
            (record,) = item.extracted
            page = pdf.pages[record.page - 1]
            strip = (0, max(record.box[1] - ABOVE, 0), page.width, min(record.box[3] + MARGIN, page.height))
            printed = page.crop(strip).extract_text()
            words = re.findall(r"\w{5,}", record.item or record.text)
            assert words
            assert all(word in printed for word in words), (item.question_id, printed)


def test_a_single_question_is_traced_whether_or_not_the_map_uses_it(stored_once, point):
    assert trace_item(stored_once.folder, *CELL, "v111@v110=2") == items(point)["v111@v110=2"]
    life = trace_item(stored_once.folder, *CELL, "v39")
    assert life.standing == "usable"
    assert sum(life.probs.values()) == pytest.approx(1)
    with pytest.raises(InputError, match=r"v111: asked as v111@v110=1, .* in fra; name one of these"):
        trace_item(stored_once.folder, *CELL, "v111")
    with pytest.raises(InputError, match=r"v77: no such question among those asked in fra; did you mean v7\?"):
        trace_item(stored_once.folder, *CELL, "v77")


def test_an_unknown_cell_is_refused_with_one_like_it_and_what_to_materialise(stored_once):
    with pytest.raises(
        StorageError, match=r"did you mean reference-mono fra\? .*materialise readings/reference-mno/fra"
    ):
        trace_point(stored_once.folder, "reference-mno", "fra")
    with pytest.raises(StorageError, match=r"no answers of a/b; materialise readings/a/b"):
        trace_point(stored_once.folder / "nothing here", "a", "b")


def test_a_point_that_is_no_model_is_refused_as_what_it_is(stored_once):
    for name, kind in (("uniform answers", "content_free"), ("BG", "published")):
        with pytest.raises(InputError, match=f"{name}: a point of kind {kind}, which rests on no readings"):
            trace_point(stored_once.folder, name, "eng")


@pytest.mark.parametrize(
    ("asset", "name", "says"),
    [
        ("readings", "reference-mono/fra.parquet", "materialise readings/reference-mono/fra"),
        ("trials", "fra.parquet", "materialise trials/fra"),
        ("aligned_questions", "fra.json", "materialise aligned_questions/fra"),
        ("aligned_questions", "fra.alignment.csv", "materialise aligned_questions/fra"),
        ("extracted_questions", "fra.json", "materialise extracted_questions/fra"),
        ("questionnaire_pdf", "fra.json", "materialise questionnaire_pdf/fra"),
        ("quality_report", "readings.parquet", "materialise quality_report and"),
    ],
)
def test_a_file_that_is_gone_is_named_with_the_asset_that_writes_it(stored, asset, name, says):
    stored.path(asset, name).unlink()
    with pytest.raises(StorageError, match=says) as refused:
        trace_point(stored.folder, *CELL)
    assert name in str(refused.value)


def test_without_a_map_the_rest_is_traced_and_the_place_is_missing(stored):
    stored.path("cultural_map", "points.parquet").unlink()
    point = trace_point(stored.folder, *CELL)
    assert point.place == {}
    assert "materialise cultural_map" in point.problems[0]
    assert items(point)["v7"].standing == "usable"


def test_readings_of_other_trials_are_stale_and_named(stored):
    path = stored.path("readings", "reference-mono/fra.parquet")
    rewrite(path, lambda rows: [row | {"trial_id": row["trial_id"].replace("v7/", "v700/")} for row in rows])
    point = trace_point(stored.folder, *CELL)
    assert any("2 readings answer trials that are no longer asked (first: v700/0/forward)" in p for p in point.problems)
    assert any(p.startswith("v7/0/forward: no reading of it") for p in point.problems)
    assert items(point)["v7"].prompts[0].reading is None


def test_an_answer_that_does_not_follow_from_its_reading_is_named(stored):
    path = stored.path("readings", "reference-mono/fra.parquet")

    def turned(rows):
        return [
            row | ({"label_probs": row["label_probs"][::-1]} if row["trial_id"] == "v7/0/forward" else {})
            for row in rows
        ]

    rewrite(path, turned)
    (problem,) = trace_point(stored.folder, *CELL).problems
    assert problem.startswith("v7/0/forward: the answer distribution does not follow from the reading")
    assert "probe_distributions/reference-mono/fra" in problem


def test_a_trial_with_other_options_than_were_read_is_stale(stored):
    path = stored.path("trials", "fra.parquet")
    rows = trial_rows(read_trials(path))
    for row in rows:
        if row["trial_id"] == "v7/0/forward":
            row |= {"labels": ("1", "2"), "values": (1, 2)}
    write_table(path, rows, TRIALS)
    problems = trace_point(stored.folder, *CELL).problems
    assert any("v7/0/forward: 4 answers were read, 2 are asked for; materialise readings" in p for p in problems)


def test_a_pdf_that_changed_or_is_gone_is_said_and_not_shown(stored):
    path = stored.path("questionnaire_pdf", "fra.pdf")
    path.write_bytes(path.read_bytes() + b"\n% another edition")
    changed = trace_point(stored.folder, *CELL).form
    assert changed.path is None
    assert "the PDF has changed since its questions were read (sha256 " in changed.problem
    path.unlink()
    record = stored.path("questionnaire_pdf", "fra.json")
    record.write_text(json.dumps(json.loads(record.read_text()) | {"path": str(path)}))
    gone = trace_point(stored.folder, *CELL).form
    assert gone.path is None
    assert "the PDF is gone" in gone.problem


def test_imported_questions_have_no_page(stored):
    record = stored.path("questionnaire_pdf", "fra.json")
    imported = {"path": None, "source": "fra.json, imported without a PDF", "sha256": "00"}
    record.write_text(json.dumps(imported))
    form = trace_point(stored.folder, *CELL).form
    assert (form.path, form.problem) == (None, "fra.json, imported without a PDF: there is no page to show")


def test_an_extraction_made_again_since_the_alignment_is_named(stored):
    path = stored.path("extracted_questions", "fra.json")
    rows = json.loads(path.read_text(encoding="utf-8"))
    rows[3]["text"] += " ?"
    path.write_text(json.dumps(rows))
    point = trace_point(stored.folder, *CELL)
    assert point.problems == (
        "v7: the extraction has changed since the questions were aligned; materialise aligned_questions/fra again",
    )
    assert items(point)["v7"].extracted == ()


def test_a_question_that_the_language_lacks_is_not_asked_and_says_why(stored):
    path = stored.path("aligned_questions", "fra.json")
    rows = [row for row in json.loads(path.read_text(encoding="utf-8")) if row["id"] != "v31"]
    path.write_text(json.dumps(rows))
    matches = pd.read_csv(stored.path("aligned_questions", "fra.alignment.csv"))
    lost = matches.question_id == "v31"
    matches.loc[lost, ["status", "evidence", "position"]] = ["missing", "not found in this language's form", np.nan]
    matches.to_csv(stored.path("aligned_questions", "fra.alignment.csv"), index=False)
    for asset in ("trials/fra", "probe_distributions/reference-mono/fra"):
        path = stored.folder / "survey" / f"{asset}.parquet"
        table = pd.read_parquet(path)
        kept = table[table.question_id != "v31"]
        write_table(
            path,
            kept.astype(object).where(kept.notna(), None).to_dict("records"),
            TRIALS if asset == "trials/fra" else PROBE_DISTRIBUTIONS,
        )
    trust = trace_point(stored.folder, *CELL).indicators[1]
    assert (trust.mean, trust.items[0].standing) == (None, "not asked")
    assert trust.reason == "v31: not found in this language's form"


STYLES = [
    ("chatml", {"system": "Be brief."}),
    ("llama3", {}),
    ("mistral", {"system": "Be brief.", "answer_prefix": "none"}),
    ("dated", {"template_date": "2026-01-05", "answer_prefix": "none"}),
    ("thinking", {"thinking": "on", "answer_prefix": "none", "max_reasoning_tokens": 9}),
]


def ask_in_chat(stored, folder, style, settings):
    """A cell's readings as if they were a chat model's: by the metadata that such a one gives them."""
    prompting = Prompting.model_validate({"style": "chat"} | settings)
    opened = open_model(str(write_chat_model(folder, style)), device="cpu", prompting=prompting)
    path = stored.folder / "survey" / "readings" / CELL[0] / f"{CELL[1]}.parquet"
    trials = read_trials(stored.folder / "survey" / "trials" / f"{CELL[1]}.parquet")
    metadata = table_metadata(path) | opened.describe() | {"first_prompt": first_shown(opened, trials).text}
    write_table(path, reading_rows(read_readings(path)), READINGS, metadata)
    return opened


@pytest.mark.parametrize(("style", "settings"), STYLES, ids=[style for style, _ in STYLES])
def test_prompts_of_a_chat_model_are_shown_as_its_template_renders_them(stored, tmp_path, style, settings):
    opened = ask_in_chat(stored, tmp_path / "model", style, settings)
    point = trace_point(stored.folder, *CELL)
    assert point.identity.template_sha256 == opened.template.sha256
    prompts = [prompt for item in items(point).values() for prompt in item.prompts]
    assert [prompt.text for prompt in prompts] == [show_trial(opened, prompt.trial).text for prompt in prompts]
    assert all(prompt.text != prompt.trial.prompt for prompt in prompts)


def test_a_template_around_other_prompts_is_named_and_nothing_is_made_up(stored, tmp_path):
    ask_in_chat(stored, tmp_path / "model", "chatml", {})
    path = stored.folder / "survey" / "trials" / f"{CELL[1]}.parquet"
    changed = [replace(trial, prompt=f"Encore : {trial.prompt}") for trial in read_trials(path)]
    write_table(path, trial_rows(changed), TRIALS)
    point = trace_point(stored.folder, *CELL)
    (problem, *_) = point.problems
    assert problem.endswith(
        "its readings do not show how the chat template renders it; materialise readings/reference-mono/fra again"
    )
    assert {prompt.text for item in items(point).values() for prompt in item.prompts} == {None}


def test_the_command_prints_a_chat_as_the_model_was_shown_it(stored, tmp_path, monkeypatch, capsys):
    opened = ask_in_chat(stored, tmp_path / "model", "llama3", {})
    monkeypatch.setenv("VALUESASSETS_STORAGE", str(stored.folder.parent))
    app(["trace", stored.study.name, *CELL, "v39"], standalone_mode=False)
    printed = capsys.readouterr().out
    assert "<|start_header_id|>assistant<|end_header_id|>" in printed
    app(["trace", stored.study.name, *CELL], standalone_mode=False)
    assert f"chat template {opened.template.sha256}" in capsys.readouterr().out
