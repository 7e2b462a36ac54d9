"""`Generate` behind an API: a request for each answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from valuesassets.records.errors import InputError
from valuesassets.records.files import sha256_json
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Answer, Status, Trial
from valuesassets.remote.provider import Provider
from valuesassets.remote.replies import Said
from valuesassets.remote.requests import Request, new_request, texts_of

STOP_RULE, TEXT_RULE = "2", "2"
"""Of `cut_at_stop` and of `said_of`; change whenever another text may be taken from a response."""


@dataclass(frozen=True)
class WrittenEntry:
    """One answer to ask for."""

    trial: Trial
    readout: Generate
    sample: int
    requests: tuple[Request]

    @property
    def key(self) -> str:
        """What the answer is known by: stop texts cut a response here, and have done so by another rule."""
        rule = [STOP_RULE] if self.readout.stop else []
        return sha256_json([self.requests[0].sent, list(self.readout.stop), *rule, {"text": TEXT_RULE}])

    def __str__(self) -> str:
        return f"trial {self.trial.trial_id} ({self.trial.language}, sample {self.sample})"

    def record(self, said: Sequence[Said], model: str, told: frozenset[str]) -> Answer:
        """What was said as this entry's answer; if it failed, the reason names model and trial."""
        (one,) = said
        reason = f"{model}: {self}: {one.reason}" if one.status is Status.FAILED else one.reason
        return Answer(
            trial_id=self.trial.trial_id,
            sample=self.sample,
            text=one.text,
            finish=one.finish,
            n_tokens=one.n_tokens,
            status=one.status,
            reason=reason,
            answer_key=self.key,
            reasoning=one.reasoning,
            n_reasoning_tokens=one.n_reasoning_tokens,
            model_version=one.model_version,
        )


def written_entries(
    provider: Provider, identity: Sequence[str], trials: Sequence[Trial], prompting: Prompting
) -> list[WrittenEntry]:
    """The answers that trials ask for."""
    found = []
    for trial, readout in ((each, each.readout) for each in trials):
        if not isinstance(readout, Generate):
            raise InputError(f"trial {trial.trial_id}: is read by {type(readout).__name__} among Generate trials")
        most = readout.max_tokens + (prompting.max_reasoning_tokens or 0)
        first = provider.to_write(trial, readout, 0, prompting)
        for sample in range(readout.samples):
            body = provider.to_write(trial, readout, sample, prompting)
            request = new_request(
                # Where the seed is left out, draws are sent alike, and are another each time all the same.
                [*identity, f"sample {sample}"] if sample and body == first else identity,
                body,
                texts_of(trial),
                most,
                lambda response, readout=readout: provider.written(response, readout, prompting),
            )
            found.append(WrittenEntry(trial, readout, sample, (request,)))
    return found
