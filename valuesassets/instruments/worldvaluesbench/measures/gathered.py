"""People's answers and models' ratings gathered side by side, question by question: what scores are computed of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Floats, Groups, Probe, Rated
from valuesassets.instruments.worldvaluesbench.answers.rating_sources import Given, RatingSource
from valuesassets.instruments.worldvaluesbench.answers.ratings_files import Scores
from valuesassets.instruments.worldvaluesbench.material.backgrounds import FACTORS
from valuesassets.instruments.worldvaluesbench.material.probe_samples import NOT_ASKED, People, resolve_people
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion, load_value_questions
from valuesassets.instruments.worldvaluesbench.measures.large_groups import in_large_groups
from valuesassets.instruments.worldvaluesbench.measures.rating_orders import rating_orders
from valuesassets.instruments.worldvaluesbench.tables import RATING_ORDERS
from valuesassets.records.errors import RatingsError
from valuesassets.records.frames import column
from valuesassets.records.settings.measuring import Thresholds

LEAST_GROUP = 2
"""Fewer people of a group say nothing about their spread."""
_ByModel = dict[str, dict[str, Rated]]


@dataclass
class Ledger:
    """What was left out or could not be used, and how often; and what each model's ratings follow."""

    rows: list[dict[str, object]] = field(default_factory=list)
    orders: list[dict[str, Any]] = field(default_factory=list)
    """Rows of `RATING_ORDERS`, one of each file of ratings or family that was asked with attributes."""

    def tell(self, what: str, n: int, of: int, model: str = "", question_id: str = "") -> None:
        """Add a line, where there is anything to tell."""
        if n > 0:
            self.rows.append({"what": what, "model": model, "question_id": question_id, "n": int(n), "of": int(of)})

    def frame(self) -> pd.DataFrame:
        """All lines: `what, model, question_id, n, of`; no model or question: it concerns all."""
        return pd.DataFrame(self.rows, columns=pd.Index(["what", "model", "question_id", "n", "of"]))

    def orders_frame(self) -> pd.DataFrame:
        """The table `RATING_ORDERS`."""
        return RATING_ORDERS.frame(self.orders)


def gather_probe(
    dataset: People,
    samples: pd.DataFrame,
    ratings: Mapping[str, Given],
    without: Mapping[str, Given] | None = None,
    min_group: int = 5,
    rules: Thresholds | None = None,
) -> tuple[Probe, Ledger]:
    """The probe's people, grouped and weighted, with their answers and what each model says for them.

    Distributions of too low a P_valid are left out, and models whose ratings follow position alone; the ledger tells
    both.

    Args:
        samples: who is asked what (`probe_samples`).
        ratings, without: by model, files or frames of ratings that were asked for with attributes, and without.
        min_group: people who answered that a group needs in a question to be compared; smaller ones are told, and
            `large_groups` leaves them out.
        rules: thresholds of a study; what they are where a study names none.

    Raises:
        RatingsError: as `read_ratings`; a person or profile that is not in the data set; a file without attributes
            that names some; no model rates anything that is asked; fewer than two groups.
    """
    if min_group < LEAST_GROUP:
        raise RatingsError(
            f"min_group: found {min_group}, {LEAST_GROUP} or more was expected: one person has no spread"
        )
    people, ledger, sources, rules = dataset.participants, Ledger(), list[str](), rules or Thresholds()
    rows = _Rows.of(people, samples, ledger)
    ledger.tell("rows of the file of samples that are of questions not asked", *samples.attrs.get(NOT_ASKED, (0, 0)))
    asked = _with_answers(dataset, rows, min_group, ledger)
    sides: dict[str, _ByModel] = {"with": {}, "without": {}}
    for side, files in (("with", ratings), ("without", without or {})):
        for name, given in files.items():  # one after the other: a file may hold millions of ratings
            known = load_value_questions()
            source = RatingSource.read(given, name, side == "without", known, people, rules.p_valid_question)
            if not _is_evidence(source, side, name, rules, ledger):
                continue
            sources.append(source.given.source)
            sides[side][name] = _rated(source, asked, side, name, ledger)
            if side == "with" and (also := source.without_attributes()) and name not in (without or {}):
                sides["without"][name] = _rated(also, asked, "without", name, ledger)
            told = "questions without an answer without attributes: those of others are not used"
            if side == "with" and name not in (without or {}):
                ledger.tell(told, len(source.one_sided), len(source.questions), name)
    if sources and not any(sides["with"].values()):
        raise RatingsError(f"{sources[0]}: rates nothing that is asked; is it of this probe?")
    return _probe_of(rows.groups, asked, people["weight"].to_numpy(float), sides), ledger


def _is_evidence(source: RatingSource, side: str, name: str, rules: Thresholds, ledger: Ledger) -> bool:
    """Whether scores may rest on a model's ratings, as far as their file tells; what it tells goes into the ledger."""
    orders = rating_orders(name, source.given, rules)
    if side == "with":
        ledger.orders.append(orders)
    n_low = 0 if isinstance(source.given, Scores) else source.given.n_low_p_valid
    told = f"prompts {side} attributes whose P_valid is below {rules.p_valid_question:g}: not used"
    ledger.tell(told, n_low, orders["n_prompts"], name)
    if orders["is_evidence"] is not False:
        return True
    n = orders["n_prompts"]
    why = "they follow position, or do not come back once the options are reversed"
    ledger.tell(f"ratings {side} attributes: not used, as {why}", n, n, name)
    return False


