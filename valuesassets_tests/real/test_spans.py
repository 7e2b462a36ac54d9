"""Spans of texts on real weights against plain transformers."""

import math

import pytest

from valuesassets.models.certificate import LogitSpread, tolerance_of
from valuesassets.models.spans.entries import prepare_spans
from valuesassets.models.spans.scoring import score_spans
from valuesassets_tests.models.spans.texts import span_trial
from valuesassets_tests.real.plain import STEPS, Plain

pytestmark = [pytest.mark.slow, pytest.mark.real]
NUMBERS = ("0", "1", "2", "10", "21")
TEXTS = [
    f"{asked}\n" + "".join(f"{thing}: <<{(place + len(asked)) % 3}>>\n" for place, thing in enumerate(things.split()))
    for asked, things in {
        "How many are there at home?": "Chairs Tables Lamps Books Cats",
        "Wie viele gibt es zu Hause?": "Stühle Tische Lampen Bücher Katzen",
        "Combien y en a-t-il chez vous ?": "Chaises Tables Lampes Livres Chats",
        "¿Cuántos hay en casa?": "Sillas Mesas Luces Libros Gatos",
        "Quanti ce ne sono in casa?": "Sedie Tavoli Lampade Libri Gatti",
        "How often in a year?": "Rain Snow Fog Storms Frost",
        "Wie oft im Jahr?": "Regen Schnee Nebel Sturm Frost",
        "Combien de fois par an ?": "Pluie Neige Brume Orages Gel",
        "¿Cuántas veces al año?": "Lluvia Nieve Niebla Viento Sol",
        "Quante volte in un anno?": "Pioggia Neve Nebbia Vento Sole",
    }.items()
]


def test_fifty_spans_are_those_of_plain_transformers_within_rounding(real):
    trials = [span_trial(text, NUMBERS, f"p{number}") for number, text in enumerate(TEXTS)]
    entries = prepare_spans(real.loaded.opened, trials)
    result, oracle = score_spans(real.loaded, entries), Plain(real.folder, real.loaded.model)
    assert len(result.readings) == 50
    apart = []
    with LogitSpread().watching(real.loaded.model) as spread:
        for entry, reading in zip(entries, result.readings, strict=True):
            trial = entry.text.view.trial
            start = trial.readout.spans[entry.number].start
            expected = oracle.log_probs(trial.prompt[:start], NUMBERS, trial.readout.close)
            apart += [abs(math.log(a) - b) for a, b in zip(reading.label_probs, expected, strict=True)]
    allowed = tolerance_of(real.loaded.opened, spread.largest, STEPS)
    print(f"{len(apart)} candidates: {max(apart):.2g} nats at most, {allowed:.2g} allowed")
    assert max(apart) <= allowed
    assert result.certificate.agrees
