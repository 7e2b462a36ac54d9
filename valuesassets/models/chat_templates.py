"""`ChatTemplate`: a tokenizer's chat template, rendered as a study says; the model sees the rendered text alone."""

import datetime
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from valuesassets.models.template_process import TemplateFault, render
from valuesassets.records.errors import TokenizerError
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Turn

NO_DATE = "no date is given"
"""Our error in a template that asks for today's date, where the study names no day."""
DIRECTIVES = [f"%-{letter}" for letter in "dmjHIMSyeUW"] + [f"%{letter}" for letter in "aAbBcdDeFgGhHIjmMpSTuUVwWxXyY"]
"""The directives of date formats that are known."""
CONTROL = r"<\|[^<>|]*\|>|</?[A-Za-z_]+>|<</?SYS>>|\[/?[A-Z_]+\]"
"""Pattern of texts that look like control tokens."""
TRIED = (Turn("user", "1. 2. 3."), Turn("assistant", "4:"))
"""A chat that a template is tried on when its model is opened."""


@dataclass(frozen=True)
class ChatTemplate:
    """A chat template (Jinja, `source`) of a tokenizer `hf`, as a study sets it for a language; `name` for messages."""

    hf: Any
    name: str
    source: str
    prompting: Prompting

    @property
    def sha256(self) -> str:
        """Hash of the template's text as it came with the model."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    @property
    def system(self) -> str | None:
        """What the system says by the study, in the language that the template is for."""
        return self.prompting.system_in("")

    def opened(self, turns: Sequence[Turn]) -> str:
        """A chat up to the beginning of the model's turn (with the generation prompt)."""
        return self._render_checked(turns, add_generation_prompt=True)

    def whole(self, turns: Sequence[Turn]) -> str:
        """A whole chat, its last turn closed."""
        return self._render_checked(turns)

    def continued(self, turns: Sequence[Turn]) -> str:
        """A chat that ends with the words of the model's open turn; a TokenizerError if the template trims them."""
        words = turns[-1].text
        text = self._render_checked(turns, continue_final_message=True) if words and words == words.rstrip() else ""
        if not words or not text.endswith(words):
            raise self._not_kept(words)
        return text

    @cached_property
    def turn_ends(self) -> frozenset[int]:
        """The token with which the template ends a turn of the model; empty where that is no token of its own."""
        try:
            ending = self.whole(TRIED).rpartition(TRIED[-1].text)[2].lstrip()
        except TokenizerError:  # a template may be for one question and nothing more
            return frozenset()
        ids = self.hf(ending, add_special_tokens=False)["input_ids"][:1]
        return frozenset(ids) & frozenset(self.hf.added_tokens_decoder)

    @cached_property
    def own_system(self) -> str:
        """Text that the template adds before the first question besides the study's `system`; empty where it adds only
        control tokens and names of roles."""
        return self._added_before(self.system)

    @property
    def caution(self) -> str | None:
        """A warning about the text that the template adds, in words; None where it adds none."""
        if not self.own_system:
            return None
        warning = f"the chat template says by itself, before the question: {self.own_system[:100]!r}"
        is_left_out = self.system is None and not self._added_before("")
        return f'{warning}; system = "" keeps it from that' if is_left_out else warning

    @cached_property
    def _default_system(self) -> str:
        """Text that the template adds before the first question where the study gives no system text."""
        return self._added_before(None)

    def _added_before(self, system: str | None) -> str:
        """Text that the template adds before the first question, besides a system text."""
        question = TRIED[0]
        turns = [question] if system is None else [Turn("system", system), question]
        try:
            head = self._render(turns, {"add_generation_prompt": True}).partition(question.text)[0]
        except TokenizerError:  # it has no place for a system, or fails: reported where it is rendered
            return ""
        tokens = sorted((str(each) for each in self.hf.added_tokens_decoder.values()), key=len, reverse=True)
        pieces = re.split(
            "|".join([*map(re.escape, tokens), CONTROL]),
            head.replace(system.strip(), "\n") if system and system.strip() else head,
        )
        lines = [line.strip() for piece in pieces for line in piece.splitlines()]
        sentences = [line for line in lines if len(line.split()) > 1 or line.endswith((".", "!"))]
        return " ".join(sentences) if any(map(str.isalpha, " ".join(sentences))) else ""

    def _render_checked(self, turns: Sequence[Turn], **how: bool) -> str:
        system = self.system
        if system is not None and turns[0].role != "system" and (system or self._default_system):
            turns = [Turn("system", system), *turns]
        text = self._render(turns, how)
        place = 0
        for turn in turns:
            words = turn.text.strip()
            start = text.find(words, 0 if turn.role == "system" else place)
            if start < 0:
                raise (
                    self._no_system()
                    if turn.role == "system"
                    else TokenizerError(
                        f"{self.name}: the chat template does not show {words[:60]!r} as the {turn.role} says it; use "
                        "a model whose template does, or style = 'text'"
                    )
                )
            place = place if turn.role == "system" else start + len(words)
        return text

    def _render(self, turns: Sequence[Turn], how: dict[str, bool]) -> str:
        is_thinking = self.prompting.thinking == "on"
        switches = {"enable_thinking": is_thinking, "thinking": is_thinking}  # templates use either name
        chat = [{"role": turn.role, "content": turn.text} for turn in turns]
        arguments = self.hf.special_tokens_map | switches | self.prompting.template_arguments | how
        try:
            return render(self._dated, chat, arguments)
        except TemplateFault as fault:
            message = " ".join(str(fault).split())[:200] or fault.kind
            if NO_DATE in message:
                raise TokenizerError(
                    f"{self.name}: the chat template asks for today's date (strftime_now), so prompts would change "
                    "daily; give the day it shall take as template_date"
                ) from None
            if fault.kind in ("limit", "chance"):
                changing = ", so prompts would change each time" if fault.kind == "chance" else ""
                raise TokenizerError(
                    f"{self.name}: the chat template {message}{changing}; use another chat_template.jinja, or say "
                    "style = 'text'"
                ) from None
            if "continue_final_message" in how and fault.of_library:
                raise self._not_kept(turns[-1].text) from None
            if turns[0].role == "system" and len(turns) > 1:
                self._render(turns[1:], how)  # raises if this fails too: then the system's turn is not the reason
                raise self._no_system(f" ({message})") from None
            raise TokenizerError(
                f"{self.name}: the chat template fails ({fault.kind}): {message}; see chat_template.jinja "
                "beside the weights, or say style = 'text'"
            ) from None

    def _not_kept(self, words: str) -> TokenizerError:
        return TokenizerError(
            f"{self.name}: the chat template does not keep {words!r} at the end of the model's turn as it stands; end "
            "the prompt in no white space, or say answer_prefix = 'none'"
        )

    def _no_system(self, detail: str = "") -> TokenizerError:
        return TokenizerError(
            f"{self.name}: the chat template has no place for what the system says{detail}; leave `system` out, or put "
            "it into the user's turn"
        )

    @cached_property
    def _dated(self) -> str:
        """The template, behind a macro `strftime_now` that gives the study's date, or an error where there is none."""
        if "strftime_now" not in self.source:
            return self.source
        day = self.prompting.template_date
        # Chat templates drop the line break behind a block, so that the template itself still begins as before.
        if day is None:
            return _as_macro(f"{{{{ raise_exception({NO_DATE!r}) }}}}") + self.source
        midnight = datetime.datetime.combine(day, datetime.time())
        parts = "".join(f"|replace({part!r}, {midnight.strftime(part)!r})" for part in DIRECTIVES)
        unknown = (
            "{% if '%' in said %}{{ raise_exception('strftime_now: no directive is known in ' ~ said) }}{% endif %}"
        )
        return _as_macro(f"{{% set said = format{parts} %}}{unknown}{{{{ said }}}}") + self.source


