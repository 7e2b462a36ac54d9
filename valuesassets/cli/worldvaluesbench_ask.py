"""The command `worldvaluesbench ask`: a model rates questions as people of each background would."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from valuesassets.cli.asking import choose_model
from valuesassets.cli.inputs import Orders, Seed, parse_orders, require_folder_place
from valuesassets.cli.options import ModelOptions
from valuesassets.cli.outputs import print_orders, unread_part
from valuesassets.cli.worldvaluesbench_evaluate import DatasetFolder, Probe, ValueQuestions
from valuesassets.records.errors import StorageError, StudyError
from valuesassets.records.faults import validated
from valuesassets.records.frames import records
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.records.settings.worldvaluesbench import AskedSet


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
    """What is asked, by the rules that a study's sets have.

    Raises:
        StudyError: a name stands there twice, or is none.
    """
    ids = questions if questions in ("probe", "all") else questions.split(",")
    keys = {"language": "eng", "questions": ids, "attributes": attributes.split(",")}
    return validated(AskedSet, keys, StudyError, "worldvaluesbench ask")
