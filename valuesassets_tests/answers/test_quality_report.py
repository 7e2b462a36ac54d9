import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valuesassets.answers.quality_report import QualityReport, report_quality, usable_answers
from valuesassets.records.errors import MissingData
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.records.tables import PROBE_DISTRIBUTIONS
from valuesassets_tests.comparing.planted_grid import demo, probe

RULES = Thresholds()


def grid(p_valid, wordings=1, **changes):
    """Two-option answers by {question: {cell: P_valid}}; None stands for unread."""
    rows = []
    for question, by_cell in p_valid.items():
        for cell, p in by_cell.items():
            for wording in range(wordings):
                for value, prob in ((1, 0.7), (2, 0.3)):
                    read = p is not None
                    row = {
                        "model_id": cell,
                        "model_type": "mono",
                        "model": cell,
                        "language": "eng",
                        "question_id": question,
                        "response_type": "binary",
                        "wording": wording,
                        "response_value": value,
                        "prob_forward": prob,
                        "prob_reversed": prob,
                        "prob_averaged": prob,
                        "p_valid_forward": p,
                        "p_valid_reversed": p,
                        "p_valid": p,
                        "position_bias_magnitude": 0.1,
                        "resolution_mass": None,
                        "is_converted": False,
                        "status": "ok" if read else "unresolved",
                        "reason": None if read else "nothing there",
                    }
                    blank = ["prob_forward", "prob_reversed", "prob_averaged", "position_bias_magnitude"]
                    rows.append(row | ({} if read else dict.fromkeys(blank)) | changes)
    return pd.DataFrame(rows)


def judged(rows, cells=("a", "b", "c")):
    return report_quality(rows, [(cell, "eng") for cell in cells], RULES)


READABLE = {f"w{n}": {"a": 0.9, "b": 0.9, "c": 0.9} for n in range(4)}
"""Questions that make every cell readable."""


def standing(quality):
    return {(row.question_id, row.model): row.standing for row in quality.readings.itertuples()}


def test_a_question_low_in_most_cells_is_dropped_and_elsewhere_only_the_low_cell_is_missing():
    quality = judged(grid({"v1": {"a": 0.05, "b": 0.05, "c": 0.9}, "v2": {"a": 0.05, "b": 0.9, "c": 0.9}} | READABLE))
    assert {place: said for place, said in standing(quality).items() if place[0] in ("v1", "v2")} == {
        ("v1", "a"): "dropped",
        ("v1", "b"): "dropped",
        ("v1", "c"): "dropped",
        ("v2", "a"): "unreliable",
        ("v2", "b"): "usable",
        ("v2", "c"): "usable",
    }
    question = quality.questions.set_index("question_id").loc["v1"]
    assert (question["reason"], question["rule"]) == ("P_valid below 0.1 in 2 of 3 readable cells", "dropped_share")
    rules = quality.readings.set_index(["question_id", "model"])["rule"]
    assert (rules["v1", "c"], rules["v2", "a"]) == ("dropped_share", "p_valid_question")
    assert pd.isna(rules["v2", "b"])


UNREADABLE = {f"w{n}": {"a": 0.9, "b": 0.02, "c": 0.02} for n in range(4)}
"""Questions that make one cell readable of three."""


def test_a_question_that_is_fine_in_the_one_readable_cell_is_kept_there():
    quality = judged(grid({"v1": {"a": 0.43, "b": 0.05, "c": 0.05}} | UNREADABLE))
    assert not quality.questions["is_dropped"].any()
    assert [standing(quality)["v1", cell] for cell in "abc"] == ["usable", "unreliable", "unreliable"]
    assert quality.questions.set_index("question_id").at["v1", "n_readable"] == 1


def test_a_question_that_is_bad_in_every_readable_cell_is_dropped_however_it_does_in_the_others():
    quality = judged(grid({"v1": {"a": 0.05, "b": 0.5, "c": 0.5}} | UNREADABLE))
    assert quality.questions.set_index("question_id").at["v1", "reason"] == "P_valid below 0.1 in 1 of 1 readable cells"
    assert {standing(quality)["v1", cell] for cell in "abc"} == {"dropped"}


def test_where_no_cell_is_readable_all_of_them_count_and_nothing_unreliable_is_kept():
    bad = {f"w{n}": {"a": 0.02, "b": 0.02, "c": 0.02} for n in range(4)}
    quality = judged(grid({"v1": {"a": 0.12, "b": 0.12, "c": 0.12}} | bad))
    dropped = quality.questions.set_index("question_id")["is_dropped"]
    assert (dropped["v1"], dropped.drop("v1").all()) == (False, True)
    reason = quality.questions.set_index("question_id").at["w0", "reason"]
    assert reason == "P_valid below 0.1 in 3 of 3 cells, none of them readable"
    assert quality.cells["is_flagged"].all()


def test_a_cell_that_was_read_before_it_was_left_out_counts_nowhere():
    rows = grid({"v1": {"a": 0.9, "b": 0.05, "c": 0.05}} | READABLE)
    reasons = {("b", "eng"): "median P_valid 0.01", ("c", "eng"): "no trials"}
    quality = report_quality(rows, [(cell, "eng") for cell in "abc"], RULES, reasons)
    assert set(quality.readings["model"]) == {"a"}
    assert not quality.questions["is_dropped"].any()
    cells = quality.cells.set_index("model")
    assert cells.loc["b", ["is_missing", "reason", "rule"]].tolist() == [True, "median P_valid 0.01", "preflight"]
    assert usable_answers(rows, quality)["model"].unique().tolist() == ["a"]


