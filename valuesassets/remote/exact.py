"""The routes `token_ids` and `echo`: the server gives the probability of any token, so that labels are read exactly.

They ask for what a local pass would read, with the model's tokenizer here: each step of every spelling of a label, and
the tokens that end a label where another continues. A server that cuts texts differently is refused.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from valuesassets.records.errors import TokenizerError
from valuesassets.records.files import sha256_json
from valuesassets.records.trials import Reading, Status, Trial
from valuesassets.remote.failures import WrongAnswer
from valuesassets.remote.openai_api import OpenAi, choice_of, explain_refusal, usage_of, version_of
from valuesassets.remote.replies import ParsedResponse
from valuesassets.remote.requests import Request, fault_in, new_request, trial_name, unreadable
from valuesassets.remote.shapes import as_list, as_object
from valuesassets.remote.shown_tokens import ID, Listed, Token, mass_of, require_log_probs, shown_tokens
from valuesassets.spelling.open_reading import OpenReading
from valuesassets.spelling.prompt_tokenizer import PromptTokenizer
from valuesassets.spelling.spellings import SpelledPrompt, find_terminators, spell_labels
from valuesassets.spelling.tokens import NextToken, Tokens

MOST_SUM = 1 + 1e-5
"""Largest sum of exact probabilities that rounding explains."""
MOST_IDS = 128
"""Most tokens whose probability vLLM gives in one response (`logprob_token_ids`)."""
RULES = "2"
"""Changes whenever a reading of the same responses may come out differently."""


@dataclass(frozen=True)
class UnspelledEntry:
    """A trial that cannot be asked with this tokenizer, with its failed reading."""

    trial: Trial
    reading: Reading
    requests: tuple[Request, ...] = ()

    @property
    def key(self) -> str:
        """The key of the reading."""
        return self.reading.reading_key

    def record(self, responses: Sequence[ParsedResponse], model: str, known_tokens: frozenset[str]) -> Reading:
        """The reading."""
        return self.reading


@dataclass(frozen=True)
class ExactEntry:
    """A trial with labels; `steps` are those (node, token) whose log-probability each response gives, by name there."""

    trial: Trial
    tokenizer: PromptTokenizer
    spelled: SpelledPrompt
    stops: Mapping[Tokens, frozenset[int]]
    requests: tuple[Request, ...]
    steps: tuple[Mapping[str, tuple[Tokens, int]], ...]

    @property
    def key(self) -> str:
        """The key of the reading."""
        return sha256_json([[request.key for request in self.requests], self.spelled.spellings, RULES])

    def __str__(self) -> str:
        return trial_name(self.trial)

    def record(self, responses: Sequence[ParsedResponse], model: str, known_tokens: frozenset[str]) -> Reading:
        """The reading made of the steps, as a local pass would make it."""
        fault = fault_in(responses, self.trial, self.key, model)
        if fault is not None:
            return fault
        log_probs = {
            step: (each.log_probs or {})[name]
            for each, steps in zip(responses, self.steps, strict=True)
            for name, step in steps.items()
        }
        opened = OpenReading(self.tokenizer, self.spelled, self.stops)
        for node in self.spelled.trie.inner_nodes:
            steps = tuple(log_probs[node, token] for token in opened.wanted(node))
            if (mass := mass_of(steps)) > MOST_SUM:
                reason = (
                    f"{model}: {trial_name(self.trial)}: probabilities of what goes on at one place sum to {mass:.6g}; "
                    "name another model or server"
                )
                return unreadable(self.key, self.trial, Status.FAILED, reason)
            opened.note(node, NextToken(steps, (), is_finite=True))
        return replace(
            within_one(opened.close(self.key)), trial_id=self.trial.trial_id, model_version=responses[0].model_version
        )


def exact_entries(
    provider: OpenAi,
    route: str,
    identity: Sequence[str],
    trials: Sequence[Trial],
    tokenizer: PromptTokenizer,
    eos_ids: frozenset[int],
) -> list[ExactEntry | UnspelledEntry]:
    """Prepare trials for the route `token_ids` or `echo`."""
    ask = _by_ids if route == "token_ids" else _by_texts
    entries: list[ExactEntry | UnspelledEntry] = []
    for trial in trials:
        key = sha256_json([*identity, tokenizer.sha256, trial.prompt, trial.labels])
        try:
            spelled = spell_labels(tokenizer, trial.prompt, trial.labels)
        except TokenizerError as error:
            entries.append(UnspelledEntry(trial, unreadable(key, trial, Status.FAILED, str(error))))
            continue
        stops = find_terminators(tokenizer, spelled, eos_ids)
        opened = OpenReading(tokenizer, spelled, stops)
        if opened.fault is not None:
            entries.append(UnspelledEntry(trial, unreadable(key, trial, Status.FAILED, opened.fault)))
            continue
        questions = ask(provider, identity, tokenizer, spelled, {n: opened.wanted(n) for n in spelled.trie.inner_nodes})
        requests, steps = zip(*questions, strict=True)
        entries.append(ExactEntry(trial, tokenizer, spelled, stops, requests, steps))
    return entries


Questions = list[tuple[Request, Mapping[str, tuple[Tokens, int]]]]


def _by_ids(
    provider: OpenAi,
    identity: Sequence[str],
    tokenizer: PromptTokenizer,
    spelled: SpelledPrompt,
    tokens_by_node: Mapping[Tokens, Sequence[int]],
) -> Questions:
    """Requests for each node and up to 128 of its next tokens, all as token ids."""
    questions: Questions = []
    for node, tokens in tokens_by_node.items():
        ids = [*spelled.prompt_ids, *node]
        for begin in range(0, len(tokens), MOST_IDS):
            chunk = list(tokens[begin : begin + MOST_IDS])
            body = provider.body(
                {
                    "prompt": ids,
                    "max_tokens": 1,
                    "temperature": 1.0,
                    "top_p": 1.0,
                    "logprobs": len(chunk),
                    "logprob_token_ids": chunk,
                    "return_tokens_as_token_ids": True,
                }
            )
            request = new_request(
                identity, body, [" " * len(ids)], 1, lambda response, chunk=chunk: _read_ids(response, chunk)
            )
            questions.append((request, {f"{ID}{token}": (node, token) for token in chunk}))
    return questions


def _by_texts(
    provider: OpenAi,
    identity: Sequence[str],
    tokenizer: PromptTokenizer,
    spelled: SpelledPrompt,
    tokens_by_node: Mapping[Tokens, Sequence[int]],
) -> Questions:
    """A request for each spelling; for one that another continues, a request with each of its ends. All are texts."""
    trie = spelled.trie
    paths = {tokens: spelled.texts[tokens] for tokens in trie.label_at if tokens not in trie.children}
    for node in trie.shared_nodes:
        for end in tokens_by_node[node][len(trie.children[node]) :]:
            paths[*node, end] = spelled.texts[node] + tokenizer.continuation_text((*spelled.prompt_ids, *node), (end,))
    questions: Questions = []
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
        questions.append((request, {str(step): (path[:step], path[step]) for step in range(len(path))}))
    return questions


def _read_ids(response: dict[str, Any], token_ids: Sequence[int]) -> ParsedResponse:
    """Parse log-probabilities of tokens that were requested by their ids."""
    choice, usage, version = choice_of(response), usage_of(response), version_of(response)
    if (refusal := explain_refusal(choice)) is not None:
        return ParsedResponse(Status.REFUSED, refusal, model_version=version, usage=usage)
    first = next(iter(as_list(as_object(choice.get("logprobs")).get("top_logprobs"))), None)
    by_name = shown_tokens(Listed([Token(*each) for each in as_object(first).items() if each[0].startswith(ID)]))
    absent = next((token for token in token_ids if f"{ID}{token}" not in by_name), None)
    if absent is not None:
        raise WrongAnswer(f"the answer does not show token {absent}, which was asked for by logprob_token_ids")
    log_probs = {f"{ID}{token}": by_name[f"{ID}{token}"] for token in token_ids}
    return ParsedResponse(Status.OK, model_version=version, usage=usage, log_probs=log_probs)


def _read_echo(response: dict[str, Any], count: int, text: str, lengths: set[int]) -> ParsedResponse:
    """Parse log-probabilities of the last `count` tokens of an echoed text, which spell `text`."""
    choice, usage, version = choice_of(response), usage_of(response), version_of(response)
    if (refusal := explain_refusal(choice)) is not None:
        return ParsedResponse(Status.REFUSED, refusal, model_version=version, usage=usage)
    logprobs = as_object(choice.get("logprobs"))
    tokens, values = as_list(logprobs.get("tokens")), as_list(logprobs.get("token_logprobs"))
    is_spelled = all(isinstance(token, str) for token in tokens)
    if not is_spelled or len(tokens) != len(values) or len(tokens) < count:
        raise WrongAnswer("the answer does not give back the text that was sent, with a probability for each token")
    end_of_text = _as_text("".join(tokens[-count:]))
    if len(tokens) not in lengths or (end_of_text != text and end_of_text.strip() != text.strip()):
        raise WrongAnswer(
            f"the server cuts texts otherwise than the tokenizer here: {len(tokens)} tokens ending in {end_of_text!r}, "
            f"and {max(lengths)} ending in {text!r} here"
        )
    log_probs = require_log_probs({str(step): value for step, value in enumerate(values[-count:])})
    return ParsedResponse(Status.OK, model_version=version, usage=usage, log_probs=log_probs)


def within_one(reading: Reading) -> Reading:
    """A reading whose labels have at most probability 1 in total, which rounding may exceed."""
    if reading.label_probs is None or reading.p_valid is None or reading.p_valid <= 1:
        return reading
    shares = tuple(each / reading.p_valid for each in reading.label_probs)
    return replace(reading, label_probs=shares, p_valid=1.0)


def _as_text(spelled: str) -> str:
    """The text of tokens, which some servers write as entries of a vocabulary."""
    with_bytes = re.sub("<0x([0-9A-F]{2})>", lambda byte: chr(int(byte[1], 16)), spelled)
    return with_bytes.replace("▁", " ").replace("Ġ", " ").replace("Ċ", "\n")
