"""`worldwise calibrate` on dilemmas that nobody has seen: what is planted is found again, and what is off is named."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from valuesassets.cli.app import app
from valuesassets.instruments.worldwise.tables import CHOICES, PLACED_REASONS, PLANTED, RECOVERY
from valuesassets.records.errors import MissingData
from valuesassets.records.parquet import read_frame
from valuesassets_tests.instruments import worldwise
from valuesassets_tests.instruments.worldwise.made_dilemmas import JAPAN, write

UNSEEN = Path(str(worldwise.__file__)).with_name("unseen_dilemmas.json")
"""Twelve, two on each axis; four of them are tried here, on two axes that a bag of words tells apart."""
DRAWS, PASSES = 40, 300
"""Few prompts need more passes."""


def calibrate(folder, output="out", draws=DRAWS, steps=PASSES):
    dilemmas = [each for each in json.loads(UNSEEN.read_text(encoding="utf-8")) if each["axis"] in ("PDI", "IVR")]
    scenarios, cultures = write(folder / "four.json", dilemmas), write(folder / "cultures.json", {"JPN": JAPAN})
    given = ("--scenarios", scenarios, "--cultures", cultures, "--output", folder / output)
    return CliRunner().invoke(
        app, ["worldwise", "calibrate", *map(str, given), "--draws", str(draws), "--steps", str(steps)]
    )


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calibrated")
    return folder, calibrate(folder)


@pytest.mark.slow
def test_what_is_planted_is_found_again(calibrated):
    folder, done = calibrated
    assert done.exit_code == 0, done.exception
    assert "what was planted was recovered" in done.output
    recovery = read_frame(folder / "out" / "recovery.parquet", RECOVERY)
    assert recovery["is_within"].all()
    gaps = recovery[recovery["measure"].str.startswith("gap")]
    assert set(zip(gaps["measure"].str.split().str[2], gaps["axis"], strict=True)) == {
        (name, axis) for name in ("decision", "position") for axis in ("PDI", "IVR")
    }


@pytest.mark.slow
def test_the_tables_say_what_was_planted_and_what_came_back(calibrated):
    folder, _ = calibrated
    planted, choices, reasons = (
        read_frame(folder / "out" / f"{name}.parquet", table)
        for name, table in (("planted", PLANTED), ("choices", CHOICES), ("reasons", PLACED_REASONS))
    )
    cells = {(culture, dilemma) for culture in ("JPN", "placebo", "unprompted") for dilemma in planted["scenario_id"]}
    assert len(planted) == len(choices) == len(cells) == 12
    gap = (planted["p_high_reason"] - planted["p_high_choice"]).groupby(planted["axis"]).mean()
    assert gap.to_dict() == pytest.approx({"PDI": 0.3, "IVR": 0})
    asked = reasons[reasons["form"] != "advocate"]
    assert (asked.groupby(["culture", "scenario_id"]).size() == 3 * DRAWS).all()
    assert asked["position"].notna().eq(asked["status"] == "ok").all()
    assert asked["status"].isin(["ok", "refused"]).mean() > 0.99  # a token in a thousand is another than planted


@pytest.mark.slow
def test_a_model_that_has_not_learned_ends_in_one_line_and_its_tables_stay(calibrated):
    folder, _ = calibrated
    done = calibrate(folder, output="untrained", draws=2, steps=3)
    assert done.exit_code == 1
    assert isinstance(done.exception, MissingData)
    assert "what was planted was not recovered: choices, mean error: " in str(done.exception)
    assert "OFF" in done.output
    assert not read_frame(folder / "untrained" / "recovery.parquet", RECOVERY)["is_within"].all()
