"""Made-up tables of the analyses, as the instrument's files give them, for figures and reports."""

import numpy as np
import pandas as pd

from valuesassets_tests.figures.made_up import COUNTRIES, DEMO, FAMILIES, ZONES


def pairs_frame(languages=None, families=None, seed=2):
    """Distances.pairs: every ordered pair of cells, the cells being points in a plane."""
    rng = np.random.default_rng(seed)
    cells = [(model, language) for model in (families or FAMILIES) for language in languages or DEMO]
    places = rng.normal(size=(len(cells), 2)) * 0.12
    return pd.DataFrame(
        [
            {
                "model_a": a[0],
                "language_a": a[1],
                "model_b": b[0],
                "language_b": b[1],
                "jsd_distance": float(np.hypot(*(places[i] - places[j]))),
                "n_items": 28 + (i + j) % 3,
                "w1_unit": 0.1,
                "n_items_w1": 20,
            }
            for i, a in enumerate(cells)
            for j, b in enumerate(cells)
        ]
    )


def mono_multi_frames(languages=None, families=None, seed=3):
    """MonoVsMulti.pairs and .summary."""
    rng = np.random.default_rng(seed)
    mono, multi = families or FAMILIES
    rows = []
    for language in languages or DEMO:
        advantage, agreement = rng.normal(0.03, 0.02, 2), rng.uniform(0.1, 0.7, 2)
        rows.append(
            {
                "language": language,
                "country": COUNTRIES[language],
                "mono": mono,
                "multi": multi,
                "agreement_mono": agreement[0],
                "agreement_multi": agreement[1],
                "advantage_mono": advantage[0],
                "advantage_multi": advantage[1],
                "difference": advantage[0] - advantage[1],
                "entropy_bits_mono": rng.uniform(1.2, 1.8),
                "entropy_bits_multi": rng.uniform(1.4, 2.0),
                "distance_own_mono": rng.uniform(0.1, 0.2),
                "distance_own_multi": rng.uniform(0.1, 0.2),
                "n_items": 28,
            }
        )
    pairs = pd.DataFrame(rows)
    summary = pd.DataFrame(
        [
            {
                "mono": mono,
                "multi": multi,
                "measure": measure,
                "mean_difference": 0.012,
                "low": -0.004,
                "high": 0.031,
                "p_sign_test": 0.219,
                "n_pairs": len(pairs),
                "level": 0.95,
                "source_of_variation": "languages",
            }
            for measure in ("own_country_agreement", "own_country_advantage", "entropy_bits", "distance_own")
        ]
    )
    return pairs, summary


def map_frame(languages=None, families=None, seed=5, source="planted", hollow=("fra", "lvs"), absent=()):
    """place_on_map: models, published and respondents' countries, content-free and pooled points."""
    rng = np.random.default_rng(seed)
    languages = languages or DEMO
    centres = {
        "Orthodox": (-0.3, 0.4),
        "Catholic": (0.8, 0.6),
        "Protestant": (3.0, 1.5),
        "English-Speaking": (3.1, 1.1),
    }
    country_places = {
        country: np.array(centres[zone.removesuffix(" Europe")]) + rng.normal(0, (0.6, 0.35))
        for country, zone in ZONES.items()
    }
    blank = dict.fromkeys(
        ("model", "language", "country", "zone", "is_distinguishable", "note", "missing",
         "x_low", "x_high", "y_low", "y_high", "distance_from_content_free", "distance_low", "distance_high")
    )  # fmt: skip
    rows = []

    def add(kind, label, place, width=None, **more):
        interval = {}
        if width is not None:
            interval = {
                "x_low": place[0] - width,
                "x_high": place[0] + width,
                "y_low": place[1] - width * 0.7,
                "y_high": place[1] + width * 0.7,
            }
        rows.append(
            blank
            | {"kind": kind, "label": label, "x": place[0], "y": place[1], "residual_sd_x": 0.16, "residual_sd_y": 0.17}
            | {"n_indicators": 10, "drawn": True, "source": "none"}
            | interval
            | more
        )

    for country, place in country_places.items():
        add("published", country, place, country=country, zone=ZONES[country], source="published")
    for language in languages if source == "planted" else ():
        place = country_places[COUNTRIES[language]] + rng.normal(0, 0.15, 2)
        add("human", COUNTRIES[language], place, 0.08, country=COUNTRIES[language], source=source)
    for model in families or FAMILIES:
        for language in languages:
            place = np.array([0.9, 1.3]) + rng.normal(0, (0.55, 0.35))
            is_absent = language in absent
            add("model", f"{model} {language}", place, rng.uniform(0.05, 0.2), model=model, language=language,
                country=COUNTRIES[language], source="model", is_distinguishable=language not in hollow,
                drawn=not is_absent, n_indicators=4 if is_absent else 10,
                note="fewer than 6 indicators" if is_absent else None)  # fmt: skip
    add("content_free", "uniform answers", (0.5, 2.0))
    add("content_free", "always the first option", (0.9, 1.6))
    add("pooled_human", "all countries together", (0.95, 0.8), 0.04, source=source)
    return pd.DataFrame(rows)


