"""What plain transformers says, by the definition: one pass for each beginning of an answer, the chain rule by hand."""

import copy

import torch
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedTokenizerFast

from valuesassets_tests.models.spans.oracle import SpanOracle

STEPS = 2
"""Tokens of the longest label, "10" or one behind a space of its own, each of which is rounded."""


class InFloat64(TorchFunctionMode):
    """A block in which what models convert to float32 (norms, rotations, softmax) stays in float64.

    Where it does not, sums that differ by 1e-16 are rounded to neighbours in float32 now and then, by chance of the
    processor, and labels of a model in float64 differ by 2e-6 nats.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.Tensor.float:
            return args[0].double()
        args = [torch.float64 if each is torch.float32 else each for each in args]
        kwargs = {name: torch.float64 if each is torch.float32 else each for name, each in (kwargs or {}).items()}
        return func(*args, **kwargs)


class Plain(SpanOracle):
    """The oracle of tiny models on weights that are loaded already; a prompt's cache is copied for what follows it."""

    def __init__(self, folder, model):
        self.tokenizer, self.model = PreTrainedTokenizerFast.from_pretrained(folder), model
        self._read = {}, None
        self._prompt = ()

    def ids(self, text):
        """The tokens of a text as the tokenizer's own template begins it."""
        return self.tokenizer(text)["input_ids"]

    def next_probs(self, ids):
        """What comes next, in float64; what is asked first after another prompt is the prompt."""
        ids = tuple(ids)
        known, cache = self._read
        if self._prompt != ids[: len(self._prompt)] or cache is None:
            known, cache, self._prompt = {}, None, ids
        if ids not in known:
            past = copy.deepcopy(cache)
            with torch.inference_mode():
                rest = torch.tensor([ids[len(self._prompt) :] if cache is not None else ids])
                out = self.model(rest, past_key_values=past, use_cache=True, logits_to_keep=1)
            known[ids] = out.logits[0, -1].double().softmax(0)
            cache = cache if cache is not None else out.past_key_values
        self._read = known, cache
        return known[ids]
