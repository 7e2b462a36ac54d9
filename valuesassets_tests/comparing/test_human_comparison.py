import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import wasserstein_distance

from valuesassets.comparing.answer_grid import answer_grid
from valuesassets.comparing.human_comparison import derive_human_comparison
from valuesassets_tests.comparing.made_up_grid import (
    LANGUAGES,
    answers_of,
    drawn,
    mixed,
    people_of,
    with_families,
)
from valuesassets_tests.comparing.planted_grid import answers, demo, human, no_human, peopleless

ONE = with_families(one="mono")


def compared(rows, people, study, means=None):
    return derive_human_comparison(answer_grid(rows, people), people, study, means)


@pytest.fixture(scope="module")
def found():
    return compared(answers(), human(), demo())


def test_one_question_by_hand():
    one = answers().query("model == 'reference-mono' and language == 'eng' and question_id == 'v31'").copy()
    one["prob"] = [0.75, 0.25]
    people = human().query("country == 'GB' and question_id == 'v31'").copy()
    people["prob"] = [0.25, 0.75]
    table = compared(one, people, demo())["questions"].set_index("model")
    assert table.at["reference-mono", "w1_unit"] == table.at["reference-mono", "tvd"] == 0.5
    far = jensenshannon([0.75, 0.25], [0.25, 0.75], base=2)
    assert table.loc["reference-mono", ["jsd_distance", "jsd_bits"]].tolist() == pytest.approx([far, far**2])
    assert table.at["reference-mono", "kl_bits"] == pytest.approx(0.5 * np.log2(3), abs=0.01)
    assert table.at["uniform answers", "w1_unit"] == 0.25
    assert table.at["always the first option", "w1_unit"] == 0.25


def test_answers_equal_to_the_people_are_nearest_to_them():
    people = human()
    same = (
        answers()
        .query("model == 'reference-mono'")
        .merge(
            people[["language", "question_id", "response_value", "prob"]],
            on=["language", "question_id", "response_value"],
        )
    )
    same["prob"] = same["prob_y"]
    cells = compared(same, people, demo())["cells"].query("kind == 'model'")
    assert cells["jsd_distance"].to_numpy() == pytest.approx(np.zeros(6), abs=1e-6)
    assert (cells["own_country_rank"] == 1).all()


def test_planted_models_beat_every_null(found):
    mean = found["cells"].groupby("model")["w1_unit"].mean()
    assert mean["reference-mono"] < mean["pooled other countries"] < mean["uniform answers"]
    assert mean["uniform answers"] < mean["always the first option"]


def test_every_mean_rests_on_a_stated_number_of_items_and_lies_in_its_interval(found):
    cells = found["cells"]
    assert (cells["n_items"] >= 20).all()
    for measure in ("w1_unit", "jsd_distance"):
        assert (cells[f"{measure}_low"] <= cells[measure]).all()
        assert (cells[measure] <= cells[f"{measure}_high"]).all()


def test_list_items_asked_as_statements_are_left_out(found):
    assert not set(found["questions"]["question_id"]) & {"v85", "v86", "v92", "v93", "v95"}


def test_categorical_questions_have_total_variation_and_no_w1(found):
    nominal = found["questions"].query("response_type == 'categorical'")
    assert nominal["w1_unit"].isna().all()
    assert nominal["tvd"].notna().all()


def test_an_interval_needs_two_items():
    one = answers().query("question_id == 'v31'")
    cells = compared(one, human(), demo())["cells"]
    assert cells["w1_unit_low"].isna().all()
    assert cells["w1_unit"].notna().all()


def test_without_people_the_tables_are_empty_and_say_why():
    found = compared(answers(), no_human(), peopleless())
    assert found["questions"].empty
    assert found["cells"].empty
    assert "human.source = 'none'" in found["notes"]["note"].iloc[0]


