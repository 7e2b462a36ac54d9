"""What a run lets its reader claim follows from what passed, and never from what was not made."""

import pandas as pd
import pytest

from valuesassets.answers.quality_report import report_quality
from valuesassets.comparing.signal import SIGNAL, STYLE
from valuesassets.instruments.survey.report.report import claims as derive_claims
from valuesassets.records.study import load_study
from valuesassets.reporting.analyses import CALIBRATION, MAP
from valuesassets.reporting.claims import beside_claims, by_question
from valuesassets.reporting.page_parts import claims_section, origins_section
from valuesassets.reporting.parts import Claim, Gate, Refused, Section
from valuesassets_tests.figures.made_up import controls_frame, human_frame, probe_frame, recovery_frame
from valuesassets_tests.figures.made_up_analyses import map_frame
from valuesassets_tests.instruments.survey.whole_report import made

TESTS = pd.DataFrame(
    {
        "test_family": ["signal", "signal", "signal, other centrings"],
        "test": ["a: languages answer like their own country", "b: languages answer like their own country", "a (raw)"],
        "statistic": "r",
        "value": [0.41, 0.02, 0.7],
        "p": [0.004, 0.4, 0.001],
        "p_corrected": [0.008, 0.4, 0.001],
        "correction": "holm",
        "is_rejected": [True, False, True],
        "n_resamples": 2000,
        "verdict": [None, "nothing varies", None],
    }
)


def run(name="demo_survey", **changes):
    study, probe = load_study(name), probe_frame()
    parts = {
        "gates": [Gate("All is well.", True), Gate("Nothing was dropped.", False, "v9")],
        "calibration": {"recovery": recovery_frame()},
        "negative_controls": controls_frame(),
        "human": human_frame(),
        "probe": probe,
        "quality": report_quality(probe, study.cells(), study.thresholds).frames(),
        "cultural_map": {"points": map_frame()},
    }
    return made(study, **(parts | changes))


def claims(run, is_supported):
    return {c.sentence: c.because for c in derive_claims(run) if c.is_supported is is_supported}


def test_a_planted_study_claims_nothing_about_models_or_people():
    refused = claims(run(), False)
    assert {"Anything about the values of any model.", "Anything about people."} <= set(refused)
    assert "planted" in refused["Anything about people."]


def test_planted_families_beside_real_ones_are_named():
    demo, evs = load_study("demo_survey"), load_study("evs2017")
    mixed = evs.model_copy(update={"families": evs.families | {"reference-mono": demo.families["reference-mono"]}})
    refused = claims(made(mixed), False)
    assert "Anything about the values of reference-mono." in refused
    assert "Anything about people." not in refused


def test_exactness_is_claimed_only_where_every_cell_came_back_and_every_wrong_language_failed():
    assert any(one.startswith("The readings recover planted answers") for one in claims(run(), True))
    wrong = run(negative_controls=controls_frame().assign(fails=[True, False]))
    (said,) = [one for one in claims(wrong, False) if "recover planted" in one]
    assert "1 of 2 pairs" in claims(wrong, False)[said]
    off = recovery_frame().assign(is_recovered=False)
    assert any("recover planted" in one for one in claims(run(calibration={"recovery": off}), False))


@pytest.mark.parametrize("changes", [{"negative_controls": Refused("not run")}, {"calibration": Refused("not run")}])
def test_what_was_not_run_supports_nothing(changes):
    refused = claims(run(**changes), False)
    assert any("not run" in because for because in refused.values())


def test_a_study_that_plants_nothing_says_that_exactness_was_not_looked_at():
    refused = claims(run("evs2017", calibration=Refused("not made")), False)
    assert refused["That the readings are exact on these prompts."] == "nothing was planted in this study"


def test_a_study_that_calibrates_itself_says_what_came_back_as_any_other():
    assert any(one.startswith("The readings recover planted answers") for one in claims(run("evs2017"), True))


def test_hollow_and_undrawn_points_have_no_place_and_are_named():
    points = map_frame(absent=("lvs", "bul"))
    refused = claims(run(cultural_map={"points": points}), False)
    assert "A place on the map for reference-mono fra and reference-multi fra." in refused
    assert "A place on the map for reference-mono bul and reference-multi bul." in refused
    supported = claims(run(cultural_map={"points": points}), True)
    assert "8 of 10 model points on the map differ from answers without content." in supported


def test_tests_that_decide_are_claims_and_those_beside_them_are_not():
    tests = TESTS.assign(test_family=TESTS["test_family"].replace("signal", "map"))
    supported, refused = (claims(run(distances={"tests": tests}), is_supported) for is_supported in (True, False))
    because = supported["a: languages answer like their own country."]
    assert because == "map: r 0.41, corrected p = 0.008"
    assert refused["b: languages answer like their own country."].endswith("corrected p = 0.4; nothing varies")
    assert not any("(raw)" in sentence for sentence in (*supported, *refused))


def test_a_signal_is_claimed_by_its_verdict_and_not_by_one_correlation():
    verdicts = pd.DataFrame({"model": ["a", "b"], "verdict": [STYLE, SIGNAL], "reason": None})
    found = run(signal={"verdicts": verdicts, "tests": TESTS})
    supported, refused = (claims(found, is_supported) for is_supported in (True, False))
    said = "{}: languages answer like their own countries."
    assert said.format("b") in supported
    assert refused[said.format("a")] == f"signal: {STYLE}"
    assert not any("own country." in sentence for sentence in supported)


