"""The commands of WorldValuesBench: its data set out of the survey's file, examples of it, models asked, scores."""

from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import typer

from valuesassets.cli.inputs import require_folder_place
from valuesassets.cli.worldvaluesbench_ask import ask
from valuesassets.cli.worldvaluesbench_evaluate import DatasetFolder, evaluate


def dataset(
    answers: Annotated[
        Path, typer.Option(readable=False, help="File of WVS-7 with its codes: .csv, .sav, .dta or .parquet.")
    ],
    output: Annotated[Path, typer.Option(help="Folder for the data set.")],
    repeated_ids: Annotated[
        Literal["renumber", "drop"],
        typer.Option(help="People with the same D_INTERVIEW: numbered, or dropped as the benchmark's authors do."),
    ] = "renumber",
    seed_files: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            help="Folder dataset_construction of the authors' repository; their eight TSV files are then written too.",
        ),
    ] = None,
) -> None:
    """Write the people and answers of the benchmark from your copy of the World Values Survey."""
    from valuesassets.instruments.worldvaluesbench.material.dataset_statistics import derive_dataset_statistics
    from valuesassets.instruments.worldvaluesbench.material.participants import read_participants
    from valuesassets.instruments.worldvaluesbench.material.stored_dataset import write_dataset
    from valuesassets.instruments.worldvaluesbench.published.format import read_published_files
    from valuesassets.people.own_variables import NO_COLUMN, NO_IDS

    require_folder_place(output)
    published = read_published_files(seed_files) if seed_files is not None else None
    people = write_dataset(read_participants(answers, repeated_ids=repeated_ids), output, published)
    print(derive_dataset_statistics(people)["splits"].to_string(index=False))
    if lacking := list(people.ledger.loc[people.ledger["why"] == NO_COLUMN, "subject"]):
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        print(f"{answers}: no column {', '.join(lacking[:3])}{more}: nobody's answers to these are known")
    for name in people.ledger.loc[people.ledger["why"] == NO_IDS, "subject"]:
        print(f"{answers}: no column {name}: people are numbered by their rows")
    rows = people.ledger[people.ledger["what"] != "missing"].groupby(["what", "why"])["n"].sum()
    for (what, why), n in rows.items():  # type: ignore[misc]
        print(f"{n} rows {what}: {why}")
    print(f"{output}: people, answers, statistics and ledger" + (", the published files" if published else ""))


def examples(
    dataset: DatasetFolder,
    split: Annotated[Literal["full", "train", "valid", "test"], typer.Option(help="Part of the data set.")],
    limit: Annotated[int | None, typer.Option(min=1, help="Print only the first N; all if left out.")] = None,
) -> None:
    """Print examples as lines of JSON: a person's background, a question, and the person's answer."""
    from valuesassets.instruments.worldvaluesbench.material.examples import example_lines
    from valuesassets.instruments.worldvaluesbench.material.stored_dataset import read_dataset

    for line in islice(example_lines(read_dataset(dataset), split), limit):
        print(line)


COMMANDS = {"dataset": dataset, "examples": examples, "ask": ask, "evaluate": evaluate}
