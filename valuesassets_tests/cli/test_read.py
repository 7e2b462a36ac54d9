"""`valuesassets read`: any file of trials, any readout, one line for every fault."""

import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import typer

from valuesassets.cli.app import app
from valuesassets.models import generating, loading, scoring
from valuesassets.models.answer_certificate import GenerationCertificate
from valuesassets.models.certificate import Certificate
from valuesassets.models.spans import scoring as spans_scoring
from valuesassets.records.errors import ModelError, TokenizerError, ValuesAssetsError
from valuesassets.records.parquet import read_answers, read_readings, table_metadata, trial_rows, write_table
from valuesassets.records.places import named_model
from valuesassets.records.readouts import Generate, ScoreSpans
from valuesassets.records.tables import TRIALS
from valuesassets.records.trials import Status
from valuesassets_tests.models.spans.texts import NUMBERS, span_trial, transcript
from valuesassets_tests.models.writers import asked as writes
from valuesassets_tests.peft_adapters import merge_with_peft, write_adapter
from valuesassets_tests.remote.loopback_gemini import KEY, MODEL, LoopbackGemini
from valuesassets_tests.remote.remote_trials import asked
from valuesassets_tests.tiny_chats import CHATML, write_chat_model
from valuesassets_tests.tiny_models import PROMPTS, byte_level, sentencepiece_like, trial, write_model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("m") / "m", sentencepiece_like(), spread=0.2)


def written(path, *trials):
    write_table(path, trial_rows(trials), TRIALS)
    return path


def read(model, trials, output, *more):
    """The command in this process, which has torch already."""
    options = {"--model": model, "--trials": trials, "--output": output}
    given = [str(part) for option in options.items() for part in option]
    app(["read", *given, *map(str, more)], standalone_mode=False)


def test_labels_and_spans_come_back_as_rows_and_what_is_known_is_not_read_again(model, tmp_path, capsys):
    labels = written(tmp_path / "labels.parquet", trial(PROMPTS[0], 4))
    read(model, labels, tmp_path / "l.parquet")
    assert capsys.readouterr().out == f"1 readings in {tmp_path / 'l.parquet'}\n"
    spans = written(tmp_path / "spans.parquet", span_trial(transcript([3, 12]), NUMBERS[:20]))
    asked = (model, spans, tmp_path / "s.parquet", "--known", tmp_path / "known")
    read(*asked, "--dry-run")
    assert "2 readings, of them 0 known and 0 that cannot be made" in capsys.readouterr().out
    assert not (tmp_path / "s.parquet").exists()
    read(*asked)
    readings = read_readings(tmp_path / "s.parquet")
    assert [(r.span, r.status, len(r.label_probs)) for r in readings] == [(0, Status.OK, 20), (1, Status.OK, 20)]
    assert table_metadata(tmp_path / "s.parquet")["road"] == "beside one cached text"
    before = (tmp_path / "s.parquet").read_bytes()
    read(*asked, "--dry-run")
    assert "2 readings, of them 2 known" in capsys.readouterr().out
    read(*asked)
    assert (tmp_path / "s.parquet").read_bytes() == before


def test_what_was_read_is_kept_without_a_word_and_costs_nothing_again(model, tmp_path, capsys, monkeypatch):
    trials = written(tmp_path / "trials.parquet", trial(PROMPTS[0], 4))
    read(model, trials, tmp_path / "first.parquet")
    monkeypatch.setattr(loading, "load_weights", None)  # nothing is loaded
    read(model, trials, tmp_path / "second.parquet")
    assert read_readings(tmp_path / "second.parquet") == read_readings(tmp_path / "first.parquet")


