"""The tables that the toy alone writes."""

from functools import partial

from valuesassets.records.columns import share, text
from valuesassets.records.tables import declare_table

table = partial(declare_table, vocabulary=(text("task", "name of the task"), share("yes!", "share of yes", unit="")))
table("toy/answers", "a question of a cell", "model task question_id yes")
table("toy/leanings", "a cell", "model task yes")
