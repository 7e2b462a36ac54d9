"""The methods paragraph has this run's numbers, correct grammar, and nothing that was not done."""

import re

import pandas as pd
import pytest

from valuesassets.instruments.survey.report.report import methods
from valuesassets.records.study import load_study
from valuesassets_tests.figures.made_up import human_frame, probe_frame, quality_frames
from valuesassets_tests.figures.made_up_analyses import map_frame
from valuesassets_tests.instruments.survey.whole_report import made
from valuesassets_tests.reporting.test_claims import TESTS


def of(study, languages=None, families=None, **changes):
    kinds = {name: study.families[name].model_type for name in families or ()}
    probe = probe_frame(languages=languages, families=kinds)
    quality = quality_frames(probe, study.cells())
    parts = {"probe": probe, "quality": quality, "human": human_frame(), "cultural_map": {"points": map_frame()}}
    return " ".join(methods(made(study, **(parts | changes))))


def only(study, languages, families):
    return study.model_copy(
        update={
            "languages": {code: study.languages[code] for code in languages},
            "families": {name: study.families[name] for name in families},
        }
    )


def test_a_planted_study_says_so_in_its_first_sentence():
    first = of(load_study("demo_survey")).split(". ")[0]
    assert first.startswith("This is a test of the instrument: the models were trained to give planted answers")
    assert "nothing that follows is a finding" in first


def test_a_real_study_does_not():
    assert "planted" not in of(load_study("evs2017"), human=None)
    assert "test of the instrument" not in of(load_study("evs2017"), human=None)


def test_the_numbers_are_those_of_the_run():
    study = load_study("demo_survey")
    said = of(study)
    asked = probe_frame().groupby("language").question_id.nunique().max()
    assert f"{asked} items were asked per language" in said
    assert "Two families of language models, reference-mono (one model per language) and reference-multi" in said
    assert "in six languages, each with its reference country: English (GB)," in said
    assert "P_valid below 0.1 was missing in every analysis" in said
    assert "more than 50% of the readable cells" in said
    assert "1,000 synthetic respondents in each of six countries" in said
    assert "from ten indicators by a linear projector with published slopes" in said
    assert "10 of 12 could be told from them" in said


def test_one_of_each_is_in_the_singular():
    study = only(load_study("demo_survey"), ["eng"], ["reference-mono"])
    points = map_frame(languages=["eng"], families=["reference-mono"])
    human = human_frame()[lambda frame: frame.country == "GB"]
    said = of(study, ["eng"], ["reference-mono"], cultural_map={"points": points}, human=human)
    assert "One family of language models, reference-mono (one model per language), was asked" in said
    assert "in one language, with its reference country: English (GB)." in said
    assert "1 of 1 cell was read" in said
    assert "1,000 synthetic respondents in GB" in said
    assert "1 of 1 model point was drawn" in said
    assert not re.search(r"\bone \w+s\b|\bis were\b|  ", said)


@pytest.mark.parametrize(
    ("orders", "said"),
    [
        ("both", "as printed and reversed, with one answer cue"),
        ("cyclic", "in every cyclic shift and reversed"),
        ("all", "in every order up to four options"),
        (6, "in up to 6 more orders drawn at random (seed 20170620;"),
    ],
)
def test_the_orders_are_those_that_the_study_asks_for(orders, said):
    study = load_study("demo_survey")
    asked = study.model_copy(update={"elicitation": study.elicitation.model_copy(update={"orders": orders})})
    assert said in of(asked)


CHAT = {"style": "chat"}


@pytest.mark.parametrize(
    ("prompting", "sentence"),
    [
        ({}, "Each item was put as a plain text to be continued, with its numbered options"),
        ({"preamble": "You are old."}, "put as a plain text to be continued after a preamble of the study, with"),
        (CHAT, "put as a turn of a chat, in which the model's template may add a system message of its own, with"),
        (CHAT | {"system": ""}, "put as a turn of a chat without a system message, with"),
        (CHAT | {"system": {"eng": "Be brief."}}, "put as a turn of a chat with a system message of the study, with"),
        (CHAT | {"preamble": "You are old."}, "put as a turn of a chat after a preamble of the study, with"),
    ],
)
def test_it_says_whether_models_were_asked_in_a_chat(prompting, sentence):
    study = load_study("demo_survey")
    chat = {"kind": "huggingface", "model_type": "multi", "model_id": "m", "prompting": prompting}
    families = {name: with_settings(family, **chat) for name, family in study.families.items()}
    assert sentence in of(study.model_copy(update={"families": families}))


def test_families_that_are_asked_differently_are_distinguished():
    study = load_study("demo_survey")
    chat = {"kind": "huggingface", "model_id": "m", "prompting": CHAT, "draws": {"n": 30, "temperature": 0.7}}
    multi = with_settings(study.families["reference-multi"], **chat)
    sentence = of(study.model_copy(update={"families": study.families | {"reference-multi": multi}}))
    assert (
        "put to reference-mono as a plain text to be continued and to reference-multi as a turn of a chat" in sentence
    )
    assert "Of reference-mono, the probability of every option was read from the model's distribution" in sentence
    assert (
        "reference-multi wrote at least 30 answers to every prompt (temperature 0.7), and the share of each" in sentence
    )


def with_settings(family, **settings):
    return type(family).model_validate(family.model_dump(exclude_unset=True) | settings)


def test_a_stand_in_for_a_missing_indicator_is_said_where_a_drawn_point_has_one():
    said = "A missing indicator was set to the pooled human mean."
    assert said not in of(load_study("demo_survey"))
    points = map_frame()
    points.loc[points.kind == "model", "n_indicators"] = 9
    assert said in of(load_study("demo_survey"), cultural_map={"points": points})


def test_tests_are_described_only_where_some_were_made():
    assert "corrected" not in of(load_study("demo_survey"))
    assert "resamples" not in of(load_study("demo_survey"))
    said = of(load_study("demo_survey"), signal={"tests": TESTS})
    assert "2,000 resamples were drawn with the seed 20170620" in said
    assert "corrected by Holm's procedure within two declared families of tests; 2 of 3 tests count" in said


def test_what_was_not_made_is_not_said():
    bare = " ".join(methods(made(load_study("demo_survey"))))
    assert bare.endswith("No answers have been read yet.")
    for word in ("indicators", "respondents in", "cells were read", "Software"):
        assert word not in bare


def test_the_software_is_named_with_its_versions():
    said = of(load_study("demo_survey"), versions={"valuesassets": "0.1.0", "scorer": "3", "Python": "3.11.2"})
    assert said.endswith("Software: valuesassets 0.1.0, scorer 3 and Python 3.11.2; seed 20170620.")


def test_respondents_files_are_named_by_their_survey():
    study = load_study("evs2017")
    files = [{"path": "a.sav", "survey": "evs2017"}, {"path": "b.sav", "survey": "wvs7"}]
    human = type(study.human).model_validate({"source": "files", "files": files})
    fitted = {"projector": pd.DataFrame({"indicator": ["F063"], "loading_x": [0.4]})}
    said = of(study.model_copy(update={"human": human}), cultural_map={"points": map_frame()} | fitted)
    assert "The human reference is the European Values Study 2017 and the World Values Survey, wave 7" in said
    assert "varimax rotation fitted to the respondents and never to models" in said
