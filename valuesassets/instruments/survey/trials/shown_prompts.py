"""What a chat model was shown of each trial, by the first prompt that its readings keep as it was rendered."""

from collections.abc import Iterable
from dataclasses import dataclass

from valuesassets.records.trials import Trial


@dataclass(frozen=True)
class Frame:
    """What a chat template puts around a trial: before what the user says, behind it, and behind the cue.

    A template puts the same around every trial: all are one user turn and, where the cue opens it, the model's.
    """

    before: str
    behind: str
    end: str
    has_cue: bool

    def around(self, trial: Trial) -> str:
        """A trial as the model was shown it."""
        asked, cue = _parts(trial, self.has_cue)
        return f"{self.before}{asked}{self.behind}{cue}{self.end}"


def frame_of(first_prompt: str, trials: Iterable[Trial], has_cue: bool) -> Frame | None:
    """What stands around the trial that a rendered prompt shows; None where it shows none of them.

    Args:
        has_cue: whether a prompt's last line opens the model's turn.
    """
    for trial in trials:
        asked, cue = _parts(trial, has_cue)
        before, found, rest = first_prompt.partition(asked)
        at = rest.rfind(cue)
        if found and at >= 0:
            return Frame(before, rest[:at], rest[at + len(cue) :], has_cue)
    return None


def _parts(trial: Trial, has_cue: bool) -> tuple[str, str]:
    asked, _, cue = trial.prompt.rpartition("\n") if has_cue else (trial.prompt, "", "")
    return asked.strip(), cue
