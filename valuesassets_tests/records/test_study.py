import tomllib

import pytest

from valuesassets.records.errors import StudyError
from valuesassets.records.study_files import load_study, parse_study, study_path


def demo(**changes):
    content = tomllib.loads(study_path("demo").read_text())
    for path, value in changes.items():
        part = content
        *parents, last = path.split("__")
        for name in parents:
            part = part.setdefault(name.replace("_mono", "-mono"), {})
        part[last] = value
    return content


def test_the_demo_has_six_languages_and_two_families():
    study = load_study("demo")
    assert list(study.languages) == ["eng", "deu", "fra", "pol", "ell", "bul"]
    assert len(study.cells()) == 12
    assert study.has_reference_models


def test_evs2017_has_44_cells_with_ids_documents_and_resources():
    study = load_study("evs2017")
    assert len(study.languages) == 22
    assert len(study.cells()) == 44
    assert study.languages["eng"].gesis_document == 66252
    hplt, euro = study.families["hplt2c"], study.families["eurollm-22b"]
    assert hplt.model_id == "HPLT/hplt2c_{lang}_checkpoints"
    assert euro.model_id == "utter-project/EuroLLM-22B-2512"
    assert (hplt.resources.gpus, hplt.resources.memory_gib, hplt.resources.hours) == (1, 24, 1)
    assert (euro.resources.gpus, euro.resources.memory_gib, euro.resources.hours) == (2, 96, 2)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"thresholds__p_valid_cell": 1.5}, ["thresholds.p_valid_cell", "at most 1", "1.5"]),
        ({"thresholds__p_valid": 0.1}, ["unknown key 'thresholds.p_valid'"]),
        ({"languages__xx": {"name": "?"}}, ["languages.xx"]),
        ({"questionnaires__master": "swe"}, ["questionnaires.master", "swe", "eng, deu"]),
        ({"families__reference_mono__languages": ["swe"]}, ["families.reference-mono.languages", "swe"]),
        ({"families__reference_mono__model_id": "x/y"}, ["families.reference-mono", "takes none"]),
        ({"questionnaires__source": "folder"}, ["pdf_dir"]),
        ({"questionnaires__source": "gesis"}, ["languages.eng", "gesis_document"]),
        ({"human__respondents": 0}, ["human.respondents"]),
        ({"name": "Demo Study"}, ["'name'"]),
    ],
)
def test_a_faulty_study_is_refused_with_file_key_and_reason(changes, words):
    with pytest.raises(StudyError) as error:
        parse_study(demo(**changes), "my.toml")
    message = str(error.value)
    assert message.startswith("my.toml: ")
    assert "\n" not in message
    for word in words:
        assert word in message


def test_what_is_no_study_file_is_refused_in_one_line(tmp_path):
    broken, binary = tmp_path / "broken.toml", tmp_path / "latin.toml"
    broken.write_text("name = ")
    binary.write_bytes(b'name = "\xff"')
    for path, word in [
        (broken, "not TOML"),
        (binary, "UTF-8"),
        (tmp_path / "absent.toml", "or name one of demo, "),
    ]:
        with pytest.raises(StudyError, match=word):
            load_study(str(path))


def test_a_folder_of_pdfs_is_relative_to_the_study_file(tmp_path):
    text = study_path("demo").read_text().replace('source = "bundled"', 'source = "folder"\npdf_dir = "pdfs"')
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(StudyError, match="pdfs: no such folder"):
        load_study(str(tmp_path / "mine.toml"))
    (tmp_path / "pdfs").mkdir()
    assert load_study(str(tmp_path / "mine.toml")).questionnaires.pdf_dir == tmp_path / "pdfs"


def test_a_cell_that_a_family_does_not_serve_is_refused():
    content = demo(families__reference_mono__languages=["eng", "deu"])
    study = parse_study(content, "my.toml")
    assert study.require_cell("reference-mono", "eng").kind == "reference"
    with pytest.raises(StudyError, match="does not serve pol; it serves eng, deu"):
        study.require_cell("reference-mono", "pol")
