"""The survey's analyses: what can be trusted, statistics, distances, the map and the report. All unpartitioned."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import pandas as pd

from valuesassets.orchestration import checks
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.code_versions import human_stamp
from valuesassets.orchestration.frame_types import (
    HUMAN_DISTRIBUTIONS_FRAME,
    HUMAN_MEANS_FRAME,
    ITEM_STATISTICS_FRAME,
    RESPONDENTS_FRAME,
)
from valuesassets.orchestration.io_managers import picture_of, table_of
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData
from valuesassets.records.files import read_json, sha256_file
from valuesassets.records.questions import Question, askable
from valuesassets.records.schemas import PROBE_DISTRIBUTIONS, table_metadata
from valuesassets.records.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    Figures = Mapping[str, Callable[[], Figure | None]]

    from valuesassets.instruments.survey.comparing.answer_grid import AnswerGrid

Probes = dict[tuple[str, str], pd.DataFrame]
Frames = dict[str, pd.DataFrame]

EXTRACTED_KEY, READINGS_KEY, CALIBRATION_KEY, CONTROLS_KEY = (
    dg.AssetKey(["survey", name]) for name in ("extracted_questions", "readings", "calibration", "negative_controls")
)
TRACED_KEYS = [dg.AssetKey(["survey", name]) for name in ("aligned_questions", "trials", "readings")]
"""What the report reads besides its inputs, for the provenance of the map's points."""