@dataclass(frozen=True)
class _Asked:
    """One question and those who are asked it: places in the data set, groups, answers."""

    question: ValueQuestion
    places: NDArray[np.int64]
    groups: NDArray[np.int64]
    answers: Floats


@dataclass(frozen=True)
class _Rows:
    """Samples as numbers: places of people in the data set, row by row, and by question with their groups."""

    groups: Groups
    places: NDArray[np.int64]
    by_question: dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]]

    @classmethod
    def of(cls, people: pd.DataFrame, samples: pd.DataFrame, ledger: Ledger) -> "_Rows":
        resolve_people("probe", column(samples, "participant_id"), people)
        place = pd.Series(np.arange(len(people)), index=people["participant_id"])
        ids = samples["participant_id"].astype("category")
        places = place.reindex(ids.cat.categories).to_numpy(float)[ids.cat.codes.to_numpy()].astype(np.int64)
        groups = np.zeros(len(samples), dtype=np.int64)
        unknown, differs = np.zeros((2, len(samples)), dtype=bool)
        for factor, levels in FACTORS.items():
            codes = pd.Categorical(samples[factor], categories=list(levels)).codes.astype(np.int64)
            unknown |= codes < 0
            differs |= pd.Categorical(people[factor], categories=list(levels)).codes[places] != codes
            groups = groups * len(levels) + codes
        if unknown.any():
            raise RatingsError(
                f"probe: row {int(np.flatnonzero(unknown)[0]) + 1}: level of no group; give each person's"
            )
        ledger.tell("rows of the probe whose group is not that of the person's codes", differs.sum(), len(samples))
        found, groups = np.unique(groups, return_inverse=True)
        shape = [len(levels) for levels in FACTORS.values()]
        numbers = np.stack(np.unravel_index(found, shape), axis=1)
        levels = tuple(
            tuple(named[number] for named, number in zip(FACTORS.values(), row, strict=True)) for row in numbers
        )
        asked, ids_of = pd.factorize(samples["question_id"])
        order = np.argsort(asked, kind="stable")
        parts = np.split(order, np.searchsorted(asked[order], np.arange(1, len(ids_of))))
        by_question = {
            str(name): (places[part], groups[part]) for name, part in zip(ids_of, parts, strict=True) if part.size
        }
        return cls(Groups(tuple(FACTORS), levels), places, by_question)


def _with_answers(dataset: People, rows: _Rows, min_group: int, ledger: Ledger) -> list[_Asked]:
    """People with their answers; groups that are too small to be compared are told."""
    questions, asked, large = load_value_questions(), [], set[int]()
    for question_id, (places, groups) in rows.by_question.items():
        question = questions[question_id]
        answers = dataset.value_answers[question_id].to_numpy(float, na_value=np.nan)[places]
        answers[~((answers >= question.lo) & (answers <= question.hi))] = np.nan
        is_large = in_large_groups(groups, answers, min_group, len(rows.groups.levels))
        told = f"people in groups of fewer than {min_group} who answered"
        ledger.tell(told, (~is_large).sum(), is_large.size, "", question_id)
        ledger.tell("people without an answer", np.isnan(answers).sum(), answers.size, "", question_id)
        if np.isfinite(answers).any():
            asked.append(_Asked(question, places, groups, answers))
        large |= set(groups[is_large].tolist())
    if len(large) < 2:
        who = "no group has" if not large else f"only {' '.join(rows.groups.levels[large.pop()])} has"
        raise RatingsError(
            f"probe: {who} {min_group} people who answered; two groups are needed: lower min_group or ask more"
        )
    return asked


def _rated(source: RatingSource, asked: list[_Asked], side: str, name: str, ledger: Ledger) -> dict[str, Rated]:
    """What a model says to each question, and a word about what is missing; nothing where it rates none of them."""
    found = {each.question.id: source.rated(each.question, each.places) for each in asked}
    n, n_missing, n_off = (
        sum(each)
        for each in zip(*((len(each.probs), each.n_missing, each.n_off_scale) for each in found.values()), strict=True)
    )
    if n_missing == n:
        ledger.tell(f"ratings {side} attributes, none of what is asked: the model is left out", n, n, name)
        return {}
    beyond = source.questions - found.keys()
    ledger.tell(f"questions rated {side} attributes that are not asked", len(beyond), len(beyond | found.keys()), name)
    n_beyond = source.n_given(found) - (n - n_missing)
    ledger.tell(f"ratings {side} attributes of people who are not asked", n_beyond, source.n_given(found), name)
    ledger.tell(f"ratings {side} attributes that are missing", n_missing, n, name)
    ledger.tell(f"ratings {side} attributes that are off the scale", n_off, n, name)
    return found


def _probe_of(groups: Groups, asked: list[_Asked], weights: Floats, sides: Mapping[str, _ByModel]) -> Probe:
    """The probe; groups that anybody is in and people are numbered from 0."""
    found = np.unique(np.concatenate([each.groups for each in asked]))
    people = np.unique(np.concatenate([each.places for each in asked]))
    questions = [
        AskedQuestion(
            each.question,
            np.searchsorted(people, each.places),
            np.searchsorted(found, each.groups),
            weights[each.places],
            each.answers,
            {name: rated[each.question.id] for name, rated in sides["with"].items() if rated},
            {name: rated[each.question.id] for name, rated in sides["without"].items() if rated},
        )
        for each in asked
    ]
    return Probe(Groups(groups.factors, tuple(groups.levels[group] for group in found)), questions)
