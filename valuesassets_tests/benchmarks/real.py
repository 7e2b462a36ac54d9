"""Small models that people use: the engine beside the seed's algorithm and lm-evaluation-harness on real weights."""

from collections.abc import Sequence
from pathlib import Path

from valuesassets.models.certificate import LogitSpread, tolerance_of
from valuesassets.models.index_registry import PREFIX, find_index_file, index_models
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.loading import load_model
from valuesassets_tests.benchmarks import lm_eval_harness, paired
from valuesassets_tests.benchmarks.evidence import Entries, Tell, not_measured
from valuesassets_tests.benchmarks.workload import Asked, cut_slices, questions_in
from valuesassets_tests.real.plain import STEPS
from valuesassets_tests.real.prompts import LANGUAGES

AGREEMENT = 6
"""Questions compared before anything is timed."""


def choose_real_questions(count: int) -> list[Asked]:
    """`count` questions of the bundled questionnaires, as many in each of six languages."""
    each = -(-count // len(LANGUAGES))
    return [asked for language in LANGUAGES for asked in questions_in(language)[:each]][:count]


def allowed_difference(loaded: LoadedModel, questions: Sequence[Asked]) -> float:
    """What rounding explains of a label's log-probability in this model, in nats."""
    with LogitSpread().watching(loaded.model) as spread:
        paired.run_engine(loaded, questions)
    return tolerance_of(loaded.opened, spread.largest, STEPS)


def measure(models: Sequence[str], questions: Sequence[Asked], slices: int, tell: Tell) -> Entries:
    """Entries for each model; a reason where one of the index is not on this machine.

    Args:
        models: folders, or names of the index as `index:NAME`; none are all that the index has.
    """
    entries: Entries = {}
    for model in models or [f"{PREFIX}{name}" for name in index_models()]:
        name = Path(model.removeprefix(PREFIX)).name
        if model.startswith(PREFIX) and find_index_file(name) is None:
            entries[f"engine_vs_seed_{name}"] = not_measured(f"needs: valuesassets models get {name}")
            continue
        loaded = load_model(model, dtype="float32", device="cpu")
        paired.warm_up(loaded, questions)
        sample = cut_slices(questions, max(len(questions) // AGREEMENT, 1))[0]
        tolerance = allowed_difference(loaded, sample)
        has_harness = lm_eval_harness.is_installed()
        entries |= paired.compare(loaded, name, questions, slices, AGREEMENT, has_harness, tell, tolerance=tolerance)
    return entries