def _as_macro(body: str) -> str:
    """A template's own `strftime_now`, which takes precedence over the library's."""
    return f"{{% macro strftime_now(format) %}}{body}{{% endmacro %}}\n"


def read_template(hf: Any, name: str, prompting: Prompting) -> ChatTemplate | None:
    """The chat template of a tokenizer, tried on a chat of one question in each language that `prompting` names; None
    where models are shown bare text. It has what the system says in the first of them.

    Raises:
        TokenizerError: there is none, or it fails, has no place for the system text, asks for a date that the study
            does not give, adds text where the system text is empty, or does not let the model's turn be begun.
    """
    if not prompting.is_chat:
        return None
    try:
        source = hf.get_chat_template()
    except ValueError:
        raise TokenizerError(
            f"{name}: no chat template comes with its tokenizer (chat_template.jinja); say style = 'text', or use a "
            "model that was made for chats"
        ) from None
    if not isinstance(source, str):
        raise TokenizerError(
            f"{name}: its chat template is no text (found {type(source).__name__}); mend tokenizer_config.json, or say "
            "style = 'text'"
        )
    templates = [_tried(ChatTemplate(hf, name, source, variant)) for variant in prompting.variants()]
    return templates[0]


def _tried(template: ChatTemplate) -> ChatTemplate:
    """A template that was tried on a chat of one question; errors as for `read_template`."""
    name, prompting = template.name, template.prompting
    template.opened(TRIED[:1])
    if template.system == "" and template.own_system:
        raise TokenizerError(
            f"{name}: the chat template says {template.own_system[:100]!r} by itself, with an empty `system` too; "
            "leave `system` out, or use another chat_template.jinja"
        )
    if prompting.answer_prefix == "cue":
        template.continued(TRIED)
    return template
