"""`Job`: the work of a compute node as one JSON file; the same file runs locally and on Slurm."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

import pydantic

from valuesassets.records.errors import JobError
from valuesassets.records.faults import describe_faults
from valuesassets.records.readouts import Generate, Readout
from valuesassets.records.seals import read_record, write_record
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.prompting import AS_TEXT, Prompting
from valuesassets.records.trials import BosRule

EXIT_INTERRUPTED = 75
"""Exit status of a job that SIGTERM stopped (EX_TEMPFAIL); a new attempt continues from the files it has written."""

Dtype = Literal["float32", "bfloat16", "auto"]
Device = Literal["cpu", "cuda", "auto"]


class _JobPart(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class _Cell(_JobPart):
    """One model to ask one file of trials (parquet, `TRIALS`)."""

    name: str
    """For people: `hplt2c/deu`."""
    model: str
    """Hub id or absolute folder."""
    revision: str | None = None
    bos: BosRule = "template"
    """How every prompt begins."""
    prompting: Prompting = AS_TEXT
    """How trials are shown to the model: as bare text, or as a chat."""
    trials: Path


class _AskedCell(_Cell):
    endpoint: Endpoint | None = None
    """The API behind which the model stands; `model` is its name there. Such a job needs the network and never runs on
    Slurm."""
    model_stamp: str | None = None
    """Changes with the files in the model's folder, so that an earlier job's result is not mistaken for this job's. The
    store of readings uses the weights' hash instead."""

    @pydantic.model_validator(mode="after")
    def _fits_endpoint(self) -> Self:
        if self.endpoint is not None:
            self.endpoint.check(self.prompting)
            if self.revision is not None or self.bos != "template":
                raise ValueError("revision and bos are for models that are loaded, not for an endpoint; leave them out")
        return self


class ScoreCell(_AskedCell):
    """One model to ask one file of trials, and where its readings go (parquet, `READINGS`)."""

    readings: Path

    @pydantic.model_validator(mode="after")
    def _shows_probabilities(self) -> Self:
        if self.endpoint is not None and not self.endpoint.shows_probabilities:
            raise ValueError(
                "endpoint: route = 'sampled' asks for no probabilities; ask by Generate, in a job of kind generate, or "
                "name another route"
            )
        return self

    @property
    def output(self) -> Path:
        """The file that it writes."""
        return self.readings


class GenerateCell(_AskedCell):
    """One model to let answer one file of trials, and where its answers go (parquet, `ANSWERS`)."""

    answers: Path
    is_drawn: bool = pydantic.Field(default=False, exclude_if=lambda is_drawn: not is_drawn)
    """Whether answers are draws whose shares are counted: no request is sent twice to compare its answers."""

    @property
    def output(self) -> Path:
        """The file that it writes."""
        return self.answers


AnyCell = TypeVar("AnyCell", ScoreCell, GenerateCell)


class _CellsJob(_JobPart, Generic[AnyCell]):
    cells: Annotated[tuple[AnyCell, ...], pydantic.Field(min_length=1)]
    known_readings: Path | None = None
    """Folder of readings and answers of all earlier jobs; without it an interrupted cell starts again."""
    failures: Path | None = None
    """JSON, {name of a cell: why it failed, in one line}: written whenever a cell fails and at the job's end ({} if
    none failed); absent before that, and if the job could not start."""
    dtype: Dtype = "auto"
    device: Device = "auto"
    offline: bool = False
    """Whether hub models come from this machine's cache only."""

    @pydantic.field_validator("cells")
    @classmethod
    def _names_differ(cls, cells: tuple[AnyCell, ...]) -> tuple[AnyCell, ...]:
        repeated = [name for name, times in Counter(cell.name for cell in cells).items() if times > 1]
        if repeated:
            raise ValueError(f"two cells are named {repeated[0]}; give each a name of its own")
        return cells


class ScoreJob(_CellsJob[ScoreCell]):
    """Read the trials of every cell; the cells of one model stand together, so that it is loaded once.

    Relative paths in a job file of any kind count from the working directory of its process.
    """

    kind: Literal["score"] = "score"


class GenerateJob(_CellsJob[GenerateCell]):
    """Let models write answers to the trials of every cell; otherwise like a `ScoreJob`."""

    kind: Literal["generate"] = "generate"


AskingJob = ScoreJob | GenerateJob
"""A job that asks models the trials of cells."""


def kind_of_job(readout: Readout) -> Literal["score", "generate"]:
    """The kind of job that asks trials with this readout."""
    return "generate" if isinstance(readout, Generate) else "score"


def needs_network(job: "Job") -> bool:
    """Whether a job needs the network: it runs on this machine, since nodes of a cluster have none."""
    is_asked_elsewhere = isinstance(job, AskingJob) and any(cell.endpoint is not None for cell in job.cells)
    return is_asked_elsewhere or isinstance(job, FetchWeightsJob)


