"""Questions: every shape of file is read alike, and what cannot serve is said in one line, with file and line."""

import pandas as pd
import pytest

from valuesassets.answers.spoken_language import n_letters
from valuesassets.instruments.cultural_robustness.material.question_report import report_questions
from valuesassets.instruments.cultural_robustness.material.questions import (
    all_questions,
    read_questions,
    select_languages,
)
from valuesassets.instruments.cultural_robustness.tables import QUESTIONS
from valuesassets.records.errors import MissingData, QuestionError
from valuesassets.records.parquet import read_table, write_frame
from valuesassets_tests.instruments.cultural_robustness.made_files import (
    ASKED,
    all_rows,
    write_folder,
    write_lines,
)
from valuesassets_tests.needs import shared_file


def test_a_question_stands_before_its_anchors_each_with_its_country(tmp_path):
    questions = read_questions(write_folder(tmp_path))
    assert list(questions) == ["deu", "ell", "eng"]
    first = questions["ell"].head(3)
    assert first["question_id"].tolist() == ["1", "1", "1"]
    assert first["anchor"].tolist() == [pd.NA, 1, 2]
    assert first["country"].tolist() == [None, "AT", "GR"]
    assert first["prompt"].tolist() == [
        ASKED["ell"][0],
        f"{ASKED['ell'][0]} Ζω στην Αυστρία.",
        f"{ASKED['ell'][0]} Ζω στην Ελλάδα.",
    ]
    assert questions["ell"]["persona"].isna().all()


def same(one, other):
    assert list(one) == list(other)
    for language in one:
        pd.testing.assert_frame_equal(one[language], other[language])


@pytest.mark.parametrize("codes", [("en", "de", "el"), ("eng", "de", "ell"), ("eng", "deu", "el")])
def test_codes_of_either_standard_and_packed_files_read_alike(tmp_path, codes):
    plain = read_questions(write_folder(tmp_path / "plain"))
    named = dict(zip(("eng", "deu", "ell"), codes, strict=True))
    rows = {(named[language], kind): lines for (language, kind), lines in all_rows().items()}
    same(read_questions(write_folder(tmp_path / "packed", rows, packed=True)), plain)


def test_ukrainian_may_be_called_by_its_country(tmp_path):
    rows = all_rows("eng", "deu")
    questions = read_questions(
        write_folder(tmp_path, {("ua" if code == "deu" else code, kind): lines for (code, kind), lines in rows.items()})
    )
    assert list(questions) == ["eng", "ukr"]


def test_order_of_lines_blank_lines_numbers_and_further_keys_change_nothing(tmp_path):
    plain = read_questions(write_folder(tmp_path / "plain"))
    rows = {
        key: [
            "",
            *reversed(
                [line | {"id": int(line["id"]) if line["id"].isdigit() else line["id"], "note": 1} for line in lines]
            ),
        ]
        for key, lines in all_rows().items()
    }
    same(read_questions(write_folder(tmp_path / "other", rows)), plain)


def test_files_may_lie_in_a_folder_called_data_as_on_the_hub(tmp_path):
    write_folder(tmp_path / "data")
    (tmp_path / "README.md").write_text("# Questions")
    same(read_questions(tmp_path), read_questions(tmp_path / "data"))


@pytest.mark.parametrize("kind", ["specific", "unspecific"])
def test_one_kind_of_question_is_enough(tmp_path, kind):
    rows = {key: lines for key, lines in all_rows().items() if key[1] == kind}
    questions = read_questions(write_folder(tmp_path, rows))
    assert all(frame["anchor"].notna().eq(kind == "specific").all() for frame in questions.values())
    assert report_questions(questions).empty


def test_questions_are_stored_as_they_are_read(tmp_path):
    frame = read_questions(write_folder(tmp_path))["ell"]
    write_frame(tmp_path / "ell.parquet", frame, QUESTIONS)
    stored = read_table(tmp_path / "ell.parquet", QUESTIONS).to_pylist()
    assert stored[:2] == [
        {"question_id": "1", "anchor": None, "country": None, "persona": None, "prompt": ASKED["ell"][0]},
        {
            "question_id": "1",
            "anchor": 1,
            "country": "AT",
            "persona": None,
            "prompt": f"{ASKED['ell'][0]} Ζω στην Αυστρία.",
        },
    ]


