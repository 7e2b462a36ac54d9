"""What labels' probabilities are by each route, held to a model that is read here and to known distributions."""

import math
import random

import pytest

from valuesassets.models.asking import Asking
from valuesassets.models.loading import load_model
from valuesassets.models.serving import MODEL as SERVED
from valuesassets.models.serving import Handler, ServedModel
from valuesassets.records.errors import InputError
from valuesassets.records.intervals import bound_shares
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.trials import Status, Trial
from valuesassets.remote.asking import RemoteAsking
from valuesassets.remote.top_logprobs import bound_labels
from valuesassets_tests.remote.loopback_openai import CHAT, KEY, MODEL, TEXT, LoopbackOpenAi, showing
from valuesassets_tests.tiny_models import PROMPTS, byte_level, sentencepiece_like, write_model

TEN = tuple(map(str, range(1, 11)))
TOKENIZERS = {"sentencepiece": sentencepiece_like, "bytes": byte_level}


def labelled(prompt, trial_id, labels=TEN):
    return Trial(trial_id, trial_id, "eng", prompt, "forward", 0, None, ScoreLabels(labels, tuple(range(len(labels)))))


TRIALS = [
    labelled(PROMPTS[0], "q0", ("1", "2", "3", "4")),
    labelled(PROMPTS[1], "q1"),
    labelled(PROMPTS[2], "q2", ("1", "2")),
]


@pytest.fixture(scope="module", params=TOKENIZERS)
def model(request, tmp_path_factory):
    folder = write_model(tmp_path_factory.mktemp("m") / "m", TOKENIZERS[request.param](), spread=0.2)
    return folder, load_model(str(folder), device="cpu")


def put(server, trials=TRIALS, known=None, prompting=TEXT, **settings):
    """Readings of trials that a server is asked, with how they were made."""
    endpoint = Endpoint(**{"provider": "openai", "base_url": server.base_url, "api": "completions"} | settings)
    asking = RemoteAsking(SERVED, endpoint, prompting, trials)
    kept = asking.open_known(known) if known else None
    result, described = asking.ask(asking.connect(kept), store=kept)
    return result.records, described


@pytest.mark.parametrize("route", ["token_ids", "echo"])
@pytest.mark.slow
def test_exact_routes_read_what_is_read_here(model, route):
    folder, loaded = model
    expected = Asking(loaded.opened, TRIALS).ask(loaded)[0].records
    with ServedModel(loaded).serving() as server:
        found, described = put(server, route=route, tokenizer=str(folder))
    assert described["route"] == route
    for here, there in zip(expected, found, strict=True):
        assert there.status is Status.OK
        assert there.label_probs == pytest.approx(here.label_probs, abs=1e-5)
        assert there.p_valid == pytest.approx(here.p_valid, abs=1e-5)
        assert there.resolution_mass == pytest.approx(here.resolution_mass, abs=1e-5)
        assert there.label_probs_high is None
        assert there.label_tokens == here.label_tokens


def test_bounds_hold_what_is_read_here(model):
    _, loaded = model
    trials = [TRIALS[0], TRIALS[2]]
    expected = Asking(loaded.opened, trials).ask(loaded)[0].records
    with ServedModel(loaded).serving() as server:
        found, _ = put(server, trials, route="top_logprobs", max_width=1, top=200)
    for here, there in zip(expected, found, strict=True):
        for probability, low, high in zip(here.label_probs, there.label_probs, there.label_probs_high, strict=True):
            assert low - 1e-6 <= probability <= high + 1e-6
        assert there.p_valid - 1e-6 <= here.p_valid <= there.p_valid_high + 1e-6


class NoIds(Handler):
    """A server that knows nothing of `logprob_token_ids`."""

    def answer(self, body):
        super().answer({name: value for name, value in body.items() if name != "logprob_token_ids"})


class NoEcho(NoIds):
    """Nor of `echo`."""

    def answer(self, body):
        super().answer({name: value for name, value in body.items() if name != "echo"})


class NoProbabilities(NoEcho):
    """Nor of probabilities."""

    def answer(self, body):
        super().answer({name: value for name, value in body.items() if name not in ("logprobs", "top_logprobs")})


@pytest.mark.parametrize(
    ("handler", "route"), [(Handler, "token_ids"), (NoIds, "echo"), (NoEcho, "top_logprobs"), (NoProbabilities, None)]
)
def test_the_route_is_found_by_asking_once_and_kept(model, tmp_path, handler, route):
    folder, loaded = model
    with ServedModel(loaded, handler).serving() as server:
        if route is None:
            with pytest.raises(InputError, match=r"no probabilities by any route \(token_ids: .*; echo: .*; top_logp"):
                put(server, TRIALS[:1], tokenizer=str(folder), attempts=1)
            return
        found, described = put(server, TRIALS[:1], tmp_path, tokenizer=str(folder), attempts=1, max_width=1, top=200)
        assert (described["route"], found[0].status) == (route, Status.OK)
        before = server.requests
        again, _ = put(server, TRIALS[:1], tmp_path, tokenizer=str(folder), attempts=1, max_width=1, top=200)
        assert (again, server.requests) == (found, before)


