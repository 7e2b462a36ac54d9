"""The public functions: from a questionnaire to answers, tables and the map. Commands call them; none needs Dagster.

Heavy imports wait until a function needs them: torch until a model of this machine is asked, pandas until a table is.
"""

# pyright: strict, reportMissingTypeStubs=false

from valuesassets.library.answering import answer_distributions, ask, place_on_map
from valuesassets.library.calibrating import calibrate
from valuesassets.library.questionnaires import Aligned, Extraction, align, extract, make_trials
from valuesassets.library.stored import list_tables, read_table
from valuesassets.records.questions import read_questions
from valuesassets.records.study import load_study

__all__ = [
    "Aligned",
    "Extraction",
    "align",
    "answer_distributions",
    "ask",
    "calibrate",
    "extract",
    "list_tables",
    "load_study",
    "make_trials",
    "place_on_map",
    "read_questions",
    "read_table",
]
