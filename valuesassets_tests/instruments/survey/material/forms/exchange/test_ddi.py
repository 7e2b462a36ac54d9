"""Codebooks of DDI: five small ones of our own, with the questions that come of them."""

import pytest

from valuesassets.instruments.survey.material.forms.imported_questions import read_imported, read_with_left_out
from valuesassets.records.errors import QuestionError
from valuesassets_tests.instruments.survey.material.forms.exchange.reading import left_out, read, source_codes, unfit
from valuesassets_tests.needs import shared_file

TRUST = (("1", "A lot"), ("2", "A little"), ("3", "Not at all"))
SCALE = {1: "A lot", 2: "A little", 3: "Not at all"}


def category(code, label, more=""):
    return f"<catgry {more}><catValu>{code}</catValu><labl>{label}</labl><catStat type='freq'>9</catStat></catgry>"


def variable(name, question, categories=TRUST, more="", attributes=""):
    return (
        f"<var ID='{name.upper()}' name='{name}' {attributes}><labl>label of {name}</labl><qstn>{question}</qstn>"
        f"{more}{''.join(category(*each) for each in categories)}</var>"
    )


def literal(text, before=""):
    return f"{f'<preQTxt>{before}</preQTxt>' if before else ''}<qstnLit>{text}</qstnLit>"


def codebook(tmp_path, *variables, groups="", namespace="ddi:codebook:2_5", head="", attributes=""):
    path = tmp_path / "codebook.xml"
    space = f"xmlns='{namespace}'" if namespace else ""
    content = f"{groups}{''.join(variables)}"
    path.write_text(
        f"<?xml version='1.0'?>{head}<codeBook {space} {attributes}><dataDscr>{content}</dataDscr></codeBook>"
    )
    return path


@pytest.mark.parametrize("namespace", ["ddi:codebook:2_5", "http://www.icpsr.umich.edu/DDI", ""])
def test_categories_that_the_codebook_calls_missing_are_never_offered(tmp_path, namespace):
    more = (("6", "Not applicable", "missing='Y'"), ("9", "No answer", "missing='Y'"), (".", "System", "missing='Y'"))
    question = variable("trust", literal("How much do you\n  trust people?"), (*TRUST, *more))
    path = codebook(tmp_path, question, namespace=namespace)
    missing = {6: "Not applicable", 9: "No answer", ".": "System"}
    assert read(path) == [("trust", None, "How much do you trust people?", SCALE, missing, None)]


def test_declared_ranges_are_missing_and_the_universe_is_the_condition(tmp_path):
    declared = "<invalrng><range min='7' max='8'/><item VALUE='99'/></invalrng><universe>Those who work</universe>"
    answers = (*TRUST, ("7", "Cannot say it"), ("8", "Hard to say"), ("99", "Left blank"))
    path = codebook(tmp_path, variable("trust", literal("Whom?"), answers, declared))
    missing = {7: "Cannot say it", 8: "Hard to say", 99: "Left blank"}
    assert read(path) == [("trust", None, "Whom?", SCALE, missing, "Those who work")]


def test_a_universe_that_leaves_people_out_says_so(tmp_path):
    path = codebook(tmp_path, variable("trust", literal("Whom?"), more="<universe clusion='E'>Pupils</universe>"))
    assert read(path)[0][5] == "all but: Pupils"


def test_paragraphs_stand_apart_and_places_to_fill_in_are_kept(tmp_path):
    space = "xmlns:x='http://www.w3.org/1999/xhtml'"
    words = f"<qstnLit {space}><x:p>Think of &lt;YOUR TOWN&gt;.</x:p><x:p>Is it <x:em>s</x:em>afe?</x:p></qstnLit>"
    (row,) = read(codebook(tmp_path, variable("safe", words)))
    assert row[2] == "Think of <YOUR TOWN>. Is it safe?"


def test_one_of_several_answers_is_known_by_the_questions_attribute(tmp_path):
    several = variable("paper", literal("A paper")).replace("<qstn>", "<qstn responseDomainType='multiple'>")
    path = codebook(tmp_path, several, variable("trust", literal("Whom?")))
    assert left_out(path) == {"paper": "one of several answers that may be chosen"}


def test_words_before_a_question_and_those_of_a_grid_are_the_stem(tmp_path):
    grid = "<varGrp type='grid' var='B C'><labl>short</labl><txt>How much do you trust?</txt></varGrp>"
    section = "<varGrp type='section' var='A'><labl>Work</labl></varGrp>"
    path = codebook(
        tmp_path,
        variable("a", literal("your boss", "Thinking of work, do you trust:")),
        variable("b", literal("the police")),
        variable("c", literal("the press")),
        groups=grid + section,
    )
    assert [row[:3] for row in read(path)] == [
        ("a", "Thinking of work, do you trust:", "your boss"),
        ("b", "How much do you trust?", "the police"),
        ("c", "How much do you trust?", "the press"),
    ]
    assert [question.section for question in read_imported(path)[0]] == ["Work", None, None]


