"""`survey/shift`: what is told of a model before and after a change."""

import numpy as np
import pandas as pd
import pytest

from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.scales import Scales
from valuesassets.figures.shift import draw_shift
from valuesassets.instruments.survey.analyses import ANALYSES
from valuesassets.instruments.survey.measures.shift import ALL, derive_shift, shift_sentence
from valuesassets.instruments.survey.report.lines import shift as line
from valuesassets.instruments.survey.report.report import shift_claims, within_study
from valuesassets.instruments.survey.tables import SHIFT_TABLES
from valuesassets.records.errors import MissingData
from valuesassets.records.questions import Question
from valuesassets.records.settings.shift import Shift
from valuesassets.reporting.run import Run
from valuesassets_tests.comparing.made_grids import study, tilted
from valuesassets_tests.simulations.survey.shift import BATTERIES, N_ITEMS, by_battery

COUNTRIES = ("GB", "DE", "FR", "PL", "GR")
SCALES = Scales(
    tuple(f"v{item}" for item in range(N_ITEMS)),
    ("likert5",) * N_ITEMS,
    np.tile(np.arange(1.0, 6.0), (N_ITEMS, 1)),
)
QUESTIONS = {
    "eng": [
        Question.model_validate(
            {"id": f"v{item}", "text": "?", "stem": f"battery {battery}", "response_type": "likert5", "options": []}
        )
        for item, battery in enumerate(BATTERIES)
    ]
}
POINTS = pd.DataFrame(
    [
        *(
            {"kind": "human", "country": each, "x": x, "y": y}
            for each, x, y in (("GB", 2, 2), ("DE", 0, 0), ("FR", 2, -2))
        ),
        {"kind": "model", "model": "base", "language": "eng", "x": 0.0, "y": 0.0},
        {"kind": "model", "model": "tuned", "language": "eng", "x": 0.0, "y": 1.0},
    ]
)


def a_study(families=("base", "tuned"), n_languages=1, **shift):
    settings = Shift(**({"before": "base", "after": "tuned", "toward": ("GB",)} | shift))
    return study(n_languages, families).model_copy(update={"shift": {"tuning": settings}})


def a_grid(moved=0.0, drift=0.3, families=("base", "tuned"), n_languages=1, seed=0, wordings=3, common=0.0):
    """Families whose first answers as before; the others drift and move by a share of the way towards Great Britain."""
    random = np.random.default_rng(seed)
    levels = random.normal(0, 1, N_ITEMS)
    people = levels + by_battery(0.8, 0.4, (len(COUNTRIES),), random)
    direction = people[0] - people[1:].mean(axis=0)
    start = levels + by_battery(0.8, 0.3, (), random)
    changes = [np.zeros(N_ITEMS)]
    changes += [common + moved * direction + by_battery(drift, 0.36, (), random) for _ in families[1:]]
    cells = start + np.repeat(np.stack(changes), n_languages, axis=0)
    noise = drift * random.normal(size=(1, wordings, len(cells), N_ITEMS))
    pull = np.array([0.3, -0.3])[:, None, None, None]
    sides = tilted(SCALES, cells + noise + pull)
    labels = tuple((family, code) for family in families for code in ("eng", "deu")[:n_languages])
    shape = (len(cells), N_ITEMS)
    return AnswerGrid(
        SCALES, labels, ("multi",) * len(cells), sides.mean(axis=(0, 1)), sides, np.zeros(shape, bool), np.ones(shape),
        COUNTRIES, tilted(SCALES, people),
    )  # fmt: skip


def derived(grid, of_study, questions=QUESTIONS, probe=None):
    return derive_shift(grid, of_study, questions, {"points": POINTS}, pd.DataFrame() if probe is None else probe)


def verdicts(tables):
    return dict(zip(tables["verdicts"]["toward"], tables["verdicts"]["verdict"], strict=True))


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        ({"moved": 0.5}, "moved towards GB"),
        ({"moved": -0.5}, "moved away from GB"),
        ({}, "moved, not towards GB"),
    ],
)
def test_a_move_is_told_from_a_drift(plan, sentence):
    tables = derived(a_grid(**plan), a_study())
    assert verdicts(tables) == {"GB": sentence}
    assert line(tables) == f"tuning: {sentence}"


def test_what_differs_by_wording_alone_has_not_moved():
    grid = a_grid(drift=0.0)
    noise = np.random.default_rng(1).normal(0, 0.3, (1, 3, 2, N_ITEMS))
    sides = tilted(SCALES, np.random.default_rng(2).normal(0, 1, N_ITEMS) + np.repeat(noise, 2, axis=0))
    grid = AnswerGrid(**(vars(grid) | {"sides": sides, "answers": sides.mean(axis=(0, 1))}))
    assert verdicts(derived(grid, a_study())) == {"GB": "not shown to have moved"}


def test_the_same_readings_are_identical():
    tables = derived(a_grid(drift=0.0), a_study())
    assert verdicts(tables) == {"GB": "identical"}
    assert tables["moved"]["is_identical"].tolist() == [True]


def test_a_move_of_half_the_way_has_a_slope_of_about_half_and_the_country_stands_first_of_all():
    tables = derived(a_grid(moved=0.5), a_study(toward=("GB", "FR")))
    shifts = tables["shifts"].set_index("toward")
    assert shifts.at["GB", "slope_low"] < 0.5 < shifts.at["GB", "slope_high"]
    assert shifts.at["GB", "position_after"] - shifts.at["GB", "position_before"] == pytest.approx(
        shifts.at["GB", "slope"]
    )
    countries = tables["countries"].set_index("country")
    assert countries["slope"].idxmax() == "GB"
    assert countries["distance_change_unit"].idxmin() == "GB"
    assert (tables["tests"]["p_corrected"] >= tables["tests"]["p"]).all()
    assert shifts.at["GB", "p_corrected"] == pytest.approx(2 * shifts.at["GB", "p"])  # of two countries
    assert shifts["smallest_unit"].between(0.01, 0.2).all()


