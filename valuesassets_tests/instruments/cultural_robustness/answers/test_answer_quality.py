"""Which answers count: each fault by itself, several together, and what the public run's faults are known to be."""

import functools

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.cultural_robustness.answers.answer_files import read_answer_files
from valuesassets.instruments.cultural_robustness.answers.answer_quality import (
    STATUSES,
    is_usable,
    judge,
    judge_answers,
)
from valuesassets.instruments.cultural_robustness.material.questions import read_questions
from valuesassets.instruments.cultural_robustness.tables import ANSWER_QUALITY
from valuesassets.records.frames import rows, rows_where
from valuesassets.records.parquet import read_table, write_frame
from valuesassets_tests.instruments.cultural_robustness.made_files import ASKED
from valuesassets_tests.needs import shared_file

LANGUAGES = ("ell", "deu", "eng")
GREEK = "Το ψωμί μένει πάντα στο ξύλινο κουτί της κουζίνας."
ENGLISH = "The bread always stays in the wooden box in the kitchen."
PROMPT = ASKED["ell"][0]


def answer(text, language="ell", **changes):
    return {
        "language": language, "kind": "unspecific", "id": "1", "question_id": "1", "country": None, "persona": None,
        "sample": 0, "prompt": PROMPT, "text": text, "finish": None, "reason": None,
    } | changes  # fmt: skip


def status(text, language="ell", keep=(), **changes):
    return judge(answer(text, language, **changes), LANGUAGES, keep).status


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GREEK, "ok"),
        ("", "empty"),
        (" \n\t", "empty"),
        ("...!?", "empty"),
        ("🙂", "empty"),
        ("925 917", "empty"),
        ("1 2 3 4 5 6 7", "empty"),
        ("Α.", "empty"),
        (f"{GREEK} " * 5, "loop"),
        (f"Ναι, {PROMPT}", "echo"),
        (None, "failed"),
        (PROMPT, "echo"),
        (PROMPT[:31].upper() + " ", "echo"),
        (PROMPT + " " + GREEK, "ok"),
        (GREEK.rstrip("."), "truncated"),
        (f"{GREEK}\u200f\n", "ok"),
        (f"«{GREEK}»", "ok"),
        (f"{GREEK} 🙂", "truncated"),
        (ENGLISH, "wrong_language"),
        ("Das Brot liegt immer in der Kiste in der Küche.", "wrong_language"),
    ],
)
def test_each_fault_is_told(text, expected):
    assert status(text) == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("15%.", "eng", "ok"),
        ("15%.", "ell", "ok"),
        ("70.", "ell", "ok"),
        ("15", "ell", "truncated"),
        ("Yes.", "ell", "wrong_language"),
        ("Ναι.", "ell", "ok"),
        ("Ναι.", "eng", "wrong_language"),
        ("Yes.", "deu", "ok"),
        ("Ναι, yes.", "ell", "ok"),
    ],
)
def test_a_number_is_an_answer_and_few_letters_are_judged_by_their_script(text, language, expected):
    judged = judge(answer(text, language), LANGUAGES)
    assert judged.status == expected
    assert judged.spoken_language is None


def test_what_ended_an_answer_goes_before_how_it_ends():
    assert status(GREEK.rstrip("."), finish="end") == "ok"
    assert status(GREEK.rstrip("."), finish="stop") == "ok"
    assert status(GREEK, finish="length") == "truncated"


def test_twenty_letters_are_judged_by_the_language_and_nineteen_are_not():
    words = "Wir essen abends Brot und Obst."
    letters = [place for place, letter in enumerate(words, 1) if letter.isalpha()]
    assert status(words[: letters[19]] + ".", "eng") == "wrong_language"
    assert status(words[: letters[18]] + ".", "eng") == "ok"


def test_a_script_that_no_language_of_the_study_has_is_none_of_them():
    assert status("面包总是放在厨房的木盒子里，因为那里又干又凉，大家也都找得到。", "eng") == "wrong_language"
    assert status("Хлеб всегда лежит в деревянном ящике на кухне.", "deu") == "wrong_language"


def test_a_language_that_the_classifier_does_not_know_is_judged_by_its_script():
    text = "Хьаьжкӏаш йоккхачу кхаьрчахь латтайо цӏахь, чӏогӏа тӏуьна ца хилийта."
    assert status(text, "che") == "ok"
    assert status(ENGLISH, "che") == "wrong_language"


def test_the_first_fault_is_named_and_a_kept_one_gives_way_to_those_behind():
    cut = ENGLISH.rstrip(".")
    assert status(cut) == "wrong_language"
    assert status(cut, keep=["wrong_language"]) == "truncated"
    assert status(cut, keep=["truncated", "wrong_language"]) == "wrong_language"
    assert status(GREEK.rstrip("."), keep=["truncated"]) == "truncated"


def test_what_more_tokens_cannot_mend_is_named_before_what_they_can():
    """Of forty answers of a small model twenty were loops and stood there as cut off."""
    assert status(f"{GREEK} " * 5, finish="length") == "loop"
    assert status("".join(f"{n}. {GREEK}\n" for n in range(5)), finish="length") == "loop"
    assert status(ENGLISH, finish="length") == "wrong_language"
    assert status(GREEK, finish="length") == "truncated"


