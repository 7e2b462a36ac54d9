"""The commands from questionnaires to prompts: `template`, `extract`, `align`, `trials`."""

import csv
import io
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from valuesassets.answers.asked_languages import asked_language
from valuesassets.cli.completion import offer_languages
from valuesassets.cli.inputs import (
    LanguageCode,
    Orders,
    OwnLexicon,
    QuestionsFile,
    TrialsFile,
    read_sound_questions,
    require_file_place,
    require_folder_place,
    trials_of,
)
from valuesassets.cli.outputs import progress_bar, require_trials_place, write_trials_file
from valuesassets.library.questionnaires import Extraction, is_table
from valuesassets.library.questionnaires import align as align_all
from valuesassets.library.questionnaires import extract as extract_from
from valuesassets.records.errors import InputError
from valuesassets.records.extras import require
from valuesassets.records.faults import validated
from valuesassets.records.files import no_such_file, write_text
from valuesassets.records.lexicon import lexicon_template
from valuesassets.records.questions import Question, write_questions
from valuesassets.records.settings.questionnaires import GeminiSettings
from valuesassets.records.zips import packed_file

ARCHIVES = (".zip", ".gz")
"""Endings of archives that may hold one form."""

if TYPE_CHECKING:
    from valuesassets.instruments.survey.material.forms.exchange.entries import LeftOut


def template(
    kind: Annotated[
        Literal["questions", "lexicon", "instrument"],
        typer.Argument(
            help="A table of questions, a lexicon (the words around questions in a language), or the package of an "
            "instrument of your own."
        ),
    ],
    output: Annotated[
        Path,
        typer.Argument(
            help="File to write: CSV, or TOML for a lexicon; of an instrument a new folder, which has its name."
        ),
    ],
) -> None:
    """Write a file to fill in: a table of questions, the words around questions, or the package of an instrument."""
    if kind == "instrument":
        from valuesassets.cli.instrument_template import write_instrument

        write_instrument(output)
        print(f"{output}: the package of an instrument; README.md in it says how to go on")
        return
    from valuesassets.instruments.survey.material.forms.question_tables import TEMPLATE

    if output.exists():
        raise InputError(f"{output}: is there already; choose another name")
    require_file_place(output, "a CSV file" if kind == "questions" else "a TOML file")
    write_text(output, TEMPLATE if kind == "questions" else lexicon_template())
    print(f"{kind} to fill in: {output}")