def test_a_cell_that_shares_no_item_with_its_people_is_named_and_gets_no_number():
    rows = answers()
    is_alone = (rows["model"] == "reference-mono") & (rows["language"] == "pol")
    rows.loc[is_alone, "question_id"] = "own_" + rows.loc[is_alone, "question_id"]
    found = compared(rows, human(), demo())
    assert "reference-mono/pol: no item shared with the people of PL." in set(found["notes"]["note"])
    assert found["cells"].query("model == 'reference-mono' and language == 'pol'").empty
    assert len(found["cells"].query("model == 'reference-mono' and kind == 'model'")) == 5


def test_people_on_other_codes_than_the_models_are_left_out_with_a_note():
    people = human()
    people.loc[(people["country"] == "FR") & (people["question_id"] == "v31"), "analysis_value"] -= 1
    found = compared(answers(), people, demo())
    assert any("v31: answered on other codes" in note and "people of FR" in note for note in found["notes"]["note"])
    assert found["questions"].query("question_id == 'v31' and country == 'FR'").empty


def unbiased(known, people, n):
    """The divergence of one answer less what a sample adds: curvature and jackknife, written out."""

    def bits(q):
        middle, parts = (known + q) / 2, []
        for one, other in ((known, middle), (q, middle)):
            parts.append(sum(a * np.log2(a / b) for a, b in zip(one, other, strict=True) if a > 0))
        return sum(parts) / 2

    curvature = sum(p * (1 - q) / (p + q + 0.2 / n) for p, q in zip(known, people, strict=True)) / (4 * n * np.log(2))
    without = [(people * n - np.eye(people.size)[option]).clip(0) / (n - 1) for option in range(people.size)]
    # What is left of an option sums to 1; the divergence is a sum over options, so that the rest needs no care.
    jackknife = (n - 1) * (sum(q * bits(each) for q, each in zip(people, without, strict=True)) - bits(people))
    return bits(people) - (curvature + jackknife) / 2


def test_the_own_country_ranks_as_mean_divergences_do_where_nothing_is_missing():
    people, cells = drawn(1), {("one", code): p for code, p in drawn(2).items()}
    found = compared(answers_of(cells, ONE), people_of(people, ONE), ONE)["cells"]
    for row in found.query("kind == 'model'").itertuples():
        far = {
            code: np.mean([unbiased(a, b, 1000) for a, b in zip(cells["one", row.language], p, strict=True)])
            for code, p in people.items()
        }
        others = [divergence for code, divergence in far.items() if code != row.language]
        assert row.own_country_rank == 1 + sum(divergence < far[row.language] for divergence in others)
        assert row.own_country_advantage == pytest.approx(np.mean(others) - far[row.language])
        assert row.nearest_country == ONE.languages[min(far, key=lambda code: far[code])].country
        assert row.own_country_rank_low <= row.own_country_rank <= row.own_country_rank_high


def test_a_country_is_not_near_because_it_lacks_the_items_that_are_hard():
    people = drawn(3, 40)
    cells = {("one", "eng"): mixed(people["eng"], drawn(4, 40)["eng"], 0.7)}
    hard = np.arange(40) < 20
    cells["one", "eng"] = np.where(hard[:, None], [0.97, 0.01, 0.01, 0.01], cells["one", "eng"])
    people["fra"] = np.where(hard[:, None], np.nan, people["fra"])  # asked only what is easy
    found = compared(answers_of(cells, ONE), people_of(people, ONE), ONE)
    eng = found["cells"].query("kind == 'model'").iloc[0]
    raw = [
        np.mean([jensenshannon(a, b, base=2) for a, b in zip(cells["one", "eng"], people[code], strict=True)][start:])
        for code, start in (("eng", 0), ("fra", 20))
    ]
    assert raw[1] < raw[0]  # as means over different items would have it
    assert eng["own_country_rank"] == 1


