"""The command `worldvaluesbench evaluate`: scores of ratings of people's answers that were made anywhere."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from valuesassets.cli.inputs import Seed, require_folder_place
from valuesassets.cli.outputs import ends_of

if TYPE_CHECKING:
    import pandas as pd

DatasetFolder = Annotated[
    Path, typer.Option("--dataset", readable=False, help="Folder that `worldvaluesbench dataset` has written.")
]
Probe = Annotated[
    str, typer.Option("--probe", help="Which people: all, a number of people per group, or a file of samples (TSV).")
]
ValueQuestions = Annotated[
    str, typer.Option("--questions", help="Which questions: probe (the benchmark's 36), all, or ids between commas.")
]


def evaluate(
    dataset: DatasetFolder,
    output: Annotated[Path, typer.Option(help="Folder for the tables (CSV).")],
    probe: Probe = "5",
    ratings: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="A model's ratings that were asked with attributes; may be repeated."),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="The same model's ratings without attributes; may be repeated."),
    ] = None,
    questions: ValueQuestions = "probe",
    resamples: Annotated[int, typer.Option(min=0, help="Resamples of people within groups, for the intervals.")] = 2000,
    min_group: Annotated[int, typer.Option(min=2, help="Fewest people with an answer that a group needs.")] = 5,
    seed: Seed = 0,
) -> None:
    """Score models' ratings: do they move with a person's background as people do, and the benchmark's own score."""
    from valuesassets.instruments.worldvaluesbench.material.probe_samples import choose_samples
    from valuesassets.instruments.worldvaluesbench.material.stored_dataset import read_dataset
    from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions
    from valuesassets.instruments.worldvaluesbench.measures.evaluation import evaluate as evaluate_ratings
    from valuesassets.instruments.worldvaluesbench.measures.evaluation import write_evaluation

    require_folder_place(output)
    with_attributes, bare = named_files(ratings or [], "--ratings"), named_files(without or [], "--without")
    items = chosen_questions(questions if questions in ("probe", "all") else questions.split(","))
    people = read_dataset(dataset)
    samples = choose_samples(people, items, probe, seed)
    tables = evaluate_ratings(people, samples, with_attributes, bare, resamples, seed, min_group)
    files = write_evaluation(tables, output)
    _print(tables["awareness"], samples)
    for reason in tables["rating_orders"]["reason"].dropna():
        print(f"  {reason}")
    _print_excluded(tables["ledger"])
    print(f"{output}: {', '.join(sorted(path.name for path in files))}")


def named_files(options: Sequence[str], option: str) -> dict[str, Path]:
    """Files by the names before them, as NAME=FILE.

    Args:
        option: the name of the option, for messages.
    """
    files: dict[str, Path] = {}
    for each in options:
        name, equals, file = each.partition("=")
        if not (name.strip() and equals and file):
            raise typer.BadParameter(
                f"{option} {each[:60]}: a name and a file were expected, as {option} mine=mine.tsv"
            )
        if name in files:
            raise typer.BadParameter(f"{option} {name}: this name has a file already; choose another")
        files[name] = Path(file)
    return files


def _print_excluded(ledger: "pd.DataFrame") -> None:
    """Print which of the models' ratings are not used, a line each."""
    from valuesassets.records.frames import records

    for row in records(ledger.loc[(ledger["model"] != "") & (ledger["question_id"] == "")]):
        print(f"  {row['model']}: {row['n']} of {row['of']} {row['what']}")


def _print(awareness: "pd.DataFrame", samples: "pd.DataFrame") -> None:
    from valuesassets.records.frames import records, rows_where

    n_people = samples["participant_id"].nunique()
    print(f"{len(samples)} answers of {n_people} people to {samples['question_id'].nunique()} questions")
    for row in records(rows_where(awareness, factor="all")):
        slope = f"{row['slope']:5.2f}{ends_of(row, 'slope') or ', no interval'}"
        if row["slope"] != row["slope"]:
            slope = "none: these people's groups do not differ beyond chance"
        print(f"  {row['model']:<32} slope {slope}")
