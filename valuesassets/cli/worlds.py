"""`valuesassets worlds`: do the analyses find what was planted, and nothing where there is nothing?"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valuesassets.cli.inputs import require_file_place
from valuesassets.cli.outputs import progress_bar
from valuesassets.records.errors import ScoringError
from valuesassets.records.files import write_json
from valuesassets.records.study import load_study

if TYPE_CHECKING:
    import pandas as pd

BATCH = 20
"""Worlds that a process makes at a time."""
Records = list[dict[str, Any]]


def worlds(
    count: Annotated[
        int, typer.Option("--worlds", min=2, help="Worlds of each kind; ten times as many for tests of awareness.")
    ] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the first world of a kind; the others follow.")] = 1,
    processes: Annotated[int | None, typer.Option(min=1, help="Processes; as many as processors if not given.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write the figures as JSON.")] = None,
    only: Annotated[
        str | None, typer.Option(help="Try these alone: answers, awareness, psych, robustness, or dilemmas.")
    ] = None,
) -> None:
    """Make worlds with a known truth, analyse each, and print how often intervals hold it and tests reject."""
    if output is not None:
        require_file_place(output, "JSON")
    analyses = {"answers": _answers, "awareness": _awareness, "psych": _psych, "robustness": _robustness}
    analyses |= {"dilemmas": _dilemmas}
    if only is not None and only not in analyses:
        raise typer.BadParameter(f"--only {only}: {' or '.join(analyses)} was expected")
    told, faults = {}, []
    for name, analysis in analyses.items():
        if only in (None, name):
            evidence, found_faults = analysis(range(seed, seed + count), processes)
            told |= evidence
            faults += found_faults
    if output is not None:
        write_json(output, told)
    if faults:
        raise ScoringError("; ".join(faults))


def _answers(seeds: range, processes: int | None) -> tuple[dict[str, Any], list[str]]:
    """Analyses of grids of answers: figures for the file, and what is not as it should be."""
    from valuesassets.instruments.survey import simulated_worlds as made

    study = load_study("demo22")
    kinds = dict.fromkeys(made.KINDS, seeds)
    found = simulated(partial(made.simulate_worlds, study), kinds, processes, "worlds")
    summary = made.summarise_worlds(found, study, seeds.start)
    _print(
        {
            "How often intervals hold the truth": summary["coverage"],
            "How often any test of a family rejects": summary["rejections"],
            "Verdicts on families": summary["verdicts"],
            "Means over worlds": summary["errors"],
        }
    )
    print(summary["notes"]["note"].iloc[0])
    return made.evidence(summary), made.faults_of(summary)


def _awareness(seeds: range, processes: int | None) -> tuple[dict[str, Any], list[str]]:
    """Awareness of WorldValuesBench, under a key of its own."""
    from valuesassets.instruments.worldvaluesbench import awareness_worlds as made

    kinds = dict.fromkeys(made.KINDS, seeds) | {made.NULL: range(seeds.start, seeds.start + made.NULLS * len(seeds))}
    found = simulated(made.simulate_worlds, kinds, processes, "worlds of awareness")
    summary = made.summarise_worlds(found)
    _print(
        {
            "How often intervals hold a planted slope": summary["coverage"],
            "How often a slope is found where there is none": summary["rejections"],
        }
    )
    return {"awareness": made.evidence(summary)}, made.faults_of(summary)


def _psych(seeds: range, processes: int | None) -> tuple[dict[str, Any], list[str]]:
    """Keying and content of psych tasks, under a key of their own."""
    from valuesassets.instruments.psych_tasks import psych_worlds as made

    nulls = range(seeds.start, seeds.start + made.NULLS * len(seeds))
    kinds = dict.fromkeys(made.KINDS, seeds) | {made.NO_CONTENT: nulls}
    found = simulated(made.simulate_worlds, kinds, processes, "worlds of transcripts")
    summary = made.summarise_worlds(found)
    _print(
        {
            "How often a scale is told for what it is": summary["verdicts"],
            "How often content is found where there is none": summary["rejections"],
        }
    )
    return {"psych": made.evidence(summary)}, made.faults_of(summary)


def _robustness(seeds: range, processes: int | None) -> tuple[dict[str, Any], list[str]]:
    """Answers in many languages, under a key of their own."""
    from valuesassets.instruments.cultural_robustness import robustness_worlds as made

    found = simulated(made.simulate_worlds, dict.fromkeys(made.KINDS, seeds), processes, "worlds of languages")
    summary = made.summarise_worlds(found)
    _print(
        {
            "How often tests reject, and intervals of both ratios hold the truth": summary["worlds"]
            .set_index("kind")
            .T.reset_index()
        }
    )
    return {"robustness": made.evidence(summary)}, made.faults_of(summary)


def _dilemmas(seeds: range, processes: int | None) -> tuple[dict[str, Any], list[str]]:
    """Choices and reasons of worldwise, under a key of their own."""
    from valuesassets.instruments.worldwise import worldwise_worlds as made

    found = simulated(made.simulate_worlds, dict.fromkeys(made.KINDS, seeds), processes, "worlds of dilemmas")
    summary = made.summarise_worlds(found)
    _print(
        {
            "How often tests reject": summary["rejections"],
            "How often intervals hold what was planted": summary["coverage"],
        }
    )
    return {"dilemmas": made.evidence(summary)}, made.faults_of(summary)


def simulated(
    simulate: Callable[[str, Sequence[int]], Records],
    kinds: Mapping[str, range],
    processes: int | None,
    title: str,
) -> Records:
    """What was found in worlds of all kinds, one for each seed of a kind, made in several processes."""
    from threadpoolctl import threadpool_limits

    batches = [(kind, seeds[at : at + BATCH]) for kind, seeds in kinds.items() for at in range(0, len(seeds), BATCH)]
    records: Records = []
    with (
        progress_bar(title) as show,
        ProcessPoolExecutor(processes, initializer=threadpool_limits, initargs=(1,)) as pool,  # they share processors
    ):
        for done, found in enumerate(pool.map(simulate, *zip(*batches, strict=True)), 1):
            records += found
            show(done * BATCH, len(batches) * BATCH)
    return records


def _print(tables: "dict[str, pd.DataFrame]") -> None:
    for title, frame in tables.items():
        print(f"{title}\n{frame.to_string(index=False, float_format='{:.4g}'.format)}\n")
