"""Question files that are no such files, and outputs that cannot be written: `trials`."""

from valuesassets_tests.bad_inputs.case import Case
from valuesassets_tests.bad_inputs.making import QUESTIONS, Make, all_of, files, folders, form

COMMAND = "trials --questions questions.json --language eng --output trials.parquet"


def raw(content: bytes) -> Make:
    return files({"questions.json": content})


def bad(name: str, make: Make, message: str, command: str = COMMAND, **more: object) -> Case:
    return Case(name, command, message, make, **more)


CASES = [
    bad("an empty file", raw(b""), "questions.json: is an empty file, a JSON file was expected; name another file"),
    bad(
        "not JSON",
        raw(b"v1: How important is work?"),
        "questions.json: line 1, column 1: not JSON ([...]); mend the file there",
    ),
    bad(
        "truncated JSON",
        raw(b'[{"id": "v1", "text": "How imp'),
        "questions.json: line 1, column 23: not JSON ([...]); mend the file there",
    ),
    bad(
        "a comma too many",
        raw(b'[{"id": "v1",}]'),
        "questions.json: line 1, column 14: not JSON ([...]); mend the file there",
    ),
    bad(
        "an object in place of the array",
        raw(b'{"questions": []}'),
        "questions.json: an array of questions was expected, found an object; put them between [ and ]",
    ),
    bad(
        "one question without the array",
        files({"questions.json": QUESTIONS[0]}),
        "questions.json: an array of questions was expected, found an object; put them between [ and ]",
    ),
    bad(
        "an empty array",
        raw(b"[]"),
        "questions.json: no questions in it, at least one was expected; is it the right file?",
    ),
    bad(
        "an array of words",
        raw(b'["v1", "v2"]'),
        "questions.json: question 1: an object with id, text, response_type and options was expected, found text",
    ),
    bad(
        "null", raw(b"null"), "questions.json: an array of questions was expected, found null; put them between [ and ]"
    ),
    bad(
        "Latin-1",
        raw('[{"id": "v1", "text": "Größe"}]'.encode("latin-1")),
        "questions.json: byte 25 is not UTF-8; save the file as UTF-8",
    ),
    bad(
        "UTF-16",
        raw('[{"id": "v1"}]'.encode("utf-16")),
        "questions.json: is text in UTF-16, a JSON file was expected; save the file as UTF-8",
    ),
    bad("half a character", raw(b'["\\ud800"]'), "questions.json: holds half a character ('\\ud800'); mend the text"),
    bad(
        "brackets without end",
        raw(b"[" * 100_000),
        "questions.json: cannot be read: [...]; is it the right file?",
    ),
    bad(
        "a number of five thousand digits",
        raw(b"[" + b"9" * 5000 + b"]"),
        "questions.json: cannot be read: [...]; is it the right file?",
    ),
    bad("no such file", files({}), "questions.json: no such file; check the path"),
    bad("a folder", folders("questions.json"), "questions.json: is a folder, a JSON file was expected; name the file"),
    bad(
        "a PDF in place of the questions",
        form("eng", "questions.json"),
        "questions.json: is a PDF, a JSON file was expected; name another file",
    ),
    bad(
        "a table of numbers",
        raw(b"v1,v2\n1,2\n"),
        "questions.json: line 1, column 1: not JSON ([...]); mend the file there",
    ),
    bad(
        "a name that is off by a letter",
        files({"questions.json": QUESTIONS}),
        "question.json: no such file; did you mean questions.json?",
        COMMAND.replace("questions.json", "question.json"),
    ),
    bad(
        "a blank behind the name",
        files({"questions.json": QUESTIONS}),
        "'questions.json ': no such file; there is questions.json: leave out the blanks or quotes",
        COMMAND.replace("questions.json", "'questions.json '"),
    ),
    bad(
        "quotes in the name",
        files({"questions.json": QUESTIONS}),
        '"questions.json": no such file; there is questions.json: leave out the blanks or quotes',
        COMMAND.replace("questions.json", "'\"questions.json\"'"),
    ),
    bad(
        "~ that the shell did not expand",
        files({}),
        "~/questions.json: no such file; ~ stands for the home folder only where the shell expands it: "
        "leave out the quotes or write it in full",
        COMMAND.replace("questions.json", "'~/questions.json'"),
    ),
    bad(
        "a Windows path",
        files({}),
        "C:\\data\\questions.json: no such file; it looks like a Windows path: write the path as it is on "
        "this machine, with / between folders",
        COMMAND.replace("questions.json", r"'C:\data\questions.json'"),
    ),
    bad(
        "a missing folder in the path",
        files({"questions.json": QUESTIONS}),
        "data/questions.json: no such file; there is no folder data either; check the path",
        COMMAND.replace("questions.json", "data/questions.json"),
    ),
    bad(
        "the lexicon's language unknown",
        files({"questions.json": QUESTIONS}),
        "language xyz: unknown; an ISO 639-3 code was expected, one of [...]",
        COMMAND.replace("eng", "xyz"),
    ),
    bad(
        "output over the questions",
        files({"questions.json": QUESTIONS}),
        "questions.json: is there already and not a parquet file; choose another name for the output",
        COMMAND.replace("trials.parquet", "questions.json"),
    ),
    bad(
        "output of another kind",
        files({"questions.json": QUESTIONS}),
        "trials.csv: a name that ends in .parquet was expected; name it trials.parquet",
        COMMAND.replace("trials.parquet", "trials.csv"),
    ),
    bad(
        "output is a folder",
        all_of(files({"questions.json": QUESTIONS}), folders("trials.parquet")),
        "trials.parquet: is a folder, a file name was expected; add one",
    ),
    bad(
        "output below a file",
        files({"questions.json": QUESTIONS}),
        "questions.json/trials.parquet: cannot be written: questions.json is a file, not a folder; "
        "choose another folder",
        COMMAND.replace("trials.parquet", "questions.json/trials.parquet"),
    ),
    bad(
        "output where nothing can be written",
        files({"questions.json": QUESTIONS}),
        "/proc/trials.parquet: cannot be written: No such file or directory; nothing was changed; free "
        "space or choose another folder",
        COMMAND.replace("trials.parquet", "/proc/trials.parquet"),
    ),
    bad(
        "the disk is full in the middle of the parquet",
        files({"questions.json": QUESTIONS}),
        "trials.parquet: cannot be written: File too large; nothing was changed; free space or choose another folder",
        largest_file=1000,
    ),
    bad(
        "negative orders",
        files({"questions.json": QUESTIONS}),
        "Invalid value: --orders -1: both, all, cyclic or a number from 1 to 9999 was expected; see "
        "`valuesassets trials --help`",
        COMMAND + " --orders -1",
        code=2,
    ),
    bad(
        "no orders",
        files({"questions.json": QUESTIONS}),
        "Invalid value: --orders 0: both, all, cyclic or a number from 1 to 9999 was expected; see "
        "`valuesassets trials --help`",
        COMMAND + " --orders 0",
        code=2,
    ),
    bad(
        "unknown orders",
        files({"questions.json": QUESTIONS}),
        "Invalid value: --orders seven: both, all, cyclic or a number from 1 to 9999 was expected; see "
        "`valuesassets trials --help`",
        COMMAND + " --orders seven",
        code=2,
    ),
    bad(
        "too many orders",
        files({"questions.json": QUESTIONS}),
        "Invalid value: --orders 99999: both, all, cyclic or a number from 1 to 9999 was expected; see "
        "`valuesassets trials --help`",
        COMMAND + " --orders 99999",
        code=2,
    ),
]
