"""Bad question files for `trials`, which reads them as `probe` and `calibrate` do."""

from valuesassets_tests.bad_inputs.case import Case
from valuesassets_tests.bad_inputs.making import QUESTIONS, Make, files, question

COMMAND = "trials --questions questions.json --language eng --output trials.parquet"
LIKERT4, LIKERT5, LIKERT10 = QUESTIONS


def raw(content: bytes) -> Make:
    return files({"questions.json": content})


def one(**changes: object) -> Make:
    """A file with one good question and one that is spoilt."""
    return files({"questions.json": [LIKERT5, LIKERT4 | changes]})


def options(*pairs: tuple[object, object]) -> list[dict]:
    return [{"value": value, "label": label} for value, label in pairs]


def bad(name: str, make: Make, message: str, command: str = COMMAND, **more: object) -> Case:
    return Case(name, command, message, make, **more)


CASES = [
    bad(
        "no options",
        one(options=[]),
        "questions.json: question 2 (v1): no options, at least two were expected; mend or remove it",
    ),
    bad(
        "one option",
        one(options=options((1, "yes"))),
        "questions.json: question 2 (v1): 1 option, at least two were expected; mend or remove it",
    ),
    bad(
        "no key for options",
        files({"questions.json": [{"id": "v1", "text": "?", "response_type": "likert4"}]}),
        "questions.json: question 1 (v1): key 'options' is missing; add it",
    ),
    bad(
        "no key for the text",
        files({"questions.json": [{k: v for k, v in LIKERT4.items() if k != "text"}]}),
        "questions.json: question 1 (v1): key 'text' is missing; add it",
    ),
    bad(
        "an id twice",
        files({"questions.json": [LIKERT4, LIKERT5, LIKERT4]}),
        "questions.json: question 3: id v1 stands twice; give each its own id",
    ),
    bad("an empty id", one(id=" "), "questions.json: question 2: the id is empty; mend or remove it"),
    bad(
        "an id that is a number",
        one(id=1),
        "questions.json: question 2 (1): key 'id': text in quotes was expected (found 1)",
    ),
    bad(
        "a value twice",
        one(options=options((1, "a"), (2, "b"), (2, "c"), (4, "d"))),
        "questions.json: question 2 (v1): option values repeat: [1, 2, 2, 4]; mend or remove it",
    ),
    bad(
        "a label twice",
        one(options=options((1, "a"), (2, "b"), (3, "A"), (4, "d"))),
        "questions.json: question 2 (v1): option labels repeat: a, a, b, d; mend or remove it",
    ),
    bad(
        "an empty label",
        one(options=options((1, "a"), (2, "b"), (3, ""), (4, "d"))),
        "questions.json: question 2 (v1): option 3 has no label; mend or remove it",
    ),
    bad(
        "a label of blanks",
        one(options=options((1, "a"), (2, "b"), (3, "  "), (4, "d"))),
        "questions.json: question 2 (v1): option 3 has no label; mend or remove it",
    ),
    bad(
        "a label that is a number",
        one(options=options((1, "a"), (2, 2), (3, "c"), (4, "d"))),
        "questions.json: question 2 (v1): key 'label' in entry 2 of 'options': text in quotes was expected (found 2)",
    ),
    bad(
        "values as text",
        one(options=options(("1", "a"), ("2", "b"), ("3", "c"), ("4", "d"))),
        "questions.json: question 2 (v1): key 'value' in entry 1 of 'options': a whole number was "
        "expected (found \"1\"); key 'value' in entry 2 of 'options': a whole number was expected (found "
        "\"2\"); key 'value' in entry 3 of 'options': a whole number was expected (found \"3\") (and 1 more)",
    ),
    bad(
        "a value with a fraction",
        one(options=options((1, "a"), (1.5, "b"), (3, "c"), (4, "d"))),
        "questions.json: question 2 (v1): key 'value' in entry 2 of 'options': a whole number was expected (found 1.5)",
    ),
    bad(
        "a value of NaN",
        raw(
            b'[{"id": "v1", "text": "?", "response_type": "binary",'
            b' "options": [{"value": NaN, "label": "a"}, {"value": 2, "label": "b"}]}]'
        ),
        "questions.json: question 1 (v1): key 'value' in entry 1 of 'options': a whole number was expected (found NaN)",
    ),
    bad(
        "options as words",
        one(options=["very", "rather", "not very", "not at all"]),
        "questions.json: question 2 (v1): entry 1 of 'options': a table of keys and values was expected "
        '(found "very"); entry 2 of \'options\': a table of keys and values was expected (found "rather"); '
        "entry 3 of 'options': a table of keys and values was expected (found \"not very\") (and 1 more)",
    ),
    bad(
        "options as an object",
        one(options={"1": "very", "2": "not"}),
        'questions.json: question 2 (v1): key \'options\': an array was expected (found {"1": "very", "2": "not"})',
    ),
    bad(
        "likert10 with eleven options",
        files({"questions.json": [question(39, 11, "likert10")]}),
        "questions.json: question 1 (v39): likert10 has 11 options, 10 were expected; mend or remove it",
    ),
    bad(
        "likert10 without its anchors",
        files({"questions.json": [LIKERT10 | {"options": options(*((n, "") for n in range(1, 11)))}]}),
        "questions.json: question 1 (v39): a ten-point scale needs a label on 1 and on 10; mend or remove it",
    ),
    bad(
        "likert4 with five options",
        one(options=options(*((n, f"l{n}") for n in range(1, 6)))),
        "questions.json: question 2 (v1): likert4 has 5 options, 4 were expected; mend or remove it",
    ),
    bad(
        "a code for don't know",
        one(options=options((1, "a"), (2, "b"), (3, "c"), (88, "don't know"))),
        "questions.json: eng: v1: option 88 (don't know) says don't know or no answer, which are never offered; take "
        "it out",
    ),
    bad(
        "a negative value",
        one(options=options((-1, "?"), (2, "b"), (3, "c"), (4, "d"))),
        "questions.json: question 2 (v1): value -1 looks like a code for don't know or no answer, which "
        "are never offered; mend or remove it",
    ),
    bad(
        "ten thousand options",
        one(response_type="categorical", options=options(*((n, f"l{n}") for n in range(1, 10_001)))),
        "questions.json: question 2 (v1): 10000 options, at most 101 can be asked; is the answer a "
        "number?; mend or remove it",
    ),
    bad(
        "an unknown response type",
        one(response_type="likert7"),
        "questions.json: question 2 (v1): key 'response_type': 'likert3', 'likert4', 'likert5', "
        "'likert10', 'binary', 'categorical', 'frequency', 'action' or 'ordinal' was expected (found \"likert7\")",
    ),
    bad(
        "no response type",
        one(response_type=None),
        "questions.json: question 2 (v1): key 'response_type': 'likert3', 'likert4', 'likert5', "
        "'likert10', 'binary', 'categorical', 'frequency', 'action' or 'ordinal' was expected (found null)",
    ),
    bad("a text of blanks", one(text="   "), "questions.json: question 2 (v1): the text is empty; mend or remove it"),
    bad(
        "a text that is a number",
        one(text=5),
        "questions.json: question 2 (v1): key 'text': text in quotes was expected (found 5)",
    ),
    bad(
        "the same prompt twice",
        files({"questions.json": [LIKERT4, LIKERT4 | {"id": "v2"}]}),
        "questions.json: eng: v1/0/forward and v2/0/forward show the same prompt; is an item missing "
        "from the text? mend or remove one of them",
    ),
]
