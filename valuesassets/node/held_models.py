"""Holds the model that a job has loaded: one at a time, shared by all cells that need it."""

import gc
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from valuesassets.models.asking import Asking
from valuesassets.models.known_readings import Known
from valuesassets.models.loaded_model import LoadedModel, OpenedModel
from valuesassets.models.loading import load_weights, open_model
from valuesassets.node.progress import Progress
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.jobs import AskingJob, Device, Dtype, GenerateCell, SampleCell, ScoreCell
from valuesassets.records.trials import Trial

TINY = 256
"""Largest hidden size at which a second thread costs more time than it saves."""


class HeldModels:
    """The model that was opened last, its weights or the error of loading them, and the stores of its records in
    `folder`, if they are stored."""

    def __init__(self, progress: Progress, folder: Path | None = None) -> None:
        self._progress, self._folder = progress, folder
        self._settings: tuple[object, ...] = ()
        self._opened: OpenedModel
        self._loaded: LoadedModel | None = None
        self._error: ValuesAssetsError | None = None
        self._stores: dict[type, Known[Any]] = {}

    def open(
        self, cell: ScoreCell | GenerateCell | SampleCell, dtype: Dtype, device: Device, offline: bool
    ) -> OpenedModel:
        """Open a cell's model without its weights; the memory of another model is freed."""
        settings = cell.model, cell.revision, dtype, device, offline, cell.bos, cell.prompting
        lora = cell.adapter, cell.adapter_revision
        if self._settings != (settings, lora):
            if self._settings:
                self._settings, self._loaded, self._error, self._stores = (), None, None, {}
                gc.collect()  # frees what the last model holds in reference cycles before memory is checked
            self._opened = open_model(*settings, self._progress.say, *lora)
            self._settings = settings, lora
        return self._opened

    def load(self, opened: OpenedModel) -> LoadedModel:
        """Load the weights of the opened model, if there is memory for them.

        Each load prints a line that begins with `loaded`. A failed load is not tried again for the model's other cells.
        """
        if self._error is not None:
            raise type(self._error)(*self._error.args)
        if self._loaded is None:
            try:
                use_threads(opened)
                self._loaded = load_weights(opened)
            except ValuesAssetsError as error:
                _free_frames(error)
                self._error = error
                raise
            self._progress.say(f"loaded {opened.model_id} ({opened.dtype}, {self._loaded.device})")
        return self._loaded

    def asking(
        self, job: AskingJob, cell: ScoreCell | GenerateCell, trials: list[Trial]
    ) -> tuple[Asking, Known[Any] | None, Callable[[], LoadedModel]]:
        """A cell's trials as they are asked, the store of their records, and a function that loads the model."""
        asking = Asking(self.open(cell, job.dtype, job.device, job.offline), trials)
        return asking, self.store(asking), lambda: self.load(asking.opened)

    def store(self, asking: Asking) -> Known[Any] | None:
        """The store of the opened model's records of this readout; None if nothing is stored."""
        kind = asking.way.store
        if self._folder is not None and kind not in self._stores:
            self._stores[kind] = asking.open_known(self._folder, self._progress.say)
        return self._stores.get(kind)


def use_threads(opened: OpenedModel) -> None:
    """Give torch one thread for a tiny model, and as many as at first for any other."""
    import torch

    width = getattr(opened.config.get_text_config(), "hidden_size", None)
    at_first = _threads_at_first()
    torch.set_num_threads(1 if width is not None and width <= TINY else at_first)


@cache
def _threads_at_first() -> int:
    import torch

    return torch.get_num_threads()


def _free_frames(error: BaseException) -> None:
    """Free the local variables in an error's traceback and its causes', such as weights; line numbers stay."""
    cause: BaseException | None = error
    while cause is not None:
        traceback.clear_frames(cause.__traceback__)
        cause = cause.__cause__ or cause.__context__
