"""Cultural robustness as a graph, third part: what answers say of languages and countries, and the page."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.orchestration.assets import cultural_robustness_checks as checks
from valuesassets.orchestration.assets import cultural_robustness_lines as own_lines
from valuesassets.orchestration.assets.analyses import saved_figures
from valuesassets.orchestration.assets.cultural_robustness_answers import all_languages
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.pages import page_of, shown_page
from valuesassets.orchestration.instruments import CULTURAL_ROBUSTNESS
from valuesassets.orchestration.io_managers import DICT_OF_PARTITIONS, table_of
from valuesassets.orchestration.partitions import model_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_json
from valuesassets.records.frames import records, rows
from valuesassets.records.settings.cultural_robustness import CulturalRobustness
from valuesassets.records.study import Study
from valuesassets.records.trials import Answer

HOME, DOCS = "valuesassets.instruments.cultural_robustness", "cultural_robustness"
Frames = dict[str, pd.DataFrame]


def score_assets(study: Study) -> list[dg.AssetsDefinition]:
    """The embedder's report, everything that is measured of each model, scores of all, and the page."""
    settings, key = CulturalRobustness.of(study), CULTURAL_ROBUSTNESS.key
    declared = partial(declare, study, CULTURAL_ROBUSTNESS, "analyses", docs=DOCS, step="analysis")
    of_a_model = partial(declared, partitions_def=model_partitions(study))

    @declared(
        line=own_lines.embedder_line,
        checks=[checks.EMBEDDER_KNOWS_THE_LANGUAGES],
        io_manager_key="csv",
        reads=(),
    )
    def embedder_report(context: dg.AssetExecutionContext, question_vectors: pd.DataFrame) -> Any:
        """How many translations the embedder finds, language by language, and how much of its space is language."""
        from valuesassets.instruments.cultural_robustness.embedder_report import derive_embedder_report

        found = derive_embedder_report(question_vectors)
        unknown = rows(found, found["status"] == "unknown_language")
        result = checks.EMBEDDER_KNOWS_THE_LANGUAGES.result(records(unknown), len(found))
        return dg.MaterializeResult(value=found, check_results=[result])

    @of_a_model(
        line=own_lines.measured_line,
        ins={"answers": dg.AssetIn(key("answers"), input_manager_key="answers", metadata=DICT_OF_PARTITIONS)}
        | all_languages("questions"),
        io_manager_key="frames",
        reads=("inference", "seed"),
        entries=("languages",),
        stamp=sha256_json(settings.usable_share),
        modules=(f"{HOME}.scores", f"{HOME}.stored_tables", f"{HOME}.answer_files", f"{HOME}.questions"),
    )
    def language_pairs(
        context: dg.AssetExecutionContext,
        questions: Frames,
        answers: dict[tuple[str, str], list[Answer]],
        answer_quality: pd.DataFrame,
        vectors: pd.DataFrame,
        question_vectors: pd.DataFrame,
    ) -> Any:
        """All that is measured of a model's answers: distances of pairs of languages, countries, groups, tests."""
        from valuesassets.instruments.cultural_robustness.answer_files import answered_frame
        from valuesassets.instruments.cultural_robustness.questions import all_questions
        from valuesassets.instruments.cultural_robustness.scores import Inference, measure_model
        from valuesassets.instruments.cultural_robustness.stored_tables import MEASURED

        name, how = context.partition_key, study.inference
        given = {part: each for (family, part), each in answers.items() if family == name}
        found = measure_model(
            name,
            pd.concat([vectors, question_vectors], ignore_index=True),
            all_questions(questions),
            answered=answered_frame(given, questions),
            quality=answer_quality,
            own_countries=settings.own_countries(study),
            usable_share=settings.usable_share,
            inference=Inference(
                how.resamples, min(how.resamples, FOLLOW_RESAMPLES), how.alpha, how.level, study.seed, how.correction
            ),
        )
        return {table: found[table] for table in MEASURED}

    def picked(name: str, about: str) -> dg.AssetsDefinition:
        def pick(context: dg.AssetExecutionContext, language_pairs: Frames) -> Any:
            return language_pairs[name]

        pick.__name__, pick.__doc__ = name, about
        return of_a_model(line=own_lines.rows_line, io_manager_key="csv", reads=(), wiring=name)(pick)

    @of_a_model(line=own_lines.scores_line, io_manager_key="csv", reads=("seed",), modules=(f"{HOME}.seed_columns",))
    def clustering(
        context: dg.AssetExecutionContext, storage: Storage, vectors: pd.DataFrame, question_vectors: pd.DataFrame
    ) -> Any:
        """Published scores, each beside what translations of the questions give; and their files of clusters."""
        from valuesassets.instruments.cultural_robustness.clustering import write_clustering
        from valuesassets.instruments.cultural_robustness.seed_columns import seed_scores

        name = context.partition_key
        both = pd.concat([vectors, question_vectors], ignore_index=True)
        found = seed_scores(both, name, seed=study.seed)
        folder = storage.path(context.asset_key, name, "csv").with_suffix("")
        files = write_clustering(folder, found.clustered, name)
        return dg.MaterializeResult(
            value=found.scores,
            metadata={"files": table_of([{"file": str(path.relative_to(folder))} for path in files])},
        )

    @declared(
        line=own_lines.scores_line,
        many=["language_pairs", "clustering"],
        io_manager_key="csv",
        reads=(),
        modules=(f"{HOME}.pictures",),
    )
    def scores(
        context: dg.AssetExecutionContext, storage: Storage, language_pairs: dict[str, Frames], clustering: Frames
    ) -> Any:
        """Every score of every model, with interval, p-value and null; published ones beside."""
        from valuesassets.instruments.cultural_robustness.pictures import draw_pictures

        ours = [frames["scores"] for frames in language_pairs.values()]
        found = pd.concat([*ours, *clustering.values()], ignore_index=True)
        drawn = saved_figures(
            storage.path(context.asset_key, None, "png").parent, draw_pictures({"scores": found}, study.is_planted)
        )
        return dg.MaterializeResult(value=found, metadata=drawn)

    pairs = [
        picked("country_profiles", "How close what a language says without a country is to each country, in itself."),
        picked("language_groups", "Which languages answer alike beyond what language does, where that is significant."),
    ]
    planted = [calibration_asset(study)] if study.has_reference_models else []
    return [embedder_report, language_pairs, *pairs, clustering, scores, *planted, report_asset(study)]


