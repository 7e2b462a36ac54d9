"""Worlds of known truth for psych tasks: is a trait told from a liking for labels, and content from none?

`random`: 46 models with random logits; `label`: models that like some labels more than others, whatever an item says;
`trait`: models that answer by content. Half of twenty items are keyed the other way; half of the prompts show the scale
reversed. `no content`: people with a way to use the scale and no trait, and a model that leans on their latest answers:
moving these to a neighbour changes what it says, and means nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.psych_tasks.measures.keying import LABEL, OPEN, TRAIT, derive_keying
from valuesassets.instruments.psych_tasks.published.published_scores import LOGIT_MEAN, LOGIT_SD, ScoredScale
from valuesassets.measure.log_score import sign_flip_p
from valuesassets.measure.seeding import seeded
from valuesassets_tests.simulations.shares import is_within, plain_tables

Floats = NDArray[np.float64]
Records = list[dict[str, Any]]
WANTED = {"random": OPEN, "label": LABEL, "trait": TRAIT}
NO_CONTENT = "no content"
KINDS = (*WANTED, NO_CONTENT)
NULLS = 10
"""Worlds without content for each other one: a share of a twentieth wants many."""
MODELS, ITEMS, LABELS = 46, 20, 5
PEOPLE, MARKS, FLIPS = 40, 10, 499
ITEM_SD, MODEL_SD = 0.6, 0.8
"""On the logit scale: what an item adds to a label, or to the trait, of every model; and what models differ by."""
RECENCY, LEANING = 0.5, 0.6
"""Weight of an answer over that of the one after it, and share of a model's answer that follows them."""
ALPHA = 0.05
TOLD_APART, REJECTED = 0.95, (0.03, 0.07)
"""Least share of worlds whose verdict is right, and where the share of rejections has to lie."""


def simulate_worlds(kind: str, seeds: Sequence[int]) -> Records:
    """What was found in worlds of one kind, one world per seed."""
    records = []
    for seed in seeds:
        random = seeded(seed, "psych worlds", kind)
        row = {"p": _content_p(random)} if kind == NO_CONTENT else {"verdict": _verdict(kind, random)}
        records.append({"kind": kind, "seed": seed} | row)
    return records


def summarise_worlds(records: Records) -> dict[str, pd.DataFrame]:
    """How often each kind's verdict is right, and how often content is found where there is none."""
    rows = pd.DataFrame(records)
    verdicts = [
        {
            "kind": kind,
            "wanted": wanted,
            "right": float((part["verdict"] == wanted).mean()),
            "n_worlds": len(part),
        }
        for kind, wanted in WANTED.items()
        if len(part := rows[rows["kind"] == kind])
    ]
    p = rows.loc[rows["kind"] == NO_CONTENT, "p"] if "p" in rows else pd.Series(dtype=float)
    rejections = [{"kind": NO_CONTENT, "rejected": float((p <= ALPHA).mean()), "n_worlds": len(p)}] if len(p) else []
    return {"verdicts": pd.DataFrame(verdicts), "rejections": pd.DataFrame(rejections)}


evidence = plain_tables


def faults_of(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """What is not as it should be beyond three Monte Carlo errors, in words; nothing where all is well."""
    faults = []
    for row in tables["verdicts"].to_dict("records"):
        if not is_within(row["right"], TOLD_APART, 1, row["n_worlds"]):
            faults.append(
                f"psych tasks, {row['kind']} worlds: {row['right']:.3f} are told for what they are, {TOLD_APART} wanted"
            )
    for row in tables["rejections"].to_dict("records"):
        low, high = REJECTED
        n, share = row["n_worlds"], row["rejected"]
        if not is_within(share, low, high, n):
            faults.append(f"psych tasks, {row['kind']}: {share:.3f} of the worlds rejected, {low} to {high} wanted")
    return faults


def _verdict(kind: str, random: np.random.Generator) -> str:
    """What keying says of a world's models."""
    expected = expected_labels(kind, random)
    items = np.arange(1, ITEMS + 1)
    scale = ScoredScale(tuple(items.tolist()), tuple(items[1::2].tolist()), 1, LABELS)
    model, item, presentation = np.indices(expected.shape)
    frame = pd.DataFrame(
        {
            "model": model.ravel(),
            "experiment": kind,
            "scale": "made up",
            "item": items[item.ravel()],
            "presentation": np.where(presentation.ravel() == 1, "reversed", "forward"),
            "expected": expected.ravel(),
        }
    )
    return str(derive_keying(frame, {"made up": scale})["scales"]["verdict"].iloc[0])


def expected_labels(kind: str, random: np.random.Generator) -> Floats:
    """(models, items, presentations) expected answers, on the labels as they are shown."""
    labels = np.arange(1, LABELS + 1)
    shape = (MODELS, ITEMS, 2, LABELS)
    if kind == "random":
        logits = random.normal(LOGIT_MEAN, LOGIT_SD, shape)
    elif kind == "label":
        logits = random.normal(0, MODEL_SD, (MODELS, 1, 1, LABELS)) + random.normal(0, ITEM_SD, shape)
    else:
        leaning = random.normal(0, MODEL_SD, (MODELS, 1, 1, 1)) + random.normal(0, ITEM_SD, (MODELS, ITEMS, 1, 1))
        keyed = np.where(np.arange(ITEMS) % 2, -1, 1)[None, :, None, None] * np.array([1, -1])[None, None, :, None]
        logits = leaning * keyed * (labels - labels.mean()) + random.normal(0, ITEM_SD, shape)
    odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return odds @ labels / odds.sum(axis=-1)


def _content_p(random: np.random.Generator) -> float:
    """p of a gain of content in a world that has none."""
    own = random.dirichlet(np.ones(LABELS), PEOPLE)
    answers = np.array([random.choice(LABELS, MARKS, p=each) for each in own])
    given = np.eye(LABELS)[answers]
    moved = [_swapped(given, mark) for mark in range(MARKS)]
    scores = [
        np.mean([np.log(_said(before[mark])[np.arange(PEOPLE), answers[:, mark]]) for mark in range(1, MARKS)], axis=0)
        for before in ([given[:, :mark] for mark in range(MARKS)], moved)
    ]
    return sign_flip_p(scores[0] - scores[1], FLIPS, random)


def _swapped(given: Floats, mark: int) -> Floats:
    """(people, mark, labels) the answers before a mark, neighbours exchanged from there backwards."""
    order = np.arange(mark)
    for second in range(mark - 1, 0, -2):
        order[[second - 1, second]] = order[[second, second - 1]]
    return given[:, order]


def _said(before: Floats) -> Floats:
    """(people, labels) what the model says behind some answers: the latest weigh most."""
    weights = RECENCY ** np.arange(before.shape[1])[::-1]
    followed = np.einsum("m,pml->pl", weights / weights.sum(), before)
    return (1 - LEANING) / LABELS + LEANING * followed
