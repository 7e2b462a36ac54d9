import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.material.backgrounds import FACTORS
from valuesassets.instruments.worldvaluesbench.material.probe_samples import (
    NOT_ASKED,
    choose_samples,
    draw_samples,
    read_samples,
)
from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions
from valuesassets.instruments.worldvaluesbench.published.published_scores import is_published_probe
from valuesassets.records.errors import RatingsError
from valuesassets_tests.instruments.worldvaluesbench.rated_people import people_of
from valuesassets_tests.needs import shared_file

QUESTIONS = chosen_questions(["Q1", "Q2"])
SEED_HEADER = "Question\tQuestion Category\tContinent\tUrban / Rural\tEducation\tD_INTERVIEW\n"
COLUMNS = ["question_id", "participant_id", *FACTORS]


def samples_file(tmp_path, rows, header=SEED_HEADER):
    path = tmp_path / "samples.tsv"
    path.write_text(header + rows)
    return path


def test_so_many_people_of_every_group_are_drawn_from_the_split_test():
    dataset = people_of(40, splits=("train", "test"))
    samples = draw_samples(dataset, QUESTIONS, 5)
    assert list(samples.columns) == COLUMNS
    assert (samples.groupby(["question_id", *FACTORS], observed=True).size() == 5).all()
    assert len(samples) == 2 * 8 * 5
    split = dataset.participants.set_index("participant_id")["split"]
    assert set(split[samples["participant_id"].astype(str)]) == {"test"}
    assert not samples.duplicated(["question_id", "participant_id"]).any()


def test_a_group_needs_more_people_than_are_drawn():
    assert len(draw_samples(people_of(6), QUESTIONS, 5)) == 2 * 8 * 5
    with pytest.raises(RatingsError) as caught:
        draw_samples(people_of(5), QUESTIONS, 5)
    assert str(caught.value) == (
        "probe: no group with more than 5 people of the split test who answered: 40 people, of whom 40 have all of "
        "continent, settlement, education; ask for fewer"
    )


def test_only_people_who_answered_are_drawn_and_asked():
    dataset = people_of(10)
    dataset.value_answers.loc[:39, "Q1"] = -1
    dataset.value_answers.loc[40:43, "Q1"] = pd.NA
    for probe in ("4", "all"):
        samples = choose_samples(dataset, QUESTIONS, probe)
        silent = set(dataset.participants["participant_id"].iloc[:44])
        assert not silent & set(samples.loc[samples["question_id"] == "Q1", "participant_id"])


def test_a_draw_is_the_same_again_and_not_changed_by_other_questions():
    dataset = people_of(30)
    both, alone = draw_samples(dataset, QUESTIONS, 3), draw_samples(dataset, QUESTIONS[1:], 3)
    again = both[both["question_id"] == "Q2"]
    assert again["participant_id"].tolist() == alone["participant_id"].tolist()
    assert draw_samples(dataset, QUESTIONS, 3, seed=1)["participant_id"].tolist() != both["participant_id"].tolist()


def test_all_are_people_of_every_split_who_are_in_a_group():
    dataset = people_of(4, splits=("train", "valid", "test"))
    dataset.participants.loc[0, "education"] = None
    assert len(choose_samples(dataset, QUESTIONS, "all")) == 2 * 31


def test_the_published_columns_and_ours_are_read_alike(tmp_path):
    dataset = people_of(1)
    row = "Q1\tSocial Values\tAsia\tUrban\tLower Secondary\t156070001\n"
    samples = read_samples(samples_file(tmp_path, row), dataset)
    assert samples.to_numpy().tolist() == [["Q1", "156070001", "Asia", "urban", "lower_secondary"]]
    ours = samples.to_csv(index=False, sep="\t")
    again = read_samples(samples_file(tmp_path, ours, header=""), dataset)
    pd.testing.assert_frame_equal(again, samples)