def mds_frame(languages=None, families=None, seed=6):
    """Distances.points."""
    rng = np.random.default_rng(seed)
    cells = [(model, language) for model in families or FAMILIES for language in languages or DEMO]
    places = rng.normal(0, 0.2, (len(cells), 2))
    return pd.DataFrame(
        [
            {"model": m, "language": lang, "x": x, "y": y, "stress": 0.087, "n_cells": len(cells)}
            for (m, lang), (x, y) in zip(cells, places, strict=True)
        ]
    )


def comparison_frames(languages=None, families=None, seed=7):
    """HumanComparison: cells with null rows, and by response type."""
    rng = np.random.default_rng(seed)
    cells, kinds = [], []
    for language in languages or DEMO:
        models = [("model", family) for family in families or FAMILIES] + [("null", "uniform answers")]
        for kind, model in models:
            w1, jsd = rng.uniform(0.1, 0.2), rng.uniform(0.2, 0.4)
            cells.append(
                {
                    "kind": kind,
                    "model": model,
                    "language": language,
                    "country": COUNTRIES[language],
                    "n_items": 28,
                    "w1_unit": w1,
                    "w1_unit_low": w1 - 0.02,
                    "w1_unit_high": w1 + 0.02,
                    "jsd_distance": jsd,
                    "own_country_rank": 2,
                    "n_countries": 6,
                    "nearest_country": "FR",
                    "source": "planted",
                }
            )
            kinds.append(
                {"model": model, "language": language, "response_type": "likert4", "n_items": 5, "w1_unit": w1}
            )
    return {"cells": pd.DataFrame(cells), "by_response_type": pd.DataFrame(kinds)}


def statistics_frame(probe):
    """item_statistics."""
    asked = probe[probe["status"] == "ok"].drop_duplicates(["model", "language", "question_id"])
    frame = asked[["model", "language", "question_id", "response_type"]].copy()
    is_categorical = frame["response_type"] == "categorical"
    return frame.assign(
        expected_value=np.where(is_categorical, np.nan, 2.25), entropy_bits=1.5, mode=2, is_near_uniform=False
    )


def own_country_frames(languages=None, families=None, seed=9):
    """HumanComparison: cells with advantages and ranks, nulls among them, and the families' means."""
    rng = np.random.default_rng(seed)
    languages, names = languages or DEMO, list(families or FAMILIES)
    rows = []
    for language in languages:
        for name in [*names, "uniform answers", "always the first option"]:
            middle = rng.normal(0.05 if name in names else 0.0, 0.02)
            rows.append(
                {
                    "kind": "model" if name in names else "null",
                    "model": name,
                    "language": language,
                    "country": COUNTRIES[language],
                    "own_country_advantage": middle,
                    "own_country_advantage_low": middle - 0.02,
                    "own_country_advantage_high": middle + 0.02,
                    "own_country_rank": float(rng.integers(1, len(languages) + 1)),
                    "n_countries": float(len(languages)),
                }
            )
    means = [{"model": name, "mean_rank": 2.25, "mean_rank_by_chance": (len(languages) + 1) / 2} for name in names]
    return pd.DataFrame(rows), pd.DataFrame(means)


def structure_frames(families=None):
    """Distances.groups and .variance_shares."""
    names = ["all families", *(families or FAMILIES)]
    groups = [
        {"grouping": grouping, "model": name, "difference": -0.02, "difference_low": -0.03, "difference_high": -0.01}
        | {"p_corrected": 0.0005}
        for grouping in ("zone", "region")
        for name in names
    ]
    shares = [
        {"factor": factor, "r2": r2, "r2_by_chance": chance, "excess": r2 - chance, "excess_low": r2 - chance - 0.02}
        | {"excess_high": r2 - chance + 0.02, "p_corrected": 0.012}
        for factor, r2, chance in (("language", 0.7, 0.49), ("family", 0.05, 0.02))
    ]
    return pd.DataFrame(groups), pd.DataFrame(shares)


def neighbours_frame(languages=None, families=None):
    """Distances.neighbour_counts."""
    one, other = families or FAMILIES
    n = len(languages or DEMO)
    shared = {"n_languages": n, "n_same_language_by_chance": 1.0, "mean_rank": 1.6, "mean_rank_by_chance": (n + 1) / 2}
    return pd.DataFrame(
        [
            {"model": one, "other": other, "n_same_language": n - 2.0, "n_own_family": 1.0} | shared,
            {"model": other, "other": one, "n_same_language": 0.0, "n_own_family": float(n)} | shared,
        ]
    )


def order_frame(families=None):
    """PositionBias.by_response_type; of one type one item alone, without an interval, and one without an order."""
    rows = [
        {"model": model, "response_type": kind, "order_to_language": ratio}
        | {"order_to_language_low": ratio / wide, "order_to_language_high": ratio * wide}
        for model in families or FAMILIES
        for kind, ratio, wide in (("all", 1.1, 1.2), ("likert4", 0.7, 1.3), ("likert10", 2.0, np.nan))
    ]
    categorical = {"model": next(iter(families or FAMILIES)), "response_type": "categorical"}
    return pd.DataFrame([*rows, categorical])
