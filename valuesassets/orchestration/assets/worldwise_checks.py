"""Sentences about dilemmas and the choices of cells that are true when passing."""

from valuesassets.orchestration.checks import ASK_AGAIN, WARN, Sentence

SCENARIOS_ARE_SOUND = Sentence(
    "scenarios_are_sound",
    "In every dilemma both options are about as long, and no word tells a country or the axis.",
    "read the dilemmas named, and write them anew or leave them out; one that is as it should be may stay.",
    WARN,
)
EVERY_PROMPT_WAS_ASKED = Sentence(
    "every_prompt_was_asked",
    "Every dilemma has a choice in both orders.",
    f"the reason stands in each row, the log of the readings says more; {ASK_AGAIN}",
)
ORDERS_AGREE = Sentence(
    "orders_agree",
    "In no dilemma do the two orders differ by more than thresholds.position_bias.",
    "choices are means over both orders, which a liking for the first option leaves as they are while it is small; "
    "read those named with care.",
    WARN,
)
