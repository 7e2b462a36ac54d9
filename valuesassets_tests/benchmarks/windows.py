"""What a window of 512 tokens costs: tokens that go through a model that has one beside a model that has none."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from valuesassets.models.certificate import largest_difference
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.loading import load_model
from valuesassets.models.reading_pass import ReadingPass
from valuesassets.models.spelled_trials import SpelledTrial, spell_trials
from valuesassets.models.token_trees import BatchBudget
from valuesassets.records.trials import Trial
from valuesassets_tests.benchmarks.counting import counting
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry
from valuesassets_tests.benchmarks.workload import Shape, choose_questions, lift_answers, make_tokenizer

WINDOW, NONE = 512, 2**20
SYSTEM_TEXTS = 7
"""Prompts that make up a system text: together longer than the window."""
ALONE = 12
"""Trials that are also read alone."""
REFUSED = "left out for comparison"


def write_gemma(folder: Path, shape: Shape, vocabulary: int, window: int) -> Path:
    """A folder with a Gemma 3 of random weights (seeded), every other layer of which looks back on a window."""
    torch.manual_seed(0)
    tokenizer = make_tokenizer(vocabulary)
    settings: dict[str, Any] = {
        "model_type": "gemma3_text",
        "vocab_size": vocabulary,
        "hidden_size": shape.width,
        "intermediate_size": shape.inner,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.key_heads,
        "head_dim": shape.width // shape.heads,
        "query_pre_attn_scalar": shape.width // shape.heads,
        "max_position_embeddings": 4096,
        "initializer_range": 0.2,
        "tie_word_embeddings": False,
        "sliding_window": window,
        "layer_types": ["sliding_attention", "full_attention"] * (shape.layers // 2),
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**settings)).eval()
    lift_answers(model, tokenizer)
    for part in (model, tokenizer):
        part.save_pretrained(folder)
    return folder


def compare(scratch: Path, shape: Shape, vocabulary: int, questions: int, tell: Tell) -> Entries:
    """Tokens with a window over those without: of the bundled questionnaires, and behind a long system text."""
    folders = {size: write_gemma(scratch / f"window{size}", shape, vocabulary, size) for size in (WINDOW, NONE)}
    windowed, plain = (load_model(str(folders[size]), dtype="float64", device="cpu") for size in (WINDOW, NONE))
    trials = [trial for asked in choose_questions(questions) for trial in asked]
    system = "\n".join(trial.prompt for trial in trials[: 2 * SYSTEM_TEXTS : 2]) + "\n\n"
    behind = [replace(trial, prompt=system + trial.prompt) for trial in trials]
    entries: Entries = {}
    for name, asked in (("survey", trials), ("long_system_text", behind)):
        tell(f"windows: {len(asked)} prompts, {name.replace('_', ' ')}")
        entries |= _entries(name, windowed, plain, asked)
    return entries


def _entries(name: str, windowed: LoadedModel, plain: LoadedModel, trials: Sequence[Trial]) -> Entries:
    spelled = [each for each in spell_trials(windowed.opened, trials) if isinstance(each, SpelledTrial)]
    without = _plan(plain, spelled)
    reading = _plan(windowed, spelled)
    faults = windowed.tree_fault, windowed.prefix_fault, windowed.tree_window_fault, windowed.prefix_window_fault
    assert not any(faults), faults
    with counting(windowed.model) as counts:
        readings = reading.read()
    assert (counts.calls, counts.tokens) == (reading.batches, reading.tokens), f"{counts}: not as planned"
    some = spelled[:: max(1, len(spelled) // ALONE)]
    alone = ReadingPass(windowed, some, BatchBudget(1, 1), as_chains=True).read()
    pairs = [(readings[key], other) for key, other in alone.items()]
    answered = sum(one.label_probs is not None for one, _ in pairs)
    assert answered, "no label of the sample has a probability"
    lengths = [len(each.spelled.prompt_ids) for each in spelled]
    return {
        f"windows_tokens_{name}": entry(
            [reading.tokens / without.tokens],
            f"tokens with a window of {WINDOW} over those without",
            wanted="<= 1.1",
            where_masks_cannot_be_given=_cut(windowed, spelled).tokens / without.tokens,
            prompts=len(spelled),
            tokens_a_prompt=[min(lengths), sum(lengths) / len(lengths), max(lengths)],
            tokens=reading.tokens,
            kept_prefixes=reading.kept_prefixes,
        ),
        f"windows_apart_{name}": entry(
            [largest_difference(pairs)],
            "nats between a label beside others and alone, in float64",
            wanted="<= 1e-9",
            trials=answered,
        ),
    }


def _plan(loaded: LoadedModel, spelled: Sequence[SpelledTrial]) -> ReadingPass:
    return ReadingPass(loaded, spelled, BatchBudget.for_device("cpu"))


def _cut(loaded: LoadedModel, spelled: Sequence[SpelledTrial]) -> ReadingPass:
    """A pass whose trees are cut to the window, as for an architecture that takes no masks of it."""
    named = ("tree_window_fault", "prefix_window_fault")
    before = {name: vars(loaded)[name] for name in named}
    vars(loaded).update(dict.fromkeys(named, REFUSED))
    try:
        return _plan(loaded, spelled)
    finally:
        vars(loaded).update(before)
