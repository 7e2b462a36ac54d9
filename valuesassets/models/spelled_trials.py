"""Trials with the spellings of their labels, and the keys under which their readings are stored."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from valuesassets.models.loaded_model import ROOMS, OpenedModel
from valuesassets.models.prompting import show_trial
from valuesassets.records.errors import TokenizerError
from valuesassets.records.files import sha256_json
from valuesassets.records.trials import Reading, Record, Status, Trial
from valuesassets.spelling.spellings import SpelledPrompt, spell_labels

SCORER_VERSION = "3"
"""Changes whenever a reading of the same model and trial may come out differently."""
WINDOWED_VERSION = "2"
"""The same for models with windowed layers, so that stored readings of other models stay valid."""
TRIAL = "{trial}"
"""Placeholder for the trial's name in the reason of a failed reading, which several trials may share."""


@dataclass(frozen=True)
class SpelledTrial:
    """A trial with the spellings of its labels, and the key under which its reading is stored."""

    trial: Trial
    spelled: SpelledPrompt
    key: str

    @property
    def trial_id(self) -> str:
        """The id of its trial."""
        return self.trial.trial_id

    def own(self, record: Reading, model: str) -> Reading:
        """A stored reading as this trial's: with its id, and a reason, if it failed, that names model and trial."""
        named = f"trial {self.trial_id} ({self.trial.language}, order {self.trial.order})"
        return replace(record, trial_id=self.trial_id, reason=named_reason(record, model, named))


def spell_trials(opened: OpenedModel, trials: Sequence[Trial]) -> list[SpelledTrial | Reading]:
    """Spellings and reading key of every trial, without weights; a failed reading where one cannot be asked."""
    entries: list[SpelledTrial | Reading] = []
    for trial in trials:
        try:
            spelled = spell_labels(opened.tokenizer, show_trial(opened, trial).text, trial.labels)
            longest = len(spelled.prompt_ids) + max(map(len, spelled.trie.inner_nodes))
            require_room(opened, longest)
        except TokenizerError as error:
            key = hash_key(opened, trial.prompt, trial.labels, *shown_by(opened, trial))
            entries.append(replace(failed(key, str(error)), trial_id=trial.trial_id))
        else:
            entries.append(SpelledTrial(trial, spelled, reading_key(opened, spelled)))
    return entries


def require_room(opened: OpenedModel, tokens: int, bound: str = "") -> None:
    """Raise a TokenizerError if a model has no room for so many tokens; `bound` are words before the number."""
    room = opened.least_setting(ROOMS)
    if room is not None and tokens > room:
        raise TokenizerError(f"prompt and answer take {bound}{tokens} tokens, {opened.model_id} reads {room} at most")


def reading_key(opened: OpenedModel, spelled: SpelledPrompt) -> str:
    """Hash of everything that a reading depends on: the same key, the same reading."""
    return hash_key(opened, spelled.prompt_ids, spelled.spellings)


def model_key(opened: OpenedModel) -> str:
    """Hash of the model as it is run: weights, tokenizer, dtype, kind of device and this scorer."""
    kind = "cpu" if opened.device == "cpu" else "gpu"
    run = [SCORER_VERSION, opened.weights_id, opened.tokenizer.sha256, opened.dtype, kind]
    windowed = [WINDOWED_VERSION] if opened.window else []
    return sha256_json([*run, *windowed, *ended_by(opened)])


def ended_by(opened: OpenedModel) -> list[object]:
    """What a chat adds to every key: the tokens that end a turn, since they end answers and are in no other hash."""
    return [sorted(opened.template.turn_ends)] if opened.template else []


def shown_by(opened: OpenedModel, trial: Trial) -> list[object]:
    """What a chat adds to the key of a trial that cannot be asked and therefore has no tokens to hash."""
    return [opened.describe()["prompting"], trial.chat] if opened.prompting.is_chat else []


def hash_key(opened: OpenedModel, *question: object) -> str:
    """Hash of the model as it is run and of the question."""
    return sha256_json([model_key(opened), *question])


def failed(key: str, reason: str) -> Reading:
    """A reading that could not be made; `TRIAL` in its reason stands for the trial that asked for it."""
    return Reading("", None, None, None, None, (), Status.FAILED, reason, key)


def named_reason(reading: Record, model: str, named: str) -> str | None:
    """The reason of a record: of a failed one with `TRIAL` replaced by the trial's name, behind the model's."""
    if reading.status is not Status.FAILED or reading.reason is None:
        return reading.reason
    return f"{model}: {reading.reason.replace(TRIAL, named)}"
