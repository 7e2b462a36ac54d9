"""What a report opens with follows from the run's tables; where there are none it says why."""

import pandas as pd
import pytest

from valuesassets.answers.quality_report import report_quality
from valuesassets.comparing.signal import HEADLINE, NONE, SIGNAL
from valuesassets.instruments.survey.report.report import opening
from valuesassets.records.study import load_study
from valuesassets.reporting.parts import Refused
from valuesassets_tests.figures.made_up import controls_frame, probe_frame, recovery_frame
from valuesassets_tests.instruments.survey.whole_report import Fault, made

STUDY = load_study("demo_survey")
MONO, MULTI = STUDY.families
CALIBRATED, ORDERS, READABLE, SURVIVES, PERSONS = range(5)


def opened(**found):
    return opening(made(STUDY, **found))


def signal(mono=SIGNAL, multi=NONE, reason=None):
    numbers = {"model": [MONO, MULTI], "r": [0.91, 0.1], "low": [0.84, -0.2], "high": [0.95, 0.4]}
    verdicts = {"model": [MONO, MULTI], "verdict": [mono, multi], "reason": [reason, None]}
    correlations = pd.DataFrame(numbers).assign(kind=HEADLINE, n_languages=6)
    return {"correlations": pd.concat([correlations.assign(kind="raw", r=0.99), correlations])} | {
        "verdicts": pd.DataFrame(verdicts)
    }


def reliability(is_reliable):
    estimate = 0.8 if is_reliable else 0.2
    ends = {"generalizability_low": estimate - 0.1, "generalizability_high": estimate + 0.1}
    row = {"model": MONO, "generalizability": estimate, "threshold": 0.5, "is_reliable": is_reliable, "reason": None}
    return {"families": pd.DataFrame([row | ends])}


@pytest.mark.parametrize(("n_indicators", "said"), [([0, 0], "none of its ten"), ([5, 3], "at most 5 of its ten")])
def test_a_map_without_models_is_not_drawn_and_it_is_said_why(n_indicators, said):
    points = pd.DataFrame({"kind": "model", "model": [MONO, MULTI], "n_indicators": n_indicators})
    points = points.assign(drawn=False, is_distinguishable=None)
    section = opened(cultural_map={"points": points})
    assert section.pictures == []
    assert section.refusals == [f"No model stands on the map: {said} indicators can be had, 6 are needed."]


def test_each_family_has_a_sentence_with_the_number_that_decides():
    lead = opened(signal=signal()).lead
    assert list(lead) == [MONO, MULTI]
    assert lead[MONO].startswith("answers like the countries of its languages (r\xa00.91 [0.84, 0.95] with")
    assert lead[MULTI].startswith("no cultural signal (r\xa00.10 [-0.20, 0.40] with")
    assert all(sentence.endswith("was not measured.") for sentence in lead.values())


@pytest.mark.parametrize(
    ("is_reliable", "said"),
    [
        (
            True,
            "; what sets its languages apart replicates in other wordings (generalizability 0.80 [0.70, 0.90]).",
        ),
        (
            False,
            "; but what sets its languages apart does not replicate in other wordings (generalizability 0.20 ",
        ),
    ],
)
def test_a_sentence_says_whether_it_would_come_out_again(is_reliable, said):
    assert said in opened(signal=signal(), reliability=reliability(is_reliable)).lead[MONO]


def test_what_repeats_of_a_pull_alone_is_said_with_the_number_that_decides():
    tables = reliability(is_reliable=True)
    of_leans = {"beyond_position": 0.03, "beyond_position_low": 0.0, "beyond_position_high": 0.1}
    tables["families"] = tables["families"].assign(is_reliable=False, **of_leans)
    assert (
        "does not replicate in other wordings (generalizability 0.80 [0.70, 0.90], beyond position 0.03 "
    ) in opened(signal=signal(), reliability=tables).lead[MONO]


def test_a_family_without_a_verdict_has_its_reason_in_place_of_a_number():
    lead = opened(signal=signal(mono=None, reason="3 languages, 4 or more are needed")).lead
    assert lead[MONO] == (
        "whether it answers like the countries of its languages cannot be said: 3 languages, 4 or more are needed."
    )


