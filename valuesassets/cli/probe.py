"""The commands `read` (any trials to a model), `probe` (a survey to a model) and `map` (answers on the map)."""

from pathlib import Path
from typing import Annotated

import typer

from valuesassets.answers.asked_languages import named_language
from valuesassets.cli.asking import choose_model
from valuesassets.cli.inputs import (
    LanguageCode,
    Orders,
    OwnLexicon,
    QuestionsFile,
    read_sound_questions,
    require_file_place,
    require_folder_place,
    trials_of,
)
from valuesassets.cli.options import ModelOptions
from valuesassets.cli.outputs import print_answers, unread_part
from valuesassets.library.answering import answer_rows_of
from valuesassets.records.errors import InputError, MissingData
from valuesassets.records.files import write_text
from valuesassets.records.trials import Status


def read(
    trials: Annotated[Path, typer.Option(readable=False, help="Trials to ask, all read in the same way (parquet).")],
    output: Annotated[Path, typer.Option(help="File for the readings, or for the answers that are written (parquet).")],
    options: ModelOptions,
) -> None:
    """Put a file of trials to a model and write its replies; each one that fails is a row with its reason."""
    from valuesassets.records.parquet import read_trials

    questions = read_trials(trials)
    if not questions:
        raise InputError(f"{trials}: no trials in it; name a file that has some")
    require_file_place(output, "a parquet file")
    if output.exists() and output.samefile(trials):
        raise InputError(f"{output}: is the file of trials; choose another name for what comes back")
    replies = choose_model(options).ask(questions)
    replies.asking.write(output, replies.records, replies.description)
    unread = [record for record in replies.records if record.status is not Status.OK]
    first = f", first {unread[0].trial_id}: {unread[0].reason}" if unread else ""
    things = f"{len(replies.records)} {replies.asking.things}"
    if len(unread) == len(replies.records):
        raise MissingData(f"{options.model}: none of {things} could be made{first}; see {output}")
    print(f"{things} in {output}" + (f", {len(unread)} of them without{first}" if first else ""))


def probe(
    questions: QuestionsFile,
    language: LanguageCode,
    output: Annotated[Path, typer.Option(help="File for the answers: parquet, or CSV where the name ends in .csv.")],
    *,
    orders: Orders = "both",
    lexicon: OwnLexicon = None,
    options: ModelOptions,
) -> None:
    """Ask a model every question of a file and read the probability of each answer."""
    from valuesassets.records.csv_tables import write_csv
    from valuesassets.records.parquet import write_table
    from valuesassets.records.tables import PROBE_DISTRIBUTIONS

    sound = read_sound_questions(questions)
    trials = trials_of(questions, sound, language, orders, lexicon=lexicon)
    is_csv = output.suffix.lower() == ".csv"
    require_file_place(output, "CSV" if is_csv else "a parquet file")
    replies = choose_model(options).ask(trials, "reading answers")
    rows = answer_rows_of(sound, trials, replies.readings, replies.model)
    n_questions = len({row["question_id"] for row in rows})
    unread = {row["question_id"]: row["reason"] for row in rows if row["status"] != "ok"}
    reasons = [f"{question}: {reason}" for question, reason in unread.items()]
    end = unread_part(replies.model, n_questions, reasons, "questions could be read", "use another model")
    if is_csv:
        write_csv(output, PROBE_DISTRIBUTIONS.frame(rows), PROBE_DISTRIBUTIONS)
    else:
        write_table(output, rows, PROBE_DISTRIBUTIONS, {"orders": orders} | replies.description)
    print_answers(rows, sound)
    print(f"{n_questions} questions in {output}{end}")


def draw_map(
    distributions: Annotated[Path, typer.Option(readable=False, help="Folder of the files that `probe` has written.")],
    output: Annotated[Path, typer.Option(help="Folder for cultural_map.csv and the figures.")],
) -> None:
    """Place models on the Inglehart-Welzel cultural map by the answers that `probe` has read."""
    from valuesassets.figures.cultural_map import draw_cultural_map
    from valuesassets.figures.cultural_map_column import draw_cultural_map_column
    from valuesassets.figures.saving import save_figure
    from valuesassets.instruments.survey.measures.probed_map import place_probes, read_probes
    from valuesassets.records.csv_tables import csv_text
    from valuesassets.records.frames import records

    require_folder_place(output)
    probed = read_probes(distributions)
    languages = {language: named_language(language) for language in sorted(set(map(str, probed["language"])))}
    points, cells = place_probes(probed, languages, distributions)
    figure = draw_cultural_map(points)
    write_text(output / "cultural_map.csv", csv_text(points))
    save_figure(figure, output / "cultural_map")
    save_figure(draw_cultural_map_column(points), output / "cultural_map_column")
    placed = {(row["model"], row["language"]): row for row in records(points) if row["kind"] == "model"}
    for cell in cells:
        row = placed.get(cell)
        if row is None:
            place = "not drawn: none of its answers can be trusted"
        else:
            place = f"{row['x']:+.2f} {row['y']:+.2f}" if row["drawn"] else row["note"]
        print(f"{' '.join(cell)}: {place}")
    print(f"figure: {output / 'cultural_map.png'}")
