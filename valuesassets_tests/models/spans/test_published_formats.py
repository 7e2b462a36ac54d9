"""The formats of the published data: no mark is lost, and each is read or is a row with its reason."""

import math
import re
from collections import Counter
from dataclasses import replace

import pytest

from valuesassets.models.asking import Asking
from valuesassets.models.loading import load_model, load_weights, open_model
from valuesassets.records.marks import find_marks, read_transcripts
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Status, Trial, Turn
from valuesassets_tests.models.asked_marks import ask_marks
from valuesassets_tests.models.spans.oracle import SpanOracle
from valuesassets_tests.models.spans.texts import NUMBERS
from valuesassets_tests.needs import shared_file
from valuesassets_tests.tiny_chats import chat_tokenizer
from valuesassets_tests.tiny_models import byte_level, sentencepiece_like, write_model

pytestmark = pytest.mark.published
MARKS = {
    "BARRAT scale": 18,
    "CARE scale": 15,
    "AUDIT scale": 6,
    "GABS scale": 3,
    "PRI scale": 4,
    "BART task": 34,
    "CCT task": 22,
    "DFD task": 6,
    "DFE task": 46,
    "LOT task": 4,
    "MPL task": 12,
}
"""Opening delimiters in the file."""
KEY = re.compile(r"(?:pressing|Press|, or|Box|[Ll]ottery) ([A-Z])\b")
TOKENIZERS = {"digits split": sentencepiece_like, "digits merged": byte_level}


@pytest.fixture(scope="module")
def transcripts():
    return read_transcripts(shared_file("data", "psych", "formats", "invented_participants.jsonl"))


@pytest.fixture(scope="module", params=TOKENIZERS)
def folder(request, tmp_path_factory):
    model = tmp_path_factory.mktemp("m") / "m"
    return write_model(model, TOKENIZERS[request.param](), spread=0.2, max_position_embeddings=4096)


def delimiters(transcript):
    return ("{", "}") if transcript.experiment == "BART task" else ("<<", ">>")


def candidates(transcript, mark):
    """What may be answered at a mark: numbers, the options named last before it, or this participant's keys."""
    before = transcript.text[: mark.start]
    if transcript.experiment == "CARE scale":
        return NUMBERS
    if before.endswith("How sure are you? <<"):
        return tuple("1234567")
    if before.endswith("You decided to <<"):
        return ("sample", "choose")
    if transcript.experiment.endswith("scale"):
        named = [options for line in before.split("\n") if (options := re.findall(r"(\d) =", line))]
        return tuple(named[-1])
    return tuple(dict.fromkeys(KEY.findall(transcript.text)))


def asked_of(transcript):
    marks = [mark for mark in find_marks(transcript.text, delimiters(transcript))[0] if mark.fault is None]
    readout = ask_marks(marks, [candidates(transcript, mark) for mark in marks], delimiters(transcript)[1])
    name = f"{transcript.experiment}/{transcript.participant}"
    return Trial(name, transcript.experiment, "und", transcript.text, "given", 0, None, readout)