def test_every_box_says_that_nobody_has_looked_where_nothing_was_made():
    boxes = opened().boxes
    assert [(box.outcome, box.answer) for box in boxes] == [("unknown", "Not known")] * 5
    assert all(box.because[0].isupper() and box.because.endswith("again.") for box in boxes)


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, "yes"),
        ({"calibration": {"recovery": recovery_frame().assign(is_recovered=False)}}, "no"),
        ({"negative_controls": controls_frame().assign(fails=[True, False])}, "no"),
        ({"calibration": Refused("no model was calibrated")}, "unknown"),
    ],
)
def test_the_instrument_is_calibrated_where_plants_come_back_and_wrong_languages_fail(changes, outcome):
    whole = {"calibration": {"recovery": recovery_frame()}, "negative_controls": controls_frame()}
    box = opened(**(whole | changes)).boxes[CALIBRATED]
    assert box.outcome == outcome
    assert box.anchor == "calibration"


def test_readings_are_usable_in_part_where_a_cell_is_missing():
    probe = probe_frame()
    whole = report_quality(probe, STUDY.cells(), STUDY.thresholds).frames()
    lacking = report_quality(probe[probe["language"] != "bul"], STUDY.cells(), STUDY.thresholds).frames()
    n, n_usable = len(whole["readings"]), int(whole["readings"]["is_usable"].sum())
    box = opened(quality=whole).boxes[READABLE]
    assert box.because.startswith(f"{n_usable:,} of {n:,} answers; ")
    assert box.answer == f"{n_usable / n:.0%} of them"
    assert opened(quality=lacking).boxes[READABLE].outcome == "partly"


@pytest.mark.parametrize(
    ("found", "outcome", "answer"),
    [
        ({"signal": signal(multi=SIGNAL)}, "yes", "In 2 of 2 families"),
        ({"signal": signal()}, "partly", "In 1 of 2 families"),
        ({"signal": signal(mono=NONE)}, "no", "In none of 2 families"),
        ({"signal": signal(), "reliability": reliability(False)}, "no", "In none of 2 families"),
    ],
)
def test_a_signal_survives_in_the_families_whose_verdict_says_so_and_is_reliable(found, outcome, answer):
    box = opened(**found).boxes[SURVIVES]
    assert (box.outcome, box.answer, box.anchor) == (outcome, answer, "signal")


@pytest.mark.parametrize(
    ("faults", "outcome", "answer"),
    [
        ({}, "unknown", "Not known"),
        ({language: [] for language in STUDY.languages}, "yes", "None"),
        ({"bul": [Fault("v7", 3, "option 2 has no label")]}, "partly", "bul (1)"),
    ],
)
def test_languages_whose_extraction_has_faults_need_a_person(faults, outcome, answer):
    box = opened(extraction_faults=faults).boxes[PERSONS]
    assert (box.outcome, box.answer, box.anchor) == (outcome, answer, "extraction")
    assert ("Not extracted yet: eng" in box.because) == (len(faults) < len(STUDY.languages))


def position_bias(**follows):
    rows = [
        {"model": model, "language": language, "follows": each, "share_changed": 0.9, "note": f"{model} {each}"}
        for model, cells in follows.items()
        for language, each in zip(STUDY.languages, cells, strict=False)
    ]
    return {"cells": pd.DataFrame(rows)}


def test_a_family_whose_answers_follow_position_is_said_to_before_anything_else():
    follows = {MONO: ["position", "position"], MULTI: ["options", "position", None]}
    lead = opened(signal=signal(), position_bias=position_bias(**follows)).lead
    assert lead[MONO].startswith("follows the position of the options in 2 of 2 languages, not what they say: 90% of")
    assert lead[MONO].endswith("These answers are no evidence of values.")
    said = "But it follows the position of the options in 1 of 2 languages, not what they say: 90% of the answers there"
    assert lead[MULTI].startswith(f"{opened(signal=signal()).lead[MULTI]} {said}")
    other = opened(position_bias=position_bias(**{MONO: ["neither"]})).lead[MONO]
    assert other.startswith("gives answers that do not replicate once the options are reversed: 90% of the answers")


