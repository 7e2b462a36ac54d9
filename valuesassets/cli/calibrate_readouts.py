"""`calibrate --readouts`: are answers of trained models recovered by spans, by labels and from written text?"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from valuesassets.answers.readout_calibration import Recovery, compare_routes, compare_sentences, compare_spans
from valuesassets.answers.readout_plants import (
    DRAWS,
    given_trials,
    label_trials,
    own_trials,
    planted_sentences,
    planted_transcripts,
    sentence_trials,
)
from valuesassets.cli.asking import ask_reference
from valuesassets.cli.outputs import progress_bar
from valuesassets.records.errors import MissingData
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.measuring import Phantom
from valuesassets.records.settings.prompting import AS_TEXT
from valuesassets.records.trials import Answer, Reading, Record, Trial

if TYPE_CHECKING:
    from valuesassets.models.loaded_model import LoadedModel

EFFECTS = {"follows-history": 0.3, "knows-no-history": 0.0}
"""Reference models of transcripts, and the share of their answers that repeat the one before."""
WRITER = "writes-sentences"
ROUTES: tuple[Literal["token_ids", "echo", "top_logprobs"], ...] = ("token_ids", "echo", "top_logprobs")


def calibrate_readouts(steps: int | None) -> None:
    """Train three reference models, read and write with them, and print each measure beside its bounds; MissingData
    names the first that lies outside, and no other model is tried then."""
    print(f"  {'model':<18}{'measure':<34}{'n':>6}{'found':>9}   {'bounds':<16}{'by chance':>9}")
    for name, effect in EFFECTS.items():
        by_route = dict[str, list[Reading]]()
        trials = [given_trials(), own_trials(), label_trials()]
        replies = _train_and_ask(name, planted_transcripts(effect), steps, trials, by_route)
        with_history, own_answers, labels = (
            [each for each in records if isinstance(each, Reading)] for records in replies
        )
        _print([*compare_spans(name, effect, with_history, own_answers), *compare_routes(name, labels, by_route)])
    replies = _train_and_ask(WRITER, planted_sentences(), steps, [sentence_trials(0, 1), sentence_trials(1, DRAWS)])
    greedy, drawn = [[record for record in records if isinstance(record, Answer)] for records in replies]
    _print(compare_sentences(WRITER, greedy, drawn))


def _train_and_ask(
    name: str,
    planted: Mapping[str, Mapping[str, float]],
    steps: int | None,
    lists: Sequence[list[Trial]],
    by_route: dict[str, list[Reading]] | None = None,
) -> list[list[Record]]:
    """The replies to each list of trials of a model that is trained to planted answers.

    Args:
        planted: probabilities of answers by prompt.
        by_route: where given, filled with the readings of the last list by each route behind an API.
    """
    from valuesassets.models.loading import load_model
    from valuesassets.models.reference import train_reference_model

    passes = steps or Phantom().steps
    with tempfile.TemporaryDirectory(prefix="valuesassets-") as folder:
        with progress_bar(f"training {name}") as tick:
            train_reference_model(planted, Path(folder, name), passes, 0, lambda done, _: tick(done, passes))
        loaded = load_model(f"{folder}/{name}", None, "float32", "cpu")
        replies = [ask_reference(name, loaded, trials, f"asking {name}") for trials in lists]
        if by_route is not None:
            by_route |= _by_routes(loaded, Path(folder, name), lists[-1])
    return replies


def _by_routes(loaded: "LoadedModel", folder: Path, trials: list[Trial]) -> dict[str, list[Reading]]:
    """The readings of trials by each route of an API, from a server on this machine that has the model."""
    from valuesassets.models.serving import MODEL, ServedModel
    from valuesassets.remote.asking import RemoteAsking

    readings = {}
    with ServedModel(loaded).serving() as server:
        for route in ROUTES:
            endpoint = Endpoint(
                provider="openai",
                base_url=server.base_url,
                api="completions",
                route=route,
                tokenizer=str(folder),
                max_width=1,
            )
            asking = RemoteAsking(MODEL, endpoint, AS_TEXT, trials)
            with progress_bar(f"asking by {route}") as tick:
                result, _ = asking.ask(asking.connect(None), tick)
            readings[route] = [record for record in result.records if isinstance(record, Reading)]
    return readings


def _print(rows: list[Recovery]) -> None:
    """Print the measures of one model; MissingData where one lies outside its bounds."""
    for row in rows:
        bounds = "" if row.low is None or row.high is None else f"{_short(row.low)} to {_short(row.high)}"
        chance = "" if row.by_chance is None else f"{row.by_chance:.3f}"
        verdict = "" if row.low is None else "recovered" if row.is_within else "OFF"
        beside = f"{_short(row.found, 4):>9}   {bounds:<16}{chance:>9}  {verdict}".rstrip()
        print(f"  {row.model:<18}{row.measure:<34}{row.n:>6}{beside}", flush=True)
    miss = next((row for row in rows if not row.is_within), None)
    if miss is not None:
        raise MissingData(
            f"{miss.model}: {miss.measure}: {miss.found:.3f} is not between {miss.low:.3f} and {miss.high:.3f}; "
            "train longer (--steps), or report it with the rows marked OFF"
        )


def _short(value: float, digits: int = 3) -> str:
    """A number in few digits; a small one by its power of ten.

    >>> _short(0.02), _short(0.00001), _short(0.0)
    ('0.020', '1e-05', '0.000')
    """
    return f"{value:.0e}" if 0 < abs(value) < 5 * 10 ** -(digits + 1) else f"{value:.{digits}f}"
