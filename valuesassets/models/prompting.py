"""The text that a model sees of a trial: the prompt as it is, or a chat rendered by the model's template."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from typing import Any

from valuesassets.models.chat_templates import ChatTemplate
from valuesassets.models.loaded_model import ROOMS, LoadedModel, OpenedModel
from valuesassets.records.errors import ScoringError, TokenizerError
from valuesassets.records.readouts import Generate, ScoreLabels, ScoreSpans
from valuesassets.records.thoughts import begins_thought, thought_tag
from valuesassets.records.trials import SpanFault, Trial, Turn
from valuesassets.spelling.prompt_tokenizer import require_plain

TRIED_TOKENS = 32
"""Most tokens that a model writes when it is tried whether it thinks."""


@dataclass(frozen=True)
class Shown:
    """A trial as a model sees it.

    Attributes:
        text: what the model reads; its answer comes next, or is in the text where spans are read.
        starts: where spans are read, the character of `text` at which each turn of the assistant begins; a bare prompt
            counts as one turn.
        prefixes: the character at which the template opens each of these turns, before any white space it adds.
    """

    trial: Trial
    text: str
    starts: tuple[int, ...] = (0,)
    prefixes: tuple[int, ...] = (0,)


def as_shown(opened: OpenedModel, trial: Trial) -> OpenedModel:
    """A model as it is asked a trial: spans of a text without a chat are read in the bare text, in chat models too."""
    return opened.bare if isinstance(trial.readout, ScoreSpans) and trial.chat is None else opened


def show_trial(opened: OpenedModel, trial: Trial) -> Shown:
    """A trial as the model sees it (`as_shown`).

    Raises:
        TokenizerError: it holds a control token or no part for the user, or the template fails or changes its text.
    """
    opened = as_shown(opened, trial)
    template = opened.template_in(trial.language)
    require_plain(
        opened.model_id,
        opened.control_texts,
        [*(turn.text for turn in trial.chat or ()), trial.prompt, *_answers(trial)],
    )
    if template is None:
        return Shown(trial, trial.prompt)
    if trial.chat is not None and isinstance(trial.readout, ScoreSpans):
        return _show_spans(template, trial, trial.chat)
    if trial.chat is not None or template.prompting.answer_prefix == "none":
        turns = [Turn("user", trial.prompt)] if trial.chat is None else trial.chat
        return Shown(trial, _require_no_thought_in(template, template.opened(turns), turns))
    question, _, cue = trial.prompt.rpartition("\n")
    if not question.strip():
        raise TokenizerError(
            f"the prompt {trial.prompt[:60]!r} is its last line alone, which opens the model's turn: nothing is left "
            "for the user to say; say answer_prefix = 'none', or give the trial's chat"
        )
    turns = [Turn("user", question), Turn("assistant", cue)]
    return Shown(trial, _require_no_thought_in(template, template.continued(turns), turns[:1]))


def _answers(trial: Trial) -> Iterable[str]:
    match trial.readout:
        case ScoreLabels(labels):
            return labels
        case ScoreSpans(sets=sets):
            return [text for texts in sets for text in texts]
        case _:
            return ()


def _show_spans(template: ChatTemplate, trial: Trial, chat: Sequence[Turn]) -> Shown:
    """A whole chat, and where its assistant's turns begin, at the same text that the model itself would continue."""
    places = [n for n, turn in enumerate(chat) if turn.role == "assistant"]
    try:
        whole, prefixes = template.whole(chat), [template.opened(chat[:place]) for place in places]
    except TokenizerError as error:
        raise TokenizerError(f"{SpanFault.TEMPLATE}: {error}") from None
    replies, starts = [chat[place].text for place in places], list[int]()
    for number, (prefix, longer) in enumerate(pairwise([*prefixes, whole])):
        # Some templates write a space before a finished turn of the model, but none where the turn is still empty.
        start = next((n for n in _starts(longer, len(prefix)) if longer.startswith(replies[number], n)), None)
        starts += [] if start is None else [start]
        if start is None or not longer.startswith(prefix):
            raise TokenizerError(
                f"{SpanFault.TEMPLATE}: as {template.name} renders the chat, the assistant's turn {number} does not "
                "go on from what stands before it; say style = 'text', or use a model whose template leaves earlier "
                "turns as they were"
            )
    return Shown(trial, whole, tuple(starts), tuple(map(len, prefixes)))


