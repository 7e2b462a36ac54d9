"""What a study says of inference is what tables, figures and pages of every instrument go by, say and cite."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from valuesassets.comparing.reliability import split_half
from valuesassets.comparing.signal import derive_signal
from valuesassets.figures.example_distributions import draw_example_distributions
from valuesassets.figures.signal import draw_signal
from valuesassets.figures.threshold_curves import PERFECT, draw_threshold_curves
from valuesassets.instruments.cultural_robustness.measures.answer_space import AnswerSpace
from valuesassets.instruments.cultural_robustness.measures.scores import FOLLOW, GAIN, OWN, Estimate, score_rows
from valuesassets.instruments.cultural_robustness.report import methods as robustness
from valuesassets.instruments.psych_tasks.report import methods as psych
from valuesassets.instruments.worldwise.measures.alignment import align_model
from valuesassets.instruments.worldwise.report import pictures
from valuesassets.instruments.worldwise.tables import SAY_DO_GAP
from valuesassets.records.settings import measuring
from valuesassets.records.settings.measuring import USUAL, Inference
from valuesassets.reporting.analyses import Analysis, line_of
from valuesassets.reporting.methods import sources_of_tables
from valuesassets_tests.comparing.made_grids import made_grid, scales, study
from valuesassets_tests.figures.made_up import human_frame, probe_frame
from valuesassets_tests.figures.pictures import legend_labels, words
from valuesassets_tests.instruments.worldwise.made_tables import chosen
from valuesassets_tests.instruments.worldwise.measures.test_alignment import AXES, Z, followed
from valuesassets_tests.needs import REPOSITORY

HOLM, OTHER = "holm", "benjamini-hochberg"
GAINS = pd.DataFrame({"p": [0.01, 0.2], "model": ["a", "b"], "task": "t", "gain": "g"})
LOOSE = measuring.Inference(level=0.6, alpha=0.3, correction=OTHER)
PACKAGES = ("instruments", "comparing", "reporting", "measure", "figures")
USUAL_NUMBERS = {0.05, 0.95, 0.025, 0.975, 1.96}
USUAL_WORDS = re.compile(r"\b9(5|7\.5) ?%|\bHolm\b")
OTHERWISE_MEANT = {
    "comparing/item_statistics.py": 1,  # an entropy
    "comparing/shift_power.py": 1,  # a drift in scale units
    "comparing/two_studies.py": 1,  # two studies are compared by a command, whose level is its own
    "figures/awareness_plane.py": 1,  # places on a page, here and in four others below
    "figures/calibration.py": 1,  # a percentile of errors, as in the study's phantom.max_w1_unit_p95
    "figures/diversity_robustness.py": 2,
    "figures/group_moves.py": 1,
    "figures/noise_floor.py": 2,  # what nine of ten questions lie in, and says so
    "figures/overviews.py": 1,
    "figures/simulated_data.py": 1,  # Monte Carlo errors
    "figures/style.py": 3,
    "figures/threshold_curves.py": 1,
    "instruments/cultural_robustness/plants/calibration.py": 1,  # tolerances of calibrations, as in four others
    "instruments/cultural_robustness/plants/planted_answers.py": 1,  # what is planted, here and in six others below
    "instruments/cultural_robustness/plants/planted_embedder.py": 1,
    "instruments/psych_tasks/plants/calibration.py": 2,
    "instruments/psych_tasks/plants/planted_tasks.py": 1,
    "instruments/psych_tasks/report/shown_marks.py": 1,  # tones of a background
    "instruments/survey/material/forms/layout/word_graph.py": 1,  # costs of a path
    "instruments/survey/measures/map/agreement.py": 1,  # names of corrections, here and in the next
    "instruments/survey/plants/plants.py": 3,
    "instruments/worldwise/measures/axes.py": 1,  # up to which p an axis is valid, an instrument's own rule
    "instruments/worldwise/report/pictures.py": 1,
    "instruments/worldwise/plants/plants.py": 1,
    "instruments/worldwise/plants/recovery.py": 6,
    "reporting/methods.py": 2,
}
"""By module, the usual numbers and words in it that are none of a study's inference."""


def literals_of(source: str) -> Iterator[object]:
    """The usual numbers and words in a module, but for docstrings and defaults of arguments `alpha` and `level`."""
    tree = ast.parse(source)
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            given = zip(reversed(node.args.args), reversed(node.args.defaults), strict=False)
            given = [*given, *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]
            left_out |= {id(default) for argument, default in given if argument.arg in ("alpha", "level")}
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and node.target.id in ("alpha", "level")
        ):
            left_out.add(id(node.value))
        if isinstance(node, ast.Expr):
            left_out.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in left_out:
            is_number = isinstance(node.value, float) and node.value in USUAL_NUMBERS
            if is_number or (isinstance(node.value, str) and USUAL_WORDS.search(node.value)):
                yield node.value


def test_no_usual_level_or_correction_stands_where_the_studys_own_belongs():
    """A number that is meant otherwise is counted above, with the reason; simulations choose levels of their own."""
    root = REPOSITORY / "valuesassets"
    modules = (path for package in PACKAGES for path in sorted((root / package).rglob("*.py")))
    found = Counter[str]()
    for path in modules:
        if not re.search(r"worlds|simulations", Path(path).name) or path.parent.name == "figures":
            found[path.relative_to(root).as_posix()] += len([*literals_of(path.read_text(encoding="utf-8"))])
    assert dict(+found) == OTHERWISE_MEANT


