"""The reason side of worldwise as a graph: a model on this machine that talks, understood, placed and measured."""

import contextlib
import io
import re

import pandas as pd
import pytest

from valuesassets.cli.studies import print_costs
from valuesassets.records.study import load_study
from valuesassets_tests.orchestration.study_here import run_study_here
from valuesassets_tests.orchestration.talking_study import CULTURES, Talker, write_talking_study

pytestmark = pytest.mark.slow
CONDITIONS = (*CULTURES, "placebo", "unprompted")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of the instrument in a small study that was run twice, what was paid after each run, what was said."""
    folder, talker, paid = tmp_path_factory.mktemp("talking"), Talker(), []
    said = io.StringIO()
    with talker.serving():
        path = write_talking_study(folder, talker.base_url)
        with contextlib.redirect_stdout(said):
            print_costs(load_study(str(path)), str(path))
        for _ in run_study_here(path, times=2):
            paid.append(talker.paid)
    return folder / "storage/small/worldwise", paid, said.getvalue()


def every(made, asset):
    return pd.concat([pd.read_parquet(path) for path in sorted((made[0] / asset).rglob("*.parquet"))])


def test_every_request_is_asked_once_and_its_answer_stands_beside_what_was_understood(made):
    found = every(made, "reasons")
    counts = found.groupby(["culture", "form"]).size().unstack()
    assert counts.loc[[*CONDITIONS], "decide"].tolist() == [2 * 6 * 3] * 4  # orders, dilemmas, draws
    assert counts.loc[[*CONDITIONS], "open"].tolist() == [6 * 3] * 4
    assert counts["advocate"].dropna().to_dict() == {"unprompted": 6 * 2 * 3}
    assert set(found["status"]) == {"ok"}
    decided = found.loc[found["form"] == "decide"]
    assert decided["text"].str.startswith("DECISION: ").all()
    assert (decided["values"].str.len() == 2).all()
    assert made[1][0] == made[1][1]


def test_what_asking_comes_to_is_said_before_anything_is_asked(made):
    said = re.fullmatch(
        r"worldwise asks talker: 348 answers of tiny-chat-0101, about (\d+) requests, [\d,]+ tokens; [\d,]+ tokens at "
        r"most\n",
        made[2],
    )
    assert said, made[2]
    # Some of the requests are sent once more, to see whether the same comes back.
    assert made[1][0] == int(said[1])


def test_decisions_are_those_that_were_made_in_both_orders(made):
    found = every(made, "reasons").loc[lambda frame: frame["form"] == "decide"]
    said = found.groupby(["culture", "axis"])["decision"].agg(lambda poles: ", ".join(sorted(set(poles)))).to_dict()
    assert {key for key, pole in said.items() if pole == "low"} == {("MULD", "IDV"), ("MULD", "MAS")}
    assert set(said.values()) == {"low", "high"}


def test_reasons_stand_at_the_poles_of_axes_that_are_valid_and_nowhere_on_others(made):
    found = every(made, "projections")
    own = found.loc[found["is_own_axis"].astype(bool)]
    placed = own.loc[own["status"] == "ok"]
    assert set(placed["axis"]) == {"IDV", "PDI"}
    assert placed["position"].abs().to_numpy() == pytest.approx(1.0)
    lost = own.loc[own["axis"] == "MAS"]
    assert lost["position"].isna().all()
    assert lost["reason"].str.startswith("the axis is not valid").all()


def test_gaps_are_what_was_made_up_and_two_dilemmas_reject_nothing(made):
    gaps = every(made, "say_do_gap").set_index(["form", "measure", "axis"])
    # p_high .8, .3, .5, .5; decided: high but for the second, on the axis with a gap high always.
    assert gaps.loc[("decide", "decision", "IDV"), "gap"] == pytest.approx((0.2 - 0.3 + 0.5 + 0.5) / 4)
    assert gaps.loc[("decide", "decision", "PDI"), "gap"] == pytest.approx((0.2 + 0.7 + 0.5 + 0.5) / 4)
    assert gaps.loc[("open", "position", "PDI"), "gap"] == pytest.approx(2 * (0.2 + 0.7 + 0.5 + 0.5) / 4)
    assert pd.isna(gaps.loc[("open", "position", "MAS"), "gap"])
    assert (gaps["p_corrected"].dropna() > 0.05).all()


def test_published_figures_stand_beside_their_nulls(made):
    measures = pd.read_parquet(made[0] / "seed_scores/measures.parquet").set_index(["composition", "measure"])
    assert measures.loc[("final", "mae"), "zero"] == pytest.approx(1.25)
    assert measures.loc[("final", "mae"), "others_mean"] == pytest.approx(2.5)
    assert measures.loc[("final", "mae"), "exchanged"] >= measures.loc[("final", "mae"), "value"]
    figures = pd.read_parquet(made[0] / "seed_scores/figures.parquet")
    assert len(set(figures["figure"])) == 10  # and the error of each culture on each axis
    assert len(pd.read_parquet(made[0] / "seed_scores/errors.parquet")) == 2 * 3
    drawn = {path.stem.removeprefix("seed_figure-") for path in (made[0] / "seed_scores").glob("*.png")}
    assert drawn == {*figures["figure"].str.replace(" ", "_"), "error_heatmap"}


def test_the_page_has_a_section_for_each_question_and_says_which_figures_are_published(made):
    page = (made[0] / "report/report.html").read_text(encoding="utf-8")
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page))
    for question in (
        "What became of the answers?",
        "Do models write what they choose?",
        "Are personas caricatures?",
        "Appendix: the figures of worldWiseAI, each beside what needs no answer",
    ):
        assert question in text, question
    assert "In place of the figure of reasons on MAS: these axes do not order sentences" in text
    assert page.count("As published: ") >= 11
    assert "Anything about reasons on MAS." in text
    assert "Anything about reasons on IDV." not in text