def test_ranks_are_tested_against_countries_permuted_for_all_cells():
    people = drawn(5, 60)
    near = {("one", code): mixed(p, drawn(6, 60)[code], 0.6) for code, p in people.items()}
    found = compared(answers_of(near, ONE), people_of(people, ONE), ONE)
    row = found["own_country"].iloc[0]
    assert row["mean_rank"] == 1
    assert row["mean_rank_by_chance"] == 3.5
    assert row["mean_rank_p"] <= 0.02
    assert row["mean_rank_p"] == pytest.approx(1 / 720)  # the one best of all orders of six countries
    assert not found["tests"]["test"].str.contains("one/").any()
    # Six languages that all answer like one country say nothing of their own.
    same = dict.fromkeys([("one", code) for code in LANGUAGES], people["fra"])
    alike = compared(answers_of(same, ONE), people_of(people, ONE), ONE)["own_country"].iloc[0]
    assert alike["mean_rank"] == pytest.approx(3.5)
    assert alike["mean_rank_p"] > 0.3


def test_a_family_without_signal_stands_among_the_nulls_and_is_tested_apart():
    study = with_families(one="mono", silent="no-signal")
    people = drawn(7)
    cells = {("one", code): p for code, p in people.items()}
    cells |= dict.fromkeys([("silent", code) for code in LANGUAGES], drawn(8)["eng"])
    found = compared(answers_of(cells, study), people_of(people, study), study)
    assert set(found["cells"].query("model == 'silent'")["kind"]) == {"null"}
    silent = found["tests"][found["tests"]["test"].str.startswith("silent:")]
    assert set(silent["test_family"]) == {"own country (null families)"}
    assert not silent["is_rejected"].any()
    assert set(found["resources"].query("kind == 'model'")["model"]) == {"one"}


def test_fewer_than_three_countries_have_distances_and_no_test():
    found = compared(answers(), human().query("country in ['GB', 'FR']"), demo())
    cells = found["cells"].query("kind == 'model'")
    assert set(cells["language"]) == {"eng", "fra"}
    assert cells["w1_unit"].notna().all()
    own = found["tests"].query("test_family == 'own country'")
    assert own["p"].isna().all()
    assert own["verdict"].str.contains("three countries").all()


def test_the_floor_is_what_a_model_that_knows_the_answers_has_from_a_sample_of_people():
    people = {"eng": np.tile([0.4, 0.3, 0.2, 0.1], (40, 1))}
    cells = {("one", "eng"): np.tile([0.25] * 4, (40, 1))}
    found = compared(answers_of(cells, ONE), people_of(people, ONE, n=400), ONE)
    floor = found["cells"].query("kind == 'floor'").iloc[0]
    random = np.random.default_rng(0)
    known, unit = [0.4, 0.3, 0.2, 0.1], np.linspace(0, 1, 4)
    samples = random.multinomial(400, known, size=600) / 400
    far = [wasserstein_distance(unit, unit, known, sample) for sample in samples]
    assert floor["w1_unit"] == pytest.approx(np.mean(far), rel=0.06)
    assert floor["jsd_distance"] == pytest.approx(
        np.mean([jensenshannon(known, sample, base=2) for sample in samples]), rel=0.06
    )
    assert found["cells"].query("kind == 'model'")["w1_unit"].iloc[0] > floor["w1_unit"]


def test_a_perfect_model_lies_at_the_floor():
    random, known = np.random.default_rng(5), drawn(23, 200)
    samples = {code: random.multinomial(150, p) / 150 for code, p in known.items()}
    cells = {("one", code): p for code, p in known.items()}
    found = compared(answers_of(cells, ONE), people_of(samples, ONE, n=150), ONE)["cells"]
    means = found.groupby("kind")[["jsd_distance", "w1_unit"]].mean()
    assert means.loc["model"].to_numpy() == pytest.approx(means.loc["floor"].to_numpy(), rel=0.05)


