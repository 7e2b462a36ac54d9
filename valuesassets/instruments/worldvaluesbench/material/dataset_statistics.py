"""`worldvaluesbench/dataset_statistics`: numbers of people and examples by split, and of answers by question."""

import pandas as pd

from valuesassets.instruments.worldvaluesbench.material.participants import Dataset
from valuesassets.instruments.worldvaluesbench.material.splits import SPLITS
from valuesassets.instruments.worldvaluesbench.material.value_answers import question_ids


def derive_dataset_statistics(dataset: Dataset) -> dict[str, pd.DataFrame]:
    """Rows of `STATISTICS` and of `QUESTION_STATISTICS`; `full` is all splits together.

    An example is a person's answer to a question.

    Source: Zhao et al. (2024), table 1.
    """
    questions = question_ids(dataset.value_answers)
    is_answered = (dataset.value_answers[questions] >= 0).fillna(False).to_numpy(dtype=bool)
    split = dataset.participants["split"].to_numpy(dtype=object)
    examples = pd.Series(is_answered.sum(axis=1))
    rows = [{"split": "full", "participants": len(split), "examples": int(examples.sum())}]
    rows += [
        {"split": name, "participants": int((split == name).sum()), "examples": int(examples[split == name].sum())}
        for name in SPLITS
    ]
    answers = {"question_id": questions, "n": is_answered.sum(axis=0)}
    answers |= {f"n_{name}": is_answered[split == name].sum(axis=0) for name in SPLITS}
    return {"splits": pd.DataFrame(rows), "questions": pd.DataFrame(answers)}
