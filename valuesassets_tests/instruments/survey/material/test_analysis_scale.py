import pytest

from valuesassets.records.questions import ResponseType
from valuesassets_tests.instruments.survey.analysed import on_analysis_scale
from valuesassets_tests.measure.summaries import expected_value


@pytest.mark.parametrize("question", ["v113", "v114"])
def test_dont_mind_lies_between_good_and_bad(question):
    distribution = on_analysis_scale(question, [1, 2, 3], [0.5, 0.3, 0.2])  # good, bad, don't mind
    assert distribution.probs.tolist() == [0.5, 0.2, 0.3]
    assert expected_value(distribution) == pytest.approx(0.5 + 2 * 0.2 + 3 * 0.3)


def test_other_scales_keep_their_codes_whatever_was_asked_before():
    assert on_analysis_scale("v111@v110=1", [2, 3, 4], [0.2, 0.3, 0.5]).values.tolist() == [2, 3, 4]


def test_only_categorical_questions_have_no_order():
    assert [ResponseType(kind).is_ordinal for kind in ("categorical", "frequency", "likert10", "binary")] == [
        False,
        True,
        True,
        True,
    ]
