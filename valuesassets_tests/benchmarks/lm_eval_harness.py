"""lm-evaluation-harness as it is used: log-likelihoods of continuations, on the model and tokenizer already loaded."""

import logging
import warnings
from collections.abc import Sequence
from importlib import metadata, util
from typing import Any

from valuesassets.models.loaded_model import LoadedModel
from valuesassets.records.trials import Trial
from valuesassets.spelling.spellings import spell_labels
from valuesassets_tests.benchmarks.counting import Ids

BARE, SPACED = "", " "
"""What stands before a label. One spelling is the least that can be asked; the engine answers for both."""

Request = tuple[str, str]
"""A prompt and what is to follow it."""


def is_installed() -> bool:
    """Whether the `bench` extra is there."""
    return util.find_spec("lm_eval") is not None


def version() -> str:
    """The release installed."""
    return metadata.version("lm_eval")


def list_requests(trials: Sequence[Trial], leads: Sequence[str]) -> list[Request]:
    """A request for every label of every trial, behind each of `leads`."""
    return [(trial.prompt, lead + label) for trial in trials for lead in leads for label in trial.labels]


class HarnessReader:
    """A model read by `HFLM.loglikelihood`, one sequence at a time (its default), with its one-token cache on."""

    def __init__(self, loaded: LoadedModel) -> None:
        logging.getLogger("lm_eval").setLevel(logging.ERROR)  # it warns of a model that is already loaded
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its dependencies' own
            from lm_eval.api.instance import Instance
            from lm_eval.models.huggingface import HFLM

            self._harness: Any = HFLM(
                pretrained=loaded.model,
                tokenizer=loaded.tokenizer.hf,
                batch_size=1,
                add_bos_token=bool(loaded.tokenizer.bos),
            )
        self._instance = Instance

    def log_likelihoods(self, requests: Sequence[Request]) -> list[float]:
        """Natural logarithm of the probability of each continuation."""
        instances = [
            self._instance(request_type="loglikelihood", doc={}, arguments=request, idx=index)
            for index, request in enumerate(requests)
        ]
        return [log_prob for log_prob, _ in self._harness.loglikelihood(instances, disable_tqdm=True)]

    def tokens(self, requests: Sequence[Request]) -> list[tuple[Ids, Ids]]:
        """Context and continuation of each request as the harness cuts them."""
        pairs = [self._harness._encode_pair(*request) for request in requests]
        return [(tuple(context), tuple(continuation)) for context, continuation in pairs]


def require_same_tokens(loaded: LoadedModel, reader: HarnessReader, trials: Sequence[Trial]) -> None:
    """See that the harness reads the token sequences that the engine reads, the beginning-of-text token among them."""
    for trial in trials:
        spelled = spell_labels(loaded.tokenizer, trial.prompt, trial.labels)
        ours = {(spelled.prompt_ids, tokens) for spellings in spelled.spellings for tokens in spellings}
        theirs = set(reader.tokens(list_requests([trial], (BARE, SPACED))))
        assert ours == theirs, f"{trial.trial_id}: the harness reads other tokens than the engine"
