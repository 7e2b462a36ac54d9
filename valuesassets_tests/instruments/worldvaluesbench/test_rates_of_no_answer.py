import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.material.probe_samples import choose_samples
from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions
from valuesassets.instruments.worldvaluesbench.measures.gathered import gather_probe
from valuesassets.instruments.worldvaluesbench.measures.human_groups import derive_human_groups
from valuesassets_tests.instruments.worldvaluesbench.rated_people import drawn_scores, people_of


@pytest.mark.parametrize("probe", ["all", "5"])
def test_who_gave_no_answer_is_counted_of_everybody_asked_though_a_probe_asks_none_of_them(probe):
    # The first group's twelve: two did not know, of weights 2 and 1, one did not say; one was not asked, one has
    # nothing in the file, seven answered. Of the weight 4 + 7 of those asked, 4 gave no answer.
    dataset = people_of(12, ["Q1"])
    dataset.value_answers.loc[:4, "Q1"] = pd.array([-1, -1, -2, -4, pd.NA], "Int16")
    dataset.participants.loc[0, "weight"] = 2.0
    samples = choose_samples(dataset, chosen_questions(["Q1"]), probe)
    gathered, _ = gather_probe(dataset, samples, {"model": drawn_scores(dataset, 1)})
    table = derive_human_groups(gathered, dataset)
    first = dataset.participants.loc[0, ["continent", "settlement", "education"]].tolist()
    is_first = (table[["continent", "settlement", "education"]] == first).all(axis=1)
    assert table.loc[is_first, "dk_rate"].to_numpy() == pytest.approx([4 / 11] * 4)
    assert (table.loc[~is_first, "dk_rate"] == 0).all()
    sums = table.groupby(["continent", "settlement", "education"])[["prob", "prob_shrunken"]].sum()
    assert np.allclose(sums, 1)
