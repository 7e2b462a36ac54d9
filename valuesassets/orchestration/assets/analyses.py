"""The assets of an instrument's analyses: what can be trusted, single items, and one asset per analysis."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import dagster as dg
import pandas as pd

from valuesassets.orchestration import checks
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.first_look import lines, pictures
from valuesassets.orchestration.first_look.shown import picture_of
from valuesassets.orchestration.grid.left_out import overrides_of
from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.io_managers import table_of
from valuesassets.orchestration.partitions import own_partition
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData
from valuesassets.records.parquet import table_metadata
from valuesassets.records.study import Study
from valuesassets.records.tables import PROBE_DISTRIBUTIONS
from valuesassets.reporting.analyses import RESTS_ON, Analysis, Rules, derived, line_of, named_figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Probes = dict[tuple[str, str], pd.DataFrame]
Frames = dict[str, pd.DataFrame]
Judge = Callable[[Storage], tuple[list[dict[str, Any]], int]]
Offered = Mapping[str, Callable[[], Any]]
Offer = Callable[..., Offered]
JudgeTables = Callable[[Any, Offered], tuple[list[dict[str, Any]], int]]
"""Gives a check's failing rows, of an asset's tables and of what these were derived from."""
GROUP = "analyses"


def analysis_assets(
    study: Study,
    instrument: Instrument,
    analyses: Mapping[str, Analysis],
    others: Mapping[checks.Sentence, Judge],
    many: Sequence[str] = (),
) -> list[dg.AssetsDefinition]:
    """The quality report, single items, and an asset for each analysis; of a partial grid they name what is missing.

    Args:
        others: what the quality report judges beside the quality of answers: by sentence, what gives its failing rows
            and how many things were looked at.
        many: assets of the instrument that analyses take, given as a dict of the partitions that exist.
    """
    declared = partial(
        declare,
        study,
        instrument,
        GROUP,
        step="analysis",
        entries=("families", "languages"),
        many=["probe_distributions", "preflight", *many],
    )
    offer = partial(_offered, study, instrument=instrument)
    return [
        quality_report_asset(declared, study, instrument, others),
        item_statistics_asset(declared, study, instrument),
        *(analysis_asset(declared, study, name, analysis, offer) for name, analysis in analyses.items()),
    ]


def quality_report_asset(
    declared: Callable[..., Any], study: Study, instrument: Instrument, others: Mapping[checks.Sentence, Judge]
) -> dg.AssetsDefinition:
    """What can be trusted; see `analysis_assets`."""

    @declared(
        docs="analyses",
        line=lines.quality_line,
        reads=("thresholds", "preflight"),
        modules=["valuesassets.answers.preflight"],
        checks=[checks.CELLS_CAN_BE_TRUSTED, *others],
        io_manager_key="frames",
    )
    def quality_report(
        context: dg.AssetExecutionContext, storage: Storage, probe_distributions: Probes, preflight: dict[str, Any]
    ) -> dg.MaterializeResult[Frames]:
        """Which cells and questions can be trusted, which not and why, and what is missing."""
        from valuesassets.answers.preflight import left_out_parts
        from valuesassets.answers.quality_report import report_quality
        from valuesassets.figures.p_valid_heatmap import draw_p_valid_heatmap

        probe, rules = concatenated(probe_distributions), study.thresholds
        left_out = {
            (family, part): reason
            for family, verdict in preflight.items()
            for part, reason in left_out_parts(verdict, overrides_of(study, instrument, family)).items()
        }
        quality = report_quality(probe, study.cells(), rules, left_out)
        cells, questions = quality.cells, quality.questions
        is_doubtful = cells.is_missing | cells.is_flagged
        doubtful = cells.loc[is_doubtful, ["model", "language", "reason"]].to_dict("records")
        dropped = questions.loc[questions.is_dropped, ["question_id", "reason"]].to_dict("records")
        ids = [row["question_id"] for row in dropped]
        figures = {}
        if len(probe):
            figures["p_valid_heatmap"] = draw_p_valid_heatmap(probe, rules.p_valid_question, ids, study.is_planted)
        return dg.MaterializeResult(
            value=quality.frames(),
            metadata=saved_figures(storage.path(context.asset_key, None, "png").parent, figures)
            | {"cells": table_of(cells.to_dict("records"))},
            check_results=[
                checks.CELLS_CAN_BE_TRUSTED.result(doubtful + dropped, len(cells) + len(questions)),
                *(sentence.result(*judge(storage)) for sentence, judge in others.items()),
            ],
        )

    return quality_report


def item_statistics_asset(declared: Callable[..., Any], study: Study, instrument: Instrument) -> dg.AssetsDefinition:
    """Statistics of single answers."""

    @declared(
        docs="analyses",
        line=lines.statistics_line,
        picture=pictures.draw_statistics,
        reads=RESTS_ON,
        io_manager_key="frame",
    )
    def item_statistics(storage: Storage, probe_distributions: Probes, quality_report: Frames) -> Any:
        """Expected value, entropy, mode and concentration of every usable answer distribution."""
        from valuesassets.comparing.item_statistics import derive_item_statistics, no_item_statistics

        inputs = {"probe_distributions": probe_distributions, "quality_report": quality_report}
        offered = _offered(study, storage=storage, instrument=instrument, inputs=inputs)
        try:
            return derive_item_statistics(offered["grid"]())
        except MissingData as error:
            return no_item_statistics(str(error))

    return item_statistics


def analysis_asset(
    declared: Callable[..., Any],
    study: Study,
    name: str,
    analysis: Analysis,
    offer: Offer,
    judged: Mapping[checks.Sentence, JudgeTables] = MappingProxyType({}),
    rules: Rules | None = None,
    **options: Any,
) -> dg.AssetsDefinition:
    """The asset of one analysis; where the data do not allow it, the asset gives the reason.

    Args:
        declared: `declare` with what all analyses of the instrument have in common.
        offer: gives the arguments that its derivation may take, by parameter; of the storage, the asset's inputs and
            its partition.
        judged: by check, the function that gives its failing rows and how many things were looked at.
        rules: what its figures need to know, where that is not the study.
        options: what is declared besides.
    """
    is_one_table = analysis.stored != "frames"

    def make(context: dg.AssetExecutionContext, storage: Storage, **inputs: Any) -> dg.MaterializeResult[Any]:
        offered = offer(storage=storage, inputs=inputs, partition=own_partition(context))
        value: Any
        try:
            value = derived(analysis, offered)
        except MissingData as error:  # the data do not allow the analysis: the reason is the result
            if is_one_table:
                raise
            value = {"refused": pd.DataFrame({"reason": [str(error)]})}
        is_refused = not is_one_table and "refused" in value
        tables: Frames = {name: value} if is_one_table else value
        drawn = {} if is_refused else _drawn(analysis, tables, rules or study, offered)
        results = [
            sentence.result(*([], 0) if is_refused else judge(value, offered)) for sentence, judge in judged.items()
        ]
        return dg.MaterializeResult(
            value=value, metadata=saved_figures(figure_folder(context, storage), drawn), check_results=results
        )

    unworded = [replace(each, alt="", caption="") for each in analysis.drawings]
    make.__name__, make.__doc__ = name, analysis.about
    return declared(
        inputs=analysis.inputs,
        docs=analysis.docs,
        line=partial(line_of, analysis, inference=study.inference),
        reads=analysis.reads,
        modules=analysis.modules,
        wiring=repr([analysis.derive, analysis.needs, unworded]),
        io_manager_key=analysis.stored,
        kinds={*analysis.kinds},
        checks=[*judged],
        **options,
    )(make)


def offer_inputs(
    study: Study, *, storage: Storage, inputs: Mapping[str, Any], partition: str | None
) -> dict[str, Callable[[], Any]]:
    """The arguments that most derivations take: the study, and each input of the asset by its name."""
    return {name: partial(inputs.__getitem__, name) for name in inputs} | {"study": lambda: study}


def figure_folder(context: dg.AssetExecutionContext, storage: Storage) -> Path:
    """Where an asset's figures lie: beside its tables, those of each partition in a folder where there are several."""
    place = storage.path(context.asset_key, None, "png").parent
    partitions = context.assets_def.partitions_def
    is_alone = partitions is None or len(partitions.get_partition_keys()) == 1
    return place if is_alone else place / context.partition_key


