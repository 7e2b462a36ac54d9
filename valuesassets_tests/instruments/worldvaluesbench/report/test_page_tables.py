"""What the page of a set is told: names of its tables, what was read back, and where answers come from."""

import hashlib

import pandas as pd

from valuesassets.instruments.worldvaluesbench.report.model_gates import calibration_gates, file_origins
from valuesassets.records.settings.measuring import Phantom
from valuesassets.records.study import load_study, parse_study
from valuesassets.reporting.run import reading_origin

READ = {"model": '"/models/mine"', "revision": "null", "weights_id": "abc"}


def frame(name):
    return pd.DataFrame({"name": [name]})


def comparison(error):
    """Rows of the calibration of one cell, whose answers are off by so much; nothing was sampled."""
    names = ("w1_unit_error", "p_valid_error", "position_bias_error")
    unknown = [f"{begun}_{name}" for begun in ("sampled", "drawn") for name in names]
    unknown += [f"drawn_{name}_sd" for name in names] + ["sampled_p_valid"]
    columns = {"model": "aware", "language": "demo", "response_type": "binary", "status": ["ok", "ok"], "n_sampled": 0}
    return pd.DataFrame(
        columns | dict.fromkeys([*names, "averaged_w1_unit_error"], error) | dict.fromkeys(unknown, float("nan"))
    )


def test_a_gate_for_each_reference_model_says_what_was_found_or_why_it_failed():
    passed, failed = calibration_gates({"aware/demo": comparison(0.001), "blind/demo": comparison(0.4)}, Phantom())
    assert (passed.sentence, passed.is_passed) == ("The planted answers of aware/demo are read back.", True)
    assert passed.found == "mean W1 0.0010 over 2 prompts"
    assert (failed.sentence, failed.is_passed) == ("The planted answers of blind/demo are read back.", False)
    assert "mean w1_unit_error 0.400 is above" in failed.found
    assert calibration_gates({}, Phantom()) == []


def test_files_are_named_by_their_hash_and_models_by_weights_and_commit_without_the_path(tmp_path):
    (tmp_path / "wvs.csv").write_text("people")
    (tmp_path / "mine.csv").write_text("ratings")
    content = load_study("demo_worldvaluesbench").model_dump(mode="json", exclude_none=True)
    table = {"answers": "wvs.csv", "slopes": {}, "ratings": [{"name": "mine", "with": "mine.csv"}]}
    family = {"kind": "huggingface", "model_type": "multi", "model_id": "owner/model"}
    changes = {"worldvaluesbench": content["worldvaluesbench"] | table, "families": {"asked": family}}
    study = parse_study(content | changes, "small.toml", tmp_path)
    hub = {"model": '"owner/model"', "revision": '"c0ffee"', "weights_id": "def"}
    origins = [*file_origins(study), reading_origin("asked/demo", hub), reading_origin("folder/demo", READ)]
    assert origins == [
        {"what": "people's answers", "source": "wvs.csv", "sha256": hashlib.sha256(b"people").hexdigest()},
        {"what": "ratings mine", "source": "mine.csv", "sha256": hashlib.sha256(b"ratings").hexdigest()},
        {"what": "readings asked/demo", "source": "owner/model", "sha256": "def", "commit": "c0ffee"},
        {"what": "readings folder/demo", "source": "models/mine", "sha256": "abc", "commit": ""},
    ]


def test_made_up_people_come_from_no_file():
    assert file_origins(load_study("demo_worldvaluesbench")) == []
