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
