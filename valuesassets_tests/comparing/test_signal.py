import numpy as np
import pytest

from valuesassets.comparing import signal
from valuesassets.comparing.answer_grid import answer_grid
from valuesassets.comparing.signal import derive_signal
from valuesassets_tests.comparing import planted_grid
from valuesassets_tests.comparing.made_grids import made_grid, scales, study

LANGUAGES, ITEMS = 10, 60


def derived(models, people, on=None, n_languages=LANGUAGES):
    """Signal of two families with the same tilts."""
    tilts = np.broadcast_to(models, (2, 1, 2, *models.shape))
    return derive_signal(made_grid(tilts, people, on=on), study(n_languages))


def parts(seed, n_languages=LANGUAGES):
    random = np.random.default_rng(seed)
    item, pattern = random.normal(size=ITEMS), random.normal(size=(n_languages, ITEMS))
    return random, item, pattern, random.normal(size=(n_languages, 1))


def verdicts(found):
    return set(found["verdicts"]["verdict"])


def test_models_that_differ_as_their_countries_do_are_a_cultural_signal():
    random, item, pattern, _ = parts(0)
    found = derived(item + 0.6 * pattern + 0.3 * random.normal(size=pattern.shape), item + 0.6 * pattern)
    assert verdicts(found) == {signal.SIGNAL}
    r = found["correlations"].set_index("kind")["r"]
    assert r["double-centred"].min() > 0.8


def test_a_shared_response_style_is_not_called_a_signal():
    random, item, pattern, style = parts(1)
    found = derived(item + style + 0.3 * random.normal(size=pattern.shape), item + style + 0.6 * pattern)
    assert verdicts(found) == {signal.STYLE}
    r = found["correlations"].set_index("kind")["r"]
    assert r["item-centred"].min() > 0.5
    assert r["double-centred"].min() > 0.3  # a strong push on bounded scales leaves this trace
    assert r["style-centred"].abs().max() < 0.15


def test_one_shared_dimension_of_any_pattern_allows_no_verdict_and_says_so():
    random, item, pattern, style = parts(6)
    habit = style * np.where(np.arange(ITEMS) % 2, -1, 1)
    found = derived(item + habit + 0.3 * random.normal(size=pattern.shape), item + habit + 0.3 * pattern)
    r = found["correlations"].set_index("kind")["r"]
    assert r["style-centred"].min() > 0.5
    assert r["beyond one dimension"].max() < 0.1
    assert found["verdicts"]["verdict"].isna().all()
    assert set(found["verdicts"]["reason"]) == {signal.ONE_DIMENSION}


def test_related_languages_that_answer_alike_allow_no_verdict_and_say_so():
    grid_study = study(LANGUAGES)
    zones = np.unique([str(each.zone) for each in grid_study.languages.values()], return_inverse=True)[1]
    reasons = set()
    for seed in range(12):
        random, item, pattern, _ = parts(seed)
        shared = [item + random.normal(size=(zones.max() + 1, ITEMS))[zones] + 0.3 * part for part in (pattern, 0)]
        found = derived(*shared)
        assert signal.SIGNAL not in verdicts(found)
        p = found["correlations"][["p", "p_free", "p_related"]].to_numpy()
        np.testing.assert_array_equal(p[:, 0], np.nanmax(p[:, 1:], axis=1))
        reasons |= set(found["verdicts"]["reason"].dropna())
    assert signal.RELATED in reasons


def test_items_on_scales_of_other_lengths_are_not_called_a_signal():
    random, _, pattern, _ = parts(2)
    found = derived(0.5 * random.normal(size=pattern.shape), 2 * pattern, on=scales(ITEMS, (2, 4, 10)))
    assert verdicts(found) == {signal.SCALES}
    r = found["correlations"].set_index("kind")["r"]
    assert r["raw"].min() > 0.6
    assert r["double-centred"].abs().max() < 0.15


def test_the_same_answer_in_every_language_has_no_correlation_and_no_p():
    _, item, pattern, _ = parts(3)
    found = derived(np.broadcast_to(item, pattern.shape), item + pattern)
    double = found["correlations"][found["correlations"]["kind"] == "double-centred"]
    assert double["r"].isna().all()
    assert double["p"].isna().all()
    assert signal.SIGNAL not in verdicts(found)
    assert found["tests"][found["tests"]["test_family"] == "signal"]["verdict"].str.contains("nothing varies").all()


def test_uniform_answers_are_no_signal():
    _, item, pattern, _ = parts(4)
    found = derived(np.zeros(pattern.shape), item + pattern, on=scales(ITEMS, (4,)))
    assert verdicts(found) == {signal.NONE}


@pytest.mark.slow
def test_chance_pairs_reject_about_as_often_as_they_say():
    p = []
    for seed in range(200):
        random, item, pattern, _ = parts(seed)
        grid = made_grid(
            np.broadcast_to(item + random.normal(size=pattern.shape), (2, 1, 1, *pattern.shape)), item + pattern,
            families=("mono",),
        )  # fmt: skip
        found = derive_signal(grid, study(families=("mono",), resamples=199))
        p += found["tests"].loc[found["tests"]["test_family"] == "signal", "p"].tolist()
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.035)
    assert np.mean(p) == pytest.approx(0.5, abs=0.07)


@pytest.mark.slow
def test_what_is_tested_is_declared_and_corrected_within_its_family():
    found = derive_signal(answer_grid(planted_grid.answers(), planted_grid.human()), planted_grid.demo())
    families = found["tests"].groupby("test_family").size()
    assert families.to_dict() == dict.fromkeys(
        ["signal", *(f"signal, {kind}" for kind in signal.KINDS if kind != signal.HEADLINE)], 2
    )
    assert (found["tests"]["p_corrected"] >= found["tests"]["p"]).all()
    of_signal = found["tests"][found["tests"]["test_family"] == "signal"]
    assert of_signal["p_corrected"].min() == pytest.approx(2 * of_signal["p"].min())


def test_three_languages_allow_no_verdict_and_say_so():
    _, item, pattern, _ = parts(5, 3)
    found = derived(item + pattern, item + pattern, n_languages=3)
    assert found["correlations"].empty
    assert found["verdicts"]["reason"].str.contains("3 languages with people of their country, 4 or more").all()
    assert found["verdicts"]["verdict"].isna().all()


def test_without_people_there_is_a_reason_in_place_of_a_number():
    found = derive_signal(answer_grid(planted_grid.answers()), planted_grid.peopleless())
    assert found["correlations"].empty
    assert found["notes"]["note"].str.contains("no human data").all()
