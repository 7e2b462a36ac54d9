"""Lines and bars that several commands print."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from valuesassets.cli.inputs import require_file_place
from valuesassets.records.errors import ScoringError

if TYPE_CHECKING:
    import pandas as pd

    from valuesassets.instruments.survey.forms.changes import Change
    from valuesassets.models.asking import Asking, AskingResult
    from valuesassets.records.questions import Question
    from valuesassets.records.trials import Trial
    from valuesassets.remote.asking import RemoteAsking

MOST_LINES = 40
"""Of questions whose answers are printed."""


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr, gone when the work is done; gives the function to call with (done, total)."""
    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def print_cautions(name: str, asking: "Asking | RemoteAsking", described: Mapping[str, Any]) -> None:
    """Print what a person should know of a model's answers, a line each; none of it keeps them from being written."""
    for caution in asking.cautions(described):
        print(f"{name}: {caution}")


def require_no_doubt(name: str, asked: "AskingResult") -> None:
    """See that a reference model, which a calibration reads, answers alike in every batch.

    Raises:
        ScoringError: it does not: the instrument is at fault.
    """
    if asked.doubt:
        raise ScoringError(f"{name}: {asked.doubt}; report it")


def print_answers(rows: Sequence[Mapping[str, Any]], questions: Sequence["Question"]) -> None:
    """Print P_valid and the answers to each question, a line each, averaged over orders and wordings.

    Args:
        rows: of `PROBE_DISTRIBUTIONS`, of one model and language.
        questions: whose answers they are; those that come first are printed.
    """
    rows_of = defaultdict(list)
    for row in rows:
        rows_of[row["question_id"]].append(row)
    answered = [question for question in questions if question.id in rows_of]
    width = max(len(question.id) for question in answered[:MOST_LINES])
    print(f"  {'question':<{max(width, 8)}}  P_valid  answers")
    for question in answered[:MOST_LINES]:
        print(f"  {question.id:<{max(width, 8)}}  {_answers(question, rows_of[question.id])}")
    if len(answered) > MOST_LINES:
        print(f"  and {len(answered) - MOST_LINES} questions more, in the file")


def _answers(question: "Question", rows: Sequence[Mapping[str, Any]]) -> str:
    """P_valid and the share of each answer that was offered, or why they were not read."""
    reason = next((row["reason"] for row in rows if row["prob_averaged"] is None), None)
    if reason is not None:
        return f"{'-':>7}  not read: {reason}"
    labels = {option.value: _short_label(option.label) or str(option.value) for option in question.options}
    shares = defaultdict(list)
    for row in rows:
        shares[row["response_value"]].append(row["prob_averaged"])
    answers = ", ".join(f"{labels[value]} {fmean(read):.0%}" for value, read in shares.items())
    return f"{fmean(row['p_valid'] for row in rows):>7.2f}  {answers}"


def _short_label(label: str, longest: int = 24) -> str:
    return label if len(label) <= longest else label[: longest - 1] + "…"


def require_trials_place(output: Path) -> None:
    """See that `write_trials_file` can write a file.

    Raises:
        InputError, StorageError: it cannot.
    """
    require_file_place(output, "text" if is_text(output) else "a parquet file")


def is_text(output: Path) -> bool:
    """Whether a file of trials is for people to read, by its name."""
    return output.suffix.lower() == ".txt"


def write_trials_file(output: Path, trials: Sequence["Trial"]) -> None:
    """Write trials as Parquet; as text for people to read, each below its id, where the name ends in `.txt`."""
    from valuesassets.records.files import write_text
    from valuesassets.records.parquet import trial_rows, write_table
    from valuesassets.records.tables import TRIALS

    if is_text(output):
        write_text(output, "\n".join(f"=== {trial.trial_id}\n{_shown(trial)}\n" for trial in trials))
    else:
        write_table(output, trial_rows(trials), TRIALS)


def _shown(trial: "Trial") -> str:
    """What a model is shown: its chat, turn by turn, or its prompt."""
    return "\n".join(f"[{turn.role}] {turn.text}" for turn in trial.chat) if trial.chat else trial.prompt


