"""Writes the answers of a block: a row leaves when its answer ends, and other answers take the free places."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from valuesassets.models.engine import OutOfMemory, within_memory
from valuesassets.models.keyed_draws import Draws, draw
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.rows_in_flight import PaddedRows, Rows, RowsApart, RowsOfOneLength, read_alone
from valuesassets.models.written_text import count_before, count_tokens, has_stop, is_open_before, whole_text
from valuesassets.records.readouts import Generate, cut_at_stop
from valuesassets.records.thoughts import LONGEST_END, NO_END, has_end, split_thought
from valuesassets.spelling.tokens import Tokens

LOOKED_AFTER = 8
"""Number of tokens after which the whole text is searched for stop texts and the end of a thought."""
FREE_SHARE = 4
"""New answers begin once one in this many places is free."""
PREFILL_TOKENS = {"cpu": 2048, "gpu": 16384}
"""Most tokens of prompts, padding included, in one pass."""
EXACT = ("float32", "float64")
"""Dtypes in which rounding can rarely change a drawn token; where it might, the step is read again alone."""


@dataclass(frozen=True)
class AnswerRequest:
    """An answer to write: the tokens before it, its settings, and the key of its noise."""

    prompt_ids: Tokens
    readout: Generate
    noise_key: int


@dataclass
class Written:
    """What has been written of an answer so far.

    Attributes:
        gaps: each token's lead over the second best, divided by what rounding may change (below 1: a near tie).
        begins: number of tokens before the answer's own; None until a model that thinks begins its answer.
        head: text of the answer's first tokens that is no part of it: white space, the end of a tag.
        reasoning: the thought, once it has ended.
        text, n_tokens, finish: set when the answer ends; None where it fails.
        reason: why it failed, in words.
        n_alone: number of tokens that were read again alone.
    """

    tokens: list[int] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    begins: int | None = 0
    head: str = ""
    reasoning: str | None = None
    text: str | None = None
    n_tokens: int | None = None
    finish: Literal["end", "stop", "length"] | None = None
    reason: str | None = None
    n_alone: int = 0

    @property
    def is_over(self) -> bool:
        """Whether the answer has ended or failed."""
        return self.finish is not None or self.reason is not None


class Writer:
    """Writes up to `width` answers at a time, halved where memory runs out; `on_end` gets the number of ended ones."""

    def __init__(self, loaded: LoadedModel, width: int, on_end: Callable[[int], object] = lambda _: None) -> None:
        self._loaded, self.width, self._on_end = loaded, width, on_end
        self._kind = row_class(loaded)
        self._max_reasoning = loaded.opened.prompting.max_reasoning_tokens
        self._most_tokens = PREFILL_TOKENS["cpu" if loaded.device == "cpu" else "gpu"]
        self._requests: Sequence[AnswerRequest] = ()
        self._written: list[Written] = []
        self._rows: Rows | None = None
        self._in_flight: list[int] = []

    def write(self, requests: Sequence[AnswerRequest]) -> list[Written]:
        """The answers, in their order; neighbours with the same prompt share its reading.

        Where memory runs out, all answers begin anew, fewer at a time; an answer that does not fit alone fails.
        """
        begins = 0 if self._max_reasoning is None else None
        self._requests, self._written, self._in_flight = requests, [Written(begins=begins) for _ in requests], []
        try:
            within_memory(self._write)
        except OutOfMemory:
            pass
        else:
            return self._written
        finally:
            self._rows = None  # frees memory that the next answers need
        if len(requests) > 1:
            self.width = max(self.width // 2, 1)
            parts = [requests] if self.width > 1 else [[each] for each in requests]
            return [written for part in parts for written in self.write(part)]
        return [Written(reason=f"its tokens do not fit into the memory of {self._loaded.device}")]

    def _write(self) -> None:
        waiting = deque(range(len(self._requests)))
        while waiting or self._in_flight:
            free = self.width - len(self._in_flight)
            if waiting and (not self._in_flight or (self._kind.any_length and free * FREE_SHARE >= self.width)):
                self._begin(waiting, free)
            else:
                self._go_on()

    def _begin(self, waiting: deque[int], free: int) -> None:
        """Begin waiting answers: read their prompts, each once, and write their first tokens."""
        places, prompts, prompt_of = list[int](), list[Tokens](), list[int]()
        while waiting and len(places) < free:
            prompt_ids = self._requests[waiting[0]].prompt_ids
            if not prompts or prompt_ids != prompts[-1]:
                is_too_much = max(map(len, (*prompts, prompt_ids))) * (len(prompts) + 1) > self._most_tokens
                if prompts and (is_too_much or not (self._kind.any_length or len(prompt_ids) == len(prompts[0]))):
                    break
                prompts.append(prompt_ids)
            prompt_of.append(len(prompts) - 1)
            places.append(waiting.popleft())
        rows = self._kind(self._loaded.model)
        unended = self._take(places, rows.begin(prompts)[prompt_of])
        if unended:
            rows.keep([prompt_of[row] for row in unended])
            if self._in_flight and self._rows is not None and not isinstance(self._rows, RowsOfOneLength):
                self._rows.join(rows)
            else:  # nothing is in flight; rows of one length begin only then
                self._rows = rows
            self._in_flight += [places[row] for row in unended]

    def _go_on(self) -> None:
        """Write one more token of each unfinished answer."""
        assert self._rows is not None  # noqa: S101
        logits = self._rows.go_on([self._written[place].tokens[-1] for place in self._in_flight])
        unended = self._take(self._in_flight, logits)
        if len(unended) < len(self._in_flight) and unended:
            self._rows.keep(unended)
        self._in_flight = [self._in_flight[row] for row in unended]

    def _take(self, places: Sequence[int], logits: Tensor) -> list[int]:
        """Draw a token for each of these answers; returns the rows that go on."""
        draws = self._draw(places, logits)
        for row, place in enumerate(places):
            near, is_finite = draws.gaps[row] < draws.near[row], draws.is_finite[row]
            if (near and self._loaded.opened.dtype in EXACT) or not is_finite:
                request, written = self._requests[place], self._written[place]
                alone = read_alone(self._loaded.model, [*request.prompt_ids, *written.tokens])
                self._note(place, self._draw([place], alone), 0)
                written.n_alone += 1
            else:
                self._note(place, draws, row)
        ended = [row for row, place in enumerate(places) if self._written[place].is_over]
        if ended:
            self._on_end(sum(written.is_over for written in self._written))
        return [row for row in range(len(places)) if row not in set(ended)]

    def _draw(self, places: Sequence[int], logits: Tensor) -> Draws:
        steps = [len(self._written[place].tokens) for place in places]
        return draw_tokens(logits, [self._requests[place] for place in places], steps, self._loaded.opened.dtype)

    def _note(self, place: int, draws: Draws, row: int) -> None:
        """Add a drawn token to an answer, and end the answer if it is complete."""
        request, written, tokenizer = self._requests[place], self._written[place], self._loaded.tokenizer
        if not draws.is_finite[row]:
            written.reason = "NaN or infinite logits"
            return
        token, stops = draws.tokens[row], request.readout.stop
        written.gaps.append(draws.gaps[row] / draws.near[row])
        is_end = token in self._loaded.eos_ids
        if not is_end:
            written.tokens.append(token)
        if written.begins is None:
            self._end_thought(request, written, is_end)
        begins, most = written.begins, request.readout.max_tokens
        if begins is None or written.reason is not None:
            return
        is_full = len(written.tokens) - begins >= most  # more where the end of a thought was noticed late
        is_looked_at = is_end or is_full or len(written.tokens) % LOOKED_AFTER == 0
        if not (is_end or is_full or (stops and (is_looked_at or has_stop(tokenizer, written.tokens, stops)))):
            return
        before, tokens = (*request.prompt_ids, *written.tokens[:begins]), written.tokens[begins : begins + most]
        text = whole_text(tokenizer, before, tokens)[len(written.head) :]
        cut = cut_at_stop(text, stops)
        if cut is not None and (is_looked_at or not is_open_before(text, len(cut), stops)):
            written.text, written.finish = cut, "stop"
            written.n_tokens = count_tokens(tokenizer, before, tokens, written.head + cut)
        elif is_end or is_full:
            written.text, written.finish, written.n_tokens = text, "length" if is_full else "end", len(tokens)

    def _end_thought(self, request: AnswerRequest, written: Written, is_end: bool) -> None:
        """Begin the answer if the thought is over and text follows; fail it if the thought cannot end any more."""
        tokenizer, tokens, limit = self._loaded.tokenizer, written.tokens, self._max_reasoning or 0
        count, most = len(tokens), limit + request.readout.max_tokens
        is_seen = count % LOOKED_AFTER == 0 and has_end(tokenizer.decode(tokens[-LOOKED_AFTER - LONGEST_END :]))
        if not (is_seen or is_end or count in (limit, most)):
            return
        parts = split_thought(whole_text(tokenizer, request.prompt_ids, tokens))
        if parts.closing and (parts.answer or is_end or count == most):
            begins = min(count_before(tokenizer, request.prompt_ids, tokens, parts.answer), limit)
            text = whole_text(tokenizer, (*request.prompt_ids, *tokens[:begins]), tokens[begins:])
            written.begins, written.reasoning = begins, parts.reasoning
            written.head = text[: len(text) - len(parts.answer)]
        elif not parts.closing and (is_end or count == limit):
            written.begins, written.reasoning = count, parts.reasoning
            written.reason = f"{NO_END} in {count} tokens"


def draw_tokens(logits: Tensor, requests: Sequence[AnswerRequest], steps: Sequence[int], dtype: str) -> Draws:
    """Draw a token for each row of logits, given its request and the number of tokens written so far."""
    heats, shares = (
        torch.tensor([getattr(each.readout, name) for each in requests], dtype=torch.float64, device=logits.device)
        for name in ("temperature", "top_p")
    )
    return draw(logits, [each.noise_key for each in requests], steps, heats, shares, dtype)


def row_class(loaded: LoadedModel) -> type[Rows]:
    """The class by which a model reads several rows."""
    if loaded.padding_fault is None:
        return PaddedRows
    return RowsOfOneLength if loaded.mixing_fault is None else RowsApart
