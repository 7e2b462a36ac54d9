"""`replication_bundle`: a zip to check, cite and repeat a study from; docs/take_it_away.md lists its files.

Respondents' rows and questionnaires in PDF stay out, since archives hand them out under their own terms.
"""

import io
import json
import math
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib import resources
from importlib.metadata import distributions
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from valuesassets.records.csv_tables import csv_text, guarded, read_csv, with_texts
from valuesassets.records.errors import MissingData
from valuesassets.records.files import sha256_file, whole_file
from valuesassets.records.parquet import read_rows, read_trials
from valuesassets.records.places import study_to_name
from valuesassets.records.plugins import packages_of
from valuesassets.records.seals import damaged, parquet_bytes
from valuesassets.records.study import Study
from valuesassets.records.table import Table
from valuesassets.records.tables import PROBE_DISTRIBUTIONS, TRIALS
from valuesassets.records.toml_text import toml_text
from valuesassets.records.zips import write_zip
from valuesassets.reporting.item_files import item_files
from valuesassets.reporting.methods import listed
from valuesassets.reporting.run import software_versions
from valuesassets.reporting.stored_tables import StoredTable, stored_tables

FIGURE_FILES = (".svg", ".png", ".pdf", ".txt")
"""The endings of a figure's files; `.txt` is its small print."""
OUR_PDF_MARK = b"/Producer (Matplotlib"
"""The bytes that distinguish our PDF figures from questionnaires."""
CODEBOOK = ("table", "a_row_is", "column", "type", "unit", "range", "may_be_empty", "words")
REASONS = {"person": "answers of single respondents", "form": "questionnaire", "input": "input of the study"}
"""The reasons for which `left_out.csv` lists a file instead of the bundle holding it."""
INFINITE = {math.inf: "INF", -math.inf: "-INF"}
FIELD_TYPES = {"whole number": "integer", "number": "number", "true or false": "boolean", "text": "string"}
"""The types of columns by the names that Frictionless has for them; lists are arrays."""


def write_bundle(
    path: Path,
    study: Study,
    folder: Path,
    instruments: Mapping[str, Iterable[str]],
    hashes: Mapping[Path, str] = MappingProxyType({}),
) -> list[str]:
    """Write the zip, whole or not at all, and return the names of its files; the same study gives the same bytes.

    Args:
        path: the path of the zip.
        folder: the study's folder below the storage.
        instruments: folders of instruments in it, each with the names of its parts in the study; stored files of other
            parts are left out. The instruments' own tables have to be declared by now.
        hashes: SHA-256 of stored files when they were written; a file with another hash is an error.

    Raises:
        MissingData: nothing of the study is stored.
        StorageError: a file of the storage is damaged, or the zip cannot be written.
    """
    for file, digest in sorted(hashes.items()):
        is_taken = file != path and any(file.is_relative_to(folder / name) for name in instruments)
        if is_taken and file.exists() and (not file.is_file() or sha256_file(file) != digest):
            raise damaged(file)
    tables = {
        name: stored_tables(folder, name, {*parts, *study.families, *study.languages})
        for name, parts in instruments.items()
    }
    if not any(tables.values()):
        raise MissingData(
            f"study {study.name}: no table of it is stored in {folder}; run it first: valuesassets run "
            f"{study_to_name(study.name)}"
        )
    bundle = _Bundle()
    with whole_file(path) as temporary:
        bundle.write("study.toml", study_text(study))
        for place in _settings(study):
            bundle.write(f"{place.parent.name}/{place.name}", place.read_bytes())
        for name in instruments:
            _write_instrument(bundle, folder / name, name, tables[name])
        public_tables = {
            f"{instrument}/{name}": each.table
            for instrument in instruments
            for name, each in tables[instrument].items()
            if not each.has_persons
        }
        bundle.write("codebook.csv", csv_text(_codebook(public_tables)))
        bundle.write("left_out.csv", csv_text(pd.DataFrame(_left_out(study, folder, tables), columns=LEFT_OUT)))
        bundle.write("environment.txt", environment())
        bundle.write("REPRODUCE.md", _reproduce(study))
        bundle.write("CITATION.cff", _citation(study))
        package = json.dumps(_data_package(study, bundle.resources), ensure_ascii=False, indent=2)
        bundle.write("datapackage.json", f"{package}\n")
        sums = "".join(f"{digest}  {name}\n" for name, digest in sorted(bundle.digests.items()))
        bundle.write("SHA256SUMS", sums)
        write_zip(temporary, bundle.content)
    return sorted(bundle.digests)


@dataclass
class _Bundle:
    """The files of the zip by name, with the hash of each, and the tables that the data package describes."""

    content: dict[str, bytes] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    resources: list[dict[str, Any]] = field(default_factory=list)

    def write(self, name: str, content: str | bytes) -> None:
        """Add a file."""
        self.content[name] = content.encode() if isinstance(content, str) else content
        self.digests[name] = sha256(self.content[name]).hexdigest()

    def write_resource(self, name: str, content: bytes, descriptor: Mapping[str, Any]) -> None:
        """Add a table as CSV that the data package describes."""
        self.write(name, content)
        plain = re.sub("[^a-z0-9._-]+", "-", name.removesuffix(".csv").lower())
        resource = {"name": plain, "path": name, "profile": "tabular-data-resource", "format": "csv"}
        size = {"encoding": "utf-8", "bytes": len(content), "hash": f"sha256:{self.digests[name]}"}
        self.resources.append({**resource, **size, **descriptor})


