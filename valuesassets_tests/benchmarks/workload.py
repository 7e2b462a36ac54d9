"""What is asked in the benchmarks: questions of the bundled questionnaires, a tokenizer of real size, random models."""

import functools
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.utils import logging

from valuesassets.instruments.survey.trials.trials import write_trials
from valuesassets.models.reference_tokenizer import BOS, EOS, PAD, UNK, train_tokenizer
from valuesassets.people.variables import load_variables
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.study import load_study
from valuesassets.records.trials import Trial
from valuesassets_tests.studies.expected_questions import expected_questions

Asked = tuple[Trial, Trial]
"""One question in both orders."""

VOCABULARY = 262_144
PIECES = 365
"""Merged pieces of the tokenizer: so many that a prompt of the bundled questionnaires takes 127 tokens on average, as
the longer questions of the real ones do under a real tokenizer."""
OTHERS_PER_SCALE = 4
"""Other questions to one ten-point scale."""
LIFT = 8.0
"""What is added to the logits of digits and of what ends an answer. In weights that are only random each of them has
one part in 262,144 of the mass: no ten-point answer could be resolved, and agreement would be shown on nothing."""


@dataclass(frozen=True)
class Shape:
    """A LLaMA without its vocabulary."""

    layers: int
    width: int
    inner: int
    heads: int
    key_heads: int

    @property
    def body(self) -> int:
        """Parameters without embedding and head."""
        attention = 2 * self.width**2 * (1 + self.key_heads / self.heads)
        return int(self.layers * (attention + 3 * self.width * self.inner + 2 * self.width) + self.width)


SHAPES = {
    "tiny": Shape(2, 32, 48, 4, 2),
    "5m": Shape(6, 256, 704, 4, 4),
    "200m": Shape(16, 1024, 2816, 16, 16),
    "2b": Shape(24, 2048, 5504, 16, 16),
    "20b": Shape(54, 6144, 16384, 48, 8),
}
"""Models by name. `2b` is as HPLT's reference models, `20b` as EuroLLM-22B."""


@functools.cache
def all_questions() -> tuple[Asked, ...]:
    """Questions of the questionnaires of `demo_survey_22`, language by language, every fifth a ten-point scale.

    Only those that are asked once, whatever was answered before. A question's id names its language too: to the engine,
    the same question in two languages is two.
    """
    languages = sorted(load_study("demo_survey_22").languages)  # figures of before stay comparable when forms are added
    shuffled = random.Random(0).sample(languages, len(languages))  # noqa: S311  # a seeded order
    return tuple(asked for language in shuffled for asked in questions_in(language))


def questions_in(language: str) -> list[Asked]:
    """Questions of one language's bundled questionnaire, in its order, every fifth a ten-point scale."""
    asked: dict[str, list[Trial]] = defaultdict(list)
    for trial in write_trials(expected_questions(language), language, load_lexicon(language), load_variables()):
        if trial.condition is None:
            ids = {"trial_id": f"{language}/{trial.trial_id}", "question_id": f"{language}/{trial.question_id}"}
            asked[trial.question_id].append(replace(trial, **ids))
    questions = [(forward, backward) for forward, backward in asked.values()]
    others = [question for question in questions if not is_ten_point(question)]
    scales = [question for question in questions if is_ten_point(question)][: len(others) // OTHERS_PER_SCALE]
    starts = range(0, len(scales) * OTHERS_PER_SCALE, OTHERS_PER_SCALE)
    return [q for scale, start in zip(scales, starts, strict=True) for q in (scale, *others[start:][:OTHERS_PER_SCALE])]


def is_ten_point(asked: Asked) -> bool:
    """Whether the labels go up to "10", which begins with "1"."""
    return len(asked[0].labels) == 10


def choose_questions(count: int) -> list[Asked]:
    """`count` questions in several languages, a fifth of them ten-point scales; a smaller choice begins a larger."""
    questions = list(all_questions()[:count])
    assert len(questions) == count, f"{count} questions asked, {len(questions)} are bundled"
    return questions


def cut_slices(questions: Sequence[Asked], slices: int) -> list[list[Asked]]:
    """The questions in parts of the same size and mix. Items of a battery stay together, as a study asks them."""
    ends = [len(questions) * number // slices for number in range(slices + 1)]
    return [list(questions[start:end]) for start, end in pairwise(ends)]


@functools.cache
def trained_tokenizer() -> str:
    """A tokenizer whose pieces are learnt from all prompts, as `tokenizers` writes it."""
    prompts = [trial.prompt for asked in all_questions() for trial in asked]
    return train_tokenizer(prompts, PIECES).backend_tokenizer.to_str()


def make_tokenizer(vocabulary: int = VOCABULARY) -> PreTrainedTokenizerFast:
    """A tokenizer in the manner of Gemma whose size is that of a real one: most of its entries no merge produces."""
    content = json.loads(trained_tokenizer())
    entries = content["model"]["vocab"]
    assert len(entries) <= vocabulary, f"a vocabulary of {vocabulary}: {len(entries)} entries are in use"
    entries.update({f"<unused{index}>": index for index in range(len(entries), vocabulary)})
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(content)),
        bos_token=BOS,
        eos_token=EOS,
        unk_token=UNK,
        pad_token=PAD,
        clean_up_tokenization_spaces=False,
    )


def write_model(
    folder: Path, shape: Shape, vocabulary: int = VOCABULARY, dtype: str = "float32", positions: int = 2048
) -> Path:
    """A folder with a LLaMA of random weights (seeded), its tokenizer beside them, made on a GPU where there is one."""
    logging.disable_progress_bar()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for part in random_model(shape, vocabulary, dtype, positions, device):
        part.save_pretrained(folder)
    return folder


def random_model(
    shape: Shape, vocabulary: int, dtype: str, positions: int, device: str
) -> tuple[Any, PreTrainedTokenizerFast]:
    """A LLaMA of random weights (seeded) on a device, and its tokenizer."""
    tokenizer = make_tokenizer(vocabulary)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=shape.width,
        intermediate_size=shape.inner,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.key_heads,
        max_position_embeddings=positions,
        tie_word_embeddings=False,
        dtype=dtype,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(0)
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, dtype))
    try:
        with torch.device(device):
            model: Any = LlamaForCausalLM(config).eval()
    finally:
        torch.set_default_dtype(before)
    lift_answers(model, tokenizer)
    return model, tokenizer


@torch.no_grad()
def lift_answers(model: Any, tokenizer: PreTrainedTokenizerFast) -> None:
    """Give digits and what ends an answer `LIFT` more, at whatever position: along what all hidden states share."""
    device, dtype = model.device, model.dtype
    shared = torch.randn(model.config.hidden_size, device=device, dtype=torch.float32) * 0.05
    model.model.embed_tokens.weight += shared.to(dtype)
    prompts = [asked[0].prompt for asked in all_questions()[::40]]
    hidden = [
        model.model(torch.tensor([tokenizer(prompt)["input_ids"]], device=device)).last_hidden_state[0].float()
        for prompt in prompts
    ]
    direction = torch.cat(hidden).mean(dim=0)
    lifted = tokenizer.convert_tokens_to_ids([*"0123456789", "▁", "\n", ".", ",", EOS])
    model.lm_head.weight[lifted] += (LIFT * direction / direction.dot(direction)).to(dtype)
