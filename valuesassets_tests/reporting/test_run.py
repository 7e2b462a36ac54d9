"""Where readings come from, as a report says it, of what their files say of themselves."""

import json

import pandas as pd

from valuesassets.records.study import load_study
from valuesassets.reporting.methods import adapted
from valuesassets.reporting.parts import Refused
from valuesassets.reporting.run import Run, reading_origin

GGUF = {
    "model": "/cache/gguf/0a1b",
    "weights_id": "0a1b",
    "gguf": json.dumps({"file": "tiny.Q8_0.gguf", "quantisation": "Q8_0", "sha256": "0a1b"}),
    "quantisation": "Q8_0, computed in float32: numbers are those of the quantised model",
}
"""As the metadata of a table of readings has it: texts as they are, all else as JSON."""


def test_readings_of_a_gguf_file_name_the_file_and_its_quantisation():
    origin = reading_origin("tiny/eng", GGUF)
    assert (origin["source"], origin["sha256"], origin["commit"]) == ("tiny.Q8_0.gguf", "0a1b", "")
    assert origin["quantisation"].startswith("Q8_0, computed in float32")


def test_readings_of_a_folder_name_no_quantisation():
    origin = reading_origin("tiny/eng", {"model": "/models/tiny", "weights_id": "0a1b"})
    assert "quantisation" not in origin
    assert origin["source"] == "models/tiny"


def test_readings_with_an_adapter_name_the_model_with_it_and_the_methods_say_so():
    metadata = {"model": "owner/base", "weights_id": "0a1b", "revision": "c0ffee", "adapter": "trained/run7"}
    origin = reading_origin("tuned/eng", metadata)
    assert (origin["source"], origin["adapter"]) == ("owner/base+trained/run7", "trained/run7")
    run = Run(load_study("demo_survey"), {}, provenance=[origin, origin, reading_origin("b", {"model": "owner/base"})])
    assert [*adapted(run)] == [
        "The weights of owner/base were changed by the low-rank adapter trained/run7 before it was asked."
    ]


def test_an_empty_table_has_the_reason_of_its_verdicts_before_notes_on_the_method():
    notes = pd.DataFrame({"note": ["p: countries permuted."]})
    verdicts = pd.DataFrame({"model": ["a", "b"], "verdict": None, "reason": ["one language, four are needed"] * 2})
    frames = {"correlations": pd.DataFrame({"r": []}), "notes": notes, "verdicts": verdicts}
    refused = Run(load_study("demo_survey"), {"signal": frames}).table("correlations", "the signal", of="signal")
    assert refused == Refused("one language, four are needed")
    del frames["verdicts"]
    assert Run(load_study("demo_survey"), {"signal": frames}).table("correlations", of="signal") == Refused(
        "p: countries permuted."
    )
    frames["notes"] = notes.iloc[:0]
    assert (
        "there is nothing to show"
        in Run(load_study("demo_survey"), {"signal": frames}).table("correlations", of="signal").reason
    )
