"""The commands of psych tasks: from a file of transcripts to what models make of it."""

from valuesassets.cli.psych_tasks_analyse import analyse
from valuesassets.cli.psych_tasks_check import check, draft
from valuesassets.cli.psych_tasks_read import read
from valuesassets.cli.psych_tasks_reliability import reliability

COMMANDS = {"draft": draft, "check": check, "read": read, "analyse": analyse, "reliability": reliability}
