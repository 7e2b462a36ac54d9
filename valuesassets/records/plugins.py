"""Instruments of other packages, which Python finds by their entry points in the group `valuesassets.instruments`."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from valuesassets.records.errors import StudyError, ValuesAssetsError
from valuesassets.records.instruments import API, Instrument
from valuesassets.records.places import STUDIES

GROUP = "valuesassets.instruments"
OURS = "valuesassets"


@dataclass(frozen=True)
class Installed:
    """What other packages offer.

    Attributes:
        instruments: those that can be used, by name.
        packages: the installed package of each, with its version.
        faults: why others cannot be used, a line for each, by name.
    """

    instruments: Mapping[str, Instrument]
    packages: Mapping[str, str]
    faults: Mapping[str, str]


@cache
def installed() -> Installed:
    """The instruments of installed packages; none of their faults is an error here, so that all else goes on."""
    by_name: dict[str, list[EntryPoint]] = defaultdict(list)
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, _package(entry))):
        by_name[entry.name].append(entry)
    instruments, packages, faults = dict[str, Instrument](), dict[str, str](), dict[str, str]()
    for name, entries in by_name.items():
        try:
            instruments[name] = _record(name, entries)
            packages[name] = _package(entries[0])
        except StudyError as fault:
            faults[name] = str(fault)
    return Installed(instruments, packages, faults)


def _record(name: str, entries: list[EntryPoint]) -> Instrument:
    """The record behind the entry points of a name; StudyError where there are several or it cannot be used."""
    packages = [*([OURS] if name in _own_names() else []), *map(_package, entries)]
    if len(packages) > 1:
        raise StudyError(
            f"instrument {name}: is in {' and in '.join(packages)}; a name stands for one: uninstall a package"
        )
    (entry,), (package,) = entries, packages
    try:
        record = entry.load()
    except (Exception, SystemExit) as error:
        raise StudyError(f"instrument {name}: {cannot_be_imported(entry.value, package, error)}") from None
    if why := fault_of_record(record, name):
        raise StudyError(f"instrument {name}: {entry.value} of {package} {why}")
    return record


def fault_of_record(record: object, name: str) -> str:
    """What keeps a record from being used; empty if nothing does."""
    if not isinstance(record, Instrument):
        return f"is no Instrument of valuesassets.records.instruments (found {type(record).__name__}); mend the package"
    if record.api != API:
        return f"is written for api {record.api}, and this valuesassets has api {API}; install versions that fit"
    if record.name != name:
        return f"has the name {record.name!r} in its record; give its entry point the same name"
    return ""


def cannot_be_imported(place: str, package: str, error: BaseException) -> str:
    """The line about a module or an object of an installed package that Python cannot import."""
    return f"{place} of {package} cannot be imported ({_reason(error)}); mend or uninstall the package"


def object_of(instrument: Instrument, place: str) -> Any:
    """What `module:name` names in the package of an instrument.

    Raises:
        StudyError: of an instrument of another package, where it cannot be imported or is not there.
    """
    module, _, name = place.partition(":")
    try:
        return getattr(module_of(instrument, module), name)
    except AttributeError:
        package = installed().packages.get(instrument.name)
        if package is None:
            raise
        raise StudyError(f"instrument {instrument.name}: {module} of {package} has no {name}; mend it") from None


def call_of(instrument: Instrument, place: str, study: object) -> Any:
    """What the function that `module:name` names gives of a study.

    Raises:
        StudyError: of an instrument of another package, where it cannot be imported or fails.
    """
    function = object_of(instrument, place)
    try:
        return function(study)
    except ValuesAssetsError:
        raise
    except Exception as error:
        package = installed().packages.get(instrument.name)
        if package is None:
            raise
        fault = f"{place} of {package} fails ({_reason(error)}); mend the package"
        raise StudyError(f"instrument {instrument.name}: {fault}") from error


def packages_of(names: Iterable[str]) -> dict[str, str]:
    """The installed packages of the instruments with these names, each with its version; those of this package have
    none of their own."""
    packages = [installed().packages[name].partition(" ") for name in names if name in installed().packages]
    return {name: version or "not installed as a package" for name, _, version in packages}


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def module_of(instrument: Instrument, module: str) -> ModuleType:
    """A module of the package of an instrument.

    Raises:
        StudyError: of an instrument of another package, where it cannot be imported.
    """
    try:
        return import_module(module)
    except (Exception, SystemExit) as error:
        package = installed().packages.get(instrument.name)
        if package is None:
            raise
        raise StudyError(f"instrument {instrument.name}: {cannot_be_imported(module, package, error)}") from error


def _package(entry: EntryPoint) -> str:
    """The installed package of an entry point, with its version."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.module


def _own_names() -> Iterator[str]:
    """The names of the instruments of this package."""
    yield from (path.name for path in (STUDIES.parent / "instruments").iterdir() if path.is_dir())