def widths(frame: pd.DataFrame, low: str, high: str) -> np.ndarray:
    return (frame[high].astype(float) - frame[low].astype(float)).to_numpy()


def test_the_bands_of_signal_and_of_halves_are_of_the_studys_level():
    random = np.random.default_rng(1)
    item, pattern = random.normal(size=40), random.normal(size=(6, 40))
    models = item + pattern + random.normal(size=(2, 1, 2, 6, 40))
    grid = made_grid(models, item + pattern, on=scales(40))
    usual, loose = (derive_signal(grid, study(6, level=level)) for level in (0.95, 0.6))
    for ends in (("low", "high"), ("null_low", "null_high")):
        assert (widths(loose["correlations"], *ends) < widths(usual["correlations"], *ends)).all()
    labels = legend_labels(draw_signal(loose["correlations"], loose["verdicts"]))
    assert "60% of r with countries permuted" in labels
    noise = random.normal(size=(6, 40))
    (middle, *wide), (same, *narrow) = (split_half(noise, np.random.default_rng(0), level) for level in (0.95, 0.6))
    assert middle == same
    assert wide[0] < narrow[0] < middle < narrow[1] < wide[1]


def test_what_worldwise_shows_and_says_is_of_the_studys_level_and_alpha():
    leans = chosen(followed(0.05, noise=0.2), AXES)
    usual, loose = (
        align_model("m", leans, Z, how.model_copy(update={"resamples": 199}), {})["agreement"] for how in (USUAL, LOOSE)
    )
    for ends in (("r_low", "r_high"), ("null_low", "null_high")):
        known = usual["r"].notna().to_numpy()
        assert (widths(loose, *ends)[known] < widths(usual, *ends)[known]).all()
    figure = pictures.draw_agreement_null(loose[loose["readout"] == "choice"].assign(model="m"), inference=LOOSE)
    assert figure is not None
    assert "middle 60 % with exchanged cultures" in legend_labels(figure)
    rows = [{"model": "m", "axis": axis, "p_corrected": p} for axis, p in (("IDV", 0.2), ("PDI", 0.4))]
    gaps = SAY_DO_GAP.frame([row | {"form": "decide", "measure": "decision", "gap": 0.1} for row in rows])
    figure = pictures.draw_say_do(gaps.assign(gap_low=0.0, gap_high=0.2), inference=LOOSE)
    assert figure is not None
    assert re.search(r"corrected p up to 0\.3: m IDV \([^)]*\)\.", words(figure).replace("\n", " "))
    said = Analysis("", "", "", (), line="valuesassets.instruments.worldwise.report.lines:gaps_line")
    assert line_of(said, {"gaps": gaps}) == "0 of 2 gaps are beyond chance"
    assert line_of(said, {"gaps": gaps}, LOOSE) == "1 of 2 gaps are beyond chance"


def test_the_band_of_a_perfect_model_is_of_the_studys_level_and_says_so():
    shares = pd.DataFrame(
        {"model": PERFECT, "attributes": None, "subset": "all", "threshold": [0.1, 0.2], "share": 0.5}
    )
    figure = draw_threshold_curves(shares.assign(share_low=0.4, share_high=0.6), subsets=["all"], level=LOOSE.level)
    assert "perfect model, 60% of draws" in legend_labels(figure)


def test_intervals_of_respondents_beside_single_answers_are_of_the_studys_level():
    probe, human = probe_frame(), human_frame()
    reach = {}
    for how in (USUAL, LOOSE):
        figure = draw_example_distributions(probe, human, [("reference-multi", "pol", "v2")], inference=how)
        low, high = figure.axes[0].containers[2][2][0].get_segments()[0][:, 1]
        reach[how] = high - low
        assert f"{how.level:.0%} interval" in words(figure).replace("\n", " ")
    assert reach[LOOSE] / reach[USUAL] == pytest.approx(norm.ppf(0.8) / norm.ppf(0.975))


@pytest.mark.parametrize(("correction", "cited"), [(HOLM, "holm1979"), (OTHER, "benjamini1995")])
def test_the_source_follows(correction, cited):
    found = sources_of_tables({"holm1979": ("gains",), "hall1992": ("gains",)}, {"gains": GAINS}, correction)
    assert sorted(found) == sorted(["hall1992", cited])
    assert psych.sources({"prediction/gains": GAINS}, correction).count(cited) == 1
    assert robustness.sources({"language_pairs": GAINS}, correction).count(cited) == 1


@pytest.mark.parametrize(("correction", "expected"), [(HOLM, [0.03, 0.04, 0.04]), (OTHER, [0.03, 0.03, 0.03])])
def test_scores_of_cultural_robustness_are_corrected_so(correction, expected):
    p_values = dict(zip((GAIN, FOLLOW, OWN), (0.01, 0.02, 0.03), strict=True))
    found = {name: Estimate(1.0, p=p, p_over=0.0) for name, p in p_values.items()}
    space = AnswerSpace((), (), has_unanchored=True, has_anchored=True)
    rows = score_rows("m", space, found, Inference(correction=correction)).set_index("score")
    assert [round(float(rows.loc[name, "p"]), 6) for name in p_values] == expected
