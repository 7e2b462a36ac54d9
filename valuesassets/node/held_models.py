"""The model that a job has loaded: one at a time, shared by all cells that need it."""

import gc
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from valuesassets.models.asking import Asking
from valuesassets.models.known_readings import Known
from valuesassets.models.loading import LoadedModel, OpenedModel, load_weights, open_model
from valuesassets.node.progress import Progress
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.jobs import AskingJob, Device, Dtype, GenerateCell, ScoreCell
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import BosRule, Trial

TINY = 256
"""Numbers per token up to which a second thread costs more than it does."""


class HeldModels:
    """The model that was opened last, with its weights or why they could not be loaded, and what is known of it.

    Args:
        known: folder of what was asked before; None where nothing is kept.
    """

    def __init__(self, progress: Progress, known: Path | None = None) -> None:
        self._progress, self._store = progress, known
        self._asked: tuple[object, ...] = ()
        self._opened: OpenedModel
        self._loaded: LoadedModel | None = None
        self._refused: ValuesAssetsError | None = None
        self._known: dict[type, Known[Any]] = {}

    def open(
        self,
        model: str,
        revision: str | None,
        dtype: Dtype,
        device: Device,
        offline: bool,
        bos: BosRule,
        prompting: Prompting,
    ) -> OpenedModel:
        """A model without its weights; those of another one are let go."""
        asked = model, revision, dtype, device, offline, bos, prompting
        if self._asked != asked:
            if self._asked:
                self._asked, self._loaded, self._refused, self._known = (), None, None, {}
                gc.collect()  # what the model before left in cycles is no longer in the way when memory is looked at
            self._opened, self._asked = open_model(*asked, say=self._progress.say), asked
        return self._opened

    def load(self, opened: OpenedModel) -> LoadedModel:
        """The weights of the model that was opened, if there is memory for them.

        Each load is a line that begins with `loaded`. What could not be loaded for one cell is not read again for the
        model's others.
        """
        if self._refused is not None:
            raise type(self._refused)(*self._refused.args)
        if self._loaded is None:
            try:
                use_threads(opened)
                self._loaded = load_weights(opened)
            except ValuesAssetsError as error:
                _let_go(error)
                self._refused = error
                raise
            self._progress.say(f"loaded {opened.model_id} ({opened.dtype}, {self._loaded.device})")
        return self._loaded

    def asking(
        self, job: AskingJob, cell: ScoreCell | GenerateCell, trials: list[Trial]
    ) -> tuple[Asking, Known[Any] | None, Callable[[], LoadedModel]]:
        """A cell's trials as they are put to its model, what is known of that, and what loads it."""
        asking = Asking(
            self.open(cell.model, cell.revision, job.dtype, job.device, job.offline, cell.bos, cell.prompting), trials
        )
        return asking, self.known(asking), lambda: self.load(asking.opened)

    def known(self, asking: Asking) -> Known[Any] | None:
        """What is known of the model that was opened last, as far as it is asked for; None where nothing is kept."""
        kind = asking.way.known
        if self._store is not None and kind not in self._known:
            self._known[kind] = asking.open_known(self._store, self._progress.say)
        return self._known.get(kind)


def use_threads(opened: OpenedModel) -> None:
    """Give torch one thread for a tiny model on a CPU, and for any other as many as it began with."""
    import torch

    width = getattr(opened.config.get_text_config(), "hidden_size", None)
    at_first = _threads_at_first()
    torch.set_num_threads(1 if width is not None and width <= TINY else at_first)


@cache
def _threads_at_first() -> int:
    import torch

    return torch.get_num_threads()


def _let_go(error: BaseException) -> None:
    """Free what the frames of an error and of its causes hold, the part of the weights that was read; lines stay."""
    said: BaseException | None = error
    while said is not None:
        traceback.clear_frames(said.__traceback__)
        said = said.__cause__ or said.__context__
