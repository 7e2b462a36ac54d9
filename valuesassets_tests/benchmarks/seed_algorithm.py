"""The algorithm that the project began with, as the reference of speed: one prompt at a time, logits of every position.

A digit counts where the tokenizer writes it as one token, with or without a space before it. "10" takes a second pass
behind "1": the mass of "1" is shared between going on with "0" and ending.
"""

from collections.abc import Sequence
from typing import Any

import torch

from valuesassets.models.loaded_model import LoadedModel

ENDS = ("\n", " ", ".", ",", "\n\n")


class SeedReader:
    """A model read as the first plan of this project did."""

    def __init__(self, loaded: LoadedModel) -> None:
        self.model: Any = loaded.model
        self.tokenizer = loaded.tokenizer
        self.digits = {str(digit): self._single_tokens(str(digit), f" {digit}") for digit in range(10)}
        self.ends = self._single_tokens(*ENDS) | loaded.eos_ids

    def _single_tokens(self, *texts: str) -> frozenset[int]:
        encoded = [self.tokenizer.hf(text, add_special_tokens=False)["input_ids"] for text in texts]
        return frozenset(ids[0] for ids in encoded if len(ids) == 1)

    def answer(self, prompt: str, labels: Sequence[str]) -> tuple[float, ...]:
        """Probability of each label, not renormalised."""
        return self.answer_ids(self.tokenizer.encode([prompt])[0], labels)

    def answer_ids(self, ids: Sequence[int], labels: Sequence[str]) -> tuple[float, ...]:
        """Probability of each label after these tokens."""
        following = self.next_probs(ids)
        probs = {label: _sum(following, self.digits[label]) for label in labels if label != "10"}
        if "10" in labels:
            (one,) = self.tokenizer.hf("1", add_special_tokens=False)["input_ids"]
            behind_one = self.next_probs([*ids, one])
            goes_on, ends = _sum(behind_one, self.digits["0"]), _sum(behind_one, self.ends)
            mass = probs["1"]
            probs["1"], probs["10"] = mass * ends / (goes_on + ends), mass * goes_on / (goes_on + ends)
        return tuple(probs[label] for label in labels)

    def next_probs(self, ids: Sequence[int]) -> torch.Tensor:
        """Probability of every token after `ids`."""
        with torch.inference_mode():
            logits = self.model(input_ids=torch.tensor([list(ids)], device=self.model.device)).logits
        return torch.log_softmax(logits[0, -1].float(), dim=-1).double().exp()

    def answer_fully(self, prompt: str, labels: Sequence[str]) -> tuple[float, ...]:
        """Probability of each label with what the seed leaves out: the digits written after a space of their own."""
        ids = self.tokenizer.encode([prompt])[0]
        bare = self.answer_ids(ids, labels)
        (space,) = self.tokenizer.hf(" ", add_special_tokens=False)["input_ids"]
        reach = float(self.next_probs(ids)[space])
        spaced = self.answer_ids([*ids, space], labels)
        return tuple(one + reach * other for one, other in zip(bare, spaced, strict=True))


def _sum(probs: torch.Tensor, tokens: frozenset[int]) -> float:
    return float(probs[sorted(tokens)].sum())
