import pytest

from valuesassets.instruments.worldwise.material.dimensions import AXES
from valuesassets.instruments.worldwise.material.exemplars import read_exemplars
from valuesassets.records.bundled import BUNDLED
from valuesassets.records.errors import InputError
from valuesassets_tests.instruments.worldwise.made_answer_files import exemplar_lines, write_lines

HEADER, *GOOD = exemplar_lines(["IDV"])


def test_bundled_sentences_are_a_dozen_pairs_or_more_on_every_axis_each_once():
    sentences = read_exemplars(BUNDLED)
    assert list(dict.fromkeys(sentences["axis"])) == list(AXES)
    assert (sentences.groupby("axis")["pair"].nunique() >= 12).all()
    assert sentences["text"].is_unique
    assert (sentences.groupby("pair").size() == 2).all()


def test_an_axis_may_do_without_pairs(tmp_path):
    lines = [HEADER, *(f"PDI,{pole},,{pole} sentence {n}" for pole in ("high", "low") for n in "abc"), *GOOD]
    sentences = read_exemplars(write_lines(tmp_path / "e.csv", lines))
    assert sentences["pair"].isna().tolist() == [True] * 6 + [False] * 12


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ["XYZ,high,x,A sentence."],
            "row 14: axis 'XYZ' found, one of IDV, PDI, MAS, UAI, LTO, IVR was expected; mend it",
        ),
        (["IDV,up,x,A sentence."], "row 14: pole 'up' found, one of high, low was expected; mend it"),
        (
            ["IDV,high,x,..."],
            "row 14: the text is empty, a sentence was expected; write it or remove the row",
        ),
        (
            ["IDV,high,x,idv FREEDOM  choice self"],
            "row 14: the text of row 2 again ('idv FREEDOM choice self'), each once was expected; remove one",
        ),
        (
            ["IDV,high,x,A sentence."],
            "row 14: pair x has IDV high; one high and one low sentence of one axis were expected; mend it",
        ),
        (
            ["IDV,high,x,A sentence.", "IDV,high,x,Another."],
            "row 14: pair x has IDV high, IDV high; one high and one low sentence of one axis were expected; mend it",
        ),
        (
            ["IDV,high,x,A sentence.", "PDI,low,x,Another."],
            "row 14: pair x has IDV high, PDI low; one high and one low sentence of one axis were expected; mend it",
        ),
        (
            ["IDV,low,,A sentence."],
            "row 14: no pair found, but row 2 of IDV has one; a pair in every row of an axis, or in none, was "
            "expected; mend it",
        ),
        (
            ["PDI,low,,A sentence.", "PDI,high,,Another."],
            "PDI high: 1 sentences found, 3 or more were expected; add some",
        ),
    ],
)
def test_a_fault_is_one_line(tmp_path, lines, message):
    path = write_lines(tmp_path / "e.csv", [HEADER, *GOOD, *lines])
    with pytest.raises(InputError) as error:
        read_exemplars(path)
    assert str(error.value) == f"{path}: {message}"


def test_a_file_without_a_column_for_pairs_is_refused(tmp_path):
    path = write_lines(tmp_path / "e.csv", ["axis,pole,text", "IDV,high,A sentence."])
    with pytest.raises(InputError) as error:
        read_exemplars(path)
    expected = "a table (CSV) with columns axis, pole, pair, text was expected; add it"
    assert str(error.value) == f"{path}: row 1: no column pair (found axis, pole, text); {expected}"
