"""The tables that the toy alone writes."""

import pyarrow as pa

from valuesassets.records.columns import Column
from valuesassets.records.table import Table
from valuesassets.records.tables import declare_tables

TASK, YES = Column("task", pa.string(), "name of the task"), Column("yes", pa.float64(), "share of yes", range=(0, 1))
declare_tables(
    Table("toy/answers", "a question of a cell", "model", TASK, "question_id", YES),
    Table("toy/leanings", "a cell", "model", TASK, YES),
)
