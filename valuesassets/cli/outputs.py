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
from valuesassets.records.errors import MissingData

if TYPE_CHECKING:
    from valuesassets.instruments.survey.material.forms.changes import Change
    from valuesassets.records.questions import Question
    from valuesassets.records.trials import Trial

MOST_QUESTIONS = 40
"""Questions whose answers are printed; the others are in the file."""
MOST_SHOWN = 6
"""Changes of one kind that are printed."""


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr, gone when the work is done; gives the function to call with (done, total)."""
    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def print_orders(orders: Mapping[str, Any], n_rows: int, things: str, least: float, consequence: str) -> None:
    """Print how many rows have a P_valid below the least one and what follows, and why rows are no evidence where their
    order rules; `orders` is a row of `choice_orders` or `rating_orders`."""
    if orders["n_low_p_valid"]:
        low = f"{orders['n_low_p_valid']} of {n_rows} {things} have a P_valid below {least:g}"
        print(f"{orders['model']}: {low}: {consequence}")
    if orders["reason"]:
        print(orders["reason"])


def unread_part(model: str, n_asked: int, reasons: Sequence[str], things: str, what_to_do: str) -> str:
    """The end of a closing line: how many things could not be read, and the first of their reasons; empty where all
    were read; MissingData where none was."""
    if not reasons:
        return ""
    if len(reasons) == n_asked:
        raise MissingData(f"{model}: none of {n_asked} {things}, first {reasons[0]}; {what_to_do}")
    return f", {len(reasons)} unread, first {reasons[0]}"


def print_answers(rows: Sequence[Mapping[str, Any]], questions: Sequence["Question"]) -> None:
    """Print P_valid and the answers to each question, a line each, averaged over orders and wordings.

    Args:
        rows: of `PROBE_DISTRIBUTIONS`, of one model and language.
        questions: the questions that were asked; the first ones are printed.
    """
    rows_of = defaultdict(list)
    for row in rows:
        rows_of[row["question_id"]].append(row)
    answered = [question for question in questions if question.id in rows_of]
    width = max(len(question.id) for question in answered[:MOST_QUESTIONS])
    print(f"  {'question':<{max(width, 8)}}  P_valid  answers")
    for question in answered[:MOST_QUESTIONS]:
        print(f"  {question.id:<{max(width, 8)}}  {_answers(question, rows_of[question.id])}")
    if len(answered) > MOST_QUESTIONS:
        print(f"  and {len(answered) - MOST_QUESTIONS} questions more, in the file")


def _answers(question: "Question", rows: Sequence[Mapping[str, Any]]) -> str:
    """P_valid and the share of each answer that was offered, or why they were not read."""
    reason = next((row["reason"] for row in rows if row["prob_averaged"] is None), None)
    if reason is not None:
        return f"{'-':>7}  not read: {reason}"
    labels = {option.value: _short(option.label, 24) or str(option.value) for option in question.options}
    shares = defaultdict(list)
    for row in rows:
        shares[row["response_value"]].append(row["prob_averaged"])
    answers = ", ".join(f"{labels[value]} {fmean(probs):.0%}" for value, probs in shares.items())
    return f"{fmean(row['p_valid'] for row in rows):>7.2f}  {answers}"


def require_trials_place(output: Path) -> None:
    """See that `write_trials_file` can write a file; InputError or StorageError where it cannot."""
    require_file_place(output, "text" if is_text(output) else "a parquet file")


def is_text(output: Path) -> bool:
    """Whether the name of a file of trials says that it is text."""
    return output.suffix.lower() == ".txt"


def write_trials_file(output: Path, trials: Sequence["Trial"]) -> None:
    """Write trials as parquet, or as text below their ids where the name ends in `.txt`."""
    from valuesassets.records.files import write_text
    from valuesassets.records.parquet import trial_rows, write_table
    from valuesassets.records.tables import TRIALS

    if is_text(output):
        write_text(output, "\n".join(f"=== {trial.trial_id}\n{_prompt(trial)}\n" for trial in trials))
    else:
        write_table(output, trial_rows(trials), TRIALS)


def _prompt(trial: "Trial") -> str:
    """The chat that a model is shown, turn by turn, or the prompt."""
    return "\n".join(f"[{turn.role}] {turn.text}" for turn in trial.chat) if trial.chat else trial.prompt


def ends_of(row: Mapping[str, Any], name: str = "", spec: str = ".2f") -> str:
    """The text of an interval, with a blank before it; empty where one end is not known.

    >>> ends_of({"r_low": 0.1, "r_high": 0.25}, "r"), ends_of({"low": float("nan"), "high": 1.0})
    (' [0.10, 0.25]', '')
    """
    low, high = (row[f"{name}_{end}" if name else end] for end in ("low", "high"))
    is_known = all(each is not None and each == each for each in (low, high))
    return f" [{low:{spec}}, {high:{spec}}]" if is_known else ""


def types_of(questions: "Sequence[Question]", guessed: Collection[str], has_columns: bool = True) -> Iterator[str]:
    """A line for each response type: whether it has an order, and its questions, with ? where it is a guess.

    Args:
        has_columns: whether a column of a table can say the type; otherwise an overrides file does.
    """
    kinds: dict[tuple[str, bool, str], list[str]] = {}
    for question in questions:
        kind = question.response_type
        by = ", in the order that it names" if question.places != {value: value for value in question.values} else ""
        kinds.setdefault((str(kind), kind.is_ordinal, by), []).append(f"{question.id}{'?' * (question.id in guessed)}")
    for (kind, is_ordinal, by), ids in kinds.items():
        yield f"  {kind} ({f'ordered{by}' if is_ordinal else 'no order'}): {', '.join(ids)}"
    if guessed:
        place = "in a column response_type" if has_columns else "in an overrides file (docs/review.md#corrections)"
        yield f"  ? guessed from the answers; say it {place} where it is wrong"


def lines_of_changes(changes: "Sequence[Change]") -> Iterator[str]:
    """The changes of questions, a few of each reason; those of response types are in `types_of`."""
    from valuesassets.instruments.survey.material.forms.changes import COLUMNS_FIELD

    reasons: dict[str, list[Change]] = {}
    yield from (f"columns {each.why}: {each.before}" for each in changes if each.field == COLUMNS_FIELD)
    for change in (change for change in changes if change.field not in ("response_type", COLUMNS_FIELD)):
        reasons.setdefault(change.why, []).append(change)
    for why, same in reasons.items():
        yield f"changed in {len(same)} place{'s' * (len(same) > 1)}: {why}"
        for change in same[:MOST_SHOWN]:
            before, after = (_short(each) for each in (change.before, change.after))
            yield f"  {change.question_id}, {change.field}: {before}{f' -> {after}' if after else ' taken out'}"
        if len(same) > MOST_SHOWN:
            yield f"  and {len(same) - MOST_SHOWN} more (--review shows all)"


def _short(text: str | None, longest: int = 90) -> str:
    return f"{text[: longest - 1]}…" if text and len(text) > longest else text or ""
