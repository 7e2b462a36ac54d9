"""Bad forms of survey programs for `extract`."""

import json

from valuesassets_tests.bad_inputs.case import Case
from valuesassets_tests.bad_inputs.making import Make, files
from valuesassets_tests.instruments.survey.material.forms.exchange.test_xlsform import CHOICES, SURVEY, workbook

CODEBOOK = "<codeBook><dataDscr><var name='a'><labl>Age</labl></var></dataDscr></codeBook>"
LANGUAGES = "<languages><language>en</language></languages>"
OPEN = {"DataExportTag": "job", "QuestionType": "TE", "QuestionText": "What is your job?"}


def bad(name: str, make: Make, message: str, file: str, more: str = "") -> Case:
    return Case(name, f"extract {file} --language eng --output eng.json{more}", message, make)


def xlsform(*rows: tuple[str, ...], ending: str = "xlsx", more: tuple[tuple[str, bytes], ...] = ()) -> Make:
    return lambda folder: workbook(folder / f"form.{ending}", more, survey=[SURVEY, *rows], choices=CHOICES)


def qsf(*questions: dict[str, str]) -> Make:
    elements = [{"Element": "SQ", "PrimaryAttribute": str(n), "Payload": each} for n, each in enumerate(questions)]
    return files({"form.qsf": json.dumps({"SurveyElements": elements})})


CASES = [
    bad(
        "entities in the XML of a form",
        files({"form.lss": "<!DOCTYPE d [<!ENTITY a 'aaaa'>]><document>&a;</document>"}),
        "form.lss: its DOCTYPE declares the entity a, which could fill the memory or fetch files; take it out",
        "form.lss",
    ),
    bad(
        "a workbook of more than 50 MB",
        xlsform(("select_one yn", "q", "Well?"), ending="ods", more=(("picture.bin", b"0" * (51 * 2**20)),)),
        "form.ods: unpacks to more than 50 MiB, no form does; take pictures out of it",
        "form.ods",
    ),
    bad(
        "a list without choices",
        xlsform(("select_one towns", "where", "Where do you live?")),
        "form.xlsx: sheet survey, row 2: where: the list towns has no choices; add them to the sheet choices",
        "form.xlsx",
    ),
    bad(
        "a name twice in a form",
        xlsform(("select_one yn", "q", "Well?"), ("select_one yn", "q", "Ill?")),
        "form.xlsx: sheet survey, row 3: the name q stands in row 2 too; give each question its own",
        "form.xlsx",
    ),
    bad(
        "a language that a form lacks",
        files({"form.lss": f"<document>{LANGUAGES}<questions/></document>"}),
        "form.lss: has no language fr; name one of en with --form-language",
        "form.lss",
        " --form-language fr",
    ),
    bad(
        "a codebook without the texts of questions",
        files({"form.xml": CODEBOOK}),
        "form.xml: none of its 1 variables has the text of its question (qstnLit); take a codebook with questions, or "
        "write a table of them",
        "form.xml",
    ),
    bad(
        "a form without closed questions",
        qsf(OPEN),
        "form.qsf: has no closed question with one answer among 1 entry of the form (job: the survey's flow does not "
        "reach it); is it the right file?",
        "form.qsf",
    ),
    bad(
        "a Word document that is none",
        files({"form.docx": "Are you well?"}),
        "form.docx: is damaged, or is not a Word document (DOCX); save it anew",
        "form.docx",
    ),
]
