"""The commands of the survey, from a questionnaire to the map, by their names; and how a run of it ends."""

from pathlib import Path

from valuesassets.cli.calibrate import calibrate
from valuesassets.cli.models import draw_map, probe
from valuesassets.cli.questionnaires import align, extract, template, trials
from valuesassets.cli.simulations import simulations
from valuesassets.cli.studies import print_outcome as print_shared_outcome
from valuesassets.cli.tracing import trace
from valuesassets.cli.worlds import worlds
from valuesassets.records.study import Study

COMMANDS = {"template": template, "extract": extract, "align": align, "trials": trials, "probe": probe}
COMMANDS |= {"calibrate": calibrate, "map": draw_map, "trace": trace, "worlds": worlds, "simulations": simulations}


def print_outcome(found: Study, folder: Path) -> None:
    """Print what any instrument's run ends with, and where the figures of answers and the map are."""
    print_shared_outcome(found, folder)
    for title, name in (("answers", "question_answers"), ("map", "cultural_map/cultural_map.png")):
        if (folder / name).exists():
            print(f"{title}: {folder / name}")
