"""The replication bundle of an instrument: all that a study made with it, in one file to give away."""

import dagster as dg

from valuesassets.desk.staleness import WRITTEN, all_hashes, hashes_of
from valuesassets.orchestration.assets.analyses import GROUP
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.report import what_a_report_reads
from valuesassets.orchestration.first_look.shown import SUMMARY
from valuesassets.orchestration.instruments import Instrument, declare_own_tables
from valuesassets.orchestration.resources import Storage
from valuesassets.records.study import Study


def bundle_asset(study: Study, instrument: Instrument) -> dg.AssetsDefinition:
    """The zip that follows the instrument's report; it writes its file itself."""

    @declare(
        study,
        instrument,
        GROUP,
        docs="take_it_away",
        reads=what_a_report_reads(study, instrument),
        entries=("families", "languages"),
        deps=[instrument.key("report")],
        kinds={"file", "zip"},
    )
    def replication_bundle(context: dg.AssetExecutionContext, storage: Storage) -> dg.MaterializeResult:
        """Tables as parquet, CSV, Stata and SPSS files, figures, prompts, report and hashes: one zip to give away."""
        from valuesassets.reporting.replication_bundle import write_bundle

        declare_own_tables()
        path = storage.path(context.asset_key, None, "zip")
        names = write_bundle(
            path,
            study,
            storage.folder,
            {instrument.name: [part.name for part in instrument.parts_of(study)]},
            all_hashes(context.instance, storage.folder),
        )
        summary = f"{len(names)} files, {path.stat().st_size / 1e6:.1f} MB"
        hashes = hashes_of([path], path.parent)
        return dg.MaterializeResult(
            metadata={SUMMARY: summary, "path": dg.MetadataValue.path(str(path)), WRITTEN: hashes}
        )

    return replication_bundle
