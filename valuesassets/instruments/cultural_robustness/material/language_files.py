"""Finds and reads the files of each language, `<code>_specific.jsonl[.gz]` and `<code>_unspecific.jsonl[.gz]`."""

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from valuesassets.answers.language_codes import language_code
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.faults import kind_of_value
from valuesassets.records.files import no_such_file, parse_json, read_text

Kind = Literal["unspecific", "specific"]
KINDS: tuple[Kind, ...] = ("unspecific", "specific")
"""Without a country, and with one."""
FEWEST_LANGUAGES, FEWEST_QUESTIONS = 2, 5
NAME = re.compile(r"(?P<code>[^_]+)_(?P<kind>specific|unspecific)\.jsonl(\.gz)?")
ID = re.compile(r"(?P<question>0|[1-9]\d*)(-(?P<anchor>[1-9]\d*))?", re.ASCII)
SHAPE = "<code>_unspecific.jsonl or <code>_specific.jsonl (.gz too)"


class Line(NamedTuple):
    """One line of a file: its language, kind, id and content.

    Attributes:
        where: file and line, as messages begin.
    """

    where: str
    language: str
    kind: Kind
    id: str
    content: dict[str, Any]

    @property
    def question_id(self) -> str:
        """The question's part of the id: `12` of `12-7`."""
        return self.id.partition("-")[0]

    @property
    def anchor(self) -> int | None:
        """The anchor's part of the id: 7 of `12-7`."""
        number = self.id.partition("-")[2]
        return int(number) if number else None


def find_files(folder: Path, error: type[ValuesAssetsError]) -> dict[tuple[str, Kind], Path]:
    """The files of a folder (or of its folder `data`, as data sets on the hub have it) by language and kind.

    Raises:
        error: no folder, none of these files, an unknown code, or two files of one language and kind.
    """
    if not folder.is_dir():
        what = f"{folder}: is a file, a folder was expected; name" if folder.exists() else ""
        raise error(f"{what} the folder that it lies in" if what else no_such_file(folder, "folder"))
    inner = folder / "data"
    names = _names(folder)
    if not any(map(NAME.fullmatch, names)) and inner.is_dir():
        folder, names = inner, _names(inner)
    files: dict[tuple[str, Kind], Path] = {}
    for name in names:
        if not (parts := NAME.fullmatch(name)):
            if name.endswith((".jsonl", ".jsonl.gz")):
                raise error(f"{folder / name}: {SHAPE} was expected; rename it or take it away")
            continue
        language = language_code(parts["code"])
        if language is None:
            raise error(
                f"{folder / name}: {parts['code']} is no code of a language; name the file by ISO 639-1 or 639-3"
            )
        kind: Kind = "specific" if parts["kind"] == "specific" else "unspecific"
        if other := files.get((language, kind)):
            raise error(f"{folder / name}: {other.name} is of the same language and kind; take one of the two away")
        files[language, kind] = folder / name
    if not files:
        content = f"there are {', '.join(names[:3])}" if names else "it is empty"
        raise error(f"{folder}: no {SHAPE} in it ({content}); name the folder of these files")
    return {key: files[key] for key in sorted(files, key=lambda key: (key[0], KINDS.index(key[1])))}


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))


def read_lines(
    files: Mapping[tuple[str, Kind], Path], text: str, error: type[ValuesAssetsError], beside: str | None = None
) -> list[Line]:
    """The lines of all files.

    Args:
        text: the key that a line's text stands under.
        beside: a key that distinguishes lines with the same id.

    Raises:
        error: no JSON, no text or id, an id twice, an empty file; names file and line.
    """
    lines: list[Line] = []
    for (language, kind), path in files.items():
        written = _written(path, error)
        of_file = [_line(path, number, line, language, kind, text, error) for number, line in written]
        if not of_file:
            raise error(f"{path}: an empty file, a line of JSON for each id was expected; fill it or take it away")
        _require_once(of_file, beside, error)
        lines += of_file
    return lines


