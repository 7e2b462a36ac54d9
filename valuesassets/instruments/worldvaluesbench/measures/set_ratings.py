"""The tables of a set's analyses, from the models of its cells and from the files and planted ratings of a study."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.answers.rated import large_groups
from valuesassets.instruments.worldvaluesbench.answers.rating_sources import Given
from valuesassets.instruments.worldvaluesbench.material.participants import Dataset
from valuesassets.instruments.worldvaluesbench.measures.awareness import derive_awareness
from valuesassets.instruments.worldvaluesbench.measures.benchmark_scores import (
    derive_benchmark_scores,
    derive_threshold_shares,
)
from valuesassets.instruments.worldvaluesbench.measures.figure_tables import (
    derive_group_means,
    derive_perfect_shares,
    derive_pooled_answers,
    derive_shown_people,
    prompt_of_one,
)
from valuesassets.instruments.worldvaluesbench.measures.gathered import Gathered, gather_probe
from valuesassets.instruments.worldvaluesbench.measures.group_distances import derive_group_distances
from valuesassets.instruments.worldvaluesbench.measures.human_groups import derive_human_groups
from valuesassets.instruments.worldvaluesbench.measures.readout_comparison import derive_readout_comparison
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

RATED = ("question_id", "response_value", "prob_averaged", "prob_forward", "prob_reversed", "p_valid")
"""The columns of a cell's distributions that are compared with people, or checked."""
Cells = Mapping[tuple[str, str], pd.DataFrame]


def dataset_of(participants: pd.DataFrame, value_answers: pd.DataFrame) -> Dataset:
    """The data set of two stored tables, with an empty ledger.

    Raises:
        MissingData: the tables are of different people, or in different orders.
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
    """The people of a set with all their ratings.

    Args:
        cells: rows of `rating_distributions` by family and set; those of other sets are left out.

    Raises:
        MissingData: the tables are of different people.
        RatingsError: a file of ratings cannot be used, or fewer than two groups have people who answered.
    """
    dataset = dataset_of(participants, value_answers)
    with_attributes, without = ratings_of_set(study, name, cells)
    min_group = WorldValuesBench.of(study).min_group
    probe, ledger = gather_probe(dataset, samples, with_attributes, without, min_group, study.thresholds)
    return Gathered(probe, ledger, dataset, samples, min_group, study.seed)


def ratings_of_set(study: Study, name: str, cells: Cells) -> tuple[dict[str, Given], dict[str, Given]]:
    """Ratings with attributes and without, by model; a further wording of a model has its own name."""
    settings = WorldValuesBench.of(study)
    with_attributes, without = dict[str, Given](), dict[str, Given]()
    for family in study.families:
        distributions = cells.get((family, name))
        if distributions is None:
            continue
        for number, wording in enumerate(settings.wordings):
            part = rows_where(distributions, wording=WORDINGS.index(wording))
            with_attributes[_named(family, number, wording)] = part.loc[:, list(RATED)]
    for file in settings.ratings:
        if file.with_attributes is None:
            with_attributes[file.name] = planted_ratings(settings.slopes[file.name], study.seed, planted_design(study))
            continue
        with_attributes[file.name] = file.with_attributes
        if file.without is not None:
            without[file.name] = file.without
    return with_attributes, without


def _named(family: str, number: int, wording: str) -> str:
    return family if number == 0 else in_wording(family, wording)


def groups_of_set(gathered: Gathered) -> pd.DataFrame:
    """Rows of `human_groups`: people's answers in each group that is compared."""
    return derive_human_groups(gathered.compared, gathered.dataset)


def score_set(gathered: Gathered, attributes: Sequence[str], level: float = 0.95) -> dict[str, pd.DataFrame]:
    """Tables of the asset `benchmark_scores`, of models and controls, and what was left out."""
    probe, scores, seed = gathered.probe, gathered.scores, gathered.seed
    first = probe.questions[0].question.id
    prompt = prompt_of_one(gathered.dataset.participants, gathered.samples, first, attributes)
    return {
        "scores": scores,
        "threshold_shares": derive_threshold_shares(scores),
        "perfect_shares": derive_perfect_shares(probe, seed, level=level),
        "pooled_answers": derive_pooled_answers(probe),
        "shown_people": derive_shown_people(probe, first, prompt, seed),
        "orders": gathered.ledger.orders_frame(),
        "ledger": gathered.ledger.frame(),
    }


def distances_of_set(gathered: Gathered) -> pd.DataFrame:
    """Rows of `group_distances` in groups that are compared, of models and then of controls."""
    return stacked([derive_group_distances(probe) for probe in (gathered.compared, gathered.compared_controls)])


def awareness_of_set(gathered: Gathered, study: Study) -> dict[str, pd.DataFrame]:
    """Tables of the asset `awareness`; p-values are corrected over models in their first wording, without controls."""
    settings, inference = WorldValuesBench.of(study), study.inference
    compared = gathered.compared
    further = {in_wording(family, wording) for family in study.families for wording in settings.wordings[1:]}
    arguments = (settings.min_group, settings.slopes, inference.level, further, inference.correction)
    probes = (compared, gathered.compared_controls)
    of_each = [derive_awareness(probe, inference.resamples, study.seed, *arguments) for probe in probes]
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
        MissingData: no model has both distributions and written answers.
    """
    cells = {
        cell[0]: (distributions, decoded_ratings[cell])
        for cell, distributions in rating_distributions.items()
        if cell in decoded_ratings
    }
    if not cells:
        raise MissingData("no model has both been read and left to write; materialise decoded_ratings")
    score = partial(score_readout, study, dataset_of(participants, value_answers), probe_samples)
    return derive_readout_comparison(cells, score, study.seed)


def score_readout(
    study: Study, dataset: Dataset, samples: pd.DataFrame, ratings: Mapping[str, pd.DataFrame]
) -> dict[str, dict[str, Any]]:
    """The benchmark's score and awareness by name of ratings; none for ratings that could not be read.

    Ratings of prompts without attributes have no awareness.
    """
    settings, inference = WorldValuesBench.of(study), study.inference
    usable = {name: each for name, each in ratings.items() if not column(each, "prob").isna().all()}
    if not usable:
        return {name: {} for name in ratings}
    probe, _ = gather_probe(dataset, samples, usable, {}, settings.min_group)
    means = rows_where(derive_benchmark_scores(probe), subset="all").groupby("model")[["w1_seed"]].mean()
    compared = large_groups(probe, settings.min_group)
    settings_of_tests = (inference.resamples, study.seed, settings.min_group, None, inference.level)
    factors = derive_awareness(compared, *settings_of_tests, correction=inference.correction)["factors"]
    aware = rows_where(factors, factor="all").set_index("model")
    scores = {name: means.loc[name].to_dict() for name in usable}
    for name, each in usable.items():
        if column(each, "question_id").str.contains("@").any():
            scores[name] |= aware.loc[name].to_dict()
    return {name: scores.get(name, {}) for name in ratings}
