"""The first screen of worldwise: what a reader learns of models that are weak, refused, or were never read."""

import pandas as pd

from valuesassets.instruments.worldwise.analyses import analyses_of
from valuesassets.instruments.worldwise.measures.quality_report import derive_statuses
from valuesassets.instruments.worldwise.measures.reliability import choice_orders
from valuesassets.instruments.worldwise.report import report
from valuesassets.instruments.worldwise.report.report import claims, family_rows, gates, methods, weaknesses
from valuesassets.instruments.worldwise.tables import ADVOCATES, CHOICE_ORDERS, REFUSALS
from valuesassets.records.settings.cells import Family
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.records.study import load_study
from valuesassets.reporting.parts import Refused
from valuesassets.reporting.report import render_report
from valuesassets.reporting.run import Run
from valuesassets_tests.instruments.worldwise.made_tables import reasons
from valuesassets_tests.instruments.worldwise.measures.test_choice_orders import SIMULATIONS, choices_with

FAMILIES = ("sound", "by position", "refused")
STUDY = load_study("demo_worldwise").model_copy(
    update={"families": {name: Family(kind="huggingface", model_type="multi", model_id=name) for name in FAMILIES}}
)
CULTURES = {"JPN": "ORVA", "USA": "TESK", "IND": "MULD", "MEX": "KYPP"}
LOW = "median P_valid 0.06, at least 0.2 is asked for"
VERDICTS = {
    name: {"parts": {"ORVA": {"reason": reason, "override": None}}}
    for name, reason in zip(FAMILIES, (None, None, LOW), strict=True)
}


def run(status="ok", n_advocates=8):
    """A study of three families of which one was refused; what two wrote has one status."""
    chosen = {
        "sound": choices_with(**SIMULATIONS["lean"]),
        "by position": choices_with(p_valid=0.14, **SIMULATIONS["position"]),
    }
    chosen = {name: frame.assign(culture=frame["culture"].replace(CULTURES)) for name, frame in chosen.items()}
    written = reasons([(culture, 0, "IDV", {"status": status}) for culture in (*CULTURES.values(), "placebo")] * 4)
    statuses = [derive_statuses(name, frame, written) for name, frame in chosen.items()]
    advocates = [
        {"model": name, "axis": "IDV", "auc": 0.9, "p": 0.01, "is_told_apart": True, "n_advocates": n_advocates}
        for name in chosen
    ]
    refusals = [{"model": name, "form": "decide", "p": 0.6, "p_corrected": 0.6, "status": "ok"} for name in chosen]
    quality = {"statuses": pd.concat(statuses, ignore_index=True)}
    quality |= {"advocates": ADVOCATES.frame(advocates), "refusals": REFUSALS.frame(refusals)}
    orders = CHOICE_ORDERS.frame([choice_orders(name, frame, Thresholds()) for name, frame in chosen.items()])
    result = {"quality_report": quality, "reliability": {"orders": orders, "readouts": pd.DataFrame()}}
    return Run(STUDY, result | {"preflight": VERDICTS}, analyses_of(STUDY))


def outcomes(of):
    return {gate.sentence: gate for gate in gates(of)}


def test_every_family_of_the_study_has_a_row_and_one_that_was_refused_says_so():
    sound, by_position, refused = family_rows(run())
    assert [row["preflight"] for row in (sound, by_position, refused)] == ["passed", "passed", "failed in 1 of 1 cells"]
    assert [row["cells"] for row in (sound, by_position, refused)] == ["6 of 6", "6 of 6", "0 of 6"]
    assert (sound["follow"], by_position["follow"], refused["follow"]) == ("options", "position", None)
    assert (by_position["changed"], by_position["p_valid"]) == (1.0, 0.14)


def test_the_first_sentences_are_of_weak_models_and_none_of_a_sound_one():
    sentences = weaknesses(run())
    assert len(sentences) == 2
    assert sentences[0].startswith(
        "by position seldom answers what was asked: the median P_valid of its choices is 0.14"
    )
    assert "by position chooses by position: 96 of 96 choices prefer the other option once both are ex" in sentences[0]
    assert sentences[1] == f"refused failed its preflight and chose nothing: {LOW}."


def test_gates_fail_where_models_are_refused_missing_unread_or_go_by_position():
    outcome_rows = outcomes(run())
    failed = [sentence for sentence, gate in outcome_rows.items() if gate.outcome == "failed"]
    assert failed == [
        "Every cell of refused passed its preflight.",
        "Every model was asked as every culture and control.",
        "Models answer what they are asked: their median P_valid is high enough.",
        "Choices follow what is offered, and not the places at which it stands.",
    ]
    assert outcome_rows["What models wrote can be read."].outcome == "passed"
    assert outcome_rows["Every model was asked as every culture and control."].found.startswith(
        "12 of 18 cells; not refused"
    )


def test_where_no_text_was_read_the_gate_fails_however_many_were_written():
    gate = outcomes(run(status="unparsed"))["What models wrote can be read."]
    assert (gate.outcome, gate.found) == (
        "failed",
        "sound 0%, 80% is asked for; by position 0%, 80% is asked for",
    )


def test_methods_count_who_chose_and_name_who_did_not():
    texts = " ".join(methods(run()))
    assert texts.startswith("Two models (sound and by position) chose in dilemmas")
    assert "refused chose nothing and is in no table." in texts


def test_nothing_is_claimed_of_a_model_that_goes_by_position():
    pairs = pd.DataFrame(
        [
            {"model": "by position", "readout": "choice", "status": "refused", "reason": "by position chooses by ..."},
            {"model": "sound", "readout": "choice", "status": "ok", "reason": None, "culture": "A"}
            | {"other_culture": "B", "is_told_apart": True},
        ]
    )
    of = run()
    page_claims = claims(Run(STUDY, {**of.found, "alignment": {"culture_pairs": pairs}}, of.analyses))
    entries = {claim.sentence: claim for claim in page_claims}
    assert not entries["by position's choices change with the culture of the persona."].is_supported
    assert entries["by position's choices change with the culture of the persona."].because.startswith("by position ch")
    assert entries["sound's choices change with the culture of the persona."].is_supported


def test_the_page_begins_with_what_models_are_worth():
    of = run()
    result = {name: of.found.get(name, Refused("not made")) for name in of.analyses}
    page = render_report(Run(STUDY, result | {"preflight": VERDICTS}, of.analyses), report)
    methods_at = page.index('id="methods"')
    assert page.index("refused failed its preflight and chose nothing") < methods_at
    assert page.index("What each model of the study is worth as an answerer.") < methods_at
