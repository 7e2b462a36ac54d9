"""The parts of psych tasks: its tasks, each in the language of its transcripts."""

from valuesassets.records.settings.psych_tasks import PsychTasks
from valuesassets.records.study import Part, Study


def parts(study: Study) -> list[Part]:
    """One part for each task of the study."""
    return [Part(name, task.language) for name, task in PsychTasks.of(study).tasks.items()]
