"""dagster-pandas types of the tables that people read: columns and ranges, checked at every materialisation."""

import dagster as dg
from dagster_pandas import PandasColumn, create_dagster_pandas_dataframe_type


def _share(name: str) -> PandasColumn:
    return PandasColumn.float_column(name, min_value=0, max_value=1 + 1e-9, ignore_missing_vals=True)


def _text(name: str) -> PandasColumn:
    return PandasColumn.string_column(name)


def _frame(name: str, description: str, *columns: PandasColumn) -> dg.DagsterType:
    return create_dagster_pandas_dataframe_type(name=name, description=description, columns=list(columns))


PROBE_DISTRIBUTIONS_FRAME = _frame(
    "ProbeDistributions",
    "One row per (question, wording, answer) of a cell.",
    _text("model_id"),
    _text("model"),
    _text("language"),
    _text("question_id"),
    _share("prob_forward"),
    _share("prob_reversed"),
    _share("prob_averaged"),
    _share("p_valid_forward"),
    _share("p_valid_reversed"),
    _share("position_bias_magnitude"),
    _text("status"),
)
RESPONDENTS_FRAME = _frame(
    "Respondents",
    "One row per respondent: who, then a column per question, then the ten indicators.",
    _text("country"),
    _text("respondent_id"),
    _text("survey"),
    _text("source"),
    PandasColumn.float_column("weight", min_value=0),
)
HUMAN_DISTRIBUTIONS_FRAME = _frame(
    "HumanDistributions",
    "One row per (country, question, answer).",
    _text("country"),
    _text("question_id"),
    _share("prob"),
    _text("source"),
)
HUMAN_MEANS_FRAME = _frame(
    "HumanMeans",
    "One row per (language, question).",
    _text("country"),
    _text("language"),
    _text("question_id"),
    PandasColumn.float_column("mean"),
    _text("source"),
)
ITEM_STATISTICS_FRAME = _frame(
    "ItemStatistics",
    "One row per (cell, question).",
    _text("model"),
    _text("language"),
    _text("question_id"),
    PandasColumn.float_column("entropy_bits", min_value=-1e-9),
    _share("concentration"),
)
CALIBRATION_FRAME = _frame(
    "Calibration",
    "One row per (cell, question): planted against recovered.",
    _text("model"),
    _text("language"),
    _text("question_id"),
    _share("w1_unit_error"),
    _share("p_valid_error"),
    _share("position_bias_error"),
)
