"""Trains reference models: tiny LLaMAs whose answers to a study's own prompts are planted."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from valuesassets.models.reference_folder import ReferenceModel, find_reference_model, save_reference_model
from valuesassets.records.files import sha256_json

PHANTOM_VERSION = "3"
"""Changes whenever the same texts give another model."""
PIECES_PER_PROMPT, FEWEST_PIECES, MANY_PIECES, PIECES_PER_PROMPT_OF_MANY = 24, 400, 3000, 6
"""Size of the vocabulary. Whole words make short prompts, which a model learns to distinguish sooner; a large one
grows more slowly, since each piece costs time at every position read."""

Answers = Mapping[str, Mapping[str, float]]
"""The probability of each whole answer text, by prompt; they sum to 1 for each prompt."""


def hash_training(answers: Answers, steps: int, seed: int) -> str:
    """Hash of everything that a reference model is trained from."""
    return sha256_json([PHANTOM_VERSION, {prompt: dict(texts) for prompt, texts in answers.items()}, steps, seed])


def train_reference_model(
    answers: Answers, folder: Path, steps: int, seed: int, on_pass: Callable[[int, float], None] | None = None
) -> ReferenceModel:
    """Train a tiny LLaMA that answers these prompts as planted; a folder that has it already stays unchanged.

    Args:
        steps: most passes over all prompts.
        on_pass: called with (passes done, mean KL in nats).

    Raises:
        StorageError: the folder cannot be written.
        TokenizerError: an answer text changes the tokens of its prompt.
    """
    began = time.monotonic()
    training_hash = hash_training(answers, steps, seed)
    existing = find_reference_model(folder, training_hash)
    if existing is not None:
        return existing

    from threadpoolctl import threadpool_limits

    from valuesassets.models.reference_llama import CONFIG, as_llama
    from valuesassets.models.reference_tokenizer import train_tokenizer
    from valuesassets.models.reference_training import Vocabulary, fit, grow_answer_tree
    from valuesassets.spelling.prompt_tokenizer import describe_tokenizer

    most = max(MANY_PIECES, PIECES_PER_PROMPT_OF_MANY * len(answers))
    pieces = min(max(PIECES_PER_PROMPT * len(answers), FEWEST_PIECES), most)
    hf = train_tokenizer([prompt + text for prompt, texts in answers.items() for text in texts], pieces)
    tokenizer = describe_tokenizer(hf, str(folder), len(hf))
    trees = [grow_answer_tree(tokenizer, prompt, texts) for prompt, texts in answers.items()]
    vocabulary = Vocabulary.of(trees, len(hf))
    with threadpool_limits(
        1, user_api="blas"
    ):  # on matrices this small a second thread only waits, and takes a core for that
        weights, result = fit(trees, vocabulary, steps, seed, on_pass)
    arrays = as_llama(weights, list(vocabulary.places), list(vocabulary.answers), len(hf), seed)
    model = ReferenceModel(folder, training_hash, True, **asdict(result), seconds=time.monotonic() - began)
    save_reference_model(model, CONFIG, arrays, hf)
    return model
