"""The commands of the survey: from a questionnaire to the map."""

from valuesassets.cli.calibrate import calibrate
from valuesassets.cli.probe import draw_map, probe
from valuesassets.cli.questionnaires import align, extract, template, trials
from valuesassets.cli.tracing import trace

COMMANDS = {"template": template, "extract": extract, "align": align, "trials": trials, "probe": probe}
COMMANDS |= {"calibrate": calibrate, "map": draw_map, "trace": trace}
