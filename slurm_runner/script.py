"""The batch script of a submission, and the command of each of its tasks.

A submission is a job array with one task per index, even for a single task. Each start of a task works in its own
folder (`<submission>/<index>/attempt-<job>.<restart>`), so that an old start that still writes, or a job that Slurm
made twice, does no harm. Each start leaves an exit file.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from slurm_runner.errors import SlurmError
from slurm_runner.options import SlurmOptions

COMMAND, LOG, EXIT, ATTEMPT = "command.sh", "log.txt", "exit.json", "attempt"
DIRECTIVE = "#SBATCH "
HEADER = "== "
"""Beginning of the first line that each attempt writes to the log."""
UNWRITABLE = 74
"""Exit status of a task whose node cannot write into its folder (EX_IOERR)."""
NO_MODULE = 78
"""Exit status of a task whose modules could not be loaded (EX_CONFIG)."""

BODY = """\
started=$SECONDS
task={folder}/$SLURM_ARRAY_TASK_ID
restart=${{SLURM_RESTART_COUNT:-0}}
attempt=$task/{attempt}-$SLURM_ARRAY_JOB_ID.$restart
echo "{header}{name}[$SLURM_ARRAY_TASK_ID] job $SLURM_JOB_ID restart $restart on ${{SLURMD_NODENAME:-$(hostname)}}"
[ -n "$(find "$task" -prune -perm -g+w)" ] && umask g=rwx  # shared with a group: so is what the task writes
mkdir -p "$attempt" && cd "$attempt" || exit {unwritable}

leave() {{  # the exit file, whole or absent
    printf '{{"uuid": "{uuid}", "job": "%s", "restart": %s, "rc": %s, "seconds": %s, "node": "%s"}}\\n' \\
        "$SLURM_JOB_ID" "$restart" "$1" "$((SECONDS - started))" "${{SLURMD_NODENAME:-}}" > ".{exit}.$$" \\
        && mv -f ".{exit}.$$" {exit}
    exit "$1"
}}

child= told=
trap 'told=1; [ -n "$child" ] && kill -TERM "$child" 2> /dev/null' TERM
bash "$task/{command}" &
child=$!
[ -n "$told" ] && kill -TERM "$child" 2> /dev/null
told=1
while [ -n "$told" ]; do told=; wait "$child"; rc=$?; done  # a signal ends `wait` early, with a status of its own
leave "$rc"
"""


def render_batch_script(name: str, uuid: str, folder: Path, n_tasks: int, options: SlurmOptions) -> str:
    """The batch script for `sbatch`.

    Args:
        name: name of the job.
        folder: absolute path of the submission's folder, on a disk that the compute nodes share.

    Raises:
        SlurmError: the folder's path cannot be written in a script.
    """
    if not folder.is_absolute() or set('"\\\n') & set(str(folder)):
        raise SlurmError(f"{folder}: an absolute path without quotes and backslashes was expected; choose another one")
    if not re.fullmatch(r"[A-Za-z0-9_.+-]+", name):
        raise SlurmError(f"{name!r}: a name of letters, digits, _, ., + and - was expected for the job; choose another")
    array = f"0-{n_tasks - 1}" + (f"%{options.throttle}" if options.throttle and options.throttle < n_tasks else "")
    log = str(folder).replace("%", "%%") + f"/%a/{LOG}"
    directives = [
        *options.directives(),
        "--export=ALL",
        "--open-mode=append",
        f'--output="{log}"',
        f"--array={array}",
        f"--job-name={name}",
    ]  # the name, by which a job is found, stands last, so that no option overrides it
    head = ["#!/bin/bash", *(DIRECTIVE + directive for directive in directives)]
    body = BODY.format(
        header=HEADER,
        folder=shlex.quote(str(folder)),
        name=name,
        uuid=uuid,
        attempt=ATTEMPT,
        exit=EXIT,
        command=COMMAND,
        unwritable=UNWRITABLE,
    )
    return "\n".join([*head, body])


def render_command(
    arguments: Sequence[str], options: SlurmOptions, environment: Mapping[str, str] | None = None
) -> str:
    """The script that a task runs: modules, environment, container, command; SlurmError where a variable's name is
    invalid, or a word holds a zero byte."""
    lines = ["#!/bin/bash"]
    if options.modules:
        lines += [
            "type module > /dev/null 2>&1 || . /etc/profile",
            f"module load {shlex.join(options.modules)} || exit {NO_MODULE}",
        ]
    variables = {**options.environment, **(environment or {})}
    for key in variables:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
            raise SlurmError(f"environment: {key!r} is no name of a variable; write it with letters, digits and _")
    lines += [f"export {key}={shlex.quote(value)}" for key, value in variables.items()]
    lines += [f"exec {shlex.join([*options.container, *arguments])}", ""]
    if line_with_zero := next((line for line in lines if "\0" in line), None):
        raise SlurmError(f"{line_with_zero!r}: holds a zero byte, which no command can be given; leave it out")
    return "\n".join(lines)
