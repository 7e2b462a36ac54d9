"""Frames as the instrument writes them, made up, for figures to be drawn from."""

import numpy as np
import pandas as pd

EVS = (
    "bul BG Orthodox,hrv HR Catholic,ces CZ Catholic,dan DK Protestant,nld NL Protestant,eng GB English,"
    "est EE Protestant,fin FI Protestant,fra FR Catholic,deu DE Protestant,ell GR Orthodox,hun HU Catholic,"
    "ita IT Catholic,lvs LV Orthodox,lit LT Catholic,pol PL Catholic,por PT Catholic,ron RO Orthodox,"
    "slk SK Catholic,slv SI Catholic,spa ES Catholic,swe SE Protestant"
)
LANGUAGES = [entry.split(" ")[0] for entry in EVS.split(",")]
DEMO = ["eng", "deu", "fra", "pol", "ell", "bul"]
COUNTRIES = {entry.split(" ")[0]: entry.split(" ")[1] for entry in EVS.split(",")}
ZONES = {
    entry.split(" ")[1]: entry.split(" ")[2] + ("-Speaking" if "English" in entry else " Europe")
    for entry in EVS.split(",")
}
TYPES = {"likert4": 4, "likert10": 10, "binary": 2, "categorical": 4, "action": 3, "likert3": 3, "frequency": 7}
FAMILIES = {"reference-mono": "mono", "reference-multi": "multi"}


def probe_frame(languages=None, families=None, n_questions=30, seed=0, unread=0.02):
    """Rows of PROBE_DISTRIBUTIONS with plausible answers, some questions unread."""
    rng = np.random.default_rng(seed)
    kinds = list(TYPES)
    rows = []
    for model, model_type in (families or FAMILIES).items():
        for language in languages or DEMO:
            level = rng.beta(6, 2)
            for number in range(n_questions):
                kind = kinds[number % len(kinds)]
                size = TYPES[kind]
                forward = rng.dirichlet(np.ones(size) * 1.2)
                backward = 0.75 * forward + 0.25 * rng.dirichlet(np.ones(size))
                p_valid = float(np.clip(level + rng.normal(0, 0.2), 0.01, 0.99))
                is_read = rng.random() > unread
                for value in range(size):
                    rows.append(
                        {
                            "model_id": f"{model}/{language}",
                            "model_type": model_type,
                            "model": model,
                            "language": language,
                            "question_id": f"v{number + 1}",
                            "response_type": kind,
                            "wording": 0,
                            "response_value": value + 1,
                            "prob_forward": forward[value] if is_read else np.nan,
                            "prob_reversed": backward[value] if is_read else np.nan,
                            "prob_averaged": (forward[value] + backward[value]) / 2 if is_read else np.nan,
                            "p_valid_forward": p_valid if is_read else np.nan,
                            "p_valid_reversed": p_valid if is_read else np.nan,
                            "p_valid": p_valid if is_read else np.nan,
                            "position_bias_magnitude": np.abs(forward - backward).max() if is_read else np.nan,
                            "resolution_mass": 0.97 if size == 10 and is_read else np.nan,
                            "is_converted": False,
                            "status": "ok" if is_read else "unresolved",
                            "reason": None if is_read else "resolution mass 0.004 is below 0.01",
                        }
                    )
    return pd.DataFrame(rows)


def human_frame(languages=None, n_questions=30, seed=1, source="planted"):
    """Rows of HUMAN_DISTRIBUTIONS."""
    rng = np.random.default_rng(seed)
    kinds = list(TYPES)
    rows = []
    for language in languages or DEMO:
        for number in range(n_questions):
            probs = rng.dirichlet(np.ones(TYPES[kinds[number % len(kinds)]]) * 2)
            rows += [
                {
                    "country": COUNTRIES[language],
                    "language": language,
                    "question_id": f"v{number + 1}",
                    "response_value": value + 1,
                    "prob": prob,
                    "n": 1000,
                    "weighted_n": 1000.0,
                    "design_effect": 1.0,
                    "dk_rate": 0.02,
                    "source": source,
                }
                for value, prob in enumerate(probs)
            ]
    return pd.DataFrame(rows)


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
        advantage = rng.normal(0.03, 0.02, 2)
        rows.append(
            {
                "language": language,
                "country": COUNTRIES[language],
                "mono": mono,
                "multi": multi,
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
            for measure in ("own_country_advantage", "entropy_bits", "distance_own")
        ]
    )
    return pairs, summary


