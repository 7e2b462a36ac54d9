import dataclasses
from pathlib import Path

import pytest

from valuesassets.instruments.survey.trials.trials import find_identical_prompts, write_trials
from valuesassets.people.variables import load_variables
from valuesassets.records.errors import LexiconError, QuestionError
from valuesassets.records.lexicon import load_lexicon
from valuesassets.records.settings.measuring import Elicitation
from valuesassets.records.trials import main_trials
from valuesassets.studies.questionnaires.content import LANGUAGES
from valuesassets_tests.instruments.survey.asked import ask
from valuesassets_tests.studies.expected_questions import expected_questions

PINNED = Path(__file__).parent / "pinned_prompts"
EXAMPLES = ["v1/0/forward", "v31/0/reversed", "v63/0/forward", "v63/0/reversed", "v86/0/forward", "v98/0/forward",
            "v111@v110=2/0/forward", "v111@v110=2/0/reversed", "v114/0/forward"]  # fmt: skip


def trials_of(questions, **elicitation):
    return write_trials(questions, "eng", load_lexicon("eng"), load_variables(), Elicitation(**elicitation))


def prompts(language):
    written = write_trials(expected_questions(language), language, load_lexicon(language), load_variables())
    return {trial.trial_id: trial for trial in written}


def examples(language):
    written = prompts(language)
    return "".join(f"=== {name}\n{written[name].prompt}⏎\n" for name in EXAMPLES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_prompts_are_pinned_byte_for_byte(language):
    """After a change of words that is meant: `python -m valuesassets_tests.instruments.survey.trials.test_trials`."""
    assert examples(language) == (PINNED / f"{language}.txt").read_text(encoding="utf-8")


def test_the_form_of_a_prompt_by_hand():
    (forward, backward) = trials_of([ask("v1", text="How important is work?")])
    assert forward.prompt == "How important is work?\n1. very\n2. rather\n3. hardly\n4. not at all\nAnswer:"
    assert backward.prompt == "How important is work?\n1. not at all\n2. hardly\n3. rather\n4. very\nAnswer:"
    assert forward.values == (1, 2, 3, 4)
    assert backward.values == (4, 3, 2, 1)
    assert forward.labels == backward.labels == ("1", "2", "3", "4")


def test_a_ten_point_scale_lists_every_number_and_reversing_swaps_the_anchors():
    forward, backward = trials_of([ask("v39", 10)], orders="cyclic")
    numbers = "\n".join(f"{n}." for n in range(2, 10))
    assert forward.prompt == f"What of v39?\n1. never\n{numbers}\n10. always\nAnswer:"
    assert backward.prompt == f"What of v39?\n1. always\n{numbers}\n10. never\nAnswer:"
    assert backward.values == tuple(range(10, 0, -1))


def test_a_dependent_question_is_asked_once_per_earlier_answer_with_that_one_named_and_gone():
    written = prompts("eng")
    names = [name for name in written if name.startswith("v111@")]
    assert len(names) == 4 * 2
    for chosen in (1, 2, 3, 4):
        trial = written[f"v111@v110={chosen}/0/forward"]
        assert trial.asked_id == f"v111@v110={chosen}"
        assert trial.values == tuple(v for v in (1, 2, 3, 4) if v != chosen)
        assert trial.labels == ("1", "2", "3")


@pytest.mark.parametrize("language", LANGUAGES)
def test_list_items_become_statements_and_no_selection_instruction_is_left(language):
    lexicon, written = load_lexicon(language), prompts(language)
    items = [q for q in expected_questions(language) if load_variables().is_converted(q)]
    assert len(items) == 6
    for question in items:
        trial = written[f"{question.id}/0/forward"]
        assert question.item in trial.prompt
        assert question.stem not in trial.prompt
        assert f"\n1. {lexicon.agree}\n2. {lexicon.disagree}\n" in trial.prompt
        assert trial.values == (1, 2)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_prompt_ends_in_cue_and_colon_and_no_two_are_the_same(language):
    written = prompts(language)
    assert len(written) == 68
    assert len({trial.prompt for trial in written.values()}) == 68
    assert all(trial.prompt.endswith(f"{load_lexicon(language).answer_cues[0]}:") for trial in written.values())


def test_wordings_are_the_lexicons_cues_after_the_questions_own():
    trials = trials_of([ask("v1", answer_cue="My view:")], wordings=2)
    assert [t.prompt.rsplit("\n", 1)[1] for t in trials[::2]] == ["My view:", "Answer:"]
    with pytest.raises(QuestionError, match="9 wordings asked"):
        trials_of([ask("v1")], wordings=9)


def test_two_questions_with_one_prompt_are_refused():
    with pytest.raises(QuestionError, match="v1/0/forward and v2/0/forward show the same prompt"):
        trials_of([ask("v1", text="What?"), ask("v2", text="What?")])


@pytest.mark.parametrize(("language", "text"), [("srp", "Колико је важан посао?"), ("aze", "Иш нә гәдәр вачибдир?")])
def test_questions_in_the_other_script_than_the_lexicon_are_refused(language, text):
    lexicon = load_lexicon(language)
    with pytest.raises(LexiconError, match=f"{language}: the questions are in Cyrillic letters, .* in Latin ones"):
        write_trials([ask("v1", text=text)], language, lexicon, load_variables())
    own = lexicon.model_copy(update={"answer_cues": ("Одговор", "Мој одговор")})
    assert write_trials([ask("v1", text=text)], language, own, load_variables())


def test_a_script_in_two_kinds_of_letters_is_one():
    """Japanese is written in kana and in kanji within a sentence."""
    lexicon = load_lexicon("eng").model_copy(update={"answer_cues": ("回答", "私の回答")})
    assert write_trials([ask("v1", text="仕事はあなたにとってどのくらい重要ですか")], "jpn", lexicon, load_variables())


def test_identical_prompts_are_named():
    trials = write_trials([ask("v7"), ask("v1")], "eng", load_lexicon("eng"), load_variables())
    twin = dataclasses.replace(trials[0], trial_id="twin")
    assert find_identical_prompts(trials) == []
    assert find_identical_prompts([*trials, twin]) == [(trials[0].trial_id, "twin")]


def test_a_study_without_estimators_asks_nothing_more():
    assert {trial.estimator for trial in trials_of([ask("v1"), ask("v39", 10)], orders="all")} == {None}


def test_the_content_free_prompt_lacks_the_question_and_nothing_else():
    written = {t.trial_id: t for t in trials_of([ask("v1")], wordings=2, estimators=["content_free"])}
    assert len(written) == 2 * 2 * 2
    beside = written["v1/0/reversed/content_free"]
    assert beside.prompt == "1. not at all\n2. hardly\n3. rather\n4. very\nAnswer:"
    main = written["v1/0/reversed"]
    same = dataclasses.replace(beside, trial_id=main.trial_id, prompt=f"What of v1?\n{beside.prompt}", estimator=None)
    assert same == main


@pytest.mark.parametrize("language", LANGUAGES)
def test_content_free_prompts_of_real_questions_end_their_main_prompts(language):
    questions, lexicon = expected_questions(language), load_lexicon(language)
    written = write_trials(questions, language, lexicon, load_variables(), Elicitation(estimators=("content_free",)))
    prompts_by_id = {trial.trial_id: trial.prompt for trial in written}
    assert len(prompts_by_id) == 2 * 68
    for trial in main_trials(written):
        assert trial.prompt.endswith(f"\n{prompts_by_id[f'{trial.trial_id}/content_free']}")


def test_texts_are_asked_for_in_both_orders_where_every_option_has_one():
    written = trials_of([ask("v1"), ask("v39", 10)], orders="cyclic", estimators=["label_likelihood"])
    beside = {t.trial_id: t for t in written if t.estimator == "label_likelihood"}
    assert list(beside) == ["v1/0/forward/label_likelihood", "v1/0/reversed/label_likelihood"]
    backward = beside["v1/0/reversed/label_likelihood"]
    assert backward.labels == ("not at all", "hardly", "rather", "very")
    assert backward.values == (4, 3, 2, 1)
    assert backward.prompt == next(t.prompt for t in written if t.trial_id == "v1/0/reversed")


def test_battery_items_share_a_content_free_prompt_without_being_refused():
    written = trials_of([ask("v1"), ask("v5")], estimators=["content_free", "label_likelihood"])
    assert find_identical_prompts(written) == []
    free = [trial for trial in written if trial.estimator == "content_free" and trial.order == "forward"]
    assert len(free) == 2
    assert free[0].prompt == free[1].prompt
    assert len({trial.trial_id for trial in written}) == len(written) == 2 * 2 * 3


if __name__ == "__main__":
    for code in LANGUAGES:
        (PINNED / f"{code}.txt").write_text(examples(code), encoding="utf-8")
