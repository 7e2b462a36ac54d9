"""`psych-tasks read` against one pass per step in float64, and what becomes of marks that cannot be read."""

import json
import math

import numpy as np
import pandas as pd
import pytest
import torch
import typer
from transformers import AutoModelForCausalLM

from valuesassets.cli.app import app
from valuesassets.instruments.psych_tasks.answers.mark_ledger import masses_by_history
from valuesassets.records.errors import MissingData, QuestionError, TokenizerError
from valuesassets_tests.models.spans.oracle import SpanOracle
from valuesassets_tests.tiny_chats import CHATML, STYLES, write_chat_model
from valuesassets_tests.tiny_models import byte_level, sentencepiece_like, write_bigrams, write_model

TOKENIZERS = {
    "digits split": sentencepiece_like,
    "digits merged": byte_level,
    "bytes": lambda: byte_level(size=257),
}
COUNTS = """\
name = "counts"
feedback = false
kinds = [{ name = "count", before = '\\? $', candidates = { range = [0, 19] } }]
scales.all = { items = [1, 2] }
"""
INSTRUCTIONS = "How often, 0 to 19?\n"


def text(answers):
    return INSTRUCTIONS + "".join(f"{n}. Days of rain in week {n}? <<{a}>>\n" for n, a in enumerate(answers, 1))


PEOPLE = {"a": [3, 12, 1], "b": [0, 7, 10]}


@pytest.fixture
def task(tmp_path):
    path = tmp_path / "counts.toml"
    path.write_text(COUNTS, encoding="utf-8")
    return path


@pytest.fixture
def people(tmp_path):
    return written(tmp_path / "people.jsonl", {name: text(answers) for name, answers in PEOPLE.items()})