def analysis_assets(study: Study) -> list[dg.AssetsDefinition]:
    """From answer distributions to the report; a partial grid gives partial analyses that say what is missing."""
    group = "analyses"

    @declare(
        study,
        "survey",
        group,
        checks=[each.spec("quality_report") for each in (checks.CELLS_CAN_BE_TRUSTED, checks.EXTRACTIONS_ARE_SOUND)],
        many=["probe_distributions"],
        io_manager_key="frames",
        kinds={"parquet"},
    )
    def quality_report(
        context: dg.AssetExecutionContext, storage: Storage, probe_distributions: Probes
    ) -> dg.MaterializeResult[Frames]:
        """Which cells and questions can be trusted, which not and why, and what is missing."""
        from valuesassets.figures.p_valid_heatmap import draw_p_valid_heatmap
        from valuesassets.instruments.survey.quality_report import report_quality

        probe, rules = concatenated(probe_distributions), study.thresholds
        quality = report_quality(probe, study.cells(), rules)
        cells, questions = quality.cells, quality.questions
        is_doubtful = cells.is_missing | cells.is_flagged
        doubtful = cells.loc[is_doubtful, ["model", "language", "reason"]].to_dict("records")
        dropped = questions.loc[questions.is_dropped, ["question_id", "reason"]].to_dict("records")
        extracted = extraction_faults(storage, study)
        doubted = [
            {"language": language, "faults": len(faults), "checks": _counted(fault["check"] for fault in faults)}
            for language, faults in extracted.items()
            if faults
        ]
        return dg.MaterializeResult(
            value=quality.frames(),
            metadata=saved_figures(
                storage.path(context.asset_key, None, "png").parent,
                {
                    "p_valid_heatmap": lambda: (
                        draw_p_valid_heatmap(
                            probe, rules.p_valid_question, [row["question_id"] for row in dropped], study.is_planted
                        )
                        if len(probe)
                        else None
                    )
                },
            )
            | {"cells": table_of(cells.to_dict("records"))},
            check_results=[
                checks.CELLS_CAN_BE_TRUSTED.result(doubtful + dropped, len(cells) + len(questions)),
                checks.EXTRACTIONS_ARE_SOUND.result(doubted, len(extracted)),
            ],
        )

    @declare(
        study,
        "survey",
        group,
        stamp=human_stamp(study),
        many=["aligned_questions"],
        io_manager_key="frame",
        dagster_type=RESPONDENTS_FRAME,
        kinds={"parquet"},
    )
    def respondents(aligned_questions: dict[str, list[Question]]) -> Any:
        """People, one row each, with weight and answers; in the demo synthetic ones, drawn from the plants."""
        from valuesassets.instruments.survey.respondents import derive_respondents

        return with_notes(derive_respondents(study, askable_of(aligned_questions)))

    @declare(
        study,
        "survey",
        group,
        many=["aligned_questions"],
        io_manager_key="frame",
        dagster_type=HUMAN_DISTRIBUTIONS_FRAME,
        kinds={"parquet"},
    )
    def human_distributions(aligned_questions: dict[str, list[Question]], respondents: pd.DataFrame) -> Any:
        """Weighted answers of respondents per country."""
        from valuesassets.instruments.survey.human_distributions import derive_human_distributions

        return derive_human_distributions(respondents, study, askable_of(aligned_questions))

    @declare(
        study,
        "survey",
        group,
        stamp=human_stamp(study),
        many=["aligned_questions"],
        io_manager_key="frame",
        dagster_type=HUMAN_MEANS_FRAME,
        kinds={"parquet"},
    )
    def human_means(aligned_questions: dict[str, list[Question]], respondents: pd.DataFrame) -> Any:
        """Mean answers of people per country: of the respondents, or as they were published."""
        from valuesassets.instruments.survey.human_means import derive_human_means

        return with_notes(derive_human_means(respondents, study, askable_of(aligned_questions)))

    @declare(
        study,
        "survey",
        group,
        many=["probe_distributions"],
        io_manager_key="frame",
        dagster_type=ITEM_STATISTICS_FRAME,
        kinds={"parquet"},
    )
    def item_statistics(probe_distributions: Probes, quality_report: Frames) -> Any:
        """Expected value, entropy, mode and concentration of every usable answer distribution."""
        from valuesassets.instruments.survey.item_statistics import derive_item_statistics, no_item_statistics

        try:
            return derive_item_statistics(grid_of(probe_distributions, quality_report))
        except MissingData as error:
            return no_item_statistics(str(error))

    @declare(study, "survey", group, many=["probe_distributions"], io_manager_key="frames", kinds={"parquet"})
    def reliability(
        context: dg.AssetExecutionContext, storage: Storage, probe_distributions: Probes, quality_report: Frames
    ) -> Any:
        """How much of what sets a family's languages apart would come out again in other orders and wordings."""
        from valuesassets.figures.reliability import draw_reliability
        from valuesassets.instruments.survey.reliability import derive_reliability

        frames = frames_or_reason(
            lambda: derive_reliability(grid_of(probe_distributions, quality_report), study).frames()
        )
        return pictured(
            storage.path(context.asset_key, None, "png"),
            frames,
            lambda: draw_reliability(frames["families"], frames["components"], notes_in(frames), study.is_planted),
        )

    @declare(study, "survey", group, many=["probe_distributions"], io_manager_key="frames", kinds={"parquet"})
    def signal(
        context: dg.AssetExecutionContext,
        storage: Storage,
        probe_distributions: Probes,
        quality_report: Frames,
        human_distributions: pd.DataFrame,
    ) -> Any:
        """Whether a family's languages answer like their own countries, and whether scales or style only fake it."""
        from valuesassets.figures.signal import draw_signal
        from valuesassets.instruments.survey.signal import derive_signal

        frames = frames_or_reason(
            lambda: derive_signal(grid_of(probe_distributions, quality_report, human_distributions), study).frames()
        )
        return pictured(
            storage.path(context.asset_key, None, "png"),
            frames,
            lambda: draw_signal(frames["correlations"], frames["verdicts"], notes_in(frames), study.is_planted),
            "correlations",
        )

    @declare(study, "survey", group, many=["probe_distributions"], io_manager_key="frames", kinds={"parquet"})
    def position_bias(
        context: dg.AssetExecutionContext, storage: Storage, probe_distributions: Probes, quality_report: Frames
    ) -> Any:
        """How far the order of the options moves answers, against how far the language does."""
        from valuesassets.figures.order_effect import draw_order_effect
        from valuesassets.figures.position_bias_dist import draw_position_bias_dist
        from valuesassets.instruments.survey.position_bias import derive_position_bias

        sizes = {
            (model, language): int(found["n_parameters"])
            for name, path in storage.files(READINGS_KEY, "parquet").items()
            for model, _, language in [name.partition("/")]
            if "n_parameters" in (found := table_metadata(path))
        }
        frames = frames_or_reason(
            lambda: derive_position_bias(grid_of(probe_distributions, quality_report), study, sizes).frames()
        )
        probe, most = concatenated(probe_distributions), study.thresholds.position_bias
        return with_figures(
            storage.path(context.asset_key, None, "png").parent,
            frames,
            {
                "position_bias_dist": lambda: draw_position_bias_dist(probe, most, study.is_planted),
                "order_effect": lambda: draw_order_effect(frames["by_response_type"], study.is_planted),
            },
        )

    @declare(study, "survey", group, many=["probe_distributions"], io_manager_key="frames", kinds={"parquet"})
    def distances(
        context: dg.AssetExecutionContext, storage: Storage, probe_distributions: Probes, quality_report: Frames
    ) -> Any:
        """Distances between every two cells, what they go with, and the plane that MDS lays them on."""
        from valuesassets.figures.distance_structure import draw_distance_structure
        from valuesassets.figures.jsd_heatmap import draw_jsd_heatmap
        from valuesassets.figures.mds_map import draw_mds_map
        from valuesassets.figures.nearest_neighbours import draw_nearest_neighbours
        from valuesassets.instruments.survey.distances import derive_distances

        frames = frames_or_reason(
            lambda: derive_distances(grid_of(probe_distributions, quality_report), study).frames()
        )
        return with_figures(
            storage.path(context.asset_key, None, "png").parent,
            frames,
            {
                "jsd_heatmap": lambda: draw_jsd_heatmap(frames["pairs"], study.is_planted),
                "mds_map": lambda: draw_mds_map(frames["points"], study.is_planted) if len(frames["points"]) else None,
                "distance_structure": lambda: draw_distance_structure(
                    frames["groups"], frames["variance_shares"], study.is_planted
                ),
                "nearest_neighbours": lambda: (
                    draw_nearest_neighbours(frames["neighbour_counts"], study.is_planted)
                    if len(frames["neighbours"])
                    else None
                ),
            },
        )

    @declare(study, "survey", group, many=["probe_distributions"], io_manager_key="frames", kinds={"parquet"})
    def human_comparison(
        context: dg.AssetExecutionContext,
        storage: Storage,
        probe_distributions: Probes,
        quality_report: Frames,
        human_distributions: pd.DataFrame,
        human_means: pd.DataFrame,
    ) -> Any:
        """How far each cell's answers are from its own country's, beside the null baselines."""
        from valuesassets.figures.example_distributions import draw_example_distributions
        from valuesassets.figures.own_country_ranks import draw_own_country_ranks
        from valuesassets.instruments.survey.human_comparison import derive_human_comparison

        frames = frames_or_reason(
            lambda: derive_human_comparison(
                grid_of(probe_distributions, quality_report, human_distributions),
                human_distributions,
                study,
                human_means,
            ).frames()
        )
        probe = concatenated(probe_distributions)
        families = frames.get("own_country", pd.DataFrame())
        has_ranks = "n_cells" in families and sum(families["n_cells"]) > 0
        return with_figures(
            storage.path(context.asset_key, None, "png").parent,
            frames,
            {
                "own_country_ranks": lambda: (
                    draw_own_country_ranks(frames["cells"], families, study.is_planted) if has_ranks else None
                ),
                "example_distributions": lambda: draw_example_distributions(
                    probe, human_distributions if len(human_distributions) else None, planted=study.is_planted
                ),
            },
        )

    @declare(study, "survey", group, many=["probe_distributions"], io_manager_key="frames", kinds={"parquet"})
    def mono_vs_multi(
        context: dg.AssetExecutionContext,
        storage: Storage,
        probe_distributions: Probes,
        quality_report: Frames,
        human_distributions: pd.DataFrame,
    ) -> Any:
        """Own-country advantage of the monolingual against the multilingual family, paired by language."""
        from valuesassets.figures.frames import rows_where
        from valuesassets.figures.mono_vs_multi import draw_mono_vs_multi
        from valuesassets.instruments.survey.mono_vs_multi import derive_mono_vs_multi

        frames = frames_or_reason(
            lambda: derive_mono_vs_multi(
                grid_of(probe_distributions, quality_report, human_distributions), study
            ).frames()
        )

        def draw(mono: str, multi: str) -> Any:
            pairs, summary = (rows_where(frames[name], mono=mono, multi=multi) for name in ("pairs", "summary"))
            return draw_mono_vs_multi(pairs, summary, planted=study.is_planted)

        both = frames["pairs"][["mono", "multi"]].drop_duplicates() if "pairs" in frames else pd.DataFrame()
        return with_figures(
            storage.path(context.asset_key, None, "png").parent,
            frames,
            {
                "mono_vs_multi" + f"-{mono}-{multi}" * (len(both) > 1): lambda mono=mono, multi=multi: draw(mono, multi)
                for mono, multi in both.itertuples(index=False)
            },
        )

    @declare(
        study,
        "survey",
        group,
        many=["probe_distributions"],
        io_manager_key="frames",
        kinds={"png"},
    )
    def cultural_map(
        context: dg.AssetExecutionContext,
        storage: Storage,
        probe_distributions: Probes,
        quality_report: Frames,
        respondents: pd.DataFrame,
        human_distributions: pd.DataFrame,
        reliability: Frames,
    ) -> Any:
        """Models and countries on the Inglehart-Welzel axes, with the points of answers that carry no content."""
        from valuesassets.figures.cultural_map import draw_cultural_map
        from valuesassets.instruments.survey.cultural_map import place_on_map
        from valuesassets.instruments.survey.reliability import coefficients

        frames = frames_or_reason(
            lambda: place_on_map(
                usable(probe_distributions, quality_report, by_wording=True),
                human_distributions,
                study,
                respondents,
                coefficients(reliability),
            ).frames()
        )
        return pictured(
            storage.path(context.asset_key, None, "png"), frames, lambda: draw_cultural_map(frames["points"])
        )

    @declare(
        study,
        "survey",
        group,
        many=["questionnaire_pdf", "extracted_questions", "preflight", "probe_distributions"],
        deps=[
            *([CALIBRATION_KEY] * study.has_reference_models + [CONTROLS_KEY] * bool(study.control_families)),
            *TRACED_KEYS,
        ],
        io_manager_key="html",
        kinds={"html"},
    )
    def report(
        storage: Storage,
        questionnaire_pdf: dict[str, dict[str, Any]],
        extracted_questions: dict[str, list[Question]],
        master_questions: list[Question],
        preflight: dict[str, dict[str, Any]],
        probe_distributions: Probes,
        quality_report: Frames,
        human_distributions: pd.DataFrame,
        item_statistics: pd.DataFrame,
        reliability: Frames,
        signal: Frames,
        distances: Frames,
        human_comparison: Frames,
        mono_vs_multi: Frames,
        cultural_map: Frames,
    ) -> str:
        """One self-contained page: what can be claimed and what not, every figure, and where each point comes from."""
        from valuesassets.instruments.survey.calibration import describe_hardness, summarise_recovery
        from valuesassets.instruments.survey.report import Refused, render_report
        from valuesassets.instruments.survey.reporting.gates import derive_gates
        from valuesassets.instruments.survey.reporting.trace import trace_cells
        from valuesassets.instruments.survey.reporting.versions import software_versions

        faults = extraction_faults(storage, study)
        cells = {f"{model}/{language}" for model, language in study.cells()}
        calibrated, read = (storage.files(key, "parquet") for key in (CALIBRATION_KEY, READINGS_KEY))
        compared = [pd.read_parquet(path) for name, path in calibrated.items() if name in cells]
        recovery = Refused("no reference model was calibrated, so nothing says how exact the readings are")
        if compared:
            comparison = pd.concat(compared, ignore_index=True)
            recovery = {
                "comparison": comparison,
                "recovery": summarise_recovery(comparison, study.phantom),
                "hardness": describe_hardness(comparison),
            }
        tried = storage.path(CONTROLS_KEY, None, "parquet")
        controls = (
            pd.read_parquet(tried)
            if tried.exists()
            else Refused("no language's prompts were answered by another language's model yet")
        )
        probe = concatenated(probe_distributions)
        identities = {name: table_metadata(path) for name, path in read.items() if name in cells}
        human_files = [*(file.path for file in study.human.files), *([study.human.means] if study.human.means else [])]
        return render_report(
            study,
            gates=derive_gates(
                study, faults, preflight, recovery, quality_report, controls if study.control_families else None
            ),
            negative_controls=controls,
            probe=probe,
            quality=quality_report,
            calibration=recovery,
            reliability=given(reliability),
            signal=given(signal),
            cultural_map=given(cultural_map),
            distances=given(distances),
            human=human_distributions,
            human_comparison=given(human_comparison),
            mono_vs_multi=given(mono_vs_multi),
            item_statistics=item_statistics,
            extraction_faults=faults,
            question_texts={question.id: question.text for question in master_questions},
            traces=trace_cells(storage.folder, sorted(probe_distributions, key=study.cells().index)),
            versions=software_versions(identities.values()),
            provenance=[
                *(
                    {"what": f"questionnaire {language}", "source": pdf["source"], "sha256": pdf["sha256"]}
                    for language, pdf in questionnaire_pdf.items()
                ),
                *(
                    {"what": "human data", "source": file.name, "sha256": sha256_file(file)}
                    for file in human_files
                    if file.is_file()
                ),
                *(
                    {"what": f"readings {name}", "source": named_model(said["model"]), "sha256": said["weights_id"]}
                    | {"commit": said["revision"].replace("null", "").strip('"')}
                    for name, said in identities.items()
                ),
            ],
        )

    @declare(study, "survey", group, io_manager_key="frames", kinds={"parquet"})
    def simulated_worlds(context: dg.AssetExecutionContext, storage: Storage) -> Any:
        """Whether the analyses find what was planted, and nothing where there is nothing, in worlds that are made."""
        from valuesassets.figures.simulated_worlds import draw_simulated_worlds
        from valuesassets.instruments.survey.simulated_worlds import derive_simulated_worlds

        frames = derive_simulated_worlds(study).frames()
        return pictured(
            storage.path(context.asset_key, None, "png"),
            frames,
            lambda: draw_simulated_worlds(
                frames["coverage"], frames["rejections"], frames["p_values"], notes_in(frames)
            ),
        )

    return [
        simulated_worlds,
        quality_report,
        respondents,
        human_distributions,
        human_means,
        item_statistics,
        reliability,
        signal,
        position_bias,
        distances,
        human_comparison,
        mono_vs_multi,
        cultural_map,
        report,
    ]


