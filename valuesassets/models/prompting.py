"""What a model is shown of a trial: its prompt as it stands, or the turns of a chat."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from typing import Any

from valuesassets.models.chat_templates import ChatTemplate
from valuesassets.models.loading import ROOMS, LoadedModel, OpenedModel
from valuesassets.records.errors import ScoringError, TokenizerError
from valuesassets.records.readouts import Generate, ScoreLabels, ScoreSpans
from valuesassets.records.thoughts import begins_thought, thought_tag
from valuesassets.records.trials import SpanFault, Trial, Turn
from valuesassets.spelling.prompt_tokenizer import require_plain

TRIED_TOKENS = 32
"""How far a model writes when it is tried whether it thinks."""


@dataclass(frozen=True)
class Shown:
    """A trial as a model is shown it.

    Attributes:
        text: what the model reads; its answer comes next, or, where spans are read, the answers stand in it.
        starts: where spans are read, where in `text` each turn of the assistant begins (characters); a prompt that
            stands as it is, is one.
        prefixes: where the template has opened each of these turns, before any white space that it puts there.
    """

    trial: Trial
    text: str
    starts: tuple[int, ...] = (0,)
    prefixes: tuple[int, ...] = (0,)


def as_shown(opened: OpenedModel, trial: Trial) -> OpenedModel:
    """A model as it is asked a trial: spans of a text without a chat are read in the bare text, whatever the model."""
    return opened.bare if isinstance(trial.readout, ScoreSpans) and trial.chat is None else opened


def show_trial(opened: OpenedModel, trial: Trial) -> Shown:
    """A trial as `opened` is shown it (`as_shown`).

    Raises:
        TokenizerError: it cannot be shown in this way: it holds a control token, the chat template fails on it or does
            not show it as it stands, or what is asked has no place in a chat.
    """
    opened = as_shown(opened, trial)
    template = opened.template
    require_plain(
        opened.model_id,
        opened.control_texts,
        [*(turn.text for turn in trial.chat or ()), trial.prompt, *_answers(trial)],
    )
    if template is None:
        return Shown(trial, trial.prompt)
    if trial.chat is not None and isinstance(trial.readout, ScoreSpans):
        return _show_spans(template, trial, trial.chat)
    if trial.chat is not None:
        return Shown(trial, _not_thinking(template, template.opened(trial.chat), trial.chat))
    if template.prompting.answer_prefix == "none":
        turns = [Turn("user", trial.prompt)]
        return Shown(trial, _not_thinking(template, template.opened(turns), turns))
    asked, _, cue = trial.prompt.rpartition("\n")
    if not asked.strip():
        raise TokenizerError(
            f"the prompt {trial.prompt[:60]!r} is its last line alone, which opens the model's turn: nothing is left "
            "for the user to say; say answer_prefix = 'none', or give the trial's chat"
        )
    turns = [Turn("user", asked), Turn("assistant", cue)]
    return Shown(trial, _not_thinking(template, template.continued(turns), turns[:1]))


def _answers(trial: Trial) -> Iterable[str]:
    match trial.readout:
        case ScoreLabels(labels):
            return labels
        case ScoreSpans(sets=sets):
            return [text for texts in sets for text in texts]
        case _:
            return ()


def _show_spans(template: ChatTemplate, trial: Trial, chat: Sequence[Turn]) -> Shown:
    """A chat as it stands, and where in it the assistant's turns begin: as the model itself would have come there."""
    places = [n for n, turn in enumerate(chat) if turn.role == "assistant"]
    try:
        whole, prefixes = template.whole(chat), [template.opened(chat[:place]) for place in places]
    except TokenizerError as error:
        raise TokenizerError(f"{SpanFault.TEMPLATE}: {error}") from None
    said, starts = [chat[place].text for place in places], list[int]()
    for number, (prefix, longer) in enumerate(pairwise([*prefixes, whole])):
        # Some templates put a space before what the model says, and none where it is yet to say it.
        start = next((n for n in _starts(longer, len(prefix)) if longer.startswith(said[number], n)), None)
        starts += [] if start is None else [start]
        if start is None or not longer.startswith(prefix):
            raise TokenizerError(
                f"{SpanFault.TEMPLATE}: as {template.name} renders the chat, the assistant's turn {number} does not "
                "go on from what stands before it; say style = 'text', or use a model whose template leaves earlier "
                "turns as they were"
            )
    return Shown(trial, whole, tuple(starts), tuple(map(len, prefixes)))


