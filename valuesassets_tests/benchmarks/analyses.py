"""Time and memory of all analyses of a whole grid: `python -m valuesassets_tests.benchmarks.analyses`.

44 cells (22 languages, two families), 200 items, three wordings in both orders, 22 countries of 1,500 respondents,
2,000 resamples: every analysis, its figures and the report's page, in one process.
"""

import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from valuesassets.answers.quality_report import report_quality, usable_answers
from valuesassets.comparing.answer_grid import answer_grid
from valuesassets.comparing.distances import derive_distances
from valuesassets.comparing.human_comparison import derive_human_comparison
from valuesassets.comparing.item_statistics import derive_item_statistics
from valuesassets.comparing.mono_vs_multi import derive_mono_vs_multi
from valuesassets.comparing.position_bias import derive_position_bias
from valuesassets.comparing.reliability import coefficients, derive_reliability
from valuesassets.comparing.signal import derive_signal
from valuesassets.comparing.simulated_answers import PLANTED, simulate_answers, simulated_scales, simulation_study
from valuesassets.figures.cultural_map import draw_cultural_map
from valuesassets.figures.saving import svg_text
from valuesassets.instruments.survey.measures.cultural_map import place_on_map
from valuesassets.instruments.survey.measures.map.simulated_map import drawn_respondents, map_items
from valuesassets.records.study import load_study
from valuesassets_tests.comparing.made_grids import human_rows, probe_rows
from valuesassets_tests.instruments.survey.whole_report import rendered

ITEMS, WORDINGS, RESPONDENTS, RESAMPLES = 200, 3, 1500, 2000


def main() -> None:
    """Print a line per analysis, and what all took together."""
    whole = load_study("demo_survey_22")
    study = simulation_study(whole, list(whole.languages), RESAMPLES)
    random = np.random.default_rng(0)
    world = simulate_answers(PLANTED, study, simulated_scales(ITEMS, map_items()), WORDINGS, RESPONDENTS, random)
    probe, human = probe_rows(world.grid), human_rows(world.grid, list(study.languages), RESPONDENTS)
    people = drawn_respondents(world.people, world.grid.scales, world.grid.countries, RESPONDENTS, random)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the peak of making the world
    print(f"{len(world.grid.cells)} cells, {ITEMS} items, {WORDINGS} wordings, {len(probe)} rows, {len(people)} people")
    started, cpu = time.perf_counter(), time.process_time()
    frames: dict[str, Any] = {}

    def timed(name: str, derive: Callable[[], Any]) -> Any:
        before = time.perf_counter()
        found = derive()
        print(f"{name:<20} {time.perf_counter() - before:6.2f} s")
        return found

    quality = timed("quality_report", lambda: report_quality(probe, study.cells(), study.thresholds))
    answers = usable_answers(probe, quality, by_wording=True)
    grid = timed("answers as arrays", lambda: answer_grid(answers, human))
    for name, derive in (
        ("reliability", lambda: derive_reliability(grid, study)),
        ("signal", lambda: derive_signal(grid, study)),
        ("distances", lambda: derive_distances(grid, study)),
        ("human_comparison", lambda: derive_human_comparison(grid, human, study)),
        ("mono_vs_multi", lambda: derive_mono_vs_multi(grid, study)),
        ("position_bias", lambda: derive_position_bias(grid, study)),
    ):
        frames[name] = timed(name, derive)
    items = timed("item_statistics", lambda: derive_item_statistics(grid))
    reliable = coefficients(frames["reliability"])
    frames["cultural_map"] = timed("cultural_map", lambda: place_on_map(answers, human, study, people, reliable))
    timed("the map's figure", lambda: svg_text(draw_cultural_map(frames["cultural_map"]["points"])))
    page = timed(
        "report",
        lambda: rendered(
            study,
            probe=probe.assign(status="ok"),
            quality=quality.frames(),
            human=human,
            item_statistics=items,
            **frames,
        ),
    )
    peak = peak_mib()
    print(f"{'all':<20} {time.perf_counter() - started:6.2f} s, {time.process_time() - cpu:.2f} s of CPU time")
    print(f"peak memory {peak:.0f} MiB; the report has {len(page.encode()) / 1e6:.1f} MB")


def peak_mib() -> float:
    """The most memory that this process has held since its peak was forgotten."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next((line for line in status.splitlines() if line.startswith("VmHWM")), None)
    return int(line.split()[1]) / 1024 if line else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