def test_low_in_exactly_half_of_the_cells_is_kept():
    quality = judged(grid({"v1": {"a": 0.05, "b": 0.9}}), "ab")
    assert not quality.questions["is_dropped"].any()


def test_an_unread_question_is_missing_and_keeps_its_reason():
    quality = judged(grid({"v1": {"a": None, "b": 0.9}}), "ab")
    row = quality.readings.set_index("model").loc["a"]
    assert (row["standing"], row["reason"], row["is_usable"]) == ("unresolved", "nothing there", False)
    assert quality.cells.set_index("model").at["a", "n_unreadable"] == 1


def test_a_cell_with_a_low_median_is_flagged():
    cells = judged(grid({f"v{n}": {"a": 0.15, "b": 0.5} for n in range(3)}), "ab").cells.set_index("model")
    assert cells["is_flagged"].to_dict() == {"a": True, "b": False}
    assert cells.at["a", "reason"] == "median P_valid 0.15 is below 0.2"


def test_a_question_whose_ten_cannot_be_told_from_one_is_left_out():
    quality = judged(grid({"v1": {"a": 0.9}}, resolution_mass=0.6), "a")
    assert standing(quality) == {("v1", "a"): "unresolved"}


def test_cells_not_there_are_listed_and_the_others_still_reported():
    cells = judged(grid({"v1": {"a": 0.9}})).cells.set_index("model")
    assert cells["is_missing"].to_dict() == {"a": False, "b": True, "c": True}
    assert cells.at["b", "reason"] == "not probed yet"


def test_no_cell_at_all_still_gives_a_report():
    quality = report_quality(PROBE_DISTRIBUTIONS.empty_frame(), [("a", "eng")], RULES)
    assert quality.cells["is_missing"].all()
    assert quality.questions.empty
    with pytest.raises(MissingData, match="nothing to analyse"):
        usable_answers(PROBE_DISTRIBUTIONS.empty_frame(), quality)


def test_wordings_are_averaged():
    rows = grid({"v1": {"a": 0.9}}, wordings=2)
    rows.loc[rows["wording"] == 1, ["prob_averaged", "p_valid"]] = [[0.5, 0.5], [0.5, 0.5]]
    found = usable_answers(rows, judged(rows, "a"))
    assert found["prob"].tolist() == pytest.approx([0.6, 0.4])
    assert found["p_valid"].tolist() == pytest.approx([0.7, 0.7])


def test_a_wording_that_was_not_read_does_not_count():
    rows = grid({"v1": {"a": 0.9}}, wordings=2)
    second = rows["wording"] == 1
    rows.loc[second, ["status", "reason"]] = ["failed", "broken"]
    rows.loc[second, ["prob_averaged", "prob_forward", "prob_reversed", "p_valid"]] = np.nan
    found = usable_answers(rows, judged(rows, "a"))
    assert found["prob"].tolist() == [0.7, 0.3]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=3, max_size=3), min_size=1, max_size=4))
@pytest.mark.slow
def test_every_reading_has_one_standing_and_only_usable_ones_are_answers(table):
    rows = grid({f"v{n}": dict(zip("abc", row, strict=True)) for n, row in enumerate(table)})
    quality = judged(rows)
    assert len(quality.readings) == 3 * len(table)
    assert (quality.readings["is_usable"] == (quality.readings["standing"] == "usable")).all()
    low = quality.readings["p_valid"] < RULES.p_valid_question
    assert not quality.readings.loc[low | quality.readings["p_valid"].isna(), "is_usable"].any()
    medians = quality.readings.groupby("model")["p_valid"].median()
    for question, part in quality.readings.groupby("question_id"):  # the rule, spelled out
        readable = [p for cell, p in zip(part["model"], part["p_valid"], strict=True) if medians[cell] >= 0.2]
        deciding = readable or part["p_valid"].tolist()
        is_dropped = sum(p < 0.1 for p in deciding) / len(deciding) > 0.5
        assert quality.questions.set_index("question_id").at[question, "is_dropped"] == is_dropped
        assert set(part.loc[part["is_usable"], "standing"]) <= ({"usable"} if not is_dropped else set())


def test_tables_survive_being_stored(tmp_path):
    quality = report_quality(probe(), demo().cells(), RULES)
    for name, frame in quality.frames().items():
        frame.to_parquet(tmp_path / name)
    again = QualityReport(**{name: pd.read_parquet(tmp_path / name) for name in quality.frames()})
    pd.testing.assert_frame_equal(usable_answers(probe(), again), usable_answers(probe(), quality))


def test_usable_answers_of_the_demo_sum_to_one():
    found = usable_answers(probe(), report_quality(probe(), demo().cells(), RULES))
    sums = found.groupby(["model", "language", "question_id"])["prob"].sum()
    assert sums.to_numpy() == pytest.approx(1)
    assert len(sums) < probe().drop_duplicates(["model", "language", "question_id"]).shape[0]
