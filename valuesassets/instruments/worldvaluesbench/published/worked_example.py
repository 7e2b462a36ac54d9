"""A table that shows why the published score does not measure awareness; `python -m` with the module's name prints it.

1,000 people of a town and 1,000 of the country around it answered a question of two answers, and four models rate it.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Groups, Probe, Rated
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion
from valuesassets.instruments.worldvaluesbench.measures.awareness import derive_awareness
from valuesassets.instruments.worldvaluesbench.measures.benchmark_scores import derive_benchmark_scores

YES = {"people": (80, 20), "knows": (80, 20), "halfway": (65, 35), "does not know": (50, 50), "the wrong way": (20, 80)}
"""Per cent of the town and of the country who say yes, for people and for each model."""
N = 1000
"""People in each group."""


def main() -> None:
    """Print each model's shares, its published score and its slope."""
    probe = two_groups()
    scores = derive_benchmark_scores(probe).query("subset == 'all'").set_index("model")["w1_seed"]
    slopes = derive_awareness(probe, resamples=0, seed=0)["factors"].query("factor == 'all'").set_index("model")
    rows = [
        {"": name, "town: yes": f"{town} %", "country: yes": f"{country} %"}
        | ({} if name == "people" else {"w1_seed": f"{scores[name]:.2f}", "slope": f"{slopes.loc[name, 'slope']:.2f}"})
        for name, (town, country) in YES.items()
    ]
    print(pd.DataFrame(rows).fillna("").to_string(index=False))


def two_groups() -> Probe:
    """The people, with the distribution of each model for each of them."""
    question = ValueQuestion(id="Q1", category="", text="", lo=1, hi=2, labels=("yes", "no"))
    groups = np.repeat([0, 1], N)
    answers = np.concatenate([np.repeat([1.0, 2.0], [yes * N // 100, N - yes * N // 100]) for yes in YES["people"]])
    models = {name: Rated(_probs(name)[groups], None, 0, 0) for name in YES if name != "people"}
    item = AskedQuestion(question, np.arange(2 * N), groups, np.ones(2 * N), answers, models, {})
    return Probe(Groups(("settlement",), (("urban",), ("rural",))), [item])


def _probs(name: str) -> NDArray[np.float64]:
    """(2, 2) probability of yes and no in each group."""
    yes = np.array(YES[name]) / 100
    return np.stack([yes, 1 - yes], axis=1)


if __name__ == "__main__":
    main()
