"""A server that shows no probabilities: it writes its answers, in forms that can be read and in forms that cannot."""

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from valuesassets_tests.remote.loopback_openai import LoopbackOpenAi, written

READABLE = (
    "{label}",
    " {label}\n",
    "{label}.",
    "({label})",
    "**{label}**",
    "{cue}: {label}",
    "**{cue}:** {label}.",
    "{label}. {text}",
    "{label}) {text}.",
    "{text} ({label})",
    "<answer>{label}</answer>",
    "{label}\n\nI chose it for many reasons.",
    "Let me think about this.\n\n{cue}: {label}",
)
"""Forms of a text that says an option; those with `{text}` are left out where an option has none."""
UNREADABLE = (
    "{label} or {other}",
    "not {label}",
    "I am an AI and have no opinion.",
    "{label}-{other}",
    "It depends.",
    "",
    "{label}/10",
    "I cannot choose between {label} and {other}.",
    "999",
)
"""Forms of a text that says none."""


@dataclass(frozen=True)
class Truth:
    """What is drawn after a prompt.

    Attributes:
        probs: (K,) probabilities of the options shown, which sum to P_valid.
    """

    labels: tuple[str, ...]
    texts: tuple[str, ...]
    values: tuple[int, ...]
    probs: tuple[float, ...]
    cue: str


class DrawingServer(LoopbackOpenAi):
    """Draws answers by the truths of its prompts.

    Attributes:
        codes: the option's code of each text after each prompt; None where the text says none.
    """

    def __init__(self, truths: Mapping[str, Truth], **options: Any) -> None:
        super().__init__(self._draw, **options)
        self.truths, self.codes = truths, dict[tuple[str, str], int | None]()
        self._noting = threading.Lock()

    def _draw(self, body: dict[str, Any]) -> dict[str, Any]:
        prompt = body["messages"][-1]["content"]
        seed = hashlib.sha256(f"{prompt} {body['seed']}".encode()).digest()
        text, code = written_answer(self.truths[prompt], np.random.default_rng(int.from_bytes(seed[:8], "big")))
        with self._noting:
            if self.codes.setdefault((prompt, text), code) != code:
                raise AssertionError(f"{text!r} says {code} and {self.codes[prompt, text]} after {prompt}")
        return written(text)


def written_answer(truth: Truth, random: np.random.Generator) -> tuple[str, int | None]:
    """A text drawn by a truth, and the code of the option that it says; None where it says none."""
    place = int(random.choice(len(truth.probs) + 1, p=[*truth.probs, 1 - sum(truth.probs)]))
    is_option = place < len(truth.probs)
    place_shown = place if is_option else int(random.integers(len(truth.labels)))
    other = truth.labels[(place_shown + 1) % len(truth.labels)]
    forms = [form for form in READABLE if truth.texts[place_shown] or "{text}" not in form] if is_option else UNREADABLE
    text = forms[random.integers(len(forms))].format(
        label=truth.labels[place_shown], text=truth.texts[place_shown], other=other, cue=truth.cue
    )
    return text, truth.values[place] if is_option else None
