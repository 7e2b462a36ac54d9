"""`ReadCell`: the readings of one cell with their trials, and the metrics that files for other tools give of each."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.trials import Reading, Trial

LEAST = 5e-324
"""The number that replaces a probability of 0, whose logarithm JSON cannot hold."""
METRICS = {
    "p_valid": "probability of all answers together",
    "mean_unit": "mean answer, with the lowest code at 0 and the highest at 1",
}
"""The metrics of each reading by name, in words."""


@dataclass(frozen=True)
class ReadCell:
    """The readings of one cell.

    Attributes:
        study, instrument, family, part: the names that the study has for them.
        metadata: the metadata of the readings' file, as JSON by name: `model`, `revision`, `dtype` and others.
        readings: each trial of labels with its reading.
        read_at: the time at which the file was written.
    """

    study: str
    instrument: str
    family: str
    part: str
    metadata: Mapping[str, str]
    readings: Sequence[tuple[Trial, Reading]]
    read_at: datetime

    @property
    def task(self) -> str:
        """The name of the task, unique within the study."""
        return f"{self.study}_{self.instrument}_{self.part}"

    @property
    def model(self) -> str:
        """The model's hub id, or the last two names of its folder."""
        model = self.plain("model") or self.family
        return "/".join(model.rstrip("/").split("/")[-2:])

    @property
    def created(self) -> str:
        """The time of reading in ISO 8601."""
        return self.read_at.astimezone(UTC).isoformat(timespec="seconds")

    def plain(self, name: str) -> str:
        """The metadata under a name as plain text, without the quotes of JSON; empty if there are none."""
        return self.metadata.get(name, "").strip('"').replace("null", "")

    def scored(self) -> Iterator[tuple[Trial, Reading, dict[str, float]]]:
        """Each trial with its reading and its metrics; a trial that could not be read has none."""
        for trial, reading in self.readings:
            yield trial, reading, metrics_of(trial, reading)


def metrics_of(trial: Trial, reading: Reading) -> dict[str, float]:
    """The metrics of a reading by name; those without a number are left out."""
    if reading.label_probs is None or reading.p_valid is None:
        return {}
    metrics, values = {"p_valid": reading.p_valid}, labels_of(trial).values
    low, high = min(values), max(values)
    if reading.p_valid > 0 and high > low:
        mean = math.fsum(prob * value for prob, value in zip(reading.label_probs, values, strict=True))
        metrics["mean_unit"] = (mean / reading.p_valid - low) / (high - low)
    return metrics


def labels_of(trial: Trial) -> ScoreLabels:
    """The readout of a trial of labels."""
    assert isinstance(trial.readout, ScoreLabels)  # noqa: S101
    return trial.readout


def log_probs(reading: Reading) -> list[float]:
    """Natural logarithms of the labels' probabilities; empty where the trial was not read."""
    return [math.log(max(prob, LEAST)) for prob in reading.label_probs or ()]
