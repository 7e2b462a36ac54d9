"""The command that asks a model what people of each background answer, and writes its ratings as a file."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from valuesassets.cli.asking import (
    AsChat,
    Device,
    Dtype,
    KnownFolder,
    ModelName,
    Offline,
    PromptingFile,
    Revision,
    asked_model,
    known_folder,
)
from valuesassets.cli.inputs import Orders, parse_orders, require_folder_place
from valuesassets.cli.outputs import print_cautions, progress_bar
from valuesassets.records.errors import MissingData, StorageError, StudyError
from valuesassets.records.faults import validated
from valuesassets.records.frames import records
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.records.settings.worldvaluesbench import AskedSet
from valuesassets.records.trials import Reading


def ask(
    model: ModelName,
    dataset: Annotated[Path, typer.Option(readable=False, help="Folder that `worldvaluesbench dataset` has written.")],
    output: Annotated[Path, typer.Option(help="Ratings to write (CSV): distributions, with attributes and without.")],
    probe: Annotated[
        str, typer.Option(help="About whom: all, a number of people per group, or a file of samples (TSV).")
    ] = "5",
    questions: Annotated[str, typer.Option(help="probe, all, or ids between commas.")] = "probe",
    attributes: Annotated[
        str, typer.Option(help="What prompts say of a person, between commas.")
    ] = "B_COUNTRY,H_URBRURAL,Q275",
    wording: Annotated[
        Literal["list", "list_reversed_attributes", "sentence"], typer.Option(help="How a prompt is put.")
    ] = "list",
    revision: Revision = None,
    dtype: Dtype = "auto",
    device: Device = "auto",
    orders: Orders = "both",
    offline: Offline = False,
    chat: AsChat = False,
    prompting: PromptingFile = None,
    known: KnownFolder = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the people drawn.")] = 0,
) -> None:
    """Ask a model each question for each background, and without one; read the distributions of its answers."""
    from valuesassets.answers.probe_distributions import Cell
    from valuesassets.instruments.worldvaluesbench.personas import asked_pairs, derive_personas
    from valuesassets.instruments.worldvaluesbench.probe_samples import choose_samples
    from valuesassets.instruments.worldvaluesbench.rating_distributions import (
        derive_rating_distributions,
        require_ratings_place,
        write_ratings,
    )
    from valuesassets.instruments.worldvaluesbench.rating_orders import rating_orders
    from valuesassets.instruments.worldvaluesbench.ratings_files import read_ratings
    from valuesassets.instruments.worldvaluesbench.stored_dataset import read_dataset
    from valuesassets.instruments.worldvaluesbench.trials import write_trials
    from valuesassets.instruments.worldvaluesbench.value_questions import chosen_questions, load_value_questions

    elicitation = parse_orders(orders)
    if output.is_dir():
        raise StorageError(f"{output}: is a folder, a file name was expected; add one")
    require_folder_place(output.parent, written=output)
    require_ratings_place(output)
    store_folder = known_folder(known)
    who = asked_model(model, revision, dtype, device, offline, chat, prompting)
    wanted = require_asked_set(questions, attributes)
    asked, named = chosen_questions(wanted.questions), wanted.attributes
    people = read_dataset(dataset)
    samples = choose_samples(people, asked, probe, seed)
    personas = derive_personas(people.participants, samples, named)
    pairs = asked_pairs(people.participants, samples, named)
    trials = write_trials(personas, pairs, asked, named, "eng", elicitation, [wording], seed)
    print(f"{len(samples)} answers of people: {len(pairs)} distinct pairs of question and background to ask")

    from valuesassets.models.asking import Asking
    from valuesassets.models.loading import load_weights

    name, opened = who.name, who.opened()
    asking = Asking(opened, trials)
    store = asking.open_known(store_folder, print)
    with progress_bar("reading answers") as tick:
        scored, described = asking.ask(load_weights(opened), tick, store)
    print_cautions(name, asking, described)
    readings = [record for record in scored.records if isinstance(record, Reading)]
    found = derive_rating_distributions(trials, readings, Cell(name, "multi", name, "eng"))
    once = records(found.drop_duplicates("question_id"))
    unread = [row for row in once if row["status"] != "ok"]
    first = f", first {unread[0]['question_id']}: {unread[0]['reason']}" if unread else ""
    if len(unread) == len(once):
        raise MissingData(f"{name}: none of {len(once)} prompts could be read{first}; use another model")
    write_ratings(output, found, named)
    print(f"{len(once)} distributions in {output}" + (f", {len(unread)} unread{first}" if unread else ""))
    rules = Thresholds()
    followed = rating_orders(name, read_ratings(output, name, load_value_questions(), rules.p_valid_question), rules)
    if followed["n_low_p_valid"]:
        n_low, least = followed["n_low_p_valid"], rules.p_valid_question
        print(
            f"{name}: {n_low} of {len(once)} distributions have a P_valid below {least:g}: `evaluate` leaves them out"
        )
    if followed["reason"]:
        print(followed["reason"])


def require_asked_set(questions: str, attributes: str) -> AskedSet:
    """What is asked, by the rules that a study's sets have.

    Raises:
        StudyError: a name stands there twice, or is none.
    """
    ids = questions if questions in ("probe", "all") else questions.split(",")
    told = {"language": "eng", "questions": ids, "attributes": attributes.split(",")}
    return validated(AskedSet, told, StudyError, "worldvaluesbench ask")