def extract(
    context: typer.Context,
    form: Annotated[
        Path,
        typer.Argument(
            metavar="FORM",
            readable=False,
            help="Questionnaire: a PDF, a table (.csv, .tsv, .xlsx), or a form of Qualtrics (.qsf), LimeSurvey (.lss), "
            "ODK (.xlsx, .xls, .ods), DDI-Codebook (.xml) or Word (.docx); one in a .zip, too.",
        ),
    ],
    language: LanguageCode,
    output: Annotated[Path, typer.Option(help="Question file to write (JSON).")],
    extractor: Annotated[
        Literal["layout", "gemini"], typer.Option(help="How a PDF is read: by its layout here, or by a Gemini model.")
    ] = "layout",
    model: Annotated[str | None, typer.Option(help="Gemini model to ask; its key is read from GEMINI_API_KEY.")] = None,
    gemini_url: Annotated[str | None, typer.Option(help="Address of Gemini; Google's own if left out.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be sent to Gemini and send nothing.")
    ] = False,
    overrides: Annotated[
        Path | None, typer.Option(readable=False, help="Corrections to apply (TOML, docs/review.md).")
    ] = None,
    review: Annotated[Path | None, typer.Option(help="Page for a person's review to write (HTML).")] = None,
    survey: Annotated[
        Literal["auto", "own"],
        typer.Option(
            help="Whether ids such as v7 and Q46 may be codes of EVS and WVS (auto) or are always your own (own)."
        ),
    ] = "auto",
    lexicon: OwnLexicon = None,
    form_language: Annotated[
        str | None, typer.Option(help="Which language of a form to read, as the form names it; else by --language.")
    ] = None,
    left_out: Annotated[
        Path | None, typer.Option(help="Table of what a form holds beside closed questions, with reasons (CSV).")
    ] = None,
) -> None:
    """Read the questions out of a questionnaire: a PDF, a table, or a form that a survey program keeps."""
    from valuesassets.instruments.survey.material.forms.imported_questions import is_question_table
    from valuesassets.instruments.survey.material.forms.overrides import read_overrides
    from valuesassets.instruments.survey.material.forms.review_page import render_review

    if extractor == "gemini" and not dry_run:
        require("extract --extractor gemini", "gemini")
    asked_language(language, lexicon)
    require_file_place(output, "JSON")
    form = _unpacked(form, context)
    is_pdf = not is_table(form)
    if is_pdf and (form_language is not None or left_out is not None):
        raise InputError(f"{form}: --form-language and --left-out are for forms that are no PDF; leave them out")
    if left_out is not None:
        require_file_place(left_out, "a CSV file")
    if extractor == "gemini" and not is_pdf:
        raise InputError(f"{form}: is a table, which needs no Gemini; leave --extractor out")
    if review is not None:
        if review.resolve() == output.resolve():
            raise InputError(f"{review}: is --output as well; choose another name for --review")
        require_file_place(review, "an HTML page")
    if overrides is not None:
        if not overrides.exists():
            raise InputError(no_such_file(overrides))
        read_overrides(overrides)
    gemini = _gemini_settings(extractor, model, gemini_url)
    cache = output.parent / "gemini_answers"
    if dry_run:
        from valuesassets.instruments.survey.material.forms.gemini.task import plan_extraction

        if extractor != "gemini":
            raise InputError("--dry-run: only the gemini extractor sends anything; add --extractor gemini")
        print(plan_extraction(form, language, gemini, cache))
        return
    with progress_bar(f"reading {form.name}") if is_pdf else nullcontext() as tick:
        extraction = extract_from(
            form,
            language,
            extractor=extractor,
            survey=survey,
            overrides=overrides,
            lexicon=lexicon,
            form_language=form_language,
            gemini=gemini,
            cache=cache,
            on_page=tick,
        )
    examined = extraction.examined
    if not is_pdf:
        _write_left_out(extraction.left_out, left_out)
    if review is not None:
        corrections = overrides or output.with_suffix(".toml")
        write_text(
            review, render_review(examined, form if is_pdf else None, language, corrections, extraction.left_out)
        )
    write_questions(output, examined.questions)
    for fault in examined.faults:
        print(f"{form.name}: {fault.message}", file=sys.stderr)
    _print_extraction(extraction, output, has_columns=is_question_table(form))
    if extraction.second:
        print(f"compared with {extraction.second}: {examined.agreement}")
    if examined.recovery and examined.recovery.printed:
        print(examined.recovery)
    if review is not None:
        print(f"review page: {review}")


def _write_left_out(others: "Sequence[LeftOut]", path: Path | None) -> None:
    """Write what was left out of a form, or print how much and how often for which reason."""
    from valuesassets.instruments.survey.material.forms.exchange.entries import counted_entries

    if path is not None:
        table = io.StringIO()
        rows = csv.writer(table, lineterminator="\n")
        rows.writerows([("id", "text", "reason"), *((each.id, each.text, each.reason) for each in others)])
        write_text(path, table.getvalue())
        print(f"left out: {counted_entries(len(others))}, in {path}")
    elif others:
        reasons = Counter(each.reason for each in others).most_common()
        listed = "; ".join(f"{count} {reason}" for reason, count in reasons[:3])
        print(f"left out: {counted_entries(len(others))} ({listed}); --left-out FILE lists them")


def _unpacked(form: Path, context: typer.Context) -> Path:
    """The one form of an archive, in a folder that goes with the command; any other path as it is; InputError where the
    archive holds no file, or several."""
    if form.suffix.lower() not in ARCHIVES or not form.is_file():
        return form
    try:
        packed = packed_file(form)
    except ValueError as why:
        raise InputError(f"{form}: {why}") from None
    if packed is None:
        return form
    folder = context.with_resource(tempfile.TemporaryDirectory(prefix="form_"))
    name, content = packed
    path = Path(folder, name)
    path.write_bytes(content)
    print(f"{form.name}: holds {name}, which is read")
    return path


