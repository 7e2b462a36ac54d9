import pytest

from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.loading import load_model
from valuesassets_tests.tiny_models import byte_level, sentencepiece_like, write_model


@pytest.fixture(scope="session")
def model_folders(tmp_path_factory):
    """A tiny random model under each kind of tokenizer."""
    root = tmp_path_factory.mktemp("models")
    return {
        "sentencepiece": write_model(root / "sentencepiece", sentencepiece_like()),
        "byte_level": write_model(root / "byte_level", byte_level()),
    }


@pytest.fixture(scope="session", params=["sentencepiece", "byte_level"])
def loaded(request, model_folders) -> LoadedModel:
    return load_model(str(model_folders[request.param]), dtype="float32", device="cpu")
