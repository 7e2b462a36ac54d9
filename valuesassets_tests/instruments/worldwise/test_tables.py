"""Tables of answers as they are written: a row with all there is, and one that holds no more than it must."""

import pytest

from valuesassets.instruments.worldwise.tables import CHOICES, PROJECTIONS, REASONS
from valuesassets.records.parquet import read_table, write_table

DILEMMA = {"scenario_id": "IVR-x1", "axis": "IVR", "culture": "JPN"}
TEXT = DILEMMA | {"trial_id": "t", "form": "decide", "draw": 0}
MUST = {
    CHOICES: DILEMMA | {"model_id": "org/m", "model": "m", "wording": 0, "channel": "exact"},
    REASONS: TEXT | {"prompt": "What do you do?", "wording": 0, "values": [], "unknown_values": []},
    PROJECTIONS: TEXT | {"is_own_axis": True},
}
SHARES = {f"{name}{order}": 0.75 for name in ("p_high", "p_valid") for order in ("_forward", "_reversed", "")}
MAY = {
    CHOICES: SHARES
    | {"position_bias": -0.25, "lean": 0.5}
    | {"p_high_log_odds": 0.75, "position_pull": -1.5, "follows": "option"},
    REASONS: {"order": "forward", "text": "A", "decision": "high", "explanation": "I do.", "finish_reason": "stop"}
    | {"pole": "low"}
    | {"prompt_tokens": 90.0, "output_tokens": 20.0, "cost_usd": 0.001},
    PROJECTIONS: {"position": -1.5},
}


@pytest.mark.parametrize("table", MUST, ids=lambda table: table.name)
def test_an_answer_and_one_that_failed_are_read_as_they_were_written(table, tmp_path):
    rows = [MUST[table] | MAY[table] | {"status": "ok"}, MUST[table] | {"status": "failed", "reason": "no route"}]
    write_table(tmp_path / "t.parquet", rows, table)
    whole = [dict.fromkeys(table.names) | row for row in rows]
    assert read_table(tmp_path / "t.parquet", table).to_pylist() == whole
    assert {column.name for column in table.columns if column.may_be_empty} == {*MAY[table], "reason"}
