"""The commands of cultural robustness: look at questions, write trials, score answers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valuesassets.cli.completion import offer_languages
from valuesassets.cli.inputs import Resamples, Seed, TrialsFile, require_folder_place
from valuesassets.cli.outputs import ends_of, progress_bar, require_trials_place, write_trials_file
from valuesassets.records.errors import QuestionError
from valuesassets.records.extras import require
from valuesassets.records.frames import records

if TYPE_CHECKING:
    import pandas as pd


CountriesFile = Annotated[
    Path | None, typer.Option("--countries", readable=False, help="What anchors are: CSV of anchor,country[,persona].")
]


def score(
    answers: Annotated[
        Path,
        typer.Option(
            readable=False,
            help="Folder of answers: <code>_{unspecific,specific}.jsonl[.gz], or <code>.parquet as `read` writes it.",
        ),
    ],
    output: Annotated[Path, typer.Option(help="Folder for scores.csv, answer_quality.csv, clustering/ and more.")],
    vectors: Annotated[
        Path | None,
        typer.Option(readable=False, help="Vectors of the answers (parquet): language,kind,id,sample,vector."),
    ] = None,
    embedder: Annotated[
        str | None, typer.Option(help="In place of --vectors: hub id or folder of a sentence-transformers model.")
    ] = None,
    questions: Annotated[
        str | None, typer.Option(help="Folder of the questions that were answered, or: bundled.")
    ] = None,
    countries: CountriesFile = None,
    own_countries: Annotated[
        Path | None, typer.Option(readable=False, help="Each language's own country: CSV of language,country.")
    ] = None,
    resamples: Resamples = 2000,
    seed: Seed = 0,
) -> None:
    """Measure whether answers differ by culture beyond language, and whether naming a country overrides that."""
    from valuesassets.instruments.cultural_robustness.answers.answer_files import (
        read_answer_files,
        read_written_answers,
    )
    from valuesassets.instruments.cultural_robustness.answers.answer_quality import judge_answers
    from valuesassets.instruments.cultural_robustness.material.countries import read_own_countries
    from valuesassets.instruments.cultural_robustness.material.questions import all_questions, read_questions
    from valuesassets.instruments.cultural_robustness.measures.scores import measure_model
    from valuesassets.instruments.cultural_robustness.published.clustering import write_clustering
    from valuesassets.instruments.cultural_robustness.published.columns import published_scores
    from valuesassets.records.settings.measuring import Inference

    if (vectors is None) == (embedder is None):
        raise typer.BadParameter("--vectors or --embedder says where vectors come from; name one of them")
    if embedder is not None:
        require("cultural_robustness score --embedder", "models")
    require_folder_place(output)
    by_language = read_questions(questions, countries) if questions is not None else None
    country_by_language = read_own_countries(own_countries) if own_countries is not None else {}
    is_written_here = any(answers.glob("*.parquet"))
    answered = (
        read_written_answers(answers, by_language)
        if is_written_here
        else read_answer_files(answers, by_language, countries)
    )
    quality = judge_answers(answered)
    embedded, doubt = _vectors(answered, quality, vectors, embedder, by_language)
    name = answers.resolve().name
    measured = measure_model(
        name,
        embedded,
        all_questions(by_language) if by_language is not None else _questions_of(answered),
        answered=answered,
        quality=quality,
        own_countries=country_by_language,
        inference=Inference(resamples=resamples).with_seed(seed),
    )
    published = published_scores(embedded, name, seed=seed)
    import pandas as pd

    measured["scores"] = pd.concat([measured["scores"], published.scores], ignore_index=True)
    _write(output, measured, quality)
    write_clustering(output / "clustering", published.clustered, name)
    _print(measured["scores"], quality, measured["dropped"])
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

    from valuesassets.instruments.cultural_robustness.answers.question_vectors import question_rows, question_texts
    from valuesassets.instruments.cultural_robustness.answers.vector_files import match_vectors, read_vectors
    from valuesassets.instruments.cultural_robustness.answers.vectors import answer_vectors, embeddable
    from valuesassets.instruments.cultural_robustness.measures.embedder_doubts import (
        embedder_doubt,
        languages_of_card,
        letters_per_token,
    )

    languages = list(dict.fromkeys(answered["language"]))
    if vectors is not None:
        matched = match_vectors(read_vectors(vectors), quality, source=str(vectors))
        return matched, embedder_doubt(matched, languages, f"the embedder of {vectors.name}")
    from valuesassets.models.embedding import open_embedder

    opened = open_embedder(str(embedder))
    texts = embeddable(answered, quality)
    with progress_bar("embedding") as tick:
        vectors_of_texts = opened.embed(list(texts["text"]), on_progress=tick)
        frame = answer_vectors(texts, quality, vectors_of_texts.vectors)
        if questions is not None:
            prompts = question_texts(questions)
            of_questions = question_rows(prompts, opened.embed(list(prompts["prompt"]), on_progress=tick).vectors)
            frame = pd.concat([frame, of_questions], ignore_index=True)
    spelled = letters_per_token(texts["language"], texts["text"], vectors_of_texts.n_tokens)
    return frame, embedder_doubt(frame, languages, str(embedder), languages_of_card(opened.folder), spelled)


def _questions_of(answered: "pd.DataFrame") -> "pd.DataFrame":
    """The questions that were answered, as the answers themselves have them."""
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


def _print(scores: "pd.DataFrame", quality: "pd.DataFrame", dropped: "pd.DataFrame") -> None:
    """Print which answers count, which languages are compared, and a line for each score or why it is missing."""
    from valuesassets.instruments.cultural_robustness.report.claims import weaknesses

    counts = ", ".join(f"{n} {status}" for status, n in quality["status"].value_counts().items())
    print(f"{len(quality)} answers: {counts}")
    for weakness in weaknesses(quality):
        print(weakness)
    for row in records(dropped):
        print(f"{row['language']} is left out: {row['reason']}")
    for row in records(scores):
        name = f"  {row['model']:<14} {row['score']:<22}"
        if row["value"] is None or row["value"] != row["value"]:
            print(f"{name} {row['status']}: {row['reason']}")
            continue
        has = {column: row[column] is not None and row[column] == row[column] for column in ("p", "null")}
        p = f"  p {row['p']:.3g}" if has["p"] else ""
        null = f"  null {row['null']:+.4f}" if has["null"] else ""
        print(f"{name} {row['value']:+.4f}{ends_of(row, spec='+.4f')}{p}{null}")


Questions = Annotated[
    str,
    typer.Option(help="Folder of questions, <code>_unspecific.jsonl and <code>_specific.jsonl[.gz], or: bundled."),
]


def questions(questions: Questions, countries: CountriesFile = None) -> None:
    """Check questions in many languages: the same questions in each, in its own words, about the same countries."""
    from valuesassets.instruments.cultural_robustness.material.question_report import count_faults, report_questions
    from valuesassets.instruments.cultural_robustness.material.questions import read_questions
    from valuesassets.records.frames import records

    by_language = read_questions(questions, countries)
    report = report_questions(by_language)
    for row in records(report):
        print(f"{row['language']} {row['id'] or '':<8} {'warning' if row['is_warning'] else 'fault':<8} {row['what']}")
    n_faults, n_warnings = count_faults(report)
    n_prompts = sum(map(len, by_language.values()))
    print(f"{questions}: {n_prompts} prompts in {len(by_language)} languages, {n_faults} faults, {n_warnings} warnings")
    if n_faults:
        raise QuestionError(
            f"{questions}: {n_faults} faults, the lines above say which; mend them before models answer"
        )


def trials(
    questions: Questions,
    language: Annotated[
        str,
        typer.Option(
            autocompletion=offer_languages, help="Language to write, by ISO 639-3 or 639-1 code, such as ell or el."
        ),
    ],
    output: TrialsFile,
    countries: CountriesFile = None,
    chat: Annotated[bool, typer.Option("--chat", help="For models with a chat template; else as bare text.")] = False,
    samples: Annotated[int, typer.Option(min=1, help="Answers to each question without a country.")] = 8,
    samples_anchored: Annotated[int, typer.Option(min=1, help="Answers to each question with a country.")] = 2,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="One answer to each question, always the likeliest token.")
    ] = False,
    max_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of an answer.")] = 200,
    seed: Seed = 0,
) -> None:
    """Write what a model is asked in one language: every question as it is, and with each country."""
    from valuesassets.answers.language_codes import language_code
    from valuesassets.instruments.cultural_robustness.material.questions import read_questions, select_languages
    from valuesassets.instruments.cultural_robustness.trials.chat_trials import write_trials
    from valuesassets.instruments.cultural_robustness.trials.trials import as_text
    from valuesassets.records.settings.cultural_robustness import CulturalRobustness

    require_trials_place(output)
    code = language_code(language)
    if code is None:
        raise typer.BadParameter(f"--language {language}: a code such as deu or de was expected")
    keys: dict[str, Any] = {"greedy": greedy, "max_tokens": max_tokens}
    keys |= {} if greedy else {"samples": samples, "samples_anchored": samples_anchored}
    questions_of_language = select_languages(read_questions(questions, countries), [code])[code]
    chats = write_trials(questions_of_language, code, CulturalRobustness(**keys), seed)
    write_trials_file(output, chats if chat else as_text(chats))
    print(f"{output}: {len(chats)} trials in {code}")
