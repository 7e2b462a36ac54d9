import subprocess
import sys
from itertools import pairwise

import matplotlib as mpl
import pytest
from matplotlib.colors import to_rgb

from valuesassets.figures import style
from valuesassets.figures.saving import png_base64
from valuesassets_tests.figures.pictures import grey


def drawn():
    figure = style.new_figure(height_in=2)
    figure.add_subplot().plot([1, 2], [3, 4])
    return style.finish(figure, "Two points", planted=True)


def test_drawing_leaves_the_settings_of_others_alone():
    before = dict(mpl.rcParams)
    style.styled(drawn)()
    assert dict(mpl.rcParams) == before


def test_every_look_differs_from_every_other_in_colour_marker_and_hatch():
    looks = list(style.looks(f"family-{number}" for number in range(style.MOST_SERIES)).values())
    for part in ("color", "marker", "hatch"):
        assert len({getattr(look, part) for look in looks}) == len(looks)
    with pytest.raises(ValueError, match="can be distinguished"):
        style.looks(str(number) for number in range(style.MOST_SERIES + 1))


def test_the_first_three_looks_are_told_apart_in_a_black_and_white_print():
    greys = sorted(grey(look.color) for look in style.looks("abc").values())
    assert min(high - low for low, high in pairwise(greys)) > 40
    assert greys[-1] < 180  # and from the paper


@pytest.mark.parametrize("look", style.looks("abcdefgh").values())
def test_names_in_the_colour_of_their_point_read_on_white(look):
    assert 1.05 / (style.luminance(to_rgb(style.text_ink(look.color))) + 0.05) >= 4.5


def test_the_font_writes_all_three_scripts(recwarn):
    figure = style.styled(drawn)()
    figure.text(0.5, 0.5, "Ευτυχία Щастие Świętość ő ș ņ")
    png_base64(figure)
    assert not [warning for warning in recwarn if "missing from" in str(warning.message)]


def test_ink_contrasts_with_its_ground():
    assert style.ink_on((1, 1, 1, 1)) == "black"
    assert style.ink_on((0, 0.13, 0.31, 1)) == "white"


def test_the_package_imports_without_matplotlib():
    block = "import sys; sys.modules['matplotlib'] = None; import valuesassets.figures"
    subprocess.run([sys.executable, "-c", block], check=True)
