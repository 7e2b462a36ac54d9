"""`valuesassets simulations`: how often is a claim made where it is wrong, and where it is right?"""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any

import typer

from valuesassets import instruments
from valuesassets.cli.inputs import require_file_place
from valuesassets.cli.worlds import simulated
from valuesassets.records.errors import ScoringError
from valuesassets.records.files import write_json


def simulations(
    count: Annotated[int, typer.Option("--worlds", min=2, help="Worlds of each kind.")] = 400,
    seed: Annotated[int, typer.Option(help="Seed of the first world of a kind; the others follow.")] = 1,
    processes: Annotated[int | None, typer.Option(min=1, help="Processes; as many as processors if not given.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write the table as JSON.")] = None,
    only: Annotated[
        str | None, typer.Option(help="Try these worlds alone: a finding's letter, or words of their names.")
    ] = None,
) -> None:
    """Make worlds that could be mistaken for values, and print how often each claim is made where it is wrong."""
    from valuesassets.measure.simulations import summarise, wrong_conclusions

    if output is not None:
        require_file_place(output, "JSON")
    chosen = [each for each in every_simulation() if only is None or _is_meant(each, only)]
    if not chosen:
        listed = "; ".join(f"{each.world} ({each.finding or 'no letter'})" for each in every_simulation())
        raise typer.BadParameter(f"--only {only}: no world has that letter or these words; there are: {listed}")
    seeds = {each.world: range(seed, seed + count) for each in chosen}
    rows = summarise(simulated(simulate_world, seeds, processes, "worlds that try claims"))
    print(_table(rows))
    if output is not None:
        write_json(output, rows)
    if lines := wrong_conclusions(rows):
        raise ScoringError("; ".join(lines))


def every_simulation() -> tuple[Any, ...]:
    """The worlds of all instruments that have a module `simulations`."""
    packages = sorted(package.name for package in iter_modules(instruments.__path__, f"{instruments.__name__}."))
    modules = [f"{package}.simulations" for package in packages if find_spec(f"{package}.simulations") is not None]
    return tuple(simulation for module in modules for simulation in import_module(module).SIMULATIONS)


def simulate_world(name: str, seeds: Sequence[int]) -> list[dict[str, Any]]:
    """What comes of every claim in worlds of this name, one for each seed."""
    from valuesassets.measure.simulations import simulate

    (simulation,) = (each for each in every_simulation() if each.world == name)
    return simulate(simulation, seeds)


def _is_meant(simulation: Any, only: str) -> bool:
    """Whether a world was written for a finding of this letter, or has these words in its name."""
    if len(only) == 1:
        return only.upper() == simulation.finding
    return only.lower() in simulation.world.lower()


def _table(rows: list[dict[str, Any]]) -> str:
    lines, world = [], None
    for row in rows:
        if row["world"] != world:
            world = row["world"]
            letter = f" (finding {row['finding']})" if row["finding"] else ""
            lines.append(f"\n{row['instrument']}: {world}{letter}, {row['n_worlds']} worlds")
        is_wrong = row["kind"] == "null"
        said = f"  claimed in {row['rejected']:6.1%}, {'wrong' if is_wrong else 'right'}"
        said += f"; withheld in {row['withheld']:.1%}" if row["withheld"] else ""
        said += f"; intervals hold the truth in {row['coverage']:.1%}" if row["coverage"] is not None else ""
        lines.append(f"{said}: {row['claim']}")
    return "\n".join(lines).lstrip()
