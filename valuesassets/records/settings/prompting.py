"""`[families.<name>.prompting]`: how a model is shown what it is asked, as bare text or as a chat."""

import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic

from valuesassets.records.errors import InputError
from valuesassets.records.faults import validated
from valuesassets.records.files import read_toml
from valuesassets.records.settings.kinds import Record

TAKEN = {
    **dict.fromkeys(("enable_thinking", "thinking"), "say thinking = 'on' or 'off' in its place"),
    **dict.fromkeys(("bos_token", "eos_token", "unk_token", "pad_token"), "the tokenizer says it"),
    **dict.fromkeys(("messages", "add_generation_prompt", "continue_final_message"), "the trial says it"),
    "strftime_now": "say template_date in its place",
}
"""Arguments of a template that are given by other means, and by which; beside these, what the libraries call theirs."""
LIBRARY = {"tools", "documents", "conversation", "conversations", "chat_template", "tokenize", "tokenizer_kwargs"}
LIBRARY |= {"padding", "truncation", "max_length", "return_tensors", "return_dict", "return_assistant_tokens_mask"}
LIBRARY |= {"sanitize_control_tokens", "compiled_template"}


class Prompting(Record):
    """How a family's models are shown what they are asked; declared, never guessed from the model."""

    style: Literal["text", "chat"] = "text"
    """`text`: the prompt as it stands, for base models; `chat`: through the chat template that comes with the
    tokenizer. The other keys are for `chat`."""
    system: str | None = None
    """What the system says before the first turn, where a trial's own turns do not begin with it; empty: nothing, not
    even what a chat template says by itself where it is left out."""
    answer_prefix: Literal["cue", "none"] = "cue"
    """Where the last line of a prompt goes, the cue (`Answer:`): it opens the model's own turn (`cue`), or stays the
    user's (`none`)."""
    thinking: Literal["off", "on"] = "off"
    """Whether the model thinks before it answers; `on` is for texts that it writes, never for probabilities, and needs
    `answer_prefix = "none"`."""
    max_reasoning_tokens: Annotated[int, pydantic.Field(ge=1)] | None = pydantic.Field(
        default=None, exclude_if=lambda limit: limit is None
    )
    """Most tokens of a thought, its closing tag among them; those of the answer are counted apart. Needed with
    `thinking = "on"`: a thought that does not end within it is no answer."""
    template_arguments: dict[
        Annotated[str, pydantic.Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")],
        bool | int | Annotated[float, pydantic.Field(allow_inf_nan=False)] | str,
    ] = pydantic.Field(default_factory=dict)
    """What else the template asks for, by the names that it uses."""
    template_date: datetime.date | None = None
    """The day that the template takes for today; needed where it asks for the date, as prompts would change daily."""

    @property
    def is_chat(self) -> bool:
        """Whether models are asked through their chat template."""
        return self.style == "chat"

    @pydantic.model_validator(mode="after")
    def _keys_fit_style(self) -> "Prompting":
        plain = Prompting.model_construct()
        idle = [key for key in type(self).model_fields if key != "style" and getattr(self, key) != getattr(plain, key)]
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


AS_TEXT = Prompting()
"""How models are asked where nothing is said."""


def load_prompting(path: Path) -> Prompting:
    """The prompting of a TOML file, which has the keys of `[families.<name>.prompting]` at the top.

    Raises:
        InputError: names file, key and reason.
    """
    content: dict[str, Any] = read_toml(path, "a file on prompting (TOML)", InputError)
    return validated(Prompting, content, InputError, str(path))
