"""The follower: a reference model that answers as a person does who has answered before, by a law known beforehand."""

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from valuesassets.models.reference_folder import ReferenceModel, find_reference_model, save_reference_model
from valuesassets.records.files import sha256_file, sha256_json

FOLLOWER_VERSION = "1"
"""Changes whenever the same transcripts give another model."""

PIECES = 6000
"""Most pieces of the vocabulary: a line that comes again is one token, as far as they reach."""


def hash_followed(transcripts: Path, languages: Sequence[str], steps: int, seed: int) -> str:
    """Hash of everything that a follower is trained from.

    Raises:
        OSError: there is no such file.
    """
    return sha256_json([FOLLOWER_VERSION, sha256_file(transcripts), sorted(languages), steps, seed])


def train_follower(
    transcripts: Path,
    languages: Sequence[str],
    folder: Path,
    steps: int,
    seed: int,
    on_step: Callable[[int, float], None] | None = None,
) -> ReferenceModel:
    """A folder with a small LLaMA that answers as people in transcripts do; one that is there already is left as it is.

    Args:
        transcripts: parquet in `PLANTED_TRANSCRIPTS`; those of `languages` are read in turn, and again from the first.
        steps: batches.
        on_step: called with (batches done, its mean KL in nats).

    Raises:
        StorageError: the transcripts plant no law, or the folder cannot be written.
        TokenizerError: a candidate's tokens are not to be found where it stands.
    """
    began = time.monotonic()
    training_hash = hash_followed(transcripts, languages, steps, seed)
    known = find_reference_model(folder, training_hash)
    if known is not None:
        return known

    from valuesassets.models.follower_fit import fit
    from valuesassets.models.follower_lessons import spell_lessons
    from valuesassets.models.follower_llama import CONFIG, as_llama
    from valuesassets.models.follower_transcripts import read_planted_transcripts
    from valuesassets.models.reference_tokenizer import train_tokenizer
    from valuesassets.spelling.prompt_tokenizer import describe_tokenizer

    planted = read_planted_transcripts(transcripts, languages)
    lines = dict.fromkeys(line for text in planted.texts for line in re.split(r"(?=\n)", text))
    hf = train_tokenizer(list(lines), PIECES, planted.kept_apart())
    lessons = spell_lessons(planted, describe_tokenizer(hf, str(folder), len(hf)))
    follower, last = fit(lessons, len(hf), steps, seed, on_step)
    named = as_llama(follower, lessons.known, lessons.answers, len(hf), seed)
    model = ReferenceModel(
        folder, training_hash, True, steps, float(last.mean()), float(last.max()), time.monotonic() - began
    )
    save_reference_model(model, CONFIG, named, hf)
    return model