def test_rankings_of_an_unreliable_family_support_nothing():
    families = pd.DataFrame({"model": ["a"], "threshold": 0.5, "generalizability": [0.1], "is_reliable": [False]})
    tests = TESTS.assign(test_family=TESTS["test_family"].replace("signal", "own country"))
    found = run(distances={"tests": tests}, reliability={"families": families})
    said = "a: languages answer like their own country."
    assert said not in claims(found, True)
    assert claims(found, False)[said].endswith("the family's answers are not reliable")


def test_an_unreliable_family_and_one_that_was_not_measured_support_nothing():
    families = pd.DataFrame(
        {"model": ["a", "b", "c"], "threshold": 0.5, "generalizability": [0.8, 0.2, None]}
        | {"is_reliable": [True, False, None], "reason": [None, None, "one wording only"]}
    )
    found = run(reliability={"families": families})
    again = "replicate in other wordings."
    assert f"The differences between the languages of a {again}" in claims(found, True)
    refused = claims(found, False)
    low = refused[f"That the differences between the languages of b {again}"]
    assert low.startswith("generalizability 0.2; at least 0.5 is required")
    assert refused[f"That the differences between the languages of c {again}"] == "one wording only"


def test_the_section_lists_what_was_left_out_tests_seeds_versions_and_hashes():
    provenance = [{"what": "form eng", "sha256": "ab"}]
    found = run(signal={"tests": TESTS}, versions={"Python": "3.11", "scorer": "3"}, provenance=provenance)
    section = claims_section(found, [], [Section("map", "Map", refusals=["no points"])])
    beside_claims(section, found)
    origins = origins_section(found)
    captions = [table.caption for table in section.tables]
    assert captions == [
        "Answers that no analysis uses, by reason.",
        "Every test of this run, p corrected within its family; a test counts at 0.05 or below.",
    ]
    assert [table.caption for table in origins.tables] == [
        "Files, models and cells, with their hashes.",
        "Seeds and versions.",
    ]
    left_out = section.tables[0]
    assert left_out.columns == ("standing", "reason", "answers", "items", "cells")
    unused = ~found.quality["readings"].is_usable.astype(bool)
    assert sum(int(row[2].text) for row in left_out.rows) == unused.sum() > 0
    versions = {row[0].text: row[1].text for row in origins.tables[1].rows}
    assert versions == {"seed of the study": "20170620", "Python": "3.11", "scorer": "3"}
    assert section.refusals == ["Map: no points"]
    assert "Gates: 1 passed, 1 failed, 0 not checked." in section.paragraphs


def test_an_empty_run_claims_nothing_and_fails_nowhere():
    none = {"calibration": Refused("none"), "negative_controls": Refused("none")}
    found = derive_claims(made(load_study("evs2017"), **none, human=Refused("no human data: the study names none")))
    assert found
    assert not any(claim.is_supported for claim in found)
    assert any("no human data" in claim.because for claim in found)


def test_cells_that_are_missing_and_items_that_were_dropped_are_listed_with_their_reasons():
    study, probe = load_study("demo_survey"), probe_frame()
    faint = probe.question_id == probe.question_id.iloc[0]
    probe.loc[faint, ["p_valid", "p_valid_forward", "p_valid_reversed"]] = 0.01
    partial = probe[probe.language != "bul"]
    quality = report_quality(partial, study.cells(), study.thresholds).frames()
    found = run(probe=partial, quality=quality)
    section = claims_section(found, derive_claims(found), [])
    beside_claims(section, found)
    cells, items = section.tables[:2]
    assert [row[0].text for row in cells.rows] == ["reference-mono bul", "reference-multi bul"]
    assert {row[1].text for row in cells.rows} == {"not probed yet"}
    assert items.rows[0][0].text == probe.question_id.iloc[0]
    assert any("reference-mono in bul and reference-multi in bul" in claim.sentence for claim in section.claims)


def test_claims_stand_by_question_in_the_order_made_and_unknown_questions_last():
    asked = [MAP, "Own question", CALIBRATION, "", MAP]
    claims = [Claim(str(number), True, "", question) for number, question in enumerate(asked)]
    assert [claim.sentence for claim in by_question(claims)] == ["2", "0", "4", "3", "1"]


def test_tests_that_measured_nothing_are_one_line_for_each_family_of_tests():
    tests = TESTS.iloc[[0] * 5].assign(
        test_family=["zones"] * 3 + ["nearest neighbours", "map"],
        test=[f"a: nearer to {name}" for name in "bcdef"],
        value=[None, None, None, None, 0.3],
        p=None,
        p_corrected=None,
        is_rejected=False,
        verdict=["no pair", "one pair", "no pair", "one language", None],
    )
    refused = claims(run(distances={"tests": tests}), False)
    assert refused["Anything that three tests of zones would show."] == (
        "not tested: no pair; the table of all tests has the other reasons"
    )
    assert refused["Anything that one test of nearest neighbours would show."] == "not tested: one language"
    untested = run(distances={"tests": tests.assign(verdict="not tested")})
    assert claims(untested, False)["Anything that three tests of zones would show."] == "not tested"
    assert refused["a: nearer to f."] == "map: r 0.3, no p-value"
    assert not any("not available" in because for because in refused.values())
