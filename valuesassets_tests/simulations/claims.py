"""The command `claims`: how often is a claim made where it is wrong, and where it is right?"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Annotated, Any

import typer

from valuesassets.cli.inputs import require_file_place
from valuesassets.records.errors import ScoringError
from valuesassets.records.files import write_json, write_text
from valuesassets_tests import simulations as simulations_of_instruments
from valuesassets_tests.simulations.estimators import in_processes, simulated
from valuesassets_tests.simulations.options import FirstSeed, Processes
from valuesassets_tests.simulations.outcomes import (
    ENOUGH_POWER,
    simulate,
    smallest_effect,
    summarise,
    wrong_conclusions,
)


def claims(
    count: Annotated[int, typer.Option(min=2, help="Simulations of each kind.")] = 400,
    seed: FirstSeed = 1,
    processes: Processes = None,
    output: Annotated[Path | None, typer.Option(help="File for the table (JSON); none is written if left out.")] = None,
    only: Annotated[
        str | None,
        typer.Option(help="Simulations to try: a finding's letter, or words of their names; all if left out."),
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="File for the table and what each claim rests on (Markdown).")
    ] = None,
    power: Annotated[
        bool,
        typer.Option("--power", help="Print the smallest effect at which each claim is made in 80 % of simulations."),
    ] = False,
) -> None:
    """Simulate answers that could be mistaken for values, and print how often each claim is made where it is wrong."""

    if output is not None:
        require_file_place(output, "JSON")
    if page is not None:
        require_file_place(page, "Markdown")
    if power:
        _print_power(range(seed, seed + count), processes, output, page)
        return
    chosen = [each for each in every_simulation() if only is None or _is_meant(each, only)]
    if not chosen:
        listed = "; ".join(f"{each.world} ({each.finding or 'no letter'})" for each in every_simulation())
        raise typer.BadParameter(f"--only {only}: no simulation has that letter or these words; there are: {listed}")
    seeds = {each.world: range(seed, seed + count) for each in chosen}
    rows = summarise(simulated(simulate_world, seeds, processes, "simulating"))
    print(_table(rows))
    if output is not None:
        write_json(output, rows)
    if page is not None:
        write_text(page, _page(rows))
    if lines := wrong_conclusions(rows):
        raise ScoringError("; ".join(lines))


def every_simulation() -> tuple[Any, ...]:
    """The simulations of all instruments that have a module `simulations`."""
    return tuple(simulation for module in modules() for simulation in module.SIMULATIONS)


def every_power() -> tuple[Any, ...]:
    """The claims of all instruments whose power is tried."""
    return tuple(power for module in modules() for power in getattr(module, "POWER", ()))


def modules() -> list[ModuleType]:
    """The modules `claims` of all instruments that have one: SIMULATIONS, BASES and, in some, POWER."""
    packages = sorted(package.name for package in iter_modules(simulations_of_instruments.__path__) if package.ispkg)
    return [import_module(f"{simulations_of_instruments.__name__}.{package}.claims") for package in packages]


def smallest_effect_of(place: int, seeds: Sequence[int]) -> dict[str, Any]:
    """The smallest effect at which the claim at a place of `every_power` is made."""

    return smallest_effect(every_power()[place], seeds)


def _print_power(seeds: Sequence[int], processes: int | None, output: Path | None, page: Path | None) -> None:
    """Print the smallest effect that each claim sees, and write the table where a file is named, as JSON or a page."""
    places = [(place, seeds) for place in range(len(every_power()))]
    rows = in_processes(smallest_effect_of, places, processes, "claims")
    for row in rows:
        print(f"{row['instrument']}: {row['claim']}\n  {row['size']}: {_smallest(row)} ({row['effect']})")
    if output is not None:
        write_json(output, rows)
    if page is not None:
        write_text(page, _power_page(rows, len(seeds)))


def _smallest(row: Mapping[str, Any]) -> str:
    return "none that was tried" if row["smallest"] is None else f"{row['smallest']:g}"


def _power_page(rows: Sequence[Mapping[str, Any]], n_worlds: int) -> str:
    """The smallest effects that claims see, as a page."""

    lines = [
        "# What effects a study can see",
        "",
        "This page says how large a difference has to be before a study of a given size reports it: the smallest "
        f"effect, of those tried, at which a claim is made in {ENOUGH_POWER:.0%} of {n_worlds} simulations. A "
        "study of the demo's size has 6 languages and 34 questions, one of EVS 2017 has 22 languages and some 200 "
        "questions. Written by `python -m valuesassets_tests.simulations claims --power --count "
        f"{n_worlds} --page docs/power.md`.",
        "",
        "| claim | study | smallest effect | effect |",
        "|---|---|---|---|",
        *(f"| {row['claim']} | {row['size']} | {_smallest(row)} | {row['effect']} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def simulate_world(name: str, seeds: Sequence[int]) -> list[dict[str, Any]]:
    """What comes of every claim in simulations of one name, one for each seed."""

    (simulation,) = (each for each in every_simulation() if each.world == name)
    return simulate(simulation, seeds)


def _is_meant(simulation: Any, only: str) -> bool:
    """Whether a simulation was written for a finding of this letter, or has these words in its name."""
    if len(only) == 1:
        return only.upper() == simulation.finding
    return only.lower() in simulation.world.lower()


def _page(rows: list[dict[str, Any]]) -> str:
    """How often every claim is made in every simulation, as a page."""
    bases = {claim: basis for module in modules() for claim, basis in module.BASES.items()}
    lines = [
        "# How often claims are right",
        "",
        "This page shows how often the claims of a report are right, such as the claim that languages differ as "
        "cultures do. Data with a known truth are simulated, analysed like a study and judged by the rules of the "
        "report. In a simulation of the kind *null* the claim is false, and should be made in at most 7 % of the "
        "simulations. In one of the kind *planted* the claim is true. `n` is the number of simulations, `claimed` "
        "the share in which the claim was made, and `withheld` the share in which the report gave a reason "
        "instead of a claim. `held` is the share of 95 % intervals that contain the true value. Simulations have "
        "the random seeds from 1 to `n`; a row with a smaller `n` shows what `--count` prints with this number. "
        "This page is written by `python -m valuesassets_tests.simulations claims --page docs/levels.md`.",
    ]
    for instrument, claim in dict.fromkeys((row["instrument"], row["claim"]) for row in rows):
        lines += ["", f"## {instrument}: {claim}", "", bases[claim], ""]
        lines += ["| simulation | kind | n | claimed | withheld | held |", "|---|---|---|---|---|---|"]
        for row in rows:
            if (row["instrument"], row["claim"]) == (instrument, claim):
                shares = (_percent(row[name]) for name in ("rejected", "withheld", "coverage"))
                lines.append(f"| {row['world']} | {row['kind']} | {row['n_worlds']} | {' | '.join(shares)} |")
    return "\n".join(lines) + "\n"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _table(rows: list[dict[str, Any]]) -> str:
    lines, name = [], None
    for row in rows:
        if row["world"] != name:
            name = row["world"]
            letter = f" (finding {row['finding']})" if row["finding"] else ""
            lines.append(f"\n{row['instrument']}: {name}{letter}, {row['n_worlds']} simulations")
        is_wrong = row["kind"] == "null"
        line = f"  claimed in {row['rejected']:6.1%}, {'wrong' if is_wrong else 'right'}"
        line += f"; withheld in {row['withheld']:.1%}" if row["withheld"] else ""
        line += f"; intervals hold the truth in {row['coverage']:.1%}" if row["coverage"] is not None else ""
        lines.append(f"{line}: {row['claim']}")
    return "\n".join(lines).lstrip()
