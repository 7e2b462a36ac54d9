"""Whose interviews stand for a language's country: all of them, or those in a language of the study."""

import numpy as np
import pytest

from valuesassets.instruments.survey.material.respondents import derive_respondents
from valuesassets.records.errors import HumanDataError
from valuesassets.records.settings.human import HumanData
from valuesassets_tests.comparing.planted_grid import demo, questions
from valuesassets_tests.people.synthetic_files import as_evs, people, save, study_of

BY_LANGUAGE = {language: questions() for language in demo().languages}


def respondents(folder, languages, **settings):
    """Of a file in which German people were interviewed in German, in German of Austria and in Turkish by turns."""
    frame = as_evs(people())
    if languages is not None:
        frame["lnge_iso"] = np.resize(languages, len(frame))
    study = study_of((save(frame, folder / "evs.csv"), "evs2017"))
    human = study.human.model_copy(update=settings)
    return derive_respondents(study.model_copy(update={"human": human}), BY_LANGUAGE)


def test_a_countrys_people_are_its_whole_sample_whatever_the_interviews_language(tmp_path):
    assert len(respondents(tmp_path, ["de", "de-AT", "tr"])) == 600


def test_people_interviewed_in_another_language_are_left_out_where_the_study_says_so_and_are_counted(tmp_path):
    found = respondents(tmp_path, ["de", "en", "DE-at", "tr", "eng"], interview_language="own")
    assert found.groupby("country").size().to_dict() == {"DE": 120, "GB": 120}
    assert any(
        "180 of 300 respondents of DE were interviewed in another language" in note for note in found.attrs["notes"]
    )


@pytest.mark.parametrize(
    ("languages", "said"),
    [
        (None, r'no column lnge_iso or S016a with the language of the interview, .* or say interview_language = "any"'),
        (["tr", "kur"], "country DE: nobody was interviewed in de or deu, found kur, tr; codes of ISO 639"),
    ],
)
def test_a_file_that_does_not_tell_is_an_error_that_names_what_to_do(tmp_path, languages, said):
    with pytest.raises(HumanDataError, match=said):
        respondents(tmp_path, languages, interview_language="own")


def test_only_files_of_respondents_know_the_language_of_an_interview():
    with pytest.raises(ValueError, match="interview_language = 'own' needs files of respondents, source is 'planted'"):
        HumanData(source="planted", interview_language="own")
