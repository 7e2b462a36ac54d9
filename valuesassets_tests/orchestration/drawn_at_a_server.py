"""`python -m valuesassets_tests.orchestration.drawn_at_a_server FOLDER`: what draws recover of what a server answers.

FOLDER is that of a small study in three languages (`small_study` of the tests). The server draws from the readings of
its reference model.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from valuesassets.answers.drawn_answers import count_readings, derive_drawn_answers, drawn_trials
from valuesassets.answers.probe_distributions import Cell, derive_probe_distributions
from valuesassets.answers.reference_models import shown_options
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.parquet import read_readings, read_trials
from valuesassets.records.settings.draws import Draws
from valuesassets.records.trials import main_trials
from valuesassets.remote.asking import RemoteAsking
from valuesassets_tests.orchestration.drawing_server import DrawingServer, Truth
from valuesassets_tests.remote.loopback_openai import CHAT, KEY, MODEL

N = 40


def truths_of(survey: Path, language: str, p_valid: float = 0.9) -> dict[str, Truth]:
    """What a family of a small study answers in a language, by prompt; P_valid is the same for all prompts, so that few
    questions have too few options among their draws."""
    readings = read_readings(survey / f"readings/reference-multi/{language}.parquet")
    truths = {}
    for trial, reading in zip(read_trials(survey / f"trials/{language}.parquet"), readings, strict=True):
        if trial.estimator is None and reading.label_probs is not None:
            texts = tuple(text for _, text in shown_options(trial.prompt, trial.trial_id))
            cue = trial.prompt.rpartition("\n")[2].removesuffix(":")
            probs = tuple(p_valid * prob / sum(reading.label_probs) for prob in reading.label_probs)
            truths[trial.prompt] = Truth(trial.labels, texts, trial.values, probs, cue)
    return truths


def draw_cell(survey: Path, language: str, store: Path | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw a language's answers at a server: each text beside the code that it was written for, and each mean answer
    beside the true one.

    Returns:
        `code`, `read`, `standing` of each text; `true`, `mean`, `low`, `high`, `w1_unit`, `p_valid` of each question.
    """
    truths = truths_of(survey, language)
    trials = main_trials(read_trials(survey / f"trials/{language}.parquet"))
    server = DrawingServer(truths)
    with server.serving():
        requests = drawn_trials(trials, Draws(n=N), CHAT, seed=1, n=N)
        asking = RemoteAsking(MODEL, server.endpoint(concurrency=4), CHAT, requests, is_compared=False)
        answers, _ = asking.ask(asking.connect(store), store=store)
    rows = derive_drawn_answers(trials, answers.records, load_lexicon(language))
    prompts = {trial.trial_id: trial.prompt for trial in trials}
    texts = pd.DataFrame(rows).rename(columns={"response_value": "read"})
    texts["code"] = [
        server.codes[prompts[name], text] for name, text in zip(texts["trial_id"], texts["text"], strict=True)
    ]
    readings = count_readings(trials, answers.records, rows)
    types = dict.fromkeys((trial.question_id for trial in trials), "ordinal")
    cell = Cell("server", "multi", "server", language)
    probe = pd.DataFrame(derive_probe_distributions(trials, readings, cell, types))
    return texts, _means(probe.loc[probe["status"] == "ok"], trials, truths)


def _means(probe: pd.DataFrame, trials: list, truths: dict[str, Truth]) -> pd.DataFrame:
    prompts = {(trial.asked_id, trial.wording, trial.order): trial.prompt for trial in trials}
    rows = []
    for (question, wording), options in probe.groupby(["question_id", "wording"], sort=False):
        values = options["response_value"].to_numpy()
        unit = (values - values.min()) / np.ptp(values)
        true = np.zeros(len(values))
        for order in ("forward", "reversed"):
            truth = truths[prompts[question, wording, order]]
            shares = dict(zip(truth.values, truth.probs, strict=True))
            true += np.array([shares[value] for value in values]) / sum(truth.probs) / 2
        drawn = options["prob_averaged"].to_numpy(float)
        w1 = np.abs(np.cumsum(drawn - true))[:-1] @ np.diff(unit)
        first = options.iloc[0]
        rows.append(
            {
                "true": true @ unit,
                "mean": drawn @ unit,
                "low": first["mean_unit_low"],
                "high": first["mean_unit_high"],
                "w1_unit": w1,
                "p_valid": first["p_valid"],
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    """Print what is recovered in three languages."""
    os.environ["THE_KEY"] = KEY
    survey = Path(sys.argv[1]) / "storage/small/survey"
    cells = [draw_cell(survey, language) for language in ("deu", "eng", "fra")]
    texts, means = (pd.concat(tables, ignore_index=True) for tables in zip(*cells, strict=True))
    is_option, is_read = texts["code"].notna(), texts["read"].notna()
    print(f"{len(texts):,} texts, {is_option.sum():,} of them written as an option")
    print(f"read of those: {(is_option & is_read).sum() / is_option.sum():.4f}")
    print(f"read as another option, or though they are none: {(is_read & (texts['read'] != texts['code'])).sum()}")
    print(f"{len(means)} mean answers: W1 to the truth {means['w1_unit'].mean():.4f} on average")
    print(f"P_valid, mean less its truth of 0.9: {means['p_valid'].mean() - 0.9:+.4f}")
    print(f"intervals of 95 % that hold the true mean: {means['true'].between(means['low'], means['high']).mean():.3f}")


if __name__ == "__main__":
    main()
