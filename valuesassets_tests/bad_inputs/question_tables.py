"""Bad tables of questions, and web scripts that broke off, for `extract`; files that `template` would overwrite."""

from pathlib import Path

from valuesassets_tests.bad_inputs.case import Case
from valuesassets_tests.bad_inputs.making import Make, files
from valuesassets_tests.instruments.survey.material.forms.ten_questions import rows, write_xlsx
from valuesassets_tests.instruments.survey.material.forms.web_scripts import Script

HEAD = "id,text,item,options\n"
ROW = "q1,How happy are you?,,1 = very | 2 = not at all\n"


def half_a_script(folder: Path) -> None:
    pdf = Script(lambda _: "eng", places=(0, 4)).print(folder / "form.pdf")
    pdf.write_bytes(pdf.read_bytes()[: pdf.stat().st_size // 2])


def spreadsheet(**more: str) -> Make:
    return lambda folder: write_xlsx(folder / "form.xlsx", rows(), **more)


def bad(name: str, make: Make, message: str, file: str = "form.csv", more: str = "") -> Case:
    return Case(name, f"extract {file} --language eng --output eng.json{more}", message, make)


CASES = [
    bad(
        "a table without a column",
        files({"form.csv": "id,text,options\n"}),
        "form.csv: row 1: no column item (found id, text, options); a table (CSV) with columns id, text, item, options "
        "was expected; add it",
    ),
    bad(
        "an id twice in a table",
        files({"form.csv": HEAD + ROW + ROW}),
        "form.csv: row 3: the id q1 stands in row 2 too; give each question its own",
    ),
    bad(
        "options in no order",
        files({"form.csv": HEAD + "q1,How happy are you?,,2 = b | 1 = a | 3 = c\n"}),
        "form.csv: row 2: options 2, 1, 3: no order; write them from one end of the scale to the other, or say "
        "response_type = ordinal (they go by their codes) or categorical (by none), or the order of the codes in a "
        "column order, as 2, 1, 3",
    ),
    bad(
        "a table of 3,000 rows",
        files({"form.csv": HEAD + "".join(ROW.replace("q1", f"q{n}") for n in range(3000))}),
        "form.csv: more than 1,000 rows, no questionnaire has so many; is it a file of answers?",
    ),
    bad(
        "a spreadsheet with merged cells",
        spreadsheet(merged="B2:B3"),
        "form.xlsx: cells B2:B3 are merged; part them and write each row's own words",
        "form.xlsx",
    ),
    bad(
        "a spreadsheet with a formula",
        spreadsheet(formula="D5"),
        "form.xlsx: cell D5 holds a formula without its value; open the file in a spreadsheet program and save it",
        "form.xlsx",
    ),
    bad(
        "a table for Gemini",
        files({"form.csv": HEAD + ROW}),
        "form.csv: is a table, which needs no Gemini; leave --extractor out",
        more=" --extractor gemini",
    ),
    bad(
        "a web script cut in half",
        half_a_script,
        "form.pdf: the PDF is truncated or damaged; fetch it again",
        "form.pdf",
    ),
    Case(
        "a template over a file",
        "template questions form.csv",
        "form.csv: is there already; choose another name",
        files({"form.csv": HEAD + ROW}),
    ),
]
