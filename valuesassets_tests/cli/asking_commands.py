"""Each command that asks a model, with small material to give it: its arguments, and the file that it writes."""

import json

from typer.testing import CliRunner

from valuesassets.cli.app import app
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
from valuesassets.instruments.worldvaluesbench.plants.planted_people import Design, plant_people
from valuesassets.records.parquet import trial_rows, write_table
from valuesassets.records.tables import TRIALS
from valuesassets_tests.cli.commands import QUESTIONS, write_json
from valuesassets_tests.cli.test_psych_tasks_read import COUNTS, text
from valuesassets_tests.instruments.worldvaluesbench.made_files import planted_file
from valuesassets_tests.instruments.worldwise.made_dilemmas import DILEMMAS, JAPAN, write
from valuesassets_tests.tiny_models import PROMPTS, trial

WHOLE = Design(tuple(load_value_questions()), (156, 276), (1, 2), (2, 7))


def of_probe(folder):
    return ["probe", "--questions", write_json(folder / "q.json", QUESTIONS), "--language", "eng"], "out.parquet"


def of_read(folder):
    write_table(folder / "t.parquet", trial_rows([trial(PROMPTS[0], 4)]), TRIALS)
    return ["read", "--trials", folder / "t.parquet"], "out.parquet"


def of_choose(folder):
    scenarios, cultures = write(folder / "d.json", DILEMMAS), write(folder / "c.json", {"JPN": JAPAN})
    return ["worldwise", "choose", "--scenarios", scenarios, "--cultures", cultures], "out.parquet"


def of_reason(folder):
    scenarios = write(folder / "d.json", DILEMMAS)
    asked = ["worldwise", "reason", "--scenarios", scenarios, "--draws", 1, "--max-tokens", 3, "--forms", "open"]
    return asked, "out.parquet"


def of_ask(folder):
    people, made = planted_file(folder, plant_people(64, 1, WHOLE)), folder / "made"
    CliRunner().invoke(app, ["worldvaluesbench", "dataset", "--answers", str(people), "--output", str(made)])
    asked = [
        "worldvaluesbench",
        "ask",
        "--dataset",
        made,
        "--questions",
        "Q1",
        "--probe",
        "all",
        "--attributes",
        "B_COUNTRY",
    ]
    return asked, "out.csv"


def of_psych(folder):
    (folder / "counts.toml").write_text(COUNTS, encoding="utf-8")
    line = json.dumps({"text": text([3, 12]), "experiment": "rain", "participant": "a"})
    (folder / "people.jsonl").write_text(line + "\n", encoding="utf-8")
    return [
        "psych-tasks",
        "read",
        "--transcripts",
        folder / "people.jsonl",
        "--task",
        folder / "counts.toml",
    ], "run.json"


COMMANDS = (of_probe, of_read, of_choose, of_reason, of_ask, of_psych)
