"""Trials: every prompt once, what it says beside its question in the condition, so many answers as the study asks."""

import pytest

from valuesassets.instruments.cultural_robustness.material.questions import read_questions
from valuesassets.instruments.cultural_robustness.trials.chat_trials import condition_of, write_trials
from valuesassets.instruments.cultural_robustness.trials.trials import as_text
from valuesassets.records.errors import StudyError
from valuesassets.records.parquet import read_trials, trial_rows, write_table
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.cultural_robustness import CulturalRobustness
from valuesassets.records.study import Study, parse_study
from valuesassets.records.tables import TRIALS
from valuesassets.records.trials import Turn
from valuesassets_tests.instruments.cultural_robustness.made_files import ASKED, write_folder


class RobustnessStudy(Study):
    """A study that may have the instrument's table."""

    cultural_robustness: CulturalRobustness | None = None


@pytest.fixture
def greek(tmp_path):
    return read_questions(write_folder(tmp_path / "questions"))["ell"]


def test_a_question_is_asked_as_it_is_and_with_each_country(greek):
    trials = write_trials(greek, "ell", CulturalRobustness(samples=5, samples_anchored=3), seed=4)
    assert [trial.trial_id for trial in trials[:4]] == ["1", "1-1", "1-2", "2"]
    assert [trial.question_id for trial in trials[:4]] == ["1", "1", "1", "2"]
    assert [trial.condition for trial in trials[:3]] == [None, "country=AT", "country=GR"]
    assert trials[0].prompt == ASKED["ell"][0]
    assert trials[0].chat == (Turn("user", ASKED["ell"][0]),)
    assert trials[0].readout == Generate(max_tokens=200, temperature=1.0, samples=5, seed=4)
    assert trials[1].readout == Generate(max_tokens=200, temperature=1.0, samples=3, seed=4)
    assert len({trial.trial_id for trial in trials}) == len(trials) == 18


def test_personas_stand_in_the_condition(tmp_path):
    (tmp_path / "personas.csv").write_text("anchor,country,persona\n1,AT,1\n2,AT,2\n")
    questions = read_questions(write_folder(tmp_path / "q"), tmp_path / "personas.csv")["eng"]
    trials = write_trials(questions, "eng", CulturalRobustness(), 1)
    assert [trial.condition for trial in trials[:3]] == [None, "country=AT,persona=1", "country=AT,persona=2"]
    assert condition_of("AT", 2) == trials[2].condition


def test_greedy_takes_the_likeliest_answer_once(greek):
    readouts = {trial.readout for trial in write_trials(greek, "ell", CulturalRobustness(greedy=True), 1)}
    assert readouts == {Generate(max_tokens=200, temperature=0.0, samples=1, seed=1)}


def test_a_base_model_is_shown_the_cue_and_stops_at_its_line(greek):
    chat_trials = write_trials(greek, "ell", CulturalRobustness(), 1)
    text_trials = as_text(chat_trials)
    assert text_trials[0].prompt == f"{ASKED['ell'][0]}\nΑπάντηση:"
    assert {trial.readout.stop for trial in text_trials} == {("\n",)}
    assert [trial.trial_id for trial in text_trials] == [trial.trial_id for trial in chat_trials]
    assert {trial.readout.stop for trial in chat_trials} == {()}


def test_trials_are_stored_as_they_are(tmp_path, greek):
    trials = write_trials(greek, "ell", CulturalRobustness(), 1)
    write_table(tmp_path / "trials.parquet", trial_rows(trials), TRIALS)
    assert read_trials(tmp_path / "trials.parquet") == trials


STUDY = {
    "name": "s", "title": "S", "seed": 1,
    "languages": {"ell": {"name": "Greek", "country": "GR"}, "deu": {"name": "German", "country": "DE"},
                  "eng": {"name": "English"}},
    "families": {"m": {"kind": "huggingface", "model_type": "multi", "model_id": "org/m"}},
}  # fmt: skip
TRAINED = {"r": {"kind": "reference", "model_type": "multi"}}


def study(table, **changes):
    return parse_study(STUDY | changes | {"cultural_robustness": table}, "s.toml", kind=RobustnessStudy)


def test_left_out_keys_are_as_published_but_for_the_samples():
    table = CulturalRobustness.of(study({}))
    assert (table.questions, table.samples, table.samples_anchored, table.max_tokens) == ("bundled", 8, 2, 200)
    assert (table.embedder, table.usable_share, table.keep) == ("Qwen/Qwen3-Embedding-8B", 0.8, ())


def test_a_languages_country_is_its_own():
    with_anchors = study({"anchors": 3})
    assert CulturalRobustness.of(with_anchors).own_countries(with_anchors) == {"ell": "GR", "deu": "DE"}


def test_a_folder_counts_from_the_study_file(tmp_path):
    table = parse_study(STUDY | {"cultural_robustness": {"questions": "asked"}}, "s", tmp_path, RobustnessStudy)
    assert CulturalRobustness.of(table).questions == tmp_path / "asked"


@pytest.mark.parametrize(
    ("table", "changes", "message"),
    [
        ({"anchors": 1}, {}, "anchors: 1, and two differ; allow at least 2"),
        ({"samples": 0}, {}, "'cultural_robustness.samples': more than 0 was expected"),
        ({"temperature": 0}, {}, "temperature"),
        ({"greedy": True, "samples": 3}, {}, "greedy = true draws nothing and takes one answer; leave out samples"),
        ({"keep": ["empty"]}, {}, "keep"),
        ({"keep": ["echo", "echo"]}, {}, "echo stands there twice; name it once"),
        ({"sample": 3}, {}, "unknown key 'cultural_robustness.sample' (did you mean 'samples'?)"),
        ({}, {"languages": {"eng": {"name": "English"}}}, "compares languages, and the study has one"),
        ({"embedder": "planted"}, {}, "knows the made-up answers of reference families alone"),
        ({}, {"families": TRAINED}, "say questions = 'bundled' and embedder = 'planted'"),
        ({"questions": "asked", "embedder": "planted"}, {"families": TRAINED}, "say questions = 'bundled'"),
        ({"embedder": "planted", "embedder_prefix": "query: "}, {"families": TRAINED}, "has none; leave them out"),
        ({"anchors": 2}, {"languages": {code: {"name": code, "country": country} for code, country in
                          (("ell", "GR"), ("deu", "DE"), ("fra", "FR"))}},
         "the languages' own countries are 3 (DE, FR, GR); allow at least 3"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_by_its_key(table, changes, message):
    with pytest.raises(StudyError) as error:
        study(table, **changes)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