def test_a_server_that_cuts_texts_otherwise_is_refused(model, tmp_path):
    _, loaded = model
    other = write_model(tmp_path / "other", byte_level(size=257), spread=0.2)
    with ServedModel(loaded).serving() as server, pytest.raises(Exception, match="cuts texts otherwise than the token"):
        put(server, TRIALS[:1], route="echo", tokenizer=str(other), attempts=1)


def planted(seed, labels, size=400, sharp=1.0):
    """A distribution over tokens: labels bare and behind a space among them, the rest as they come."""
    draw = random.Random(seed)  # noqa: S311
    tokens = [text for label in labels for text in (label, f" {label}")]
    tokens += [f"word{number}" for number in range(size - len(tokens))]
    weights = [draw.gammavariate(sharp, 1) * (200 if token in tokens[: 2 * len(labels)] else 1) for token in tokens]
    return {token: weight / sum(weights) for token, weight in zip(tokens, weights, strict=True)}


def true_shares(labels, probs):
    own = [probs[label] + probs[f" {label}"] for label in labels]
    return [each / sum(own) for each in own], sum(own)


@pytest.mark.slow
def test_of_two_hundred_planted_distributions_every_probability_lies_in_its_interval(monkeypatch):
    monkeypatch.setenv("THE_KEY", KEY)
    kinds = [(("1", "2", "3", "4"), 0.05), (tuple("abcdefg"), 0.5), (("yes", "no"), 5.0), (TEN[:9], 0.2)]
    cases = {
        f"prompt {n}": (labels, planted(n, labels, sharp=sharp)) for n in range(200) for labels, sharp in [kinds[n % 4]]
    }

    def answer(body):
        _, probs = cases[body["messages"][-1]["content"]]
        likeliest = sorted(probs, key=lambda token: -probs[token])[: body["top_logprobs"]]
        return showing({token: probs[token] for token in likeliest})

    server = LoopbackOpenAi(answer)
    trials = [labelled(prompt, prompt, labels) for prompt, (labels, _) in cases.items()]
    with server.serving():
        endpoint = server.endpoint(route="top_logprobs", concurrency=8, max_width=1)
        asking = RemoteAsking(MODEL, endpoint, CHAT, trials)
        records = asking.ask(asking.connect(None))[0].records
    width = []
    for reading, (labels, probs) in zip(records, cases.values(), strict=True):
        shares, p_valid = true_shares(labels, probs)
        assert reading.p_valid - 1e-9 <= p_valid <= reading.p_valid_high + 1e-9
        bounds = bound_shares(reading.label_probs, reading.label_probs_high, reading.p_valid, reading.p_valid_high)
        for share, (low, high) in zip(shares, bounds, strict=True):
            assert low - 1e-9 <= share <= high + 1e-9
            width.append(high - low)
    assert 0 < sorted(width)[len(width) // 2] < 0.05
    assert server.bodies[0]["temperature"] == server.bodies[0]["top_p"] == 1


def test_bounds_are_sharp_some_truth_lies_on_them():
    """What is missing may all be one label's: the upper end; or all the others': the lower end."""
    shown = {"1": 0.5, "2": 0.3, "x": 0.1}
    bounds = bound_labels(("1", "2"), shown)  # .1 is missing, no token of it above .1: " 1", " 2" are not shown
    assert bounds.low == pytest.approx((0.5, 0.3))
    assert bounds.high == pytest.approx((0.6, 0.4))
    assert (bounds.p_valid, bounds.p_valid_high) == pytest.approx((0.8, 0.9))
    assert bound_shares(bounds.low, bounds.high, bounds.p_valid, bounds.p_valid_high) == [
        pytest.approx((0.5 / 0.9, 0.6 / 0.9)),
        pytest.approx((0.3 / 0.9, 0.4 / 0.9)),
    ]


def test_what_is_missing_is_shared_out_once_however_many_tokens_are_not_shown():
    bounds = bound_labels(("1", "2", "3"), {"1": 0.6, " 1": 0.2, "2": 0.1, "x": 0.06})  # .04 is missing
    assert bounds.high == pytest.approx((0.8, 0.14, 0.04))  # of "3" both spellings are not shown
    assert (bounds.p_valid, bounds.p_valid_high) == pytest.approx((0.9, 0.94))


def test_a_token_that_goes_on_adds_to_what_it_begins_and_one_that_is_a_label_settles_neither():
    space = bound_labels(("1", "2"), {"1": 0.6, " ": 0.1, "2": 0.3})
    assert space.high == pytest.approx((0.7, 0.4))
    split = bound_labels(("1", "10"), {"1": 0.9, "x": 0.1})
    assert split.low == (0.0, 0.0)
    assert split.high == pytest.approx((0.9, 0.9))
    told = bound_labels(("1", "10"), {"1": 0.9, "x": 0.1}, frozenset({"10", " 10", " 1"}))
    assert told.low == (0.9, 0.0)


def test_where_one_text_may_hide_another_token_what_is_missing_is_any_labels():
    bounds = bound_labels(("1", "2"), {"1": 0.1, "2": 0.2, "x": 0.004}, hides=True)
    assert bounds.high == pytest.approx((0.796, 0.896))
    assert bounds.p_valid_high == pytest.approx(0.996)


def of_one(monkeypatch, response, labels=("1", "2", "3", "4"), **settings):
    """The reading of one response and the notes on it."""
    monkeypatch.setenv("THE_KEY", KEY)
    server = LoopbackOpenAi(lambda body: response)
    with server.serving():
        asking = RemoteAsking(
            MODEL, server.endpoint(route="top_logprobs", **settings), CHAT, [labelled("q", "q", labels)]
        )
        result = asking.ask(asking.connect(None))[0]
    return result.records[0], result.notes


def test_tokens_that_are_shown_with_one_text_read_as_those_that_are_told_apart(monkeypatch):
    once = {"1": 0.6, "2": 0.2, " 1": 0.1, "3": 0.05, " 2": 0.03, "4": 0.015, "x": 0.004}
    apart, alike = showing(once), showing(once)
    for each in alike["choices"][0]["logprobs"]["content"][0]["top_logprobs"]:
        each["token"] = each["token"].strip()
    one, other = of_one(monkeypatch, apart)[0], of_one(monkeypatch, alike)[0]
    assert one.label_probs == pytest.approx((0.7, 0.23, 0.05, 0.015))
    assert (other.label_probs, other.p_valid) == (one.label_probs, one.p_valid)


def test_labels_that_are_shown_by_their_entries_in_a_vocabulary_are_labels(monkeypatch):
    reading, _ = of_one(monkeypatch, showing({"1": 0.6, "▁1": 0.1, "2": 0.2, "Ġ2": 0.03, "▁x": 0.06}))
    assert reading.label_probs == pytest.approx((0.7, 0.23, 0, 0))
    assert reading.outside == (("▁x", pytest.approx(0.06)),)


def test_what_sums_to_more_than_one_is_divided_by_its_sum_and_said(monkeypatch):
    over, notes = of_one(monkeypatch, showing({"2": 1.0, "3": math.exp(-19.6)}))
    assert over.p_valid == over.p_valid_high == 1
    assert max(over.label_probs_high) <= 1
    assert notes[0] == (
        "in 1 of 1 responses the probabilities that are shown sum to more than 1 (1.000000003 at most): they were "
        "divided by their sum"
    )
    sound, notes = of_one(monkeypatch, showing({"1": 0.6, "2": 0.39}))
    assert (sound.label_probs[:2], notes) == (pytest.approx((0.6, 0.39), abs=1e-15), [])


@pytest.mark.parametrize(
    ("shown", "labels", "in_the_way"),
    [
        (
            {"The": 0.6, "1": 0.2, "2": 0.1},
            ("1", "2"),
            "in the way is 'The' with 0.600, which is no label: say in `sys",
        ),
        ({"<think>": 0.99}, ("1", "2"), "in the way is '<think>' with 0.990, which begins a thought: use a model that"),
        ({" ": 0.9, "1": 0.06, "2": 0.04}, ("1", "2"), "in the way is ' ' with 0.900, which may go on to '1': ask by"),
        ({"1": 0.9, "x": 0.1}, ("1", "2", "10"), "in the way is '1' with 0.900, which may go on to '10': ask by route"),
        ({"1": 0.2, "2": 0.2}, ("1", "2"), "in the way is what is not shown, 0.600: raise `top` or `max_width`"),
        (
            {"token_id:16": 0.6, "token_id:17": 0.3},
            ("1", "2"),
            "leave return_tokens_as_token_ids out of the parameters",
        ),
    ],
)
def test_where_all_are_unresolved_the_reason_names_the_token_in_the_way_and_what_to_do(
    monkeypatch, shown, labels, in_the_way
):
    reading, _ = of_one(monkeypatch, showing(shown), labels)
    assert reading.status is Status.UNRESOLVED
    assert in_the_way in reading.reason


def test_a_flat_distribution_is_unresolved_and_its_reason_gives_the_width(monkeypatch):
    monkeypatch.setenv("THE_KEY", KEY)
    flat = {f"w{n}": 1 / 400 for n in range(18)} | {"1": 1 / 400, "2": 1 / 400}
    sure = {"1": 0.7, "2": 0.2, " 1": 0.05, " 2": 0.04}
    server = LoopbackOpenAi(lambda body: showing(flat if "flat" in body["messages"][0]["content"] else sure))
    with server.serving():
        asking = RemoteAsking(
            MODEL, server.endpoint(), CHAT, [labelled("flat", "q0", ("1", "2")), labelled("sure", "q1", ("1", "2"))]
        )
        flat_one, sure_one = asking.ask(asking.connect(None))[0].records
    assert (flat_one.status, flat_one.label_probs) == (Status.UNRESOLVED, None)
    assert "a label's share is known to within" in flat_one.reason
    assert sure_one.label_probs == pytest.approx((0.75, 0.24))
