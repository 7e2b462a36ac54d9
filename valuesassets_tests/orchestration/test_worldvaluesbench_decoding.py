"""A model that is left to write, by a real job of the node: what it says comes back as planted, under each readout."""

import json

import dagster as dg
import numpy as np
import pandas as pd
import pytest
from tokenizers import AddedToken

from valuesassets.definitions import build_definitions
from valuesassets.orchestration.commands.run_study import Wanted, run_study
from valuesassets.orchestration.instruments import MODELS, WORLDVALUESBENCH
from valuesassets.records.study import parse_study
from valuesassets_tests.instruments.worldvaluesbench.made_files import write_published_files
from valuesassets_tests.orchestration.study_here import unpainted
from valuesassets_tests.orchestration.test_worldvaluesbench_assets import small_study, versions
from valuesassets_tests.tiny_models import byte_level, write_bigrams

MATERIAL = ("participants", "value_answers", "probe_samples", "personas", "trials")
ANSWERS = ("preflight", "readings", "rating_distributions", "decoded_ratings", "readout_comparison")
COMPARISON = Wanted({MODELS.key("weights"), *map(WORLDVALUESBENCH.key, (*MATERIAL, *ANSWERS))})
SAMPLES = 20
SHOWN = {"1": 0.6, "2": 0.3, "3": 0.1}
"""How likely each number shown is, whatever stands behind it; one answer in ten is none."""
UNSURE, HM = "It depends.\n\n", " hm"
LONG = "At length. " * 200
"""Longer than what the model can read."""


def scored(score):
    return json.dumps({"thoughtful explanation": "so", "answer as a score": score})


BY_COUNTRY = {"156": scored("2"), "276": scored("0"), "484": scored("7"), "566": UNSURE}
"""What is written of a person of each country: two ratings, one off the scale, and none."""
BLIND = {scored("1"): 0.8, UNSURE: 0.2}
"""What is written of nobody in particular, at temperature 1."""


def write_writer(folder):
    """A model that knows the last word of its prompt only: a country, the end of a frame, or the cue."""
    tokenizer = byte_level(size=257)
    known = dict.fromkeys([*BY_COUNTRY, *BY_COUNTRY.values(), *BLIND, HM])
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in known])
    token = {text: tokenizer(text)["input_ids"][0] for text in (*known, *SHOWN, ":", " ", "}", "\n")}
    table = {":": {" ": 0.9, HM: 0.1}, " ": SHOWN, "}": BLIND}
    table |= {text: {"\n": 1.0} for text in (*SHOWN, HM, *BY_COUNTRY.values(), *BLIND, "\n")}
    table |= {country: {said: 1.0} for country, said in BY_COUNTRY.items()}
    ids = {token[last]: {token[text]: prob for text, prob in following.items()} for last, following in table.items()}
    return write_bigrams(folder, tokenizer, ids)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")
    seed_files = write_published_files(folder / "dataset_construction", ["Q7", "Q94"])
    (seed_files / "figure_5.txt").write_text("{question}\n{attributes}\n")
    metadata = json.loads((seed_files / "question_metadata.json").read_text())
    metadata["Q7"]["question"] = LONG
    (seed_files / "question_metadata.json").write_text(json.dumps(metadata))
    content = small_study(slopes={"aware": 0.8}, ratings=[]).model_dump(mode="json", exclude_none=True)
    asked = {"language": "eng", "questions": ["Q7", "Q94"], "probe": "all"}
    asked |= {"attributes": ["H_URBRURAL", "B_COUNTRY"]}
    table = {"slopes": {}, "people": 240, "sets": {"two": asked}, "seed_files": str(seed_files)}
    table |= {"decode": {"samples": SAMPLES, "seed_prompts": [5, 9]}}
    family = {"kind": "huggingface", "model_type": "multi", "dtype": "float32"}
    family |= {"model_id": str(write_writer(folder / "model"))}
    changes = {"families": {"writer": family}, "worldvaluesbench": content["worldvaluesbench"] | table}
    changes |= {"inference": {"resamples": 99, "worlds": 2}, "preflight": {"override": "it knows one word at a time"}}
    return parse_study(content | changes, "small.toml")


@pytest.fixture(scope="module")
def made(study, tmp_path_factory):
    """The folder of the study, made up to the comparison of readouts, and what Dagster was told of that."""
    folder = tmp_path_factory.mktemp("made")
    with unpainted(), dg.DagsterInstance.ephemeral() as instance:
        assert list(run_study(build_definitions(study, folder), instance, study=study, wanted=COMPARISON)) == []
        check = dg.AssetCheckKey(WORLDVALUESBENCH.key("readout_comparison"), "sampled_answers_agree_with_exact_ones")
        (told,) = instance.event_log_storage.get_asset_check_execution_history(check, limit=9)
    return folder / "small" / "worldvaluesbench", told