def test_where_no_language_has_questions_a_line_says_so():
    with pytest.raises(MissingData, match=r"^no language has questions yet; materialise questions first"):
        all_questions({})


def refusal(folder, **options):
    with pytest.raises(QuestionError) as error:
        read_questions(folder, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def with_line(kind, number, line, language="ell"):
    rows = all_rows()
    lines = list(rows[language, kind])
    lines[number - 1] = line(lines[number - 1]) if callable(line) else line
    return rows | {(language, kind): lines}


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"id": "3", "prompt": "Τι', "line 3, column 23: not JSON"),
        ('["3", "Τι"]', "line 3: an array found, an object with id and prompt was expected"),
        ({"id": "3", "question": "Τι;"}, "line 3 (id 3): no text under 'prompt' (found the keys id, question)"),
        ({"id": "3", "prompt": None}, "line 3 (id 3): no text under 'prompt' (found null)"),
        ({"id": "3", "prompt": ["Τι;"]}, "line 3 (id 3): no text under 'prompt' (found an array)"),
        ({"id": "3", "prompt": " \n"}, "line 3 (id 3): no text under 'prompt', it is blank"),
        ({"prompt": "Τι;"}, "line 3: id None found, one like '12' was expected"),
        ({"id": "3-1", "prompt": "Τι;"}, "line 3: id '3-1' found, one like '12' was expected in a file of this name"),
        ({"id": "03", "prompt": "Τι;"}, "line 3: id '03' found, one like '12' was expected"),
        ({"id": True, "prompt": "Τι;"}, "line 3: id True found, one like '12' was expected"),
        ({"id": "2", "prompt": "Τι;"}, "line 3: id 2 stands in line 2 already; keep one"),
        ({"id": "99", "prompt": "Τι;"}, "line 3: id 99 stands in no other language (3 have unspecific ones)"),
    ],
)  # fmt: skip
def test_a_line_that_cannot_serve_is_named(tmp_path, line, fault):
    message = refusal(write_folder(tmp_path, with_line("unspecific", 3, line)))
    assert message.startswith(f"{tmp_path / 'ell_unspecific.jsonl'}: {fault}")


def test_in_a_packed_file_the_line_is_named_too(tmp_path):
    folder = write_folder(tmp_path, with_line("specific", 4, {"id": "2", "prompt": "Τι;"}), packed=True)
    assert refusal(folder).startswith(f"{tmp_path / 'ell_specific.jsonl.gz'}: line 4: id '2' found, one like '12-7'")


def test_an_empty_file_is_named(tmp_path):
    for packed in (False, True):
        folder = write_folder(tmp_path / str(packed), packed=packed)
        write_lines(path := folder / f"ell_specific.jsonl{'.gz' if packed else ''}", [], packed)
        assert refusal(folder).startswith(f"{path}: an empty file")


def test_a_file_that_is_no_archive_no_text_or_cut_off_is_named(tmp_path):
    folder = write_folder(tmp_path, packed=True)
    path = folder / "ell_specific.jsonl.gz"
    whole = path.read_bytes()
    for content, fault in ((b"{}", "cannot be unpacked"), (whole[:60], "cannot be unpacked")):
        path.write_bytes(content)
        assert refusal(folder).startswith(f"{path}: {fault}")
    path.unlink()
    (folder / "ell_specific.jsonl").write_bytes(b'{"id": "1-1", "prompt": "\xe9"}\n')
    assert "byte 25 is not UTF-8" in refusal(folder)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("xx_specific.jsonl", "xx is no code of a language; name the file by ISO 639-1 or 639-3"),
        ("qqq_unspecific.jsonl.gz", "qqq is no code of a language"),
        ("EN_specific.jsonl", "EN is no code of a language"),
        ("en_specific.jsonl", "eng_specific.jsonl"),
        ("eng-specific.jsonl", "was expected; rename it or take it away"),
        ("questions.jsonl", "was expected; rename it or take it away"),
    ],
)
def test_a_file_whose_name_says_no_language_or_one_twice_is_named(tmp_path, name, fault):
    write_lines(write_folder(tmp_path) / name, [{"id": "1-1", "prompt": "What?"}])
    message = refusal(tmp_path)
    assert fault in message
    assert str(tmp_path) in message


