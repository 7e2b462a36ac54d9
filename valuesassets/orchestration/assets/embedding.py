"""Texts as vectors: the node job that embeds them, each once, and what the UI shows of it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import dagster as dg
import numpy as np
from numpy.typing import NDArray

from valuesassets.orchestration.grid.node_jobs import run_node_job, shown_log
from valuesassets.orchestration.partitions import own_partition
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import write_json
from valuesassets.records.jobs import EmbedJob
from valuesassets.records.parquet import read_table, table_metadata
from valuesassets.records.seals import read_array
from valuesassets.records.study import Study
from valuesassets.records.tables import EMBEDDED_TEXTS


class Embedded(NamedTuple):
    """Vectors of texts, a row for each, whether only a text's beginning was read, and what the UI shows of the job."""

    vectors: NDArray[np.floating]
    is_truncated: NDArray[np.bool_]
    metadata: dict[str, Any]


def embed_texts(
    context: dg.AssetExecutionContext,
    study: Study,
    storage: Storage,
    texts: Iterable[str],
    model: str,
    revision: str | None = None,
    prefix: str | None = None,
) -> Embedded:
    """Embed texts by a sentence-transformers model (hub id or folder); a text that any asset has embedded before is not
    embedded again."""
    folder = storage.job_folder(context.asset_key, own_partition(context)).absolute()
    places: dict[str, int] = {}
    rows = np.array([places.setdefault(text, len(places)) for text in texts], dtype=np.intp)
    write_json(folder / "texts.json", list(places))
    job = EmbedJob(
        model=model,
        revision=revision,
        prefix=prefix,
        texts=folder / "texts.json",
        vectors=folder / "vectors.npy",
        report=(report := folder / "embedded_texts.parquet"),
        known=storage.known_readings,
    )
    log = run_node_job(context, job, study, storage)
    is_truncated = read_table(report, EMBEDDED_TEXTS).column("is_truncated").to_numpy(zero_copy_only=False)
    metadata = {f"node/{name}": value for name, value in table_metadata(report).items()}
    metadata |= {"texts": len(rows), "different_texts": len(places)}
    return Embedded(read_array(job.vectors)[rows], is_truncated[rows], metadata | shown_log(storage, log))
