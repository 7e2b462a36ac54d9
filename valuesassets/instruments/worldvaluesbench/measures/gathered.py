"""People's answers and models' ratings of the same questions, from which scores are computed."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.answers.rated import (
    AskedQuestion,
    Groups,
    Probe,
    Rated,
    in_large_groups,
    large_groups,
)
from valuesassets.instruments.worldvaluesbench.answers.rating_sources import Given, RatingSource
from valuesassets.instruments.worldvaluesbench.answers.ratings_files import Scores
from valuesassets.instruments.worldvaluesbench.material.backgrounds import FACTORS
from valuesassets.instruments.worldvaluesbench.material.probe_samples import NOT_ASKED, People, resolve_people
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
from valuesassets.instruments.worldvaluesbench.measures.benchmark_scores import derive_benchmark_scores
from valuesassets.instruments.worldvaluesbench.measures.controls import control_models, majority_of_groups
from valuesassets.instruments.worldvaluesbench.measures.rating_checks import counts_of, rating_orders
from valuesassets.instruments.worldvaluesbench.tables import RATING_ORDERS
from valuesassets.records.errors import RatingsError
from valuesassets.records.frames import column, stacked
from valuesassets.records.settings.measuring import Thresholds

LEAST_GROUP = 2
"""The fewest people of a group from whom their spread can be estimated."""
_ByModel = dict[str, dict[str, Rated]]
_Numbered = dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]]


@dataclass
class Ledger:
    """Counts of what was left out or could not be used, and the agreement of each model's ratings between orders."""

    rows: list[dict[str, object]] = field(default_factory=list)
    orders: list[dict[str, Any]] = field(default_factory=list)
    """Rows of `RATING_ORDERS`, one for each model with ratings with attributes."""

    def tell(self, what: str, n: int, total: int, model: str = "", question_id: str = "") -> None:
        """Add a line if `n` of `total` is above 0."""
        if n > 0:
            self.rows.append({"what": what, "model": model, "question_id": question_id, "n": int(n), "of": int(total)})

    def frame(self) -> pd.DataFrame:
        """All lines: `what, model, question_id, n, of`; model and question are empty in lines about all of them."""
        return pd.DataFrame(self.rows, columns=pd.Index(["what", "model", "question_id", "n", "of"]))

    def orders_frame(self) -> pd.DataFrame:
        """The table `RATING_ORDERS`."""
        return RATING_ORDERS.frame(self.orders)


@dataclass(frozen=True)
class Gathered:
    """People and models side by side.

    Attributes:
        samples: rows of `probe_samples`.
        min_group: fewest people with an answer for a group to be compared in a question.
        seed: of shuffled ratings.
    """

    probe: Probe
    ledger: Ledger
    dataset: People
    samples: pd.DataFrame
    min_group: int
    seed: int

    @cached_property
    def controls(self) -> Probe:
        """The controls of the models, for everybody."""
        return control_models(self.probe, self.dataset, self.samples, self.seed)

    @cached_property
    def compared(self) -> Probe:
        """The models in groups that are large enough to be compared."""
        return large_groups(self.probe, self.min_group)

    @cached_property
    def compared_controls(self) -> Probe:
        """The controls in groups that are large enough to be compared."""
        return large_groups(self.controls, self.min_group)

    @property
    def scores(self) -> pd.DataFrame:
        """Rows of `derive_benchmark_scores` of models and controls."""
        return stacked([*map(derive_benchmark_scores, (self.probe, self.controls, majority_of_groups(self.probe)))])


