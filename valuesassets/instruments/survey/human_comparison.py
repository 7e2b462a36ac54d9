"""`survey/human_comparison`: how far each cell's answers are from its own country's, beside the nulls."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from valuesassets.instruments.survey.cell_answers import (
    Answer,
    Answered,
    always_first,
    answers_by_cell,
    answers_by_country,
    apart,
    of_level,
    pooled,
)
from valuesassets.instruments.survey.human_distributions import why_no_people
from valuesassets.measure import distances
from valuesassets.measure.resampling import bootstrap_interval
from valuesassets.measure.summaries import uniform_like
from valuesassets.records.distribution import Distribution
from valuesassets.records.study import Study

UNIFORM, ALWAYS_FIRST, OTHERS = "uniform answers", "always the first option", "pooled other countries"
QUESTION_COLUMNS = ["kind", "model", "language", "country", "question_id", "response_type", "w1_unit", "tvd"]
QUESTION_COLUMNS += ["jsd_bits", "jsd_distance", "kl_bits", "source"]


@dataclass(frozen=True)
class HumanComparison:
    """Answers against those of the language's own country. List items asked as statements are left out.

    Attributes:
        questions: one row per (cell or null baseline, question): W1 (null for categorical questions), total variation,
            Jensen-Shannon divergence in bits and its distance, KL(human || model) in bits.
        cells: their means over items with bootstrap intervals over items, and the rank of the own country among all.
        by_response_type: means per cell and response type.
        notes: sentences that belong beside the tables; what is missing and why.
    """

    questions: pd.DataFrame
    cells: pd.DataFrame
    by_response_type: pd.DataFrame
    notes: pd.DataFrame

    def frames(self) -> dict[str, pd.DataFrame]:
        """The tables by name."""
        return {
            "questions": self.questions,
            "cells": self.cells,
            "by_response_type": self.by_response_type,
            "notes": self.notes,
        }


def derive_human_comparison(answers: pd.DataFrame, human: pd.DataFrame, study: Study) -> HumanComparison:
    """Every cell beside its own country's people; empty tables with a note where there are no human data.

    Args:
        answers: as `usable_answers` gives them.
        human: rows of `HUMAN_DISTRIBUTIONS`.
    """
    countries = answers_by_country(human)
    if not countries:
        empty = pd.DataFrame(columns=pd.Index(QUESTION_COLUMNS))
        return HumanComparison(empty, pd.DataFrame(), pd.DataFrame(), pd.DataFrame({"note": [why_no_people(study)]}))
    cells = {cell: of_level(found) for cell, found in answers_by_cell(answers).items()}
    source = ", ".join(sorted(set(human["source"])))
    rows, summaries, notes = [], [], []
    compared = [("model", *cell, found) for cell, found in cells.items()]
    compared += [("null", *null) for null in _nulls(cells, countries, study)]
    for kind, model, language, found in compared:
        country = study.languages[language].country
        own = countries.get(country, {})
        label = {"kind": kind, "model": model, "language": language, "country": country}
        questions = [
            label | {"question_id": question_id} | _measured(answer, own[question_id]) | {"source": source}
            for question_id, answer in found.items()
            if question_id in own and np.array_equal(answer.distribution.values, own[question_id].values)
        ]
        if not questions:
            notes.append(f"{model}/{language}: no item shared with the people of {country}.")
            continue
        rows += questions
        summaries.append(
            label | _summary(pd.DataFrame(questions), found, countries, country, study) | {"source": source}
        )
    table = pd.DataFrame(rows, columns=pd.Index(QUESTION_COLUMNS))
    notes.append(
        "Intervals are 95% bootstrap intervals over items; list items asked as statements are left out; "
        f"KL smooths the model's answer with a share of {distances.KL_SMOOTHING:g} of a uniform one."
    )
    by_type = (
        table[table["kind"] == "model"]
        .groupby(["model", "language", "response_type"], sort=False)
        .agg(n_items=("question_id", "size"), w1_unit=("w1_unit", "mean"), jsd_distance=("jsd_distance", "mean"))
        .reset_index()
    )
    return HumanComparison(table, pd.DataFrame(summaries), by_type, pd.DataFrame({"note": notes}))


def _nulls(
    cells: Mapping[tuple[str, str], Answered], countries: Mapping[str, Mapping[str, Distribution]], study: Study
) -> Iterator[tuple[str, str, Answered]]:
    """Answers without content, and those of the other countries, for every language and its items."""
    for language in dict.fromkeys(language for _, language in cells):
        asked = {q: a for (_, of), found in cells.items() if of == language for q, a in found.items()}
        others = pooled({name: found for name, found in countries.items() if name != study.languages[language].country})
        yield UNIFORM, language, {q: _with(a, uniform_like(a.distribution)) for q, a in asked.items()}
        yield ALWAYS_FIRST, language, {q: _with(a, always_first(q, a.distribution)) for q, a in asked.items()}
        if others:
            yield OTHERS, language, {q: _with(a, others[q]) for q, a in asked.items() if q in others}


def _with(answer: Answer, found: Distribution) -> Answer:
    return Answer(answer.response_type, answer.is_converted, found)


def _measured(answer: Answer, own: Distribution) -> dict[str, object]:
    found = answer.distribution
    return {
        "response_type": answer.response_type,
        "w1_unit": distances.wasserstein1_unit(found, own) if answer.is_ordinal else np.nan,
        "tvd": distances.tvd(found, own),
        "jsd_bits": distances.jsd_bits(found, own),
        "jsd_distance": distances.jsd_distance(found, own),
        "kl_bits": distances.kl_bits(own, found),
    }


def _summary(
    questions: pd.DataFrame,
    found: Answered,
    countries: Mapping[str, Mapping[str, Distribution]],
    country: str,
    study: Study,
) -> dict[str, object]:
    """Means over items with their intervals, and where the own country ranks among all (1: the nearest)."""
    summary: dict[str, object] = {"n_items": len(questions)}
    for measure in ("w1_unit", "jsd_distance"):
        sample = questions[measure].dropna().to_numpy()
        interval = bootstrap_interval(sample, study.seed, "items") if len(sample) > 1 else None
        summary[measure] = float(sample.mean()) if len(sample) else np.nan
        summary[f"{measure}_low"] = interval.low if interval else np.nan
        summary[f"{measure}_high"] = interval.high if interval else np.nan
    summary["kl_bits"] = float(questions["kl_bits"].mean())
    far = {name: apart(found, answered).jsd_distance for name, answered in countries.items()}
    known = {name: distance for name, distance in far.items() if distance is not None}
    return summary | {
        "own_country_rank": 1 + sum(distance < known[country] for distance in known.values()),
        "n_countries": len(known),
        "nearest_country": min(known, key=lambda name: known[name]),
    }
