"""What values does a language model carry? An instrument that asks, and says how far to trust the answer.

The names below are the public interface; each is imported when it is first used.
"""

# pyright: strict, reportMissingTypeStubs=false

from importlib import import_module

TYPE_CHECKING = False  # as typing has it, which would be imported for it
if TYPE_CHECKING:
    from valuesassets.library import (
        Aligned,
        Extraction,
        align,
        answer_distributions,
        ask,
        calibrate,
        extract,
        list_tables,
        load_study,
        make_trials,
        place_on_map,
        read_questions,
        read_table,
    )
    from valuesassets.measure.distances import Distribution, distribution, tvd, wasserstein1_unit
    from valuesassets.records.errors import ValuesAssetsError
    from valuesassets.records.questions import Question
    from valuesassets.records.settings.endpoints import Endpoint
    from valuesassets.records.settings.prompting import Prompting
    from valuesassets.records.study import Study
    from valuesassets.records.trials import Reading, Trial

    __version__: str

__all__ = [
    "Aligned",
    "Distribution",
    "Endpoint",
    "Extraction",
    "Prompting",
    "Question",
    "Reading",
    "Study",
    "Trial",
    "ValuesAssetsError",
    "__version__",
    "align",
    "answer_distributions",
    "ask",
    "calibrate",
    "distribution",
    "extract",
    "list_tables",
    "load_study",
    "make_trials",
    "place_on_map",
    "read_questions",
    "read_table",
    "tvd",
    "wasserstein1_unit",
]
_HOMES = {
    "Distribution": "measure.distances",
    "Endpoint": "records.settings.endpoints",
    "Prompting": "records.settings.prompting",
    "Question": "records.questions",
    "Reading": "records.trials",
    "Study": "records.study",
    "Trial": "records.trials",
    "ValuesAssetsError": "records.errors",
    "distribution": "measure.distances",
    "tvd": "measure.distances",
    "wasserstein1_unit": "measure.distances",
}
"""Modules of the names that are not in `library`."""


if not TYPE_CHECKING:  # a checker of types would take any name for one of ours

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            return version(__name__)
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'library')}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
