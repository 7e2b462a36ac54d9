"""The command `calibrate`: are answers that were planted in a tiny model recovered with these prompts?"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from valuesassets.cli.completion import offer_languages
from valuesassets.cli.inputs import Orders, OwnLexicon, parse_orders, read_sound_questions
from valuesassets.cli.outputs import progress_bar
from valuesassets.library.calibrating import TRAINING, compare_with_planted
from valuesassets.library.progress import OnProgress
from valuesassets.records.errors import MissingData, QuestionError
from valuesassets.records.extras import require
from valuesassets.records.frames import records
from valuesassets.records.settings.measuring import Phantom

if TYPE_CHECKING:
    import pandas as pd

PASSES_TIMED = 4
"""Passes that are timed to predict how long all will take: each of four reads other positions."""


def calibrate(
    questions: Annotated[
        Path | None, typer.Option(readable=False, help="Question file (JSON); needed without --readouts.")
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            autocompletion=offer_languages, help="Language of the questions (ISO 639-3); needed without --readouts."
        ),
    ] = None,
    readouts: Annotated[
        bool,
        typer.Option("--readouts", help="Try spans and written answers on planted material of their own: a minute."),
    ] = False,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"Most passes of training; {Phantom().steps} if left out. Half of them are tried first and are enough "
            "where every error is then far below its limit.",
        ),
    ] = None,
    orders: Orders = "both",
    lexicon: OwnLexicon = None,
) -> None:
    """Train a tiny model to give known answers to these questions and test whether they are recovered; exit 1 if not.

    Two channels are compared: probabilities as `probe` reads them, and answers that are drawn and parsed as text.
    """
    require("calibrate", "models")
    if readouts:
        from valuesassets.cli.calibrate_readouts import calibrate_readouts

        if questions is not None or language is not None:
            raise typer.BadParameter("--readouts brings plants of its own; leave --questions and --language out")
        calibrate_readouts(steps)
    elif questions is None or language is None:
        raise typer.BadParameter("--questions and --language are missing; give both, or --readouts")
    else:
        calibrate_questions(questions, language, steps, orders, lexicon)


def calibrate_questions(questions: Path, language: str, steps: int | None, orders: str, lexicon: Path | None) -> None:
    """Calibrate with the questions of a file."""
    from valuesassets.answers.calibration import describe_hardness, summarise_recovery

    sound = read_sound_questions(questions)
    parse_orders(orders)
    try:
        comparison = compare_with_planted(sound, language, orders, steps, lexicon, partial(_bar, len(sound)))
    except QuestionError as error:
        raise QuestionError(f"{questions}: {error}") from None
    summary = summarise_recovery(comparison, Phantom())
    _print_recovery(summary)
    _print_hardness(describe_hardness(comparison))
    misses = [row for row in records(summary) if not row["is_recovered"]]
    if misses:
        raise MissingData(
            f"{questions}: what was planted was not recovered ({', '.join(row['response_type'] for row in misses)}): "
            f"{misses[0]['reason']}; train longer (--steps), or look at the prompts of the rows marked OFF"
        )


@contextmanager
def _bar(n_questions: int, title: str) -> Iterator[OnProgress]:
    """A progress bar, which for training also prints how long it will take."""
    with progress_bar(title) as tick:
        yield _with_duration(tick, n_questions) if title == TRAINING else tick


def _with_duration(tick: OnProgress, n_questions: int) -> OnProgress:
    """A function to call after each pass: it moves the bar and prints, after the first few, how long all will take."""
    began = time.monotonic()

    def on_pass(done: int, passes: int) -> None:
        nonlocal began
        if done == 1:
            began = time.monotonic()  # preparations are not counted
        if done == 1 + PASSES_TIMED:
            seconds = (time.monotonic() - began) / PASSES_TIMED * passes
            print(f"{n_questions} questions, {passes} passes of training: about {seconds:.0f} seconds", flush=True)
        tick(done, passes)

    return on_pass


def _print_recovery(summary: "pd.DataFrame") -> None:
    """Print the recovery of each response type: means and 95th percentiles of errors, by both channels."""
    print(f"  {'':<36} {'scored: W1':<15} {'P_valid':<15} {'position bias':<15} sampled: W1 (bound)")
    for row in records(summary):
        verdict = "recovered" if row["is_recovered"] else f"OFF: {row['reason']}"
        errors = (
            f"{row[f'{error}_mean']:.4f} | {row[f'{error}_p95']:.4f}"
            for error in ("w1_unit_error", "p_valid_error", "position_bias_error")
        )
        sampled = f"{row['sampled_w1_unit_error_mean']:.4f} ({row['sampled_w1_unit_error_bound']:.4f})"
        print(f"  {row['model']:<16} {row['response_type']:<12} {row['n']:>4}  {' '.join(errors)} {sampled}  {verdict}")


def _print_hardness(hardness: "pd.DataFrame") -> None:
    """Print how hard the plants were, a row per response type."""
    print(
        "  hardness of the plants: W1 from uniform, share with strong position bias, P_valid, both ends of ten points"
    )
    for row in records(hardness):
        ends = f"{row['both_ends_share']:.0%}" if row["both_ends_share"] == row["both_ends_share"] else ""
        print(
            f"  {'':<16} {row['response_type']:<12} {row['n']:>4}  {row['w1_unit_to_uniform_mean']:.3f}  "
            f"{row['position_bias_share_strong']:.0%}  {row['p_valid_min']:.2f}-{row['p_valid_max']:.2f}  {ends}"
        )
