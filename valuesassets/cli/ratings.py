"""The command that scores ratings of people's answers, wherever they were made."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from valuesassets.cli.inputs import require_folder_place
from valuesassets.cli.outputs import ends_of

if TYPE_CHECKING:
    import pandas as pd

Named = Annotated[list[str] | None, typer.Option("--ratings", help="NAME=FILE: ratings asked for with attributes.")]
WithoutNamed = Annotated[list[str] | None, typer.Option("--without", help="NAME=FILE: the same model's without.")]


def evaluate(
    dataset: Annotated[Path, typer.Option(readable=False, help="Folder that `worldvaluesbench dataset` has written.")],
    output: Annotated[Path, typer.Option(help="Folder for the tables (CSV).")],
    probe: Annotated[
        str, typer.Option(help="Who is asked: all, a number of people per group, or a file of samples (TSV).")
    ] = "5",
    ratings: Named = None,
    without: WithoutNamed = None,
    questions: Annotated[str, typer.Option(help="probe, all, or ids between commas.")] = "probe",
    resamples: Annotated[int, typer.Option(min=0, help="Of people within groups, for the intervals.")] = 2000,
    min_group: Annotated[int, typer.Option(min=2, help="People who answered that a group needs.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Of everything that is drawn.")] = 0,
) -> None:
    """Score models' ratings: whether they move with a person's background, and the benchmark's own score."""
    from valuesassets.instruments.worldvaluesbench.evaluation import evaluate as evaluate_ratings
    from valuesassets.instruments.worldvaluesbench.evaluation import write_evaluation
    from valuesassets.instruments.worldvaluesbench.probe_samples import choose_samples
    from valuesassets.instruments.worldvaluesbench.stored_dataset import read_dataset
    from valuesassets.instruments.worldvaluesbench.value_questions import chosen_questions

    require_folder_place(output)
    with_attributes, asked_without = named_files(ratings or [], "--ratings"), named_files(without or [], "--without")
    asked = chosen_questions(questions if questions in ("probe", "all") else questions.split(","))
    people = read_dataset(dataset)
    samples = choose_samples(people, asked, probe, seed)
    tables = evaluate_ratings(people, samples, with_attributes, asked_without, resamples, seed, min_group)
    written = write_evaluation(tables, output)
    _print(tables["awareness"], samples)
    for reason in tables["rating_orders"]["reason"].dropna():
        print(f"  {reason}")
    _print_excluded(tables["ledger"])
    print(f"{output}: {', '.join(sorted(path.name for path in written))}")


def named_files(given: Sequence[str], option: str) -> dict[str, Path]:
    """Files by the names that are given to them, NAME=FILE."""
    named: dict[str, Path] = {}
    for each in given:
        name, is_there, file = each.partition("=")
        if not (name.strip() and is_there and file):
            raise typer.BadParameter(
                f"{option} {each[:60]}: a name and a file were expected, as {option} mine=mine.tsv"
            )
        if name in named:
            raise typer.BadParameter(f"{option} {name}: this name has a file already; choose another")
        named[name] = Path(file)
    return named


def _print_excluded(ledger: "pd.DataFrame") -> None:
    """What of models' ratings was not used, a line each."""
    from valuesassets.records.frames import records

    for row in records(ledger.loc[(ledger["model"] != "") & (ledger["question_id"] == "")]):
        print(f"  {row['model']}: {row['n']} of {row['of']} {row['what']}")


def _print(awareness: "pd.DataFrame", samples: "pd.DataFrame") -> None:
    from valuesassets.records.frames import records, rows_where

    people = samples["participant_id"].nunique()
    print(f"{len(samples)} answers of {people} people to {samples['question_id'].nunique()} questions")
    for row in records(rows_where(awareness, factor="all")):
        slope = f"{row['slope']:5.2f}{ends_of(row, 'slope') or ', no interval'}"
        told = slope if row["slope"] == row["slope"] else "none: these people's groups do not differ beyond chance"
        print(f"  {row['model']:<32} slope {told}")