def _offered(
    study: Study, *, storage: Storage, instrument: Instrument, inputs: Mapping[str, Any], partition: str | None = None
) -> Mapping[str, Callable[[], Any]]:
    """The arguments that a derivation may take, by the name of its parameter; see `Analysis.derive`."""
    human = inputs.get("human_distributions")

    def probe() -> pd.DataFrame:
        return concatenated(inputs.get("probe_distributions", {}))

    def usable() -> pd.DataFrame:
        """The answers that every analysis may rest on: the missing-values rule, applied in one place."""
        from valuesassets.answers.quality_report import QualityReport, usable_answers

        return usable_answers(probe(), QualityReport(**inputs["quality_report"]), by_wording=True)

    def grid():
        """The usable answers as arrays, with people's answers beside them where the asset takes these."""
        from valuesassets.comparing.answer_grid import answer_grid

        return answer_grid(usable(), human, study.thresholds.respondents)

    def n_parameters() -> dict[tuple[str, ...], int]:
        """The number of parameters of each cell's model, where its readings name it."""
        readings = storage.files(instrument.key("readings"), "parquet")
        counts = {tuple(name.split("/")): table_metadata(path).get("n_parameters") for name, path in readings.items()}
        return {cell: int(n) for cell, n in counts.items() if n is not None}

    return {name: lambda name=name: inputs[name] for name in inputs} | {
        "probe_distributions": probe,
        "study": lambda: study,
        "grid": grid,
        "answers": usable,
        "human": lambda: human,
        "n_parameters": n_parameters,
    }


def _drawn(
    analysis: Analysis, frames: Frames, rules: Rules, offered: Mapping[str, Callable[[], Any]]
) -> dict[str, "Figure"]:
    """The figures of an analysis by file name: that of the drawing, and of what it is of where there are several."""
    notes = list(map(str, frames["notes"]["note"])) if "notes" in frames else []
    drawn: dict[str, Figure] = {}
    for drawing in analysis.drawings:
        tables = {
            name: frames.get(name) if name in frames or name not in offered else offered[name]()
            for name in drawing.tables
        }
        drawn |= named_figures(drawing, tables, rules, notes)
    return drawn


def concatenated(probes: Probes) -> pd.DataFrame:
    """All cells in one frame; an empty one with the right columns where there are none."""
    frames = [frame.astype(object) for frame in probes.values()]
    if not frames:
        return PROBE_DISTRIBUTIONS.empty_frame()
    return pd.concat(frames, ignore_index=True).infer_objects()


def saved_figures(folder: Path, drawn: Mapping[str, "Figure"]) -> dict[str, Any]:
    """Metadata of figures written into a folder by their names, where those of an earlier run go."""
    from valuesassets.figures.saving import ENDINGS, save_figure

    for earlier in [each for ending in ENDINGS for each in folder.glob(f"*.{ending}")]:
        earlier.unlink()
    pictures = {name: picture_of(save_figure(figure, folder / name)) for name, figure in drawn.items()}
    place: dict[str, Any] = {"figures": dg.MetadataValue.path(str(folder))} if drawn else {}
    return place | pictures
