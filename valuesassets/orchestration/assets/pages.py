"""Pages made of an instrument's tables: what they are of, and what the UI shows of them."""

from typing import TYPE_CHECKING

import dagster as dg

from valuesassets.orchestration.first_look.shown import SUMMARY, link_to
from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.partitions import own_partition
from valuesassets.orchestration.resources import Storage
from valuesassets.records.parquet import table_metadata
from valuesassets.records.study import Study

if TYPE_CHECKING:
    from valuesassets.reporting.page_parts import Page


def page_of(study: Study, storage: Storage, instrument: Instrument) -> "Page":
    """What an instrument's page is of, with the cells that answers come from, as their files name them."""
    from valuesassets.reporting.page_parts import Page, origins
    from valuesassets.reporting.run import software_versions

    cells = {str(cell) for cell in instrument.cells(study)}
    files = storage.files(instrument.asked, "parquet")
    identities = {name: table_metadata(path) for name, path in files.items() if name in cells}
    versions = software_versions(identities.values())
    return Page(study.name, study.title, study.is_planted, origins(identities), versions, study.by_plan)


def shown_page(context: dg.AssetExecutionContext, storage: Storage, text: str) -> dg.MaterializeResult[str]:
    """A page as its asset's value, with a link to it."""
    opened = storage.path(context.asset_key, own_partition(context), "html")
    said = {SUMMARY: f"one page of {len(text) / 2**20:.1f} MiB", "open": link_to(storage, opened)}
    return dg.MaterializeResult(value=text, metadata=said)