def gather_probe(
    dataset: People,
    samples: pd.DataFrame,
    ratings: Mapping[str, Given],
    without: Mapping[str, Given] | None = None,
    min_group: int = 5,
    rules: Thresholds | None = None,
) -> tuple[Probe, Ledger]:
    """The probe's people with their groups, weights and answers and each model's ratings.

    Distributions with too low a P_valid, and models whose ratings follow position alone, are left out and entered in
    the ledger.

    Args:
        samples: rows of `probe_samples`.
        ratings, without: by model, files or frames of ratings with attributes, and without.
        min_group: fewest people with an answer for a group to be compared; the ledger has the smaller groups.
        rules: thresholds of a study; the usual ones if left out.

    Raises:
        RatingsError: as `read_ratings`; a person or profile that is not in the data set; a file without attributes
            that names some; no model rates a question of the probe; fewer than two groups.
    """
    if min_group < LEAST_GROUP:
        raise RatingsError(
            f"min_group: found {min_group}, {LEAST_GROUP} or more was expected: one person has no spread"
        )
    people, ledger, sources, rules = dataset.participants, Ledger(), list[str](), rules or Thresholds()
    groups, numbered = _numbered(people, samples, ledger)
    ledger.tell("rows of the file of samples that are of questions not asked", *samples.attrs.get(NOT_ASKED, (0, 0)))
    items = _with_answers(dataset, groups, numbered, min_group, ledger)
    sides: dict[str, _ByModel] = {"with": {}, "without": {}}
    for side, files in (("with", ratings), ("without", without or {})):
        for name, file in files.items():  # one at a time, because a file may hold millions of ratings
            questions = load_value_questions()
            source = RatingSource.read(file, name, side == "without", questions, people, rules.p_valid_question)
            if not _is_evidence(source, side, name, rules, ledger):
                continue
            sources.append(source.ratings.source)
            sides[side][name] = _rated(source, items, side, name, ledger)
            if side == "with" and (also := source.without_attributes()) and name not in (without or {}):
                sides["without"][name] = _rated(also, items, "without", name, ledger)
            what = "questions without an answer without attributes: those of others are not used"
            if side == "with" and name not in (without or {}):
                ledger.tell(what, len(source.one_sided), len(source.questions), name)
    if sources and not any(sides["with"].values()):
        raise RatingsError(f"{sources[0]}: rates nothing that is asked; is it of this probe?")
    return _probe_of(groups, items, sides), ledger


def _is_evidence(source: RatingSource, side: str, name: str, rules: Thresholds, ledger: Ledger) -> bool:
    """Whether scores may be based on a model's ratings, by the orders and P_valid of its file; enters the ledger."""
    orders = rating_orders(name, source.ratings, rules)
    if side == "with":
        ledger.orders.append(orders)
    n_low = 0 if isinstance(source.ratings, Scores) else source.ratings.n_low_p_valid
    what = f"prompts {side} attributes whose P_valid is below {rules.p_valid_question:g}: not used"
    ledger.tell(what, n_low, orders["n_prompts"], name)
    if orders["is_evidence"] is not False:
        return True
    n = orders["n_prompts"]
    why = "they follow position, or do not come back once the options are reversed"
    ledger.tell(f"ratings {side} attributes: not used, as {why}", n, n, name)
    return False


def _numbered(people: pd.DataFrame, samples: pd.DataFrame, ledger: Ledger) -> tuple[Groups, _Numbered]:
    """The groups of samples, and by question the rows of its people in the data set and their groups."""
    places = resolve_people("probe", column(samples, "participant_id"), people)
    groups = np.zeros(len(samples), dtype=np.int64)
    unknown, differs = np.zeros((2, len(samples)), dtype=bool)
    for factor, levels in FACTORS.items():
        codes = pd.Categorical(samples[factor], categories=list(levels)).codes.astype(np.int64)
        unknown |= codes < 0
        differs |= pd.Categorical(people[factor], categories=list(levels)).codes[places] != codes
        groups = groups * len(levels) + codes
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0]) + 1
        raise RatingsError(f"probe: row {row}: level of no group; give each person's")
    ledger.tell("rows of the probe whose group is not that of the person's codes", differs.sum(), len(samples))
    group_codes, groups = np.unique(groups, return_inverse=True)
    shape = [len(levels) for levels in FACTORS.values()]
    numbers = np.stack(np.unravel_index(group_codes, shape), axis=1)
    levels = tuple(tuple(names[n] for names, n in zip(FACTORS.values(), row, strict=True)) for row in numbers)
    question_codes, ids_of = pd.factorize(samples["question_id"])
    order = np.argsort(question_codes, kind="stable")
    parts = np.split(order, np.searchsorted(question_codes[order], np.arange(1, len(ids_of))))
    by_question = {
        str(name): (places[part], groups[part]) for name, part in zip(ids_of, parts, strict=True) if part.size
    }
    return Groups(tuple(FACTORS), levels), by_question