def in_turns(trial, delimiters):
    """The same trial as a chat: what stands between answers is the user's, answers side by side are one turn."""
    opening, closing = delimiters
    turns, spans, behind = [], [], 0
    for span in trial.readout.spans:
        between, answer = trial.prompt[behind : span.start - len(opening)], trial.prompt[span.start : span.end]
        if between.strip():
            turns += [Turn("user", between.strip()), Turn("assistant", answer)]
        else:
            turns[-1] = Turn("assistant", turns[-1].text + between + answer)
        spans.append(span._replace(turn=len(turns) // 2 - 1))
        behind = span.end + len(closing)
    return replace(trial, chat=tuple(turns), readout=replace(trial.readout, spans=tuple(spans)))


def read(loaded, trials):
    return Asking(loaded.opened, trials).ask(loaded)[0].readings


def test_every_mark_of_every_format_is_read(transcripts, folder):
    trials = [asked_of(transcript) for transcript in transcripts]
    readings = read(load_model(str(folder), dtype="float32", device="cpu"), trials)
    assert Counter(reading.trial_id.partition("/")[0] for reading in readings) == MARKS
    assert {reading.status for reading in readings} == {Status.OK}
    spans = [(trial, number) for trial in trials for number in range(len(trial.readout.spans))]
    assert [(reading.trial_id, reading.span) for reading in readings] == [(t.trial_id, n) for t, n in spans]
    given = [t.prompt[slice(*t.readout.spans[n][:2])] for t, n in spans]
    assert given == [answer for t in transcripts for answer in re.findall(r"(?<=<<)\w+(?=>>)|(?<={)\w(?=})", t.text)]
    offered = [t.readout.sets[t.readout.spans[n].set] for t, n in spans]
    assert [answer for answer, texts in zip(given, offered, strict=True) if answer not in texts] == ["120"]
    keys = {texts for (t, _), texts in zip(spans, offered, strict=True) if t.question_id in ("BART task", "DFD task")}
    assert keys == {("P", "S"), ("Q", "J"), ("A", "B"), ("X", "M")}
    oracle = SpanOracle(folder)
    seen = {t.question_id: (t, n, texts, r) for (t, n), texts, r in zip(spans, offered, readings, strict=True)}
    for trial, number, texts, reading in seen.values():  # the last mark of each format, whatever stands before it
        before = trial.prompt[: trial.readout.spans[number].start]
        expected = oracle.log_probs(before, texts, trial.readout.close)
        assert [math.log(prob) for prob in reading.label_probs] == pytest.approx(expected, abs=2e-5)


def test_marks_that_are_broken_empty_or_out_of_reach_are_rows_with_a_reason_and_the_others_are_read(
    transcripts, tmp_path
):
    spoilt, faults = [], 0
    for transcript in transcripts:
        opening, closing = delimiters(transcript)
        text = transcript.text.replace(closing, "", 1) + f"\nAnd then? {opening}{closing}"
        spoilt.append(transcript.model_copy(update={"text": text}))
        faults += sum(mark.fault is not None for mark in find_marks(text, (opening, closing))[0])
    folder = write_model(tmp_path / "m", byte_level(), max_position_embeddings=200)
    loaded = load_model(str(folder), dtype="float32", device="cpu")
    readings = read(loaded, [asked_of(transcript) for transcript in spoilt])
    assert faults == 2 * len(transcripts)
    assert len(readings) + faults == sum(MARKS.values()) + len(transcripts)
    assert {reading.status for reading in readings} == {Status.OK, Status.FAILED}
    for reading in readings:
        assert (reading.status is Status.OK) is (reading.reason is None)
        assert reading.reason is None or f"span {reading.span}: character" in reading.reason


def test_a_chat_model_is_asked_in_turns_and_one_without_a_template_as_the_text_stands(transcripts, folder, tmp_path):
    trials = [in_turns(asked_of(transcript), delimiters(transcript)) for transcript in transcripts]
    chatty = write_model(tmp_path / "m", chat_tokenizer("chatml"), spread=0.1, max_position_embeddings=4096)
    in_chat = load_weights(open_model(str(chatty), None, "float32", "cpu", prompting=Prompting(style="chat")))
    readings = read(in_chat, trials)
    assert Counter(reading.trial_id.partition("/")[0] for reading in readings) == MARKS
    assert {reading.status for reading in readings} <= {Status.OK, Status.UNRESOLVED}
    assert all(reading.reason for reading in readings if reading.status is Status.UNRESOLVED)
    entries = Asking(in_chat.opened, trials).entries
    assert [(e.trial_id, e.number) for e in entries] == [(r.trial_id, r.span) for r in readings]
    for entry in entries:
        start, end, *_ = entry.text.places[entry.number]
        span = entry.text.readout.spans[entry.number]
        assert entry.text.view.text[start:end] == entry.text.view.trial.prompt[span.start : span.end]
    opened = open_model(str(folder), dtype="float32", device="cpu")
    plain = [replace(t, chat=None, readout=asked_of(each).readout) for t, each in zip(trials, transcripts, strict=True)]
    assert [e.key for e in Asking(opened, trials).entries] == [e.key for e in Asking(opened, plain).entries]
