import numpy as np
import pytest

from valuesassets.instruments.psych_tasks.material.marks import item_of
from valuesassets.instruments.psych_tasks.report.claims import claims
from valuesassets_tests.instruments.psych_tasks.made_people import person, survey_task
from valuesassets_tests.instruments.psych_tasks.simulated_answers import (
    KEYS,
    LISTS,
    SCALE,
    predicted,
    scores_of,
    simulated_people,
    supported,
    task_of,
)


@pytest.fixture(scope="module", params=[SCALE, KEYS, LISTS])
def simulation(request):
    """A simulation whose trials are shuffled, and what becomes of every model in it."""
    return request.param, predicted(request.param, seed=0)


@pytest.mark.slow
def test_who_answers_by_peoples_own_law_alone_is_said_to_predict_them(simulation):
    assert supported(simulation[1]) == {"people"}


@pytest.mark.slow
def test_tallies_are_no_worse_than_even_chances_but_for_what_their_fit_costs(simulation):
    scores = simulation[1]["scores"]
    own = scores[scores["model"] == "people"].set_index("history")["log_score"]
    for name in ("crowd", "counting"):
        assert own[name] > own["uniform"] - 0.02


@pytest.mark.slow
def test_both_sides_of_the_claim_name_their_models(simulation):
    on_page = claims({f"prediction/{name}": table for name, table in simulation[1].items()}, False)
    better = {each.is_supported: each.sentence for each in on_page if "answers are predicted better" in each.sentence}
    assert "(people)" in better[True]
    assert "uniform" in better[False].rpartition("(")[2]
    assert better[True] != better[False]


@pytest.mark.slow
def test_even_readings_are_not_better_than_worse_tallies():
    """What a model of even chances gained over bad tallies was once taken for knowing people."""
    scores = predicted(KEYS, seed=3, models=("uniform", "counting"))
    gains = scores["gains"].set_index(["model", "gain"])
    assert gains.loc[("uniform", "over uniform"), "estimate"] == pytest.approx(0, abs=1e-9)
    assert supported(scores) == set()


def test_trials_in_another_order_are_the_same_items():
    for simulation in (SCALE, KEYS, LISTS):
        items = []
        for order in ("shuffled", "same"):
            people, _ = simulated_people(simulation, 1, order)
            items.append({item_of(each, mark, task_of(simulation)) for each in people for mark in each.marks})
        assert items[0] == items[1]
        assert len(items[0]) == 12


def test_the_crowd_finds_an_item_wherever_it_stands():
    """Everybody answers an item alike: others' answers tell it, in whichever order it was shown."""
    random = np.random.default_rng(0)
    task = survey_task(block=r"^\d+\.")
    people = []
    for number in range(12):
        order = random.permutation(8)
        text = "Say.\n" + "".join(
            f"{n}. Statement {'abcdefgh'[item]}. <<{1 + item % 5}>>\n" for n, item in enumerate(order, 1)
        )
        people.append(person(f"p{number}", text, task))
    scores = scores_of(people, task)
    assert scores["crowd"] > -0.2
    assert scores["uniform"] == pytest.approx(-np.log(5))
