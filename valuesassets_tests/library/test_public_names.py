"""The names of `valuesassets` itself: all there, described, imported when used, and none needs Dagster."""

import inspect
import tomllib

import pytest

import valuesassets
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.test_architecture import HEAVY, loaded_by


@pytest.mark.parametrize("name", valuesassets.__all__)
def test_a_public_name_is_there_and_says_what_it_is(name):
    value = getattr(valuesassets, name)
    assert name in dir(valuesassets)
    if name != "__version__":
        assert (inspect.getdoc(value) or "").splitlines()[0].strip()


def test_the_version_is_that_of_the_project():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    assert valuesassets.__version__ == project["version"]


def test_another_name_is_an_error_that_names_it():
    with pytest.raises(AttributeError, match="extrct"):
        _ = valuesassets.extrct


def test_importing_valuesassets_imports_nothing_heavy_and_its_functions_no_dagster():
    assert not {*HEAVY, "pydantic"} & {*loaded_by("import valuesassets")}
    loaded = loaded_by("from valuesassets import *; extract, ask, read_table")
    assert "valuesassets.library.answering" in loaded
    assert not {"dagster", "torch", "pandas", "matplotlib"} & {*loaded}


def test_every_parameter_of_a_public_function_has_a_type():
    for name in valuesassets.__all__:
        value = getattr(valuesassets, name)
        if inspect.isfunction(value):
            signature = inspect.signature(value)
            assert signature.return_annotation is not inspect.Signature.empty, name
            assert all(each.annotation is not each.empty for each in signature.parameters.values()), name
