"""Surveys of LimeSurvey: five small ones of our own, with the questions that come of them."""

import pytest

from valuesassets.instruments.survey.material.forms.imported_questions import read_imported, read_with_left_out
from valuesassets.records.errors import QuestionError
from valuesassets_tests.instruments.survey.material.forms.exchange.reading import left_out, read, source_codes, unfit
from valuesassets_tests.needs import shared_file


def table(name, rows):
    fields = ("".join(f"<{key}><![CDATA[{value}]]></{key}>" for key, value in row.items()) for row in rows)
    return f"<{name}><rows>{''.join(f'<row>{each}</row>' for each in fields)}</rows></{name}>"


def survey(tmp_path, languages=("en",), **tables):
    listed = "".join(f"<language>{each}</language>" for each in languages)
    content = "".join(table(name, rows) for name, rows in tables.items())
    path = tmp_path / "survey.lss"
    path.write_text(f"<?xml version='1.0'?><document><languages>{listed}</languages>{content}</document>")
    return path


def question(qid, kind, title, text="How are you?", order=1, **more):
    keys = {"qid": qid, "parent_qid": 0, "gid": 1, "type": kind, "title": title, "question": text}
    return {**keys, "question_order": order, "language": "en", "relevance": "1", **more}


def item(qid, parent, title, text, **more):
    return question(qid, "T", title, text, parent_qid=parent, scale_id=0, **more)


def answers(qid, *pairs, language="en"):
    return [
        {"qid": qid, "code": code, "answer": label, "sortorder": place, "language": language, "scale_id": 0}
        for place, (code, label) in enumerate(pairs)
    ]


GROUPS = [{"gid": 1, "group_name": "Values", "group_order": 1, "language": "en", "grelevance": ""}]


def test_a_list_has_its_answers_by_their_order_and_missing_ones_by_their_words(tmp_path):
    rows = answers(1, ("A1", "Very well"), ("A2", "Badly"), ("A9", "Don't know"))
    path = survey(tmp_path, questions=[question(1, "L", "well")], answers=[*reversed(rows)], groups=GROUPS)
    assert read(path) == [("well", None, "How are you?", {1: "Very well", 2: "Badly"}, {3: "Don't know"}, None)]
    assert source_codes(path) == [["A1", "A2", "A9"]]


def test_an_array_gives_its_items_with_the_conditions_of_group_question_and_item(tmp_path):
    path = survey(
        tmp_path,
        groups=[GROUPS[0] | {"grelevance": "age > 17"}],
        questions=[question(1, "F", "trust", "<p>How much do you trust?</p>", relevance="work == 'Y'")],
        subquestions=[
            item(3, 1, "b", "The press", question_order=2),
            item(2, 1, "a", "The police", question_order=1, relevance="has_police"),
        ],
        answers=answers(1, ("1", "A lot"), ("2", "A little"), ("3", "Not at all")),
    )
    scale, both = {1: "A lot", 2: "A little", 3: "Not at all"}, "(age > 17) and (work == 'Y')"
    assert read(path) == [
        ("trust_a", "How much do you trust?", "The police", scale, {}, f"({both}) and (has_police)"),
        ("trust_b", "How much do you trust?", "The press", scale, {}, both),
    ]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("A", {n: str(n) for n in range(1, 6)}),
        ("C", {1: "Yes", 2: "Uncertain", 3: "No"}),
        ("E", {1: "Increase", 2: "Same", 3: "Decrease"}),
        ("H", {1: "low", 2: "high"}),
    ],
)
def test_arrays_of_limesurveys_own_answers(tmp_path, kind, expected):
    rows = answers(1, ("1", "low"), ("2", "high"))
    path = survey(tmp_path, questions=[question(1, kind, "q")], subquestions=[item(2, 1, "a", "Prices")], answers=rows)
    (read_question,) = read_imported(path)[0]
    assert {option.value: option.label for option in read_question.options} == expected
    assert (read_question.id, read_question.stem, read_question.item) == ("q_a", "How are you?", "Prices")


def test_ten_points_have_no_words(tmp_path):
    path = survey(tmp_path, questions=[question(1, "B", "q")], subquestions=[item(2, 1, "a", "Prices")])
    assert read_imported(path)[0][0].values == tuple(range(1, 11))


def test_what_is_no_closed_question_is_left_out_and_what_quotes_an_answer_is_unfit(tmp_path):
    path = survey(
        tmp_path,
        questions=[
            question(1, "M", "several"),
            question(2, "Y", "yes", "Are you {name.shown}?", 2),
            question(3, "T", "open", order=3),
            question(4, "F", "empty", order=4),
            question(5, "L", "long", order=5),
            question(6, "1", "two", order=6),
        ],
        answers=answers(5, *((str(n), f"town {n}") for n in range(102))),
    )
    assert left_out(path) == {
        "several": "several answers may be chosen, no closed question with one answer",
        "open": "an open question, no closed question with one answer",
        "empty": "an array without items",
        "long": "102 answers, at most 101 can be asked",
        "two": "two scales side by side, no closed question with one answer",
    }
    assert unfit(path) == {"yes": "its text quotes what each respondent answered or is called: {name.shown}"}
    assert read(path)[0][3] == {1: "Yes", 2: "No"}