def test_a_family_most_of_whose_cells_follow_position_survives_nothing():
    for follows, n in (["position", "position", "options"], 1), (["position", "options", "options"], 2):
        bias = position_bias(**{MULTI: follows})
        assert opened(signal=signal(multi=SIGNAL), position_bias=bias).boxes[SURVIVES].answer == f"In {n} of 2 families"


def test_answers_that_follow_the_options_are_not_doubted():
    lead = opened(signal=signal(), position_bias=position_bias(**{MONO: ["options", "options under a pull"]})).lead
    assert lead == opened(signal=signal()).lead


def test_no_signal_survives_in_families_whose_answers_follow_position():
    follows = position_bias(**{MONO: ["position"], MULTI: ["neither"]})
    box = opened(signal=signal(multi=SIGNAL), position_bias=follows).boxes[SURVIVES]
    assert (box.outcome, box.answer) == ("no", "In none of 2 families")
    one = opened(signal=signal(multi=SIGNAL), position_bias=position_bias(**{MONO: ["position"]})).boxes[SURVIVES]
    assert (one.outcome, one.answer) == ("partly", "In 1 of 2 families")


def test_readings_name_the_cells_that_were_read_where_some_are_missing():
    lacking = report_quality(probe_frame().query("language != 'bul'"), STUDY.cells(), STUDY.thresholds).frames()
    n_missing = int(lacking["cells"]["is_missing"].sum())
    box = opened(quality=lacking).boxes[READABLE]
    assert n_missing > 0
    assert box.answer == f"In {len(lacking['cells']) - n_missing} of {len(lacking['cells'])} cells"


def test_whether_answers_follow_the_options_is_asked_before_whether_they_can_be_used():
    whole = report_quality(probe_frame(), STUDY.cells(), STUDY.thresholds).frames()
    nobody_looked = opened(quality=whole).boxes[ORDERS]
    assert (nobody_looked.outcome, nobody_looked.answer) == ("unknown", "Not known")
    some = opened(quality=whole, position_bias=position_bias(**{MONO: ["position"], MULTI: ["options"]})).boxes
    assert (some[ORDERS].outcome, some[ORDERS].answer) == ("partly", "In 1 of 2 cells")
    assert MONO in some[ORDERS].because
    every = opened(quality=whole, position_bias=position_bias(**{MONO: ["position"], MULTI: ["neither"]})).boxes
    assert (every[ORDERS].outcome, every[ORDERS].answer) == ("no", "In none of 2 cells")
    assert every[READABLE].outcome == "no"
    assert every[READABLE].because.endswith("In two cells they do not follow the options.")
    assert opened(position_bias=position_bias(**{MONO: ["options"]})).boxes[ORDERS].outcome == "yes"


def test_answers_whose_orders_could_not_be_compared_are_said_to_be_read_and_not_to_be_usable():
    whole = report_quality(probe_frame(), STUDY.cells(), STUDY.thresholds).frames()
    alone = STUDY.model_copy(update={"human": STUDY.human.model_copy(update={"source": "none"})})
    too_few = position_bias(**{MONO: [None], MULTI: [None]})
    section = opening(made(alone, quality=whole, position_bias=too_few))
    assert (
        section.lead[MONO]
        == "answers were read: 178 of 180 in six languages; whether they follow the options is not known."
    )
    box = opened(quality=whole, position_bias=too_few).boxes[READABLE]
    assert (box.outcome, box.answer) == ("unknown", "Read: 98% of them")
    assert box.because.endswith("Whether they follow the options is not known.")


def test_without_people_the_opening_says_what_was_answered_and_asks_for_no_signal():
    whole = report_quality(probe_frame(), STUDY.cells(), STUDY.thresholds).frames()
    alone = STUDY.model_copy(update={"human": STUDY.human.model_copy(update={"source": "none"})})
    section = opening(made(alone, quality=whole))
    assert section.lead[MONO].startswith("answers can be used: ")
    assert not [box for box in section.boxes if "signal" in box.question or "people" in box.because]
