"""The commands of psych tasks by their names: from a file of transcripts to what models make of it."""

from valuesassets.cli.psych_analyse import analyse
from valuesassets.cli.psych_check import check
from valuesassets.cli.psych_draft import draft
from valuesassets.cli.psych_outcome import print_outcome as print_outcome
from valuesassets.cli.psych_outcome import write_evidence as write_evidence
from valuesassets.cli.psych_read import read
from valuesassets.cli.psych_reliability import reliability

COMMANDS = {"draft": draft, "check": check, "read": read, "analyse": analyse, "reliability": reliability}