def study_text(study: Study) -> str:
    """The study as text of a study file; each path is its last name alone, for a file beside the study file."""
    settings = {"languages": study.languages and study.model_dump(include={"languages"})["languages"]}
    settings = study.model_dump(exclude_defaults=True) | settings
    head = f"# The study {study.name} as it was run. Put the files that it names beside this file."
    return f"{head}\n{toml_text(settings)}\n"


def environment() -> str:
    """Every installed package with its version, in the format of pip's requirements."""
    requirements = {f"{each.metadata['Name']}=={each.version}" for each in distributions() if each.metadata["Name"]}
    return "\n".join([f"# Python {platform.python_version()}", *sorted(requirements, key=str.lower), ""])


def _write_instrument(bundle: _Bundle, folder: Path, instrument: str, tables: Mapping[str, StoredTable]) -> None:
    """Add the report, figures, tables, prompts and item files of an instrument to the bundle."""
    report = folder / "report" / "report.html"
    if report.exists():
        bundle.write(f"{instrument}/report.html", report.read_bytes())
    for path in sorted(folder.glob("*/*")):
        if path.suffix in FIGURE_FILES and (path.suffix != ".pdf" or OUR_PDF_MARK in path.read_bytes()):
            bundle.write(f"{instrument}/figures/{path.parent.name}/{path.name}", path.read_bytes())
    for name, stored in tables.items():
        if stored.has_persons:
            continue
        for partition, path in stored.files.items():
            inner = f"{name}/{partition}" if partition else name
            bundle.write(f"{instrument}/tables/{inner}.parquet", _as_parquet(path, stored.table))
        rows = _all_rows(stored)
        descriptor = {"title": f"{instrument}: {name}", "description": f"One row is {stored.table.row}."}
        schema = {"fields": [_field(stored.table, each) for each in rows.schema]}
        bundle.write_resource(f"{instrument}/csv/{name}.csv", _csv_bytes(rows), {**descriptor, "schema": schema})
        if stored.table is TRIALS:
            for partition, path in stored.files.items():
                bundle.write(f"{instrument}/prompts/{name}/{partition or name}.txt", _prompts(path))
    probes = tables.get("probe_distributions")
    if probes is not None and probes.table is PROBE_DISTRIBUTIONS:
        answers = _all_rows(probes).to_pandas()
        for name, content in item_files(answers, probes.table, folder).items():
            bundle.write(f"{instrument}/items/{name}", content)


def _as_parquet(path: Path, table: Table) -> bytes:
    """The bytes of a table's file as parquet, whether it is stored as parquet or as CSV."""
    if path.suffix == ".parquet":
        return path.read_bytes()  # `_all_rows` reads the file too, so that a damaged one is found
    return parquet_bytes(_typed_rows(path, table))


def _typed_rows(path: Path, table: Table) -> pa.Table:
    """The rows of a file, with the types of the table's record."""
    rows = pa.Table.from_pandas(read_csv(path, table)) if path.suffix == ".csv" else read_rows(path, table)
    for place, column in enumerate(rows.schema):
        record_column = table.column(column.name)
        target_type = record_column.type if record_column is not None else column.type
        if rows.num_rows and target_type != column.type and not pa.types.is_list(target_type):
            rows = rows.set_column(place, column.name, rows.column(place).cast(target_type))
    return rows.replace_schema_metadata()


def _all_rows(stored: StoredTable) -> pa.Table:
    """The rows of all partitions; if there are several, the first column names the partition."""
    parts = []
    for partition, path in stored.files.items():
        rows = _typed_rows(path, stored.table)
        if len(stored.files) > 1:
            rows = rows.add_column(0, "partition", pa.array([partition] * len(rows), pa.string()))
        parts.append(rows)
    return pa.concat_tables(parts, promote_options="permissive")


def _csv_bytes(rows: pa.Table) -> bytes:
    """CSV in the format of data packages: lists as JSON, missing values empty, infinite numbers as INF."""
    columns: dict[str, Any] = {}
    rows = with_texts(rows, guarded)
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        kind = column.type
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            texts = (None if each is None else _plain_json(each) for each in column.to_pylist())
            columns[name] = pa.array(texts, pa.string())
        elif pa.types.is_floating(kind):
            numbers = column.to_numpy(zero_copy_only=False).astype(float)
            columns[name] = pa.array(numbers, kind, mask=np.isnan(numbers))
            if np.isinf(numbers).any():
                texts = (None if np.isnan(each) else INFINITE.get(each) or repr(each) for each in numbers.tolist())
                columns[name] = pa.array(texts, pa.string())
        else:
            columns[name] = column
    buffer = io.BytesIO()
    csv.write_csv(pa.table(columns), buffer, csv.WriteOptions(quoting_style="needed"))
    return buffer.getvalue()