FOLLOW_RESAMPLES = 499
"""Most permutations of countries, which take longest."""


def calibration_asset(study: Study) -> dg.AssetsDefinition:
    """What was planted beside what came back."""

    @declare(
        study,
        CULTURAL_ROBUSTNESS,
        "calibration",
        docs=DOCS,
        step="analysis",
        line=own_lines.calibration_line,
        checks=[checks.PLANTS_ARE_RECOVERED],
        many=["language_pairs", "answer_quality", "questions"],
        io_manager_key="csv",
        reads=("inference",),
        entries=("families", "languages"),
        modules=(f"{HOME}.questions",),
    )
    def calibration(
        context: dg.AssetExecutionContext, language_pairs: dict[str, Frames], answer_quality: Frames, questions: Frames
    ) -> Any:
        """Planted against recovered: diversity, robustness, groups, faults; and what no test may reject."""
        from valuesassets.instruments.cultural_robustness.calibration import derive_calibration
        from valuesassets.instruments.cultural_robustness.questions import all_questions

        asked, alpha = all_questions(questions), study.inference.alpha
        trained = [name for name in language_pairs if study.families[name].kind == "reference"]
        facts = [derive_calibration(name, language_pairs[name], answer_quality[name], asked, alpha) for name in trained]
        found = pd.concat(facts, ignore_index=True)
        off = rows(found, ~found["is_recovered"].astype(bool))
        result = checks.PLANTS_ARE_RECOVERED.result(records(off), len(found))
        return dg.MaterializeResult(value=found, check_results=[result])

    return calibration


def report_asset(study: Study) -> dg.AssetsDefinition:
    """The page that the instrument ends in."""
    key = CULTURAL_ROBUSTNESS.key
    planted = ["calibration"] if study.has_reference_models else []

    @declare(
        study,
        CULTURAL_ROBUSTNESS,
        "analyses",
        docs=DOCS,
        step="analysis",
        inputs=["question_report", "answer_quality", "embedder_report", "language_pairs", "scores", *planted],
        many=["answer_quality", "language_pairs"],
        deps=[key("answers")],
        reads=("title", "by_plan", "inference"),
        entries=("families",),
        modules=(f"{HOME}.pictures",),
        io_manager_key="html",
    )
    def report(context: dg.AssetExecutionContext, storage: Storage, **inputs: Any) -> Any:
        """One page: diversity and robustness, what answers count, published scores beside their nulls."""
        from valuesassets.instruments.cultural_robustness.pictures import draw_pictures
        from valuesassets.instruments.cultural_robustness.report import render_cultural_robustness

        frames = _flat(inputs)
        frames["cells"] = pd.DataFrame(
            [{"model": cell.family, "language": cell.language} for cell in CULTURAL_ROBUSTNESS.cells(study)]
        )
        pages = {
            model: {code: f"../answer_quality/{model}/{code}.html" for code in dict.fromkeys(judged["language"])}
            for model, judged in inputs["answer_quality"].items()
        }
        text = render_cultural_robustness(
            frames,
            page_of(study, storage, CULTURAL_ROBUSTNESS),
            draw_pictures(frames, study.is_planted),
            inference=study.inference,
            answer_pages=pages,
        )
        return shown_page(context, storage, text)

    return report


def _flat(inputs: Mapping[str, Any]) -> Frames:
    """The tables of all assets by name; those of several models in one, with the column `model`."""
    found: Frames = {}
    for name, given in inputs.items():
        if isinstance(given, pd.DataFrame):
            found[name] = given
        elif name == "language_pairs":
            tables = next(iter(given.values()), {})
            found |= {
                table: pd.concat([frames[table] for frames in given.values()], ignore_index=True)
                for table in tables
                if table != "scores"
            }
        elif given:
            found[name] = pd.concat([frame.assign(model=model) for model, frame in given.items()], ignore_index=True)
    return found
