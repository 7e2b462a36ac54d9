"""`mono_vs_multi`: do monolingual models agree more with their own country than a multilingual one does?

Raw distances favour models with flatter answer distributions, and the own-country advantage favours sharper ones:
halving a model's logits nearly halves its advantage. Families are compared by a measure that does not depend on
flatness, the own-country agreement. This is the correlation over items between a language's deviations from the mean of
languages and its own country's deviations from the mean of countries, minus the mean correlation with other countries.
Advantage, raw distance and entropy are reported as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.comparing.answer_grid import AnswerGrid, own_country
from valuesassets.comparing.country_distances import UNBIASED, advantages, at_own, divergences_from_countries, of_own
from valuesassets.comparing.hypotheses import RELATIVES, as_test, groupings, tests_table
from valuesassets.comparing.null_answers import null_families
from valuesassets.measure.arrays import Array
from valuesassets.measure.crossed_means import mean_over_crossed
from valuesassets.measure.distances import jsd_distance_of
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.profile_correlation import Paired, centred_on_items, paired, paired_without_each
from valuesassets.measure.relatedness import related_sign_p, share_between
from valuesassets.measure.resampling import means_with_intervals, resample_counts, sign_test_p
from valuesassets.measure.seeding import seeded
from valuesassets.records.study import Study, why_no_people
from valuesassets.records.tables import TABLES

HEADLINE = "own_country_agreement"
MEASURES = {
    HEADLINE: "agreement",
    "own_country_advantage": "advantage",
    "entropy_bits": "entropy_bits",
    "distance_own": "distance_own",
}
"""The measures that are compared, and the stems of their columns in `pairs`."""
CRAMER = UNBIASED["cramer"]
SIGNS = 20_000
"""Draws of correlated signs: they are cheap, and p-values of six languages are hardly ever below .05."""
CAVEAT = (
    "The families differ in size, tokenizer and training data together: a difference between them is not one of "
    "monolingual against multilingual training alone."
)


def derive_mono_vs_multi(grid: AnswerGrid, study: Study) -> dict[str, pd.DataFrame]:
    """The tables `mono_vs_multi/...`: families paired by language over the items that both answered.

    Distances are over the items that people answered too, entropies over all shared items. Null families are left out.
    Without human data only entropies are compared, and with fewer than two languages there is no interval; the notes
    say so.
    """
    grid = grid.of_level()
    families = {
        kind: [n for n in grid.models if study.families[n].model_type == kind and n not in null_families(study)]
        for kind in ("mono", "multi")
    }
    own = own_country(grid, study.countries)
    values = _values(grid, own, study)
    shared_items = {
        (mono, multi): _shared(grid, values["entropy_bits"], mono, multi, study)
        for mono in families["mono"]
        for multi in families["multi"]
    }
    paired_by_language = {
        names: _pairs(grid, values, own, *names, shared, study) for names, shared in shared_items.items()
    }
    rows = [
        {"mono": names[0], "multi": names[1]}
        | _summary(part, measure, _by_item(grid, values, own, measure, shared_items[names]), study)
        | _related(grid, own, part, measure, study)
        for names, part in paired_by_language.items()
        for measure in (*MEASURES, *[CRAMER] * (CRAMER in values))
    ]
    for row in rows:
        if "p_sign_test" in row:
            row["p"] = np.fmax(row["p_sign_test"], row["p_related"])
    test = "{mono} and {multi} differ in how much they agree with their own country"
    statistic = "mean difference of own-country agreements, sign test"
    tests_of_rows = [
        as_test(row, "mono vs multi", test, statistic, "mean_difference", study, n="n_pairs")
        for row in rows
        if row["measure"] == HEADLINE
    ]
    summary, tests = TABLES["mono_vs_multi/summary"].frame(rows), tests_table(tests_of_rows, study)
    summary.loc[summary["measure"] == HEADLINE, "p_corrected"] = tests["p_corrected"].to_numpy()
    notes = [
        CAVEAT,
        f"Intervals of means are {study.inference.level:.0%} intervals for other languages and other items, those of a "
        "language's difference over items. p is from a two-sided sign test over languages, the larger of two p-values: "
        f"one for independent languages, and one that allows for similar languages of one "
        f"{' or one '.join(RELATIVES)} (p_related).",
        "A model with flatter answers is closer to everybody and has a smaller advantage, whatever its answers are. "
        "Agreement, a correlation over items that does not depend on flatness, is therefore tested; advantage, raw "
        "distance and entropy are reported as well.",
        *([] if study.distance == "jsd" else ["Advantages are in squared Cramér distances, corrected for draws."]),
        *grid.why_empty("Jensen-Shannon distances"),
        *grid.notes,
    ]
    if not paired_by_language:
        kinds = " and ".join(f"{len(names)} {kind}" for kind, names in families.items())
        notes.append(f"Nothing to pair: {kinds} families answered; one of each at least is needed.")
    notes += [
        f"{mono} against {multi}: {len(part)} language{'s' * (len(part) != 1)} answered by both kinds of family, two "
        "or more are needed for an interval and a test; materialise more cells of probe_distributions."
        for (mono, multi), part in paired_by_language.items()
        if len(part) < 2
    ]
    if not grid.countries:
        notes.append(why_no_people(study))
    parts = list(paired_by_language.values())
    pairs = pd.concat(parts, ignore_index=True) if parts else TABLES["mono_vs_multi/pairs"].frame([])
    return {"pairs": pairs, "summary": summary, "tests": tests, "notes": pd.DataFrame({"note": notes})}


def _values(grid: AnswerGrid, own: NDArray[np.intp], study: Study) -> Mapping[str, Array]:
    """(C, I) values of the measures, by the stem of their columns."""
    empty = np.full(grid.answers.shape[:2], np.nan)
    values = {"advantage": empty, "distance_own": empty, "entropy_bits": grid.entropy_bits}
    values |= {CRAMER: empty} if study.distance == "cramer" else {}
    if not grid.countries:
        return values
    divergences = divergences_from_countries(grid, study)
    plug_in = jsd_distance_of(grid.answers, at_own(grid.people, own))
    values |= {
        "advantage": of_own(advantages(divergences), own),
        "distance_own": np.where(grid.is_drawn, np.nan, plug_in),
    }
    return values | ({CRAMER: of_own(divergences, own)} if CRAMER in values else {})


def agreements(answers: Array, people: Array, own: NDArray[np.intp]) -> Array:
    """(L,) agreement of each language's answers with its own country minus mean agreement with other countries.

    Agreement is the correlation over items between deviations from the mean of languages and deviations from the mean
    of countries. It hardly changes if all log-odds of a model are halved, and it is 0 if all languages answer alike.

    Args:
        answers: (L, I) expected values of a family, NaN where missing.
        people: (N, I) expected values of the countries.
        own: (L,) index of each language's country; -1 where it has no people.
    """
    return _beyond_others(paired(*_profiles(answers, people, own), is_double=True), own)


def agreements_by_item(answers: Array, people: Array, own: NDArray[np.intp]) -> Array:
    """(L, I) pseudo-values of the items in `agreements`: n times it, less n - 1 times it without the item.

    NaN where the language did not answer the item.
    """
    is_there, n = np.isfinite(answers), np.isfinite(answers).sum(axis=1)
    without = _beyond_others(paired_without_each(*_profiles(answers, people, own), is_double=True), own)
    return np.where(is_there, (n * agreements(answers, people, own) - (n - 1) * without).T, np.nan)


def _profiles(answers: Array, people: Array, own: NDArray[np.intp]) -> tuple[Array, Array]:
    """Centred answers of languages, and of the countries of any of them."""
    return centred_on_items(answers), centred_on_items(people[np.unique(own[own >= 0])])


def _beyond_others(sums: Paired, own: NDArray[np.intp]) -> Array:
    """(..., L) correlations with the own country minus the mean of those with others."""
    with_people = np.unique(own[own >= 0])
    rows, columns = np.indices((own.size, with_people.size))
    r = sums.correlation((rows[..., None], columns[..., None]))
    r = np.where(np.isnan(r) & (sums.sums[0] > 1), 0.0, r)  # shared items that do not vary
    is_own = own[:, None] == with_people
    nearest, others = (mean_of_known(np.where(chosen, r, np.nan)) for chosen in (is_own, ~is_own))
    return nearest - others


@dataclass(frozen=True)
class _Shared:
    """What two families both answered.

    Attributes:
        languages: L codes of languages that both answered.
        cells: places of their cells in the grid, (L,) of each kind of family.
        items: (L, I) whether both answered the item.
    """

    languages: list[str]
    cells: Mapping[str, NDArray[np.intp]]
    items: NDArray[np.bool_]

    def differences(self, by_kind: Mapping[str, Array]) -> Array:
        """(L, I) values of the mono family minus those of the multi family, NaN where an item is not shared."""
        return np.where(self.items, by_kind["mono"] - by_kind["multi"], np.nan)


def _shared(grid: AnswerGrid, entropies: Array, mono: str, multi: str, study: Study) -> _Shared:
    places = {kind: grid.places(model) for kind, model in (("mono", mono), ("multi", multi))}
    both = [language for language in study.languages if all(language in cells for cells in places.values())]
    sides = {kind: np.array([cells[code] for code in both], dtype=np.intp) for kind, cells in places.items()}
    items = np.isfinite(entropies[sides["mono"]] + entropies[sides["multi"]])
    has_any = np.asarray(items.any(axis=1))
    languages = [code for code, is_any in zip(both, has_any, strict=True) if is_any]
    return _Shared(languages, {kind: cells[has_any] for kind, cells in sides.items()}, items[has_any])


def _answers(grid: AnswerGrid, shared: _Shared, kind: str) -> Array:
    """(L, I) expected answers of a kind of family to the shared items."""
    return np.where(shared.items, grid.scales.expected_unit(grid.answers[shared.cells[kind]]), np.nan)


def _by_item(
    grid: AnswerGrid, values: Mapping[str, Array], own: NDArray[np.intp], measure: str, shared: _Shared
) -> Array:
    """(L, I) what each item gives to the difference of the families in each language."""
    if measure != HEADLINE:
        by_item = values[MEASURES.get(measure, measure)]
        return shared.differences({kind: by_item[cells] for kind, cells in shared.cells.items()})
    if not grid.countries or not shared.languages:
        return np.full(shared.items.shape, np.nan)
    people = grid.scales.expected_unit(grid.people)
    return shared.differences(
        {
            kind: agreements_by_item(_answers(grid, shared, kind), people, own[cells])
            for kind, cells in shared.cells.items()
        }
    )


def _pairs(
    grid: AnswerGrid,
    values: Mapping[str, Array],
    own: NDArray[np.intp],
    mono: str,
    multi: str,
    shared: _Shared,
    study: Study,
) -> pd.DataFrame:
    """One row per language in which both families answered a common item."""
    both, sides = shared.languages, shared.cells
    random = seeded(study.seed, "mono_vs_multi", "items", mono, multi)
    counts = resample_counts(len(grid.items), study.inference.resamples, random)
    columns: dict[str, Any] = {"language": both, "country": [study.countries[code] for code in both]}
    columns |= {"mono": mono, "multi": multi} | {
        f"{stem}_{kind}": mean_of_known(np.where(shared.items, by_item[rows], np.nan))
        for stem, by_item in values.items()
        for kind, rows in sides.items()
    }
    people, none = grid.scales.expected_unit(grid.people), np.full(len(both), np.nan)
    for kind, rows in sides.items():
        is_known = grid.countries and both
        columns[f"agreement_{kind}"] = agreements(_answers(grid, shared, kind), people, own[rows]) if is_known else none
    differences = values["advantage"][sides["mono"]] - values["advantage"][sides["multi"]]
    difference = means_with_intervals(differences, counts, study.inference.level)
    n_items = {"n_items": shared.items.sum(axis=1), "n_items_people": difference.n}
    table = pd.DataFrame(columns | difference.columns("difference") | n_items)
    return table.reindex(columns=TABLES["mono_vs_multi/pairs"].schema_with(table.columns).names)


def _summary(pairs: pd.DataFrame, measure: str, by_item: Array, study: Study) -> dict[str, Any]:
    stem, level = MEASURES.get(measure, measure), study.inference.level
    all_differences = (pairs[f"{stem}_mono"] - pairs[f"{stem}_multi"]).to_numpy(dtype=float)
    is_known = np.isfinite(all_differences)
    differences = all_differences[is_known]
    mean = mean_over_crossed(differences, by_item[is_known], level)
    row = {"measure": measure, "mean_difference": mean.mean, "low": mean.low, "high": mean.high, "level": level}
    row |= {"n_pairs": differences.size, "source_of_variation": "languages and items", "note": None}
    if differences.size < 2:
        return row | {"note": f"{differences.size} pairs: no interval"}
    if not np.isfinite(mean.low):
        return row | {"note": "fewer than two items: no interval"}
    if not differences.any():
        return row | {"note": "no difference at all"}
    return row | ({"p_sign_test": sign_test_p(differences)} if measure == HEADLINE else {})


def _related(
    grid: AnswerGrid, own: NDArray[np.intp], pairs: pd.DataFrame, measure: str, study: Study
) -> dict[str, float]:
    """The largest p-value of the sign test over groupings into related languages, whose differences are correlated.

    The correlation of two related languages' differences is the product of two shares of variance between groups: that
    of the difference of the families, and that of the countries.
    """
    complete = pairs.dropna(subset=["agreement_mono", "agreement_multi"])
    differences = (complete["agreement_mono"] - complete["agreement_multi"]).to_numpy(dtype=float)
    if measure != HEADLINE or len(complete) < 2 or not differences.any():
        return {}
    names, languages = (str(complete[kind].iloc[0]) for kind in ("mono", "multi")), complete["language"].tolist()
    mono, multi = (np.array([grid.places(name)[language] for language in languages], dtype=np.intp) for name in names)
    answers, people = (grid.scales.expected_unit(each) for each in (grid.answers, grid.people))
    family_differences = centred_on_items(answers[mono] - answers[multi])
    country_profiles = centred_on_items(people[own[mono]])
    p_values = []
    for kind, groups in groupings(languages, study).items():
        shared = share_between(family_differences, groups) * share_between(country_profiles, groups)
        random = seeded(study.seed, "mono_vs_multi", "signs", kind)
        p_values.append(related_sign_p(differences, groups, shared, SIGNS, random))
    return {"p_related": max(p_values, default=np.nan)}
