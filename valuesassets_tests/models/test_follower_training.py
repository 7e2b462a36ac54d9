import numpy as np
import pytest
import torch
from transformers import LlamaForCausalLM

from valuesassets.models.follower_fit import stack
from valuesassets.models.follower_lessons import spell_lessons
from valuesassets.models.follower_llama import CONFIG, Follower, as_llama
from valuesassets.models.follower_training import train_follower
from valuesassets.models.follower_transcripts import read_planted_transcripts
from valuesassets.models.reference_folder import ReferenceModel, save_reference_model
from valuesassets.models.reference_tokenizer import train_tokenizer
from valuesassets.records.errors import StorageError, TokenizerError
from valuesassets.records.parquet import write_table
from valuesassets.records.tables import PLANTED_TRANSCRIPTS
from valuesassets.spelling.prompt_tokenizer import describe_tokenizer
from valuesassets_tests.models.planted_people import SETS, People, write_people
from valuesassets_tests.models.spans.oracle import SpanOracle

STEPS = 150


@pytest.fixture(scope="module")
def people():
    return People(n_items=4)


@pytest.fixture(scope="module")
def transcripts(people, tmp_path_factory):
    return write_people(tmp_path_factory.mktemp("planted") / "people.parquet", people.transcribe(3000, seed=1))


@pytest.fixture(scope="module")
def few_transcripts(people, tmp_path_factory):
    return write_people(tmp_path_factory.mktemp("planted") / "people.parquet", people.transcribe(300, seed=1))


@pytest.fixture(scope="module")
def follower(transcripts, tmp_path_factory):
    return train_follower(transcripts, ["eng"], tmp_path_factory.mktemp("models") / "follower", STEPS, seed=1)


def spelled(path):
    """Lessons of a file, and the tokenizer that spells them."""
    planted = read_planted_transcripts(path, ["eng"])
    hf = train_tokenizer(planted.texts, 2000, planted.unsplit_texts())
    return spell_lessons(planted, describe_tokenizer(hf, "t", len(hf))), hf


@pytest.mark.slow
def test_new_people_are_answered_for_by_the_planted_response_model(people, follower):
    oracle, distances = SpanOracle(follower.folder), []
    for transcript in people.transcribe(12, seed=2):
        for start, planted in zip(transcript.row()["starts"], transcript.probs_at_marks, strict=True):
            probs = np.exp(oracle.log_probs(transcript.text[:start], SETS[transcript.set], transcript.delimiters[1:]))
            assert probs.sum() == pytest.approx(1, abs=0.01)
            distances.append(abs(probs / probs.sum() - planted).sum() / 2)
    assert np.mean(distances) < 0.03


def test_a_mark_is_taught_by_the_chain_rule_over_tokens_and_what_stands_there_decides_which_steps(tmp_path):
    text, probs = "How many? <<10>>", (0.4, 0.1, 0.3, 0.2)
    row = {"language": "eng", "text": text, "starts": [12], "answers": ["10"], "candidates": [0], "probs": [probs]}
    described = {"candidate_sets": [["1", "2", "10", "12"]], "closes": [">>"]}
    write_table(tmp_path / "t.parquet", [row], PLANTED_TRANSCRIPTS, described)
    lessons, hf = spelled(tmp_path / "t.parquet")
    columns = [lessons.answers.index(hf.convert_tokens_to_ids(token)) for token in ("0", "1", "2", ">>")]
    zero, one, two, close = np.eye(len(lessons.answers) + 1)[columns]
    first = 0.9 * one + 0.1 * two
    behind_one = (0.4 * close + 0.3 * zero + 0.2 * two) / 0.9
    assert lessons.targets == pytest.approx(np.array([first, behind_one, close]), abs=1e-6)
    begins = [
        hf.decode([lessons.token_ids[token] for token in lessons.tokens[0][: place + 1]]) for place in lessons.places[0]
    ]
    assert begins == ["<bos>How many? <<", "<bos>How many? <<1", "<bos>How many? <<10"]


