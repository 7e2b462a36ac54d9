"""The commands of cultural robustness by their names: look at questions, write trials, score answers."""

from pathlib import Path
from typing import Annotated, Any

import typer

from valuesassets.cli.outputs import require_trials_place, write_trials_file
from valuesassets.cli.robustness_outcome import print_outcome as print_outcome
from valuesassets.cli.robustness_score import score
from valuesassets.records.errors import QuestionError

Questions = Annotated[
    str, typer.Option(help="Folder of <code>_unspecific.jsonl and <code>_specific.jsonl (.gz too), or: bundled.")
]
CountriesFile = Annotated[
    Path | None, typer.Option(readable=False, help="What anchors are: CSV with anchor,country[,persona].")
]


def questions(questions: Questions, countries: CountriesFile = None) -> None:
    """Look at questions in many languages: whether all ask the same, each in its own, for countries that differ."""
    from valuesassets.instruments.cultural_robustness.question_report import count_faults, report_questions
    from valuesassets.instruments.cultural_robustness.questions import read_questions
    from valuesassets.records.frames import records

    found = read_questions(questions, countries)
    report = report_questions(found)
    for row in records(report):
        print(f"{row['language']} {row['id'] or '':<8} {'warning' if row['is_warning'] else 'fault':<8} {row['what']}")
    n_faults, n_warnings = count_faults(report)
    prompts = sum(map(len, found.values()))
    print(f"{questions}: {prompts} prompts in {len(found)} languages, {n_faults} faults, {n_warnings} warnings")
    if n_faults:
        raise QuestionError(
            f"{questions}: {n_faults} faults, the lines above say which; mend them before models answer"
        )


def trials(
    questions: Questions,
    language: Annotated[str, typer.Option(help="ISO 639-3 or 639-1.")],
    output: Annotated[
        Path, typer.Option(help="Trials (parquet, for `valuesassets read`; text to read where the name ends in .txt).")
    ],
    countries: CountriesFile = None,
    chat: Annotated[bool, typer.Option("--chat", help="For models with a chat template; else as bare text.")] = False,
    samples: Annotated[int, typer.Option(min=1, help="Answers to each question without a country.")] = 8,
    samples_anchored: Annotated[int, typer.Option(min=1, help="Answers to each question with a country.")] = 2,
    greedy: Annotated[bool, typer.Option("--greedy", help="One answer, the likeliest token each time.")] = False,
    max_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of an answer.")] = 200,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
) -> None:
    """Write what models are asked in one language: every question as it is, and with each country."""
    from valuesassets.answers.language_codes import language_code
    from valuesassets.instruments.cultural_robustness.chat_trials import write_trials
    from valuesassets.instruments.cultural_robustness.questions import read_questions, select_languages
    from valuesassets.instruments.cultural_robustness.trials import as_text
    from valuesassets.records.settings.cultural_robustness import CulturalRobustness

    require_trials_place(output)
    code = language_code(language)
    if code is None:
        raise typer.BadParameter(f"--language {language}: a code such as deu or de was expected")
    given: dict[str, Any] = {"greedy": greedy, "max_tokens": max_tokens}
    given |= {} if greedy else {"samples": samples, "samples_anchored": samples_anchored}
    settings = CulturalRobustness(**given)
    asked = select_languages(read_questions(questions, countries), [code])[code]
    made = write_trials(asked, code, settings, seed)
    write_trials_file(output, made if chat else as_text(made))
    print(f"{output}: {len(made)} trials in {code}")


COMMANDS = {"questions": questions, "trials": trials, "score": score}