def extraction_faults(storage: Storage, study: Study) -> dict[str, list[dict[str, Any]]]:
    """The faults of every extraction that has been made, by language."""
    found = storage.files(EXTRACTED_KEY, "faults.json")
    return {language: read_json(found[language]) for language in study.languages if language in found}


def askable_of(aligned: dict[str, list[Question]]) -> dict[str, list[Question]]:
    """By language, the questions that can be asked."""
    return {language: askable(questions) for language, questions in aligned.items()}


def with_notes(frame: pd.DataFrame) -> dg.MaterializeResult[pd.DataFrame]:
    """A table of people, with what was left out of it for a person to read."""
    return dg.MaterializeResult(value=frame, metadata={"left_out": "\n".join(frame.attrs["notes"]) or "nothing"})


def named_model(model: str) -> str:
    """A model as a page that others read names it: the hub id, or the last parts of its folder."""
    return "/".join(model.rstrip("/").split("/")[-2:])


def _counted(names: Iterable[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in Counter(names).most_common())


def frames_or_reason(derive: Callable[[], Frames]) -> Frames:
    """The tables of an analysis; where the data do not carry it, one table with the reason in their place."""
    try:
        return derive()
    except MissingData as error:
        return {"refused": pd.DataFrame({"reason": [str(error)]})}


def notes_in(frames: Frames) -> list[str]:
    """The sentences that belong beside an analysis."""
    return [str(note) for note in frames["notes"]["note"]]


def with_figures(folder: Path, frames: Frames, draw: "Figures") -> Any:
    """An analysis with its figures beside its tables and in the UI; none is drawn of an analysis that was refused."""
    return dg.MaterializeResult(value=frames, metadata=saved_figures(folder, {} if "refused" in frames else draw))


def saved_figures(folder: Path, draw: "Figures") -> dict[str, Any]:
    """Metadata of figures written into a folder, where those of an earlier run go.

    Args:
        draw: figures by file name; one that gives None has nothing to show.
    """
    from valuesassets.figures.style import save_figure

    for earlier in [*folder.glob("*.png"), *folder.glob("*.svg")]:
        earlier.unlink()
    shown: dict[str, Any] = {"figures": dg.MetadataValue.path(str(folder))} if draw else {}
    for name, figure in ((name, each()) for name, each in draw.items()):
        if figure is not None:
            save_figure(figure, folder / name)
            shown[name] = picture_of(figure)
    return shown


def pictured(path: Path, frames: Frames, draw: "Callable[[], Figure]", drawn: str | None = None) -> Any:
    """An analysis with one figure, named as the file of its path.

    Args:
        drawn: the table without whose rows there is no figure.
    """
    has_rows = "refused" not in frames and (drawn is None or len(frames[drawn]) > 0)
    return with_figures(path.parent, frames, {path.stem: draw} if has_rows else {})


def given(frames: Frames) -> Any:
    """An analysis as the report takes it: its tables, or the reason why there are none."""
    from valuesassets.instruments.survey.report import Refused

    return Refused(str(frames["refused"].reason[0])) if "refused" in frames else frames


def concatenated(probes: Probes) -> pd.DataFrame:
    """All cells in one frame; an empty one with the right columns where there are none."""
    frames = [frame.astype(object) for frame in probes.values()]
    if not frames:
        return PROBE_DISTRIBUTIONS.empty_table().to_pandas()
    return pd.concat(frames, ignore_index=True).infer_objects()


def usable(probes: Probes, quality: Frames, by_wording: bool = False) -> pd.DataFrame:
    """The answers that every analysis may rest on: the missing-values rule, applied in one place."""
    from valuesassets.instruments.survey.quality_report import QualityReport, usable_answers

    return usable_answers(concatenated(probes), QualityReport(**quality), by_wording)


def grid_of(probes: Probes, quality: Frames, human: pd.DataFrame | None = None) -> "AnswerGrid":
    """The same as arrays, with people's answers beside them where these are given."""
    from valuesassets.instruments.survey.comparing.answer_grid import answer_grid

    return answer_grid(usable(probes, quality, by_wording=True), human)
