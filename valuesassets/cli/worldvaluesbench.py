"""The commands of WorldValuesBench: its data set out of the survey's file, examples of it, models asked, scores."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from valuesassets.cli.asking import choose_model
from valuesassets.cli.inputs import Orders, Seed, parse_orders, require_folder_place
from valuesassets.cli.options import ModelOptions
from valuesassets.cli.outputs import ends_of, print_orders, unread_part
from valuesassets.records.errors import StorageError, StudyError
from valuesassets.records.faults import validated
from valuesassets.records.frames import records
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.records.settings.worldvaluesbench import AskedSet

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
    """Files by the names before them, as NAME=FILE; `option` is the name of the option, for messages."""
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


def ask(
    dataset: DatasetFolder,
    output: Annotated[Path, typer.Option(help="File for the ratings (CSV), with attributes and without.")],
    *,
    probe: Probe = "5",
    questions: ValueQuestions = "probe",
    attributes: Annotated[
        str, typer.Option(help="What a prompt says of a person: variables of WVS-7 between commas.")
    ] = "B_COUNTRY,H_URBRURAL,Q275",
    wording: Annotated[
        Literal["list", "list_reversed_attributes", "sentence"], typer.Option(help="How a person is described.")
    ] = "list",
    orders: Orders = "both",
    seed: Seed = 0,
    options: ModelOptions,
) -> None:
    """Ask a model what people of each background answer, and what it answers without one; write its ratings."""
    from valuesassets.answers.probe_distributions import Cell
    from valuesassets.instruments.worldvaluesbench.answers.rating_distributions import (
        derive_rating_distributions,
        require_ratings_place,
        write_ratings,
    )
    from valuesassets.instruments.worldvaluesbench.answers.ratings_files import read_ratings
    from valuesassets.instruments.worldvaluesbench.material.personas import asked_pairs, derive_personas
    from valuesassets.instruments.worldvaluesbench.material.probe_samples import choose_samples
    from valuesassets.instruments.worldvaluesbench.material.stored_dataset import read_dataset
    from valuesassets.instruments.worldvaluesbench.material.value_questions import (
        chosen_questions,
        load_value_questions,
    )
    from valuesassets.instruments.worldvaluesbench.measures.rating_checks import rating_orders
    from valuesassets.instruments.worldvaluesbench.trials.trials import write_trials

    elicitation = parse_orders(orders)
    if output.is_dir():
        raise StorageError(f"{output}: is a folder, a file name was expected; add one")
    require_folder_place(output.parent, written=output)
    require_ratings_place(output)
    model = choose_model(options)
    choice = require_asked_set(questions, attributes)
    items, named = chosen_questions(choice.questions), choice.attributes
    people = read_dataset(dataset)
    samples = choose_samples(people, items, probe, seed)
    personas = derive_personas(people.participants, samples, named)
    pairs = asked_pairs(people.participants, samples, named)
    trials = write_trials(personas, pairs, items, named, "eng", elicitation, [wording], seed)
    print(f"{len(samples)} answers of people: {len(pairs)} distinct pairs of question and background to ask")
    replies = model.ask(trials, "reading answers")
    ratings = derive_rating_distributions(trials, replies.readings, Cell(model.name, "multi", model.name, "eng"))
    rows = records(ratings.drop_duplicates("question_id"))
    reasons = [f"{row['question_id']}: {row['reason']}" for row in rows if row["status"] != "ok"]
    end = unread_part(model.name, len(rows), reasons, "prompts could be read", "use another model")
    write_ratings(output, ratings, named)
    print(f"{len(rows)} distributions in {output}{end}")
    rules = Thresholds()
    least = rules.p_valid_question
    written = rating_orders(model.name, read_ratings(output, model.name, load_value_questions(), least), rules)
    print_orders(written, len(rows), "distributions", least, "`evaluate` leaves them out")


def require_asked_set(questions: str, attributes: str) -> AskedSet:
    """What is asked, by the rules that a study's sets have; StudyError where a name stands there twice, or is none."""
    ids = questions if questions in ("probe", "all") else questions.split(",")
    keys = {"language": "eng", "questions": ids, "attributes": attributes.split(",")}
    return validated(AskedSet, keys, StudyError, "worldvaluesbench ask")


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