def test_answers_come_back_as_rows_and_an_interrupted_run_goes_on(model, tmp_path, capsys):
    few, more = ([writes(prompt, f"q{n}", samples=2) for n, prompt in enumerate(PROMPTS[:size])] for size in (1, 3))
    known = ("--known", tmp_path / "known")
    read(model, written(tmp_path / "few.parquet", *few), tmp_path / "few_answers.parquet", *known)
    assert capsys.readouterr().out == f"2 answers in {tmp_path / 'few_answers.parquet'}\n"
    put = (model, written(tmp_path / "more.parquet", *more), tmp_path / "answers.parquet", *known)
    read(*put, "--dry-run")
    assert capsys.readouterr().out == f"{model}: 6 answers, of them 2 known and 0 that cannot be made\n"
    assert not (tmp_path / "answers.parquet").exists()
    read(*put)
    answers = read_answers(tmp_path / "answers.parquet")
    assert [(a.trial_id, a.sample, a.status) for a in answers] == [(f"q{n // 2}", n % 2, Status.OK) for n in range(6)]
    assert answers[:2] == read_answers(tmp_path / "few_answers.parquet")
    assert table_metadata(tmp_path / "answers.parquet")["generator_version"]
    before = (tmp_path / "answers.parquet").read_bytes()
    read(*put, "--dry-run")
    assert "6 answers, of them 6 known" in capsys.readouterr().out
    read(*put)
    assert (tmp_path / "answers.parquet").read_bytes() == before


def test_an_answer_that_cannot_be_asked_for_is_a_row(model, tmp_path, capsys):
    trials = written(tmp_path / "t.parquet", writes("One"), writes("word " * 3000, "far"))
    read(model, trials, tmp_path / "o.parquet")
    assert "1 of them without, first far: prompt and answer take up to" in capsys.readouterr().out
    assert [answer.status for answer in read_answers(tmp_path / "o.parquet")] == [Status.OK, Status.FAILED]


def test_the_trials_are_never_written_over(model, tmp_path, monkeypatch):
    trials = written(tmp_path / "t.parquet", trial(PROMPTS[0], 4))
    before = trials.read_bytes()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.parquet").symlink_to(trials)
    for output in ("t.parquet", "link.parquet"):
        with pytest.raises(ValuesAssetsError, match=r"t?\.parquet: is the file of trials; choose another name"):
            read(model, trials, output)
    assert trials.read_bytes() == before


TEXT = replace(trial(PROMPTS[0], 4), readout=Generate(3))


@pytest.mark.parametrize(
    ("asked", "module", "certifies", "certificate"),
    [
        (trial(PROMPTS[0], 4), scoring, "_certify", Certificate(1, 0.5, 1e-5, 0.01)),
        (span_trial(transcript([3, 12]), NUMBERS[:20]), spans_scoring, "_certify", Certificate(1, 0.5, 1e-5, 0.01)),
        (TEXT, generating, "certify_answers", GenerationCertificate(1, 0.5, False)),
    ],
    ids=["labels", "spans", "text"],
)
def test_notes_and_doubt_are_said_of_what_is_recalled_too(
    asked, module, certifies, certificate, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(module, certifies, lambda *_: certificate)
    plain = write_model(tmp_path / "m", sentencepiece_like(), architecture="rwkv")
    trials = written(tmp_path / "t.parquet", asked)
    command = (plain, trials, tmp_path / "o.parquet", "--known", tmp_path / "known", "--dtype", "float32")
    read(*command)
    first = capsys.readouterr().out
    assert "change with the batch" in first
    assert len(first.splitlines()) == 3  # a note, the doubt, what was written
    with monkeypatch.context() as patched:
        patched.setattr(loading, "load_weights", lambda _: pytest.fail("the weights were read"))
        read(*command)
    assert capsys.readouterr().out == first


def test_what_could_not_be_read_is_a_row_and_an_error_only_where_nothing_was(model, tmp_path, capsys):
    far = span_trial("word " * 3000 + "How many? <<3>>\n", NUMBERS[:9], "far")
    trials = written(tmp_path / "t.parquet", span_trial(transcript([3]), NUMBERS[:9]), far)
    read(model, trials, tmp_path / "o.parquet")
    assert "1 of them without, first far: span 0: character" in capsys.readouterr().out
    assert [r.status for r in read_readings(tmp_path / "o.parquet")] == [Status.OK, Status.FAILED]
    only = written(tmp_path / "only.parquet", far)
    with pytest.raises(TokenizerError, match=r"none of 1 spans can be asked, the first because: .* reads 1024 at most"):
        read(model, only, tmp_path / "none.parquet")


@pytest.mark.parametrize(
    ("trials", "said"),
    [
        (
            (trial(PROMPTS[0], 4), span_trial(transcript([3]))),
            "row 2 (trial p1): readout ScoreSpans, ScoreLabels",
        ),
        ((trial(PROMPTS[0], 4), writes("One")), "row 2 (trial q/0): readout Generate, ScoreLabels before it;"),
        ((), "no trials in it; name a file that has some"),
        (None, "no such file"),
    ],
)
def test_a_fault_of_the_file_is_named_before_any_weights_are_read(trials, said, model, tmp_path):
    path = tmp_path / "t.parquet"
    if trials is not None:
        written(path, *trials)
    with pytest.raises(ValuesAssetsError, match=rf"t\.parquet: {re.escape(said)}") as error:
        read(model, path, tmp_path / "o.parquet")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "o.parquet").exists()


