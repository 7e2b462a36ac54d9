"""The command `estimators`: do the analyses find what was planted in simulated data, and nothing where nothing was?"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valuesassets.cli.inputs import require_file_place
from valuesassets.cli.outputs import progress_bar
from valuesassets.records.errors import ScoringError
from valuesassets.records.files import write_json
from valuesassets.records.study import load_study
from valuesassets_tests.simulations.options import FirstSeed, Processes

if TYPE_CHECKING:
    import pandas as pd

BATCH = 20
"""Simulations that a process makes at a time."""
Records = list[dict[str, Any]]


@dataclass(frozen=True)
class Analysis:
    """Analyses that are tried on simulated data.

    Attributes:
        module: of an instrument; it simulates and sums up.
        null: the name in it of a kind without any effect, which is simulated more often.
        headings: of the tables of its summary that are printed.
    """

    module: str
    headings: Mapping[str, str]
    null: str | None = None


ANALYSES = {
    "answers": Analysis(
        "valuesassets.instruments.survey.measures.simulated_worlds",
        {
            "coverage": "How often intervals hold the truth",
            "rejections": "How often any test of a family rejects",
            "verdicts": "Verdicts on families",
            "errors": "Means over simulations",
        },
    ),
    "draws": Analysis(
        "valuesassets_tests.simulations.survey.drawn",
        {
            "coverage": "How often intervals hold the truth, answers drawn",
            "rejections": "How often any test of a family rejects, answers drawn",
            "verdicts": "Verdicts on families, answers drawn",
            "noise": "What drawing leaves in distances",
        },
    ),
    "awareness": Analysis(
        "valuesassets_tests.simulations.worldvaluesbench.estimators",
        {
            "coverage": "How often intervals hold a planted slope",
            "rejections": "How often a slope is found where there is none",
        },
        "NULL",
    ),
    "psych": Analysis(
        "valuesassets_tests.simulations.psych_tasks.estimators",
        {
            "verdicts": "How often a scale is recognised for what it is",
            "rejections": "How often content is found where there is none",
        },
        "NO_CONTENT",
    ),
    "robustness": Analysis(
        "valuesassets_tests.simulations.cultural_robustness.estimators",
        {"worlds": "How often tests reject, and intervals of both ratios hold the truth"},
    ),
    "dilemmas": Analysis(
        "valuesassets_tests.simulations.worldwise.estimators",
        {"rejections": "How often tests reject", "coverage": "How often intervals hold what was planted"},
    ),
}


def estimators(
    count: Annotated[
        int, typer.Option(min=2, help="Simulations of each kind; ten times as many for tests of awareness.")
    ] = 1000,
    seed: FirstSeed = 1,
    processes: Processes = None,
    output: Annotated[
        Path | None, typer.Option(help="File for the figures (JSON); none is written if left out.")
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Analyses to try: answers, draws, awareness, psych, robustness or dilemmas.")
    ] = None,
) -> None:
    """Simulate data with a known truth, analyse each, and print how often intervals hold it and tests reject."""
    if output is not None:
        require_file_place(output, "JSON")
    if only is not None and only not in ANALYSES:
        raise typer.BadParameter(f"--only {only}: {' or '.join(ANALYSES)} was expected")
    figures: dict[str, Any] = {}
    faults: list[str] = []
    for name in (only,) if only else ANALYSES:
        evidence, more_faults = _try(name, range(seed, seed + count), processes)
        figures |= evidence if name == "answers" else {name: evidence}
        faults += more_faults
    if output is not None:
        write_json(output, figures)
    if faults:
        raise ScoringError("; ".join(faults))


def _try(name: str, seeds: range, processes: int | None) -> tuple[dict[str, Any], list[str]]:
    """Print how some analyses do on simulated data; give the figures for the file, and what is not as it should be."""
    analysis = ANALYSES[name]
    module = import_module(analysis.module)
    kinds = dict.fromkeys(module.KINDS, seeds)
    if analysis.null is not None:
        kinds[getattr(module, analysis.null)] = range(seeds.start, seeds.start + module.NULLS * len(seeds))
    if name == "answers":
        study = load_study("demo_survey_22")
        rows = simulated(partial(module.simulate_worlds, study), kinds, processes, "simulating answers")
        summary = module.summarise_worlds(rows, study, seeds.start)
    else:
        simulate, summarise = (
            getattr(module, word, None) or getattr(module, f"{word}_worlds") for word in ("simulate", "summarise")
        )
        rows = simulated(simulate, kinds, processes, f"simulating {name}")
        summary = summarise(rows)
    for table, heading in analysis.headings.items():
        _print(heading, summary[table].set_index("kind").T.reset_index() if table == "worlds" else summary[table])
    if "notes" in summary:
        print(summary["notes"]["note"].iloc[0])
    return module.evidence(summary), module.faults_of(summary)


def simulated(
    simulate: Callable[[str, Sequence[int]], Records],
    kinds: Mapping[str, range],
    processes: int | None,
    title: str,
) -> Records:
    """What came of simulations of all kinds, one for each seed of a kind, made in several processes."""
    batches = [(kind, seeds[at : at + BATCH]) for kind, seeds in kinds.items() for at in range(0, len(seeds), BATCH)]
    records: Records = []
    for rows in in_processes(simulate, batches, processes, title):
        records += rows
    return records


def in_processes(
    work: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], processes: int | None, title: str
) -> list[Any]:
    """What a function gives for each of many arguments, called in several processes under a progress bar."""
    from threadpoolctl import threadpool_limits

    results = []
    with (
        progress_bar(title) as show,
        ProcessPoolExecutor(processes, initializer=threadpool_limits, initargs=(1,)) as pool,  # they share processors
    ):
        for result in pool.map(work, *zip(*arguments, strict=True)):
            results.append(result)
            show(len(results), len(arguments))
    return results


def _print(heading: str, table: "pd.DataFrame") -> None:
    print(f"{heading}\n{table.to_string(index=False, float_format='{:.4g}'.format)}\n")
