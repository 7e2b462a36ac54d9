"""A server that is none of ours: `transformers serve`, asked through the real SDK."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from valuesassets.models.asking import Asking
from valuesassets.models.loading import load_weights, open_model
from valuesassets.records.errors import InputError
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Turn
from valuesassets.remote.asking import RemoteAsking
from valuesassets_tests.remote.remote_trials import LABELLED, asked
from valuesassets_tests.tiny_chats import write_chat_model
from valuesassets_tests.waiting import wait_until

CHAT = Prompting(style="chat", answer_prefix="none")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A chat model's folder, and an endpoint where it is served."""
    folder = write_chat_model(tmp_path_factory.mktemp("served") / "tiny", "chatml")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = Path(sys.executable).parent / "transformers"
    command = [str(program), "serve", str(folder), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with (folder.parent / "log").open("w") as log:
        process = subprocess.Popen(command, env=os.environ | {"HF_HUB_OFFLINE": "1"}, stdout=log, stderr=log)

    def is_up():
        try:
            return httpx2.get(f"http://127.0.0.1:{port}/health", trust_env=False).status_code == 200
        except httpx2.RequestError:
            assert process.poll() is None, (folder.parent / "log").read_text()
            return False

    try:
        wait_until(is_up, 120)
        yield folder, Endpoint(provider="openai", base_url=f"http://127.0.0.1:{port}/v1", attempts=1)
    finally:
        process.terminate()
        process.wait()


@pytest.mark.slow
def test_what_it_writes_is_what_the_same_weights_write_here(served):
    folder, endpoint = served
    chat = (Turn("system", "Be brief."), Turn("user", "a"), Turn("assistant", "b"), Turn("user", "How many?"))
    trials = [asked("How many?", "q0", temperature=0), asked("x", "q1", chat=chat, temperature=0)]
    asking = RemoteAsking(str(folder), endpoint, CHAT, trials)
    there = asking.ask(asking.connect(None))[0].records
    opened = open_model(str(folder), device="cpu", prompting=CHAT)
    here = Asking(opened, trials).ask(load_weights(opened))[0].records
    assert [(answer.text, answer.finish) for answer in there] == [(answer.text, answer.finish) for answer in here]


@pytest.mark.slow
def test_it_shows_no_probabilities_and_that_is_one_line(served):
    folder, endpoint = served
    asking = RemoteAsking(str(folder), endpoint, CHAT, [LABELLED])
    with pytest.raises(InputError, match=r"no probabilities by any route \(top_logprobs: .*\); .*, ask by Generate"):
        asking.ask(asking.connect(None))
