"""Asks a model a list of trials, each kind of readout in its own way; stored records cost no forward pass."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from valuesassets.models.answer_certificate import GenerationCertificate
from valuesassets.models.certificate import Certificate
from valuesassets.models.generating import WrittenTrials, prepare_answers, write_answers
from valuesassets.models.known_readings import Known, KnownAnswers, KnownReadings
from valuesassets.models.loaded_model import LoadedModel, OpenedModel
from valuesassets.models.prompting import first_shown, require_askable, require_no_thought
from valuesassets.models.reading_pass import OnProgress
from valuesassets.models.scoring import Scored, score_spelled
from valuesassets.models.spans.entries import SpanEntry, prepare_spans
from valuesassets.models.spans.scoring import score_spans
from valuesassets.models.spelled_trials import model_key, spell_trials
from valuesassets.records.errors import ScoringError, StorageError
from valuesassets.records.files import sha256_json
from valuesassets.records.parquet import read_answers, read_readings, reading_rows, write_table, written_rows
from valuesassets.records.preambles import with_preambles
from valuesassets.records.readouts import Generate, Readout, ScoreLabels, ScoreSpans
from valuesassets.records.table import Table
from valuesassets.records.tables import ANSWERS, READINGS
from valuesassets.records.thoughts import unasked_thought
from valuesassets.records.trials import Answer, Record, Trial

EXACT_DTYPES = ("float32", "float64")
"""Dtypes in which rounding never changes a share visibly."""


@dataclass(frozen=True)
class Way:
    """How a model is asked trials of one readout.

    Attributes:
        prepare: gives entries in the order of the trials, without weights; a failed record where one cannot be asked.
        ask: gives the records of all entries; skips stored records, and stores new ones batch by batch.
        store: class of the store for its records.
        certificate: class of the certificate that says whether records depend on their batch.
        table, rows, read_file: how its records are written and read.
        verb, things: words for its progress, as in `scored 24/66` and `readings`.
    """

    prepare: Callable[[OpenedModel, Sequence[Trial]], Sequence[Any]]
    ask: Callable[[LoadedModel, Sequence[Any], OnProgress | None, Any], Scored | WrittenTrials]
    store: type[Known[Any]] = KnownReadings
    certificate: type[Certificate] | type[GenerationCertificate] = Certificate
    table: Table = READINGS
    rows: Callable[[Sequence[Any]], Sequence[Mapping[str, object]]] = reading_rows
    read_file: Callable[[Path], Sequence[Record]] = read_readings
    verb: str = "scored"
    things: str = "readings"


WRITTEN = (KnownAnswers, GenerationCertificate, ANSWERS, written_rows, read_answers, "answered", "answers")
WAYS: dict[type[Readout], Way] = {
    ScoreLabels: Way(spell_trials, score_spelled),
    Generate: Way(prepare_answers, write_answers, *WRITTEN),
    ScoreSpans: Way(prepare_spans, score_spans),
}


class Asking:
    """A list of trials, at least one and all of one readout, and the model that is asked them."""

    def __init__(self, opened: OpenedModel, trials: Sequence[Trial]) -> None:
        require_askable(opened, trials)
        self.way, self.opened = WAYS[type(trials[0].readout)], opened
        self.trials = with_preambles(trials, opened.prompting, opened.model_id)
        self.verb, self.things = self.way.verb, self.way.things
        self.entries = self.way.prepare(opened, self.trials)

    def open_known(self, folder: Path, warn: Callable[[str], None] | None = None) -> Known[Any]:
        """Open the model's store below a folder that holds the stores of any number of models; `warn` gets damage."""
        return self.way.store(folder / model_key(self.opened)[:16], warn)

    def kept(self, store: Known[Any]) -> int:
        """How many of the records are stored."""
        return sum(store.get(entry.key) is not None for entry in self.entries)

    def plan(self, store: Known[Any] | None) -> str:
        """How many records there will be, in words: stored ones, and ones that cannot be made."""
        failed = [entry for entry in self.entries if isinstance(entry, Record)]
        why = f" (the first because: {failed[0].reason})" if failed else ""
        stored = self.kept(store) if store else 0
        return f"{len(self.entries)} {self.things}, of them {stored} known and {len(failed)} that cannot be made{why}"

    def is_written(self, path: Path) -> bool:
        """Whether a whole file holds these records; a failed record counts only if its failure is the tokenizer's."""
        try:
            written = self.way.read_file(path)
        except StorageError:
            return False
        hopeless = {entry.key for entry in self.entries if isinstance(entry, Record)}
        expected = [(entry.trial_id, entry.key) for entry in self.entries]
        return expected == [(record.trial_id, record.key) for record in written] and all(
            (record.is_final or record.key in hopeless)
            # An earlier version did not look for thoughts.
            and not (isinstance(record, Answer) and unasked_thought(record) is not None)
            for record in written
        )

    def recall(self, store: Known[Any]) -> tuple[list[Record], dict[str, object]] | None:
        """The records and their description where all of that is stored, else None."""
        description, records = store.description(self._list_key), list[Record]()
        for entry in self.entries:
            record = entry if isinstance(entry, Record) else store.get(entry.key)
            if record is None or description is None:
                return None
            records.append(entry if isinstance(entry, Record) else entry.own(record, self.opened.model_id))
        return records, self._noted(dict(description or {}) | self._describe())  # the weights may have moved

    def ask(
        self, loaded: LoadedModel, on_progress: OnProgress | None = None, store: Known[Any] | None = None
    ) -> tuple[Scored | WrittenTrials, dict[str, object]]:
        """Ask the trials: their records, and a description without a clock, so that equal input gives equal bytes.

        Raises:
            ScoringError, TokenizerError: no trial could be asked, or answers change visibly with the batch; says why.
        """
        if loaded.model.get_output_embeddings() is None:
            raise ScoringError(f"{loaded.model_id}: no output embedding; a causal language model was expected")
        require_no_thought(loaded, self._askable())
        result = self.way.ask(loaded, self.entries, on_progress, store)
        if result.certificate.refusal:
            if store:
                store.forget(entry.key for entry in self.entries)
            what_to_do = "report it" if self.opened.dtype in EXACT_DTYPES else "ask for float32"
            raise ScoringError(f"{self.opened.model_id}: {result.certificate.refusal}; {what_to_do}")
        description = loaded.describe() | self._describe() | result.describe()
        if store:
            store.describe(self._list_key, description)
        return result, self._noted(description)

    def cautions(self, description: Mapping[str, Any]) -> list[str]:
        """What a person should know of records with this description: its notes, and any doubt of its certificate."""
        certificate, names = description["batch_invariance"], {part.name for part in fields(self.way.certificate)}
        doubt = self.way.certificate(**{name: value for name, value in certificate.items() if name in names}).doubt
        less = "" if description["dtype"] in EXACT_DTYPES else "; float32 moves less"
        return [*description["notes"], *([f"warning: {doubt}{less}"] if doubt else [])]

    def _askable(self) -> list[Trial]:
        """The trials that have an entry which can be asked."""
        entries = (entry for entry in self.entries if not isinstance(entry, Record))
        trials = (entry.text.view.trial if isinstance(entry, SpanEntry) else entry.trial for entry in entries)
        return list({id(trial): trial for trial in trials}.values())

    def write(self, path: Path, records: Sequence[Record], description: Mapping[str, object]) -> None:
        """Write the records and their description to a file, whole or not at all."""
        write_table(path, self.way.rows(records), self.way.table, description)

    @property
    def _list_key(self) -> str:
        """Hash of what the trials ask, in order: the key of the records' description in the store."""
        model = [self.opened.tokenizer.bos_rule, *([self._describe()] if self.opened.template else [])]
        return sha256_json([*model, *(entry.key for entry in self.entries)])

    def _noted(self, description: dict[str, object]) -> dict[str, object]:
        """A description, with notes about text that the chat template adds and about an adapter of another base."""
        notes, more = description.get("notes"), self.opened.cautions
        return description | {"notes": [*notes, *more]} if more and isinstance(notes, list) else description

    def _describe(self) -> dict[str, object]:
        """The model's description, and in a chat or behind a preamble the first prompt as the model sees it."""
        is_framed = self.opened.template or self.opened.prompting.preamble is not None
        first_prompt = first_shown(self.opened, self.trials) if is_framed else None
        return {**self.opened.describe(), **({"first_prompt": first_prompt.text} if first_prompt else {})}
