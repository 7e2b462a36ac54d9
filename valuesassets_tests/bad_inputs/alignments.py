"""Bad question files for `align`: what extractions leave, under names and in shapes that cannot be aligned."""

from valuesassets.records.questions import questions_to_rows
from valuesassets_tests.bad_inputs.case import Case
from valuesassets_tests.bad_inputs.making import FORMS, QUESTIONS, Make, all_of, files, folders
from valuesassets_tests.studies.expected_questions import expected_questions

COMMAND = "align eng.json --output aligned"
BOTH = files({"eng.json": QUESTIONS, "deu.json": QUESTIONS})
ENGLISH = questions_to_rows(expected_questions("eng"))


def bad(name: str, make: Make, message: str, command: str = COMMAND, **more: object) -> Case:
    return Case(name, command, message, make, **more)


CASES = [
    bad(
        "a file not named after its language",
        files({"english.json": QUESTIONS}),
        "english.json: a name such as eng.json was expected (ISO 639-3 code); rename the file",
        "align english.json --output aligned",
    ),
    bad(
        "one language twice",
        files({"eng.json": QUESTIONS, "more/eng.json": QUESTIONS}),
        "more/eng.json: a second file for eng; give one file per language",
        "align eng.json more/eng.json --output aligned",
    ),
    bad(
        "no file of the master",
        files({"deu.json": QUESTIONS}),
        "no file eng.json among the 1 given; it makes the master list: add it, or name another language with --master",
        "align deu.json --output aligned",
    ),
    bad(
        "a file that is not there",
        files({"eng.json": QUESTIONS}),
        "deu.json: no such file; check the path",
        "align eng.json deu.json --output aligned",
    ),
    bad(
        "the files would be overwritten",
        BOTH,
        "eng.json: would be overwritten; choose another folder for --output",
        "align eng.json deu.json --output .",
    ),
    bad(
        "a file where the folder shall be",
        BOTH,
        "deu.json: cannot be written: deu.json is a file, not a folder; choose another folder",
        "align eng.json --output deu.json",
    ),
    bad(
        "a PDF in place of questions",
        files({"eng.json": (FORMS / "eng.pdf").read_bytes()}),
        "eng.json: is a PDF, a JSON file was expected; name another file",
    ),
    bad(
        "no sound question in the master",
        files({"eng.json": [QUESTIONS[0] | {"options": []}]}),
        "eng.json makes the master list: none of its 1 questions can be used, the first because: no "
        "options, at least two were expected; mend the file, or extract the questionnaire again",
    ),
    bad(
        "no questions in the master",
        files({"eng.json": []}),
        "eng.json: an empty array, questions were expected; extract the questionnaire again",
    ),
    bad(
        "an error page in place of an extraction",
        files({"eng.json": b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>"}),
        "eng.json: is an HTML page, a JSON file was expected; name another file",
    ),
    bad(
        "an extraction that was cut off",
        files({"eng.json": b'[{"id": "v1", "text": "How'}),
        "eng.json: line 1, column 23: not JSON (Unterminated string starting at); mend the file there",
    ),
    bad(
        "lists in lists",
        files({"eng.json": [QUESTIONS]}),
        "eng.json: question 1: an object with id, text, response_type and options was expected, found an array",
    ),
    bad(
        "options that are text",
        files({"eng.json": [QUESTIONS[0] | {"options": ["yes", "no"]}]}),
        "eng.json: question 1 (v1): entry 1 of 'options': a table of keys and values was expected (found \"yes\"); "
        "entry 2 of 'options': a table of keys and values was expected (found \"no\")",
    ),
    bad(
        "a code that is no number",
        files({"eng.json": b'[{"id": "v1", "text": "?", "options": [{"value": NaN, "label": "yes"}]}]'}),
        "eng.json: question 1 (v1): key 'value' in entry 1 of 'options': a whole number was expected (found NaN)",
    ),
    bad(
        "an id that is a list",
        files({"eng.json": [QUESTIONS[0] | {"id": ["v1"]}]}),
        "eng.json: question 1 (['v1']): key 'id': text in quotes was expected (found [\"v1\"])",
    ),
    bad(
        "ten thousand options in every question",
        files({"eng.json": [QUESTIONS[0] | {"options": [{"value": n, "label": f"{n}"} for n in range(10_000)]}]}),
        "eng.json makes the master list: none of its 1 questions can be used, the first because: "
        "10000 options, at most 101 can be asked; is the answer a number?; likert4 has 10000 options, 4 were expected; "
        "mend the file, or extract the questionnaire again",
    ),
    bad(
        "another language than the name says",
        files({"eng.json": QUESTIONS, "fra.json": ENGLISH}),
        "fra.json: 29 of 31 questions are not in fra, most of them in eng; name the language of the questions, or the "
        "right file",
        "align eng.json fra.json --output aligned",
    ),
    bad(
        "another script than the language's",
        files({"eng.json": QUESTIONS, "bul.json": ENGLISH}),
        "bul.json: only 0% of the questions' letters are Cyrillic, as bul is written; name the language of the "
        "questions, or the right file",
        "align eng.json bul.json --output aligned",
    ),
    bad(
        "a folder in place of its files",
        all_of(folders("forms"), files({"forms/eng.json": QUESTIONS})),
        "forms: is a folder, question files were expected; name the files in it",
        "align forms --output aligned",
    ),
    bad(
        "a pattern that matched nothing",
        files({}),
        "forms/*.json: no such file; there is no folder forms either; check the path",
        "align 'forms/*.json' --output aligned",
    ),
    bad(
        "no files",
        files({}),
        "Missing argument 'FILE...'; see `valuesassets align --help`",
        "align --output aligned",
        code=2,
        in_own_process=True,
    ),
    bad(
        "no folder for the output",
        BOTH,
        "Missing option '--output'; see `valuesassets align --help`",
        "align eng.json deu.json",
        code=2,
    ),
]
