"""`ChatTemplate`: the chat template of a tokenizer, rendered as a study says; what it renders is all there is."""

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
"""What a template says, of ours, that asks for today's date where the study names no day."""
DIRECTIVES = [f"%-{letter}" for letter in "dmjHIMSyeUW"] + [f"%{letter}" for letter in "aAbBcdDeFgGhHIjmMpSTuUVwWxXyY"]
"""What a format of a date may ask for."""
CONTROL = r"<\|[^<>|]*\|>|</?[A-Za-z_]+>|<</?SYS>>|\[/?[A-Z_]+\]"
"""What looks like a control token."""
TRIED = (Turn("user", "1. 2. 3."), Turn("assistant", "4:"))
"""A chat by which a template is tried when its model is opened."""


@dataclass(frozen=True)
class ChatTemplate:
    """A chat template (Jinja, `source`) with what a study gives it.

    Attributes:
        hf: the tokenizer, a `PreTrainedTokenizerBase`.
        name: folder or hub id, for messages.
    """

    hf: Any
    name: str
    source: str
    prompting: Prompting

    @property
    def sha256(self) -> str:
        """Hash of the template's text as it came with the model."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    def opened(self, turns: Sequence[Turn]) -> str:
        """A chat up to where the model's own turn begins (with the generation prompt)."""
        return self._rendered(turns, add_generation_prompt=True)

    def whole(self, turns: Sequence[Turn]) -> str:
        """A chat as it stands, its last turn closed."""
        return self._rendered(turns)

    def continued(self, turns: Sequence[Turn]) -> str:
        """A chat whose last turn, the model's, is only begun: the text ends in what it has said so far.

        Raises:
            TokenizerError: that is cut or trimmed by the template.
        """
        said = turns[-1].text
        text = self._rendered(turns, continue_final_message=True) if said and said == said.rstrip() else ""
        if not said or not text.endswith(said):
            raise self._not_kept(said)
        return text

    @cached_property
    def turn_ends(self) -> frozenset[int]:
        """The token by which the template ends a turn of the model; none where that is no token of its own."""
        try:
            ending = self.whole(TRIED).rpartition(TRIED[-1].text)[2].lstrip()
        except TokenizerError:  # a template may be for one question and nothing more
            return frozenset()
        ids = self.hf(ending, add_special_tokens=False)["input_ids"][:1]
        return frozenset(ids) & frozenset(self.hf.added_tokens_decoder)

    @cached_property
    def own_system(self) -> str:
        """What the template says before the first question beside what the study's `system` says; empty where it is
        nothing but control tokens and names of roles."""
        return self._said_before(self.prompting.system)

    @property
    def caution(self) -> str | None:
        """What a person should know of that, in words; None where there is nothing."""
        if not self.own_system:
            return None
        said = f"the chat template says by itself, before the question: {self.own_system[:100]!r}"
        is_left_out = self.prompting.system is None and not self._said_before("")
        return f'{said}; system = "" keeps it from that' if is_left_out else said

    @cached_property
    def _unasked_system(self) -> str:
        """What the template says where no system is named."""
        return self._said_before(None)

    def _said_before(self, system: str | None) -> str:
        """What a template says before the first question, beside a text of the system."""
        asked = TRIED[0]
        turns = [asked] if system is None else [Turn("system", system), asked]
        try:
            head = self._filled_in(turns, {"add_generation_prompt": True}).partition(asked.text)[0]
        except TokenizerError:  # it has no place for a system, or fails: said where it is rendered
            return ""
        tokens = sorted((str(each) for each in self.hf.added_tokens_decoder.values()), key=len, reverse=True)
        pieces = re.split(
            "|".join([*map(re.escape, tokens), CONTROL]),
            head.replace(system.strip(), "\n") if system and system.strip() else head,
        )
        lines = [line.strip() for piece in pieces for line in piece.splitlines()]
        said = [line for line in lines if len(line.split()) > 1 or line.endswith((".", "!"))]
        return " ".join(said) if any(map(str.isalpha, " ".join(said))) else ""

    def _rendered(self, turns: Sequence[Turn], **how: bool) -> str:
        system = self.prompting.system
        if system is not None and turns[0].role != "system" and (system or self._unasked_system):
            turns = [Turn("system", system), *turns]
        text = self._filled_in(turns, how)
        place = 0
        for turn in turns:
            said = turn.text.strip()
            found = text.find(said, 0 if turn.role == "system" else place)
            if found < 0:
                raise (
                    self._no_system()
                    if turn.role == "system"
                    else TokenizerError(
                        f"{self.name}: the chat template does not show {said[:60]!r} as the {turn.role} says it; use a "
                        "model whose template does, or style = 'text'"
                    )
                )
            place = place if turn.role == "system" else found + len(said)
        return text

    def _filled_in(self, turns: Sequence[Turn], how: dict[str, bool]) -> str:
        is_thinking = self.prompting.thinking == "on"
        switches = {"enable_thinking": is_thinking, "thinking": is_thinking}  # templates call it either way
        chat = [{"role": turn.role, "content": turn.text} for turn in turns]
        arguments = self.hf.special_tokens_map | switches | self.prompting.template_arguments | how
        try:
            return render(self._dated, chat, arguments)
        except TemplateFault as fault:
            said = " ".join(str(fault).split())[:200] or fault.kind
            if NO_DATE in said:
                raise TokenizerError(
                    f"{self.name}: the chat template asks for today's date (strftime_now), so prompts would change "
                    "daily; give the day it shall take as template_date"
                ) from None
            if fault.kind in ("limit", "chance"):
                changing = ", so prompts would change each time" if fault.kind == "chance" else ""
                raise TokenizerError(
                    f"{self.name}: the chat template {said}{changing}; use another chat_template.jinja, or say "
                    "style = 'text'"
                ) from None
            if "continue_final_message" in how and fault.of_library:
                raise self._not_kept(turns[-1].text) from None
            if turns[0].role == "system" and len(turns) > 1:
                self._filled_in(turns[1:], how)  # where that fails too, the system's turn is not the reason
                raise self._no_system(f" ({said})") from None
            raise TokenizerError(
                f"{self.name}: the chat template fails ({fault.kind}): {said}; see chat_template.jinja "
                "beside the weights, or say style = 'text'"
            ) from None

    def _not_kept(self, said: str) -> TokenizerError:
        return TokenizerError(
            f"{self.name}: the chat template does not keep {said!r} at the end of the model's turn as it stands; end "
            "the prompt in no white space, or say answer_prefix = 'none'"
        )

    def _no_system(self, said: str = "") -> TokenizerError:
        return TokenizerError(
            f"{self.name}: the chat template has no place for what the system says{said}; leave `system` out, or put "
            "it into the user's turn"
        )

    @cached_property
    def _dated(self) -> str:
        """The template, its `strftime_now` put in front as a macro of the study's date, or of a fault without one."""
        if "strftime_now" not in self.source:
            return self.source
        day = self.prompting.template_date
        # The line break behind a block is dropped in chat templates: the template itself begins as it did.
        if day is None:
            return _as_macro(f"{{{{ raise_exception({NO_DATE!r}) }}}}") + self.source
        midnight = datetime.datetime.combine(day, datetime.time())
        parts = "".join(f"|replace({part!r}, {midnight.strftime(part)!r})" for part in DIRECTIVES)
        unknown = (
            "{% if '%' in said %}{{ raise_exception('strftime_now: no directive is known in ' ~ said) }}{% endif %}"
        )
        return _as_macro(f"{{% set said = format{parts} %}}{unknown}{{{{ said }}}}") + self.source


def _as_macro(body: str) -> str:
    """A template's own `strftime_now`, which goes before the library's."""
    return f"{{% macro strftime_now(format) %}}{body}{{% endmacro %}}\n"


def read_template(hf: Any, name: str, prompting: Prompting) -> ChatTemplate | None:
    """The chat template of a tokenizer, tried on a chat of one question; None where models are shown bare text.

    Raises:
        TokenizerError: there is none, or it fails, has no place for the system text, asks for a date that is not given,
            says something where the system text is empty, or does not let the model's turn be begun for it.
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
    template = ChatTemplate(hf, name, source, prompting)
    template.opened(TRIED[:1])
    if prompting.system == "" and template.own_system:
        raise TokenizerError(
            f"{name}: the chat template says {template.own_system[:100]!r} by itself, with an empty `system` too; "
            "leave `system` out, or use another chat_template.jinja"
        )
    if prompting.answer_prefix == "cue":
        template.continued(TRIED)
    return template