def test_how_many_people_answered_moves_neither_advantage_nor_divergence():
    random, known = np.random.default_rng(6), drawn(24, 200, concentration=4.0)
    cells = {("one", code): p for code, p in known.items()}
    found = {}
    for few in (60, 300, 3000):
        n = {code: few if code in LANGUAGES[:3] else 3000 for code in LANGUAGES}
        people = pd.concat(
            people_of({code: random.multinomial(n[code], p) / n[code]}, ONE, n=n[code]) for code, p in known.items()
        )
        rows = compared(answers_of(cells, ONE), people, ONE)["cells"].query("kind == 'model'").set_index("language")
        found[few] = rows.loc[list(LANGUAGES[:3]), ["own_country_advantage", "jsd_bits_unbiased"]].mean()
    assert found[60].to_numpy() == pytest.approx(found[3000].to_numpy(), abs=0.0015)
    assert found[300].to_numpy() == pytest.approx(found[3000].to_numpy(), abs=0.0008)
    assert found[3000]["jsd_bits_unbiased"] == pytest.approx(0, abs=0.0003)


def test_questions_that_few_people_answered_are_left_out_of_that_country_and_counted():
    people, cells = drawn(25), {("one", code): p for code, p in drawn(26).items()}
    human = people_of(people, ONE, n=50)
    is_one = (human["country"] == "GB") & human["question_id"].isin(["v900", "v901"])
    human["n"] = human["n"].where(~is_one, 1)
    human["design_effect"] = human["design_effect"].where(human["country"] != "FR", 1.01)
    grid = answer_grid(answers_of(cells, ONE), human, 50)
    assert "FR" not in grid.countries
    assert np.isnan(grid.people[grid.countries.index("GB"), :2]).all()
    found = derive_human_comparison(grid, human, ONE)
    assert found["questions"].query("kind == 'model' and country == 'GB'")["question_id"].nunique() == 28
    assert "of 30 questions, GB 2, FR 30 (thresholds.respondents)" in " ".join(found["notes"]["note"])
    nobody = answer_grid(answers_of(cells, ONE), human, 2000)
    empty = derive_human_comparison(nobody, human, ONE)
    assert empty["cells"].empty
    assert "Fewer than 2000 respondents" in empty["notes"]["note"].iloc[0]


def test_silence_stands_beside_the_distances_and_changes_none():
    people, cells = drawn(9), {("one", code): p for code, p in drawn(10).items()}
    quiet = compared(answers_of(cells, ONE, p_valid=0.3), people_of(people, ONE, dk_rate=0.4), ONE)["cells"]
    loud = compared(answers_of(cells, ONE, p_valid=0.9), people_of(people, ONE, dk_rate=0.0), ONE)["cells"]
    assert quiet.loc[0, "dk_rate"] == pytest.approx(0.4)
    assert quiet.loc[0, "p_invalid"] == pytest.approx(0.7)
    assert quiet["jsd_distance"].tolist() == loud["jsd_distance"].tolist()


def test_low_resource_languages_that_were_planted_further_off_are_found():
    study = with_families(one="mono")
    low = ("pol", "ell", "bul")
    study = study.model_copy(
        update={
            "languages": {
                code: about.model_copy(update={"resource": "low" if code in low else "high"})
                for code, about in study.languages.items()
            }
        }
    )
    people, noise = drawn(11, 100), drawn(12, 100)
    cells = {("one", code): mixed(p, noise[code], 0.3 if code in low else 0.9) for code, p in people.items()}
    found = compared(answers_of(cells, study), people_of(people, study), study)
    row = found["resources"].query("kind == 'model'").set_index("measure").loc["jsd_bits_unbiased"]
    assert row[["beyond_uniform", "beyond_first", "beyond_pooled"]].min() > 0
    assert row["difference"] == pytest.approx(row["mean_low"] - row["mean_high"])
    assert row["difference_low"] > 0
    assert row["p"] == pytest.approx(0.1, abs=0.05)  # two of the twenty ways to choose three of six
    assert (row["n_low"], row["n_high"]) == (3, 3)