def ends_of(row: Mapping[str, Any], name: str = "", spec: str = ".2f") -> str:
    """An interval behind its number, with a blank before it; nothing where one end is not known.

    >>> ends_of({"r_low": 0.1, "r_high": 0.25}, "r"), ends_of({"low": float("nan"), "high": 1.0})
    (' [0.10, 0.25]', '')
    """
    low, high = (row[f"{name}_{end}" if name else end] for end in ("low", "high"))
    is_known = all(each is not None and each == each for each in (low, high))
    return f" [{low:{spec}}, {high:{spec}}]" if is_known else ""


def print_recovery(summary: "pd.DataFrame") -> None:
    """Print a recovery summary, a row per family and response type: both channels, mean and 95th percentile."""
    from valuesassets.records.frames import records

    print(f"  {'':<36} {'scored: W1':<15} {'P_valid':<15} {'position bias':<15} sampled: W1 (bound)")
    for row in records(summary):
        verdict = "recovered" if row["is_recovered"] else f"OFF: {row['reason']}"
        errors = (
            f"{row[f'{error}_mean']:.4f} | {row[f'{error}_p95']:.4f}"
            for error in ("w1_unit_error", "p_valid_error", "position_bias_error")
        )
        sampled = f"{row['sampled_w1_unit_error_mean']:.4f} ({row['sampled_w1_unit_error_bound']:.4f})"
        print(f"  {row['model']:<16} {row['response_type']:<12} {row['n']:>4}  {' '.join(errors)} {sampled}  {verdict}")


def print_hardness(hardness: "pd.DataFrame") -> None:
    """Print how hard the plants were, a row per response type."""
    from valuesassets.records.frames import records

    print(
        "  hardness of the plants: W1 from uniform, share with strong position bias, P_valid, both ends of ten points"
    )
    for row in records(hardness):
        ends = f"{row['both_ends_share']:.0%}" if row["both_ends_share"] == row["both_ends_share"] else ""
        print(
            f"  {'':<16} {row['response_type']:<12} {row['n']:>4}  {row['w1_unit_to_uniform_mean']:.3f}  "
            f"{row['position_bias_share_strong']:.0%}  {row['p_valid_min']:.2f}-{row['p_valid_max']:.2f}  {ends}"
        )


MOST_SHOWN = 6
"""So many questions are named, or changes shown, of each kind."""


def types_of(questions: "Sequence[Question]", guessed: Collection[str]) -> Iterator[str]:
    """How questions are answered, a line for each type: in an order or in none, said or guessed, and which they are."""
    kinds: dict[tuple[str, bool, str], list[str]] = {}
    for question in questions:
        kind = question.response_type
        by = ", in the order that it names" if question.places != {value: value for value in question.values} else ""
        kinds.setdefault((str(kind), kind.is_ordinal, by), []).append(f"{question.id}{'?' * (question.id in guessed)}")
    for (kind, is_ordinal, by), ids in kinds.items():
        yield f"  {kind} ({f'ordered{by}' if is_ordinal else 'no order'}): {', '.join(ids)}"
    if guessed:
        yield "  ? guessed from the answers; say it in a column response_type where it is wrong"


def lines_of_changes(changes: "Sequence[Change]") -> Iterator[str]:
    """What was changed in questions, a few of each reason; types are printed whole (`types_of`)."""
    reasons: dict[str, list[Change]] = {}
    for change in (change for change in changes if change.field != "response_type"):
        reasons.setdefault(change.why, []).append(change)
    for why, same in reasons.items():
        yield f"changed in {len(same)} place{'s' * (len(same) > 1)}: {why}"
        for change in same[:MOST_SHOWN]:
            before, after = (_short(each) for each in (change.before, change.after))
            made = f"{before} -> {after}" if after else f"{before} taken out"
            yield f"  {change.question_id}, {change.field}: {made}"
        if len(same) > MOST_SHOWN:
            yield f"  and {len(same) - MOST_SHOWN} more (--review shows all)"


def _short(text: str | None) -> str:
    return "" if text is None else text if len(text) <= 90 else f"{text[:89]}…"
