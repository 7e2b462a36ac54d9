"""`python -m valuesassets_tests.plain_words`: fails where a replaced term or a participle as a variable is added.

`plain_words.toml` holds the dictionary of replaced terms, how often each of them still stands, and how many names of
each package are participles. A count may only fall; `--lower` writes the lower ones down.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from valuesassets_tests.needs import REPOSITORY

DICTIONARY = Path(__file__).with_suffix(".toml")
SOURCES = ("valuesassets", "slurm_runner", "valuesassets_tests", "docs")
SUFFIXES = (".py", ".md", ".toml", ".jinja", ".js")
NOT_PROSE = (DICTIONARY, DICTIONARY.with_name("test_plain_words.py"), REPOSITORY / "valuesassets" / "studies")
"""The dictionary and its test, and questionnaires and texts that are data."""
PARTICIPLES = frozenset({"found", "asked", "said", "told", "known", "shown", "made"})
"""They say that something happened, not what the variable is."""
LONGEST_LIST = 20


@dataclass(frozen=True)
class Occurrence:
    """A place where a term or a participle stands."""

    path: Path
    line: int
    word: str
    better: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(REPOSITORY)}:{self.line}: '{self.word}'; write {self.better}"


def text_files() -> list[Path]:
    """Code, help and documents, in order."""
    files = [REPOSITORY / "Makefile", *REPOSITORY.glob("*.md")]
    files += [path for folder in SOURCES for path in (REPOSITORY / folder).rglob("*") if path.suffix in SUFFIXES]
    return sorted(path for path in files if not any(path.is_relative_to(excluded) for excluded in NOT_PROSE))


def replaced_terms(text: str, path: Path, pattern: str, better: str) -> Iterator[Occurrence]:
    """Where `text` has a replaced term; a term of several words may go over the end of a line.

    Args:
        text: what stands in the file.
        path: the file.
        pattern: a regular expression; a space in it stands for spaces, an underscore or the end of a line.
        better: what to write in the term's place.
    """
    whole = rf"(?:{pattern})(?![A-Za-z])".replace(" ", r"(?:[\s#]+|_)")
    for match in re.finditer(whole, text):
        if text[max(match.start() - 1, 0) : match.start()].isalpha():
            continue  # a lookbehind in the pattern would take three times as long
        yield Occurrence(path, text.count("\n", 0, match.start()) + 1, match[0], better)


def participles(tree: ast.AST, path: Path) -> Iterator[Occurrence]:
    """Variables, arguments, attributes, fields and functions whose whole name is a participle."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                pass
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ExceptHandler(name=name) | ast.MatchAs(name=name):
                pass
            case _:
                continue
        if name in PARTICIPLES:
            yield Occurrence(path, node.lineno, name, "a noun that says what the variable is")


def package(path: Path) -> str:
    """The folder that a file is counted under: a package, or one instrument."""
    folders = path.relative_to(REPOSITORY).parts[:-1]
    return "/".join(folders[: 3 if folders[1:2] == ("instruments",) else 2])


def occurrences(
    dictionary: Mapping[str, Mapping[str, str]], files: list[Path]
) -> dict[tuple[str, str], list[Occurrence]]:
    """All terms and participles, by the table and key that their count has in `plain_words.toml`."""
    places: dict[tuple[str, str], list[Occurrence]] = {("terms", name): [] for name in dictionary}
    for path in files:
        text = path.read_text(encoding="utf-8")
        for name, term in dictionary.items():
            places["terms", name] += replaced_terms(text, path, term["pattern"], term["write"])
        if path.suffix == ".py":
            places.setdefault(("participles", package(path)), []).extend(participles(ast.parse(text), path))
    return places


def added_lines(since: str) -> set[tuple[Path, int]]:
    """The lines that were added since a commit, those of files that git does not track included.

    Raises:
        CalledProcessError: this is no git checkout, or it has no such commit.
    """
    changes = git("diff", "--unified=0", "--no-prefix", since)
    new_files = git("ls-files", "--others", "--exclude-standard").splitlines()
    lines = {(REPOSITORY / name, line) for name in new_files for line in range(1, 10_000)}
    path = REPOSITORY
    for change in changes.splitlines():
        if change.startswith("+++ "):
            path = REPOSITORY / change[4:]
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", change):
            first, number = int(hunk[1]), int(hunk[2] or 1)
            lines |= {(path, line) for line in range(first, first + number)}
    return lines


def git(*arguments: str) -> str:
    """What a command of git prints."""
    return subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout


def _new_lines() -> set[tuple[Path, int]]:
    """The lines that were added since `plain_words.toml` was last changed; none outside a git checkout."""
    try:
        return added_lines(git("log", "-1", "--format=%H", "--", str(DICTIONARY)).strip() or "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return set()


def complaints(
    counts: Mapping[str, Mapping[str, int]], places: Mapping[tuple[str, str], list[Occurrence]]
) -> list[str]:
    """One line for every occurrence that may be the one too many; none where no count has risen."""
    risen = {key: here for key, here in places.items() if len(here) > counts[key[0]].get(key[1], 0)}
    added = _new_lines() if risen else set()
    lines = []
    for (table, key), here in risen.items():
        lines.append(f"{table} '{key}': {len(here)}, where plain_words.toml allows {counts[table].get(key, 0)}")
        new = [place for place in here if (place.path, place.line) in added]
        lines += [f"  {place}" for place in (new or here)[:LONGEST_LIST]]
    return lines


def lowered(counts: Mapping[str, Mapping[str, int]], places: Mapping[tuple[str, str], list[Occurrence]]) -> list[str]:
    """What of `counts` can be lowered, a line each."""
    present = {key: len(here) for key, here in places.items()}
    return [
        f"{table} '{key}': {count} -> {present.get((table, key), 0)}"
        for table, of_table in counts.items()
        for key, count in of_table.items()
        if present.get((table, key), 0) < count
    ]


def write_counts(places: Mapping[tuple[str, str], list[Occurrence]], path: Path) -> None:
    """Write the counts of today below the dictionary."""
    head = path.read_text(encoding="utf-8").partition("\n[counts.")[0]
    tables = []
    for table in ("terms", "participles"):
        rows = [f'"{key}" = {len(here)}' for (name, key), here in sorted(places.items()) if name == table and here]
        tables.append("\n".join([f"[counts.{table}]", *rows]))
    path.write_text(head + "\n" + "\n\n".join(tables) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Compare the tree with the counts; 1 where one has risen.

    `--lower` writes the counts down. A package's count may rise there where the sum over packages does not: code that
    moves takes its names along.
    """
    stored = tomllib.loads(DICTIONARY.read_text(encoding="utf-8"))
    counts = stored["counts"]
    places = occurrences(stored["terms"], text_files())
    if "--lower" in arguments:
        present = Counter({key: len(here) for key, here in places.items()})
        n_participles = sum(number for (table, _), number in present.items() if table == "participles")
        allowed = {("terms", term): number for term, number in counts["terms"].items()}
        risen = [term for term, number in allowed.items() if present[term] > number]
        if not risen and n_participles <= sum(counts["participles"].values()):
            write_counts(places, DICTIONARY)
            return 0
    if lines := complaints(counts, places):
        print(*lines, sep="\n")
        return 1
    if lines := lowered(counts, places):
        print("plain words: these counts can be lowered (python -m valuesassets_tests.plain_words --lower):")
        print(*(f"  {line}" for line in lines), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
