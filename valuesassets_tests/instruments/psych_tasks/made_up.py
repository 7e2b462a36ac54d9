"""Made-up tables of psych tasks, as its assets write them: for so many models and tasks."""

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.tables import (
    GAIN_ROWS,
    IDENTIFICATION,
    LAYOUT_EFFECTS,
    LEDGER,
    PLANTED_GAINS,
    PREDICTION_SCORES,
    QUANTILES,
    RECOVERY,
)

LADDER = {"format": ("other", "alone"), "style": ("permuted", "other"), "content": ("human", "permuted")}
LADDER |= {"person": ("human", "other"), "history": ("human", "alone")}
LADDER |= {"task text": ("human", "answers"), "shortcut": ("answers", "counting")}
NO_MODEL = ("uniform", "place", "crowd", "counting")
LADDER |= {f"over {null}": ("human", null) for null in NO_MODEL}
LEVELS = {"alone": -1.5, "own": -1.45, "other": -1.35, "permuted": -1.25, "human": -1.1, "answers": -1.3}
LEVELS |= {"uniform": -1.609, "place": -1.5, "crowd": -1.4, "counting": -1.3}
FEEDBACK = ("alone", "human", *NO_MODEL)


def names(n, kind):
    return [f"{kind}{number:02}" for number in range(n)] if n > 2 else [f"{kind}-{each}" for each in "ab"[:n]]


def ledger(models, tasks):
    rows = []
    for model in models:
        for task in tasks:
            for history in ("alone", "own", "human", "other", "permuted"):
                at = {"model": model, "task": task, "experiment": "x", "history": history, "layout": "marked"}
                at |= {"draw": 0 if history == "own" else None, "kind": "rating"}
                counts = {"read": 396, "empty": 1, "broken": 1, "unlisted": 2}
                if model == models[-1] and history == "human":
                    counts |= {"read": 366, "boundary": 20, "too_long": 10}
                for status, n in counts.items():
                    share = 0.25 if status in ("read", "unlisted") else None
                    rows.append(
                        at | {"status": status, "marks": n, "transcripts": min(n, 40), "share_multi_token": share}
                    )
    return LEDGER.frame(rows)


def scores(models, tasks):
    rows = []
    for number, model in enumerate(models):
        for task in tasks:
            for history, level in LEVELS.items():
                if task.startswith("feedback") and history not in FEEDBACK:
                    continue
                level -= 0 if history in NO_MODEL else 0.02 * number
                row = {"model": model, "task": task, "layout": "marked", "history": history, "log_score": level}
                row |= {"n_participants": 40, "n_marks": 400, "skill": 1 + level / np.log(5)}
                if history not in NO_MODEL:
                    row |= {"log_score_low": level - 0.05, "log_score_high": level + 0.05, "accuracy": 0.5}
                    row |= {"skill_low": row["skill"] - 0.03, "skill_high": row["skill"] + 0.03}
                rows.append(row)
    return PREDICTION_SCORES.frame(rows)


def gains(models, tasks):
    rows = []
    for model in models:
        for task in tasks:
            for gain, (more, less) in LADDER.items():
                if task.startswith("feedback") and gain != "history" and less not in NO_MODEL:
                    continue
                # the last of several models knows nothing of content
                is_null = gain == "content" and model == models[-1] and len(models) > 1
                estimate = 0.0 if is_null else LEVELS[more] - LEVELS[less]
                row = {"model": model, "task": task, "layout": "marked", "gain": gain, "more": more, "less": less}
                row |= {"n_participants": 40, "estimate": estimate, "low": estimate - 0.03, "high": estimate + 0.03}
                rows.append(row | {"p": 0.9 if is_null else 0.0005, "p_corrected": 1.0 if is_null else 0.001,
                                   "is_rejected": not is_null})  # fmt: skip
    return GAIN_ROWS.frame(rows)


def identification(models, tasks):
    rows = []
    for number, model in enumerate(models):
        for task in tasks:
            share = 0.85 - 0.3 * number / max(1, len(models) - 1)
            row = {"model": model, "task": task, "layout": "marked", "n_participants": 40, "n_donors": 800}
            tested = {"p": 0.0005, "p_corrected": 0.001, "is_rejected": True}
            if share < 0.6:
                tested = {"p": 0.2, "p_corrected": 0.4, "is_rejected": False}
            rows.append(row | tested | {"share": share, "low": share - 0.08, "high": share + 0.08})
    return IDENTIFICATION.frame(rows)


def quantiles(models, tasks):
    rows = []
    for model in models:
        for task in tasks:
            for place in range(2, 10):
                row = {"model": model, "task": task, "layout": "marked", "low": place / 10, "high": (place + 1) / 10}
                row |= {"n_marks": 10 * (11 - place), "foretold": place / 10 + 0.05, "observed": 0.9 * place / 10}
                rows.append(row)
    return QUANTILES.frame(rows)


def donors(n):
    random = np.random.default_rng(1)
    return pd.DataFrame(
        [
            {"participant": f"p{a}", "donor": f"p{b}", "log_score": -1.2 - (a != b) * random.uniform(-0.1, 0.5)}
            for a in range(n)
            for b in range(n)
        ]
    )


