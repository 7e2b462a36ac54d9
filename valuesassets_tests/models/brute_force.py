"""The scorer's oracle: one full forward pass per token sequence in float64, no trie, no batch, no gathered rows."""

import itertools

import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

ENDS = ["\n", "\n\n", "\r\n", " ", ".", ","]


class BruteForce:
    def __init__(self, folder):
        self.tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)  # as it was saved, for any architecture
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).eval()
        self._known = {}

    def ids(self, text):
        return self.tokenizer(text)["input_ids"]

    def next_probs(self, ids):
        if tuple(ids) not in self._known:
            with torch.no_grad():
                self._known[tuple(ids)] = self.model(torch.tensor([ids])).logits[0, -1].softmax(0)
        return self._known[tuple(ids)]

    def label_probs(self, prompt, labels):
        """Probability of each label: over its spellings, the product of steps, shared where another label goes on."""
        start = self.ids(prompt)
        paths = {
            label: {tuple(self.ids(prompt + lead + label)[len(start) :]) for lead in ("", " ")} for label in labels
        }
        everything = list(itertools.chain.from_iterable(paths.values()))
        return [sum(self._path_prob(start, path, everything, prompt) for path in paths[label]) for label in labels]

    def _path_prob(self, start, path, everything, prompt):
        prob = 1.0
        for depth in range(len(path) + 1):
            here = path[:depth]
            going_on = {other[depth] for other in everything if len(other) > depth and other[:depth] == here}
            if depth == len(path) and not going_on:
                break
            probs = self.next_probs([*start, *here])
            if here in everything:
                stops = self._stops([*start, *here], prompt) - going_on
                stop, go = float(probs[sorted(stops)].sum()), float(probs[sorted(going_on)].sum())
                step = stop if depth == len(path) else float(probs[path[depth]])
                prob *= step / (stop + go)
            else:
                prob *= float(probs[path[depth]])
        return prob

    def _stops(self, ids, prompt):
        stops = {self.tokenizer.eos_token_id}
        text = self.tokenizer.decode(ids, skip_special_tokens=False)
        text = prompt + text[text.index(prompt) + len(prompt) :]
        for end in ENDS:
            longer = self.ids(text + end)
            if len(longer) == len(ids) + 1 and longer[:-1] == ids:
                stops.add(longer[-1])
        return stops
