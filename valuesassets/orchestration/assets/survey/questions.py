"""The survey as a graph, second part: questions as extracted, the master list, and questions under its ids."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.orchestration import checks
from valuesassets.orchestration.assets.survey.stamps import (
    content_version,
)
from valuesassets.orchestration.first_look.pictures import draw_alignment, draw_pages
from valuesassets.orchestration.first_look.shown import PICTURE, SUMMARY, link_to, picture_of
from valuesassets.orchestration.grid.node_jobs import run_node_job
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.io_managers import table_of
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import write_json, write_text
from valuesassets.records.jobs import EmbedJob
from valuesassets.records.questions import Question, askable, questions_to_rows
from valuesassets.records.seals import read_array
from valuesassets.records.settings.questionnaires import Questionnaires
from valuesassets.records.study import Study


def extracted_questions(
    context: dg.AssetExecutionContext, study: Study, storage: Storage, questionnaire_pdf: dict[str, Any]
) -> dg.MaterializeResult[list[Question]]:
    """Questions read out of the PDF, each with its page and box, or imported, as a person has corrected them."""
    from valuesassets.instruments.survey.material.extracted_questions import NOT_ASKED, examine_questions
    from valuesassets.instruments.survey.material.forms.extractors import extract, second_extractor
    from valuesassets.instruments.survey.material.forms.review_page import render_review
    from valuesassets.records.lexicon import known_lexicon

    settings = Questionnaires.of(study)
    language = context.partition_key
    # Where it lies now, not where it was written: a storage may have been copied.
    pdf = storage.path(SURVEY.key("questionnaire_pdf"), language, "pdf") if questionnaire_pdf["path"] else None
    (overrides, links), cache = _overrides(settings, storage, language), storage.folder / "gemini_answers"
    extractor = settings.extractor_of(study.languages[language])
    extraction = extract(extractor, pdf, language, settings, cache)
    second = second_extractor(extractor, settings, language, has_pdf=pdf is not None)
    others = extract(second, pdf, language, settings, cache).questions if second else None
    lexicon = known_lexicon(language, study.languages[language].lexicon)
    examined = examine_questions(extraction.questions, pdf, language, overrides, others, lexicon)
    faults, page = (storage.path(context.asset_key, language, end) for end in ("faults.json", "review.html"))
    write_json(faults, [asdict(fault) for fault in examined.faults])
    left_out = write_left_out(storage.path(context.asset_key, language, "left_out.json"), extraction.left_out)
    write_text(page, render_review(examined, pdf, language, overrides, extraction.left_out))
    links = {"review": link_to(storage, page)} | links
    changes = table_of([asdict(change) for change in (*extraction.changes, *examined.changes)][: checks.MAX_ROWS])
    paths = {name: dg.MetadataValue.path(str(path)) for name, path in (("review_page", page), ("faults", faults))}
    doubtful = {fault.question_id for fault in examined.faults if fault.question_id}
    figure = draw_pages(examined.questions, questionnaire_pdf.get("pages") or 0, doubtful, language)
    rows: list[Any] = questions_to_rows(examined.questions)
    most = study.thresholds.faulty_questions
    return dg.MaterializeResult(
        value=list(examined.questions),
        metadata=examined_metadata(examined, len(doubtful), extractor, second, len(left_out))
        | paths
        | {"changes": changes, "response_types": _counts(str(each.response_type) for each in examined.questions)}
        | extraction.facts
        | links
        | ({PICTURE: picture_of(figure)} if figure else {}),
        # Whether models are asked counts with the questions: prompts are made anew where a person settles it. So does
        # what was left out, which the report lists.
        data_version=content_version([*rows, *left_out, *([NOT_ASKED] if examined.why_not_asked else [])]),
        check_results=checks.judged(checks.EXTRACTION, examined.faults, len(rows), most, **links),
    )


def write_left_out(path: Path, others: Iterable[Any]) -> list[dict[str, str]]:
    """Write what was left out of a form, if anything was; gives the records."""
    rows = [asdict(each) for each in others]
    if rows:
        write_json(path, rows)
    else:
        path.unlink(missing_ok=True)  # of an earlier form
    return rows


def examined_metadata(
    examined: Any, n_doubtful: int, extractor: str, second: str | None, n_left_out: int = 0
) -> dict[str, str]:
    """What the UI says of a language's questions; `second` is the extractor that the first is compared with, if any."""
    from valuesassets.instruments.survey.material.forms.exchange.entries import counted_entries

    n_unfit = len(examined.questions) - len(askable(examined.questions))
    summary = f"{len(examined.questions)} questions, {n_doubtful} of them in doubt; read by {extractor}"
    summary += f"; {n_unfit} cannot be asked as they stand" if n_unfit else ""
    summary += f"; {counted_entries(n_left_out)} left out" if n_left_out else ""
    return {
        SUMMARY: summary + ("; no model is asked" if examined.why_not_asked else ""),
        "extractor": extractor,
        "opinion_items": str(examined.recovery or "not known without a PDF"),
        "agreement": f"{second}: {examined.agreement}" if second else "no second extractor",
    }


