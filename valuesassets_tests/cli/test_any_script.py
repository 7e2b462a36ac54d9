"""Languages without a bundled lexicon, right to left or without spaces: from a table to a calibration."""

import csv

import pytest

from valuesassets.cli.calibrate import calibrate_questions
from valuesassets.cli.inputs import trials_of
from valuesassets.instruments.survey.material.extracted_questions import examine_questions
from valuesassets.instruments.survey.material.forms.question_tables import read_question_table
from valuesassets.records.errors import LexiconError
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.questions import write_questions

WORDS = {
    "heb": (
        ("תשובה", "התשובה היא", "כן", "לא", "מסכים", "לא מסכים", "הכי חשוב", "לא יודע"),
        ("עד כמה את או אתה מאושרים?", ("מאוד מאושר", "די מאושר", "לא כל כך מאושר", "כלל לא מאושר")),
        ("האם אפשר לבטוח ברוב האנשים?", ("אפשר לבטוח ברוב האנשים", "צריך להיזהר מאוד")),
    ),
    "ara": (
        ("الجواب", "الإجابة هي", "نعم", "لا", "أوافق", "لا أوافق", "الأهم", "لا أعرف"),
        ("ما مدى سعادتك في حياتك؟", ("سعيد جدًا", "سعيد إلى حد ما", "غير سعيد كثيرًا", "غير سعيد إطلاقًا")),
        ("هل يمكن الوثوق بمعظم الناس؟", ("يمكن الوثوق بمعظم الناس", "يجب توخي الحذر الشديد")),
    ),
    "zho": (
        ("回答", "答案是", "是", "否", "同意", "不同意", "最重要的", "不知道"),
        ("总的来说，您觉得自己幸福吗？", ("非常幸福", "比较幸福", "不太幸福", "很不幸福")),
        ("您认为大多数人可以信任吗？", ("大多数人可以信任", "越小心越好")),
    ),
    "tha": (
        ("คำตอบ", "คำตอบคือ", "ใช่", "ไม่ใช่", "เห็นด้วย", "ไม่เห็นด้วย", "สำคัญที่สุด", "ไม่ทราบ"),
        ("โดยรวมแล้ว ท่านมีความสุขเพียงใด", ("มีความสุขมาก", "ค่อนข้างมีความสุข", "ไม่ค่อยมีความสุข", "ไม่มีความสุขเลย")),
        ("คนส่วนใหญ่ไว้วางใจได้หรือไม่", ("คนส่วนใหญ่ไว้วางใจได้", "ต้องระมัดระวังให้มาก")),
    ),
}
"""By language: the words of a lexicon, and two questions with their answers; a third answer of each is none."""


@pytest.mark.parametrize("language", WORDS)
@pytest.mark.slow
def test_a_language_of_another_script_goes_from_a_table_to_its_calibration(language, tmp_path, capsys):
    (cue, other, yes, no, agree, disagree, first, missing), *asked = WORDS[language]
    lexicon = tmp_path / f"{language}.toml"
    lexicon.write_text(
        f'answer_cues = ["{cue}", "{other}"]\nyes = "{yes}"\nno = "{no}"\nagree = "{agree}"\ndisagree = "{disagree}"\n'
        f'first_choice = "{first}: {{label}}"\nmissing_answers = ["{missing}"]\n[statements]\n',
        encoding="utf-8",
    )
    with (tmp_path / "table.csv").open("w", encoding="utf-8", newline="") as file:
        rows = [
            [f"q{n}", text, "", " | ".join([*labels, missing]), {4: "likert4", 2: "binary"}[len(labels)]]
            for n, (text, labels) in enumerate(asked, 1)
        ]
        csv.writer(file).writerows([["id", "text", "item", "options", "response_type"], *rows])
    read = read_question_table(tmp_path / "table.csv")
    examined = examine_questions(read, None, language, lexicon=load_lexicon(language, lexicon))
    assert [fault.message for fault in examined.faults] == []
    assert [[o.label for o in q.options] for q in examined.questions] == [list(labels) for _, labels in asked]
    questions = tmp_path / f"{language}.json"
    write_questions(questions, list(examined.questions))
    prompts = [trial.prompt for trial in trials_of(questions, examined.questions, language, "both", lexicon=lexicon)]
    assert len(prompts) == 4
    assert all(prompt.endswith(f"\n{cue}:") for prompt in prompts)
    calibrate_questions(questions, language, 100, "both", lexicon)
    assert "OFF" not in capsys.readouterr().out


def test_without_a_lexicon_such_a_language_is_told_how_to_write_one(tmp_path):
    with pytest.raises(LexiconError, match=r"tha: no lexicon; .* \(valuesassets template lexicon tha\.toml\)"):
        trials_of(tmp_path, [], "tha", "both")
