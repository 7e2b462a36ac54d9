"""A reading in a process of its own: what it gives, how it is ended, and that nothing of it is left."""

import contextlib
import os
import signal
from pathlib import Path

import pytest

from valuesassets.records import limited
from valuesassets.records.errors import PdfError, QuestionError
from valuesassets.records.limited import within_limits

pytestmark = pytest.mark.limited


def read(action, **more):
    return within_limits(action, "form.pdf", "print it anew", PdfError, **more)


def held_on(tell):
    """Tells who it is and then catches whatever should stop it, as readers of broken files do."""
    tell(os.getpid())
    while True:
        with contextlib.suppress(BaseException):
            signal.pause()


def is_gone(pid):
    return not Path(f"/proc/{pid}").exists()


def test_what_is_read_and_what_is_told_on_the_way_come_back():
    told = []
    assert read(lambda tell: [tell(1, 2), tell(2, 2), "read"][-1], on_news=lambda *news: told.append(news)) == "read"
    assert told == [(1, 2), (2, 2)]


def test_it_is_another_process_which_reads_what_is_within_it_itself():
    outer, inner = read(lambda _: (os.getpid(), read(lambda _: os.getpid())))
    assert outer == inner != os.getpid()


def raising(fault):
    def action(_):
        raise fault

    return action


def test_an_error_arrives_as_it_was_raised():
    with pytest.raises(QuestionError, match="row 3: mend it"):
        read(raising(QuestionError("row 3: mend it")))
    with pytest.raises(ZeroDivisionError, match="by zero") as caught:
        read(lambda _: 1 / 0)
    assert any("test_limited.py" in note for note in caught.value.__notes__)


def test_an_error_that_cannot_be_sent_arrives_in_words():
    with pytest.raises(RuntimeError, match="LocalError: a word"):
        read(raising(type("LocalError", (Exception,), {})("a word")))


def test_one_that_takes_too_long_is_ended_whatever_it_catches(monkeypatch):
    monkeypatch.setattr(limited, "SECONDS", 0.2)
    pids = []
    with pytest.raises(PdfError) as caught:
        read(held_on, on_news=pids.append)
    assert str(caught.value) == "form.pdf: reading took more than 0.2 s; print it anew"
    assert is_gone(*pids)


def test_one_that_takes_too_much_memory_is_ended(monkeypatch):
    monkeypatch.setattr(limited, "MEBIBYTES", 32)
    with pytest.raises(PdfError) as caught:
        read(lambda _: len(bytearray(2**30)))  # more than this process may have free already
    assert str(caught.value) == (
        "form.pdf: reading took more memory than there is, or than the 32 MiB that it may take; print it anew"
    )
    assert read(lambda _: len(bytearray(2**20))) == 2**20


@pytest.mark.parametrize(("end", "said"), [(signal.SIGSEGV, "SIGSEGV"), (signal.SIGKILL, "SIGKILL")])
def test_one_that_is_ended_by_a_signal_says_which(end, said):
    with pytest.raises(PdfError, match=rf"^form\.pdf: reading broke off \({said}\); print it anew$"):
        read(lambda _: os.kill(os.getpid(), end))


def test_one_that_leaves_without_a_word_is_an_error():
    with pytest.raises(PdfError, match=r"reading broke off \(exit 1\)"):
        read(raising(SystemExit(0)))


def test_nothing_is_left_of_one_that_is_interrupted():
    pids = []

    def interrupt(pid):
        pids.append(pid)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read(held_on, on_news=interrupt)
    assert is_gone(*pids)


def test_it_ends_with_the_process_that_asked_for_it():
    ours, theirs = os.pipe()
    asker = os.fork()
    if asker == 0:
        os.close(ours)
        within_limits(held_on, "form.pdf", "", on_news=lambda pid: os.write(theirs, b"begun"))
    os.close(theirs)
    assert os.read(ours, 5) == b"begun"
    os.kill(asker, signal.SIGKILL)
    assert os.waitpid(asker, 0)[0] == asker
    assert os.read(ours, 1) == b""  # whoever could still write has ended
    os.close(ours)


def test_what_it_prints_is_not_seen(capfd):
    read(lambda _: os.write(2, b"MediaBox missing"))
    assert capfd.readouterr().err == ""
