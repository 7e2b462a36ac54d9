"""The values survey as a graph; each asset is derived by the instrument's file of its name. Here: questionnaires."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.desk.run_names import EXTRACT_AND_ALIGN
from valuesassets.orchestration import checks
from valuesassets.orchestration.assets.declaring import declare
from valuesassets.orchestration.assets.survey.answers import answer_assets
from valuesassets.orchestration.code_versions import file_stamps
from valuesassets.orchestration.commands.jobs import parts_job
from valuesassets.orchestration.first_look import lines, pictures
from valuesassets.orchestration.first_look.pictures import draw_alignment, draw_pages, first_page
from valuesassets.orchestration.first_look.shown import PICTURE, SUMMARY, link_to, picture_from, picture_of
from valuesassets.orchestration.grid.node_jobs import run_node_job
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.io_managers import table_of
from valuesassets.orchestration.partitions import part_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import read_json, sha256_file, sha256_json, write_json, write_text
from valuesassets.records.jobs import EmbedJob
from valuesassets.records.parquet import trial_rows
from valuesassets.records.questions import Question, askable, questions_to_rows
from valuesassets.records.seals import read_array
from valuesassets.records.settings.questionnaires import IMPORTED, Questionnaires
from valuesassets.records.study import Study
from valuesassets.records.trials import NoTrials, Trial


def survey_assets(study: Study) -> list[dg.AssetsDefinition]:
    """Every asset of the survey instrument."""
    return [*questionnaire_assets(study), *answer_assets(study)]


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


def questionnaire_assets(study: Study) -> list[dg.AssetsDefinition]:
    """From a PDF to the prompts of a language."""
    settings, limits = Questionnaires.of(study), study.thresholds
    declared = partial(declare, study, SURVEY, "questionnaires")
    overridden = file_stamps(settings.overrides, {code: f"{code}.toml" for code in study.languages})
    imported = {
        code: stamp
        for end in IMPORTED
        for code, stamp in file_stamps(settings.extractions, {code: f"{code}{end}" for code in study.languages}).items()
    }
    lexicons = lexicon_stamps(study)
    of_language = partial(declared, partitions_def=part_partitions(study, SURVEY))

    def overrides_of(storage: Storage, language: str) -> tuple[Path, dict[str, Any]]:
        """The overrides of a language, and where they are as metadata."""
        path = (settings.overrides or storage.folder / "overrides") / f"{language}.toml"
        return path, {"overrides": dg.MetadataValue.path(str(path)) if path.exists() else str(path)}

    @of_language(
        docs="extraction",
        line=lines.pdf_line,
        io_manager_key="json",
        kinds={"file", "pdf"},
        reads=("questionnaires",),
        entries=("languages",),
        files=questionnaire_stamps(study),
    )
    def questionnaire_pdf(context: dg.AssetExecutionContext, storage: Storage) -> dg.MaterializeResult[dict[str, Any]]:
        """The questionnaire of one language: a PDF that was looked into, its sha256, pages and where it came from."""
        from valuesassets.instruments.survey.forms.extractors import import_path
        from valuesassets.instruments.survey.questionnaire_pdf import fetch_questionnaire, has_questionnaire

        language = context.partition_key
        if not has_questionnaire(study, language):
            imported = import_path(settings, language)
            none = {"path": None, "source": f"{imported.name}, imported without a PDF", "sha256": sha256_file(imported)}
            return dg.MaterializeResult(value=none, metadata=none, data_version=dg.DataVersion(none["sha256"]))
        destination = storage.path(context.asset_key, language, "pdf")
        pdf = asdict(fetch_questionnaire(study, language, destination)) | {"path": destination.name}
        shown = pdf | {PICTURE: picture_from(first_page(destination))}
        return dg.MaterializeResult(value=pdf, metadata=shown, data_version=dg.DataVersion(pdf["sha256"]))

    @of_language(
        docs="review",
        checks=checks.EXTRACTION,
        io_manager_key="questions",
        reads=("questionnaires", "thresholds"),
        entries=("languages",),
        files=together(overridden, imported, lexicons),
    )
    def extracted_questions(
        context: dg.AssetExecutionContext, storage: Storage, questionnaire_pdf: dict[str, Any]
    ) -> dg.MaterializeResult[list[Question]]:
        """Questions read out of the PDF, each with its page and box, or imported, as a person has corrected them."""
        from valuesassets.instruments.survey.extracted_questions import NOT_ASKED, examine_questions
        from valuesassets.instruments.survey.forms.extractors import extract, second_extractor
        from valuesassets.instruments.survey.forms.review_page import render_review
        from valuesassets.records.lexicon import known_lexicon

        language = context.partition_key
        # Where it lies now, not where it was written: a storage may have been copied.
        pdf = storage.path(SURVEY.key("questionnaire_pdf"), language, "pdf") if questionnaire_pdf["path"] else None
        (overrides, where), cache = overrides_of(storage, language), storage.folder / "gemini_answers"
        extractor = settings.extractor_of(study.languages[language])
        extraction = extract(extractor, pdf, language, settings, cache)
        second = second_extractor(extractor, settings, language, has_pdf=pdf is not None)
        other = extract(second, pdf, language, settings, cache).questions if second else None
        lexicon = known_lexicon(language, study.languages[language].lexicon)
        examined = examine_questions(extraction.questions, pdf, language, overrides, other, lexicon)
        changes = [*extraction.changes, *examined.changes]
        faults, page = (storage.path(context.asset_key, language, end) for end in ("faults.json", "review.html"))
        write_json(faults, [asdict(fault) for fault in examined.faults])
        write_text(page, render_review(examined, pdf, language, overrides))
        doubtful = {fault.question_id for fault in examined.faults if fault.question_id}
        found = f"{len(examined.questions)} questions, {len(doubtful)} of them in doubt; read by {extractor}"
        found += "; no model is asked" if examined.why_not_asked else ""
        rows: list[Any] = questions_to_rows(examined.questions)
        where = {"review": link_to(storage, page)} | where
        drawn = draw_pages(examined.questions, questionnaire_pdf.get("pages") or 0, doubtful, language)
        return dg.MaterializeResult(
            value=list(examined.questions),
            metadata={
                SUMMARY: found,
                "extractor": extractor,
                "opinion_items": str(examined.recovery or "not known without a PDF"),
                "agreement": f"{second}: {examined.agreement}" if second else "no second extractor",
                "review_page": dg.MetadataValue.path(str(page)),
                "faults": dg.MetadataValue.path(str(faults)),
                "changes": table_of([asdict(change) for change in changes[: checks.MAX_ROWS]]),
                "response_types": _counted(str(question.response_type) for question in examined.questions),
            }
            | extraction.facts
            | where
            | ({PICTURE: picture_of(drawn)} if drawn else {}),
            # Whether models are asked counts with the questions: prompts are made anew where a person settles it.
            data_version=_content_version([*rows, NOT_ASKED] if examined.why_not_asked else rows),
            check_results=checks.judged(
                checks.EXTRACTION, examined.faults, len(examined.questions), limits.faulty_questions, **where
            ),
        )

    @declared(
        docs="alignment",
        line=lines.master_line,
        picture=pictures.draw_master,
        step="basis",
        io_manager_key="questions",
        many=["extracted_questions"],
        reads=("questionnaires",),
    )
    def master_questions(extracted_questions: dict[str, list[Question]]) -> dg.MaterializeResult[list[Question]]:
        """The master list: canonical id, text and scale in the master language, and which languages have it."""
        from valuesassets.instruments.survey.master_questions import coverage_rows, list_master_questions
        from valuesassets.people.variables import load_variables

        listed = list_master_questions(extracted_questions, settings.master, load_variables())
        only_here = [question.id for question in listed if not (question.model_extra or {}).get("wvs_id")]
        return dg.MaterializeResult(
            value=listed,
            metadata={
                "coverage": table_of(coverage_rows(listed, list(extracted_questions))),
                "not_in_the_other_survey": ", ".join(only_here),
            },
            data_version=_content_version(questions_to_rows(listed)),
        )

    @of_language(
        docs="alignment",
        checks=checks.ALIGNMENT,
        io_manager_key="questions",
        reads=("questionnaires", "thresholds"),
        files=together(overridden, lexicons),
    )
    def aligned_questions(
        context: dg.AssetExecutionContext,
        storage: Storage,
        extracted_questions: list[Question],
        master_questions: list[Question],
    ) -> dg.MaterializeResult[list[Question]]:
        """The language's questions under canonical ids, in the master's order; those with `unfit` are not asked."""
        from valuesassets.instruments.survey.aligned_questions import align_questions
        from valuesassets.instruments.survey.alignment.evidence import embedded_evidence, texts_to_embed
        from valuesassets.instruments.survey.alignment.match import write_matches
        from valuesassets.instruments.survey.alignment.targets import master_targets
        from valuesassets.instruments.survey.forms.overrides import read_overrides
        from valuesassets.instruments.survey.normalisation import Normalised
        from valuesassets.people.variables import load_variables
        from valuesassets.records.lexicon import known_lexicon

        language, variables = context.partition_key, load_variables()
        overrides, where = overrides_of(storage, language)
        given, likeness = read_overrides(overrides), None
        if settings.embedder is not None:
            texts = texts_to_embed(extracted_questions, master_targets(master_questions, variables))
            likeness = embedded_evidence(_embedded(context, study, storage, texts), len(extracted_questions))
        extracted, lexicon = (
            Normalised.of(extracted_questions),
            known_lexicon(language, study.languages[language].lexicon),
        )
        not_asked = [code for code, override in given.items() if override.drop]
        alignment = align_questions(extracted, language, master_questions, variables, not_asked, likeness, lexicon)
        table = storage.path(context.asset_key, language, "alignment.csv")
        write_matches(table, {language: alignment})
        review = storage.path(SURVEY.key("extracted_questions"), language, "review.html")
        where = {"every_match": link_to(storage, table)} | where
        where |= {"review": link_to(storage, review)} if review.exists() else {}
        drawn = draw_alignment(alignment.matches, language)
        return dg.MaterializeResult(
            value=list(alignment.questions),
            metadata={
                SUMMARY: str(alignment),
                "coverage": alignment.coverage,
                "masked_accuracy": alignment.masked_accuracy if alignment.masked_accuracy is not None else "no codes",
                "matches": _counted(match.status for match in alignment.matches),
            }
            | where
            | ({PICTURE: picture_of(drawn)} if drawn else {}),
            data_version=_content_version(questions_to_rows(alignment.questions)),
            check_results=checks.judged(
                checks.ALIGNMENT, alignment.matches, len(master_questions), limits.unaligned_questions, **where
            ),
        )

    @of_language(
        docs="prompts",
        line=lines.trials_line,
        picture=pictures.draw_trials,
        io_manager_key="trials",
        reads=("elicitation", "seed"),
        files=lexicons,
        deps=[SURVEY.key("extracted_questions")],
    )
    def trials(
        context: dg.AssetExecutionContext, storage: Storage, aligned_questions: list[Question]
    ) -> dg.MaterializeResult[list[Trial]]:
        """The prompts of one language, in every order the study asks for: read them before a GPU hour is spent."""
        from valuesassets.instruments.survey.extracted_questions import NOT_ASKED
        from valuesassets.instruments.survey.trials import write_trials
        from valuesassets.people.variables import load_variables
        from valuesassets.records.lexicon import load_lexicon

        language = context.partition_key
        faults = read_json(storage.path(SURVEY.key("extracted_questions"), language, "faults.json"))
        if reasons := [fault["message"] for fault in faults if fault["check"] == NOT_ASKED]:
            return dg.MaterializeResult(value=NoTrials(reasons[0]), data_version=_content_version(reasons))
        words, asked = load_lexicon(language, study.languages[language].lexicon), askable(aligned_questions)
        written = write_trials(asked, language, words, load_variables(), study.elicitation, study.seed)
        shown = "\n\n".join(f"**{trial.trial_id}**\n```\n{trial.prompt}\n```" for trial in written[:40])
        return dg.MaterializeResult(
            value=written,
            metadata={"prompts": dg.MetadataValue.md(shown)},
            data_version=_content_version(trial_rows(written)),
        )

    return [questionnaire_pdf, extracted_questions, master_questions, aligned_questions, trials]


def lexicon_stamps(study: Study) -> dict[str, str]:
    """By language, the stamp of the lexicon that a study names for it."""
    named = {code: language.lexicon for code, language in study.languages.items() if language.lexicon}
    return {
        code: stamp for code, path in named.items() for stamp in file_stamps(path.parent, {code: path.name}).values()
    }


def together(*stamps: dict[str, str]) -> dict[str, str]:
    """Stamps of several files by language, as one."""
    return {code: "".join(each.get(code, "") for each in stamps) for code in {}.fromkeys(c for s in stamps for c in s)}


def questionnaire_stamps(study: Study) -> dict[str, str]:
    """By language, the stamp of the PDF that a study takes from a folder."""
    files = {code: language.pdf or f"{code}.pdf" for code, language in study.languages.items()}
    return file_stamps(Questionnaires.of(study).pdf_dir, files)


def _embedded(
    context: dg.AssetExecutionContext, study: Study, storage: Storage, texts: list[str]
) -> NDArray[np.float32]:
    """Vectors of texts, a row for each, by a node job whose files stay in the partition's folder."""
    from valuesassets.models.fetching import fetch_embedder

    settings, folder = Questionnaires.of(study), storage.job_folder(context.asset_key, context.partition_key)
    embedder = fetch_embedder(str(settings.embedder), settings.embedder_revision)
    job = EmbedJob(model=embedder, texts=folder / "texts.json", vectors=folder / "vectors.npy")
    write_json(job.texts, texts)
    run_node_job(context, job, study, storage)
    return read_array(job.vectors)


def _content_version(rows: list[Any]) -> dg.DataVersion:
    """A version that stays where the content stays, whatever code and inputs it came from."""
    return dg.DataVersion(sha256_json(rows)[:16])


def _counted(names: Any) -> dg.TableMetadataValue:
    counts = pd.Series(list(names), dtype=str).value_counts()
    return table_of([{"what": name, "count": int(count)} for name, count in counts.items()])