def test_blanks_around_ids_are_no_part_of_them_and_rows_of_other_questions_are_counted(tmp_path):
    dataset = people_of(1)
    rows = "".join(f"{name} \tc\tAsia\tUrban\tLower Secondary\t 156070001 \n" for name in ("Q1", "Q2"))
    samples = read_samples(samples_file(tmp_path, rows), dataset, QUESTIONS[:1])
    assert samples[["question_id", "participant_id"]].to_numpy().tolist() == [["Q1", "156070001"]]
    assert samples.attrs[NOT_ASKED] == (1, 2)


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        (
            "Q1\tc\tAsia\tUrban\tTertiary\t5\n",
            SEED_HEADER,
            "row 2: person 5: nobody in the data set has this id; is it another version of the data?",
        ),
        (
            "Q1\tc\tAsia\tUrban\tMasters\t156070001\n",
            SEED_HEADER,
            "row 2: education: found Masters, one of primary_or_none, lower_secondary, upper_to_post_secondary, "
            "tertiary was expected",
        ),
        (
            "Q999\tc\tAsia\tUrban\tTertiary\t156070001\n",
            SEED_HEADER,
            "row 2: question_id: found Q999, a question of the data set was expected",
        ),
        (
            "Q1\tc\tAsia\tUrban\tTertiary\t156070001\n" * 2,
            SEED_HEADER,
            "row 3: participant_id: found 156070001, the question has this person already; keep one row",
        ),
        (
            "Q1\t156070001\n",
            "Question\tD_INTERVIEW\n",
            "row 1: column Continent is missing; Question, D_INTERVIEW, Continent, Urban / Rural, Education were "
            "expected, between tabs",
        ),
    ],
)
def test_a_bad_file_of_samples_is_told_in_one_line(tmp_path, rows, header, message):
    path = samples_file(tmp_path, rows, header)
    with pytest.raises(RatingsError) as caught:
        read_samples(path, people_of(1))
    assert str(caught.value) == f"{path}: {message}"


def test_a_person_in_two_groups_is_refused(tmp_path):
    written = "Q1\tc\tAsia\tUrban\tTertiary\t156070001\nQ2\tc\tAsia\tRural\tTertiary\t156070001\n"
    path = samples_file(tmp_path, written)
    with pytest.raises(RatingsError) as caught:
        read_samples(path, people_of(1))
    assert str(caught.value) == (
        f"{path}: row 3: settlement: found rural of person 156070001, urban was expected, as in row 2; a person is in "
        "one group: mend the row that is wrong"
    )


def test_an_id_that_several_people_share_is_told_apart_from_one_that_nobody_has(tmp_path):
    dataset = people_of(1)
    dataset.participants.loc[:1, "interview_id"] = "858069901"
    path = samples_file(tmp_path, "Q1\tc\tAsia\tUrban\tTertiary\t858069901\n")
    with pytest.raises(RatingsError) as caught:
        read_samples(path, dataset)
    assert str(caught.value).endswith(
        "person 858069901: 2 people share this D_INTERVIEW; name them as the data set does, 156070001 and on"
    )


@pytest.mark.published
def test_the_published_probe_is_read_and_known_as_it_is():
    path = shared_file("data", "wvb", "samples.tsv")
    published = pd.read_csv(path, sep="\t", dtype=str)
    people = published.drop_duplicates("D_INTERVIEW")
    dataset = people_of(1, [*dict.fromkeys(published["Question"])])
    participants = pd.DataFrame({"participant_id": people["D_INTERVIEW"], "interview_id": people["D_INTERVIEW"]})
    samples = read_samples(path, type(dataset)(participants, dataset.value_answers, dataset.ledger))
    assert len(samples) == 8280
    sizes = samples.groupby(["question_id", *FACTORS]).size()
    assert (sizes == 5).all()
    assert len(sizes) == 36 * 46
    assert is_published_probe(samples)
    assert not is_published_probe(samples.iloc[1:])