def test_languages_stand_beside_their_mean():
    tables = derived(a_grid(moved=0.5, n_languages=2), a_study(n_languages=2))
    assert tables["shifts"]["language"].tolist() == [ALL, "eng", "deu"]
    questions = tables["questions"].set_index(["question_id", "language"])["change_unit"].unstack()
    assert np.allclose(questions[ALL], (questions["eng"] + questions["deu"]) / 2)
    assert set(tables["tests"]["test_family"]) == {
        *("shift, towards", "shift, towards, eng", "shift, towards, deu"),
        *("shift, moved", "shift, moved, eng", "shift, moved, deu"),
    }


def test_trainings_make_the_interval_wider_and_a_share_of_one_pool_wider_still():
    families = ("base", "one", "two", "three")
    grid = a_grid(moved=0.5, families=families)
    widths = []
    for share in (None, 0.7):
        of_study = a_study(families, after=families[1:], share=share)
        row = derived(grid, of_study)["shifts"].iloc[0]
        widths.append(row["slope_high"] - row["slope_low"])
    assert widths[1] > widths[0]
    assert shift_sentence(of_study, "tuning", "GB").startswith("This training (one, two, three)")
    assert shift_sentence(a_study(), "tuning", "GB").startswith("Between these two checkpoints, base and tuned,")


def test_the_move_on_the_map_is_the_one_worked_by_hand():
    row = derived(a_grid(), a_study())["map"].iloc[0]
    assert row["distance_change"] == pytest.approx(np.sqrt(5) - np.sqrt(8))
    assert row["toward_map"] == pytest.approx(3 / np.sqrt(10))


def test_a_country_without_people_has_no_verdict_but_a_reason():
    tables = derived(a_grid(moved=0.5), a_study(toward=("GB", "VN")))
    assert verdicts(tables)["GB"] == "moved towards GB"
    row = tables["verdicts"].iloc[1]
    assert pd.isna(row["verdict"])
    assert row["reason"] == "no people of VN in the study's files"
    assert line(tables).endswith("tuning: towards VN no verdict")


def test_too_few_countries_and_families_that_were_not_read_are_refused():
    grid = a_grid()
    alone = AnswerGrid(**(vars(grid) | {"countries": COUNTRIES[:2], "people": grid.people[:2]}))
    assert "2 countries with people, 3 or more" in derived(alone, a_study())["verdicts"]["reason"].iloc[0]
    with pytest.raises(MissingData, match="no language has answers of all of base, other; run other first"):
        derived(grid, a_study(("base", "tuned", "other"), after="other"))
    with pytest.raises(MissingData, match="no people of any country"):
        derived(AnswerGrid(**(vars(grid) | {"countries": (), "people": grid.people[:0]})), a_study())


def test_a_battery_is_the_text_that_its_questions_share():
    few = {"eng": [question.replace(stem=f"battery {place % 4}") for place, question in enumerate(QUESTIONS["eng"])]}
    tables = derived(a_grid(), a_study(), few)
    assert "4 batteries, 5 or more are needed" in tables["verdicts"]["reason"].iloc[0]


def test_the_picture_has_a_panel_for_each_country():
    tables = derived(a_grid(moved=0.5), a_study(toward=("GB", "FR")))
    figure = draw_shift(tables["shifts"], tables["verdicts"])
    assert figure is not None
    titles = [axes.get_title(loc="left") or axes.get_title() for axes in figure.axes]
    assert titles == ["GB: moved towards GB", "FR: moved, not towards FR"]


def draws_of(grid, n, seed=0):
    """The grid with shares of `n` answers drawn in each order, and the rows that count them."""
    sides = np.random.default_rng(seed).multinomial(n, grid.sides) / n
    labels = [(*cell, item, wording) for cell in grid.cells for item in grid.items for wording in range(sides.shape[1])]
    probe = pd.DataFrame(labels, columns=pd.Index(["model", "language", "question_id", "wording"])).assign(n_read=2 * n)
    return AnswerGrid(**(vars(grid) | {"sides": sides, "answers": sides.mean(axis=(0, 1))})), probe


@pytest.mark.parametrize("wordings", [1, 2])
def test_one_model_drawn_twice_has_not_moved_and_another_has(wordings):
    grid = a_grid(drift=0.0, wordings=wordings)
    drawn, probe = draws_of(grid, 20)
    assert verdicts(derived(drawn, a_study(), probe=probe)) == {"GB": "not shown to have moved"}
    drawn, probe = draws_of(a_grid(drift=1.5, wordings=wordings), 20)
    tables = derived(drawn, a_study(), probe=probe)
    assert tables["moved"]["p"].iloc[0] <= 0.05


def test_the_tables_are_those_that_are_declared_and_two_that_all_analyses_have():
    assert set(derived(a_grid(), a_study())) == {*SHIFT_TABLES, "tests", "notes"}


def test_the_report_claims_a_move_towards_a_country_and_no_other():
    study = a_study(toward=("GB", "FR"))
    tables = derived(a_grid(moved=0.5), study)
    run = Run(study, {"shift": tables}, {"shift": ANALYSES["shift"]})
    assert [claim.is_supported for claim in shift_claims(run)] == [True, False]
    assert next(shift_claims(run)).sentence.endswith("base and tuned, answers moved towards GB.")
    assert "shift" not in within_study(Run(a_study().model_copy(update={"shift": {}}), {}, ANALYSES)).analyses