def test_a_folder_without_questions_a_file_and_nothing_are_told_apart(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "it is empty" in refusal(tmp_path / "empty")
    (tmp_path / "note.txt").write_text("x")
    assert "there are note.txt" in refusal(tmp_path)
    assert "is a file, a folder was expected" in refusal(tmp_path / "note.txt")
    assert "no such folder" in refusal(tmp_path / "elsewhere")


def test_one_language_or_four_questions_are_too_few(tmp_path):
    assert "1 language found (eng), at least 2 were expected" in refusal(
        write_folder(tmp_path / "one", all_rows("eng"))
    )
    rows = {key: [line for line in lines if line["id"][0] in "1234"] for key, lines in all_rows().items()}
    assert "4 questions found (1, 2, 3, 4), at least 5 were expected" in refusal(write_folder(tmp_path / "few", rows))


def test_a_language_without_questions_is_named_by_its_key(tmp_path):
    questions = read_questions(write_folder(tmp_path))
    assert list(select_languages(questions, ["ell", "deu"])) == ["ell", "deu"]
    with pytest.raises(QuestionError, match=r"languages\.fra: no questions in it, there are some in deu, ell, eng"):
        select_languages(questions, ["ell", "fra"])


def test_the_bundled_questions_ask_the_same_in_six_languages_without_a_fault():
    questions = read_questions()
    assert list(questions) == ["bul", "deu", "ell", "eng", "fra", "pol"]
    prompts = all_questions(questions)
    ids = [f"{question}{anchor}" for question in range(1, 7) for anchor in ("", *(f"-{n}" for n in range(1, 7)))]
    assert prompts.groupby("language")["id"].agg(list).tolist() == [ids] * 6
    assert prompts.groupby("anchor")["country"].agg(set).tolist() == [{c} for c in ("IE", "DE", "FR", "PL", "GR", "BG")]
    assert min(map(n_letters, prompts["prompt"])) >= 20
    assert prompts["prompt"].is_unique
    assert report_questions(questions).empty


def test_each_bundled_country_is_said_in_the_words_of_the_language():
    names = {
        "eng": ("Ireland", "Germany", "France", "Poland", "Greece", "Bulgaria"),
        "deu": ("Irland", "Deutschland", "Frankreich", "Polen", "Griechenland", "Bulgarien"),
        "fra": ("Irlande", "Allemagne", "France", "Pologne", "Grèce", "Bulgarie"),
        "pol": ("Irlandii", "Niemczech", "Francji", "Polsce", "Grecji", "Bułgarii"),
        "ell": ("Ιρλανδία", "Γερμανία", "Γαλλία", "Πολωνία", "Ελλάδα", "Βουλγαρία"),
        "bul": ("Ирландия", "Германия", "Франция", "Полша", "Гърция", "България"),
    }
    for language, frame in read_questions().items():
        anchored = frame.dropna(subset=["anchor"])
        for anchor, prompt in zip(anchored["anchor"], anchored["prompt"], strict=True):
            assert [name for name in names[language] if name in prompt] == [names[language][anchor - 1]]


@pytest.mark.published
def test_the_public_questions_of_nineteen_languages_are_read_whole():
    folder = shared_file("data", "robustness", "questions")
    questions = read_questions(folder)
    assert len(questions) == 19
    assert {len(frame) for frame in questions.values()} == {101 + 4140}
    english = questions["eng"].set_index(["question_id", "anchor"])
    personas = english["persona"].dropna()
    assert sorted(set(personas.index.get_level_values(0)), key=int) == ["7", "9", "35", "39", "41", "43", "44"]
    assert personas.groupby(level=0).agg(lambda of: of.value_counts().tolist()).tolist() == [[36, 36, 36]] * 7
    for anchor, age, persona, country in ((1, 25, 1, "AT"), (36, 25, 1, "MK"), (37, 53, 2, "AT"), (108, 77, 3, "MK")):
        row = english.loc[("7", anchor)]
        assert f"{age} years" in row["prompt"]
        assert (row["persona"], row["country"]) == (persona, country)
    names = {"AT": "Austria", "HR": "Croatia", "GR": "Greece", "IE": "Ireland", "LI": "Liechtenstein", "GE": "Georgia"}
    for country, name in names.items():
        prompts = english.loc[(english["country"] == country).to_numpy(bool), "prompt"]
        # The data set names some countries by their people; the name stands in most prompts.
        assert prompts.str.contains(name).mean() > 0.9, country
