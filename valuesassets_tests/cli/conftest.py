import pytest

from valuesassets_tests.cli.commands import FORMS, QUESTIONS, succeed, write_json
from valuesassets_tests.tiny_models import byte_level, sentencepiece_like, write_model

TOKENIZERS = {"sentencepiece": sentencepiece_like, "byte_level": byte_level}


@pytest.fixture(scope="module", autouse=True)
def _storage_of_the_module(tmp_path_factory):
    """What fixtures of the module ask is kept below a folder of its own, not in the checkout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VALUESASSETS_STORAGE", str(tmp_path_factory.mktemp("storage")))
        yield


@pytest.fixture(autouse=True)
def _storage_of_the_test(tmp_path, monkeypatch):
    """No test is answered from what another has asked."""
    monkeypatch.setenv("VALUESASSETS_STORAGE", str(tmp_path.with_name(f"{tmp_path.name}_storage")))


@pytest.fixture
def questions(tmp_path):
    return write_json(tmp_path / "questions.json", QUESTIONS)


@pytest.fixture(scope="module", params=TOKENIZERS)
def model(request, tmp_path_factory):
    prompts = [q["text"] + "\n".join(f"{o['value']}. {o['label']}" for o in q["options"]) for q in QUESTIONS]
    return write_model(
        tmp_path_factory.mktemp("model") / request.param, TOKENIZERS[request.param](prompts * 3), spread=0.1
    )


@pytest.fixture(scope="module")
def aligned(tmp_path_factory):
    """The bundled forms of two languages, extracted and aligned by the commands themselves."""
    folder = tmp_path_factory.mktemp("forms")
    for language in ("eng", "deu"):
        file = folder / f"{language}.json"
        succeed("extract", FORMS / f"{language}.pdf", "--language", language, "--output", file)
    succeed("align", folder / "eng.json", folder / "deu.json", "--master", "eng", "--output", folder / "aligned")
    return folder / "aligned"
