"""Reads what reference models are trained on: planted answers to prompts, or planted people's transcripts."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from valuesassets.models.follower_training import hash_follower, train_follower
from valuesassets.models.reference import Answers, hash_training, train_reference_model
from valuesassets.models.reference_folder import ReferenceModel
from valuesassets.records.errors import JobError
from valuesassets.records.files import no_such_file
from valuesassets.records.jobs import PhantomPlan
from valuesassets.records.parquet import read_table
from valuesassets.records.tables import PLANTED_TEXTS

OnPass = Callable[[int, float], None]


@dataclass(frozen=True)
class PlantedPrompts:
    """Planted answers to prompts."""

    answers: Answers
    unit: ClassVar[tuple[str, str]] = ("pass", "passes")

    @property
    def size(self) -> tuple[int, int]:
        """A size to compare: larger ones take longer to train."""
        return 0, len(self.answers)

    def __str__(self) -> str:
        return f"{len(self.answers)} prompts"

    def hash(self, steps: int, seed: int) -> str:
        """Hash of everything that the model is trained on."""
        return hash_training(self.answers, steps, seed)

    def train(self, folder: Path, steps: int, seed: int, on_pass: OnPass) -> ReferenceModel:
        """Train the model (see `train_reference_model`)."""
        return train_reference_model(self.answers, folder, steps, seed, on_pass)


@dataclass(frozen=True)
class PlantedPeople:
    """Planted transcripts; the training reads their file."""

    file: Path
    languages: tuple[str, ...]
    unit: ClassVar[tuple[str, str]] = ("batch", "batches")

    @property
    def size(self) -> tuple[int, int]:
        """A size to compare: larger ones take longer to train."""
        return 1, self.file.stat().st_size

    def __str__(self) -> str:
        return "transcripts"

    def hash(self, steps: int, seed: int) -> str:
        """Hash of everything that the model is trained on."""
        return hash_follower(self.file, self.languages, steps, seed)

    def train(self, folder: Path, steps: int, seed: int, on_pass: OnPass) -> ReferenceModel:
        """Train the model (see `train_follower`)."""
        return train_follower(self.file, self.languages, folder, steps, seed, on_pass)


Planted = PlantedPrompts | PlantedPeople


def read_planted(plans: Sequence[PhantomPlan]) -> dict[Path, Planted]:
    """What each model is trained on, by its folder; each file of texts is read once.

    Raises:
        JobError: texts are no distribution, or a language has none.
        StorageError: a file cannot be read.
    """
    texts = {path: _read_texts(path) for path in {plan.planted_texts for plan in plans} if path}
    planted: dict[Path, Planted] = {}
    for plan in plans:
        if plan.planted_texts:
            planted[plan.folder] = PlantedPrompts(_answers_of(plan, texts[plan.planted_texts]))
        elif plan.planted_transcripts:
            if not plan.planted_transcripts.is_file():
                raise JobError(no_such_file(plan.planted_transcripts))
            planted[plan.folder] = PlantedPeople(plan.planted_transcripts, plan.languages)
    return planted


def name_of(folder: Path) -> str:
    """The name of a model's folder in log lines."""
    return f"{folder.parent.name}/{folder.name}"


def _read_texts(path: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Answers by language and prompt."""
    texts: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    trial_ids: dict[tuple[str, str], str] = {}
    for row in read_table(path, PLANTED_TEXTS).to_pylist():
        language, prompt, trial_id = row["language"], row["prompt"], row["trial_id"]
        if trial_ids.setdefault((language, prompt), trial_id) != trial_id:
            raise JobError(
                f"{path}: {language}: trials {trial_ids[language, prompt]} and {trial_id} have the same prompt; "
                "no model can distinguish them"
            )
        answers = texts[language][prompt]
        if row["answer_text"] in answers or not row["answer_text"] or not row["prob"] >= 0:
            raise JobError(
                f"{path}: {language}: trial {trial_id}: answer {row['answer_text']!r} twice, empty or negative"
            )
        answers[row["answer_text"]] = row["prob"]
    for (language, prompt), trial_id in trial_ids.items():
        total = sum(texts[language][prompt].values())
        if abs(total - 1) > 1e-6:
            raise JobError(f"{path}: {language}: trial {trial_id}: answers sum to {total}, 1 was expected")
    return texts


def _answers_of(
    plan: PhantomPlan, texts: Mapping[str, Mapping[str, Mapping[str, float]]]
) -> dict[str, Mapping[str, float]]:
    answers: dict[str, Mapping[str, float]] = {}
    for language in plan.languages:
        if not texts.get(language):
            raise JobError(
                f"{plan.planted_texts}: no planted texts in {language}, which {name_of(plan.folder)} is to answer in"
            )
        for prompt, planted in texts[language].items():
            if answers.setdefault(prompt, planted) != planted:
                raise JobError(
                    f"{plan.planted_texts}: {language}: {prompt[:60]!r} has other planted answers in another language"
                )
    return answers