@pytest.fixture
def gemini(tmp_path, monkeypatch):
    """A server with a model, and the options by which it is asked."""
    server = LoopbackGemini()
    with server.serving():
        (tmp_path / "endpoint.toml").write_text(
            f'provider = "gemini"\nbase_url = "{server.base_url}"\nkey_env = "THE_KEY"\nattempts = 1\n'
        )
        (tmp_path / "chat.toml").write_text('style = "chat"\n')
        monkeypatch.setenv("THE_KEY", KEY)
        yield server, ("--endpoint", tmp_path / "endpoint.toml", "--prompting", tmp_path / "chat.toml")


@pytest.mark.slow
def test_a_model_behind_an_api_answers_and_is_not_asked_again(gemini, tmp_path, capsys, monkeypatch):
    server, options = gemini
    trials = written(tmp_path / "t.parquet", asked("How many?", "q0", samples=2), asked("And now?", "q1"))
    given = (MODEL, trials, tmp_path / "o.parquet", *options, "--known", tmp_path / "known")
    read(*given, "--dry-run")
    assert "3 answers, of them 0 known" in capsys.readouterr().out
    assert server.total == 0
    read(*given)
    assert f"3 answers in {tmp_path / 'o.parquet'}" in capsys.readouterr().out
    assert [answer.text for answer in read_answers(tmp_path / "o.parquet")] == ["Seven."] * 3
    monkeypatch.delenv("THE_KEY")  # what is known needs none
    before = (tmp_path / "o.parquet").read_bytes()
    read(*given)
    assert (server.total, (tmp_path / "o.parquet").read_bytes()) == (3, before)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"key": None}, "THE_KEY is not set, the gemini endpoint needs it; set it to a key from"),
        ({"endpoint": 'provider = "gemini"\nbase_url = "http://example.org"'}, "an https address was expected"),
        (
            {"chat": 'style = "text"'},
            "--prompting: gemini shows every prompt as a chat; say style = 'chat'",
        ),
        (
            {"trials": trial(PROMPTS[0], 4), "endpoint": 'provider = "gemini"\nroute = "sampled"'},
            "is read by ScoreLabels, and route = 'sampled' asks for no probabilities; ask",
        ),
        ({"model": "gemini-99"}, "Gemini has no model gemini-99"),
        ({"more": ("--dtype", "float32")}, "--revision, --dtype, --device, --offline: for a model that is loaded"),
    ],
)
def test_what_keeps_an_endpoint_from_being_asked_is_one_line(gemini, tmp_path, monkeypatch, change, said):
    server, options = gemini
    if "key" in change:
        monkeypatch.delenv("THE_KEY")
    for name in {"endpoint", "chat"} & {*change}:
        (tmp_path / f"{name}.toml").write_text(change[name])
    trials = written(tmp_path / "t.parquet", change.get("trials", asked("How many?", "q0")))
    with pytest.raises((ValuesAssetsError, typer.BadParameter), match=re.escape(said)) as error:
        read(change.get("model", MODEL), trials, tmp_path / "o.parquet", *options, *change.get("more", ()))
    assert "\n" not in str(error.value)
    assert server.total == ("model" in change)
    assert not (tmp_path / "o.parquet").exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"max_tokens": 0}, "key 'max_tokens': at least 1 was expected (found 0)"),
        ({"temperature": -0.1}, "key 'temperature': at least 0.0 was expected (found -0.1)"),
        ({"top_p": 0}, "key 'top_p': more than 0.0 was expected (found 0)"),
        ({"top_p": 1.1}, "key 'top_p': at most 1.0 was expected (found 1.1)"),
        ({"top_k": 5}, "unknown key 'top_k' (did you mean 'top_p'?)"),
        ({"stop": [""]}, "entry 1 of 'stop': text that is not empty was expected (found \"\")"),
    ],
)
def test_a_setting_that_makes_no_sense_is_one_line_with_its_row(settings, said, model, tmp_path):
    (row,) = trial_rows([writes("One", "q1")])
    row["settings"] = json.dumps(json.loads(row["settings"]) | settings)
    write_table(tmp_path / "t.parquet", [row], TRIALS)
    with pytest.raises(ValuesAssetsError) as error:
        read(model, tmp_path / "t.parquet", tmp_path / "o.parquet")
    assert str(error.value) == f"{tmp_path / 't.parquet'}: row 1 (trial q1): {said}"