def written(path, texts):
    lines = [json.dumps({"text": each, "experiment": "rain", "participant": name}) for name, each in texts.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def read(model, people, task, output, *more):
    options = {"--model": model, "--transcripts": people, "--task": task, "--output": output}
    given = [str(part) for option in options.items() for part in option]
    app(
        ["psych-tasks", "read", *given, "--dtype", "float32", "--device", "cpu", *map(str, more)], standalone_mode=False
    )
    return pd.read_parquet(output / "candidates.parquet"), pd.read_parquet(output / "marks.parquet")


@pytest.mark.parametrize("layout", ["marked", "plain"])
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_text_is_read_as_one_pass_per_step_in_float64_reads_it(tokenizer, layout, people, task, tmp_path):
    folder = write_model(tmp_path / "m", TOKENIZERS[tokenizer](), spread=0.2)
    candidates, marks = read(folder, people, task, tmp_path / "out", "--layout", layout)
    oracle = SpanOracle(folder)
    for name, answers in PEOPLE.items():
        shown = text(answers) if layout == "marked" else text(answers).replace("<<", "").replace(">>", "")
        own = candidates[candidates["participant"] == name]
        for number in (1, 2, 3):
            before = shown[: shown.index("? ", shown.index(f"week {number}")) + (1 if layout == "plain" else 4)]
            lead, close = (" ", ["\n"]) if layout == "plain" else ("", [">>"])
            expected = oracle.log_probs(before, [f"{lead}{n}" for n in range(20)], close)
            found = own[own["mark"] == number]
            assert found["candidate"].tolist() == [str(n) for n in range(20)]
            assert found["log_prob"].tolist() == pytest.approx(expected, abs=1e-4)
            row = marks[(marks["participant"] == name) & (marks["mark"] == number)].iloc[0]
            assert row["log_prob_human"] == found["log_prob"].tolist()[answers[number - 1]]
            assert row["p_valid"] == pytest.approx(math.fsum(map(math.exp, expected)), abs=1e-5)
            assert row["context_tokens"] == len(oracle.ids(before))
            assert row["layout"] == layout


@pytest.mark.parametrize("style", [style for style in STYLES if style not in ("dated", "thinking")])
def test_chats_are_read_as_the_template_shows_them_with_and_without_a_space(style, people, task, tmp_path):
    folder = write_chat_model(tmp_path / "m", style)
    task.write_text(COUNTS.replace("range = [0, 19]", "range = [0, 7]"), encoding="utf-8")
    candidates, marks = read(folder, people, task, tmp_path / "out", "--layout", "auto")
    oracle = SpanOracle(folder)
    assert set(marks["layout"]) == {"chat"}
    turns = []
    for number, answer in enumerate(PEOPLE["b"], 1):
        asked = f"{number}. Days of rain in week {number}?"
        turns.append({"role": "user", "content": INSTRUCTIONS + asked if number == 1 else asked})
        before = oracle.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        start = oracle.tokenizer(before, add_special_tokens=False)["input_ids"]
        expected = []
        for candidate in range(8):
            probs = []
            for lead in ("", " "):
                ids = oracle.tokenizer(f"{before}{lead}{candidate}", add_special_tokens=False)["input_ids"]
                if ids[: len(start)] == start:
                    steps = range(len(start), len(ids))
                    probs.append(math.prod(float(oracle.next_probs(ids[:at])[ids[at]]) for at in steps))
            expected.append(math.log(math.fsum(probs)))
        own = candidates[(candidates["participant"] == "b") & (candidates["mark"] == number)]
        assert own["log_prob"].tolist() == pytest.approx(expected, abs=1e-4), style
        turns.append({"role": "assistant", "content": str(answer)})
    assert marks.loc[marks["human_answer"] == "10", "status"].tolist() == ["unlisted"]


def test_the_late_reading_is_what_published_code_gives_for_answers_of_one_token(people, task, tmp_path):
    """Seed 001: of one pass over the whole text, the row at the answer's own token."""
    folder = write_model(tmp_path / "m", byte_level(), spread=0.2)
    # In float32, two ways to one number differ by more than 1e-6 on some processors.
    AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).save_pretrained(folder)
    candidates, _ = read(folder, people, task, tmp_path / "out", "--dtype", "auto")
    oracle, late = SpanOracle(folder), candidates.set_index(["participant", "mark", "candidate"])["log_prob_late"]
    model, compared = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).eval(), 0
    for name, answers in PEOPLE.items():
        whole, at = text(answers), 0
        with torch.inference_mode():
            rows = torch.log_softmax(model(torch.tensor([oracle.ids(whole)])).logits[0], dim=-1)
        for number, answer in enumerate(answers, 1):
            at = whole.index("<<", at) + 2
            place = len(oracle.ids(whole[:at]))
            assert len(oracle.ids(whole[:at] + str(answer))) == place + 1
            for candidate in map(str, range(20)):
                token = oracle.ids(whole[:at] + candidate)[place:]
                if len(token) == 1:
                    expected = float(rows[place, token[0]])
                    assert late[name, number, candidate] == pytest.approx(expected, abs=1e-6)
                    compared += 1
    assert compared > 60


@pytest.mark.parametrize(("before", "behind"), [(0.1, 0.9), (0.9, 0.1)])
def test_a_model_that_answers_a_token_later_than_it_is_read_raises_an_alarm(before, behind, people, task, tmp_path):
    """A planted model: how often digits come after an opening delimiter, and how often behind another digit."""
    tokenizer = byte_level(size=257)
    (opening,), (closing,) = tokenizer.encode("<"), tokenizer.encode(">")
    digits = [tokenizer.encode(str(n))[0] for n in range(10)]
    after_opening = {opening: 1 - before, **dict.fromkeys(digits, before / 10)}
    after_digit = {closing: 1 - behind, **dict.fromkeys(digits, behind / 10)}
    table = {opening: after_opening, closing: {closing: 1.0}, **dict.fromkeys(digits, after_digit)}
    folder = write_bigrams(tmp_path / "m", tokenizer, table)
    task.write_text(COUNTS.replace("range = [0, 19]", "range = [0, 9]"), encoding="utf-8")
    _, marks = read(folder, people, task, tmp_path / "out")
    (row,) = masses_by_history(marks)
    assert row["is_likelier_late"] is (behind > before)
    assert row["median_p_valid"] == pytest.approx(before, abs=1e-4)
    assert row["median_p_valid_late"] == pytest.approx(behind, abs=1e-4)


