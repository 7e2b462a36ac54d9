"""`worldvaluesbench/personas`: the distinct profiles of sampled people; people who share one are asked about once."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.material.backgrounds import profile_keys
from valuesassets.records.errors import MissingData


def derive_personas(participants: pd.DataFrame, samples: pd.DataFrame, attributes: Sequence[str]) -> pd.DataFrame:
    """Rows of `personas`, sorted by their codes.

    Args:
        participants: a column for each attribute, and `participant_id`.
        samples: rows of `probe_samples`.
        attributes: ids of the attributes that a prompt names.

    Raises:
        MissingData: a sample's person is not among the participants, or an attribute does not exist.
    """
    return _personas_and_pairs(participants, samples, attributes)[0]


def asked_pairs(participants: pd.DataFrame, samples: pd.DataFrame, attributes: Sequence[str]) -> pd.DataFrame:
    """The distinct `profile` and `question_id` of the samples, sorted by profile; arguments as `derive_personas`."""
    return _personas_and_pairs(participants, samples, attributes)[1]


def _personas_and_pairs(
    participants: pd.DataFrame, samples: pd.DataFrame, attributes: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The personas, and the questions of each; only numbers are copied for each sample, since they are many."""
    if lacking := [name for name in attributes if name not in participants]:
        raise MissingData(f"participants: column {lacking[0]} is missing; name attributes that the data set has")
    place = pd.Index(participants["participant_id"]).get_indexer(pd.Index(samples["participant_id"]))
    if (place < 0).any():
        row = int(np.argmax(place < 0))
        who = f"row {row + 1}: person {samples['participant_id'].iloc[row]}"
        raise MissingData(f"probe_samples: {who} is not a participant; draw the samples from this data set")
    is_asked = np.zeros(len(participants), bool)
    is_asked[place] = True
    people = participants.loc[is_asked]
    number, names = pd.factorize(profile_keys(people, attributes).astype(str))
    question, questions = pd.factorize(samples["question_id"])
    of_person = np.zeros(len(participants), np.int64)
    of_person[is_asked] = number
    grid = np.zeros((len(names), len(questions)), bool)
    grid[of_person[place], question] = True
    first = np.unique(number, return_index=True)[1]
    personas = pd.DataFrame({"profile": names})
    for name in attributes:
        codes = people[name].iloc[first].reset_index(drop=True)
        personas[name] = codes.mask(codes < 0) if pd.api.types.is_numeric_dtype(codes) else codes
    personas["n_people"] = np.bincount(number, minlength=len(names))
    personas["n_questions"] = grid.sum(axis=1)
    personas = personas.sort_values([*attributes, "profile"])
    rows, columns = np.nonzero(grid[personas.index])
    personas = personas.reset_index(drop=True)
    pairs = {"profile": personas["profile"].to_numpy()[rows], "question_id": np.asarray(questions)[columns]}
    return personas, pd.DataFrame(pairs)
