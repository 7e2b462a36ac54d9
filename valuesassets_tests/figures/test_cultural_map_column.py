"""The map of a column: its width, no word below 7 pt or over another, one entry a zone, small print beside it."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Annotation, Text

from valuesassets.figures.cultural_map import CAVEAT
from valuesassets.figures.cultural_map_column import draw_cultural_map_column
from valuesassets_tests.figures.made_up import LANGUAGES
from valuesassets_tests.figures.made_up_analyses import map_frame
from valuesassets_tests.figures.pictures import legend_labels, outside, overlapping, words


def crowded():
    """44 cells among 83 countries."""
    frame = map_frame(LANGUAGES, {"hplt2c": "mono", "eurollm-22b": "multi"}, source="EVS 2017")
    world = frame[frame.kind == "published"].sample(83, replace=True, random_state=0)
    rng = np.random.default_rng(0)
    world = world.assign(x=rng.uniform(-1.5, 3.5, 83), y=rng.uniform(-2, 2, 83), country=[f"c{n}" for n in range(83)])
    return pd.DataFrame(pd.concat([frame, world], ignore_index=True))


@pytest.mark.parametrize("frame", [map_frame(), crowded()], ids=["twelve cells", "44 cells"])
@pytest.mark.slow
def test_it_is_85_mm_wide_and_no_word_is_small_hidden_or_cut(frame):
    figure = draw_cultural_map_column(frame)
    assert figure.get_figwidth() * 25.4 == pytest.approx(85)
    assert outside(figure) == []
    seen = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert min(text.get_fontsize() for text in seen) == 7
    named = [text for text in figure.findobj(Annotation) if text.get_text()]
    assert overlapping(named) == []
    models = frame[frame.kind == "model"]
    assert [text.get_text() for text in named].count("pol") == len(models[models.language == "pol"])


@pytest.mark.slow
def test_countries_without_room_for_their_name_are_named_in_the_small_print():
    frame = crowded()
    figure = draw_cultural_map_column(frame)
    axes = figure.axes[0]
    seen = frame[frame.x.between(*axes.get_xlim()) & frame.y.between(*axes.get_ylim()) & (frame.kind == "published")]
    written = {text.get_text() for text in figure.findobj(Annotation)}
    without = sorted(set(seen.country) - written)
    assert without
    assert f"without room for their name: {', '.join(without)}." in figure.get_label()
    assert f"{len(frame) - len(seen) - len(frame[frame.kind != 'published'])} published countries" in figure.get_label()


def test_a_zone_has_one_entry_and_the_small_print_is_not_in_the_picture():
    frame = map_frame()
    frame.attrs["caption"] = ["Intercepts fitted on five countries."]
    figure = draw_cultural_map_column(frame)
    labels = legend_labels(figure)
    zones = set(frame[frame.kind == "published"].zone)
    assert [labels.count(zone) for zone in zones] == [1] * len(zones)
    assert len(labels) == len(set(labels))
    for said in (CAVEAT, "Intercepts fitted on five countries."):
        assert said in figure.get_label()
        assert said not in words(figure)


@pytest.mark.slow
def test_planted_answers_are_said_to_be_in_the_picture_and_others_are_not():
    assert "planted" in words(draw_cultural_map_column(map_frame()))
    people = draw_cultural_map_column(map_frame(source="EVS 2017"))
    assert "planted" not in (words(people) + people.get_label()).lower()


def test_an_axis_unlike_the_published_one_does_not_bear_its_name():
    frame = map_frame()
    frame.attrs["unlike"] = ["y"]
    assert draw_cultural_map_column(frame).axes[0].get_ylabel() == "a component unlike the published axis"
