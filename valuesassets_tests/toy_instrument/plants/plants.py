"""What a reference model is planted to answer in a task: yes, more or less often."""

from collections.abc import Sequence

from valuesassets.answers.plants import Plant
from valuesassets.records.trials import Trial
from valuesassets_tests.toy_instrument.settings import ToyStudy


def plant_tasks(study: ToyStudy, family: str, task: str, trials: Sequence[Trial]) -> dict[str, list[Plant]]:
    """The plants of a cell: one answer cue, the options in both orders."""
    yes = 0.8 if task == "riddles" else 0.6
    plant = {
        "response_type": "binary",
        "is_converted": False,
        "wording": 0,
        "cue": "Answer",
        "values": (1, 2),
        "analysis_values": (1, 2),
        "texts": ("yes", "no"),
        "preference": (yes, 1 - yes),
        "pull": 0.1,
        "p_valid": (0.9, 0.8),
        "bare": 0.5,
        "shown_first": (0, 1),
    }
    return {trial.asked_id: [Plant(question_id=trial.asked_id, **plant)] for trial in trials}