def _starts(text: str, place: int) -> range:
    """Where what is said may begin in a text: at a place, or behind white space that stands there."""
    behind = text[place:]
    return range(place, place + len(behind) - len(behind.lstrip()) + 1)


def _not_thinking(template: ChatTemplate, text: str, turns: Sequence[Turn]) -> str:
    """A rendered chat; refused where the template itself begins a thought that the study does not ask for."""
    said = turns[-1].text.strip()
    behind = text.rpartition(said)[2] if said else text
    if template.prompting.thinking == "off" and begins_thought(behind):
        raise TokenizerError(
            f"{template.name}: the chat template begins a thought though thinking = 'off'; use a model that can "
            "answer at once, or let it write (Generate) with thinking = 'on'"
        )
    return text


def require_askable(opened: OpenedModel, trials: Sequence[Trial]) -> None:
    """See that a model may be asked trials of their readout at all.

    Raises:
        TokenizerError: probabilities are asked of a model that thinks first: they would be those of a thought.
    """
    if opened.prompting.thinking == "on" and not isinstance(trials[0].readout, Generate):
        raise TokenizerError(
            f"{opened.model_id}: {type(trials[0].readout).__name__} reads what a model says at once, and thinking = "
            "'on'; say thinking = 'off', or let it write (Generate)"
        )


def require_no_thought(loaded: LoadedModel, trials: Sequence[Trial]) -> None:
    """See that a chat model that is not to think does not, by what it writes to the first trial with room for it.

    Where there is none, or memory is short, by what it writes to the shortest.

    Args:
        trials: such as can be asked of it.

    Raises:
        TokenizerError: it begins to.
        ScoringError: memory is short of the shortest trial too.
    """
    from valuesassets.models.engine import OutOfMemory, within_memory

    opened = loaded.opened
    if not opened.prompting.is_chat or opened.prompting.thinking == "on":
        return
    room, is_full = opened.least_setting(ROOMS) or math.inf, False
    for ids in _tried(opened, trials, room):
        most = int(min(TRIED_TOKENS, room - len(ids) + 1))  # nothing is read behind the last token
        try:
            written = within_memory(partial(_write_greedily, loaded, ids, most))
        except OutOfMemory:
            is_full = True
            continue
        tag = thought_tag(written)
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


def _tried(opened: OpenedModel, trials: Sequence[Trial], room: float) -> Iterator[list[int]]:
    """The tokens before an answer, of the first trial that leaves room for what is tried, then of the shortest."""

    def begun() -> Iterator[list[int]]:
        for trial in trials:
            if as_shown(opened, trial).template is None:
                continue  # in a bare text nobody is asked to answer at once
            shown = show_trial(opened, trial)
            is_spans = isinstance(trial.readout, ScoreSpans)
            yield from opened.tokenizer.encode([shown.text[: shown.starts[0]] if is_spans else shown.text])

    yield from islice((ids for ids in begun() if len(ids) + TRIED_TOKENS <= room), 1)
    shortest = min(begun(), key=len, default=[])
    if 0 < len(shortest) <= room:
        yield shortest


def first_shown(opened: OpenedModel, trials: Iterable[Trial]) -> Shown | None:
    """The first trial that can be shown, as it is; None where none can."""
    for trial in trials:
        try:
            return show_trial(opened, trial)
        except TokenizerError:
            continue
    return None


def _write_greedily(loaded: LoadedModel, ids: Sequence[int], most: int) -> str:
    """What a model writes behind some tokens, `most` at most: the likeliest each time, special tokens included."""
    import torch
    from transformers import GenerationConfig

    ends = sorted(loaded.eos_ids)
    settings = GenerationConfig(
        max_new_tokens=most, do_sample=False, eos_token_id=ends or None, pad_token_id=ends[0] if ends else 0
    )
    given = torch.tensor([list(ids)], device=loaded.device)
    writer: Any = loaded.model
    out = writer.generate(given, attention_mask=torch.ones_like(given), generation_config=settings)
    return loaded.tokenizer.decode(out[0, len(ids) :].tolist())
