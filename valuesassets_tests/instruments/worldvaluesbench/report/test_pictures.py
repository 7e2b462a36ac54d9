"""Tables as they are written become figures: controls are no models, what is published stands beside its questions."""

import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.analyses import ANALYSES
from valuesassets.instruments.worldvaluesbench.material.value_questions import probe_questions
from valuesassets.instruments.worldvaluesbench.measures.controls import models_only, with_sides
from valuesassets.instruments.worldvaluesbench.measures.figure_tables import (
    derive_group_means,
    derive_perfect_shares,
    derive_pooled_answers,
    derive_shown_people,
    prompt_of_one,
)
from valuesassets_tests.figures.made_up_benchmark import PROMPT, made
from valuesassets_tests.figures.pictures import legend_labels, outside, places, words
from valuesassets_tests.instruments.worldvaluesbench.small_probe import small_probe
from valuesassets_tests.reporting.runs import drawn

NAMES = {
    "awareness": "awareness/factors",
    "group_means": "awareness/group_means",
    "benchmark_scores": "benchmark_scores/scores",
    "threshold_shares": "benchmark_scores/threshold_shares",
    "pooled_answers": "benchmark_scores/pooled_answers",
    "shown_people": "benchmark_scores/shown_people",
    "readout_comparison": "readout_comparison/readouts",
}
"""By name in an evaluation, the name in a study."""
PICTURES = [drawing.name for analysis in ANALYSES.values() for drawing in analysis.drawings]
CONTROLS = ("people of another split", "groups of another split", "aware shuffled")


def written(questions=None):
    """Tables as an evaluation writes them: the model's name says whether it was asked with attributes."""
    frames = made({"aware": 0.8, "blind": 0.0}, questions or {"Q1": 4, "Q106": 10})
    for name in ("benchmark_scores", "threshold_shares"):
        table = frames[name]
        suffix = table["attributes"].map({"without": " without attributes"}).fillna("")
        frames[name] = table.assign(model=table["model"] + suffix).drop(columns="attributes")
    for name in ("awareness", "group_distances", "benchmark_scores", "threshold_shares"):
        first = frames[name][frames[name].model == "aware"]
        frames[name] = pd.concat([frames[name], *(first.assign(model=each) for each in CONTROLS)], ignore_index=True)
    frames["pooled_answers"] = frames.pop("answers")
    frames["readout_comparison"] = frames["readout_comparison"].assign(n_answers=90, n_unparsed=10)
    frames["shown_people"] = derive_shown_people(small_probe(), "Q1", PROMPT, seed=3)
    return {NAMES.get(name, name): frame for name, frame in frames.items()}


@pytest.mark.slow
def test_every_figure_is_drawn_of_tables_as_they_are_written():
    figures = drawn(ANALYSES, written(), is_planted=True)
    assert list(figures) == PICTURES
    for name, figure in figures.items():
        assert "planted" in words(figure), name
        assert outside(figure) == [], name


def test_what_has_no_rows_is_not_drawn():
    frames = written()
    assert list(drawn(ANALYSES, {"awareness/factors": frames["awareness/factors"]})) == ["awareness_plane"]
    assert drawn(ANALYSES, {"awareness/factors": frames["awareness/factors"].head(0)}) == {}


@pytest.mark.slow
def test_controls_are_no_models_of_a_figure():
    for name in ("awareness_plane", "noise_floor", "question_distances"):
        labels = " ".join(legend_labels(drawn(ANALYSES, written())[name]))
        assert "shuffled" not in labels
        assert "another split" not in labels


def test_names_say_which_rows_are_with_and_which_without_attributes():
    sided = with_sides(written()["benchmark_scores/scores"])
    assert dict(sided.groupby("model")["attributes"].unique().map(lambda each: sorted(map(str, each)))) == {
        "aware": ["with", "without"], "blind": ["with", "without"], **{name: ["None"] for name in CONTROLS}
    }  # fmt: skip
    assert set(models_only(written()["awareness/factors"])["model"]) == {"aware", "blind"}


@pytest.mark.slow
def test_published_curves_stand_beside_the_probes_own_questions_and_no_others():
    assert "published" not in words(drawn(ANALYSES, written())["threshold_curves"])
    whole = written(dict.fromkeys(probe_questions(), 4))
    assert "mixtral (published)" in legend_labels(drawn(ANALYSES, whole)["threshold_curves"])


def test_the_pooled_answers_of_other_people_stand_in_the_curves():
    figure = drawn(
        ANALYSES, written() | {"benchmark_scores/perfect_shares": derive_perfect_shares(small_probe(), seed=1)}
    )["threshold_curves"]
    assert {"people of another split", "perfect model, 95% of draws"} <= set(legend_labels(figure))


def test_one_question_shows_people_of_different_groups_at_their_answers():
    people = derive_shown_people(small_probe(), "Q1", PROMPT, seed=3)
    assert people.drop_duplicates("person")["background"].is_unique
    figure = drawn(ANALYSES, {"benchmark_scores/shown_people": people})["one_question"]
    assert places(figure, "answers")[:, 0].tolist() == people.drop_duplicates("person")["response_value"].tolist()
    assert places(figure, "expected exact")[:, 0] == pytest.approx([2.5] * 4)
    assert "Africa, urban" in words(figure)
    assert "Country: China" in words(figure)


def test_nobody_is_shown_of_a_question_that_was_not_asked():
    assert not len(derive_shown_people(small_probe(), "Q7", PROMPT, seed=3))


def test_the_prompt_is_that_of_the_first_person_who_is_asked():
    people = pd.DataFrame(
        {"participant_id": ["a", "b"], "B_COUNTRY": [276, 156], "H_URBRURAL": [2, 1], "Q275": [7, -2]}
    )
    samples = pd.DataFrame({"question_id": ["Q7", "Q1", "Q1"], "participant_id": ["a", "b", "a"]})
    prompt = prompt_of_one(people, samples, "Q1", ("B_COUNTRY", "H_URBRURAL", "Q275"))
    assert prompt.startswith("A person was interviewed.\nCountry: China\n")
    assert "Education" not in prompt
    assert prompt.endswith("The person's answer:")
    assert prompt_of_one(people, samples, "Q106", ("B_COUNTRY",)) == ""


def test_figures_of_a_probe_follow_from_its_tables():
    probe = small_probe()
    frames = {
        "benchmark_scores/pooled_answers": derive_pooled_answers(probe),
        "awareness/group_means": derive_group_means(probe),
    }
    assert set(drawn(ANALYSES, frames)) == {"answer_distributions", "group_moves"}
