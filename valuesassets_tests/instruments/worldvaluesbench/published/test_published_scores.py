import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.material.value_questions import probe_questions
from valuesassets.instruments.worldvaluesbench.published.published_scores import load_published_scores, published_shares
from valuesassets.instruments.worldvaluesbench.report.report import published_summary
from valuesassets_tests.needs import shared_file


@pytest.mark.published
def test_every_number_of_the_printed_table_is_there_and_no_other():
    """Needs the table, which lies beside the repository."""
    printed = pd.read_csv(shared_file("data", "wvb", "published_table2.csv")).set_index("question_id")
    for (model, side), part in load_published_scores().fillna({"attributes": ""}).groupby(["model", "attributes"]):
        column = f"{model}_dem" if side == "with" else model
        assert part.set_index("question_id")["w1_seed"].to_dict() == printed.pop(column).to_dict()
    assert not len(printed.columns)


def test_the_questions_are_those_of_the_probe():
    assert set(load_published_scores()["question_id"]) == set(probe_questions())


@pytest.mark.parametrize(
    ("threshold", "percentages"),
    [
        (0.2, {"alpaca": 11.1, "vicuna": 25.0, "mixtral": 72.2, "gpt-3.5": 75.0}),
        (0.1, {"alpaca": 0.0, "vicuna": 5.6, "mixtral": 16.7, "gpt-3.5": 33.3}),
    ],
)
def test_shares_at_most_a_threshold_are_the_percentages_of_the_abstract(threshold, percentages):
    shares = published_shares()
    with_ = shares[(shares.attributes == "with") & (shares.threshold == threshold)].set_index("model")["share"]
    assert (100 * with_).round(1).to_dict() == percentages
    summary = published_summary()
    of_page = summary[summary.attributes == "with"].set_index("model")[f"at_most_{threshold}"]
    assert of_page.to_dict() == with_.to_dict()
