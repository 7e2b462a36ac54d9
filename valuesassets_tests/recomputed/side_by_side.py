"""Tables that lay families of both kinds side by side, language by language."""

import itertools
import math

import numpy as np
import pandas as pd

from valuesassets_tests.recomputed.basics import DRAWS, drawn_items, drawn_means, entropy_bits, jsd, mean_of, sign_test
from valuesassets_tests.recomputed.beside_people import advantages, bits_to_countries
from valuesassets_tests.recomputed.checking import Check
from valuesassets_tests.recomputed.grid import LEVEL, Study
from valuesassets_tests.recomputed.related import groups_of, related_sign_p, share_between
from valuesassets_tests.recomputed.testing import check_tests, holm_in_families


def of_mono_and_multi(study: Study, check: Check) -> None:
    """`mono_vs_multi/...`: both kinds of family paired by language, over the items that both answered."""
    grid = study.grid
    answers = grid.in_level
    far = np.stack([jsd(answers, people) for people in grid.people], axis=1)
    at = np.arange(len(grid.cells))
    values = {
        "advantage": advantages(bits_to_countries(answers, far, grid))[at, grid.own],
        "distance_own": far[at, grid.own],
    }
    values["entropy_bits"] = entropy_bits(answers)
    kinds = dict(study.labels[["model", "model_type"]].drop_duplicates().itertuples(index=False))
    named = [[name for name in grid.models if kinds[name] == kind] for kind in ("mono", "multi")]
    counts, rows, drawn = drawn_items(len(grid.items), np.random.default_rng(31)), [], []
    for mono, multi in itertools.product(*named):
        sides = [{grid.cells[place][1]: place for place in grid.of(name)} for name in (mono, multi)]
        both = [code for code in study.languages if all(code in side for side in sides)]
        cells = [[side[code] for code in both] for side in sides]
        shared = np.isfinite(values["entropy_bits"][cells[0]] + values["entropy_bits"][cells[1]])
        part = pd.DataFrame({"language": both, "mono": mono, "multi": multi})
        for kind, places in zip(("mono", "multi"), cells, strict=True):
            for name, by_item in values.items():
                part[f"{name}_{kind}"] = mean_of(np.where(shared, by_item[places], np.nan))
            expected = np.where(shared, grid.expected(answers[places]), np.nan)
            part[f"agreement_{kind}"] = _agreements(expected, grid.expected(grid.people), grid.own[places])
        apart = values["advantage"][cells[0]] - values["advantage"][cells[1]]
        part["difference"], part["n_items_people"] = mean_of(apart), np.isfinite(apart).sum(axis=1)
        part["n_items"] = shared.sum(axis=1)
        rows.append(part)
        drawn.append(drawn_means(apart, counts))
    pairs = pd.concat(rows, ignore_index=True)
    keys, table = ["language", "mono", "multi"], "mono_vs_multi/pairs"
    check.equal(table, keys, pairs)
    check.ends(table, keys, pairs, "difference", np.concatenate(drawn, axis=1), pairs["n_items_people"])
    _summary(study, pairs, check)


def _agreements(answers: np.ndarray, people: np.ndarray, own: np.ndarray) -> np.ndarray:
    """(L,) correlation of what sets a language apart with what sets its country apart, less the mean with others."""
    there = np.unique(own)
    a, b = answers - mean_of(answers, axis=0), people[there] - mean_of(people[there], axis=0)
    found = []
    for language, country in enumerate(own):
        r = []
        for other in range(len(there)):
            known = np.isfinite(a[language]) & np.isfinite(b[other])
            r.append(np.corrcoef(a[language, known], b[other, known])[0, 1])
        is_own = there == country
        found.append(np.array(r)[is_own].mean() - np.array(r)[~is_own].mean())
    return np.array(found)


def _related(study: Study, part: pd.DataFrame, mono: str, multi: str, differences: np.ndarray, random) -> float:
    """The sign test's largest p that allows for related languages, whose shares of variance are the families' and the
    countries' own."""
    grid, languages = study.grid, list(part["language"])
    at = [[grid.cells.index((name, code)) for code in languages] for name in (mono, multi)]
    expected, people = grid.expected(grid.in_level), grid.expected(grid.people)[grid.own[at[0]]]
    apart, found = expected[at[0]] - expected[at[1]], []
    for groups in groups_of(study, languages):
        share = math.prod(share_between(_of_items(each), groups) for each in (apart, people))
        found.append(related_sign_p(differences, groups, share, DRAWS, random))
    return max(found, default=np.nan)


def _of_items(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values).sum(axis=0) > 1, values - mean_of(values, axis=0), np.nan)


def _summary(study: Study, pairs: pd.DataFrame, check: Check) -> None:
    table, keys, random = "mono_vs_multi/summary", ["mono", "multi", "measure"], np.random.default_rng(32)
    rows, drawn, tests = [], [], []
    stems = {"own_country_agreement": "agreement", "own_country_advantage": "advantage"}
    stems |= {"entropy_bits": "entropy_bits", "distance_own": "distance_own"}
    for (mono, multi), part in pairs.groupby(["mono", "multi"]):
        for measure, stem in stems.items():
            differences = (part[f"{stem}_mono"] - part[f"{stem}_multi"]).dropna().to_numpy()
            n = differences.size
            row = {
                "mono": mono,
                "multi": multi,
                "measure": measure,
                "mean_difference": differences.mean(),
                "n_pairs": n,
            }
            row |= {"level": LEVEL, "p_sign_test": np.nan, "p_related": np.nan}
            drawn.append(differences[random.integers(0, n, (DRAWS, n))].mean(axis=1))
            if stem == "agreement":
                row["p_sign_test"] = sign_test(differences)
                row["p_related"] = _related(study, part, mono, multi, differences, random)
                test = f"{mono} and {multi} differ in how much they agree with their own country"
                statistic = "mean difference of own-country agreements, sign test"
                tests.append({"test_family": "mono vs multi", "test": test, "statistic": statistic, "n": n})
                tests[-1] |= {"value": row["mean_difference"], "p": np.fmax(row["p_sign_test"], row["p_related"])}
            rows.append(row)
    own = pd.DataFrame(rows)
    stored = check.stored(table)
    decides = np.fmax(stored["p_sign_test"].astype(float), stored["p_related"].astype(float))
    after = stored[keys].assign(p_corrected=holm_in_families(decides, ["one"] * len(stored)))
    check.equal(table, keys, own.drop(columns="p_related"))
    check.equal(table, keys, after)
    own["p"] = np.fmax(own["p_sign_test"], own["p_related"])
    for name in ("p_related", "p"):
        check.p(table, keys, own, name, DRAWS)
    check.ends(table, keys, own, "", np.stack(drawn, axis=1), own["n_pairs"], ("low", "high"))
    check_tests(check, "mono_vs_multi/tests", tests, DRAWS)
