"""Options that the commands of worldwise share, and the material that they name."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from valuesassets.instruments.worldwise.material.cultures import Persona
    from valuesassets.instruments.worldwise.material.scenarios import Scenario
    from valuesassets.records.trials import Trial

ScenariosFile = Annotated[str, typer.Option("--scenarios", help="File of dilemmas (JSON), or: bundled.")]
CulturesFile = Annotated[
    Path | None,
    typer.Option(
        "--cultures",
        readable=False,
        help='Cultures (JSON: {"JPN": {"name", "place", "demonym", "names"}}); only the two controls if left out.',
    ),
]
Wordings = Annotated[
    str, typer.Option("--wordings", help="Wordings of the persona: one or more of 0,1,2 between commas.")
]


def parse_wordings(wordings: str) -> list[int]:
    """The numbers that `--wordings` names."""
    if not re.fullmatch("[0-2](,[0-2])*", wordings) or len(set(wordings.split(","))) < len(wordings.split(",")):
        raise typer.BadParameter(f"--wordings {wordings[:40]}: some of 0,1,2 was expected, each once")
    return [int(number) for number in wordings.split(",")]


def choice_trials(scenarios: str, cultures: Path | None, wordings: str) -> "tuple[Sequence[Scenario], list[Trial]]":
    """Dilemmas, and the trials in which every culture and control chooses; doubts about dilemmas are printed."""
    from valuesassets.instruments.worldwise.trials.trials import write_trials

    numbers = parse_wordings(wordings)
    dilemmas, personas = read_material(scenarios, cultures)
    return dilemmas, write_trials(dilemmas, personas, numbers)


def read_material(scenarios: str, cultures: Path | None) -> "tuple[list[Scenario], list[Persona]]":
    """Dilemmas, and every culture and control; doubts about dilemmas are printed."""
    from valuesassets.instruments.worldwise.material.cultures import asked_personas, read_cultures
    from valuesassets.instruments.worldwise.material.scenarios import find_doubts, read_scenarios

    dilemmas = read_scenarios(scenarios)
    personas = asked_personas(read_cultures(cultures) if cultures is not None else [])
    for doubt in find_doubts(dilemmas):
        print(f"{scenarios}: {doubt.id}: {doubt.what}")
    return list(dilemmas), personas