def _plain_json(value: Any) -> str:
    plain = [None if isinstance(each, float) and not np.isfinite(each) else each for each in value]
    return json.dumps(plain, ensure_ascii=False)


def _field(table: Table, arrow_field: pa.Field) -> dict[str, Any]:
    """The description of a column for Frictionless."""
    column = table.column(arrow_field.name)
    if column is None:
        return {"name": arrow_field.name, "type": "string", "description": "file of the storage that the row stands in"}
    kind = "array" if pa.types.is_list(column.type) else FIELD_TYPES[column.kind]
    descriptions = (column.words, f"unit: {column.unit}" * bool(column.unit), column.bounds)
    return {"name": arrow_field.name, "type": kind, "description": "; ".join(filter(None, descriptions))}


def _codebook(tables: Mapping[str, Table]) -> pd.DataFrame:
    """A row for each column of each table, from its record."""
    rows = [
        (name, table.row, column.name, column.kind, column.unit, column.bounds, column.may_be_empty, column.words)
        for name, table in tables.items()
        for column in table.columns
    ]
    return pd.DataFrame(rows, columns=pd.Index(CODEBOOK))


LEFT_OUT = pd.Index(["file", "bytes", "sha256", "why"])


def _left_out(study: Study, folder: Path, tables: Mapping[str, Mapping[str, StoredTable]]) -> list[tuple[Any, ...]]:
    """The rows of `left_out.csv`: files that others have to get or make to repeat the study, with their hashes."""
    reasons: dict[Path, str] = {}
    for instrument, stored in tables.items():
        for each in stored.values():
            if each.has_persons:
                reasons |= dict.fromkeys(each.files.values(), REASONS["person"])
        pdfs = sorted((folder / instrument).rglob("*.pdf"))
        reasons |= {path: REASONS["form"] for path in pdfs if OUR_PDF_MARK not in path.read_bytes()}
    rows = [(path.relative_to(folder).as_posix(), path, reason) for path, reason in reasons.items()]
    settings = set(_settings(study))
    for place in _paths(study.model_dump()):
        inputs = sorted(place.iterdir()) if place.is_dir() else [place]
        rows += [(each.name, each, REASONS["input"]) for each in inputs if each.is_file() and each not in settings]
    return [(name, path.stat().st_size, sha256_file(path), reason) for name, path, reason in sorted(rows)]


def _settings(study: Study) -> list[Path]:
    """The TOML files in folders that the study names, such as corrections of forms."""
    folders = [place for place in _paths(study.model_dump()) if place.is_dir()]
    return sorted({path for place in folders for path in place.glob("*.toml")})


def _paths(value: Any) -> Iterator[Path]:
    """Every path in settings, at any depth."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _paths(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _paths(each)


def _prompts(path: Path) -> str:
    """The text of every prompt, each under the id of its trial."""
    texts = []
    for trial in read_trials(path):
        turns = [f"[{turn.role}]\n{turn.text}" for turn in trial.chat or ()]
        texts.append(f"===== {trial.trial_id} =====\n" + ("\n".join(turns) or trial.prompt))
    return "\n\n".join([*texts, ""])


def _data_package(study: Study, resources: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The descriptor of the tables in CSV, in the format Data Package 1 (specs.frictionlessdata.io)."""
    return {
        "profile": "data-package",
        "name": study.name,
        "title": study.title,
        "description": "Tables of a study made with valuesassets; REPRODUCE.md says how they come about, codebook.csv "
        "what each column holds." + (" Some answers are planted." if study.is_planted else ""),
        "resources": list(resources),
    }


def _citation(study: Study) -> str:
    """The text of CITATION.cff: the study, and the software as a reference."""
    authors = [owner.removeprefix("team:").partition("@")[0] for owner in study.owners]
    lines = [
        "cff-version: 1.2.0",
        "message: If you use these data, please cite them and the software; the report names its other sources.",
        "type: dataset",
        f"title: {json.dumps(study.title, ensure_ascii=False)}",
        "authors:",
        *(f"  - name: {json.dumps(name)}" for name in authors or [f"Authors of the study {study.name}"]),
        "references:",
        "  - type: software",
        "    title: valuesassets",
        "    authors:",
        "      - name: The valuesassets developers",
        f"    version: {software_versions()['valuesassets']}",
    ]
    for name, version in packages_of(study.instrument_tables()).items():
        lines += ["  - type: software", f"    title: {json.dumps(name)}", f"    version: {version}"]
    return "\n".join([*lines, ""])


def _reproduce(study: Study) -> str:
    """The text of REPRODUCE.md."""
    packages = {"valuesassets": software_versions()["valuesassets"], **packages_of(study.instrument_tables())}
    made_with = listed([f"{name} {version}" for name, version in packages.items()])
    software = f"made with {made_with} on Python {platform.python_version()}"
    planted = " Some of its answers are planted: made up to test the instrument." if study.is_planted else ""
    template = (resources.files("valuesassets.reporting") / "reproduce.md").read_text(encoding="utf-8")
    return template.format(title=study.title, name=study.name, software=software, planted=planted)