def test_kept_faults_count_and_no_others():
    texts = [GREEK, GREEK.rstrip("."), ENGLISH, ENGLISH.rstrip("."), "", None]
    answered = pd.DataFrame([answer(text, sample=number) for number, text in enumerate(texts)])
    usable = {
        keep: is_usable(judge_answers(answered, LANGUAGES, keep), keep).tolist()
        for keep in ((), ("truncated",), ("wrong_language",), ("truncated", "wrong_language"))
    }
    assert usable == {
        (): [True, False, False, False, False, False],
        ("truncated",): [True, True, False, False, False, False],
        ("wrong_language",): [True, False, True, False, False, False],
        ("truncated", "wrong_language"): [True, True, True, True, False, False],
    }


def test_a_failed_answer_says_why():
    assert judge(answer(None, reason="the prompt is too long"), LANGUAGES).reason == "the prompt is too long"


def test_without_prompts_no_echo_is_found():
    assert status(PROMPT, prompt=None) == "ok"


@given(st.text(max_size=60), st.sampled_from(LANGUAGES), st.sampled_from(["end", "stop", "length", None]))
def test_any_text_has_one_status_and_blanks_around_it_change_nothing(text, language, finish):
    judged = judge(answer(text, language, finish=finish), LANGUAGES)
    assert judged.status in STATUSES
    assert (judged.reason is None) == (judged.status == "ok")
    assert judge(answer(f"\n {text} \n", language, finish=finish), LANGUAGES).status == judged.status


def test_a_model_that_answers_in_english_alone_is_wrong_in_all_languages_but_english():
    answered = pd.DataFrame(
        [
            answer(text, language, id=str(number), prompt=ASKED[language][number - 1])
            for language in LANGUAGES
            for number, text in enumerate([ENGLISH, "Apples and pears, because they keep well.", "Yes, my sister."], 1)
        ]
    )
    quality = judge_answers(answered)
    assert quality.groupby("language")["status"].agg(list).to_dict() == {
        "deu": ["wrong_language", "wrong_language", "ok"],  # of so few letters only the script is known
        "ell": ["wrong_language"] * 3,
        "eng": ["ok"] * 3,
    }
    assert set(quality["spoken_language"].dropna()) == {"eng"}


def test_there_is_a_row_for_each_answer_and_it_is_stored_as_it_is(tmp_path):
    answered = pd.DataFrame([answer(GREEK), answer(None, sample=1), answer(ENGLISH, sample=2)])
    quality = judge_answers(answered)
    write_frame(tmp_path / "q.parquet", quality, ANSWER_QUALITY)
    stored = read_table(tmp_path / "q.parquet", ANSWER_QUALITY).to_pylist()
    assert [row["status"] for row in stored] == ["ok", "failed", "wrong_language"]
    assert [row["spoken_language"] for row in stored] == ["ell", None, "eng"]
    assert [row["sample"] for row in stored] == [0, 1, 2]


@pytest.mark.published
def test_the_public_runs_faults_are_those_that_are_known():
    folder = shared_file("data", "robustness", "answers", "mistral-nemo-nationality")
    quality = judge_answers(read_answer_files(folder))
    plain = rows_where(quality, kind="unspecific")
    counted = plain.groupby(["language", "status"]).size()
    assert counted.to_dict() == {
        ("eng", "ok"): 101,
        ("fra", "ok"): 101,
        ("spa", "ok"): 100,
        ("spa", "wrong_language"): 1,
        ("tam", "ok"): 74,
        ("tam", "loop"): 1,
        ("tam", "truncated"): 3,
        ("tam", "wrong_language"): 23,
        ("ukr", "ok"): 101,
    }
    assert set(rows_where(plain, status="wrong_language")["spoken_language"]) == {"eng"}
    anchored = rows_where(quality, kind="specific")
    assert set(rows_where(anchored, language="eng")["status"]) == {"ok"}
    figure = rows(
        quality, (quality["language"] == "eng") & quality["spoken_language"].isna() & (quality["kind"] == "unspecific")
    )
    assert set(figure["status"]) == {"ok"}


def cut(text, letters):
    seen = 0
    for place, letter in enumerate(text, 1):
        seen += letter.isalpha()
        if seen == letters:
            return text[:place] + "."
    return text


@functools.cache
def real_questions():
    questions = read_questions(shared_file("data", "robustness", "questions"))
    return {language: frame[frame["anchor"].isna()]["prompt"] for language, frame in questions.items()}


@pytest.mark.published
@pytest.mark.parametrize(("letters", "most"), [(20, 0.02), (40, 0.001)])
def test_cut_at_twenty_letters_no_real_question_is_flagged_and_english_is(letters, most):
    """Measured over the 19 languages: no false alarm at either length; 1.8 % and .06 % of English pass."""
    plain = real_questions()
    flagged = [
        (language, text)
        for language, texts in plain.items()
        for text in texts
        if status_among(cut(text, letters), language, plain) != "ok"
    ]
    assert flagged == []
    passed = [
        status_among(cut(text, letters), language, plain) == "ok"
        for language in plain
        for text in plain["eng"]
        if language != "eng"
    ]
    assert sum(passed) / len(passed) <= most


def status_among(text, language, among):
    return judge(answer(text, language, prompt=None, finish="end"), list(among)).status
