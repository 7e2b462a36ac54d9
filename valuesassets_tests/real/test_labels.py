"""Labels on real weights against plain transformers, in six languages; what a certificate sees there."""

import numpy as np
import pytest

from valuesassets.models.certificate import LogitSpread, tolerance_of
from valuesassets.records.trials import Status
from valuesassets_tests.models.batch_faults import FAULTS
from valuesassets_tests.real.plain import STEPS, InFloat64, Plain
from valuesassets_tests.real.prompts import prompts
from valuesassets_tests.scored import score_trials

pytestmark = [pytest.mark.slow, pytest.mark.real]


def differences(oracle, trials, readings):
    """By how many nats each label's log-probability differs from what is found by the definition."""
    assert {reading.status for reading in readings} == {Status.OK}
    expected = [oracle.label_probs(trial.prompt, trial.labels) for trial in trials]
    found = [reading.label_probs for reading in readings]
    return np.abs(np.log(np.concatenate(found)) - np.log(np.concatenate(expected)))


def test_labels_in_float32_are_those_of_plain_transformers_within_rounding(real):
    asked = prompts(34, 8)
    assert len(asked) >= 200
    result = score_trials(real.loaded, asked)
    with LogitSpread().watching(real.loaded.model) as spread:
        apart = differences(Plain(real.folder, real.loaded.model), asked, result.readings)
    allowed = tolerance_of(real.loaded.opened, spread.largest, STEPS)
    print(f"{len(apart)} labels: {apart.max():.2g} nats at most, median {np.median(apart):.2g}, {allowed:.2g} allowed")
    assert apart.max() <= allowed < 1e-3
    assert result.certificate.agrees
    assert result.certificate.share_moved < 1e-4


def test_labels_in_float64_are_those_of_plain_transformers(real):
    asked = prompts(4, 1)
    with InFloat64():
        apart = differences(Plain(real.folder, real.exact.model), asked, score_trials(real.exact, asked).readings)
    assert apart.max() <= 1e-9


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_of_batches_are_seen(fault, real):
    asked = prompts(2, 1)[:4]
    assert real.loaded.tree_fault is None
    with FAULTS[fault](real.loaded.model):
        certificate = score_trials(real.loaded, asked).certificate
    print(f"{fault}: {certificate.max_difference:.2g} nats, {certificate.tolerance:.2g} allowed")
    assert certificate.max_difference > 20 * certificate.tolerance
