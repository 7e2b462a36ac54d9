"""The command `read`, which puts any file of trials to any model."""

from pathlib import Path
from typing import Annotated

import typer

from valuesassets.cli.asking import choose_model
from valuesassets.cli.inputs import require_file_place
from valuesassets.cli.options import ModelOptions
from valuesassets.records.errors import InputError, MissingData
from valuesassets.records.trials import Status


def read(
    trials: Annotated[Path, typer.Option(readable=False, help="Trials to ask, all read in the same way (parquet).")],
    output: Annotated[Path, typer.Option(help="File for the readings, or for the answers that are written (parquet).")],
    options: ModelOptions,
) -> None:
    """Put a file of trials to a model and write its replies; each one that fails is a row with its reason."""
    from valuesassets.records.parquet import read_trials

    questions = read_trials(trials)
    if not questions:
        raise InputError(f"{trials}: no trials in it; name a file that has some")
    require_file_place(output, "a parquet file")
    if output.exists() and output.samefile(trials):
        raise InputError(f"{output}: is the file of trials; choose another name for what comes back")
    replies = choose_model(options).ask(questions)
    replies.asking.write(output, replies.records, replies.description)
    unread = [record for record in replies.records if record.status is not Status.OK]
    first = f", first {unread[0].trial_id}: {unread[0].reason}" if unread else ""
    things = f"{len(replies.records)} {replies.asking.things}"
    if len(unread) == len(replies.records):
        raise MissingData(f"{options.model}: none of {things} could be made{first}; see {output}")
    print(f"{things} in {output}" + (f", {len(unread)} of them without{first}" if first else ""))
