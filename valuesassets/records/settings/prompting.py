"""`[families.<name>.prompting]`: how prompts are shown to a model, as bare text or as a chat."""

import datetime
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic

from valuesassets.records.errors import InputError
from valuesassets.records.faults import validated
from valuesassets.records.files import read_toml
from valuesassets.records.settings.kinds import LANGUAGE, LanguageCode, Record

TAKEN = {
    **dict.fromkeys(("enable_thinking", "thinking"), "say thinking = 'on' or 'off' in its place"),
    **dict.fromkeys(("bos_token", "eos_token", "unk_token", "pad_token"), "the tokenizer says it"),
    **dict.fromkeys(("messages", "add_generation_prompt", "continue_final_message"), "the trial says it"),
    "strftime_now": "say template_date in its place",
}
"""Template arguments that a study may not set, and how they are set instead; `LIBRARY` has the libraries' own."""
LIBRARY = {"tools", "documents", "conversation", "conversations", "chat_template", "tokenize", "tokenizer_kwargs"}
LIBRARY |= {"padding", "truncation", "max_length", "return_tensors", "return_dict", "return_assistant_tokens_mask"}
LIBRARY |= {"sanitize_control_tokens", "compiled_template"}


def _require_texts(text_or_table: Any) -> Any:
    """Require a text, or a table of texts by language, in one message for both."""
    if text_or_table is None or isinstance(text_or_table, str):
        return text_or_table
    if isinstance(text_or_table, dict) and all(
        re.fullmatch(LANGUAGE, key) and isinstance(text_or_table[key], str) for key in text_or_table
    ):
        return text_or_table
    raise ValueError('a text in quotes, or a table of one for each language, such as { eng = "..." }, was expected')


TextOrTable = str | dict[LanguageCode, str]
"""A text, or one for each language of the prompts."""


