"""Chat templates rendered in a process of their own: they are programs of others, which may not end or take all memory.

One process serves all templates of the one that asks. It is given lines of JSON, answers each with a line, and ends
itself where a template takes too much time: also within one operation, which Python cannot break off.
"""

import atexit
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any, cast

from valuesassets.records.limited import limit_memory

CPU_SECONDS = 3.0
"""What rendering one chat may take; templates of real models take a thousandth of it."""
MEBIBYTES = 1024
"""Memory that rendering may take beside what the process holds."""
LONGEST = 2**24
"""Characters of a chat."""
ADDRESS = re.compile(r" at 0x[0-9a-f]+>")
"""What Python shows of objects that have no text of their own."""

_processes: dict[int, "subprocess.Popen[bytes]"] = {}
"""By the process that asks: a fork has none of its parent's."""
_asking = threading.Lock()


class TemplateFault(Exception):
    """A chat that could not be rendered.

    Attributes:
        kind: type of the error in the template, `limit` where it took too much, `chance` where it changes every time.
        of_library: whether transformers itself refused it.
    """

    def __init__(self, said: str, kind: str, of_library: bool = False) -> None:
        super().__init__(said)
        self.kind, self.of_library = kind, of_library


def render(template: str, chat: Sequence[Mapping[str, str]], arguments: Mapping[str, Any]) -> str:
    """A chat as a template shows it.

    Args:
        chat: turns with `role` and `content`.
        arguments: the template's own and the library's, JSON.

    Raises:
        TemplateFault: it fails, takes too much time or memory, or changes from one time to the next.
    """
    line = json.dumps({"template": template, "chat": chat, "arguments": arguments}, default=str).encode() + b"\n"
    with _asking:
        process = _processes.get(os.getpid()) or _start()
        try:
            stdin, stdout = _pipes(process)
            with contextlib.suppress(BrokenPipeError):  # it has ended: there is no answer
                stdin.write(line)
                stdin.flush()
            answered = stdout.readline()
        except BaseException:  # the answer to this is not taken for that to the next
            _end(process)
            raise
        if not answered.endswith(b"\n"):
            code = _end(process)
            too_long = f"takes more than {CPU_SECONDS:g} s of processor time"
            said = too_long if code == -signal.SIGPROF else f"ends the process that renders it (exit status {code})"
            raise TemplateFault(said, "limit")
    answer = json.loads(answered)
    if "text" in answer:
        return answer["text"]
    raise TemplateFault(**answer)


def _start() -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        [sys.executable, "-m", "valuesassets.models.template_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for who asks; without him it ends by itself
        env=os.environ | {"PYTHONHASHSEED": "0"},  # sets of texts have one order
    )
    _processes[os.getpid()] = process
    atexit.register(_end, process)
    return process


def _end(process: "subprocess.Popen[bytes]") -> int:
    """End a process; its exit status."""
    if _processes.get(os.getpid()) is process:
        del _processes[os.getpid()]
        atexit.unregister(_end)
        for pipe in _pipes(process):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        return process.wait()
    return 0


def _pipes(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes]]:
    return cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)


def main() -> None:
    """Answer the lines of stdin until it is closed."""
    from jinja2 import pass_context
    from jinja2.defaults import DEFAULT_NAMESPACE
    from jinja2.filters import FILTERS
    from transformers.utils.chat_template_utils import render_jinja_template

    def drawing(name: str) -> Any:
        @pass_context
        def refuse(*_: object, **__: object) -> str:
            raise TemplateFault(f"draws at random ({name})", "chance")

        return refuse

    FILTERS["random"] = drawing("the filter random")
    DEFAULT_NAMESPACE["lipsum"] = drawing("lipsum")
    if sys.platform == "linux":
        limit_memory(MEBIBYTES)
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)  # whose signal ends the process
        try:
            (text,), _ = render_jinja_template([asked["chat"]], chat_template=asked["template"], **asked["arguments"])
            answer = {"text": _sound(text)}
        except TemplateFault as fault:
            answer = {"said": str(fault), "kind": fault.kind}
        except MemoryError:
            answer = {"said": f"takes more than {MEBIBYTES:,} MiB of memory", "kind": "limit"}
        except Exception as error:  # templates are programs: jinja2's errors, and those of Python inside them
            answer = {"said": str(error), "kind": type(error).__name__, "of_library": isinstance(error, ValueError)}
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _sound(text: str) -> str:
    if len(text) > LONGEST:
        raise TemplateFault(f"makes {len(text):,} characters of one chat, {LONGEST:,} at most were expected", "limit")
    if found := ADDRESS.search(text):
        shown = text[max(0, found.start() - 40) : found.end()].rpartition("<")[2]
        raise TemplateFault(f"shows where an object lies in memory (<{shown})", "chance")
    return text


if __name__ == "__main__":
    main()