def test_what_it_says_is_what_transformers_says(few_transcripts, tmp_path):
    lessons, hf = spelled(few_transcripts)
    follower = Follower(len(lessons.token_ids), len(lessons.answers), len(hf) - len(lessons.answers), seed=5)
    model = ReferenceModel(tmp_path / "m", "hash", True, 0, 0.0, 0.0, 0.0)
    save_reference_model(model, CONFIG, as_llama(follower, lessons.token_ids, lessons.answers, len(hf), seed=5), hf)
    llama = LlamaForCausalLM.from_pretrained(tmp_path / "m").eval()
    groups, numbers = stack(lessons, range(7))
    with torch.no_grad():
        ours = follower.log_probs(groups)
        said = [
            llama(torch.tensor(lessons.token_ids)[group.tokens]).logits.log_softmax(-1)[row, place]
            for group in groups
            for row, places in enumerate(group.places)
            for place in places
        ]
    theirs = torch.stack(said)[:, list(lessons.answers)]
    is_taught = torch.from_numpy(numbers >= 0)
    assert is_taught.sum() == sum(len(places) for places in lessons.places[:7])
    torch.testing.assert_close(ours[is_taught, :-1], theirs[is_taught], atol=1e-4, rtol=0)
    torch.testing.assert_close(ours.exp().sum(dim=1), torch.ones(len(ours)))


@pytest.mark.slow
def test_the_same_transcripts_and_seed_give_the_same_bytes_and_are_trained_on_once(few_transcripts, tmp_path):
    one, two = (train_follower(few_transcripts, ["eng"], tmp_path / name, 3, seed=1) for name in "ab")
    assert one.training_hash == two.training_hash
    for path in one.folder.iterdir():
        assert (two.folder / path.name).read_bytes() == path.read_bytes(), path.name
    assert not train_follower(few_transcripts, ["eng"], tmp_path / "a", 3, seed=1).is_new
    other = train_follower(few_transcripts, ["eng"], tmp_path / "a", 3, seed=2)
    assert other.is_new
    assert other.training_hash != one.training_hash


def test_training_that_is_broken_off_leaves_no_folder(few_transcripts, tmp_path):
    def stop(done, _kl):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_follower(few_transcripts, ["eng"], tmp_path / "models" / "f", 3, 1, stop)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"probs": [[0.5, 0.6]]}, StorageError, "row 1: mark 1: probabilities sum to 1.1, 1 was expected"),
        ({"probs": [[1.0]]}, StorageError, "row 1: mark 1: 1 probabilities for set 0"),
        ({"probs": []}, StorageError, "row 1: 1, 1, 1, 0 starts, answers, candidates and probs"),
        ({"starts": [9]}, StorageError, "row 1: mark 1: 'yes' does not stand at character 9"),
        ({"candidates": [1]}, StorageError, "row 1: mark 1: 2 probabilities for set 1"),
        (
            {"text": "Sure? <<yesterday", "starts": [8]},
            TokenizerError,
            "transcript 1: 'Sure. <<': no token begins with",
        ),
        ({"text": "Sure? <eyes>>", "starts": [8]}, TokenizerError, "no token begins with the answer 'yes'"),
        ({"language": "deu"}, StorageError, "no planted transcripts in eng"),
    ],
)
def test_what_cannot_be_taught_is_one_line(changes, error, message, tmp_path):
    row = {"language": "eng", "text": "Sure? <<yes>>", "starts": [8], "answers": ["yes"], "candidates": [0]}
    row |= {"probs": [[0.5, 0.5]]} | changes
    write_table(
        tmp_path / "t.parquet", [row], PLANTED_TRANSCRIPTS, {"candidate_sets": [["yes", "no"]], "closes": [">>"]}
    )
    with pytest.raises(error, match=message) as raised:
        train_follower(tmp_path / "t.parquet", ["eng"], tmp_path / "m", 1, seed=1)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "m").exists()