def master_questions(
    study: Study, extracted_questions: dict[str, list[Question]]
) -> dg.MaterializeResult[list[Question]]:
    """The master list: canonical id, text and scale in the master language, and which languages have it."""
    from valuesassets.instruments.survey.material.master_questions import coverage_rows, list_master_questions
    from valuesassets.people.variables import load_variables

    settings = Questionnaires.of(study)
    questions = list_master_questions(extracted_questions, settings.master, load_variables())
    only_here = [question.id for question in questions if not (question.model_extra or {}).get("wvs_id")]
    return dg.MaterializeResult(
        value=questions,
        metadata={
            "coverage": table_of(coverage_rows(questions, list(extracted_questions))),
            "not_in_the_other_survey": ", ".join(only_here),
        },
        data_version=content_version(questions_to_rows(questions)),
    )


def aligned_questions(
    context: dg.AssetExecutionContext,
    study: Study,
    storage: Storage,
    extracted_questions: list[Question],
    master_questions: list[Question],
) -> dg.MaterializeResult[list[Question]]:
    """The language's questions under canonical ids, in the master's order; those with `unfit` are not asked."""
    from valuesassets.instruments.survey.material.aligned_questions import align_questions
    from valuesassets.instruments.survey.material.alignment.evidence import embedded_evidence, texts_to_embed
    from valuesassets.instruments.survey.material.alignment.match import write_matches
    from valuesassets.instruments.survey.material.alignment.targets import master_targets
    from valuesassets.instruments.survey.material.forms.overrides import read_overrides
    from valuesassets.instruments.survey.material.normalisation import Normalised
    from valuesassets.people.variables import load_variables
    from valuesassets.records.lexicon import known_lexicon

    settings = Questionnaires.of(study)
    language, variables = context.partition_key, load_variables()
    path_to_overrides, links = _overrides(settings, storage, language)
    overrides, likeness = read_overrides(path_to_overrides), None
    if settings.embedder is not None:
        texts = texts_to_embed(extracted_questions, master_targets(master_questions, variables))
        likeness = embedded_evidence(_embedded(context, study, storage, texts), len(extracted_questions))
    normalised = Normalised.of(extracted_questions)
    lexicon = known_lexicon(language, study.languages[language].lexicon)
    dropped = [code for code, override in overrides.items() if override.drop]
    alignment = align_questions(normalised, language, master_questions, variables, dropped, likeness, lexicon)
    table = storage.path(context.asset_key, language, "alignment.csv")
    write_matches(table, {language: alignment})
    review = storage.path(SURVEY.key("extracted_questions"), language, "review.html")
    links = {"every_match": link_to(storage, table)} | links
    links |= {"review": link_to(storage, review)} if review.exists() else {}
    figure = draw_alignment(alignment.matches, language)
    n, most = len(master_questions), study.thresholds.unaligned_questions
    return dg.MaterializeResult(
        value=list(alignment.questions),
        metadata={
            SUMMARY: str(alignment),
            "coverage": alignment.coverage,
            "masked_accuracy": alignment.masked_accuracy if alignment.masked_accuracy is not None else "no codes",
            "matches": _counts(match.status for match in alignment.matches),
        }
        | links
        | ({PICTURE: picture_of(figure)} if figure else {}),
        data_version=content_version(questions_to_rows(alignment.questions)),
        check_results=checks.judged(checks.ALIGNMENT, alignment.matches, n, most, **links),
    )


def _overrides(settings: Questionnaires, storage: Storage, language: str) -> tuple[Path, dict[str, Any]]:
    """Where a person's corrections of a language are looked for, and the same as metadata."""
    path = (settings.overrides or storage.folder / "overrides") / f"{language}.toml"
    return path, {"overrides": dg.MetadataValue.path(str(path)) if path.exists() else str(path)}


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


def _counts(names: Iterable[str]) -> dg.TableMetadataValue:
    """How often each name occurs, as a table of the UI."""
    counts = pd.Series(list(names), dtype=str).value_counts()
    return table_of([{"what": name, "count": int(count)} for name, count in counts.items()])
