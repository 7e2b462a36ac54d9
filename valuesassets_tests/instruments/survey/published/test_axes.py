import re

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.survey.material.indicators import INDICATORS
from valuesassets.instruments.survey.published.axes import (
    check_reference_projector,
    compare_published_sets,
    published_position,
    published_positions,
    reference_projector,
)
from valuesassets.records.errors import HumanDataError
from valuesassets.records.places import load_facts
from valuesassets.records.study import load_study
from valuesassets_tests.instruments.survey.derived_indicators import placed
from valuesassets_tests.needs import shared_file


def test_the_projector_comes_near_the_five_countries_with_the_residual_it_states():
    means, projector = load_facts("iw_indicator_means.csv").dropna(), reference_projector()
    misses = np.array([placed(row) - [row["x"], row["y"]] for row in means.to_dict("records")])
    assert misses.mean(axis=0) == pytest.approx([0, 0], abs=1e-9)
    assert misses.std(axis=0, ddof=1) == pytest.approx(projector.residual_sd)
    assert projector.residual_sd == pytest.approx([0.16, 0.17], abs=0.005)


def test_the_middle_of_every_scale_is_a_plausible_secular_spot():
    ranges = load_facts("iw_slopes.csv").set_index("indicator")
    middle = {name: (ranges.at[name, "low"] + ranges.at[name, "high"]) / 2 for name in INDICATORS}
    assert placed(middle) == pytest.approx((0.5, 2.0), abs=0.01)


def test_countries_are_iso_codes_once_each_with_a_zone():
    positions = load_facts("iw_coordinates.csv")
    assert positions["country"].is_unique
    assert positions["country"].map(lambda code: bool(re.fullmatch("[A-Z]{2}", code))).all()
    assert not positions.isna().any().any()
    assert not positions["name"].str.contains("Code_").any()
    assert positions.set_index("country").at["EE", "zone"] == "Protestant Europe"


@pytest.mark.parametrize("study", ["demo_survey", "evs2017"])
def test_every_reference_country_has_a_position(study):
    for language in load_study(study).languages.values():
        assert np.isfinite(published_position(language.country)).all()


def test_published_positions_are_rescaled_not_turned():
    before, after = load_facts("iw_coordinates.csv"), published_positions()
    for axis, slope in (("x", 0.760), ("y", 0.848)):
        fitted = np.polyfit(before[axis], after[axis], 1)
        assert fitted[0] == pytest.approx(slope, abs=0.001)
        assert np.polyval(fitted, before[axis]) == pytest.approx(after[axis].to_numpy())


def test_an_unknown_country_is_named():
    with pytest.raises(HumanDataError, match="XX"):
        published_position("XX")


@pytest.mark.published
def test_facts_are_those_of_their_sources():
    source = pd.read_csv(shared_file("data", "iw", "Table_S5_IVS_PCA_coordinates.csv")).dropna(subset="cultural_region")
    ours = load_facts("iw_coordinates.csv")
    assert sorted(zip(ours["x"], ours["y"], strict=True)) == sorted(zip(source["PC1"], source["PC2"], strict=True))
    slopes = pd.read_csv(shared_file("data", "iw", "diag_2026_item_keying.csv"))
    assert load_facts("iw_slopes.csv")["slope_x"].to_numpy() == pytest.approx(slopes["d_pc1_per_unit"], abs=1e-6)
    second = pd.read_csv(shared_file("data", "iw", "seed_sensitivity_22countries.csv"))
    bundled = load_facts("iw_coordinates_22.csv")
    for ours, theirs in (("x_min", "PC1_min"), ("x_max", "PC1_max"), ("y_min", "PC2_min"), ("y_max", "PC2_max")):
        assert sorted(bundled[ours]) == pytest.approx(sorted(second[theirs]), abs=1e-6)


def test_the_reference_projector_meets_five_countries_with_r_991_and_993():
    table = check_reference_projector().set_index("axis")
    assert table["r"].round(3).to_dict() == {"x": 0.991, "y": 0.993}
    assert (table["n"] == 5).all()
    assert table["residual_sd"].to_numpy() == pytest.approx(reference_projector().residual_sd)


def test_two_published_sets_are_the_same_order_on_other_axes():
    table = compare_published_sets().set_index("axis")
    assert (table["n"] == 22).all()
    assert (round(table.at["x", "r"], 4), round(table.at["y", "r"], 3)) == (0.9997, 0.996)
    assert table["slope"].round(2).to_dict() == {"x": 0.72, "y": 0.77}


@pytest.mark.published
def test_the_sources_themselves_give_the_same_slopes():
    first = pd.read_csv(shared_file("data", "iw", "Table_S5_IVS_PCA_coordinates.csv")).dropna(subset="cultural_region")
    second = pd.read_csv(shared_file("data", "iw", "seed_sensitivity_22countries.csv"))
    first["iso_numeric"] = pd.to_numeric(first["country_code"], errors="coerce")
    both = second.merge(first, on="iso_numeric")
    table = compare_published_sets().set_index("axis")
    assert len(both) == 22
    for axis, name in (("x", "PC1"), ("y", "PC2")):
        middle = both[[f"{name}_min", f"{name}_max"]].mean(axis=1)
        assert np.corrcoef(both[name], middle)[0, 1] == pytest.approx(table.at[axis, "r"], abs=1e-6)
        assert np.polyfit(both[name], middle, 1)[0] == pytest.approx(table.at[axis, "slope"], abs=1e-5)
