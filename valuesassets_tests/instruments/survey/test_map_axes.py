import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.survey.indicators import INDICATORS
from valuesassets.instruments.survey.map_axes import (
    load_facts,
    published_position,
    published_positions,
    reference_projector,
)
from valuesassets.records.errors import HumanDataError
from valuesassets.records.study_files import load_study

SHARED = Path(__file__).parents[4] / "shared" / "data" / "iw"


def test_the_projector_comes_near_the_five_countries_with_the_residual_it_states():
    means, projector = load_facts("iw_indicator_means.csv").dropna(), reference_projector()
    misses = np.array(
        [
            np.array(projector.place({name: float(row[name]) for name in INDICATORS})) - [row["x"], row["y"]]
            for row in means.to_dict("records")
        ]
    )
    assert misses.mean(axis=0) == pytest.approx([0, 0], abs=1e-9)
    assert misses.std(axis=0, ddof=1) == pytest.approx(projector.residual_sd)
    assert projector.residual_sd == pytest.approx([0.16, 0.17], abs=0.005)


def test_the_middle_of_every_scale_is_a_plausible_secular_spot():
    ranges = load_facts("iw_slopes.csv").set_index("indicator")
    middle = {name: (ranges.at[name, "low"] + ranges.at[name, "high"]) / 2 for name in INDICATORS}
    assert reference_projector().place(middle) == pytest.approx((0.5, 2.0), abs=0.01)


def test_countries_are_iso_codes_once_each_with_a_zone():
    positions = load_facts("iw_coordinates.csv")
    assert positions["country"].is_unique
    assert positions["country"].map(lambda code: bool(re.fullmatch("[A-Z]{2}", code))).all()
    assert not positions.isna().any().any()
    assert not positions["name"].str.contains("Code_").any()
    assert positions.set_index("country").at["EE", "zone"] == "Protestant Europe"


@pytest.mark.parametrize("study", ["demo", "evs2017"])
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


@pytest.mark.skipif(not SHARED.is_dir(), reason="the sources are not beside the project")
def test_facts_are_those_of_their_sources():
    source = pd.read_csv(SHARED / "Table_S5_IVS_PCA_coordinates.csv").dropna(subset="cultural_region")
    ours = load_facts("iw_coordinates.csv")
    assert sorted(zip(ours["x"], ours["y"], strict=True)) == sorted(zip(source["PC1"], source["PC2"], strict=True))
    slopes = pd.read_csv(SHARED / "diag_2026_item_keying.csv")
    assert load_facts("iw_slopes.csv")["slope_x"].to_numpy() == pytest.approx(slopes["d_pc1_per_unit"], abs=1e-6)
