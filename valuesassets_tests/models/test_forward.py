"""Architectures that are not what the gathered head expects are refused, never misread."""

from dataclasses import replace

import pytest
import torch
from transformers import AutoModel, LlamaForCausalLM

from valuesassets.models.loading import load_model
from valuesassets.models.sampling import sample_answers
from valuesassets.models.scoring import score_trials
from valuesassets.records.errors import ScoringError
from valuesassets_tests.tiny_models import PROMPTS, trial


class HeadPassedBy(LlamaForCausalLM):
    """Multiplies by its head's weight instead of calling the head."""

    def forward(self, input_ids, attention_mask=None, **_):
        hidden = self.model(input_ids=input_ids, attention_mask=attention_mask, use_cache=False).last_hidden_state
        return type("Output", (), {"logits": torch.nn.functional.linear(hidden, self.lm_head.weight)})()


@pytest.fixture
def loaded_llama(model_folders):
    return load_model(str(model_folders["sentencepiece"]), dtype="float32")


def test_a_model_without_a_head_is_refused(loaded_llama):
    headless = AutoModel.from_pretrained(loaded_llama.model_id).eval()
    with pytest.raises(ScoringError, match="no output embedding; a causal language model was expected"):
        score_trials(replace(loaded_llama, model=headless), [trial(PROMPTS[0], 4)])


def test_a_model_that_passes_its_head_by_is_refused(loaded_llama):
    other = HeadPassedBy.from_pretrained(loaded_llama.model_id).eval()
    with pytest.raises(ScoringError, match="does not use its output embedding as a module"):
        score_trials(replace(loaded_llama, model=other), [trial(PROMPTS[0], 4)])


def test_nothing_is_drawn_from_nan(loaded_llama):
    with torch.no_grad():
        loaded_llama.model.lm_head.weight[3] = torch.nan
    with pytest.raises(ScoringError, match=r"NaN or infinite logits at prompt '.*Answer:'"):
        sample_answers(loaded_llama, PROMPTS[:1], 10, seed=0)
