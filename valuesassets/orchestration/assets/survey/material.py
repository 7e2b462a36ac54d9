"""The values survey as a graph; each asset is derived by the instrument's file of its name. Here: forms and prompts."""

from dataclasses import asdict
from functools import partial
from typing import Any

import dagster as dg

from valuesassets.desk.run_names import EXTRACT_AND_ALIGN
from valuesassets.orchestration import checks
from valuesassets.orchestration.assets.declaring import declare, sources
from valuesassets.orchestration.assets.survey.answers import answer_assets
from valuesassets.orchestration.assets.survey.questions import (
    aligned_questions,
    examined_metadata,
    extracted_questions,
    master_questions,
    write_left_out,
)
from valuesassets.orchestration.assets.survey.stamps import (
    content_version,
    import_stamps,
    lexicon_stamps,
    override_stamps,
    questionnaire_stamps,
    together,
)
from valuesassets.orchestration.commands.jobs import parts_job
from valuesassets.orchestration.first_look import lines, pictures
from valuesassets.orchestration.first_look.pictures import first_page
from valuesassets.orchestration.first_look.shown import PICTURE, picture_from
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.partitions import part_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import read_json, sha256_file
from valuesassets.records.parquet import trial_rows
from valuesassets.records.questions import Question, askable
from valuesassets.records.settings.questionnaires import Questionnaires
from valuesassets.records.study import Study
from valuesassets.records.trials import NoTrials, Trial


def survey_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Every asset of the survey instrument."""
    return [*material_assets(study), *answer_assets(study)]


def material_assets(study: Study) -> list[dg.AssetsDefinition]:
    """From a PDF to the prompts of a language."""
    declared = partial(declare, study, SURVEY, "questionnaires")
    of_language = partial(declared, partitions_def=part_partitions(study, SURVEY))
    settings, corrections, lexicons = ("questionnaires",), override_stamps(study), lexicon_stamps(study)
    return [
        of_language(
            docs="extraction",
            line=lines.pdf_line,
            io_manager_key="json",
            kinds={"file", "pdf"},
            reads=settings,
            entries=("languages",),
            files=questionnaire_stamps(study),
        )(questionnaire_pdf),
        of_language(
            docs="review",
            checks=checks.EXTRACTION,
            io_manager_key="questions",
            reads=("questionnaires", "thresholds"),
            entries=("languages",),
            files=together(corrections, import_stamps(study), lexicons),
            wiring=sources(examined_metadata, write_left_out),
        )(extracted_questions),
        declared(
            docs="alignment",
            line=lines.master_line,
            picture=pictures.draw_master,
            step="basis",
            io_manager_key="questions",
            many=["extracted_questions"],
            reads=settings,
        )(master_questions),
        of_language(
            docs="alignment",
            checks=checks.ALIGNMENT,
            io_manager_key="questions",
            reads=("questionnaires", "thresholds"),
            files=together(corrections, lexicons),
        )(aligned_questions),
        of_language(
            docs="prompts",
            line=lines.trials_line,
            picture=pictures.draw_trials,
            io_manager_key="trials",
            reads=("elicitation", "seed"),
            files=lexicons,
            deps=[SURVEY.key("extracted_questions")],
        )(trials),
    ]


def survey_jobs(study: Study) -> list[Any]:
    """The questionnaires of all languages; and of one language, to be backfilled."""
    return [
        extract_and_align_job(study),
        dg.define_asset_job(
            "extract_language",
            selection=[SURVEY.key("extracted_questions"), SURVEY.key("questionnaire_pdf")],
            description="Fetch one language's questionnaire and extract its questions: choose the language, half a "
            "minute. Afterwards look at the checks of `survey/extracted_questions`, and their review page.",
        ),
    ]


def extract_and_align_job(study: Study) -> dg.JobDefinition:
    """From the PDFs to the prompts, in all languages."""
    return parts_job(
        study,
        EXTRACT_AND_ALIGN,
        f"""The questionnaires of all {len(study.languages)} languages, from the PDF to the prompts; what is
fresh is skipped.

About ten seconds a language, minutes where Gemini reads or a PDF has to be fetched. Afterwards look at the checks of
`survey/extracted_questions` and `survey/aligned_questions`, which name every doubtful question; and read some of the
prompts, `survey/trials`, before models are asked.""",
        ["questionnaires"],
    )


def questionnaire_pdf(
    context: dg.AssetExecutionContext, study: Study, storage: Storage
) -> dg.MaterializeResult[dict[str, Any]]:
    """The questionnaire of one language: a PDF that was looked into, its sha256, pages and where it came from."""
    from valuesassets.instruments.survey.material.forms.extractors import import_path
    from valuesassets.instruments.survey.material.questionnaire_pdf import fetch_questionnaire, has_questionnaire

    language = context.partition_key
    if not has_questionnaire(study, language):
        imported = import_path(Questionnaires.of(study), language)
        none = {"path": None, "source": f"{imported.name}, imported without a PDF", "sha256": sha256_file(imported)}
        return dg.MaterializeResult(value=none, metadata=none, data_version=dg.DataVersion(none["sha256"]))
    destination = storage.path(context.asset_key, language, "pdf")
    pdf = asdict(fetch_questionnaire(study, language, destination)) | {"path": destination.name}
    metadata = pdf | {PICTURE: picture_from(first_page(destination))}
    return dg.MaterializeResult(value=pdf, metadata=metadata, data_version=dg.DataVersion(pdf["sha256"]))


def trials(
    context: dg.AssetExecutionContext, study: Study, storage: Storage, aligned_questions: list[Question]
) -> dg.MaterializeResult[list[Trial]]:
    """The prompts of one language, in every order the study asks for: read them before a GPU hour is spent."""
    from valuesassets.instruments.survey.material.extracted_questions import NOT_ASKED
    from valuesassets.instruments.survey.trials.trials import write_trials
    from valuesassets.people.variables import load_variables
    from valuesassets.records.lexicon import load_lexicon

    language = context.partition_key
    faults = read_json(storage.path(SURVEY.key("extracted_questions"), language, "faults.json"))
    if reasons := [fault["message"] for fault in faults if fault["check"] == NOT_ASKED]:
        return dg.MaterializeResult(value=NoTrials(reasons[0]), data_version=content_version(reasons))
    words, questions = load_lexicon(language, study.languages[language].lexicon), askable(aligned_questions)
    prompts = write_trials(questions, language, words, load_variables(), study.elicitation, study.seed)
    first = "\n\n".join(f"**{trial.trial_id}**\n```\n{trial.prompt}\n```" for trial in prompts[:40])
    return dg.MaterializeResult(
        value=prompts,
        metadata={"prompts": dg.MetadataValue.md(first)},
        data_version=content_version(trial_rows(prompts)),
    )
