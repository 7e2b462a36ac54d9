import pytest

from valuesassets_tests.tiny_models import sentencepiece_like, write_model


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("node") / "model", sentencepiece_like())
