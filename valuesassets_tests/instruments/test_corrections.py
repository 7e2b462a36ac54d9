"""The correction that a study names is the one that pages say and cite, in every instrument."""

import pandas as pd
import pytest

from valuesassets.instruments.cultural_robustness import methods as robustness
from valuesassets.instruments.cultural_robustness.answer_space import AnswerSpace
from valuesassets.instruments.cultural_robustness.scores import FOLLOW, GAIN, OWN, Estimate, Inference, score_rows
from valuesassets.instruments.psych_tasks import methods as psych
from valuesassets.reporting.methods import sources_of_tables

HOLM, OTHER = "holm", "benjamini-hochberg"
GAINS = pd.DataFrame({"p": [0.01, 0.2], "model": ["a", "b"], "task": "t", "gain": "g"})


@pytest.mark.parametrize(("correction", "cited"), [(HOLM, "holm1979"), (OTHER, "benjamini1995")])
def test_the_source_follows(correction, cited):
    found = sources_of_tables({"holm1979": ("gains",), "hall1992": ("gains",)}, {"gains": GAINS}, correction)
    assert sorted(found) == sorted(["hall1992", cited])
    assert psych.sources({"prediction/gains": GAINS}, correction).count(cited) == 1
    assert robustness.sources({"language_pairs": GAINS}, correction).count(cited) == 1


@pytest.mark.parametrize(("correction", "expected"), [(HOLM, [0.03, 0.04, 0.04]), (OTHER, [0.03, 0.03, 0.03])])
def test_scores_of_cultural_robustness_are_corrected_so(correction, expected):
    p_values = dict(zip((GAIN, FOLLOW, OWN), (0.01, 0.02, 0.03), strict=True))
    found = {name: Estimate(1.0, p=p, p_over=0.0) for name, p in p_values.items()}
    space = AnswerSpace((), (), has_unanchored=True, has_anchored=True)
    rows = score_rows("m", space, found, Inference(correction=correction)).set_index("score")
    assert [round(float(rows.loc[name, "p"]), 6) for name in p_values] == expected
