"""Every instrument has the same names in its folder, so that whoever knows one knows all five."""

import pkgutil
from pathlib import Path

import pytest

from valuesassets import instruments
from valuesassets_tests import toy_instrument

FOLDERS = {"answers", "material", "measures", "plants", "published", "report", "trials"}
FILES = {"analyses", "tables"}
PACKAGES = [Path(instruments.__path__[0], each.name) for each in pkgutil.iter_modules(instruments.__path__)]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_an_instrument_has_the_common_names_and_no_others(package):
    modules = list(pkgutil.iter_modules([str(package)]))
    assert {each.name for each in modules if each.ispkg} == FOLDERS
    assert {each.name for each in modules if not each.ispkg} == FILES


def test_the_toy_instrument_has_them_too_beside_its_wiring():
    names = {each.name for each in pkgutil.iter_modules(toy_instrument.__path__)}
    assert names == (FOLDERS - {"published"}) | FILES | {"settings", "study", "wiring"}
