from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Groups, Probe
from valuesassets.instruments.worldvaluesbench.measures.human_groups import derive_human_groups
from valuesassets.instruments.worldvaluesbench.tables import HUMAN_GROUPS
from valuesassets_tests.instruments.worldvaluesbench.made_up import made_probe, value_question

GROUPS = Groups(("continent", "settlement", "education"), (("Asia", "urban", "low"), ("Asia", "rural", "low")))


def people_of(probe):
    """The data set of those who are asked, where nobody else is: who gave no answer did not know one."""
    levels = np.array(probe.groups.levels)
    items = {each.question.id: each for each in probe.questions}
    rows = pd.concat(
        [pd.DataFrame({"group": each.groups, "weight": each.weights}, each.people) for each in items.values()]
    )
    rows = rows[~rows.index.duplicated()].sort_index()
    people = pd.DataFrame(levels[rows["group"]], columns=list(probe.groups.factors)).assign(weight=rows["weight"].array)
    answers = {
        name: pd.Series(np.nan_to_num(each.answers, nan=-1), each.people).reindex(rows.index).array
        for name, each in items.items()
    }
    return SimpleNamespace(participants=people, value_answers=pd.DataFrame(answers))


def probe_of(answers, groups, weights):
    """One question of three answers, 1 to 3."""
    arrays = (np.array(each, dtype=float) for each in (weights, answers))
    return AskedQuestion(value_question(k=3), np.arange(len(groups)), np.array(groups), *arrays, {}, {})


def test_shares_and_people_by_hand():
    question = probe_of([1, 3, np.nan, 2, 2], [0, 0, 0, 1, 1], [1.0, 3.0, 1.0, 1.0, 1.0])
    probe = Probe(GROUPS, [question])
    table = derive_human_groups(probe, people_of(probe))
    assert table["response_value"].tolist() == [1, 2, 3, 1, 2, 3]
    assert table["prob"].tolist() == pytest.approx([0.25, 0, 0.75, 0, 1, 0])
    assert table["n"].tolist() == [2] * 6
    assert table["effective_n"].tolist() == pytest.approx([1.6] * 3 + [2] * 3)
    assert table["dk_rate"].tolist() == pytest.approx([0.2] * 3 + [0] * 3)
    assert table["settlement"].tolist() == ["urban"] * 3 + ["rural"] * 3


def test_a_group_in_which_nobody_answered_has_no_row():
    question = probe_of([1, 3, np.nan], [0, 0, 1], [1.0, 1.0, 1.0])
    probe = Probe(GROUPS, [question])
    table = derive_human_groups(probe, people_of(probe))
    assert set(table["settlement"]) == {"urban"}
    nobody = probe_of([np.nan], [0], [1.0])
    probe = Probe(GROUPS, [nobody])
    assert len(derive_human_groups(probe, people_of(probe))) == 0


def test_shares_sum_to_one_and_the_table_can_be_written():
    probe = made_probe(5)
    table = derive_human_groups(probe, people_of(probe))
    HUMAN_GROUPS.checked(pa.Table.from_pandas(table, preserve_index=False), "here")
    sums = table.groupby(["question_id", "continent", "settlement", "education"])[["prob", "prob_shrunken"]].sum()
    assert sums.to_numpy() == pytest.approx(1)


def test_shrunken_shares_of_few_people_are_nearer_to_what_was_planted():
    probe = made_probe(5, slopes={"perfect": 1.0}, n_questions=12)
    table = derive_human_groups(probe, people_of(probe))
    truth = np.concatenate([each.with_attributes["perfect"].probs[::5].ravel() for each in probe.questions])
    raw, near = (np.mean((table[name].to_numpy() - truth) ** 2) for name in ("prob", "prob_shrunken"))
    assert near < 0.6 * raw
