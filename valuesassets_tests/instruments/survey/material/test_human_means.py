import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.survey.material.human_distributions import derive_human_distributions
from valuesassets.instruments.survey.material.human_means import derive_human_means
from valuesassets.instruments.survey.material.respondents import derive_respondents
from valuesassets.people.variables import load_variables
from valuesassets.records.errors import HumanDataError
from valuesassets.records.settings.human import HumanData
from valuesassets.records.study import load_study, why_no_people
from valuesassets.records.tables import TABLES
from valuesassets_tests.comparing.planted_grid import demo, human, no_people, peopleless, questions
from valuesassets_tests.comparing.planted_grid import people as planted_people
from valuesassets_tests.instruments.survey.asked import ask
from valuesassets_tests.needs import shared_file
from valuesassets_tests.people.synthetic_files import as_evs, as_wvs, people, save, study_of

OF_RESPONDENTS = ["n", "design_effect", "effective_n"]
BY_LANGUAGE = {language: questions() for language in demo().languages}


def published(path, text):
    path.write_text(text)
    study = demo().model_copy(update={"human": HumanData(source="means", means=path)})
    return derive_human_means(derive_respondents(study, BY_LANGUAGE), study, BY_LANGUAGE)


@pytest.mark.parametrize(("written", "survey"), [(as_evs, "evs2017"), (as_wvs, "wvs7")])
def test_means_are_weighted_and_on_the_analysis_scale(tmp_path, written, survey):
    originals = people()
    study = study_of((save(written(originals), tmp_path / "survey.sav"), survey))
    table = derive_human_means(derive_respondents(study, BY_LANGUAGE), study, BY_LANGUAGE)
    assert list(table.columns) == TABLES["human_means"].names
    rows = table.set_index(["language", "question_id"])
    for language, country in (("deu", "DE"), ("eng", "GB")):
        for question in ("v7", "v63", "v114", "v86"):
            answered = originals[(originals["country"] == country) & (originals[question] > 0)]
            values = answered[question].replace({2: 3, 3: 2}) if question == "v114" else answered[question]
            row = rows.loc[(language, question)]
            assert row["mean"] == pytest.approx(np.average(values, weights=answered["weight"]))
            assert row["n"] == len(answered)
            cv = answered["weight"].std(ddof=0) / answered["weight"].mean()
            assert row["design_effect"] == pytest.approx(1 + cv**2)
            assert row["effective_n"] == pytest.approx(len(answered) / (1 + cv**2))
            assert (row["low"], row["high"]) == (1, {"v7": 4, "v63": 10, "v114": 3, "v86": 2}[question])
    assert set(table["language"]) == {"deu", "eng"}


def test_they_are_the_means_of_the_distributions():
    means = derive_human_means(planted_people(), demo(), BY_LANGUAGE).set_index(["country", "question_id"])["mean"]
    distributions = human().query("question_id not in ['v110', 'v113', 'v114'] and not question_id.str.contains('@')")
    expected = distributions.assign(part=distributions["prob"] * distributions["response_value"])
    for key, mean in expected.groupby(["country", "question_id"])["part"].sum().items():
        assert means[key] == pytest.approx(mean)


def test_categorical_questions_have_no_mean():
    assert not {"v110", "v111"} & set(derive_human_means(planted_people(), demo(), BY_LANGUAGE)["question_id"])


def test_published_means_come_by_language_or_by_country(tmp_path):
    table = published(tmp_path / "means.csv", "question_id,deu,GB,nld\nv7,1.8,1.7,1.6\nv63,4.5,,5\nv999,1,1,1\n")
    assert table.drop(columns=OF_RESPONDENTS).to_dict("records") == [
        {
            "country": "GB",
            "language": "eng",
            "question_id": "v7",
            "mean": 1.7,
            "low": 1,
            "high": 4,
            "source": "means.csv",
        },
        {
            "country": "DE",
            "language": "deu",
            "question_id": "v7",
            "mean": 1.8,
            "low": 1,
            "high": 4,
            "source": "means.csv",
        },
        {
            "country": "DE",
            "language": "deu",
            "question_id": "v63",
            "mean": 4.5,
            "low": 1,
            "high": 10,
            "source": "means.csv",
        },
    ]
    assert table[OF_RESPONDENTS].isna().all(axis=None)
    assert any(note.startswith("fra: means.csv has neither a column fra nor FR") for note in table.attrs["notes"])


def test_a_published_mean_of_codes_out_of_order_is_left_out_with_a_reason(tmp_path):
    table = published(tmp_path / "means.csv", "question_id,deu\nv114,1.9\nv7,1.8\n")
    assert table["question_id"].tolist() == ["v7"]
    assert (
        "v114: its codes are not in the order of what they mean: a mean of codes is left out." in table.attrs["notes"]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,deu\nv7,1.8\n", r"means.csv: no column question_id among id, deu"),
        ("question_id,deu\nv7,5.2\n", r"column deu, v7: 5.2 is outside the scale 1 to 4"),
        ("question_id,deu\nv7,high\n", r"column deu, v7: 'high' found, a number was expected"),
        ("question_id,deu\nv7,1\nv7,2\n", r"column question_id: v7 stands twice"),
        ("question_id,xyz\nv7,1\n", r"no column for any language or country of the study"),
    ],
)
def test_a_bad_file_of_means_is_one_line(tmp_path, text, message):
    with pytest.raises(HumanDataError, match=message):
        published(tmp_path / "means.csv", text)


def test_with_means_alone_there_are_no_people_and_the_reason_says_what_is_refused(tmp_path):
    (tmp_path / "means.csv").write_text("question_id,deu\nv7,1.8\n")
    study = demo().model_copy(update={"human": HumanData(source="means", means=tmp_path / "means.csv")})
    respondents = derive_respondents(study, BY_LANGUAGE)
    assert respondents.empty
    assert derive_human_distributions(respondents, study, BY_LANGUAGE).empty
    reason = why_no_people(study)
    assert all(word in reason for word in ("means.csv", "W1, JSD, KL", "map", "refused", "lower bound of W1"))


def test_without_people_there_are_no_means():
    table = derive_human_means(no_people(), peopleless(), BY_LANGUAGE)
    assert table.empty
    assert list(table.columns) == TABLES["human_means"].names


@pytest.mark.published
def test_published_means_of_evs_2017_are_read():
    means = shared_file("data", "human", "evs2017_expected_human_by_lang.csv")
    study = load_study("evs2017").model_copy(update={"human": HumanData(source="means", means=means)})
    written = pd.read_csv(means).set_index("question_id")
    each = [ask(question, load_variables().option_count(question)) for question in written.index]
    ordered = {code: [question for question in each if question.response_type.is_ordinal] for code in study.languages}
    means = derive_human_means(derive_respondents(study, ordered), study, ordered).set_index(
        ["question_id", "language"]
    )
    assert means.index.is_unique
    kept = written.loc[[question.id for question in ordered["deu"]]].stack()
    assert len(means) == len(kept) > 2000
    assert means["mean"].to_dict() == pytest.approx(kept.to_dict())
    assert [note for note in means.attrs["notes"] if note.startswith("ell")]
