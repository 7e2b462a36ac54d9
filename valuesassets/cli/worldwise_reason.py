"""The command `worldwise reason`: what a model writes to dilemmas."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from valuesassets.cli.asking import choose_model, costs_of_draws
from valuesassets.cli.inputs import Seed, require_file_place
from valuesassets.cli.options import ModelOptions
from valuesassets.cli.worldwise_inputs import CulturesFile, ScenariosFile, Wordings, parse_wordings, read_material
from valuesassets.records.bundled import BUNDLED
from valuesassets.records.errors import MissingData
from valuesassets.records.settings.prompting import Prompting

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
    from valuesassets.instruments.worldwise.answers.reasons import Reply, derive_reasons, reply_of
    from valuesassets.instruments.worldwise.material.value_names import read_value_names
    from valuesassets.instruments.worldwise.tables import REASONS
    from valuesassets.instruments.worldwise.trials.reason_trials import requests_of, write_reason_trials
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
    answers, requests = costs_of_draws(replies, model.endpoint), requests_of(trials, dilemmas, value_names)
    rows = []
    for trial in trials:
        for draw in range(draws):
            answer, cost = answers.get((trial.trial_id, draw), (None, {}))
            missing = Reply(draw, failure="the budget did not reach it; raise it and run it again", is_asked=False)
            rows.append((requests[trial.trial_id], missing if answer is None else reply_of(answer, **cost)))
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
