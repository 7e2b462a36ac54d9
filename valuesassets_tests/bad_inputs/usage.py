"""Wrong usage, `calibrate` and `map`."""

from pathlib import Path

import pandas as pd

from valuesassets.records.parquet import write_table
from valuesassets.records.tables import PROBE_DISTRIBUTIONS
from valuesassets_tests.bad_inputs.case import Case
from valuesassets_tests.bad_inputs.making import QUESTIONS, Make, all_of, files, folders, good_questions

MAP = "map --distributions probes --output map"


def probe(name: str, model: str = "toy", **changes: object) -> Make:
    """A probe parquet with two answers to one question."""
    answer = {"model": model, "model_id": model, "model_type": "multi", "language": "eng", "question_id": "v39"}
    filler = {"string": "x", "int32": 1, "bool": False, "double": 0.5}
    plain = {f.name: None if f.nullable else filler.get(str(f.type)) for f in PROBE_DISTRIBUTIONS.schema_with(())}
    rows = [plain | answer | {"response_value": value} | changes for value in (1, 2)]
    return lambda folder: write_table(folder / "probes" / name, rows, PROBE_DISTRIBUTIONS)


def foreign(folder: Path) -> None:
    (folder / "probes").mkdir()
    pd.DataFrame({"v1": [1, 2]}).to_parquet(folder / "probes" / "respondents.parquet")


def truncated(folder: Path) -> None:
    foreign(folder)
    path = folder / "probes" / "respondents.parquet"
    path.write_bytes(path.read_bytes()[:-20])


def bad(name: str, make: Make, message: str, command: str, **more: object) -> Case:
    return Case(name, command, message, make, **more)


nothing = files({})
CASES = [
    bad(
        "an unknown command",
        nothing,
        "No such command 'prob'. Did you mean 'probe'?; see `valuesassets --help`",
        "prob",
        code=2,
        in_own_process=True,
    ),
    bad("an unknown option", nothing, "No such option: --nope; see `valuesassets demo --help`", "demo --nope", code=2),
    bad(
        "a missing option",
        good_questions,
        "Missing option '--language'; see `valuesassets trials --help`",
        "trials --questions questions.json --output trials.parquet",
        code=2,
    ),
    bad(
        "an option without its value",
        good_questions,
        "Option '--language' requires an argument; see `valuesassets --help`",
        "trials --questions questions.json --output trials.parquet --language",
        code=2,
    ),
    bad(
        "an argument too many",
        nothing,
        "Got unexpected extra argument(s) (evs2017); a path with spaces is written in quotes; "
        "see `valuesassets study --help`",
        "study demo evs2017",
        code=2,
    ),
    bad(
        "an argument that is missing",
        nothing,
        "Invalid value: no study is named, and this folder is in no home with a study; name a study or its file, or "
        "make a home with `valuesassets init FOLDER`; see `valuesassets study --help`",
        "study",
        code=2,
    ),
    bad(
        "an option misspelt",
        good_questions,
        "No such option: --question (Possible options: --lexicon, --questions); see `valuesassets trials --help`",
        "trials --question questions.json --language eng --output trials.parquet",
        code=2,
    ),
    bad(
        "calibrate: no passes",
        good_questions,
        "Invalid value for '--steps': [...]; see `valuesassets calibrate --help`",
        "calibrate --questions questions.json --language eng --steps 0",
        code=2,
    ),
    bad(
        "calibrate: neither questions nor readouts",
        nothing,
        "Invalid value: --questions and --language are missing; give both, or --readouts; see `valuesassets calibrate "
        "--help`",
        "calibrate",
        code=2,
    ),
    bad(
        "calibrate: readouts of a questionnaire",
        good_questions,
        "Invalid value: --readouts brings plants of its own; leave --questions and --language out; see `valuesassets "
        "calibrate --help`",
        "calibrate --readouts --questions questions.json --language eng",
        code=2,
    ),
    bad(
        "calibrate: passes as a word",
        good_questions,
        "Invalid value for '--steps': [...]; see `valuesassets calibrate --help`",
        "calibrate --questions questions.json --language eng --steps many",
        code=2,
    ),
    bad(
        "calibrate: an unknown language",
        good_questions,
        "language xyz: unknown; an ISO 639-3 code was expected, one of [...]",
        "calibrate --questions questions.json --language xyz",
    ),
    bad(
        "calibrate: no such file",
        nothing,
        "questions.json: no such file; check the path",
        "calibrate --questions questions.json --language eng",
    ),
    bad(
        "calibrate: a faulty question",
        files({"questions.json": [QUESTIONS[0] | {"text": ""}]}),
        "questions.json: question 1 (v1): the text is empty; mend or remove it",
        "calibrate --questions questions.json --language eng",
    ),
    bad(
        "map: no such folder",
        nothing,
        "probes: no such folder; check the path; name the folder of the files written by `valuesassets probe`",
        MAP,
    ),
    bad(
        "map: a file in place of the folder",
        files({"probes": ""}),
        "probes: is not a folder; name the folder of the files written by `valuesassets probe`",
        MAP,
    ),
    bad(
        "map: a folder without parquet",
        folders("probes"),
        "probes: no probe parquet with rows in it; write some with `valuesassets probe`",
        MAP,
    ),
    bad(
        "map: a foreign parquet",
        foreign,
        "probes/respondents.parquet: column model_id is missing; it was written by another command or "
        "version: name another file",
        MAP,
    ),
    bad(
        "map: no parquet at all, only its name",
        files({"probes/a.parquet": b"junk"}),
        "probes/a.parquet: not a readable parquet file but truncated or damaged; write it again",
        MAP,
    ),
    bad(
        "map: an empty file",
        files({"probes/a.parquet": b""}),
        "probes/a.parquet: not a readable parquet file but an empty file; write it again",
        MAP,
    ),
    bad(
        "map: a truncated parquet",
        truncated,
        "probes/respondents.parquet: not a readable parquet file but truncated or damaged; write it again",
        MAP,
    ),
    bad(
        "map: output is a file",
        all_of(probe("a.parquet"), files({"map": ""})),
        "map: cannot be written: map is a file, not a folder; choose another folder",
        MAP,
    ),
    bad(
        "map: the same answers in two files",
        all_of(probe("a.parquet"), probe("b.parquet")),
        "probes/b.parquet: toy eng, question v39: answers stand in another file too; keep one file per "
        "model and language",
        MAP,
    ),
    bad(
        "map: an unknown language",
        probe("a.parquet", language="xyz"),
        "language xyz: unknown; an ISO 639-3 code was expected, one of [...]",
        MAP,
    ),
    bad(
        "map: a file of no rows",
        lambda folder: write_table(folder / "probes" / "a.parquet", [], PROBE_DISTRIBUTIONS),
        "probes: no probe parquet with rows in it; write some with `valuesassets probe`",
        MAP,
    ),
    bad(
        "map: nothing that can be trusted",
        probe("a.parquet", p_valid=0.01, status="failed"),
        "probes: no answers to analyse: P_valid is too low in every question; probe another model",
        MAP,
    ),
    bad(
        "map: questions in place of distributions",
        good_questions,
        "questions.json: is not a folder; name the folder of the files written by `valuesassets probe`",
        "map --distributions questions.json --output map",
    ),
    bad(
        "calibrate: the disk is full",
        good_questions,
        "[...]/tmp/valuesassets-[...]/phantom: the model cannot be written: [...]; free space or choose another folder",
        "calibrate --questions questions.json --language eng --steps 1",
        largest_file=1000,
    ),
]