class Prompting(Record):
    """How prompts are shown to a family's models; always declared, never guessed from the model."""

    style: Literal["text", "chat"] = "text"
    """`text`: the bare prompt, for base models; `chat`: through the tokenizer's chat template. The other keys but
    `preamble` need `chat`."""
    preamble: Annotated[TextOrTable | None, pydantic.BeforeValidator(_require_texts)] = pydantic.Field(
        default=None, exclude_if=lambda preamble: preamble is None
    )
    """Text before every prompt, such as a persona, or a table of one for each language. In a chat it begins the system
    message, or is one."""
    system: Annotated[TextOrTable | None, pydantic.BeforeValidator(_require_texts)] = None
    """System message, for trials whose own turns have none, or a table of one for each language. If left out, the chat
    template may add its own; an empty one prevents that."""
    answer_prefix: Literal["cue", "none"] = "cue"
    """Place of a prompt's last line, the cue (`Answer:`): it opens the model's turn (`cue`), or stays in the user's
    turn (`none`)."""
    thinking: Literal["off", "on"] = "off"
    """Whether the model thinks before it answers. `on` is only for written answers, not for probabilities, and needs
    `answer_prefix = "none"`."""
    max_reasoning_tokens: Annotated[int, pydantic.Field(ge=1)] | None = pydantic.Field(
        default=None, exclude_if=lambda limit: limit is None
    )
    """Most tokens of a thought, including its closing tag; the answer's tokens have their own limit. Needed with
    `thinking = "on"`: an answer whose thought does not end within it fails."""
    template_arguments: dict[
        Annotated[str, pydantic.Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")],
        bool | int | Annotated[float, pydantic.Field(allow_inf_nan=False)] | str,
    ] = pydantic.Field(default_factory=dict)
    """Further arguments of the template, by its own names."""
    template_date: datetime.date | None = None
    """The date for templates that print today's date; needed with them, since prompts would change daily."""

    @property
    def is_chat(self) -> bool:
        """Whether models are asked through their chat template."""
        return self.style == "chat"

    def in_language(self, language: str) -> "Prompting":
        """The prompting with what the system says in a language, preamble included, as one text."""
        if not isinstance(self.system, dict) and self.preamble is None:
            return self
        return self.model_copy(update={"system": self.system_in(language), "preamble": None})

    def system_in(self, language: str) -> str | None:
        """What the system says in a language to a trial whose own turns have no system, preamble included."""
        texts = (self.preamble_in(language), _in_language(self.system, language))
        return texts[1] if texts[0] is None else "\n".join(filter(None, texts))

    def preamble_in(self, language: str) -> str | None:
        """The text before every prompt of a language; None where there is none."""
        return _in_language(self.preamble, language)

    def variants(self) -> list["Prompting"]:
        """The prompting in each language that its tables name; one where it has no table."""
        tables = [text_or_table for text_or_table in (self.preamble, self.system) if isinstance(text_or_table, dict)]
        return [self.in_language(language) for language in (tables[0] if tables else ("",))]

    def check(self, languages: Iterable[str]) -> None:
        """Require that tables have a text in each of these languages.

        Raises:
            ValueError: one lacks a language; names key and language.
        """
        for key in ("preamble", "system"):
            text_or_table = getattr(self, key)
            lacking = sorted(set(languages) - set(text_or_table)) if isinstance(text_or_table, dict) else []
            if lacking:
                raise ValueError(f'prompting.{key}: no text in {", ".join(lacking)}; add {lacking[0]} = "..."')

    @pydantic.model_validator(mode="after")
    def _keys_fit_style(self) -> "Prompting":
        plain = Prompting.model_construct()
        with_text = ("style", "preamble")
        idle = [
            key for key in type(self).model_fields if key not in with_text and getattr(self, key) != getattr(plain, key)
        ]
        if self.preamble is not None and not all(text.strip() for text in _texts(self.preamble)):
            raise ValueError("preamble: an empty text says nothing; write one, or leave it out")
        if (
            isinstance(self.preamble, dict)
            and isinstance(self.system, dict)
            and self.preamble.keys() != self.system.keys()
        ):
            raise ValueError("preamble and system name different languages; name the same in both")
        if self.system == {}:
            raise ValueError("system: a table without a language says nothing; add one, or leave it out")
        if idle and not self.is_chat:
            raise ValueError(
                f"{', '.join(idle)}: for style = 'chat', and the style is 'text'; say style = 'chat' or leave them out"
            )
        if self.thinking == "on" and self.answer_prefix == "cue":
            raise ValueError(
                "answer_prefix = 'cue' begins the answer for the model, which with thinking = 'on' thinks before it; "
                "say answer_prefix = 'none'"
            )
        if self.thinking == "on" and self.max_reasoning_tokens is None:
            raise ValueError(
                "thinking = 'on' needs a limit of its own for thoughts; say how many tokens they may take, such as "
                "max_reasoning_tokens = 4096"
            )
        if self.thinking == "off" and self.max_reasoning_tokens is not None:
            raise ValueError(
                "max_reasoning_tokens limits thoughts, and thinking = 'off'; say thinking = 'on' or leave it out"
            )
        for name in self.template_arguments:
            if name in TAKEN or name in LIBRARY:
                means = TAKEN.get(name, "transformers takes it for its own")
                raise ValueError(f"template_arguments names {name}: {means}; leave it out")
        return self


def _texts(text_or_table: TextOrTable) -> list[str]:
    return list(text_or_table.values()) or [""] if isinstance(text_or_table, dict) else [text_or_table]


def _in_language(text_or_table: TextOrTable | None, language: str) -> str | None:
    return text_or_table[language] if isinstance(text_or_table, dict) else text_or_table


AS_TEXT = Prompting()
"""The default: prompts as bare text."""


def load_prompting(path: Path) -> Prompting:
    """The prompting in a TOML file, which has the keys of `[families.<name>.prompting]` at its top level.

    Raises:
        InputError: the file is faulty; names file, key and reason.
    """
    content: dict[str, Any] = read_toml(path, "a file on prompting (TOML)", InputError)
    return validated(Prompting, content, InputError, str(path))