def test_a_model_that_is_not_there_is_one_line(tmp_path):
    trials = written(tmp_path / "t.parquet", span_trial(transcript([3])))
    with pytest.raises(ModelError, match=r"absent: no such folder; check the path, or give a hub id"):
        read(tmp_path / "absent", trials, tmp_path / "o.parquet")


CONTROLS = "a\x00b\r\n\x85\u2028\x1b[0m \u202e<<1>>"
AT_ZERO = ScoreSpans(((0, 0, 0),), (("1", "2"),))
STRANGE = {
    "labels": [
        trial("", 2, "empty"),
        trial(CONTROLS, ("\x01", "2"), "controls"),
        trial("w " * 100_000 + "\nA:", 2, "long"),
    ],
    "answers": [writes("", "empty"), writes(CONTROLS, "controls"), writes("w " * 100_000, "long")],
    "spans": [
        replace(span_trial("<<>>", trial_id="empty"), prompt="", readout=AT_ZERO),
        span_trial(CONTROLS, ("1", "\x07\n"), "controls"),
        span_trial("w " * 100_000 + "<<1>>", ("1", "2"), "long"),
    ],
}
"""Texts that are empty, hold control characters, or have 200,000 characters."""


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("tokenizer", [sentencepiece_like, byte_level])
@pytest.mark.slow
def test_a_strange_text_is_read_or_is_a_row_with_its_reason(kind, tokenizer, tmp_path, capsys):
    """A text that begins with a token of its own can be empty; bytes that are one token with a mark cannot be read."""
    good = {
        "labels": trial(PROMPTS[0], 2, "good"),
        "answers": writes("b:", "good"),
        "spans": span_trial("b: <<1>>", ("1", "2")),
    }
    trials = written(tmp_path / "t.parquet", *STRANGE[kind], replace(good[kind], trial_id="good"))
    read(write_model(tmp_path / "m", tokenizer()), trials, tmp_path / "o.parquet")
    rows = {row["trial_id"]: row["reason"] for row in pq.read_table(tmp_path / "o.parquet").to_pylist()}
    assert list(rows) == ["empty", "controls", "long", "good"]
    assert "reads 1024 at most" in rows["long"]
    assert rows["good"] is None
    nothing = "nothing stands before the answer" if kind == "spans" else "the prompt has no tokens; give it some text"
    assert (rows["empty"] is None) if tokenizer is sentencepiece_like else (nothing in rows["empty"])
    assert rows["controls"] is None or "change when '1' follows" in rows["controls"]
    without = sum(reason is not None for reason in rows.values())
    assert f"{without} of them without, first " in capsys.readouterr().out


@pytest.mark.parametrize("asked", [trial(PROMPTS[0], ("1", "x" * 200_000)), span_trial("<<1>>", ("1", "x" * 200_000))])
def test_an_answer_of_two_hundred_thousand_characters_is_refused_before_it_fills_the_memory(asked, model, tmp_path):
    with pytest.raises(TokenizerError, match=r"the answer that begins .* 512 at most can be read; shorten it"):
        read(model, written(tmp_path / "t.parquet", asked), tmp_path / "o.parquet")


