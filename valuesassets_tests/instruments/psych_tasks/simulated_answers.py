"""Simulated people in shuffled orders, and models whose probabilities are known: which of them predicts people?"""

import re

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.answers.answer_distributions import derive_answer_distributions
from valuesassets.instruments.psych_tasks.material.task_files import Task
from valuesassets.instruments.psych_tasks.measures.prediction import derive_prediction
from valuesassets.instruments.psych_tasks.report.claims import claims
from valuesassets.instruments.psych_tasks.trials.asked_marks import ask_task
from valuesassets.records.settings.measuring import Inference
from valuesassets_tests.instruments.psych_tasks.made_people import person
from valuesassets_tests.instruments.psych_tasks.made_readings import evenly_read, read_by

PEOPLE, ITEMS = 105, 12
SCALE, KEYS, LISTS = "scale", "keys", "lists"
MODELS = ("people", "uniform", "counting", "position", "crowd", "noise")
"""People's own probabilities, and nulls: even chances, tallies of earlier answers, a liking for places, what others
answer on the whole, random numbers."""
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"


def task_of(simulation):
    """A scale of five; two keys of each person's own; four words that differ by item."""
    candidates = {
        SCALE: {"range": [1, 5]},
        KEYS: {"keys": r"Press (\w) for yes or (\w) for no", "roles": ["yes", "no"], "in": "instructions"},
        LISTS: {"options": r"\[(\w+)\]", "in": "block"},
    }[simulation]
    kinds = [{"name": "answer", "before": "You say ", "candidates": candidates}]
    return Task.model_validate({"name": simulation, "feedback": True, "block": r"^Trial \d+:", "kinds": kinds})


def simulated_people(simulation, seed, order="shuffled"):
    """People with their transcripts; by person and mark the probabilities of their answer and the item."""
    random = np.random.default_rng(seed)
    k = {SCALE: 5, KEYS: 2, LISTS: 4}[simulation]
    item_probs = random.dirichlet(np.full(k, 0.6), ITEMS) * 0.95 + 0.05 / k
    people, probs_at = [], {}
    for number in range(PEOPLE):
        style = random.dirichlet(np.full(k, 2.0))
        keys = random.choice(list(LETTERS), 2, replace=False)
        items = random.permutation(ITEMS) if order == "shuffled" else np.arange(ITEMS)
        text = f"Press {keys[0]} for yes or {keys[1]} for no.\n" if simulation == KEYS else "Answer.\n"
        for place, item in enumerate(items, 1):
            # what a person likes of an item goes with the person, so that others' answers do not tell it
            probs = 0.7 * item_probs[(item + 5 * (number % 2)) % ITEMS] + 0.3 * style
            answer = random.choice(k, p=probs)
            labels = {SCALE: "12345", KEYS: keys, LISTS: [f"word{item}{letter}" for letter in "abcd"]}[simulation]
            listed = " ".join(f"[{label}]" for label in labels) if simulation == LISTS else ""
            text += f"Trial {place}:\nStatement of item {'abcdefghijkl'[item]}. {listed}You say <<{labels[answer]}>>\n"
            probs_at[f"p{number}", place] = probs
        people.append(person(f"p{number}", text, task_of(simulation)))
    return people, probs_at


def predicted(simulation, seed, models=MODELS, order="shuffled"):
    """Tables of `prediction` of some models in a simulation."""
    task = task_of(simulation)
    people, probs_at = simulated_people(simulation, seed, order)
    asking = ask_task(people, task, ["human"])
    random = np.random.default_rng(seed + 1)
    places = random.dirichlet(np.full(len(next(iter(probs_at.values()))), 1.0))
    named = {text.transcript.text: text.participant for text in people}
    mean_probs = np.mean(list(probs_at.values()), axis=0)
    marks = []
    for model in models:

        def probs_of(trial, span, model=model):
            number, who = span + 1, named[trial.prompt]
            probs = probs_at[who, number]
            k = len(probs)
            if model == "counting":
                answering = next(each for each in people if each.participant == who)
                labels = [each.candidates.index(each.answer) for each in answering.marks[:span]]
                probs = (np.bincount(labels, minlength=k) + 1 / k) / (len(labels) + 1)
            probs = {
                "uniform": np.full(k, 1 / k),
                "position": places,
                "crowd": mean_probs,
                "noise": random.dirichlet(np.full(k, 20.0)),
            }.get(model, probs)
            return 0.9 * probs

        readings = read_by(asking.trials, probs_of)
        frames = derive_answer_distributions(asking.rows, people, task, asking.trials, readings, False)
        marks.append(frames["marks"].assign(model=model, task=simulation))
    every = pd.concat(marks, ignore_index=True)
    return derive_prediction(every, frames["donors"].head(0).assign(model="", task=""), Inference())


def supported(tables):
    """Models that are said to predict people."""
    on_page = claims({f"prediction/{n}": t for n, t in tables.items()}, False)
    return {
        model
        for each in on_page
        if each.is_supported and "answers are predicted better" in each.sentence
        for model in re.findall(r"\w+", each.sentence.rpartition("(")[2])
        if model != "and"
    }


def scores_of(people, task):
    """Log scores by history of a model of even chances."""
    asking = ask_task(people, task, ["human"])
    readings = evenly_read(asking.trials)
    frames = derive_answer_distributions(asking.rows, people, task, asking.trials, readings, False)
    marks = frames["marks"].assign(model="even", task=task.name)
    donors = frames["donors"].head(0).assign(model="", task="")
    scores = derive_prediction(marks, donors, Inference())["scores"]
    return scores.set_index("history")["log_score"]
