"""Thoughts in a text are split off, in whatever tags; one without an end is no answer."""

import pytest

from valuesassets.records.thoughts import NO_END, part_thoughts, without_thought
from valuesassets.records.trials import Answer, Status

TAGS = [
    ("<think>", "</think>"),
    ("<THINK>", "</THINK>"),
    ('<think lang="en">', "</think>"),
    ("&lt;think&gt;", "&lt;/think&gt;"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<antThinking>", "</antThinking>"),
    ("<seed:think>", "</seed:think>"),
    ("<think_never_used_51bce0c7>", "</think_never_used_51bce0c7>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>\n<|begin_of_solution|>"),
    ("<|think|>", "<|/think|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("◁think▷", "◁/think▷"),
    ("<|channel>thought\n", "<channel|>"),
    ("<unused94>thought\n", "<unused95>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|start|>assistant<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
]
IN_FRONT = [("<analysis>", "</analysis>"), ("<scratchpad>", "</scratchpad>"), ("analysis", "assistantfinal")]


@pytest.mark.parametrize(("opening", "closing"), [*TAGS, *IN_FRONT])
def test_a_thought_in_any_tags_stands_apart(opening, closing):
    parted = part_thoughts(f"\n{opening}Two and two.\n{closing}\n\nFour.")
    assert (parted.answer, parted.reasoning, parted.fault) == ("Four.", "Two and two.", None)
    assert parted.tag == opening.strip()


@pytest.mark.parametrize(("opening", "closing"), TAGS)
def test_a_thought_that_the_prompt_began_ends_at_the_tag_too(opening, closing):
    parted = part_thoughts(f"Two and two.{closing}Four.")
    assert (parted.answer, parted.reasoning) == ("Four.", "Two and two.")


@pytest.mark.parametrize(("opening", "closing"), [*TAGS, *IN_FRONT])
def test_a_thought_without_an_end_or_with_nothing_behind_it_is_no_answer(opening, closing):
    assert part_thoughts(f"{opening}Two and two, 4.")[::3] == (None, NO_END)
    assert part_thoughts(f"{opening}Two and two.{closing}\n")[::3] == (None, "nothing stands behind its thought")


def test_several_thoughts_and_one_behind_a_word_are_split_off():
    twice = part_thoughts("<think>One.</think>\n<think>Two.</think>Four.")
    assert (twice.answer, twice.reasoning) == ("Four.", "One.\n\nTwo.")
    assert part_thoughts("Well. <think>Two.</think>Four.").answer == "Four."
    assert part_thoughts("<think>One.</think>Four. <think>Or").fault == NO_END
    assert part_thoughts("<|channel|>final<|message|>Four.<|return|>").answer == "Four."


@pytest.mark.parametrize(
    "text",
    [
        *("Four.", "I think 4 < 5 and 5 > 3.", "The analysis shows: yes.", "analysis", "[1] think", " \n"),
        *("A <reason>it is mine</reason>", "an assistantfinal word", "<answer>4</answer>"),
    ],
)
def test_a_text_without_a_thought_stays_as_it_is(text):
    assert part_thoughts(text) == (text, "", None, None)


def test_a_model_that_was_not_to_think_has_failed_and_what_it_thought_is_kept():
    answer = Answer("q", 0, "<think>Two.</think>Four.", "end", 9, Status.OK, None, "key")
    failed = without_thought(answer, "trial q")
    assert failed.reason == (
        "the model thought (<think>) at trial q though thinking = 'off'; say thinking = 'on', or use a model that can "
        "answer at once"
    )
    assert (failed.status, failed.text, failed.reasoning, failed.n_reasoning_tokens) == (Status.FAILED, None, "Two.", 9)
    assert failed.is_final
    thinking = Answer("q", 0, "a </think> b", "end", 9, Status.OK, None, "key", reasoning="Two.")
    assert without_thought(thinking, "trial q") is thinking
