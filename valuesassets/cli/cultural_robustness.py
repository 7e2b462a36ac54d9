"""The commands of cultural robustness: look at questions, write trials, score answers."""

from typing import Annotated, Any

import typer

from valuesassets.cli.cultural_robustness_score import CountriesFile, score
from valuesassets.cli.inputs import Seed, TrialsFile
from valuesassets.cli.outputs import require_trials_place, write_trials_file
from valuesassets.records.errors import QuestionError

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
    language: Annotated[str, typer.Option(help="Language to write, by ISO 639-3 or 639-1 code, such as ell or el.")],
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


COMMANDS = {"questions": questions, "trials": trials, "score": score}
