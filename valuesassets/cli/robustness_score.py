"""The command `robustness score`: diversity and robustness of answers that were made anywhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from valuesassets.cli.inputs import require_folder_place
from valuesassets.cli.outputs import progress_bar
from valuesassets.cli.robustness_outcome import print_scores

if TYPE_CHECKING:
    import pandas as pd


def score(
    answers: Annotated[
        Path,
        typer.Option(
            readable=False,
            help="Folder of <code>_{unspecific,specific}.jsonl[.gz], or of <code>.parquet as `read` writes.",
        ),
    ],
    output: Annotated[Path, typer.Option(help="Folder for scores.csv, answer_quality.csv, clustering/ and more.")],
    vectors: Annotated[
        Path | None, typer.Option(readable=False, help="Vectors (parquet): language,kind,id,sample,vector.")
    ] = None,
    embedder: Annotated[
        str | None, typer.Option(help="In place of --vectors: hub id or folder of a sentence-transformers model.")
    ] = None,
    questions: Annotated[
        str | None, typer.Option(help="Folder of the questions that were answered, or: bundled.")
    ] = None,
    countries: Annotated[
        Path | None, typer.Option(readable=False, help="What anchors are: CSV with anchor,country[,persona].")
    ] = None,
    own_countries: Annotated[
        Path | None, typer.Option(readable=False, help="Each language's own country: CSV with language,country.")
    ] = None,
    resamples: Annotated[int, typer.Option(min=99, help="Resamples and permutations.")] = 2000,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
) -> None:
    """Say whether answers differ by culture beyond language, and whether a named country overrides it."""
    from valuesassets.instruments.cultural_robustness.answer_files import read_answer_files, read_written_answers
    from valuesassets.instruments.cultural_robustness.answer_quality import judge_answers
    from valuesassets.instruments.cultural_robustness.clustering import write_clustering
    from valuesassets.instruments.cultural_robustness.countries import read_own_countries
    from valuesassets.instruments.cultural_robustness.questions import all_questions, read_questions
    from valuesassets.instruments.cultural_robustness.scores import measure_model
    from valuesassets.instruments.cultural_robustness.seed_columns import seed_scores
    from valuesassets.records.settings.measuring import Inference

    if (vectors is None) == (embedder is None):
        raise typer.BadParameter("--vectors or --embedder says where vectors come from; name one of them")
    require_folder_place(output)
    asked = read_questions(questions, countries) if questions is not None else None
    own = read_own_countries(own_countries) if own_countries is not None else {}
    is_written_here = any(answers.glob("*.parquet"))
    answered = read_written_answers(answers, asked) if is_written_here else read_answer_files(answers, asked, countries)
    quality = judge_answers(answered)
    found, doubt = _vectors(answered, quality, vectors, embedder, asked)
    name = answers.resolve().name
    measured = measure_model(
        name,
        found,
        all_questions(asked) if asked is not None else _asked_of(answered),
        answered=answered,
        quality=quality,
        own_countries=own,
        inference=Inference(resamples=resamples).with_seed(seed),
    )
    published = seed_scores(found, name, seed=seed)
    import pandas as pd

    measured["scores"] = pd.concat([measured["scores"], published.scores], ignore_index=True)
    _write(output, measured, quality)
    write_clustering(output / "clustering", published.clustered, name)
    print_scores(measured["scores"], quality, measured["dropped"])
    if doubt is not None:
        print(f"Doubtful: {doubt}")
    print(f"{output}: scores.csv, answer_quality.csv, dropped.csv, language_groups.csv, clustering/")


def _vectors(
    answered: "pd.DataFrame",
    quality: "pd.DataFrame",
    vectors: Path | None,
    embedder: str | None,
    questions: "dict[str, pd.DataFrame] | None",
) -> "tuple[pd.DataFrame, str | None]":
    """The vectors of answers, and of questions where they are known; and why the embedder is doubted, if it is."""
    import pandas as pd

    from valuesassets.instruments.cultural_robustness import vectors as made
    from valuesassets.instruments.cultural_robustness.embedder_doubts import (
        embedder_doubt,
        languages_of_card,
        letters_per_token,
    )
    from valuesassets.instruments.cultural_robustness.question_vectors import question_rows, question_texts
    from valuesassets.instruments.cultural_robustness.vector_files import match_vectors, read_vectors

    languages = list(dict.fromkeys(answered["language"]))
    if vectors is not None:
        found = match_vectors(read_vectors(vectors), quality, source=str(vectors))
        return found, embedder_doubt(found, languages, f"the embedder of {vectors.name}")
    from valuesassets.models.embedding import open_embedder

    opened = open_embedder(str(embedder))
    told = made.embeddable(answered, quality)
    with progress_bar("embedding") as tick:
        embedded = opened.embed(list(told["text"]), on_progress=tick)
        found = made.answer_vectors(told, quality, embedded.vectors)
        if questions is not None:
            asked = question_texts(questions)
            of_questions = question_rows(asked, opened.embed(list(asked["prompt"]), on_progress=tick).vectors)
            found = pd.concat([found, of_questions], ignore_index=True)
    spelled = letters_per_token(told["language"], told["text"], embedded.n_tokens)
    return found, embedder_doubt(found, languages, str(embedder), languages_of_card(opened.folder), spelled)


def _asked_of(answered: "pd.DataFrame") -> "pd.DataFrame":
    """What was asked, as the answers themselves say it."""
    import pandas as pd

    once = answered.drop_duplicates(["language", "id"]).reset_index(drop=True)
    anchors = [name.partition("-")[2] for name in once["id"]]
    columns = ["language", "id", "question_id", "country", "persona", "prompt"]
    return once.loc[:, columns].assign(
        anchor=pd.array([int(each) if each else None for each in anchors], dtype="Int64")
    )


def _write(output: Path, measured: "dict[str, pd.DataFrame]", quality: "pd.DataFrame") -> None:
    """The tables as CSV, whole or not at all; scores last, as they stand for all."""
    from valuesassets.records.csv_tables import csv_text
    from valuesassets.records.files import write_text

    columns = {"dropped": ["language", "reason"], "language_groups": ["language", "group"]}
    (output / "scores.csv").unlink(missing_ok=True)
    for name in ("language_pairs", "country_profiles", "language_groups", "dropped"):
        frame = measured[name]
        write_text(output / f"{name}.csv", csv_text(frame.loc[:, columns.get(name, list(frame.columns))]))
    write_text(output / "answer_quality.csv", csv_text(quality))
    write_text(output / "scores.csv", csv_text(measured["scores"]))
