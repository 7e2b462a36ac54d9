"""Two examples of each command, which end its help."""

EXAMPLES = {
    "template": ("template questions questions.csv", "template lexicon gle.toml"),
    "extract": (
        "extract form.pdf --language deu --output extracted/deu.json --review deu.html",
        "extract questions.csv --language eng --output extracted/eng.json",
    ),
    "align": (
        "align extracted/eng.json extracted/deu.json --output aligned",
        "align extracted/eng.json extracted/deu.json --master deu --output aligned",
    ),
    "trials": (
        "trials --questions aligned/deu.json --language deu --output trials.parquet",
        "trials --questions aligned/deu.json --language deu --orders all --output trials.txt",
    ),
    "probe": (
        "probe --model index:gemma-3-270m --questions aligned/deu.json --language deu --output deu.parquet",
        "probe --model my_model/ --chat --questions aligned/deu.json --language deu --output deu.csv",
    ),
    "calibrate": ("calibrate --questions aligned/deu.json --language deu", "calibrate --readouts"),
    "map": ("map --distributions probes --output map", "map --distributions another_folder --output another_map"),
    "trace": ("trace demo_survey reference-mono eng", "trace demo_survey reference-mono eng v39 --json"),
    "read": (
        "read --model index:gemma-3-270m --trials trials.parquet --output readings.parquet",
        "read --model gpt-4o-mini --endpoint endpoint.toml --trials trials.parquet --output readings.parquet --dry-run",
    ),
    "study": ("study demo_survey", "study my_study.toml --slurm"),
    "run": ("run demo_psych_tasks", "run my_study.toml --only report"),
    "bundle": ("bundle demo_survey", "bundle my_study.toml --output my_study.zip"),
    "compare": ("compare demo_survey my_study.toml", "compare storage/first storage/second --output compared.html"),
    "export": (
        "export demo_survey --format inspect --output logs",
        "export my_study.toml --format lm-eval --output results",
    ),
    "demo": ("demo", "run demo_survey --force"),
    "ui": ("ui", "ui --port 3010 --read-only"),
    "models": ("models", "models get smollm2-135m-instruct"),
    "models get": ("models get smollm2-135m-instruct", "models get gemma-3-270m --accept-terms"),
    "psych_tasks draft": ("psych_tasks draft people.jsonl", "psych_tasks draft people.jsonl > my_task.toml"),
    "psych_tasks check": (
        "psych_tasks check people.jsonl --task my_task.toml --output checked",
        "psych_tasks check people.jsonl --task care --output checked --most-unread 0.05",
    ),
    "psych_tasks read": (
        "psych_tasks read --model index:gemma-3-270m --transcripts people.jsonl --task my_task.toml --output gemma",
        "psych_tasks read --model my_model/ --transcripts people.jsonl --task care --history human --history alone "
        "--output mine",
    ),
    "psych_tasks analyse": (
        "psych_tasks analyse gemma mine --output results",
        "psych_tasks analyse gemma mine --line mine=gemma --output results",
    ),
    "psych_tasks reliability": (
        "psych_tasks reliability scores.csv --output reliability.json",
        "psych_tasks reliability scores.csv --keying keying.csv --output reliability.json",
    ),
    "cultural_robustness questions": (
        "cultural_robustness questions --questions bundled",
        "cultural_robustness questions --questions my_questions --countries countries.csv",
    ),
    "cultural_robustness trials": (
        "cultural_robustness trials --questions bundled --language ell --output ell.parquet",
        "cultural_robustness trials --questions my_questions --language el --chat --greedy --output ell.txt",
    ),
    "cultural_robustness score": (
        "cultural_robustness score --answers answers --vectors vectors.parquet --output scores",
        "cultural_robustness score --answers answers --embedder my_embedder/ --questions bundled --output scores",
    ),
    "worldvaluesbench dataset": (
        "worldvaluesbench dataset --answers WVS_Wave_7.csv --output dataset",
        "worldvaluesbench dataset --answers WVS_Wave_7.sav --repeated-ids drop --output dataset",
    ),
    "worldvaluesbench examples": (
        "worldvaluesbench examples --dataset dataset --split test --limit 3",
        "worldvaluesbench examples --dataset dataset --split train",
    ),
    "worldvaluesbench ask": (
        "worldvaluesbench ask --model index:gemma-3-270m --dataset dataset --output ratings.csv",
        "worldvaluesbench ask --model my_model/ --chat --dataset dataset --attributes B_COUNTRY --output ratings.csv",
    ),
    "worldvaluesbench evaluate": (
        "worldvaluesbench evaluate --dataset dataset --ratings gemma=ratings.csv --output scores",
        "worldvaluesbench evaluate --dataset dataset --ratings a=a.tsv --without a=a_without.tsv --probe all "
        "--output scores",
    ),
    "worldwise trials": (
        "worldwise trials --scenarios bundled --output trials.parquet",
        "worldwise trials --scenarios my_dilemmas.json --cultures cultures.json --wordings 0,1 --output trials.txt",
    ),
    "worldwise choose": (
        "worldwise choose --model index:gemma-3-270m --scenarios bundled --output choices.parquet",
        "worldwise choose --model my_model/ --chat --scenarios my_dilemmas.json --output choices.parquet",
    ),
    "worldwise reason": (
        "worldwise reason --model index:smollm2-135m-instruct --chat --scenarios bundled --output reasons.parquet",
        "worldwise reason --model gpt-4o-mini --endpoint endpoint.toml --scenarios bundled --output reasons.parquet",
    ),
    "worldwise score": (
        "worldwise score --responses answers.csv --exemplars bundled --embedder lexical --output scores",
        "worldwise score --responses answers.csv --exemplars bundled --embedder my_embedder/ --targets targets.csv "
        "--output scores",
    ),
    "worldwise calibrate": (
        "worldwise calibrate --scenarios bundled",
        "worldwise calibrate --scenarios my_dilemmas.json --draws 200 --output calibrated",
    ),
}
"""Examples by the words of a command, without the program's name."""


def epilog(command: str) -> str:
    """The end of a command's help: its examples, a line each."""
    return "\n".join(["\b", "Examples:", *(f"  valuesassets {example}" for example in EXAMPLES[command])])
