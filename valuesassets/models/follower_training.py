"""Trains the follower: a reference model that predicts a person's next answer by a planted response model."""

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from valuesassets.models.reference_folder import ReferenceModel, find_reference_model, save_reference_model
from valuesassets.records.files import sha256_file, sha256_json

FOLLOWER_VERSION = "1"
"""Changes whenever the same transcripts give another model."""

PIECES = 6000
"""Most pieces of the vocabulary, in which repeated lines are one token each, as far as there is room."""


def hash_follower(transcripts: Path, languages: Sequence[str], steps: int, seed: int) -> str:
    """Hash of everything that a follower is trained from; an OSError if the file cannot be read."""
    return sha256_json([FOLLOWER_VERSION, sha256_file(transcripts), sorted(languages), steps, seed])


def train_follower(
    transcripts: Path,
    languages: Sequence[str],
    folder: Path,
    steps: int,
    seed: int,
    on_step: Callable[[int, float], None] | None = None,
) -> ReferenceModel:
    """Train a small LLaMA that answers as the people in transcripts do; a folder that has it already stays unchanged.

    Args:
        transcripts: parquet file in `PLANTED_TRANSCRIPTS`, of which those in `languages` are used.
        on_step: called with (batches done, mean KL of the last batch in nats).

    Raises:
        StorageError: the transcripts hold no valid distributions, or the folder cannot be written.
        TokenizerError: a candidate's tokens differ where it stands.
    """
    began = time.monotonic()
    training_hash = hash_follower(transcripts, languages, steps, seed)
    existing = find_reference_model(folder, training_hash)
    if existing is not None:
        return existing

    from valuesassets.models.follower_fit import fit
    from valuesassets.models.follower_lessons import spell_lessons
    from valuesassets.models.follower_llama import CONFIG, as_llama
    from valuesassets.models.follower_transcripts import read_planted_transcripts
    from valuesassets.models.reference_tokenizer import train_tokenizer
    from valuesassets.spelling.prompt_tokenizer import describe_tokenizer

    planted = read_planted_transcripts(transcripts, languages)
    lines = dict.fromkeys(line for text in planted.texts for line in re.split(r"(?=\n)", text))
    hf = train_tokenizer(list(lines), PIECES, planted.unsplit_texts())
    lessons = spell_lessons(planted, describe_tokenizer(hf, str(folder), len(hf)))
    follower, last_kls = fit(lessons, len(hf), steps, seed, on_step)
    weights = as_llama(follower, lessons.token_ids, lessons.answers, len(hf), seed)
    model = ReferenceModel(
        folder, training_hash, True, steps, float(last_kls.mean()), float(last_kls.max()), time.monotonic() - began
    )
    save_reference_model(model, CONFIG, weights, hf)
    return model