def test_words_stand_in_tables_of_their_own_since_version_4(tmp_path):
    words = [("en", "How are you?", "Well", "Ill"), ("pl", "Jak się masz?", "Dobrze", "Źle")]
    plain = {"qid": 1, "parent_qid": 0, "gid": 1, "type": "L", "title": "q", "question_order": 1}
    rows = [{"aid": n, "qid": 1, "code": f"A{n}", "sortorder": n} for n in (7, 8)]
    path = survey(
        tmp_path,
        ("en", "pl"),
        questions=[plain, plain | {"qid": 2, "type": "G", "title": "g"}],
        question_l10ns=[
            {"id": n, "qid": qid, "question": text, "language": code}
            for n, (qid, (code, text, _, _)) in enumerate((qid, each) for qid in (1, 2) for each in words)
        ],
        answers=rows,
        answer_l10ns=[
            {"id": n, "aid": aid, "answer": each[aid - 5], "language": each[0]}
            for n, (aid, each) in enumerate((aid, each) for aid in (7, 8) for each in words)
        ],
        surveys=[{"sid": 1, "language": "en"}],
    )
    polish = [("q", None, "Jak się masz?", {1: "Dobrze", 2: "Źle"}, {}, None)]
    assert read(path, "pl", "pol") == read(path, language="pol") == polish
    assert [row[2:4] for row in read(path)] == [
        ("How are you?", {1: "Well", 2: "Ill"}),
        ("How are you?", {1: "Female", 2: "Male"}),
    ]
    with pytest.raises(QuestionError, match="has no language fr; name one of en, pl with --form-language"):
        read(path, "fr")


@pytest.mark.parametrize(
    ("code", "language", "words"),
    [
        ("pl", "pol", "Tak Nie"),
        ("pt-BR", "por", "Sim Não"),
        ("de-informal", "deu", "Ja Nein"),
        ("sr", "srp", "Да Не"),
        ("sr-Latn", "srp", "Da Ne"),
        ("nb", "nor", "Ja Nei"),
    ],
)
def test_yes_and_no_have_words_in_the_languages_of_questionnaires(tmp_path, code, language, words):
    """They follow the survey's language, which is found by the code of the questions'."""
    rows = [question(1, "Y", "q", language="en"), question(1, "Y", "q", "Czy?", language=code)]
    path = survey(tmp_path, ("en", code), questions=rows, surveys=[{"sid": 1, "language": "en"}])
    (only,) = read_with_left_out(path, language)[0]
    assert (only.text, [option.label for option in only.options]) == ("Czy?", words.split())


def test_answers_of_one_question_are_joined_by_or_and_questions_by_and(tmp_path):
    old = question(1, "Y", "q")
    del old["relevance"]
    rows = [
        {"qid": 1, "scenario": 1, "cqid": 8, "cfieldname": "sex", "method": "==", "value": "F"},
        {"qid": 1, "scenario": 1, "cqid": 9, "cfieldname": "job", "method": "==", "value": "a"},
        {"qid": 1, "scenario": 1, "cqid": 9, "cfieldname": "job", "method": "==", "value": "b"},
        {"qid": 1, "scenario": 2, "cqid": 7, "cfieldname": "age", "method": ">", "value": "17"},
    ]
    path = survey(tmp_path, questions=[old], conditions=rows)
    both = "(sex == F) and ((job == a) or (job == b))"
    assert read(path)[0][5] == f"({both}) or (age > 17)"


def test_conditions_of_earlier_versions_are_kept(tmp_path):
    old = question(1, "Y", "q")
    del old["relevance"]
    rows = [{"qid": 1, "cfieldname": "1X1X2", "method": ">", "value": "3"}]
    assert read(survey(tmp_path, questions=[old], conditions=rows))[0][5] == "1X1X2 > 3"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<!DOCTYPE d [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><d>&b;</d>", "declares the entity a, which"),
        (
            "<!DOCTYPE d [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><d>&a;</d>",
            "its DOCTYPE declares the entity a, which",
        ),
        ("<!DOCTYPE d [<!ENTITY % p 'x'>]><d/>", "its DOCTYPE declares the entity p, which"),
        ("<d>", "is no XML .*, a survey of LimeSurvey .LSS. was expected"),
        ("<d/>", "no questions or no languages"),
    ],
)
def test_bad_xml_is_one_line(tmp_path, content, message):
    (tmp_path / "survey.lss").write_text(content)
    with pytest.raises(QuestionError, match=message) as fault:
        read_imported(tmp_path / "survey.lss")
    assert "\n" not in str(fault.value)


@pytest.mark.published
def test_a_public_survey_gives_its_list():
    path = shared_file("data", "forms", "interesting.lss")
    colours = {1: "Red", 2: "Green", 3: "Blue", 4: "Yellow", 5: "Orange"}
    assert read(path) == [("fcol", None, "What is your favourite colour?", colours, {}, None)]
    assert set(left_out(path)) == {"cob", "yob"}


def test_rows_without_their_usual_fields_are_no_python_error(tmp_path):
    rows = [{"type": "L", "title": "q", "question": "Well?"}, {"type": "Y"}]
    with pytest.raises(QuestionError, match="no closed question with one answer among 2 entries of the form"):
        read(survey(tmp_path, questions=rows, answers=[{"code": "1"}]))
    with pytest.raises(QuestionError, match="no questions or no languages"):
        read(survey(tmp_path, (), questions=rows))