def _written(path: Path, error: type[ValuesAssetsError]) -> Iterator[tuple[int, str]]:
    """The lines that hold something, with their numbers from 1."""
    expected = "a file of JSON lines"
    if path.suffix == ".gz":
        try:
            whole = gzip.decompress(path.read_bytes()).decode("utf-8-sig")
        except UnicodeDecodeError as fault:
            raise error(f"{path}: byte {fault.start} of its content is not UTF-8; save it as UTF-8") from None
        except (OSError, EOFError, zlib.error) as fault:
            raise error(f"{path}: cannot be unpacked ({fault}), {expected} was expected; pack it again") from None
    else:
        whole = read_text(path, expected, error) if path.stat().st_size else ""
    return ((number, line) for number, line in enumerate(whole.split("\n"), 1) if line.strip())


def _line(
    path: Path, number: int, written: str, language: str, kind: Kind, text: str, error: type[ValuesAssetsError]
) -> Line:
    content, where = parse_json(written, str(path), error, number), f"{path}: line {number}"
    if not isinstance(content, dict):
        raise error(f"{where}: {kind_of_value(content)} found, an object with id and {text} was expected; mend it")
    written_id = content.get("id")
    name = str(written_id) if isinstance(written_id, str | int) and not isinstance(written_id, bool) else ""
    parts, shape = ID.fullmatch(name), "12-7" if kind == "specific" else "12"
    if not parts or (parts["anchor"] is None) == (kind == "specific"):
        expected = f"one like '{shape}' was expected in a file of this name"
        raise error(f"{where}: id {written_id!r} found, {expected}; mend it")
    if not isinstance(content.get(text), str):
        actual = kind_of_value(content[text]) if text in content else f"the keys {', '.join(content)}"
        raise error(f"{where} (id {name}): no text under {text!r} (found {actual}); add it")
    return Line(where, language, kind, name, content)


def _require_once(lines: Sequence[Line], beside: str | None, error: type[ValuesAssetsError]) -> None:
    seen: dict[Any, Line] = {}
    for line in lines:
        distinction = line.content.get(beside, 0) if beside else 0
        first = seen.setdefault((line.id, distinction), line)
        if first is not line:
            named = f"id {line.id}" + (f", {beside} {distinction}" if beside else "")
            mend = f"give each its own {beside}, or keep one" if beside else "keep one"
            number = first.where.rpartition(" ")[2]
            raise error(f"{line.where}: {named} stands in line {number} already; {mend}")


def require_shared(lines: Iterable[Line], error: type[ValuesAssetsError]) -> None:
    """See that there is enough to compare, and that no id stands in one language alone.

    Raises:
        error: fewer than two languages or five questions, or an id that no other language has; names file and line.
    """
    all_lines = list(lines)
    folder = Path(all_lines[0].where.partition(": line ")[0]).parent
    for what, values, fewest in (
        ("language", {line.language for line in all_lines}, FEWEST_LANGUAGES),
        ("question", {line.question_id for line in all_lines}, FEWEST_QUESTIONS),
    ):
        if len(values) < fewest:
            plural = "" if len(values) == 1 else "s"
            raise error(
                f"{folder}: {len(values)} {what}{plural} found ({', '.join(sorted(values))}), at least {fewest} were "
                "expected; add more"
            )
    for kind in KINDS:
        of_kind = [line for line in all_lines if line.kind == kind]
        languages = {line.language for line in of_kind}
        if len(languages) < FEWEST_LANGUAGES:
            continue
        counts = Counter(name for name, _ in {(line.id, line.language) for line in of_kind})
        if alone := next((line for line in of_kind if counts[line.id] == 1), None):
            raise error(
                f"{alone.where}: id {alone.id} stands in no other language ({len(languages)} have {kind} ones); mend "
                "the id, add it to the others, or take the line out"
            )