def test_a_silent_model_is_not_further_from_people_who_are_more_decided():
    study, low = with_families(one="mono"), ("pol", "ell", "bul")
    languages = {
        code: about.model_copy(update={"resource": "low" if code in low else "high"})
        for code, about in study.languages.items()
    }
    study = study.model_copy(update={"languages": languages})
    people = {code: p ** (1.6 if code in low else 1.0) for code, p in drawn(21, 100).items()}
    people = {code: p / p.sum(axis=-1, keepdims=True) for code, p in people.items()}
    cells = {("one", code): np.full(p.shape, 1 / p.shape[-1]) for code, p in people.items()}
    found = compared(answers_of(cells, study), people_of(people, study), study)["resources"]
    row = found.query("kind == 'model'").set_index("measure").loc["jsd_bits_unbiased"]
    silent = found.query("model == 'uniform answers'").set_index("measure").loc["jsd_bits_unbiased"]
    assert row["difference_low"] > 0
    assert row["difference"] == pytest.approx(silent["difference"])
    assert row["beyond_uniform"] == pytest.approx(0)
    assert row["p"] == 1


def test_one_level_of_resources_alone_is_not_compared():
    found = compared(answers().query("language in ['eng', 'deu', 'fra', 'ell']"), human(), demo())
    assert found["resources"]["p"].isna().all()
    assert found["resources"]["note"].str.contains("two or more of both").all()


def published(means, study, low=1.0, high=4.0):
    """Rows of `human_means`."""
    return pd.DataFrame(
        [
            {
                "country": study.languages[code].country,
                "language": code,
                "question_id": f"v{900 + item}",
                "mean": mean,
                "low": low,
                "high": high,
                "n": None,
                "source": "a table of means",
            }
            for code, of_country in means.items()
            for item, mean in enumerate(of_country)
        ]
    )


def test_published_means_bound_w1_from_below_and_nothing_else_is_shown():
    cells, people = drawn(13), drawn(14)
    codes = np.arange(1, 5)
    means = published({code: p @ codes for code, p in people.items()}, ONE)
    rows = answers_of({("one", code): p for code, p in cells.items()}, ONE)
    found = compared(rows, no_human(), ONE, means)
    exact = compared(rows, people_of(people, ONE), ONE)["questions"]
    keys = ["model", "language", "question_id"]
    both = found["lower_bounds"].merge(exact, on=keys)
    assert len(both) == len(exact.query("kind != 'floor'"))
    is_cell = both["kind_x"] == "model"
    assert (both["w1_unit_lower_bound"] <= both["w1_unit"] + 1e-9)[is_cell].all()
    first = found["lower_bounds"].iloc[0]
    assert first["w1_unit_lower_bound"] == pytest.approx(abs(cells["eng"][0] @ codes - people["eng"][0] @ codes) / 3)
    assert found["questions"].empty
    assert found["cells"].empty
    assert "W1, JSD and KL need their distributions and are refused" in found["notes"]["note"].iloc[0]
    assert {"uniform answers", "always the first option", "pooled other countries", "one"} == set(
        found["lower_bound_cells"]["model"]
    )


def test_published_means_on_another_scale_are_left_out_with_a_note():
    rows = answers_of({("one", code): p for code, p in drawn(15, 3).items()}, ONE)
    means = published({code: [0.5, 0.5, 0.5] for code in LANGUAGES}, ONE, 0.0, 1.0)
    found = compared(rows, no_human(), ONE, means)
    assert found["lower_bounds"].empty
    assert any(
        "v900: the published means run from 0 to 1, the answers from 1 to 4" in n for n in found["notes"]["note"]
    )


@pytest.mark.slow
def test_the_same_seed_gives_the_same_tables():
    one, other = (compared(answers(), human(), demo()) for _ in range(2))
    for name, table in one.items():
        pd.testing.assert_frame_equal(table, other[name])


def test_countries_that_are_equally_near_share_the_mean_rank():
    people = dict.fromkeys(LANGUAGES, drawn(31)["eng"])
    cells = {("one", code): p for code, p in drawn(32).items()}
    found = compared(answers_of(cells, ONE), people_of(people, ONE), ONE)["cells"].query("kind == 'model'")
    assert found["own_country_rank"].tolist() == [3.5] * 6
    assert found["own_country_rank_low"].tolist() == [3.5] * 6
