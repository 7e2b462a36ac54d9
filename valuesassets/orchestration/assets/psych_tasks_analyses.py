"""Psych tasks as a graph, third part: what becomes of marks, and what answers say, over all cells that there are."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.orchestration.assets import psych_tasks_checks as checks
from valuesassets.orchestration.assets import psych_tasks_lines as own_lines
from valuesassets.orchestration.assets.analyses import saved_figures
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.pages import page_of, shown_page
from valuesassets.orchestration.first_look.shown import Line
from valuesassets.orchestration.instruments import PSYCH_TASKS
from valuesassets.orchestration.io_managers import DICT_OF_PARTITIONS
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import MissingData
from valuesassets.records.files import sha256_json
from valuesassets.records.settings.psych_tasks import PsychTasks
from valuesassets.records.study import Study

HOME, DOCS = "valuesassets.instruments.psych_tasks", "psych_tasks"
Frames = dict[str, pd.DataFrame]
Answers = dict[tuple[str, str], Frames]
OF_MARKS = {**DICT_OF_PARTITIONS, "tables": ["marks", "donors"]}
"""Analyses take no candidates: these are most of what is stored."""


def analysis_assets(study: Study) -> list[dg.AssetsDefinition]:
    """The ledger of marks, every analysis, and the page."""
    settings = PsychTasks.of(study)
    declared = partial(
        declare,
        study,
        PSYCH_TASKS,
        "analyses",
        docs=DOCS,
        step="analysis",
        entries=("families",),
        ins={"answer_distributions": dg.AssetIn(PSYCH_TASKS.key("answer_distributions"), metadata=OF_MARKS)},
    )

    @declared(
        line=own_lines.ledger_line,
        checks=[checks.MARKS_ARE_ACCOUNTED_FOR],
        many=["marks"],
        reads=(),
        modules=(f"{HOME}.cells", f"{HOME}.pictures"),
        io_manager_key="frame",
    )
    def mark_ledger(
        context: dg.AssetExecutionContext,
        storage: Storage,
        answer_distributions: Answers,
        marks: dict[str, pd.DataFrame],
    ) -> Any:
        """What became of every mark of every cell; the sums are the opening delimiters of the transcripts."""
        from valuesassets.instruments.psych_tasks.cells import lost_marks, table_of_cells, tables_of_tasks
        from valuesassets.instruments.psych_tasks.mark_ledger import derive_mark_ledger

        found = derive_mark_ledger(table_of_cells(answer_distributions, "marks"), tables_of_tasks(marks))
        lost = lost_marks(found, marks)
        return dg.MaterializeResult(
            value=found,
            metadata=_drawn(context, storage, {"mark_ledger": found}, study.is_planted),
            check_results=[checks.MARKS_ARE_ACCOUNTED_FOR.result(lost, len(found))],
        )

    def made(
        name: str, about: str, line: Line, derive: Callable[[Answers], Frames], *modules: str
    ) -> dg.AssetsDefinition:
        def make(
            context: dg.AssetExecutionContext, storage: Storage, answer_distributions: Answers
        ) -> dg.MaterializeResult[Frames]:
            try:
                frames = derive(answer_distributions)
            except MissingData as error:  # the data do not carry it: the reason is the result
                frames = {"refused": pd.DataFrame({"reason": [str(error)]})}
            shown = {f"{name}/{table}": frame for table, frame in frames.items()}
            return dg.MaterializeResult(value=frames, metadata=_drawn(context, storage, shown, study.is_planted))

        make.__name__, make.__doc__ = name, about
        return declared(
            line=line,
            reads=("inference", "seed"),
            stamp=sha256_json(settings.lines),
            modules=(f"{HOME}.cells", f"{HOME}.pictures", *(f"{HOME}.{module}" for module in modules)),
            wiring=name,
            io_manager_key="frames",
        )(make)

    def prediction(answers: Answers) -> Frames:
        from valuesassets.instruments.psych_tasks.cells import table_of_cells
        from valuesassets.instruments.psych_tasks.prediction import derive_prediction

        marks, donors = (table_of_cells(answers, table) for table in ("marks", "donors"))
        return derive_prediction(marks, donors, study.inference)

    def layout_effect(answers: Answers) -> Frames:
        from valuesassets.instruments.psych_tasks.cells import table_of_cells
        from valuesassets.instruments.psych_tasks.layout_effect import derive_layout_effect

        return {"effects": derive_layout_effect(table_of_cells(answers, "marks"), study.inference)}

    def of_scales(name: str) -> Callable[[Answers], Frames]:
        def derive(answers: Answers) -> Frames:
            from valuesassets.instruments.psych_tasks.cells import derive_scales, table_of_cells
            from valuesassets.instruments.psych_tasks.model_lines import lines_of_study
            from valuesassets.instruments.psych_tasks.task_files import load_task

            tasks = {part: load_task(settings.task_file(part)) for part in settings.tasks}
            marks, level = table_of_cells(answers, "marks"), study.inference.level
            return derive_scales(name, tasks, marks, lines_of_study(study), level, study.seed)

        return derive

    analyses = [
        made(
            "prediction",
            "How well people's answers are foretold after each history, and what of it is format, style or content.",
            own_lines.prediction_line,
            prediction,
        ),
        made(
            "reliability",
            "Whether scale scores would set models apart alike with other items, presentations and draws.",
            own_lines.scales_line,
            of_scales("reliability"),
            "scale_answers",
        ),
        made(
            "keying",
            "Whether a scale measures what its items say, or which label a model likes.",
            own_lines.keying_line,
            of_scales("keying"),
            "scale_answers",
        ),
        made(
            "published_scores",
            "The score that published work takes for a trait, with what gives it without one.",
            own_lines.scales_line,
            of_scales("published_scores"),
            "scale_answers",
        ),
        made(
            "layout_effect",
            "Whether models say something else where transcripts are laid out in another way.",
            own_lines.layout_line,
            layout_effect,
        ),
    ]
    return [mark_ledger, *analyses, report_asset(study)]


def report_asset(study: Study) -> dg.AssetsDefinition:
    """The page that the instrument ends in."""
    key = PSYCH_TASKS.key
    planted = ["calibration"] if study.has_reference_models else []

    @declare(
        study,
        PSYCH_TASKS,
        "analyses",
        docs=DOCS,
        step="analysis",
        inputs=[
            *("mark_ledger", "prediction", "reliability", "keying", "published_scores", "layout_effect", "preflight"),
            *planted,
        ],
        many=["preflight", *planted],
        deps=[key("readings")],
        reads=("title", "by_plan", "inference"),
        entries=("families",),
        modules=(f"{HOME}.pictures",),
        io_manager_key="html",
    )
    def report(context: dg.AssetExecutionContext, storage: Storage, **inputs: Any) -> Any:
        """One self-contained page: what was lost, keying, alignment with people, each beside its null."""
        from valuesassets.instruments.psych_tasks.pictures import draw_pictures
        from valuesassets.instruments.psych_tasks.report import render_psych_tasks

        frames = _flat(inputs)
        frames["cells"] = pd.DataFrame(
            [{"model": cell.family, "task": cell.part.name} for cell in PSYCH_TASKS.cells(study)]
        )
        drawn = draw_pictures(frames, study.is_planted)
        text = render_psych_tasks(
            frames, page_of(study, storage, PSYCH_TASKS), drawn, correction=study.inference.correction
        )
        return shown_page(context, storage, text)

    return report


def _flat(inputs: Mapping[str, Any]) -> Frames:
    """The tables of all assets by `<asset>/<table>`; those of many cells in one, with `model` and `task`."""
    from valuesassets.instruments.psych_tasks.cells import table_of_cells
    from valuesassets.instruments.psych_tasks.gates import preflight_rows

    frames: Frames = {}
    for name, given in inputs.items():
        if isinstance(given, pd.DataFrame):
            frames[name] = given
        elif name == "preflight":
            frames[name] = preflight_rows(given)
        elif name == "calibration":
            frames |= {f"{name}/{table}": table_of_cells(given, table) for table in ("recovery", "gains")}
        else:
            frames |= {f"{name}/{table}": frame for table, frame in given.items()}
    return frames


def _drawn(
    context: dg.AssetExecutionContext, storage: Storage, frames: Mapping[str, pd.DataFrame], is_planted: bool
) -> dict[str, Any]:
    """The figures that an asset's tables allow, beside them and in the UI."""
    from valuesassets.instruments.psych_tasks.pictures import draw_pictures

    return saved_figures(storage.path(context.asset_key, None, "png").parent, draw_pictures(frames, is_planted))
