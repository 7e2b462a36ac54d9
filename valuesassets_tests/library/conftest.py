import pytest

from valuesassets.records.questions import parse_questions
from valuesassets_tests.bad_inputs.making import QUESTIONS
from valuesassets_tests.tiny_models import byte_level, write_model


@pytest.fixture
def questions():
    return parse_questions(QUESTIONS, "made questions")


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """The folder of a model with random weights."""
    return write_model(tmp_path_factory.mktemp("model") / "tiny", byte_level(), spread=0.1)