def comparison_frame(seed=4, n_questions=36, languages=None):
    """compare_with_plants: planted and recovered, one question unread."""
    rng = np.random.default_rng(seed)
    kinds = [*TYPES, "likert5"]
    rows = []
    for model in FAMILIES:
        for language in languages or DEMO:
            for number in range(n_questions):
                planted_p, planted_bias = rng.uniform(0.05, 0.95), rng.uniform(0, 0.5)
                error_p, error_bias = rng.normal(0, 0.008), rng.normal(0, 0.01)
                rows.append(
                    {
                        "model": model,
                        "language": language,
                        "question_id": f"v{number + 1}",
                        "response_type": kinds[number % len(kinds)],
                        "wording": 0,
                        "w1_unit_error": abs(rng.normal(0, 0.008)),
                        "p_valid_error": abs(error_p),
                        "position_bias_error": abs(error_bias),
                        "w1_unit_to_uniform": rng.uniform(0.1, 0.4),
                        "planted_p_valid": planted_p,
                        "recovered_p_valid": planted_p + error_p,
                        "planted_position_bias": planted_bias,
                        "recovered_position_bias": max(0, planted_bias + error_bias),
                        "status": "ok",
                        "reason": None,
                    }
                )
    frame = pd.DataFrame(rows)
    read = ["w1_unit_error", "p_valid_error", "position_bias_error", "recovered_p_valid", "recovered_position_bias"]
    frame.loc[5, read] = np.nan
    return frame


def sampled_columns(comparison, seed=8):
    """The same with the sampled channel of compare_with_plants: wider errors, of which the draw makes a part."""
    rng = np.random.default_rng(seed)
    added = {"sampled_w1_unit_error": np.abs(rng.normal(0.015, 0.01, len(comparison))), "drawn_w1_unit_error": 0.013}
    for name in ("p_valid", "position_bias"):
        planted = comparison[f"planted_{name}"].to_numpy()
        found = np.clip(planted + rng.normal(0, 0.03, len(comparison)), 0, 1)
        added |= {f"sampled_{name}": found, f"sampled_{name}_error": np.abs(found - planted)}
        added[f"drawn_{name}_error"] = 0.024
    added |= {f"{name}_sd": 0.01 for name in list(added) if name.startswith("drawn_")}
    return comparison.assign(**added, n_sampled=400)


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


def quality_frames(probe, cells_wanted):
    """QualityReport.frames(): the cells wanted of which one may be missing, and one question dropped."""
    read = set(zip(probe["model"], probe["language"], strict=True))
    cells = [
        {
            "model": model,
            "language": language,
            "n_questions": 30 if (model, language) in read else None,
            "n_usable": 28 if (model, language) in read else None,
            "median_p_valid": 0.71 if (model, language) in read else None,
            "share_above_threshold": 0.97 if (model, language) in read else None,
            "mean_position_bias": 0.09 if (model, language) in read else None,
            "is_flagged": (model, language) == cells_wanted[0],
            "is_missing": (model, language) not in read,
            "reason": None if (model, language) in read else "no readings: the job failed",
        }
        for model, language in cells_wanted
    ]
    questions = [
        {
            "question_id": question,
            "response_type": "likert4",
            "n_cells": 12,
            "n_unreliable": 7 if question == "v3" else 0,
            "share_unreliable": 7 / 12 if question == "v3" else 0.0,
            "median_p_valid": 0.08 if question == "v3" else 0.7,
            "is_dropped": question == "v3",
            "reason": "P_valid below 0.10 in 7 of 12 cells" if question == "v3" else None,
        }
        for question in dict.fromkeys(probe["question_id"])
    ]
    return {"cells": pd.DataFrame(cells), "questions": pd.DataFrame(questions)}


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


def recovery_frame():
    """summarise_recovery."""
    return pd.DataFrame(
        [
            {
                "model": model,
                "language": language,
                "response_type": "all",
                "n": 36,
                "n_unreadable": 0,
                "w1_unit_error_mean": 0.008,
                "w1_unit_error_p95": 0.017,
                "is_recovered": True,
                "reason": None,
            }
            for model in FAMILIES
            for language in DEMO
        ]
    )


def hardness_frame():
    """describe_hardness."""
    columns = ("response_type", "n", "w1_unit_to_uniform_mean", "position_bias_share_strong")
    columns += ("p_valid_min", "p_valid_max", "both_ends_share")
    rows = [("all", 432, 0.21, 0.52, 0.05, 0.95, 0.6), ("binary", 48, 0.24, 0.5, 0.06, 0.94, None)]
    return pd.DataFrame(rows, columns=pd.Index(columns))


def controls_frame():
    """derive_negative_controls: two pairs, and both fail."""
    errors = {"w1_unit_error_mean": 0.094, "p_valid_error_mean": 0.21, "position_bias_error_mean": 0.11}
    reason = "mean w1_unit_error 0.094 is above 0.02"
    return pd.DataFrame(
        [
            {"model": "reference-mono", "language": asked, "answered_by": other, "n": 36, "n_unreadable": 0}
            | errors
            | {"fails": True, "reason": reason}
            for asked, other in (("eng", "deu"), ("deu", "fra"))
        ]
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
