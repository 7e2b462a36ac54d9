"""Small transcripts and tasks for tests."""

from valuesassets.instruments.psych_tasks.material.marks import mark_person
from valuesassets.instruments.psych_tasks.material.task_files import Task
from valuesassets.instruments.psych_tasks.material.transcripts import TaskTranscript

INSTRUCTIONS = "Say how far you agree, 1 to 5.\n"


def survey_task(**changes):
    """A questionnaire with an item a line."""
    settings = {
        "name": "survey",
        "feedback": False,
        "kinds": [{"name": "agreement", "before": r"\. $", "candidates": {"range": [1, 5]}}],
    }
    return Task.model_validate(settings | changes)


def survey_text(answers, instructions=INSTRUCTIONS):
    return instructions + "".join(f"{n}. Statement {n}. <<{answer}>>\n" for n, answer in enumerate(answers, 1))


def survey_person(name, answers, task=None, **changes):
    return person(name, survey_text(answers, **changes), task or survey_task())


def person(name, text, task, presentation=None, experiment="made up"):
    return mark_person(TaskTranscript(experiment, name, presentation, text), task)


BALLOONS = Task.model_validate(
    {
        "name": "balloons",
        "delimiters": ["{", "}"],
        "block": r"^Balloon \d+:",
        "kinds": [
            {
                "name": "press",
                "before": r"press|\} $",
                "candidates": {
                    "keys": "([A-Z]) pumps, ([A-Z]) stops",
                    "roles": ["pump", "stop"],
                    "in": "instructions",
                },
                "values": [1, 0],
            }
        ],
    }
)


def balloon_text(keys="PS"):
    pump, stop = keys
    return (
        f"{pump} pumps, {stop} stops.\n"
        f"Balloon 1:\nYou press {{{pump}}} {{{pump}}} {{{stop}}}. You get 2 points.\n"
        f"Balloon 2:\nYou press {{{pump}}}. It bursts.\n"
    )