@pytest.fixture(scope="module")
def written(made):
    return pd.read_parquet(made[0] / "decoded_ratings" / "writer" / "two.parquet")


@pytest.mark.slow
def test_every_prompt_is_answered_as_often_as_its_readout_says(written):
    n = written.groupby(["wording", "order"])["trial_id"].agg(["nunique", "size"])
    assert n.loc[(0, "forward")].tolist() == n.loc[(0, "reversed")].tolist() == [2 * 9, 2 * 9 * SAMPLES]
    assert n.loc[(5, "forward")].tolist() == [2 * 8, 2 * 8]
    assert n.loc[(9, "forward")].tolist() == [2, 2 * 230]


@pytest.mark.slow
def test_a_number_stands_for_the_answer_that_was_shown_beside_it(written):
    """Of three answers from 0 to 2 the first shown is 0 forward, and 2 reversed."""
    sampled = written[(written.wording == 0) & (written.question_id == "Q94")]
    for order, codes in (("forward", [0, 1, 2]), ("reversed", [2, 1, 0])):
        part = sampled[sampled.order == order]
        shares = part.rating.value_counts(normalize=True)
        assert shares[codes].to_numpy(float) == pytest.approx(list(SHOWN.values()), abs=0.08)
        assert part.rating.isna().mean() == pytest.approx(0.1, abs=0.06)
        assert set(part[part.rating.isna()].text.str.strip()) == {"hm"}


@pytest.mark.slow
def test_scores_in_json_are_codes_and_what_is_none_stays_as_text(written):
    own = written[(written.wording == 5) & (written.question_id == "Q94")]
    country = own.profile.str.extract(r"B_COUNTRY=(\d+)")[0]
    found = own.groupby(country)[["rating", "is_on_scale"]].first()
    assert found["rating"].tolist() == [2, 0, 7, pd.NA]
    assert found["is_on_scale"].tolist() == [True, True, False, False]
    assert set(own[country == "566"].text) == {UNSURE.strip()}
    blind = written[(written.wording == 9) & (written.question_id == "Q94")]
    assert blind.profile.isna().all()
    sharpened = 0.8 ** (1 / 0.7) / (0.8 ** (1 / 0.7) + 0.2 ** (1 / 0.7))
    assert (blind.text == scored("1")).mean() == pytest.approx(sharpened, abs=0.06)
    assert (blind.rating.notna() == (blind.text == scored("1"))).all()


@pytest.mark.slow
def test_what_could_not_be_written_is_a_reason_and_no_number(written):
    failed = written[(written.wording != 0) & (written.question_id == "Q7")]
    assert set(failed.status) == {"failed"}
    assert failed[["rating", "text"]].isna().all(axis=None)
    assert failed.reason.str.contains("tokens").all()
    assert not failed.is_on_scale.any()


@pytest.mark.slow
def test_each_readout_has_a_row_and_only_the_same_prompt_is_held_against_chance(made):
    rows = pd.read_parquet(made[0] / "readout_comparison" / "readouts.parquet").set_index("readout")
    assert list(rows.index) == ["exact", "greedy", "sampled", "figure 5", "figure 9"]
    assert rows.loc["sampled", "w1_unit"] <= rows.loc["sampled", "w1_allowed_unit"]
    assert rows.loc[["figure 5", "figure 9"], ["w1_expected_unit", "w1_allowed_unit"]].isna().all(axis=None)
    assert rows.loc["figure 5", ["n_answers", "n_unparsed"]].tolist() == [4, 12]
    assert rows.loc["figure 9", "n_answers"] + rows.loc["figure 9", "n_unparsed"] == 460
    assert np.isfinite(rows["w1_seed"]).all()
    assert rows.loc["figure 9", ["slope", "exaggeration"]].isna().all()
    assert made[1].event.asset_check_evaluation.passed


@pytest.mark.slow
def test_one_job_loads_the_model_once_for_all_that_it_writes(made):
    (job,) = (made[0].parent / "jobs").rglob("decoded_ratings/**/job.json")
    cells = json.loads(job.read_text())["cells"]
    assert [cell["name"] for cell in cells] == [f"writer/two/{name}" for name in ("sampled", "figure_5", "figure_9")]


def test_other_words_in_the_seeds_files_make_what_was_written_stale(study, tmp_path):
    before = versions(study, tmp_path)
    frame = study.worldvaluesbench.seed_files / "figure_5.txt"
    frame.write_text(frame.read_text() + " ")
    after = versions(study, tmp_path)
    assert {name for name in before if before[name] != after[name]} == {"decoded_ratings"}
