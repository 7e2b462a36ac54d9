"""Renders chat templates in a separate process: they are programs of others, and may run forever or take all memory.

The process answers lines of JSON. A signal ends it where a template takes too much time, even within an operation that
Python cannot interrupt.
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
from valuesassets.records.processes import python_module

CPU_SECONDS = 3.0
"""Processor time that rendering one chat may take; templates of real models take a thousandth of it."""
MEBIBYTES = 1024
"""Memory that rendering may take on top of the process's own."""
LONGEST = 2**24
"""Most characters of a rendered chat."""
ADDRESS = re.compile(r" at 0x[0-9a-f]+>")
"""How Python prints objects that have no text of their own."""

_processes: dict[int, "subprocess.Popen[bytes]"] = {}
"""The rendering process of each asking process: a fork must not use its parent's."""
_lock = threading.Lock()


class TemplateFault(Exception):
    """A chat that could not be rendered.

    Attributes:
        kind: type of the error in the template, `limit` where it took too much, `chance` where it changes every time.
        of_library: whether transformers itself refused it.
    """

    def __init__(self, reason: str, kind: str, of_library: bool = False) -> None:
        super().__init__(reason)
        self.kind, self.of_library = kind, of_library


def render(template: str, chat: Sequence[Mapping[str, str]], arguments: Mapping[str, Any]) -> str:
    """Render a chat, turns with `role` and `content`, by a template with these arguments (JSON).

    Raises:
        TemplateFault: the template fails, takes too much time or memory, or gives another text each time.
    """
    line = json.dumps({"template": template, "chat": chat, "arguments": arguments}, default=str).encode() + b"\n"
    with _lock:
        process = _processes.get(os.getpid()) or _start()
        try:
            stdin, stdout = _pipes(process)
            with contextlib.suppress(BrokenPipeError):  # the process has ended: no reply will come
                stdin.write(line)
                stdin.flush()
            reply = stdout.readline()
        except BaseException:  # this reply must not be taken for the reply to the next chat
            _end(process)
            raise
        if not reply.endswith(b"\n"):
            code = _end(process)
            too_long = f"takes more than {CPU_SECONDS:g} s of processor time"
            reason = too_long if code == -signal.SIGPROF else f"ends the process that renders it (exit status {code})"
            raise TemplateFault(reason, "limit")
    answer = json.loads(reply)
    if "text" in answer:
        return answer["text"]
    raise TemplateFault(**answer)


def _start() -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        python_module("valuesassets.models.template_process"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the asking process; when that ends, stdin closes and this one ends too
        env=os.environ | {"PYTHONHASHSEED": "0"},  # sets of texts have one order
    )
    _processes[os.getpid()] = process
    atexit.register(_end, process)
    return process


def _end(process: "subprocess.Popen[bytes]") -> int:
    """End a process; returns its exit status."""
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
        request = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)  # its signal ends the process
        try:
            (text,), _ = render_jinja_template(
                [request["chat"]], chat_template=request["template"], **request["arguments"]
            )
            answer = {"text": _require_sound(text)}
        except TemplateFault as fault:
            answer = {"reason": str(fault), "kind": fault.kind}
        except MemoryError:
            answer = {"reason": f"takes more than {MEBIBYTES:,} MiB of memory", "kind": "limit"}
        except Exception as error:  # templates are programs: jinja2's errors, and those of Python inside them
            answer = {"reason": str(error), "kind": type(error).__name__, "of_library": isinstance(error, ValueError)}
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _require_sound(text: str) -> str:
    if len(text) > LONGEST:
        raise TemplateFault(f"makes {len(text):,} characters of one chat, {LONGEST:,} at most were expected", "limit")
    if address := ADDRESS.search(text):
        near = text[max(0, address.start() - 40) : address.end()].rpartition("<")[2]
        raise TemplateFault(f"shows where an object lies in memory (<{near})", "chance")
    return text


if __name__ == "__main__":
    main()
