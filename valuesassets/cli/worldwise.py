"""The commands of worldwise: trials, choices and reasons of a model, scores of answers, a calibration."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from valuesassets.cli.asking import choose_model, costs_of_draws
from valuesassets.cli.inputs import Seed, TrialsFile, require_file_place
from valuesassets.cli.options import ModelOptions
from valuesassets.cli.outputs import print_orders, require_trials_place, unread_part, write_trials_file
from valuesassets.cli.worldwise_calibrate import calibrate
from valuesassets.cli.worldwise_inputs import (
    CulturesFile,
    ScenariosFile,
    Wordings,
    choice_trials,
    parse_wordings,
    read_material,
)
from valuesassets.cli.worldwise_score import score
from valuesassets.records.bundled import BUNDLED
from valuesassets.records.errors import MissingData
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.study import Study
from valuesassets.records.trials import Trial

FORMS = ("decide", "open", "advocate")
CHAT = Prompting(style="chat", answer_prefix="none")


def reason(
    scenarios: ScenariosFile,
    output: Annotated[Path, typer.Option(help="File for the decisions and reasons (parquet).")],
    *,
    cultures: CulturesFile = None,
    wordings: Wordings = "0",
    forms: Annotated[
        str,
        typer.Option(
            help="What is asked, between commas: decide between the options, answer in open text, advocate an option."
        ),
    ] = "decide,open",
    draws: Annotated[int, typer.Option(min=1, help="Answers to each prompt and order.")] = 4,
    temperature: Annotated[
        float, typer.Option(min=0, help="Sampling temperature; 0: always the likeliest token.")
    ] = 0.7,
    max_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of an answer.")] = 300,
    values: Annotated[
        str, typer.Option(help="Values that an answer may name (CSV: value,axis,pole), or: bundled.")
    ] = BUNDLED,
    seed: Seed = 0,
    options: ModelOptions,
) -> None:
    """Have a model decide and give its reasons in every dilemma, as each culture and the two controls."""
    from valuesassets.instruments.worldwise.answers.reasons import Written, derive_reasons, written
    from valuesassets.instruments.worldwise.material.value_names import read_value_names
    from valuesassets.instruments.worldwise.tables import REASONS
    from valuesassets.instruments.worldwise.trials.reason_trials import asked_of, write_reason_trials
    from valuesassets.records.parquet import write_frame
    from valuesassets.records.readouts import Generate

    require_file_place(output, "a parquet file")
    form_names, numbers = _parse_forms(forms), parse_wordings(wordings)
    model = choose_model(options, CHAT)
    dilemmas, personas = read_material(scenarios, cultures)
    value_names = list(read_value_names(values)["value"])
    readout = Generate(max_tokens=max_tokens, temperature=temperature, samples=draws, seed=seed)
    trials = write_reason_trials(
        dilemmas, personas, value_names, readout, form_names, numbers, "advocate" in form_names
    )
    replies = model.ask(trials, "writing reasons", is_drawn=True)
    answers, requests = costs_of_draws(replies, model.endpoint), asked_of(trials, dilemmas, value_names)
    rows = []
    for trial in trials:
        for draw in range(draws):
            answer, cost = answers.get((trial.trial_id, draw), (None, {}))
            missing = Written(draw, failure="the budget did not reach it; raise it and run it again", is_asked=False)
            rows.append((requests[trial.trial_id], missing if answer is None else written(answer, **cost)))
    reasons = derive_reasons(rows)
    reasons.attrs["file_metadata"] = replies.description
    write_frame(output, reasons, REASONS)
    counts = ", ".join(f"{n} {status}" for status, n in Counter(reasons["status"]).most_common())
    print(f"{len(reasons)} answers in {output}: {counts}")
    if not answers:
        raise MissingData(f"{options.model}: nothing was asked: the budget is used up; raise it and run it again")


def _parse_forms(forms: str) -> list[str]:
    names = forms.split(",")
    if len(set(names)) < len(names) or not {*names} <= {*FORMS}:
        raise typer.BadParameter(f"--forms {forms[:40]}: some of {','.join(FORMS)} was expected, each once")
    return names


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
    from valuesassets.instruments.worldwise.measures.choice_orders import choice_orders
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