def _starts(text: str, place: int) -> range:
    """Where a reply may begin in a text: at a place, or behind the white space at that place."""
    behind = text[place:]
    return range(place, place + len(behind) - len(behind.lstrip()) + 1)


def _require_no_thought_in(template: ChatTemplate, text: str, turns: Sequence[Turn]) -> str:
    """Check that a rendered chat does not begin a thought that the study does not ask for; returns the chat."""
    last_text = turns[-1].text.strip()
    behind = text.rpartition(last_text)[2] if last_text else text
    if template.prompting.thinking == "off" and begins_thought(behind):
        raise TokenizerError(
            f"{template.name}: the chat template begins a thought though thinking = 'off'; use a model that can "
            "answer at once, or let it write (Generate) with thinking = 'on'"
        )
    return text


def require_askable(opened: OpenedModel, trials: Sequence[Trial]) -> None:
    """Raise a TokenizerError if probabilities are asked of a model that thinks first: they would be a thought's."""
    if opened.prompting.thinking == "on" and not isinstance(trials[0].readout, Generate):
        raise TokenizerError(
            f"{opened.model_id}: {type(trials[0].readout).__name__} reads what a model says at once, and thinking = "
            "'on'; say thinking = 'off', or let it write (Generate)"
        )


def require_no_thought(loaded: LoadedModel, trials: Sequence[Trial]) -> None:
    """Check that a chat model with thinking off does not think, by what it writes to the first trial with room.

    Where no trial leaves room, or memory is short, the shortest trial is tried.

    Raises:
        TokenizerError: the model begins to think.
        ScoringError: memory is short for the shortest trial too.
    """
    from valuesassets.models.engine import OutOfMemory, within_memory

    opened = loaded.opened
    if not opened.prompting.is_chat or opened.prompting.thinking == "on":
        return
    room, is_full = opened.least_setting(ROOMS) or math.inf, False
    for ids in _prompts_to_try(opened, trials, room):
        most = int(min(TRIED_TOKENS, room - len(ids) + 1))  # nothing is read behind the last token
        try:
            text = within_memory(partial(_write_greedily, loaded, ids, most))
        except OutOfMemory:
            is_full = True
            continue
        tag = thought_tag(text)
        if tag is not None:
            raise TokenizerError(
                f"{loaded.model_id}: begins to think ({tag}) within {TRIED_TOKENS} tokens though thinking = 'off'; see "
                "which of template_arguments keeps it from that, or use another model"
            )
        return
    if is_full:
        raise ScoringError(
            f"{loaded.model_id}: out of memory while it was tried whether it thinks, on its shortest trial too; free "
            "some or use a larger device"
        )


def _prompts_to_try(opened: OpenedModel, trials: Sequence[Trial], room: float) -> Iterator[list[int]]:
    """The tokens before the answer: of the first trial that leaves room for the trial run, then of the shortest."""

    def beginnings() -> Iterator[list[int]]:
        for trial in trials:
            if as_shown(opened, trial).template is None:
                continue  # a bare text does not ask the model to answer at once
            trial_text = show_trial(opened, trial)
            is_spans = isinstance(trial.readout, ScoreSpans)
            yield from opened.tokenizer.encode(
                [trial_text.text[: trial_text.starts[0]] if is_spans else trial_text.text]
            )

    yield from islice((ids for ids in beginnings() if len(ids) + TRIED_TOKENS <= room), 1)
    shortest = min(beginnings(), key=len, default=[])
    if 0 < len(shortest) <= room:
        yield shortest


def first_shown(opened: OpenedModel, trials: Iterable[Trial]) -> Shown | None:
    """The first trial that can be shown, as the model sees it; None where none can."""
    for trial in trials:
        try:
            return show_trial(opened, trial)
        except TokenizerError:
            continue
    return None


def _write_greedily(loaded: LoadedModel, ids: Sequence[int], most: int) -> str:
    """Text that a model writes behind some tokens, greedily, in at most `most` tokens; special tokens included."""
    import torch
    from transformers import GenerationConfig

    ends = sorted(loaded.eos_ids)
    settings = GenerationConfig(
        max_new_tokens=most, do_sample=False, eos_token_id=ends or None, pad_token_id=ends[0] if ends else 0
    )
    prompt = torch.tensor([list(ids)], device=loaded.device)
    writer: Any = loaded.model
    out = writer.generate(prompt, attention_mask=torch.ones_like(prompt), generation_config=settings)
    return loaded.tokenizer.decode(out[0, len(ids) :].tolist())
