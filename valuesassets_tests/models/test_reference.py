import math

import pytest
import torch

from valuesassets.models.loading import load_model
from valuesassets.models.reference import train_reference_model
from valuesassets.models.reference_folder import find_reference_model
from valuesassets.models.reference_tokenizer import train_tokenizer
from valuesassets.models.reference_training import grow_answer_tree
from valuesassets.models.sampling import sample_answers
from valuesassets.records.errors import StorageError
from valuesassets.spelling.prompt_tokenizer import describe_tokenizer
from valuesassets_tests.scored import score_trials
from valuesassets_tests.tiny_models import PROMPTS, trial

ANSWERS = {
    PROMPTS[0]: {" 1\n": 0.2, "1\n": 0.1, " 2\n": 0.05, "3.": 0.15, " 4\n": 0.1, " dunno\n": 0.4},
    PROMPTS[1]: {" 1\n": 0.3, " 10\n": 0.25, "10\n": 0.1, "1,": 0.1, " 7\n": 0.2, "hm\n": 0.05},
    PROMPTS[2]: {" 1\n": 0.03, "2\n": 0.02, " ξέρω\n": 0.95},
}
PLANTED = {
    PROMPTS[0]: (0.3, 0.05, 0.15, 0.1),
    PROMPTS[1]: (0.4, 0, 0, 0, 0, 0, 0.2, 0, 0, 0.35),
    PROMPTS[2]: (0.03, 0.02),
}


@pytest.fixture(scope="module")
def phantom(tmp_path_factory):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield train_reference_model(ANSWERS, tmp_path_factory.mktemp("phantoms") / "one", steps=300, seed=3)
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def loaded_phantom(phantom):
    return load_model(str(phantom.folder))


@pytest.mark.slow
def test_the_scorer_reads_back_what_was_planted_as_texts(loaded_phantom):
    trials = [trial(prompt, len(planted), prompt[:3]) for prompt, planted in PLANTED.items()]
    for reading, planted in zip(score_trials(loaded_phantom, trials).readings, PLANTED.values(), strict=True):
        assert reading.label_probs == pytest.approx(planted, abs=0.01)
        assert reading.p_valid == pytest.approx(sum(planted), abs=0.01)


@pytest.mark.slow
def test_sampled_texts_come_as_often_as_the_scorer_says(loaded_phantom):
    n = 4000
    trials = [trial(prompt, len(planted), prompt[:3]) for prompt, planted in PLANTED.items()]
    readings = score_trials(loaded_phantom, trials).readings
    drawn = sample_answers(loaded_phantom, list(PLANTED), n=n, seed=5)
    for texts, reading in zip(drawn, readings, strict=True):
        assert texts.total() == n
        for label, prob in enumerate(reading.label_probs, 1):
            found = sum(count for text, count in texts.items() if text.strip(" \n.,") == str(label)) / n
            assert abs(found - prob) <= 3 * math.sqrt(prob * (1 - prob) / n) + 2e-3


@pytest.mark.slow
def test_draws_follow_their_seed_and_their_own_prompt_only(loaded_phantom):
    one, two, alone = (
        sample_answers(loaded_phantom, prompts, n=50, seed=seed)
        for prompts, seed in ((PROMPTS, 1), (PROMPTS, 2), (PROMPTS[1:2], 1))
    )
    assert one == sample_answers(loaded_phantom, PROMPTS, n=50, seed=1)
    assert one != two
    assert alone == one[1:2]


@pytest.mark.slow
def test_the_same_texts_and_seed_give_the_same_bytes(phantom, tmp_path):
    again = train_reference_model(ANSWERS, tmp_path / "two", steps=300, seed=3)
    names = sorted(path.name for path in phantom.folder.iterdir())
    assert "model.safetensors" in names
    assert "tokenizer.json" in names
    for name in names:
        assert (again.folder / name).read_bytes() == (phantom.folder / name).read_bytes(), name


@pytest.mark.slow
def test_a_known_folder_is_left_as_it_is_and_a_damaged_or_other_one_is_not(phantom, tmp_path):
    again = train_reference_model(ANSWERS, phantom.folder, steps=300, seed=3)
    assert not again.is_new
    assert again.mean_kl == phantom.mean_kl
    assert find_reference_model(phantom.folder, "another hash") is None
    other = train_reference_model(ANSWERS, tmp_path / "p", steps=2, seed=3)
    (other.folder / "model.safetensors").write_bytes(b"half")
    assert find_reference_model(other.folder, other.training_hash) is None
    assert train_reference_model(ANSWERS, tmp_path / "p", steps=2, seed=3).is_new


def test_a_folder_that_cannot_be_written_is_an_error_and_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        train_reference_model(ANSWERS, tmp_path / "file" / "phantom", steps=1, seed=0)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_tree_of_answers_is_the_chain_rule_over_their_tokens():
    hf = train_tokenizer(PROMPTS, 300)
    tree = grow_answer_tree(describe_tokenizer(hf, "t", len(hf)), "1.", {" 1\n": 0.3, "1\n": 0.5, " 1": 0.2})
    one, space, newline = hf.convert_tokens_to_ids(["1", "▁", "\n"])
    assert dict(zip(tree.beginnings, tree.next_probs, strict=True)) == {
        (): {space: 0.5, one: 0.5},
        (space,): {one: 1.0},
        (one,): {newline: 1.0},
        (space, one): {newline: pytest.approx(0.6), hf.eos_token_id: pytest.approx(0.4)},
    }


def test_the_phantoms_tokenizer_writes_what_it_has_never_seen():
    tokenizer = describe_tokenizer(hf := train_tokenizer(PROMPTS, 300), "t", len(hf))
    for text in ("Ünseen ŵords — 漢字 1 10", " 1\n\n  2", "a▁b"[:1]):
        tokenizer.require_round_trip(text)