def _with_answers(
    dataset: People, all_groups: Groups, numbered: _Numbered, min_group: int, ledger: Ledger
) -> list[AskedQuestion]:
    """The questions with people's answers; groups that are too small to be compared enter the ledger.

    Here `people` are rows of the data set, and no model has ratings yet.
    """
    questions, items, large = load_value_questions(), [], set[int]()
    weights = dataset.participants["weight"].to_numpy(float)
    for question_id, (places, groups) in numbered.items():
        question = questions[question_id]
        answers = dataset.value_answers[question_id].to_numpy(float, na_value=np.nan)[places]
        answers[~((answers >= question.lo) & (answers <= question.hi))] = np.nan
        is_large = in_large_groups(groups, answers, min_group, len(all_groups.levels))
        what = f"people in groups of fewer than {min_group} who answered"
        ledger.tell(what, (~is_large).sum(), is_large.size, "", question_id)
        ledger.tell("people without an answer", np.isnan(answers).sum(), answers.size, "", question_id)
        if np.isfinite(answers).any():
            items.append(AskedQuestion(question, places, groups, weights[places], answers, {}, {}))
        large |= set(groups[is_large].tolist())
    if len(large) < 2:
        who = "no group has" if not large else f"only {' '.join(all_groups.levels[large.pop()])} has"
        raise RatingsError(
            f"probe: {who} {min_group} people who answered; two groups are needed: lower min_group or ask more"
        )
    return items


def _rated(source: RatingSource, items: list[AskedQuestion], side: str, name: str, ledger: Ledger) -> dict[str, Rated]:
    """A model's ratings by question, empty if it rates none of them; what is missing enters the ledger."""
    by_question = {each.question.id: source.rated(each.question, each.people) for each in items}
    n, n_missing, n_off = counts_of(by_question.values())
    if n_missing == n:
        ledger.tell(f"ratings {side} attributes, none of what is asked: the model is left out", n, n, name)
        return {}
    beyond = source.questions - by_question.keys()
    ledger.tell(
        f"questions rated {side} attributes that are not asked", len(beyond), len(beyond | by_question.keys()), name
    )
    n_beyond = source.n_given(by_question) - (n - n_missing)
    ledger.tell(f"ratings {side} attributes of people who are not asked", n_beyond, source.n_given(by_question), name)
    ledger.tell(f"ratings {side} attributes that are missing", n_missing, n, name)
    ledger.tell(f"ratings {side} attributes that are off the scale", n_off, n, name)
    return by_question


def _probe_of(groups: Groups, items: list[AskedQuestion], sides: Mapping[str, _ByModel]) -> Probe:
    """The probe with models' ratings, in which people and groups that have members are numbered from 0."""
    numbers = np.unique(np.concatenate([each.groups for each in items]))
    people = np.unique(np.concatenate([each.people for each in items]))
    questions = [
        replace(
            each,
            people=np.searchsorted(people, each.people),
            groups=np.searchsorted(numbers, each.groups),
            with_attributes={name: rated[each.question.id] for name, rated in sides["with"].items() if rated},
            without={name: rated[each.question.id] for name, rated in sides["without"].items() if rated},
        )
        for each in items
    ]
    return Probe(Groups(groups.factors, tuple(groups.levels[group] for group in numbers)), questions)
