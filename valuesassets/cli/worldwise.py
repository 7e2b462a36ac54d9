"""The commands of worldwise: trials, choices and reasons of a model, scores of answers, a calibration."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from valuesassets.cli.asking import choose_model
from valuesassets.cli.inputs import TrialsFile, require_file_place
from valuesassets.cli.options import ModelOptions
from valuesassets.cli.outputs import print_orders, require_trials_place, unread_part, write_trials_file
from valuesassets.cli.worldwise_calibrate import calibrate
from valuesassets.cli.worldwise_inputs import CulturesFile, ScenariosFile, Wordings, choice_trials
from valuesassets.cli.worldwise_reason import reason
from valuesassets.cli.worldwise_score import score
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.study import Study
from valuesassets.records.trials import Trial


def trials(
    scenarios: ScenariosFile, output: TrialsFile, cultures: CulturesFile = None, wordings: Wordings = "0"
) -> None:
    """Write the choices that a model is given: every dilemma in both orders, as each culture and the two controls."""
    require_trials_place(output)
    _, written = choice_trials(scenarios, cultures, wordings)
    write_trials_file(output, written)
    print(f"{output}: {len(written)} trials")


def choose(
    scenarios: ScenariosFile,
    output: Annotated[Path, typer.Option(help="File for the choices (parquet).")],
    *,
    cultures: CulturesFile = None,
    wordings: Wordings = "0",
    options: ModelOptions,
) -> None:
    """Read how probable a model finds each option of every dilemma, as each culture and the two controls."""
    from valuesassets.instruments.worldwise.answers.choices import LOW_P_VALID, derive_choices
    from valuesassets.instruments.worldwise.measures.reliability import choice_orders
    from valuesassets.instruments.worldwise.tables import CHOICES
    from valuesassets.records.parquet import write_table

    require_file_place(output, "a parquet file")
    model = choose_model(options)
    dilemmas, asked_trials = choice_trials(scenarios, cultures, wordings)
    replies = model.ask(asked_trials, "reading choices")
    rules = Thresholds()
    least = rules.p_valid_question
    rows = derive_choices(dilemmas, asked_trials, replies.readings, model.name, model.name, least)
    reasons = [row["reason"] for row in rows if row["p_high"] is None]
    end = unread_part(model.name, len(rows), reasons, "choices could be read", "use another model")
    orders = choice_orders(model.name, CHOICES.frame(rows), rules)
    write_table(output, rows, CHOICES, replies.description | {"orders": orders})
    print(f"{len(rows)} choices in {output}{end}")
    print_orders(orders, len(rows), "choices", least, f"their status is {LOW_P_VALID}, and no analysis rests on them")


def study_prompts(study: Study) -> Iterator[list[Trial]]:
    """What a study asks each culture and control: choices, and reasons where it asks for them."""
    from valuesassets.instruments.worldwise.material.scenarios import read_scenarios
    from valuesassets.instruments.worldwise.trials import reason_trials
    from valuesassets.instruments.worldwise.trials import trials as choice_prompts

    settings = Worldwise.of(study)
    dilemmas = read_scenarios(settings.scenarios)
    for culture in settings.parts:
        for prompts in (choice_prompts, *([reason_trials] if settings.has_reasons else [])):
            yield prompts.study_trials(settings, culture, dilemmas, study.seed)


COMMANDS = {"trials": trials, "choose": choose, "reason": reason, "score": score, "calibrate": calibrate}
