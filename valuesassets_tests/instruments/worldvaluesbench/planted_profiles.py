"""A person of each profile of a design, asked every question."""

from itertools import product

import pandas as pd


def profiles_of(design):
    """People, as `participants` has them, and rows of `probe_samples`."""
    people = pd.DataFrame(design.profiles).assign(participant_id=[str(n) for n in range(len(design.profiles))])
    pairs = [
        {"question_id": question_id, "participant_id": person}
        for person, question_id in product(people.participant_id, design.questions)
    ]
    return people, pd.DataFrame(pairs)
