"""The commands of worldwise: trials, choices and reasons of a model, scores of answers, a calibration."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

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
from valuesassets.cli.inputs import require_file_place
from valuesassets.cli.outputs import print_cautions, progress_bar, require_trials_place, write_trials_file
from valuesassets.cli.worldwise_calibrate import calibrate
from valuesassets.cli.worldwise_inputs import CulturesFile, ScenariosFile, Wordings, choice_trials
from valuesassets.cli.worldwise_reason import reason
from valuesassets.cli.worldwise_score import score
from valuesassets.records.errors import MissingData
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.study import Study
from valuesassets.records.trials import Reading, Trial


def trials(
    scenarios: ScenariosFile,
    output: Annotated[
        Path, typer.Option(help="Trials (parquet, for `valuesassets read`; text to read where the name ends in .txt).")
    ],
    cultures: CulturesFile = None,
    wordings: Wordings = "0",
) -> None:
    """Write the choices that models are given: every dilemma in both orders, for each culture and the two controls."""
    require_trials_place(output)
    _, made = choice_trials(scenarios, cultures, wordings)
    write_trials_file(output, made)
    print(f"{output}: {len(made)} trials")


def choose(
    model: ModelName,
    scenarios: ScenariosFile,
    output: Annotated[Path, typer.Option(help="Choices (parquet).")],
    cultures: CulturesFile = None,
    wordings: Wordings = "0",
    revision: Revision = None,
    dtype: Dtype = "auto",
    device: Device = "auto",
    offline: Offline = False,
    chat: AsChat = False,
    prompting: PromptingFile = None,
    known: KnownFolder = None,
) -> None:
    """Read how probable a model finds each option of every dilemma, as each culture and the two controls."""
    from valuesassets.instruments.worldwise.choice_orders import choice_orders
    from valuesassets.instruments.worldwise.choices import LOW_P_VALID, derive_choices
    from valuesassets.instruments.worldwise.tables import CHOICES
    from valuesassets.models.asking import Asking
    from valuesassets.models.loading import load_weights
    from valuesassets.records.parquet import write_table

    require_file_place(output, "a parquet file")
    store_folder = known_folder(known)
    who = asked_model(model, revision, dtype, device, offline, chat, prompting)
    found, asked = choice_trials(scenarios, cultures, wordings)
    name, opened = who.name, who.opened()
    asking = Asking(opened, asked)
    store = asking.open_known(store_folder, print)
    with progress_bar("reading choices") as tick:
        scored, described = asking.ask(load_weights(opened), tick, store)
    print_cautions(name, asking, described)
    readings = [record for record in scored.records if isinstance(record, Reading)]
    rules = Thresholds()
    rows = derive_choices(found, asked, readings, name, name, rules.p_valid_question)
    unread = [row["reason"] for row in rows if row["p_high"] is None]
    first = f", first {unread[0]}" if unread else ""
    if len(unread) == len(rows):
        raise MissingData(f"{name}: none of {len(rows)} choices could be read{first}; use another model")
    orders = choice_orders(name, CHOICES.frame(rows), rules)
    write_table(output, rows, CHOICES, described | {"orders": orders})
    print(f"{len(rows)} choices in {output}" + (f", {len(unread)} of them unread{first}" if unread else ""))
    if orders["n_low_p_valid"]:
        told = f"{orders['n_low_p_valid']} of {len(rows)} choices have a P_valid below {rules.p_valid_question:g}"
        print(f"{name}: {told}: their status is {LOW_P_VALID}, and no analysis rests on them")
    if orders["reason"]:
        print(orders["reason"])


def study_prompts(found: Study) -> Iterator[list[Trial]]:
    """What a study asks each culture and control: choices, and reasons where it asks for them."""
    from valuesassets.instruments.worldwise import reason_trials
    from valuesassets.instruments.worldwise import trials as choice_prompts
    from valuesassets.instruments.worldwise.scenarios import read_scenarios

    settings = Worldwise.of(found)
    dilemmas = read_scenarios(settings.scenarios)
    for culture in settings.parts:
        for written in (choice_prompts, *([reason_trials] if settings.has_reasons else [])):
            yield written.study_trials(settings, culture, dilemmas, found.seed)


COMMANDS = {"trials": trials, "choose": choose, "reason": reason, "score": score, "calibrate": calibrate}
