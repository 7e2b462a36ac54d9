"""`calibrate --readouts`: spans and written answers, tried on models whose answers are known beforehand."""

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
from valuesassets.cli.outputs import progress_bar, require_no_doubt
from valuesassets.records.errors import MissingData
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.measuring import Phantom
from valuesassets.records.settings.prompting import AS_TEXT
from valuesassets.records.trials import Answer, Reading, Trial

if TYPE_CHECKING:
    from valuesassets.models.loaded_model import LoadedModel

EFFECTS = {"follows-history": 0.3, "knows-no-history": 0.0}
"""Reference models of transcripts, and the share of their answers that repeat the one before."""
WRITER = "writes-sentences"
ROUTES: tuple[Literal["token_ids", "echo", "top_logprobs"], ...] = ("token_ids", "echo", "top_logprobs")


def calibrate_readouts(steps: int | None) -> None:
    """Train three reference models, read and write with them, and print what came back beside its bounds.

    Raises:
        MissingData: something of a model lies outside its bounds; names the first. No other model is tried then.
    """
    print(f"  {'model':<18}{'measure':<34}{'n':>6}{'found':>9}   {'bounds':<16}{'by chance':>9}")
    for name, effect in EFFECTS.items():
        elsewhere = dict[str, list[Reading]]()
        asked = [given_trials(), own_trials(), label_trials()]
        found = _asked(name, planted_transcripts(effect), steps, asked, elsewhere)
        given, own, labels = ([each for each in records if isinstance(each, Reading)] for records in found)
        _print([*compare_spans(name, effect, given, own), *compare_routes(name, labels, elsewhere)])
    greedy, drawn = _asked(WRITER, planted_sentences(), steps, [sentence_trials(0, 1), sentence_trials(1, DRAWS)])
    written = [[record for record in records if isinstance(record, Answer)] for records in (greedy, drawn)]
    _print(compare_sentences(WRITER, *written))


def _asked(
    name: str,
    planted: Mapping[str, Mapping[str, float]],
    steps: int | None,
    asked: Sequence[list[Trial]],
    elsewhere: dict[str, list[Reading]] | None = None,
) -> list[Sequence[Reading | Answer]]:
    """What a model that is trained to plants gives back to each list of trials.

    Args:
        elsewhere: where given, filled with what the last list comes to by each route behind an API.
    """
    from valuesassets.models.asking import Asking
    from valuesassets.models.loading import load_model
    from valuesassets.models.reference import train_reference_model

    passes, found = steps or Phantom().steps, []
    with tempfile.TemporaryDirectory(prefix="valuesassets-") as folder:
        with progress_bar(f"training {name}") as tick:
            train_reference_model(planted, Path(folder, name), passes, 0, lambda done, _: tick(done, passes))
        loaded = load_model(f"{folder}/{name}", None, "float32", "cpu")
        for trials in asked:
            with progress_bar(f"asking {name}") as tick:
                result, _ = Asking(loaded.opened, trials).ask(loaded, tick, None)
            require_no_doubt(name, result)
            found.append(result.records)
        if elsewhere is not None:
            elsewhere |= _by_routes(loaded, Path(folder, name), asked[-1])
    return found


def _by_routes(loaded: "LoadedModel", folder: Path, trials: list[Trial]) -> dict[str, list[Reading]]:
    """What trials come to by each route, the model standing behind a server on this machine."""
    from valuesassets.models.serving import MODEL, ServedModel
    from valuesassets.remote.asking import RemoteAsking

    found = {}
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
            found[route] = [record for record in result.records if isinstance(record, Reading)]
    return found


def _print(rows: list[Recovery]) -> None:
    """Print what came back of one model.

    Raises:
        MissingData: something lies outside its bounds.
    """
    for row in rows:
        bounds = "" if row.low is None or row.high is None else f"{_short(row.low)} to {_short(row.high)}"
        chance = "" if row.by_chance is None else f"{row.by_chance:.3f}"
        verdict = "" if row.low is None else "recovered" if row.is_within else "OFF"
        beside = f"{_short(row.found, 4):>9}   {bounds:<16}{chance:>9}  {verdict}".rstrip()
        print(f"  {row.model:<18}{row.measure:<34}{row.n:>6}{beside}", flush=True)
    off = next((row for row in rows if not row.is_within), None)
    if off is not None:
        raise MissingData(
            f"{off.model}: {off.measure}: {off.found:.3f} is not between {off.low:.3f} and {off.high:.3f}; "
            "train longer (--steps), or report it with the rows marked OFF"
        )


def _short(value: float, digits: int = 3) -> str:
    """A number in few digits; a small one by its power of ten.

    >>> _short(0.02), _short(0.00001), _short(0.0)
    ('0.020', '1e-05', '0.000')
    """
    return f"{value:.0e}" if 0 < abs(value) < 5 * 10 ** -(digits + 1) else f"{value:.{digits}f}"
