"""`ask` and what is made of answers: as the commands do it, and nothing is asked twice."""

from dataclasses import replace

import pandas as pd
import pytest

import valuesassets as va
from valuesassets.models import loading
from valuesassets.models.serving import MODEL, ServedModel
from valuesassets.records import extras
from valuesassets.records.readouts import Generate
from valuesassets_tests.cli.commands import succeed, write_json
from valuesassets_tests.tiny_chats import write_chat_model


@pytest.fixture
def trials(questions):
    return va.make_trials(questions, "eng")


def test_answers_are_those_that_probe_writes(questions, trials, model, tmp_path, monkeypatch):
    monkeypatch.setenv("VALUESASSETS_STORAGE", str(tmp_path / "storage"))
    file = write_json(tmp_path / "questions.json", [each.model_dump(mode="json") for each in questions])
    output = tmp_path / "probed.parquet"
    options = ("--questions", file, "--language", "eng", "--output", output)
    succeed("probe", "--model", model, *options, "--dtype", "float32", "--device", "cpu")
    readings = va.ask(model, trials, dtype="float32", device="cpu")
    assert [reading.trial_id for reading in readings] == [trial.trial_id for trial in trials]
    answers = va.answer_distributions(questions, trials, readings, model.name)
    form = {(question.id, option.value): option.label for question in questions for option in question.options}
    labels = answers.pop("label")
    assert [*labels] == [form[code] for code in zip(answers["question_id"], answers["response_value"], strict=True)]
    assert {*labels} > {""}
    pd.testing.assert_frame_equal(
        answers.convert_dtypes(), pd.read_parquet(output)[answers.columns].convert_dtypes(), check_dtype=False
    )


def test_a_model_that_has_answered_is_not_loaded_again(trials, model, tmp_path, monkeypatch):
    first = va.ask(model, trials, tmp_path / "known", device="cpu")
    monkeypatch.setattr(loading, "load_weights", lambda _: pytest.fail("the weights were read"))
    assert va.ask(model, trials, tmp_path / "known", device="cpu") == first


def test_a_model_with_a_chat_template_that_is_asked_in_no_chat_gives_a_warning(trials, tmp_path, recwarn):
    chat = write_chat_model(tmp_path / "chat", "chatml")
    with pytest.warns(UserWarning, match="asked as bare text, though it comes with a chat template"):
        va.ask(chat, trials[:1], device="cpu")
    for prompting in (va.Prompting(), va.Prompting(style="chat")):
        va.ask(chat, trials[:1], device="cpu", prompting=prompting)
    assert [str(each.message) for each in recwarn] == []


@pytest.mark.parametrize(("provider", "extra"), [(None, "models"), ("openai", "openai"), ("gemini", "gemini")])
def test_what_is_not_installed_is_named(trials, monkeypatch, provider, extra):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    endpoint = None if provider is None else va.Endpoint(provider=provider)
    with pytest.raises(va.ValuesAssetsError, match=rf'ask: needs .*; pip install "valuesassets\[{extra}\]"'):
        va.ask("model", trials, endpoint=endpoint)


def test_a_model_behind_an_api_gives_the_same_answers_as_here(trials, model):
    with ServedModel(loading.load_model(str(model), None, "float32", "cpu")).serving() as server:
        keys = {"base_url": server.base_url, "api": "completions", "route": "token_ids", "tokenizer": str(model)}
        served = va.ask(MODEL, trials, endpoint=va.Endpoint(provider="openai", max_width=1.0, **keys))
    here = va.ask(model, trials, dtype="float32", device="cpu")
    for there, reading in zip(served, here, strict=True):
        assert there.trial_id == reading.trial_id
        assert there.label_probs == pytest.approx(reading.label_probs, abs=1e-5)


def test_trials_that_want_written_answers_are_refused(trials, model):
    with pytest.raises(va.ValuesAssetsError, match="want written answers"):
        va.ask(model, [replace(trial, readout=Generate(max_tokens=3)) for trial in trials])


def test_models_without_an_answer_that_counts_have_no_place_on_the_map(questions, trials, model):
    answers = va.answer_distributions(questions, trials, va.ask(model, trials, device="cpu"))
    with pytest.raises(va.ValuesAssetsError, match="no answers to analyse"):
        va.place_on_map(answers)
    with pytest.raises(va.ValuesAssetsError, match="no rows in them"):
        va.place_on_map(answers.iloc[:0])


def test_a_model_that_answers_stands_on_the_map_among_countries(questions, trials, model):
    answers = va.answer_distributions(questions, trials, va.ask(model, trials, device="cpu"), "sure")
    certain = answers.assign(p_valid=0.9, p_valid_forward=0.9, p_valid_reversed=0.9)
    points = va.place_on_map(certain)
    assert "sure" in {*points.loc[points["kind"] == "model", "model"]}
