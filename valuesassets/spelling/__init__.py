"""How a tokenizer cuts prompts and spells labels, and what the probability of a label is; without torch."""
