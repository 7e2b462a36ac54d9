"""`valuesassets ...`: the library without Dagster. Heavy imports wait until a command needs them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from valuesassets.records.errors import InputError, JobError, MissingData, ValuesAssetsError
from valuesassets.records.files import whole_file
from valuesassets.records.questions import Question, read_questions, require_sound, write_questions
from valuesassets.records.study import Elicitation, Family, Study, load_study

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)
QuestionsFile = Annotated[Path, typer.Option("--questions", help="Question file (JSON).")]
LanguageCode = Annotated[str, typer.Option("--language", help="ISO 639-3 code of the questions' language.")]
Orders = Annotated[str, typer.Option("--orders", help="both, all, cyclic, or a number of seeded orders.")]
REPOSITORY = Path(__file__).resolve().parent.parent


@app.callback()
def _options(debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False) -> None:
    """The values that a language model carries, asked and measured."""
    if debug:
        os.environ["VALUESASSETS_DEBUG"] = "1"


@app.command()
def extract(
    pdf: Path,
    language: LanguageCode,
    output: Annotated[Path, typer.Option(help="Question file to write (JSON).")],
    extractor: Annotated[Literal["layout"], typer.Option(help="How to read the PDF.")] = "layout",
) -> None:
    """Read the questions out of a questionnaire PDF."""
    from valuesassets.instruments.survey.extracted_questions import extract_questions, extraction_faults

    with progress_bar(f"reading {pdf.name}") as tick:
        questions = extract_questions(pdf, language, extractor, on_page=tick)
    write_questions(output, questions)
    faults = extraction_faults(questions, pdf, language)
    for fault in faults:
        print(f"{fault.question_id} (page {fault.page}): {fault.message}", file=sys.stderr)
    faulty = len({fault.question_id for fault in faults})
    print(f"{len(questions)} questions, {faulty} of them to review, in {output}")


@app.command()
def align(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Question files named <language>.json.")],
    output: Annotated[Path, typer.Option(help="Folder for master_questions.json, <language>.json, alignment.csv.")],
    master: Annotated[str, typer.Option(help="The language that makes the master list.")] = "eng",
) -> None:
    """Align the questions of several languages into one master list."""
    import pandas as pd

    from valuesassets.instruments.survey.aligned_questions import align_questions
    from valuesassets.instruments.survey.master_questions import list_master_questions
    from valuesassets.instruments.survey.variables import load_variables

    extracted = {file.stem: read_questions(file) for file in files}
    if master not in extracted:
        raise InputError(f"no file {master}.json among the {len(files)} given; it makes the master list")
    masters = list_master_questions(extracted, master, load_variables())
    alignments = {language: align_questions(questions, masters) for language, questions in extracted.items()}
    rows = [{"language": language} | vars(match) for language, a in alignments.items() for match in a.matches]
    write_questions(output / "master_questions.json", masters)
    for language, alignment in alignments.items():
        write_questions(output / f"{language}.json", alignment.questions)
    with whole_file(output / "alignment.csv") as temporary:
        pd.DataFrame(rows).to_csv(temporary, index=False)
    for language, alignment in alignments.items():
        print(f"{language}: {len(alignment.questions)} of {len(masters)} questions aligned")
    print(f"every match and why: {output / 'alignment.csv'}")


@app.command()
def trials(
    questions: QuestionsFile,
    language: LanguageCode,
    output: Annotated[Path, typer.Option(help="Trials to write (parquet).")],
    orders: Orders = "both",
) -> None:
    """Write the prompts of a question file, in every order."""
    from valuesassets.records.schemas import TRIALS, trial_rows, write_table

    written = trials_of(read_sound_questions(questions), language, orders)
    write_table(output, trial_rows(written), TRIALS)
    print(f"{len(written)} trials of {len({t.asked_id for t in written})} questions in {output}")


@app.command()
def probe(
    model: Annotated[str, typer.Option(help="Hub id or folder.")],
    questions: QuestionsFile,
    language: LanguageCode,
    output: Annotated[Path, typer.Option(help="Answer distributions to write (parquet).")],
    revision: Annotated[str | None, typer.Option(help="Commit or tag of the hub.")] = None,
    dtype: Annotated[Literal["float32", "bfloat16", "auto"], typer.Option(help="Weights in memory.")] = "auto",
    device: Annotated[Literal["cpu", "cuda", "auto"], typer.Option(help="Where to compute.")] = "auto",
    orders: Orders = "both",
) -> None:
    """Ask a model every question and read the answer distributions off its next-token probabilities."""
    from valuesassets.instruments.survey.probe_distributions import Cell, derive_probe_distributions
    from valuesassets.instruments.survey.variables import load_variables
    from valuesassets.models.loading import load_model
    from valuesassets.models.scoring import score_trials
    from valuesassets.records.schemas import PROBE_DISTRIBUTIONS, write_table

    sound = read_sound_questions(questions)
    written, variables = trials_of(sound, language, orders), load_variables()
    loaded = load_model(model, revision, dtype, device)
    with progress_bar("reading answers") as tick:
        scored = score_trials(loaded, written, on_progress=tick)
    name = Path(model).name if Path(model).is_dir() else model
    rows = derive_probe_distributions(
        written,
        scored.readings,
        Cell(model_id=name, model_type="mono", model=name, language=language),
        {question.id: str(question.response_type) for question in sound},
        frozenset(question.id for question in sound if variables.is_converted(question.id)),
    )
    metadata = {"orders": orders} | {
        key: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for key, value in (loaded.describe() | scored.describe()).items()
    }
    write_table(output, rows, PROBE_DISTRIBUTIONS, metadata)
    unread = {row["question_id"] for row in rows if row["status"] != "ok"}
    print(
        f"{len({row['question_id'] for row in rows})} questions in {output}"
        + (f", {len(unread)} unread" * bool(unread))
    )


@app.command()
def calibrate(questions: QuestionsFile, language: LanguageCode) -> None:
    """Train a phantom on these prompts and print how well what was planted is recovered; exit 1 when it is off."""
    import tempfile

    import pandas as pd

    from valuesassets.instruments.survey.calibration import compare_with_plants, summarise_recovery
    from valuesassets.instruments.survey.plants import planted_answers
    from valuesassets.instruments.survey.reference_models import planted_text_rows
    from valuesassets.models.reference import train_phantom

    sound = read_sound_questions(questions)
    study, family = calibration_study(language), "reference-mono"
    answers: dict[str, dict[str, float]] = {}
    for row in planted_text_rows(trials_of(sound, language, "both"), sound, family, study):
        answers.setdefault(str(row["prompt"]), {})[str(row["answer_text"])] = float(row["prob"])
    steps = study.phantom.steps
    with tempfile.TemporaryDirectory(prefix="valuesassets-") as folder:
        phantom, probed = Path(folder, "phantom"), Path(folder, "probe.parquet")
        with progress_bar("training the phantom") as tick:
            train_phantom(answers, phantom, steps, study.seed, lambda done, _: tick(done, steps))
        probe(str(phantom), questions, language, probed, dtype="float32", device="cpu")
        recovered = pd.read_parquet(probed).assign(model=family)
    comparison = compare_with_plants(recovered, planted_answers(study, {language: sound}, [family]))
    summary = summarise_recovery(comparison, study.phantom)
    print_recovery(summary)
    if not summary.is_recovered.all():
        raise MissingData("the phantom was not recovered within the study's bounds; see the rows marked off")


@app.command(name="map")
def draw_map(
    distributions: Annotated[Path, typer.Option(help="Folder of probe parquets.")],
    output: Annotated[Path, typer.Option(help="Folder for cultural_map.csv, .png and .svg.")],
) -> None:
    """Place probed models on the Inglehart-Welzel map."""
    import pandas as pd

    from valuesassets.figures.cultural_map import draw_cultural_map
    from valuesassets.figures.style import save_figure
    from valuesassets.instruments.survey.cultural_map import place_on_map
    from valuesassets.instruments.survey.quality_report import report_quality, usable_answers
    from valuesassets.records.schemas import HUMAN_DISTRIBUTIONS, PROBE_DISTRIBUTIONS, read_table

    files = sorted(distributions.rglob("*.parquet"))
    if not files:
        raise MissingData(f"{distributions}: no parquet files; write some with `valuesassets probe`")
    frames = [read_table(file, PROBE_DISTRIBUTIONS).to_pandas() for file in files]
    probed = pd.concat([frame.astype(object) for frame in frames], ignore_index=True).infer_objects()
    atlas = load_study("evs2017")
    cells = list(probed[["model", "language"]].drop_duplicates().itertuples(index=False, name=None))
    unknown = {language for _, language in cells} - set(atlas.languages)
    if unknown:
        raise InputError(f"{distributions}: no reference country is known for {', '.join(sorted(unknown))}")
    families = {
        model: Family(kind="huggingface", model_type="multi", model_id=str(model)) for model in probed.model.unique()
    }
    study = atlas.model_copy(update={"families": families})
    quality = report_quality(probed, cells, study.thresholds)
    points = place_on_map(usable_answers(probed, quality), HUMAN_DISTRIBUTIONS.empty_table().to_pandas(), study)
    with whole_file(output / "cultural_map.csv") as temporary:
        points.to_csv(temporary, index=False)
    save_figure(draw_cultural_map(points), output / "cultural_map")
    placed = points[points.kind == "model"]
    for row in placed.itertuples():
        where = f"{row.x:+.2f} {row.y:+.2f}" if row.drawn else f"not drawn: {row.note}"
        print(f"{row.model} {row.language}: {where}")
    print(f"figure: {output / 'cultural_map.png'}")


@app.command()
def study(name: Annotated[str, typer.Argument(metavar="STUDY", help="Bundled name or path.")]) -> None:
    """Check a study file and print what it would build."""
    found = load_study(name)
    print(f"{found.name}: {found.title}")
    print(f"questionnaires: {found.questionnaires.source}, master {found.questionnaires.master}")
    print(f"languages ({len(found.languages)}): {', '.join(found.languages)}")
    for label, family in found.families.items():
        served, asked = found.family_languages(label), family.resources
        model = family.model_id or "trained here on planted answers"
        print(
            f"family {label}: {model}, {family.model_type}, {len(served)} languages, {family.dtype}; "
            f"per cell {asked.gpus} GPU, {asked.memory_gib} GiB, {asked.hours:g} h"
        )
    print(f"cells: {len(found.cells())}; orders {found.elicitation.orders}, wordings {found.elicitation.wordings}")


@app.command()
def run(name: Annotated[str, typer.Argument(metavar="STUDY", help="Bundled name or path.")]) -> None:
    """Materialise a whole study, skipping what is fresh, and print what came out."""
    run_graph(name)


@app.command()
def demo() -> None:
    """Materialise the demonstration study and print what came out."""
    run_graph("demo")


def run_graph(name: str) -> None:
    """Start the graph of a study as a process, wait for it, print calibration, quality and where things are.

    Raises:
        JobError: a run failed; its lines were printed.
    """
    found = load_study(name)
    storage = Path(os.environ.get("VALUESASSETS_STORAGE") or REPOSITORY / "storage")
    database = Path(os.environ.get("VALUESASSETS_DAGSTER") or storage / "dagster")
    database.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {
        "DAGSTER_HOME": os.environ.get("DAGSTER_HOME") or str(REPOSITORY),
        "VALUESASSETS_STORAGE": str(storage),
        "VALUESASSETS_DAGSTER": str(database),
        "VALUESASSETS_STUDY": name,
    }
    command = [sys.executable, "-m", "valuesassets.definitions", name, "--storage", str(storage)]
    status = subprocess.run(command, env=environment, check=False).returncode
    print_outcome(found, storage / found.name / "survey")
    if status != 0:
        raise JobError(f"study {found.name}: a run failed; the lines above say which, the UI shows its log")


def print_outcome(found: Study, folder: Path) -> None:
    """Print calibration per response type, the quality summary, and where report and map are."""
    import pandas as pd

    compared = [pd.read_parquet(file) for file in sorted(folder.glob("calibration/*/*.parquet"))]
    if compared:
        from valuesassets.instruments.survey.calibration import summarise_recovery

        pooled = pd.concat(compared, ignore_index=True).assign(language="all")
        print("\nCalibration: planted against recovered (mean | 95th percentile)")
        print_recovery(summarise_recovery(pooled, found.phantom))
    cells_file = folder / "quality_report" / "cells.parquet"
    if cells_file.exists():
        cells = pd.read_parquet(cells_file)
        print("\nQuality: which cells can be trusted")
        for row in cells.itertuples():
            median = "missing" if row.is_missing else f"median P_valid {row.median_p_valid:.2f}"
            usable = "" if row.is_missing else f", {row.n_usable} of {row.n_questions} questions usable"
            print(
                f"  {row.model:<16} {row.language}  {median}{usable}{'  FLAGGED: ' + row.reason if row.reason else ''}"
            )
    for title, file in {
        "report": folder / "report" / "report.html",
        "map": folder / "cultural_map" / "cultural_map.png",
    }.items():
        print(f"{title}: {file if file.exists() else 'not written'}")


def print_recovery(summary: "pd.DataFrame") -> None:  # noqa: F821  # pandas is imported where it is needed
    """Print a recovery summary, a row per family and response type."""
    for row in summary.itertuples():
        verdict = "recovered" if row.is_recovered else f"OFF: {row.reason}"
        print(
            f"  {row.model:<16} {row.response_type:<12} n {row.n:>4}  "
            f"W1 {row.w1_unit_error_mean:.4f} | {row.w1_unit_error_p95:.4f}  "
            f"P_valid {row.p_valid_error_mean:.4f} | {row.p_valid_error_p95:.4f}  "
            f"position bias {row.position_bias_error_mean:.4f} | {row.position_bias_error_p95:.4f}  {verdict}"
        )


def read_sound_questions(path: Path) -> list[Question]:
    """The questions of a file, every one fit to be asked."""
    return require_sound(read_questions(path), str(path))


def trials_of(questions: list[Question], language: str, orders: str) -> list:
    """The trials of a question file."""
    from valuesassets.instruments.survey.lexicon import load_lexicon
    from valuesassets.instruments.survey.trials import write_trials
    from valuesassets.instruments.survey.variables import load_variables

    asked = int(orders) if orders.isdigit() else orders
    if asked not in ("both", "all", "cyclic") and not (isinstance(asked, int) and asked > 0):
        raise typer.BadParameter(f"--orders {orders}: both, all, cyclic or a positive number was expected")
    elicitation = Elicitation.model_validate({"orders": asked})
    return write_trials(questions, language, load_lexicon(language), load_variables(), elicitation)


def calibration_study(language: str) -> Study:
    """A study of one language and one reference family, with the demo's seed and bounds."""
    every = {**load_study("evs2017").languages, **load_study("demo").languages}
    if language not in every:
        raise InputError(f"language {language}: no country is known for it; known are {', '.join(sorted(every))}")
    pattern = load_study("demo")
    families = {"reference-mono": pattern.families["reference-mono"]}
    return Study.model_validate(
        pattern.model_dump()
        | {
            "name": "calibration",
            "questionnaires": pattern.questionnaires.model_dump() | {"master": language},
            "languages": {language: every[language].model_dump()},
            "families": {name: family.model_dump() for name, family in families.items()},
        }
    )


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr; gives the function to call with (done, total)."""
    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def main() -> None:
    """Run a command: exit 0; 2 for wrong usage; 1 for anything else, with one line on stderr."""
    try:
        app()
    except Exception as error:
        if os.environ.get("VALUESASSETS_DEBUG"):
            raise
        line = str(error) if isinstance(error, ValuesAssetsError) else f"{type(error).__name__}: {error}"
        print(" ".join(line.split()) or type(error).__name__, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