class PhantomPlan(_JobPart):
    """A reference model to train into `folder`, on texts or transcripts planted in these languages."""

    planted_texts: Path | None = None
    """Answers to prompts (parquet, `PLANTED_TEXTS`)."""
    planted_transcripts: Path | None = None
    """Transcripts of made-up people (parquet, `PLANTED_TRANSCRIPTS`)."""
    languages: tuple[str, ...]
    folder: Path

    @pydantic.model_validator(mode="after")
    def _is_planted(self) -> Self:
        if (self.planted_texts is None) == (self.planted_transcripts is None):
            raise ValueError("planted_texts or planted_transcripts is what a model learns from; name one of them")
        return self


class TrainReferenceJob(_JobPart):
    """Train tiny models to give their planted answers; a model that exists already with the same hash is skipped."""

    kind: Literal["train_reference"] = "train_reference"
    phantoms: Annotated[tuple[PhantomPlan, ...], pydantic.Field(min_length=1)]
    steps: int
    """Most passes over a model's prompts; with transcripts, the number of batches."""
    seed: int
    summary: Path
    """JSON, written last: {"phantoms": [{folder, languages, hash, is_skipped, loss, steps, seconds}, ...]}."""


class SampleCell(_Cell):
    """One model that answers one file of trials freely, into `answers` (parquet, `SAMPLED_ANSWERS`)."""

    dtype: Dtype = "float32"
    device: Device = "auto"
    answers: Path

    @pydantic.model_validator(mode="after")
    def _is_bare_text(self) -> "SampleCell":
        if self.prompting.is_chat:
            raise ValueError("prompting: answers are drawn to bare texts; leave it out, or ask the model to generate")
        return self


class SampleJob(_JobPart):
    """Draw answers to the prompts of every cell, token by token at temperature 1."""

    kind: Literal["sample"] = "sample"
    cells: Annotated[tuple[SampleCell, ...], pydantic.Field(min_length=1)]
    n: Annotated[int, pydantic.Field(gt=0)]
    """Answers to each prompt."""
    seed: int


class EmbedJob(_JobPart):
    """Turn texts (JSON, an array of them) into vectors (`.npy`, a row for each)."""

    kind: Literal["embed"] = "embed"
    model: str
    """Hub id or folder of a sentence-transformers model."""
    revision: str | None = None
    prefix: str | None = None
    """Text before each text; the model's own default, if it has one, if left out."""
    normalise: bool = True
    """Whether vectors are scaled to length one."""
    texts: Path
    vectors: Path
    report: Path | None = None
    """One row per text (parquet, `EMBEDDED_TEXTS`); its metadata name model, commit and prefix."""
    known: Path | None = None
    """Folder of the vectors of all earlier jobs; without it an interrupted job starts again."""


class HubModel(_JobPart):
    """A model that this machine needs: hub id (with a branch, tag or commit) or folder."""

    model: str
    revision: str | None = None


class FetchWeightsJob(_JobPart):
    """Download models whole into this machine's cache of the hub, unless they are there. Needs the network."""

    kind: Literal["fetch_weights"] = "fetch_weights"
    models: Annotated[tuple[HubModel, ...], pydantic.Field(min_length=1)]
    offline: bool = False
    """Whether nothing may be downloaded: the models have to be in the cache."""
    leave_free_gib: Annotated[float, pydantic.Field(ge=0)] = 2.0
    """Space that has to stay free on the disk of the cache, in GiB."""
    summary: Path
    """JSON, written last: {"models": [{model, revision, commit, stamp, folder, size, files, was_there, gguf,
    gguf_stamp}, ...], "cache", "free_gib"}; sizes are bytes, `commit` is null for a folder; `gguf` says which GGUF file
    a folder was made from, null for others."""


Job = ScoreJob | GenerateJob | TrainReferenceJob | SampleJob | EmbedJob | FetchWeightsJob
_JOB: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(Annotated[Job, pydantic.Field(discriminator="kind")])


def promised_files(job: Job) -> tuple[Path, ...]:
    """The files that a job has written when it is done; a job with cells writes one per cell, one after the other."""
    match job:
        case ScoreJob() | GenerateJob():
            return tuple(cell.output for cell in job.cells)
        case SampleJob():
            return tuple(cell.answers for cell in job.cells)
        case EmbedJob():
            return (job.vectors, job.report) if job.report else (job.vectors,)
        case _:
            return (job.summary,)


def write_job(path: Path, job: Job) -> None:
    """Write a job file whole or not at all."""
    write_record(path, job.model_dump(mode="json"))


def read_job(path: Path) -> Job:
    """The job of a file.

    Raises:
        JobError: an unknown kind or key, or a missing one; StorageError where the file is not JSON.
    """
    try:
        return _JOB.validate_python(read_record(path))
    except pydantic.ValidationError as error:
        raise JobError(f"{path}: {describe_faults(error.errors())}") from None
