"""What is scored in a set: the models of its cells, and the ratings that a study names or has made up, under names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.answers.rated import Probe
from valuesassets.instruments.worldvaluesbench.material.participants import Dataset
from valuesassets.instruments.worldvaluesbench.measures.awareness import derive_awareness
from valuesassets.instruments.worldvaluesbench.measures.benchmark_scores import (
    derive_benchmark_scores,
    derive_threshold_shares,
)
from valuesassets.instruments.worldvaluesbench.measures.controls import control_models, majority_of_groups
from valuesassets.instruments.worldvaluesbench.measures.gathered import Ledger, gather_probe
from valuesassets.instruments.worldvaluesbench.measures.group_distances import derive_group_distances
from valuesassets.instruments.worldvaluesbench.measures.human_groups import derive_human_groups
from valuesassets.instruments.worldvaluesbench.measures.large_groups import large_groups
from valuesassets.instruments.worldvaluesbench.measures.perfect_model import derive_perfect_shares
from valuesassets.instruments.worldvaluesbench.measures.pooled_answers import derive_group_means, derive_pooled_answers
from valuesassets.instruments.worldvaluesbench.measures.readout_comparison import derive_readout_comparison
from valuesassets.instruments.worldvaluesbench.measures.shown_people import derive_shown_people, prompt_of_one
from valuesassets.instruments.worldvaluesbench.measures.wording_reliability import (
    derive_wording_reliability,
    in_wording,
)
from valuesassets.instruments.worldvaluesbench.plants.planted_people import planted_ratings
from valuesassets.instruments.worldvaluesbench.plants.plants import planted_design
from valuesassets.instruments.worldvaluesbench.tables import LEDGER
from valuesassets.instruments.worldvaluesbench.trials.prompts import WORDINGS
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import column, rows_where, stacked
from valuesassets.records.settings.worldvaluesbench import WorldValuesBench
from valuesassets.records.study import Study

Given = Path | str | pd.DataFrame
RATED = ("question_id", "response_value", "prob_averaged", "prob_forward", "prob_reversed", "p_valid")
"""Of what a cell says, what is compared with people and what it is judged by."""
Cells = Mapping[tuple[str, str], pd.DataFrame]


@dataclass(frozen=True)
class Gathered:
    """People and models of a set side by side.

    Attributes:
        ledger: what was left out.
        min_group: people who answered that a group needs in a question to be compared.
    """

    probe: Probe
    ledger: Ledger
    dataset: Dataset
    samples: pd.DataFrame
    min_group: int

    @property
    def compared(self) -> Probe:
        """The groups that are large enough to be compared."""
        return large_groups(self.probe, self.min_group)

    def controls(self, seed: int) -> Probe:
        """What stands beside the models, of everybody."""
        return control_models(self.probe, self.dataset, self.samples, seed)


def dataset_of(participants: pd.DataFrame, value_answers: pd.DataFrame) -> Dataset:
    """People and answers as they are stored, without the ledger of how they were read.

    Raises:
        MissingData: the tables are of different people, or have them in another order.
    """
    if not np.array_equal(participants["participant_id"].astype(str), value_answers["participant_id"].astype(str)):
        raise MissingData(
            "worldvaluesbench: participants and value_answers are of different people; materialise both again"
        )
    return Dataset(participants, value_answers, LEDGER.empty_frame())


def gather_set(
    study: Study,
    name: str,
    participants: pd.DataFrame,
    value_answers: pd.DataFrame,
    samples: pd.DataFrame,
    cells: Cells,
) -> Gathered:
    """The people of a set with all that is rated for them.

    Args:
        cells: rows of `rating_distributions` by family and set; those of other sets are left out.

    Raises:
        MissingData: people and answers are not of the same.
        RatingsError: a file of ratings cannot be used, or fewer than two groups have people who answered.
    """
    dataset = dataset_of(participants, value_answers)
    found, without = ratings_of_set(study, name, cells)
    min_group = WorldValuesBench.of(study).min_group
    probe, ledger = gather_probe(dataset, samples, found, without, min_group, study.thresholds)
    return Gathered(probe, ledger, dataset, samples, min_group)


def ratings_of_set(study: Study, name: str, cells: Cells) -> tuple[dict[str, Given], dict[str, Given]]:
    """Ratings with attributes and without, by model; what a model says in a further wording has that in its name."""
    settings = WorldValuesBench.of(study)
    found, without = dict[str, Given](), dict[str, Given]()
    for family in study.families:
        read = cells.get((family, name))
        if read is None:
            continue
        for number, wording in enumerate(settings.wordings):
            part = rows_where(read, wording=WORDINGS.index(wording))
            found[_named(family, number, wording)] = part.loc[:, list(RATED)]
    for file in settings.ratings:
        if file.with_attributes is None:
            found[file.name] = planted_ratings(settings.slopes[file.name], study.seed, planted_design(study))
            continue
        found[file.name] = file.with_attributes
        if file.without is not None:
            without[file.name] = file.without
    return found, without


def _named(family: str, number: int, wording: str) -> str:
    return family if number == 0 else in_wording(family, wording)


def groups_of_set(gathered: Gathered) -> pd.DataFrame:
    """Rows of `human_groups`: what people of each group that is compared answer."""
    return derive_human_groups(gathered.compared, gathered.dataset)


def score_set(gathered: Gathered, seed: int, attributes: Sequence[str], level: float = 0.95) -> dict[str, pd.DataFrame]:
    """Tables of the asset `benchmark_scores`: of models, of what stands beside them, and what was left out."""
    found = gathered
    first = found.probe.questions[0].question.id
    prompt = prompt_of_one(found.dataset.participants, found.samples, first, attributes)
    probes = found.probe, found.controls(seed), majority_of_groups(found.probe)
    scores = stacked([*map(derive_benchmark_scores, probes)])
    return {
        "scores": scores,
        "threshold_shares": derive_threshold_shares(scores),
        "perfect_shares": derive_perfect_shares(found.probe, seed, level=level),
        "pooled_answers": derive_pooled_answers(found.probe),
        "shown_people": derive_shown_people(found.probe, first, prompt, seed),
        "orders": found.ledger.orders_frame(),
        "ledger": found.ledger.frame(),
    }


def distances_of_set(gathered: Gathered, seed: int) -> pd.DataFrame:
    """Rows of `group_distances`: of models in groups that are compared, and below them of what stands beside them."""
    probes = gathered.compared, large_groups(gathered.controls(seed), gathered.min_group)
    return stacked([*map(derive_group_distances, probes)])


def awareness_of_set(gathered: Gathered, study: Study) -> dict[str, pd.DataFrame]:
    """Tables of the asset `awareness`; models are corrected for the tests of models alone, not of controls.

    Nor of a model's further wordings, which tell whether its moves come back.
    """
    settings, inference = WorldValuesBench.of(study), study.inference
    compared, controls = gathered.compared, large_groups(gathered.controls(study.seed), gathered.min_group)
    further = {in_wording(family, wording) for family in study.families for wording in settings.wordings[1:]}
    given = (inference.resamples, study.seed, settings.min_group, settings.slopes, inference.level, further)
    given = (*given, inference.correction)
    of_each = [derive_awareness(probe, *given) for probe in (compared, controls)]
    tables = {name: stacked([each[name] for each in of_each]) for name in of_each[0]}
    tables["group_means"] = derive_group_means(compared)
    if len(settings.wordings) > 1:
        names = {
            family: {wording: _named(family, number, wording) for number, wording in enumerate(settings.wordings)}
            for family in study.families
        }
        tables["reliability"] = derive_wording_reliability(
            compared, names, settings.min_group, study.thresholds.reliability
        )
    return tables


def readouts_of_set(
    study: Study,
    participants: pd.DataFrame,
    value_answers: pd.DataFrame,
    probe_samples: pd.DataFrame,
    rating_distributions: Cells,
    decoded_ratings: Cells,
) -> dict[str, pd.DataFrame]:
    """Tables of the asset `readout_comparison`.

    Raises:
        MissingData: no model has both been read and left to write.
    """
    cells = {
        cell[0]: (read, decoded_ratings[cell]) for cell, read in rating_distributions.items() if cell in decoded_ratings
    }
    if not cells:
        raise MissingData("no model has both been read and left to write; materialise decoded_ratings")
    score = partial(score_readout, study, participants, value_answers, probe_samples)
    return derive_readout_comparison(cells, score, study.seed)


def score_readout(
    study: Study,
    participants: pd.DataFrame,
    value_answers: pd.DataFrame,
    samples: pd.DataFrame,
    ratings: Mapping[str, pd.DataFrame],
) -> dict[str, dict[str, Any]]:
    """The benchmark's score and awareness of ratings, by name; nothing of those that could not be read.

    Ratings of prompts that name no background have no awareness: there was nothing to be aware of.
    """
    settings, inference = WorldValuesBench.of(study), study.inference
    found = {name: each for name, each in ratings.items() if not column(each, "prob").isna().all()}
    if not found:
        return {name: {} for name in ratings}
    probe, _ = gather_probe(dataset_of(participants, value_answers), samples, found, {}, settings.min_group)
    means = rows_where(derive_benchmark_scores(probe), subset="all").groupby("model")[["w1_seed"]].mean()
    compared = large_groups(probe, settings.min_group)
    given = (inference.resamples, study.seed, settings.min_group, None, inference.level)
    factors = derive_awareness(compared, *given, correction=inference.correction)["factors"]
    aware = rows_where(factors, factor="all").set_index("model")
    scores = {name: means.loc[name].to_dict() for name in found}
    for name, each in found.items():
        if column(each, "question_id").str.contains("@").any():
            scores[name] |= aware.loc[name].to_dict()
    return {name: scores.get(name, {}) for name in ratings}
