"""Trials put to a model, each kind of readout in its own way: what is known of them costs no pass."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol

from valuesassets.models.answer_certificate import GenerationCertificate
from valuesassets.models.certificate import Certificate
from valuesassets.models.generating import prepare_answers, write_answers
from valuesassets.models.known_readings import Known, KnownAnswers, KnownReadings
from valuesassets.models.loading import LoadedModel, OpenedModel
from valuesassets.models.prompting import first_shown, require_askable, require_no_thought
from valuesassets.models.reading_pass import OnProgress
from valuesassets.models.scoring import score_spelled
from valuesassets.models.spans.entries import SpanEntry, prepare_spans
from valuesassets.models.spans.scoring import score_spans
from valuesassets.models.spelled_trials import model_key, spell_trials
from valuesassets.records.errors import ScoringError, StorageError
from valuesassets.records.files import sha256_json
from valuesassets.records.parquet import read_answers, read_readings, reading_rows, write_table, written_rows
from valuesassets.records.readouts import Generate, Readout, ScoreLabels, ScoreSpans
from valuesassets.records.table import Table
from valuesassets.records.tables import ANSWERS, READINGS
from valuesassets.records.thoughts import unasked_thought
from valuesassets.records.trials import Answer, Record, Trial

EXACT_DTYPES = ("float32", "float64")
"""In which the rounding of weights and logits moves no share that anybody looks at."""


class Entry(Protocol):
    """What a model is to be asked, prepared for its tokenizer; one record comes of it."""

    @property
    def key(self) -> str:
        """What its record is known by."""
        ...

    def own(self, record: Any, model: str) -> Record:
        """A record of its key as this entry's: under the id of its trial, and its reason naming model and trial."""
        ...


class Asked(Protocol):
    """What came of asking."""

    @property
    def records(self) -> Sequence[Record]:
        """One for each entry, in their order."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What a person should know, in words."""
        ...

    @property
    def doubt(self) -> str | None:
        """Why the records depend on what was asked beside them, in words; None where they do not."""
        ...

    @property
    def refusal(self) -> str | None:
        """Why none of the records can be kept, in words; None where they can."""
        ...

    def describe(self) -> dict[str, object]:
        """How they were made, as it goes into a file's metadata: a function of model and trials alone."""
        ...


@dataclass(frozen=True)
class Way:
    """How trials of one readout are put to a model.

    Attributes:
        prepare: entries in the order of the trials, without weights; one that cannot be asked is already its record.
        ask: the records of all entries; what is known is left out, what is new is kept batch by batch.
        known: the store that its records are kept in.
        certificate: what says whether they depend on what was asked beside them.
        table, rows, read_file: how they are written, and read again.
        verb, things: what is said of it while it runs, as in `scored 24/66` and `readings`.
    """

    prepare: Callable[[OpenedModel, Sequence[Trial]], Sequence[Any]]
    ask: Callable[[LoadedModel, Sequence[Any], OnProgress | None, Any], Asked]
    known: type[Known[Any]]
    certificate: type[Certificate] | type[GenerationCertificate]
    table: Table
    rows: Callable[[Sequence[Any]], Sequence[Mapping[str, object]]]
    read_file: Callable[[Path], Sequence[Record]]
    verb: str
    things: str


WAYS: dict[type[Readout], Way] = {
    ScoreLabels: Way(
        spell_trials,
        lambda loaded, spelled, tick, known: score_spelled(loaded, spelled, tick, known=known),
        KnownReadings,
        Certificate,
        READINGS,
        reading_rows,
        read_readings,
        "scored",
        "readings",
    ),
    Generate: Way(
        prepare_answers,
        lambda loaded, entries, tick, known: write_answers(loaded, entries, tick, known),
        KnownAnswers,
        GenerationCertificate,
        ANSWERS,
        written_rows,
        read_answers,
        "answered",
        "answers",
    ),
    ScoreSpans: Way(
        prepare_spans,
        score_spans,
        KnownReadings,
        Certificate,
        READINGS,
        reading_rows,
        read_readings,
        "scored",
        "readings",
    ),
}


