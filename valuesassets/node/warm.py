"""Computes once for all forks what transformers computes at the first model: some 900 regular expressions."""

from transformers.conversion_mapping import get_checkpoint_conversion_mapping

get_checkpoint_conversion_mapping("llama")