@pytest.mark.slow
def test_a_mark_that_is_broken_changes_no_other_marks_number(people, task, tmp_path):
    folder = write_model(tmp_path / "m", sentencepiece_like(), spread=0.2)
    whole, _ = read(folder, people, task, tmp_path / "whole")
    broken_text = text(PEOPLE["a"]).replace("<<1>>", "<<1")
    broken = written(tmp_path / "broken.jsonl", {"a": broken_text, "b": text(PEOPLE["b"])})
    found, marks = read(folder, broken, task, tmp_path / "broken")
    keys = ["participant", "mark", "candidate"]
    both = whole.merge(found, on=keys)
    assert len(both) == 5 * 20
    assert np.abs(both["log_prob_x"] - both["log_prob_y"]).max() < 1e-5
    assert marks.set_index(["participant", "mark"])["status"].to_dict()[("a", 3)] == "broken"


def test_all_histories_are_read_and_every_mark_has_a_row_in_each(people, task, tmp_path, capsys):
    folder = write_model(tmp_path / "m", sentencepiece_like(), spread=0.2)
    histories = ["alone", "own", "human", "other", "permuted", "answers", "blank"]
    options = [part for history in histories for part in ("--history", history)]
    _, marks = read(folder, people, task, tmp_path / "out", *options)
    assert marks.groupby("history").size().to_dict() == dict.fromkeys(histories, 6)
    assert set(marks["status"]) == {"read"}
    told = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert (told["layout"], told["road"], told["task"]) == ("marked", "beside one cached text", "counts")
    assert told["tokens_body"] > 0
    assert "42 read" in capsys.readouterr().out
    donors = pd.read_parquet(tmp_path / "out" / "donors.parquet")
    other = marks[marks["history"] == "other"]
    share = other["log_prob_human"] - np.log(other["p_valid"])
    mean = donors[donors["donor"] != donors["participant"]].set_index("participant")["log_score"]
    for name, score in share.groupby(other["participant"]).mean().items():
        assert mean[name] == pytest.approx(score, abs=1e-9)


@pytest.mark.slow
def test_what_was_read_is_known_the_next_time(people, task, tmp_path, monkeypatch):
    from valuesassets.models.spans.strategies import CachedStrategy

    folder = write_model(tmp_path / "m", sentencepiece_like(), spread=0.2)
    read(folder, people, task, tmp_path / "out", "--known", tmp_path / "known")
    texts = []
    real = CachedStrategy.read
    monkeypatch.setattr(CachedStrategy, "read", lambda self, ids, *rest: texts.append(ids) or real(self, ids, *rest))
    read(folder, people, task, tmp_path / "again", "--known", tmp_path / "known", "--history", "human")
    n_before = len(texts)
    read(folder, people, task, tmp_path / "more", "--known", tmp_path / "known", "--history", "alone")
    assert n_before <= 3  # the certificate reads a few spans again
    assert len(texts) > n_before


def test_wrong_asking_is_one_line(people, task, tmp_path):
    folder = write_model(tmp_path / "m", sentencepiece_like(), spread=0.2)
    with pytest.raises(typer.BadParameter, match="--history yours: one of alone, own, human"):
        read(folder, people, task, tmp_path / "out", "--history", "yours")
    with pytest.raises(TokenizerError, match="no chat template"):
        read(folder, people, task, tmp_path / "out", "--layout", "chat")
    with pytest.raises(typer.BadParameter, match="a day such as 2026-01-31"):
        read(folder, people, task, tmp_path / "out", "--layout", "chat", "--template-date", "today")
    with pytest.raises(QuestionError, match=r"no such task file; did you mean care\?"):
        read(folder, people, "cares", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_template_that_rewrites_earlier_turns_is_told_mark_by_mark(people, task, tmp_path):
    drops = CHATML.replace("{% for message in messages %}", "{% for message in messages[-2:] %}")
    folder = write_chat_model(tmp_path / "m", "chatml", drops)
    with pytest.raises((TokenizerError, MissingData), match="template"):
        read(folder, people, task, tmp_path / "out", "--layout", "chat")
