"""Real weights: folders of small models that people use, found where the environment says."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from valuesassets.models.loading import LoadedModel, load_model

FOLDERS = "VALUESASSETS_REAL_MODELS"


class RealModel:
    """A model as our engine reads it, in float32 and float64, and the same weights as transformers alone has them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.loaded = load_model(str(folder), None, "float32", "cpu")
        self._exact: LoadedModel | None = None

    @property
    def exact(self) -> LoadedModel:
        """The model in float64; it has no tolerance worth speaking of."""
        if self._exact is None:
            model = AutoModelForCausalLM.from_pretrained(self.folder, dtype=torch.float64).eval()
            self._exact = LoadedModel(replace(self.loaded.opened, dtype="float64"), model, "cpu")
        return self._exact


@pytest.fixture(scope="session", params=["smollm2", "gemma"])
def real(request):
    """A real model; skipped with its reason where it is not on this machine."""
    place = os.environ.get(FOLDERS)
    if place is None:
        pytest.skip(f"{FOLDERS} names no folder of real models")
    folder = Path(place) / request.param
    if not (folder / "config.json").exists():
        pytest.skip(f"{folder}: no such model")
    return RealModel(folder)