def keying(models, tasks, scales=("label", "trait", "open", "forward only")):
    """Models by scale; the name says what a scale measures."""
    random = np.random.default_rng(2)
    strengths = np.linspace(-0.8, 0.8, len(models)) if len(models) > 1 else np.array([0.6])
    pi = {"label": (0.98, 0.97, 0.99), "trait": (0.03, 0.01, 0.06), "open": (0.5, 0.3, 0.7)}
    model_rows, scale_rows = [], []
    for task in tasks:
        for scale in scales:
            at = {"task": task, "experiment": task, "scale": scale}
            reason = None if scale in pi else "all 6 items are forward-keyed: trait and liking for labels are one there"
            for model, strength in zip(models, strengths, strict=True):
                row = at | {"model": model, "line": f"{model} line", "reason": reason}
                if scale in pi:
                    turn = {"label": 1, "trait": -1, "open": random.choice([-1, 1])}[scale]
                    f, r = 3 + strength, 3 + turn * strength + random.normal(0, 0.05)
                    row |= {"forward_mean": f, "reverse_mean": r, "trait": 3 + (f - r) / 2, "bias": (f + r) / 2 - 3}
                    row |= {"trait_lean": f - r, "bias_lean": f + r - 6}
                model_rows.append(row)
            row = at | {"models": len(models), "lines": len(models), "items": 6, "reason": reason, "verdict": None}
            if scale in pi:
                middle, low, high = pi[scale]
                row |= {"pi_bias": middle, "pi_bias_low": low, "pi_bias_high": high, "rho": 2 * middle - 1}
                row |= {"rho_low": 2 * low - 1, "rho_high": 2 * high - 1, "p": 0.9 if scale == "open" else 0.002}
                row["verdict"] = {"label": "label preference", "trait": "trait", "open": "not told apart"}[scale]
            scale_rows.append(row)
    return {"keying/models": pd.DataFrame(model_rows), "keying/scales": pd.DataFrame(scale_rows)}


def reliability(models, tasks, scales=("label", "trait")):
    rows, parts = [], []
    for number, task in enumerate(tasks):
        for place, scale in enumerate(scales):
            for history in ("alone", "own"):
                at = {"task": task, "history": history, "experiment": task, "scale": scale}
                g = min(0.95, 0.3 + 0.5 * place + 0.01 * number - 0.1 * (history == "own"))
                row = at | {
                    "models": len(models),
                    "lines": len(models),
                    "items": 6,
                    "presentations": 2,
                    "draws": 1,
                    "generalizability": g,
                }
                row |= {"generalizability_low": g - 0.1, "generalizability_high": g + 0.08, "over_items": g}
                rows.append(row | {"over_items_low": g - 0.1, "over_items_high": g + 0.08,
                                   "reason": "one draw: what other answers would change was not measured"})  # fmt: skip
                parts += [at | {"source": source, "variance": v, "share": v} for source, v in
                          (("model", g), ("model x item", 1 - g))]  # fmt: skip
    return {"reliability/scales": pd.DataFrame(rows), "reliability/components": pd.DataFrame(parts)}


def published(models, tasks, scales=("label", "trait")):
    score_rows, scale_rows = [], []
    for task in tasks:
        for scale in scales:
            at = {"task": task, "experiment": task, "scale": scale}
            for reading in ("exact", "late"):
                alpha = 0.86 if scale == "label" else 0.2
                row = at | {"reading": reading, "models": len(models), "lines": len(models), "items": 6, "alpha": alpha}
                row |= {"alpha_low": alpha - 0.08, "alpha_high": alpha + 0.06, "null_low": -0.6, "null_high": 0.33}
                row |= {"alpha_random": 0.01, "alpha_random_low": -0.5, "alpha_random_high": 0.3}
                scale_rows.append(row | {"alpha_permuted": 0.05, "alpha_label": 0.88, "reason": None})
                score_rows += [
                    at | {"reading": reading, "model": model, "item": item, "score": 3.0 + 0.1 * item, "reason": None}
                    for model in models
                    for item in range(1, 7)
                ]
    return {"published_scores/scores": pd.DataFrame(score_rows), "published_scores/scales": pd.DataFrame(scale_rows)}


def layouts(models, tasks):
    return LAYOUT_EFFECTS.frame(
        [
            {"model": model, "task": task, "history": "human", "layout": "plain", "against": "marked",
             "n_participants": 40, "n_marks": 400, "log_score_difference": -0.2, "low": -0.3, "high": -0.1,
             "p": 0.0005, "p_corrected": 0.002, "is_rejected": True, "p_valid_difference": -0.05,
             "share_other_likeliest": 0.2}
            for model in models
            for task in tasks
        ]
    )  # fmt: skip


def calibration(models, tasks):
    recovery = RECOVERY.frame(
        [
            {"history": history, "layout": "marked", "n_marks": 400, "n_read": 400, "tvd_mean": 0.008, "tvd_p95": 0.02,
             "tvd_late_mean": 0.3, "is_recovered": True}
            for history in ("alone", "own", "human", "other", "permuted")
        ]
    )  # fmt: skip
    learned = PLANTED_GAINS.frame(
        [
            {"gain": gain, "layout": "marked", "n_participants": 40, "planted": value, "estimate": value + 0.001,
             "is_recovered": True}
            for gain, value in (("format", 0.05), ("style", 0.1), ("content", 0.2))
        ]
    )  # fmt: skip
    return {
        f"calibration/{name}": pd.concat(
            [frame.assign(model=model, task=task) for model in models for task in tasks], ignore_index=True
        )
        for name, frame in (("recovery", recovery), ("gains", learned))
    }


def every_table(n_models=2, n_tasks=2):
    """All tables of a study; the last of several tasks has feedback."""
    models, tasks = names(n_models, "model"), names(n_tasks, "task")
    if n_tasks > 1:
        tasks[-1] = "feedback"
    cells = (models, tasks)
    return {
        "mark_ledger": ledger(*cells),
        "prediction/scores": scores(*cells),
        "prediction/gains": gains(*cells),
        "prediction/identification": identification(*cells),
        "prediction/quantiles": quantiles(*cells),
        "layout_effect/effects": layouts(*cells),
        **keying(*cells),
        **reliability(*cells),
        **published(*cells),
        **calibration(models[:1], tasks[:1]),
    }