class Asking:
    """A list of trials, at least one and all of one readout, put to one model."""

    def __init__(self, opened: OpenedModel, trials: Sequence[Trial]) -> None:
        require_askable(opened, trials)
        self.way, self.opened, self.trials = way_of(trials), opened, trials
        self.entries = self.way.prepare(opened, trials)

    @property
    def verb(self) -> str:
        """What is done to the trials, as in `scored 24/66`."""
        return self.way.verb

    @property
    def things(self) -> str:
        """What comes of them."""
        return self.way.things

    def open_known(self, folder: Path, warn: Callable[[str], None] | None = None) -> Known[Any]:
        """What is known of the model in a folder that serves any number of them; damage is told to `warn`."""
        return self.way.known(folder / model_key(self.opened)[:16], warn)

    def kept(self, known: Known[Any]) -> int:
        """How many records are known."""
        return sum(known.get(entry.key) is not None for entry in self.entries)

    def plan(self, known: Known[Any] | None) -> str:
        """What asking would come to, in words."""
        failed = [entry for entry in self.entries if isinstance(entry, Record)]
        why = f" (the first because: {failed[0].reason})" if failed else ""
        kept = self.kept(known) if known else 0
        return f"{len(self.entries)} {self.way.things}, of them {kept} known and {len(failed)} that cannot be made{why}"

    def is_written(self, path: Path) -> bool:
        """Whether a whole file holds these records; one that failed, but not for its tokenizer, is tried again."""
        try:
            written = self.way.read_file(path)
        except StorageError:
            return False
        hopeless = {entry.key for entry in self.entries if isinstance(entry, Record)}
        wanted = [(entry.trial_id, entry.key) for entry in self.entries]
        return wanted == [(record.trial_id, record.key) for record in written] and all(
            (record.is_final or record.key in hopeless) and not _holds_thought(record) for record in written
        )

    def recall(self, known: Known[Any]) -> tuple[list[Record], dict[str, object]] | None:
        """The records and how they were made, where all of that is known; None where it is not."""
        described, records = known.description(self._list_key), list[Record]()
        for entry in self.entries:
            record = entry if isinstance(entry, Record) else known.get(entry.key)
            if record is None or described is None:
                return None
            records.append(entry if isinstance(entry, Record) else entry.own(record, self.opened.model_id))
        return records, self._noted(dict(described or {}) | self._describe())  # the weights may lie elsewhere now

    def ask(
        self, loaded: LoadedModel, on_progress: OnProgress | None = None, known: Known[Any] | None = None
    ) -> tuple[Asked, dict[str, object]]:
        """What came of asking, and how: no clock in it, so that the same model and trials give the same bytes.

        Raises:
            ScoringError, TokenizerError: not one trial could be asked, or answers change with the batch so far that
                results would show it; says why.
        """
        if loaded.model.get_output_embeddings() is None:
            raise ScoringError(f"{loaded.model_id}: no output embedding; a causal language model was expected")
        require_no_thought(loaded, self._askable())
        asked = self.way.ask(loaded, self.entries, on_progress, known)
        if asked.refusal:
            if known:
                known.forget(entry.key for entry in self.entries)
            what_to_do = "report it" if self.opened.dtype in EXACT_DTYPES else "ask for float32"
            raise ScoringError(f"{self.opened.model_id}: {asked.refusal}; {what_to_do}")
        described = loaded.describe() | self._describe() | asked.describe()
        if known:
            known.describe(self._list_key, described)
        return asked, self._noted(described)

    def cautions(self, described: Mapping[str, Any]) -> list[str]:
        """What a person should know of records that were described so, known before or not: notes, and any doubt."""
        told, names = described["batch_invariance"], {part.name for part in fields(self.way.certificate)}
        doubt = self.way.certificate(**{name: value for name, value in told.items() if name in names}).doubt
        less = "" if described["dtype"] in EXACT_DTYPES else "; float32 moves less"
        return [*described["notes"], *([f"warning: {doubt}{less}"] if doubt else [])]

    def _askable(self) -> list[Trial]:
        """The trials that something can be asked of."""
        asked = (entry for entry in self.entries if not isinstance(entry, Record))
        trials = (entry.text.shown.trial if isinstance(entry, SpanEntry) else entry.trial for entry in asked)
        return list({id(trial): trial for trial in trials}.values())

    def write(self, path: Path, records: Sequence[Record], described: Mapping[str, object]) -> None:
        """Write the records and what describes them, whole or not at all."""
        write_table(path, self.way.rows(records), self.way.table, described)

    @property
    def _list_key(self) -> str:
        """Hash of what the trials ask, in order: what describes how they were read is filed under it."""
        begun = [self.opened.tokenizer.bos_rule, *([self._describe()] if self.opened.template else [])]
        return sha256_json([*begun, *(entry.key for entry in self.entries)])

    def _noted(self, described: dict[str, object]) -> dict[str, object]:
        """What describes the records, with what the chat template says that nobody asked for."""
        template, notes = self.opened.template, described.get("notes")
        caution = template.caution if template is not None else None
        return described | {"notes": [*notes, caution]} if caution and isinstance(notes, list) else described

    def _describe(self) -> dict[str, object]:
        """What names the model, and in a chat the first prompt as it is shown."""
        shown = first_shown(self.opened, self.trials) if self.opened.template else None
        return {**self.opened.describe(), **({"first_prompt": shown.text} if shown else {})}


def _holds_thought(record: Record) -> bool:
    """Whether an answer was written down when thoughts were not looked for."""
    return isinstance(record, Answer) and unasked_thought(record) is not None


def way_of(trials: Sequence[Trial]) -> Way:
    """How the trials of a file are put to a model."""
    return WAYS[type(trials[0].readout)]
