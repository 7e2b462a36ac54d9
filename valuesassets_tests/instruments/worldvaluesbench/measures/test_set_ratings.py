import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.measures.set_ratings import dataset_of, gather_set, score_readout
from valuesassets.records.errors import MissingData
from valuesassets.records.settings.worldvaluesbench import RatingsFile, WorldValuesBench
from valuesassets.records.study import load_study
from valuesassets_tests.instruments.worldvaluesbench.rated_people import drawn_scores, people_of, samples_of, scores_of


def study_with(*files):
    """The demo with these files of ratings alone."""
    demo = load_study("demo_worldvaluesbench")
    settings = WorldValuesBench.of(demo).model_copy(update={"ratings": files})
    return demo.model_copy(update={"worldvaluesbench": settings})


def saved(frame, path):
    frame.to_csv(path, sep="\t", index=False)
    return RatingsFile.model_validate({"name": path.stem, "with": str(path)})


def test_people_and_answers_of_different_people_are_refused():
    dataset = people_of(5)
    others = dataset.value_answers.assign(participant_id=dataset.value_answers["participant_id"].to_numpy()[::-1])
    assert dataset_of(dataset.participants, dataset.value_answers).ledger.empty
    for answers in (others, dataset.value_answers[1:]):
        with pytest.raises(MissingData) as caught:
            dataset_of(dataset.participants, answers)
        assert str(caught.value) == (
            "worldvaluesbench: participants and value_answers are of different people; materialise both again"
        )


def test_a_file_of_ratings_for_another_set_stops_no_score_of_this_one(tmp_path):
    dataset = people_of(5)
    here = saved(drawn_scores(dataset, 1), tmp_path / "here.tsv")
    elsewhere = saved(scores_of(people_of(5, ["Q3"]), {"Q3": [1] * 40}), tmp_path / "elsewhere.tsv")
    study = study_with(here, elsewhere)
    gathered = gather_set(study, "probe", dataset.participants, dataset.value_answers, samples_of(dataset), {})
    assert [list(item.with_attributes) for item in gathered.probe.questions] == [["here"], ["here"]]
    assert "elsewhere" in set(gathered.ledger.frame()["model"])


def test_a_readout_that_could_not_be_read_has_no_score():
    dataset = people_of(5)
    rows = {"question_id": "Q1", "response_value": [1, 2, 3, 4], "prob": None}
    unread = {"exact": pd.DataFrame(rows), "greedy": pd.DataFrame(rows)}
    scores = score_readout(study_with(), dataset, samples_of(dataset), unread)
    assert scores == {"exact": {}, "greedy": {}}
