"""What a form holds that no model was asked stands on the page's first screen and in a table, with reasons."""

from valuesassets.answers.quality_report import report_quality
from valuesassets.cli.studies import print_end
from valuesassets.instruments.survey.answers.question_answers import derive_question_answers
from valuesassets.instruments.survey.report.not_asked import not_asked
from valuesassets.instruments.survey.report.report import opening
from valuesassets.records.questions import parse_questions
from valuesassets.records.study import load_study
from valuesassets.reporting.report import read_first_screen
from valuesassets_tests.bad_inputs.making import QUESTIONS
from valuesassets_tests.comparing.planted_grid import probe, questions
from valuesassets_tests.instruments.survey.whole_report import CLAIMS, made, rendered, section

OPEN, SEVERAL, QUOTING = "an open question", "several answers may be chosen", "its text quotes an answer"
LEFT_OUT = [
    {"id": "job", "text": "What is your <i>job</i>?", "reason": OPEN},
    {"id": "other", "text": "What else?", "reason": OPEN},
    {"id": "media", "text": "Which media do you use?", "reason": SEVERAL},
]
SENTENCE = f"6 entries of the questionnaire (eng): 2 questions asked, 4 not: {OPEN} (2); {SEVERAL} (1); {QUOTING} (1)."


def form(left_out=LEFT_OUT, unfit=QUOTING):
    parsed = parse_questions(
        [*QUESTIONS[:2], QUESTIONS[2] | ({"unfit": f"{unfit}: ${{q}}"} if unfit else {})], "eng.json"
    )
    return {"eng": not_asked(parsed, left_out)}


def test_the_first_screen_and_the_end_of_a_run_say_how_much_of_a_form_was_asked(tmp_path, capsys):
    page = rendered(load_study("demo_survey"), not_asked=form())
    (entry_box,) = [each for each in read_first_screen(page)["questions"] if "questionnaire" in each["question"]]
    assert entry_box == {
        "question": "Was all of the questionnaire asked?",
        "answer": "2 of 6 entries",
        "because": SENTENCE,
    }
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "report.html").write_text(page, encoding="utf-8")
    print_end(tmp_path)
    assert "  Was all of the questionnaire asked? 2 of 6 entries\n" in capsys.readouterr().out


def test_every_entry_that_was_not_asked_stands_in_the_section_of_claims_with_its_reason():
    claims = section(rendered(load_study("demo_survey"), not_asked=form()), CLAIMS)
    assert SENTENCE in claims
    for entry in (*LEFT_OUT, {"id": QUESTIONS[2]["id"], "text": QUESTIONS[2]["text"], "reason": QUOTING}):
        assert all(value.replace("<", "&lt;").replace(">", "&gt;") in claims for value in entry.values())


def test_a_form_that_was_asked_whole_is_not_mentioned():
    study = load_study("demo_survey")
    assert rendered(study, not_asked=form([], None)) == rendered(study)
    assert len(opening(made(study, not_asked=form())).boxes) == len(opening(made(study)).boxes) + 1


def test_more_than_three_reasons_are_counted():
    many = [{"id": f"q{n}", "text": f"Why {n}?", "reason": f"reason {n}"} for n in range(5)]
    box = opening(made(load_study("demo_survey"), not_asked=form(many, None))).boxes[-1]
    assert box.because.endswith("5 not: reason 0 (1); reason 1 (1); reason 2 (1); 2 more reasons in the table.")


def test_the_figure_of_all_questions_is_of_those_that_were_asked():
    rows = probe()
    rows = rows[(rows["model"] == "reference-mono") & (rows["language"] == "eng")]
    rows = rows[rows["question_id"].isin(rows["question_id"].unique()[:2])]
    quality = report_quality(rows, [("reference-mono", "eng")], load_study("demo_survey").thresholds)
    answers = {"question_answers": derive_question_answers(rows, quality.frames(), {"eng": questions()})}
    pages = (opening(made(load_study("demo_survey"), **answers, not_asked=each)) for each in (form(), {}))
    captions = [page.pictures[0].caption.partition(", and")[0] for page in pages]
    assert captions == ["All two questions that were asked", "All two questions"]
