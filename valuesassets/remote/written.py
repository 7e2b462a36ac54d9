"""Prepares `Generate` trials for a model behind an API: one request for each answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from valuesassets.records.errors import InputError
from valuesassets.records.files import sha256_json
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Answer, Status, Trial
from valuesassets.remote.provider import Provider
from valuesassets.remote.replies import ParsedResponse
from valuesassets.remote.requests import Request, new_request, texts_of

STOP_RULE, TEXT_RULE = "2", "2"
"""Versions of `cut_at_stop` and `parse_reply`: change whenever another text may be taken from a response."""


@dataclass(frozen=True)
class WrittenEntry:
    """One answer to ask for."""

    trial: Trial
    readout: Generate
    sample: int
    requests: tuple[Request]

    @property
    def key(self) -> str:
        """The key of the answer; stop texts are in it because they are applied here, with the version of that rule."""
        rule = [STOP_RULE] if self.readout.stop else []
        return sha256_json([self.requests[0].key, list(self.readout.stop), *rule, {"text": TEXT_RULE}])

    def __str__(self) -> str:
        return f"trial {self.trial.trial_id} ({self.trial.language}, sample {self.sample})"

    def record(self, responses: Sequence[ParsedResponse], model: str, known_tokens: frozenset[str]) -> Answer:
        """The response as this entry's answer; the reason of a failed one names model and trial."""
        (response,) = responses
        reason = f"{model}: {self}: {response.reason}" if response.status is Status.FAILED else response.reason
        return Answer(
            trial_id=self.trial.trial_id,
            sample=self.sample,
            text=response.text,
            finish=response.finish,
            n_tokens=response.n_tokens,
            status=response.status,
            reason=reason,
            answer_key=self.key,
            reasoning=response.reasoning,
            n_reasoning_tokens=response.n_reasoning_tokens,
            model_version=response.model_version,
        )


def written_entries(
    provider: Provider, identity: Sequence[str], trials: Sequence[Trial], prompting: Prompting
) -> list[WrittenEntry]:
    """The entries for all answers that trials ask for."""
    entries = []
    for trial, readout in ((each, each.readout) for each in trials):
        if not isinstance(readout, Generate):
            raise InputError(f"trial {trial.trial_id}: is read by {type(readout).__name__} among Generate trials")
        most = readout.max_tokens + (prompting.max_reasoning_tokens or 0)
        first = provider.text_body(trial, readout, 0, prompting)
        for sample in range(readout.samples):
            body = provider.text_body(trial, readout, sample, prompting)
            request = new_request(
                # Without a seed, all samples have the same body although their draws differ.
                [*identity, f"sample {sample}"] if sample and body == first else identity,
                body,
                texts_of(trial, prompting),
                most,
                lambda response, readout=readout: provider.parse_text(response, readout, prompting),
            )
            entries.append(WrittenEntry(trial, readout, sample, (request,)))
    return entries