def test_a_template_that_fails_on_one_chat_is_that_trials_row(tmp_path, capsys):
    fails = "{% if 'odd' in messages[0]['content'] %}{{ raise_exception('no\nway') }}{% endif %}" + CHATML
    (tmp_path / "p.toml").write_text('style = "chat"\n')
    trials = written(tmp_path / "t.parquet", writes("even\nA:", "even"), writes("odd\nA:", "odd"))
    model = write_chat_model(tmp_path / "m", "chatml", fails)
    read(model, trials, tmp_path / "o.parquet", "--prompting", tmp_path / "p.toml")
    assert f"1 of them without, first odd: {model}: the chat template fails (TemplateError): no way; see" in (
        capsys.readouterr().out
    )
    assert [answer.status for answer in read_answers(tmp_path / "o.parquet")] == [Status.OK, Status.FAILED]


@pytest.fixture(scope="module")
def adapted(tmp_path_factory):
    """A base, a LoRA folder for it, and the model that peft merges of both."""
    folder = tmp_path_factory.mktemp("adapted")
    base = write_model(folder / "base", sentencepiece_like(), spread=0.2)
    adapter = write_adapter(folder / "run7", base, target_modules=["q_proj", "down_proj"])
    return base, adapter, merge_with_peft(folder / "merged", base, adapter)


def log_probs(path):
    return [math.log(share) for reading in read_readings(path) for share in reading.label_probs]


def test_a_model_with_an_adapter_is_read_as_the_merged_one_and_kept_apart_from_its_base(adapted, tmp_path, capsys):
    base, adapter, merged = adapted
    trials = written(tmp_path / "trials.parquet", *(trial(prompt, 4, f"v{n}") for n, prompt in enumerate(PROMPTS)))
    store = ("--known", tmp_path / "known")
    read(base, trials, tmp_path / "base.parquet", *store)
    read(base, trials, tmp_path / "dry.parquet", *store, "--adapter", adapter, "--dry-run")
    assert "3 readings, of them 0 known" in capsys.readouterr().out
    read(base, trials, tmp_path / "adapted.parquet", *store, "--adapter", adapter)
    read(merged, trials, tmp_path / "merged.parquet", *store)
    expected = log_probs(tmp_path / "merged.parquet")
    assert log_probs(tmp_path / "adapted.parquet") == pytest.approx(expected, abs=1e-5)
    assert max(abs(np.subtract(log_probs(tmp_path / "base.parquet"), expected))) > 0.1
    metadata, of_base = table_metadata(tmp_path / "adapted.parquet"), table_metadata(tmp_path / "base.parquet")
    assert (metadata["adapter"], metadata["adapter_base"]) == (named_model(str(adapter)), str(base))
    assert re.fullmatch("[0-9a-f]{64}", metadata["adapter_sha256"])
    assert metadata["model"] == of_base["model"]
    assert metadata["weights_id"] != of_base["weights_id"]
    assert not any("adapter" in key for key in of_base)
    capsys.readouterr()
    read(base, trials, tmp_path / "again.parquet", *store, "--adapter", adapter, "--dry-run")
    assert "3 readings, of them 3 known" in capsys.readouterr().out


def test_an_adapter_of_another_base_is_a_line_and_stands_in_the_file(adapted, tmp_path, capsys):
    base, adapter, _ = adapted
    other = Path(shutil.copytree(adapter, tmp_path / "run7"))
    settings = json.loads((other / "adapter_config.json").read_text()) | {"base_model_name_or_path": "owner/other"}
    (other / "adapter_config.json").write_text(json.dumps(settings))
    trials = written(tmp_path / "trials.parquet", trial(PROMPTS[0], 4))
    for _ in ("read", "recalled"):
        read(base, trials, tmp_path / "out.parquet", "--adapter", other, "--known", tmp_path / "known")
        line = (
            f"warning: the adapter {other} names owner/other as its base, it was put on {base}; see whether it is that"
        )
        assert capsys.readouterr().out.splitlines()[0] == f"base+run7: {line}"
        metadata = table_metadata(tmp_path / "out.parquet")
        assert (metadata["adapter_base"], json.loads(metadata["notes"])) == ("owner/other", [line])