def _print_extraction(extraction: Extraction, output: Path, has_columns: bool) -> None:
    """Print how many questions were read, how they are answered, and what was changed in them."""
    from valuesassets.cli.outputs import lines_of_changes, types_of

    examined, form = extraction.examined, extraction.form
    ids = {question.id for question in examined.questions}
    n_faulty = len({fault.question_id for fault in examined.faults} & ids)
    print(f"{len(examined.questions)} questions, {n_faulty} of them to review, in {output}")
    for line in types_of(examined.questions, examined.guessed, has_columns):
        print(line)
    for line in lines_of_changes([*form.changes, *examined.changes]):
        print(line)
    unfit = [question for question in examined.questions if (question.model_extra or {}).get("unfit")]
    if unfit:
        listed = ", ".join(question.id for question in unfit)
        print(f"not asked as they stand: {listed} ({unfit[0].id}: {(unfit[0].model_extra or {})['unfit']})")
    for name, fact in form.facts.items():
        print(f"{name.replace('_', ' ')}: {fact}")


def _gemini_settings(extractor: str, model: str | None, url: str | None) -> GeminiSettings:
    """Which Gemini model is asked, from the options of a command."""
    keys = {key: value for key, value in (("model", model), ("base_url", url)) if value is not None}
    if keys and extractor != "gemini":
        raise InputError(f"--model and --gemini-url are for --extractor gemini (found {extractor}); leave them out")
    return validated(GeminiSettings, keys, InputError, "--gemini-url")


def align(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", readable=False, help="Question files, each named <language>.json."),
    ],
    output: Annotated[Path, typer.Option(help="Folder for master_questions.json, <language>.json, alignment.csv.")],
    master: Annotated[
        str,
        typer.Option(
            autocompletion=offer_languages, help="Language (ISO 639-3) whose questions the others are aligned to."
        ),
    ] = "eng",
    embedder: Annotated[
        str | None,
        typer.Option(help="Sentence-transformers model as further evidence: hub id or folder; none if left out."),
    ] = None,
) -> None:
    """Find out which questions of several languages are the same question, and write one master list of them."""
    from valuesassets.instruments.survey.material.alignment.match import write_matches

    extracted = _read_by_language(files, output)
    if master not in extracted:
        raise InputError(
            f"no file {master}.json among the {len(files)} given; it makes the master list: add it, or name another "
            "language with --master"
        )
    if embedder:
        require("align --embedder", "models")
    require_folder_place(output)
    aligned = align_all(
        extracted, master, embedder=embedder, sources={language: f"{language}.json" for language in extracted}
    )
    for language, alignment in aligned.alignments.items():
        print(f"{language}: {alignment}")
    write_questions(output / "master_questions.json", aligned.master)
    for language, questions in aligned.questions.items():
        write_questions(output / f"{language}.json", questions)
    write_matches(output / "alignment.csv", aligned.alignments)
    print(f"every match and why: {output / 'alignment.csv'}")


def _read_by_language(files: list[Path], output: Path) -> dict[str, list[Question]]:
    """The questions of each file by the language in its name; no file may be one of the output."""
    from valuesassets.instruments.survey.material.forms.imported_questions import read_imported

    extracted: dict[str, list[Question]] = {}
    for file in files:
        if not file.exists():
            raise InputError(no_such_file(file))
        if file.is_dir():
            raise InputError(f"{file}: is a folder, question files were expected; name the files in it")
        if not re.fullmatch("[a-z]{3}", file.stem):
            raise InputError(f"{file}: a name such as eng.json was expected (ISO 639-3 code); rename the file")
        if file.stem in extracted:
            raise InputError(f"{file}: a second file for {file.stem}; give one file per language")
        if file.resolve() == (output / f"{file.stem}.json").resolve():
            raise InputError(f"{file}: would be overwritten; choose another folder for --output")
        extracted[file.stem], _ = read_imported(file)
    return extracted


def trials(
    questions: QuestionsFile,
    language: LanguageCode,
    output: TrialsFile,
    orders: Orders = "both",
    lexicon: OwnLexicon = None,
) -> None:
    """Write the prompts of a question file, each question in several orders of its answer options."""
    prompts = trials_of(questions, read_sound_questions(questions), language, orders, lexicon=lexicon)
    require_trials_place(output)
    write_trials_file(output, prompts)
    print(f"{len(prompts)} trials of {len({trial.asked_id for trial in prompts})} questions in {output}")