def test_variables_that_are_no_closed_question_are_left_out(tmp_path):
    group = "<varGrp type='multipleResp' var='SEVERAL'/>"
    path = codebook(
        tmp_path,
        variable("weight", "", ()),
        variable("age", literal("How old are you?"), ()),
        variable("several", literal("Which of these?")),
        variable("trust", literal("Do you trust ${name}?")),
        variable("words", literal("Which one?"), (("a", "This"), ("b", "That"), ("-9", "Refused", "missing='Y'"))),
        variable("top", literal("How much?"), (("99", "99 and more"),)),
        groups=group,
    )
    assert left_out(path) == {
        "weight": "no text of a question (qstnLit)",
        "age": "no categories, no closed question with one answer",
        "several": "one of several answers that may be chosen",
        "top": "1 answer, at least two were expected",
    }
    assert unfit(path) == {"trust": "its text quotes what each respondent answered or is called: ${name}"}
    assert source_codes(path)[1] == ["a", "b"]
    assert read(path)[1][3:5] == ({1: "This", 2: "That"}, {3: "Refused"})


def test_a_language_is_chosen_by_its_attribute(tmp_path):
    words = "<qstnLit xml:lang='en'>Are you well?</qstnLit><qstnLit xml:lang='fr'>Allez-vous bien ?</qstnLit>"
    labels = "<labl xml:lang='en'>{}</labl><labl xml:lang='fr'>{}</labl>"
    pairs = (("1", labels.format("Yes", "Oui")), ("2", labels.format("No", "Non")))
    categories = "".join(f"<catgry><catValu>{code}</catValu>{each}</catgry>" for code, each in pairs)
    path = codebook(tmp_path, variable("well", words, (), categories), attributes="xml:lang='en'")
    french = [("well", None, "Allez-vous bien ?", {1: "Oui", 2: "Non"}, {}, None)]
    assert read(path, "fr") == read(path, language="fra") == french
    assert read(path)[0][2:4] == ("Are you well?", {1: "Yes", 2: "No"})
    with pytest.raises(QuestionError, match="has no language de; name one of en, fr with --form-language"):
        read(path, "de")


def test_a_question_without_words_in_the_language_is_left_out(tmp_path):
    both = "<qstnLit xml:lang='en'>Are you well?</qstnLit><qstnLit xml:lang='fr'>Allez-vous bien ?</qstnLit>"
    english = "<qstnLit xml:lang='en'>Do you work?</qstnLit>"
    path = codebook(tmp_path, variable("a", both), variable("b", english), attributes="xml:lang='en'")
    questions, _, others = read_with_left_out(path, "fra")
    assert [each.text for each in questions] == ["Allez-vous bien ?"]
    assert [(each.id, each.reason) for each in others] == [("b", "its question has no text in fr")]


def test_variables_of_one_name_in_two_files_are_distinguished_and_those_of_one_file_are_refused(tmp_path):
    of_one, of_two = (variable("sex", literal("Which sex?"), attributes=f"files='{each}'") for each in ("F1", "F2"))
    path = codebook(tmp_path, of_one, of_two, variable("job", literal("Do you work?"), attributes="files='F1'"))
    assert [row[0] for row in read(path)] == ["F1/sex", "F2/sex", "job"]
    with pytest.raises(QuestionError, match="the name sex stands twice"):
        read(codebook(tmp_path, of_one, of_one))


def test_the_words_of_old_codebooks_stand_in_the_question_itself(tmp_path):
    head = "<!DOCTYPE codeBook SYSTEM 'http://www.icpsr.umich.edu/DDI/Version1-2.dtd'>"
    path = codebook(tmp_path, variable("a", "Whom do you trust?"), namespace="", head=head)
    assert read(path) == [("a", None, "Whom do you trust?", SCALE, {}, None)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<codeBook><dataDscr/></codeBook>", "no variables, a DDI-Codebook"),
        ("<html/>", "no variables, a DDI-Codebook"),
        ("<DDIInstance/>", "is DDI-Lifecycle, which is not read; export it as DDI-Codebook"),
        (
            "<!DOCTYPE c [<!ENTITY a 'b'>]><codeBook>&a;</codeBook>",
            "declares the entity a, which could fill the memory",
        ),
        ("<codeBook><dataDscr><var name='a'/></dataDscr></codeBook>", "none of its 1 variables has the text of its"),
    ],
)
def test_a_bad_codebook_is_one_line(tmp_path, content, message):
    (tmp_path / "codebook.xml").write_text(content)
    with pytest.raises(QuestionError, match=message) as fault:
        read_imported(tmp_path / "codebook.xml")
    assert "\n" not in str(fault.value)


@pytest.mark.published
def test_a_public_codebook_without_questions_is_refused():
    path = shared_file("data", "forms", "ddi_without_questions.xml")
    with pytest.raises(QuestionError, match="none of its 8 variables has the text of its question"):
        read_imported(path)
