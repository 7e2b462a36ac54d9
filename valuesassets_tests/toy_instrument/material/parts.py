from valuesassets.records.study import Part
from valuesassets_tests.toy_instrument.settings import ToyStudy


def parts(study: ToyStudy) -> list[Part]:
    """A part for each task."""
    return [Part(task, language) for task, language in study.toy.tasks.items()]
