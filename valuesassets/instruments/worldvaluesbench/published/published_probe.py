"""Whether the people asked are those of the published probe, and the paper's figures beside ours where they are."""

import hashlib

import pandas as pd

from valuesassets.instruments.worldvaluesbench.measures.benchmark_scores import EVERYBODY
from valuesassets.instruments.worldvaluesbench.measures.controls import without_attributes
from valuesassets.instruments.worldvaluesbench.published.published_scores import load_published_scores

PROBE_ROWS = 8280
PROBE_SHA256 = "5d68c10538ea6c3007721e026519e01d6d98c868511f47491404788e6e64c44d"
"""Of the published probe's sorted lines, question, tab and D_INTERVIEW of each."""


def is_published_probe(samples: pd.DataFrame) -> bool:
    """Whether the people asked are those of the published probe, each for the same questions."""
    if len(samples) != PROBE_ROWS:
        return False
    lines = sorted(samples["question_id"].astype(str) + "\t" + samples["participant_id"].astype(str))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest() == PROBE_SHA256


def beside_published(scores: pd.DataFrame) -> pd.DataFrame:
    """The paper's distances (`model, attributes, question_id, w1_published`), and ours of these names: `w1_seed`.

    Args:
        scores: as `derive_benchmark_scores` gives them, of models with attributes and without.
    """
    everybody = scores[scores["subset"] == EVERYBODY]
    ours = everybody.set_index(["model", "question_id"])["w1_seed"].to_dict()
    for oracle in ("uniform", "majority"):
        keys = ((oracle, question_id) for question_id in everybody["question_id"])
        ours |= dict(zip(keys, everybody[f"w1_{oracle}_unit"], strict=True))
    published = load_published_scores().rename(columns={"w1_seed": "w1_published"})
    is_without = published["attributes"] == "without"
    names = published["model"].where(~is_without, published["model"].map(without_attributes))
    keys = zip(names, published["question_id"], strict=True)
    return published.assign(w1_seed=[ours.get(key) for key in keys])
