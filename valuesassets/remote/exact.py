"""The routes `token_ids` and `echo`: a server that shows the probability of any token, so that labels are read exactly.

Both need the model's tokenizer here, and ask for what a pass here would read: the steps of every spelling of a label,
and what ends one that another goes on from. A server that cuts texts otherwise is refused.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from valuesassets.records.errors import TokenizerError
from valuesassets.records.files import sha256_json
from valuesassets.records.trials import Reading, Status, Trial
from valuesassets.remote.failures import WrongAnswer
from valuesassets.remote.openai_api import OpenAi, choice_of, refused_by, usage_of, version_of
from valuesassets.remote.replies import Said
from valuesassets.remote.requests import Request, fault_in, named, new_request, unread
from valuesassets.remote.shapes import as_list, as_object
from valuesassets.remote.shown_tokens import ID, Listed, Token, mass_of, require_log_probs, shown_tokens
from valuesassets.spelling.open_reading import OpenReading
from valuesassets.spelling.prompt_tokenizer import PromptTokenizer
from valuesassets.spelling.spellings import SpelledPrompt, find_terminators, spell_labels
from valuesassets.spelling.tokens import NextToken, Tokens

MOST_SUM = 1 + 1e-5
"""Largest sum of exact probabilities that rounding explains."""
MOST_IDS = 128
"""Tokens whose probability vLLM shows in one response (`logprob_token_ids`)."""
RULES = "2"
"""Changes whenever a reading of the same responses may come out differently."""


@dataclass(frozen=True)
class UnspelledEntry:
    """A trial that cannot be asked with this tokenizer: its reading is there already."""

    trial: Trial
    reading: Reading
    requests: tuple[Request, ...] = ()

    @property
    def key(self) -> str:
        """What the reading is known by."""
        return self.reading.reading_key

    def record(self, said: Sequence[Said], model: str, told: frozenset[str]) -> Reading:
        """The reading."""
        return self.reading


@dataclass(frozen=True)
class ExactEntry:
    """A trial with labels, and where each response tells of a step.

    Attributes:
        steps: for each request the steps whose log-probability it shows, by how it names them: (node, token).
    """

    trial: Trial
    tokenizer: PromptTokenizer
    spelled: SpelledPrompt
    stops: Mapping[Tokens, frozenset[int]]
    requests: tuple[Request, ...]
    steps: tuple[Mapping[str, tuple[Tokens, int]], ...]

    @property
    def key(self) -> str:
        """What the reading is known by."""
        return sha256_json([[request.sent for request in self.requests], self.spelled.spellings, RULES])

    def __str__(self) -> str:
        return named(self.trial)

    def record(self, said: Sequence[Said], model: str, told: frozenset[str]) -> Reading:
        """What the steps amount to: as a pass here would have read them."""
        fault = fault_in(said, self.trial, self.key, model)
        if fault is not None:
            return fault
        found = {
            step: (each.shown or {})[name]
            for each, steps in zip(said, self.steps, strict=True)
            for name, step in steps.items()
        }
        opened = OpenReading(self.tokenizer, self.spelled, self.stops)
        for node in self.spelled.trie.inner_nodes:
            steps = tuple(found[node, token] for token in opened.wanted(node))
            if (mass := mass_of(steps)) > MOST_SUM:
                reason = f"{model}: {named(self.trial)}: probabilities of what goes on at one place sum to {mass:.6g}"
                return unread(self.key, self.trial, Status.FAILED, f"{reason}; name another model or server")
            opened.note(node, NextToken(steps, (), is_finite=True))
        return replace(
            within_one(opened.close(self.key)), trial_id=self.trial.trial_id, model_version=said[0].model_version
        )


def exact_entries(
    provider: OpenAi,
    route: str,
    identity: Sequence[str],
    trials: Sequence[Trial],
    tokenizer: PromptTokenizer,
    eos_ids: frozenset[int],
) -> list[ExactEntry | UnspelledEntry]:
    """Trials as a server is asked for the steps of their labels, by `token_ids` or `echo`."""
    ask = _by_ids if route == "token_ids" else _by_texts
    found: list[ExactEntry | UnspelledEntry] = []
    for trial in trials:
        key = sha256_json([*identity, tokenizer.sha256, trial.prompt, trial.labels])
        try:
            spelled = spell_labels(tokenizer, trial.prompt, trial.labels)
        except TokenizerError as error:
            found.append(UnspelledEntry(trial, unread(key, trial, Status.FAILED, str(error))))
            continue
        stops = find_terminators(tokenizer, spelled, eos_ids)
        opened = OpenReading(tokenizer, spelled, stops)
        if opened.fault is not None:
            found.append(UnspelledEntry(trial, unread(key, trial, Status.FAILED, opened.fault)))
            continue
        asked = ask(provider, identity, tokenizer, spelled, {n: opened.wanted(n) for n in spelled.trie.inner_nodes})
        requests, steps = zip(*asked, strict=True)
        found.append(ExactEntry(trial, tokenizer, spelled, stops, requests, steps))
    return found


Asked = list[tuple[Request, Mapping[str, tuple[Tokens, int]]]]


def _by_ids(
    provider: OpenAi,
    identity: Sequence[str],
    tokenizer: PromptTokenizer,
    spelled: SpelledPrompt,
    wanted: Mapping[Tokens, Sequence[int]],
) -> Asked:
    """A request for each node and 128 tokens behind it, all as token ids."""
    asked: Asked = []
    for node, tokens in wanted.items():
        ids = [*spelled.prompt_ids, *node]
        for begin in range(0, len(tokens), MOST_IDS):
            some = list(tokens[begin : begin + MOST_IDS])
            body = provider.body(
                {
                    "prompt": ids,
                    "max_tokens": 1,
                    "temperature": 1.0,
                    "top_p": 1.0,
                    "logprobs": len(some),
                    "logprob_token_ids": some,
                    "return_tokens_as_token_ids": True,
                }
            )
            request = new_request(
                identity, body, [" " * len(ids)], 1, lambda response, some=some: _read_ids(response, some)
            )
            asked.append((request, {f"{ID}{token}": (node, token) for token in some}))
    return asked


def _by_texts(
    provider: OpenAi,
    identity: Sequence[str],
    tokenizer: PromptTokenizer,
    spelled: SpelledPrompt,
    wanted: Mapping[Tokens, Sequence[int]],
) -> Asked:
    """A request for each spelling, and for each that another goes on from with each of its ends; all as texts."""
    trie = spelled.trie
    paths = {tokens: spelled.texts[tokens] for tokens in trie.label_at if tokens not in trie.children}
    for node in trie.shared_nodes:
        for end in wanted[node][len(trie.children[node]) :]:
            paths[*node, end] = spelled.texts[node] + tokenizer.continuation_text((*spelled.prompt_ids, *node), (end,))
    asked: Asked = []
    for path, text in paths.items():
        whole = spelled.prompt + text
        body = provider.body(
            {"prompt": whole, "echo": True, "logprobs": 1, "max_tokens": 0, "temperature": 1.0, "top_p": 1.0}
        )
        count = len(spelled.prompt_ids) + len(path)
        request = new_request(
            identity,
            body,
            [whole],
            1,
            lambda response, path=path, text=text, count=count: _read_echo(
                response, len(path), text, {count, count - len(tokenizer.bos)}
            ),
        )
        asked.append((request, {str(step): (path[:step], path[step]) for step in range(len(path))}))
    return asked


def _read_ids(response: dict[str, Any], asked: Sequence[int]) -> Said:
    """Log-probabilities of tokens that were asked for by their ids."""
    choice, usage, version = choice_of(response), usage_of(response), version_of(response)
    if (refused := refused_by(choice)) is not None:
        return Said(Status.REFUSED, refused, model_version=version, usage=usage)
    first = next(iter(as_list(as_object(choice.get("logprobs")).get("top_logprobs"))), None)
    named = shown_tokens(Listed([Token(*each) for each in as_object(first).items() if each[0].startswith(ID)]))
    absent = next((token for token in asked if f"{ID}{token}" not in named), None)
    if absent is not None:
        raise WrongAnswer(f"the answer does not show token {absent}, which was asked for by logprob_token_ids")
    shown = {f"{ID}{token}": named[f"{ID}{token}"] for token in asked}
    return Said(Status.OK, model_version=version, usage=usage, shown=shown)


def _read_echo(response: dict[str, Any], count: int, text: str, lengths: set[int]) -> Said:
    """Log-probabilities of the last `count` tokens of a text that was sent along, which spell `text`."""
    choice, usage, version = choice_of(response), usage_of(response), version_of(response)
    if (refused := refused_by(choice)) is not None:
        return Said(Status.REFUSED, refused, model_version=version, usage=usage)
    found = as_object(choice.get("logprobs"))
    tokens, values = as_list(found.get("tokens")), as_list(found.get("token_logprobs"))
    is_spelled = all(isinstance(token, str) for token in tokens)
    if not is_spelled or len(tokens) != len(values) or len(tokens) < count:
        raise WrongAnswer("the answer does not give back the text that was sent, with a probability for each token")
    spelled = _as_text("".join(tokens[-count:]))
    if len(tokens) not in lengths or (spelled != text and spelled.strip() != text.strip()):
        raise WrongAnswer(
            f"the server cuts texts otherwise than the tokenizer here: {len(tokens)} tokens ending in {spelled!r}, "
            f"and {max(lengths)} ending in {text!r} here"
        )
    shown = require_log_probs({str(step): value for step, value in enumerate(values[-count:])})
    return Said(Status.OK, model_version=version, usage=usage, shown=shown)


def within_one(reading: Reading) -> Reading:
    """A reading whose labels have no more than all of the probability, which rounding may make of them."""
    if reading.label_probs is None or reading.p_valid is None or reading.p_valid <= 1:
        return reading
    shares = tuple(each / reading.p_valid for each in reading.label_probs)
    return replace(reading, label_probs=shares, p_valid=1.0)


def _as_text(spelled: str) -> str:
    """Tokens as servers write them, some by their entries in a vocabulary, as the text that they are."""
    named = re.sub("<0x([0-9A-F]{2})>", lambda byte: chr(int(byte[1], 16)), spelled)
    return named.replace("▁", " ").replace("Ġ", " ").replace("Ċ", "\n")
