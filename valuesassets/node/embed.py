"""The job that turns texts into vectors: reads a list of texts, writes an array."""

import hashlib

from valuesassets.models.embedding import open_embedder
from valuesassets.node.progress import Progress
from valuesassets.records.errors import JobError
from valuesassets.records.files import read_json
from valuesassets.records.jobs import EmbedJob
from valuesassets.records.parquet import write_table
from valuesassets.records.seals import write_array
from valuesassets.records.tables import EMBEDDED_TEXTS


def do(job: EmbedJob, progress: Progress) -> None:
    """Write the vectors of the job's texts, and a report on how each text was read if the job asks for one; ModelError,
    StorageError or JobError where the embedder or the texts cannot be read."""
    progress.stand = lambda: "before its vectors were written; a new attempt begins anew"
    texts = read_json(job.texts)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise JobError(f"{job.texts}: an array of texts was expected; write one")
    embedder = open_embedder(job.model, job.revision, job.prefix)
    store = embedder.open_known(job.known, progress.say) if job.known else None
    if store is not None:
        progress.stand = lambda: f"with {embedder.kept(texts, store)} of {len(texts)} vectors kept; a new one goes on"
    embedded = embedder.embed(
        texts,
        normalise=job.normalise,
        store=store,
        on_progress=lambda done, total: progress.count("embedded", done, total),
    )
    if job.report:
        hashes = (hashlib.sha256(text.encode()).hexdigest() for text in texts)
        rows = [
            {"text_sha256": sha256, "n_tokens": n, "is_truncated": cut}
            for sha256, n, cut in zip(hashes, embedded.n_tokens, embedded.is_truncated, strict=True)
        ]
        write_table(job.report, rows, EMBEDDED_TEXTS, embedder.describe() | {"normalise": job.normalise})
    write_array(job.vectors, embedded.vectors)
    cut = sum(embedded.is_truncated)
    shortened = f", {cut} of them longer than it reads and cut" if cut else ""
    progress.say(f"{job.model}: {len(texts)} texts{shortened}, {embedded.vectors.shape[1]} dimensions")
