"""`calibrate`: a row per response type, and the process is left as it was."""

import torch

import valuesassets as va


def test_each_response_type_has_a_verdict_and_its_errors(questions):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        recovery = va.calibrate(questions[:1], "eng", passes=1)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert {"all", "likert4"} == {*recovery["response_type"]}
    assert not recovery["is_recovered"].any()  # nothing is learnt in one pass
    assert recovery["reason"].str.len().min() > 10
