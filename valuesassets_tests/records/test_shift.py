"""`[shift.<name>]` and further countries in a study file."""

import tomllib

import pytest

from valuesassets.records.errors import StudyError
from valuesassets.records.places import STUDIES
from valuesassets.records.settings.shift import Shift
from valuesassets.records.study import parse_study

FILES = {"source": "files", "files": [{"path": "people.csv", "survey": "wvs7"}]}


def a_study(shift=None, human=None, families=(), **family):
    content = tomllib.loads((STUDIES / "demo_survey.toml").read_text("utf-8"))
    for name in families:
        content["families"][name] = {"kind": "huggingface", "model_type": "multi", "model_id": "owner/name", **family}
    if shift is not None:
        settings = {"before": "reference-multi", "after": "reference-mono", "toward": ["GB"]} | shift
        content["shift"] = {"tuning": settings}
    return parse_study(content | ({"human": human} if human else {}), "study.toml")


def test_a_study_without_these_keys_says_nothing_of_them():
    written = a_study().model_dump(mode="json")
    assert "shift" not in written
    assert "countries" not in written["human"]


def test_a_shift_may_be_of_several_trainings():
    shift = a_study({"after": ["reference-mono", "one"], "share": 0.7}, families=("one",)).shift["tuning"]
    assert (shift.befores, shift.afters, shift.n_trainings) == (("reference-multi",), ("reference-mono", "one"), 2)
    assert shift.drift == 0.05


def test_further_countries_need_no_language():
    study = a_study({"toward": ["VN", "GB"]}, FILES | {"countries": ["VN", "CN"]})
    assert study.all_countries[-2:] == ("VN", "CN")
    assert "VN" not in study.countries.values()


@pytest.mark.parametrize(
    ("shift", "reason"),
    [
        ({"after": "reference-multi"}, "before and after both name reference-multi"),
        ({"after": "nobody"}, "shift.tuning: no family nobody; the study has reference-mono, reference-multi"),
        ({"share": 0.7}, "share is for trainings on parts of one pool, and there is one"),
        ({"after": ["reference-mono", "one"], "share": 1.0}, "share = 1, more than 0 and less than 1"),
        ({"after": ["reference-mono", "one"], "share": 0.0}, "share = 0, more than 0 and less than 1"),
        ({"toward": ["VN"]}, "shift.tuning.toward: VN is no country of the study, which has GB, DE"),
        ({"toward": ["VN"]}, r'add a language of it: a table \[languages.<code>\] with country = "VN"'),
        ({"toward": ["gb"]}, "did you mean GB"),
        ({"toward": "GB"}, r'an array was expected \(found "GB"\); write \["GB"\]'),
        ({"after": ["one", "one"]}, "key 'shift.tuning.after': one stands there twice"),
        ({"toward": []}, "toward"),
        ({"toward": ["GB", "GB"]}, "GB stands there twice"),
        ({"before": ["reference-multi", "one"], "after": ["reference-mono", "two", "three"]}, "names 2 families and"),
        ({"drift": 0}, "drift"),
    ],
)
def test_a_shift_that_cannot_be_measured_is_refused(shift, reason):
    with pytest.raises(StudyError, match=reason):
        a_study(shift, families=("one", "two", "three"))


def test_families_whose_prompts_differ_are_refused():
    chat = {"prompting": {"style": "chat"}}
    with pytest.raises(StudyError, match=r"the prompts of reference-multi and one differ \(prompting.style\)"):
        a_study({"after": "one"}, families=("one",), **chat)


def test_families_read_in_other_number_formats_are_refused():
    rounding = "with dtype = 'float32' and two with 'bfloat16', so that a change of answers may be one of rounding"
    content = tomllib.loads((STUDIES / "demo_survey.toml").read_text("utf-8"))
    for name, dtype in (("one", "float32"), ("two", "bfloat16")):
        content["families"][name] = content["families"]["reference-multi"] | {"dtype": dtype}
    content["shift"] = {"tuning": {"before": "one", "after": "two", "toward": ["GB"]}}
    with pytest.raises(StudyError, match=rounding):
        parse_study(content, "study.toml")


def test_a_shift_without_people_or_without_a_name_is_refused():
    with pytest.raises(StudyError, match=r"human\.source is 'none', so that no country sets a direction"):
        a_study({}, {"source": "none"})
    content = tomllib.loads((STUDIES / "demo_survey.toml").read_text("utf-8"))
    content["shift"] = {"before": "reference-multi"}
    with pytest.raises(StudyError, match=r"'shift.before': .* \(found .*\); write it below \[shift.<name>\]"):
        parse_study(content, "study.toml")


def test_families_without_a_common_language_are_refused():
    content = tomllib.loads((STUDIES / "demo_survey.toml").read_text("utf-8"))
    for name, language in (("one", "eng"), ("two", "deu")):
        content["families"][name] = content["families"]["reference-multi"] | {"languages": [language]}
    content["shift"] = {"tuning": {"before": "one", "after": "two", "toward": ["GB"]}}
    with pytest.raises(StudyError, match="one and two have no language in common"):
        parse_study(content, "study.toml")


@pytest.mark.parametrize(
    ("human", "reason"),
    [
        ({"source": "planted", "countries": ["VN"]}, "countries are read from files of respondents"),
        (FILES | {"countries": ["UK"]}, "UK is the code of no country; write GB"),
        (FILES | {"countries": ["GB"]}, "human.countries: GB is a language's country"),
        (FILES | {"countries": ["VN"], "interview_language": "own"}, "have no language of the study"),
    ],
)
def test_further_countries_that_cannot_be_read_are_refused(human, reason):
    with pytest.raises(StudyError, match=reason):
        a_study(human=human)


def test_a_shift_without_a_survey_is_refused():
    content = tomllib.loads((STUDIES / "demo_worldwise.toml").read_text("utf-8"))
    name = next(iter(content["families"]))
    content["families"]["other"] = content["families"][name]
    content["shift"] = {"tuning": {"before": name, "after": "other", "toward": ["GB"]}}
    with pytest.raises(StudyError, match=r"there is no \[questionnaires\]"):
        parse_study(content, "study.toml")


def test_the_two_sides_stand_for_themselves():
    assert Shift(before="a", after=("b", "c"), toward=("VN",)).n_trainings == 2
