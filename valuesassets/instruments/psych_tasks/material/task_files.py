"""Task files (TOML): the kinds of marks of a transcript, and the possible answers at each."""

import re
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic

from valuesassets.records.errors import QuestionError
from valuesassets.records.faults import validated
from valuesassets.records.files import no_such_file, read_toml
from valuesassets.records.marks import ANGLES
from valuesassets.records.places import STUDIES, bundled_names
from valuesassets.records.settings.kinds import FAMILY_NAME, Record
from valuesassets.records.settings.psych_tasks import FOLDER

BY_LINE = "line"
WAYS = ("list", "range", "options", "keys", "fill")
PLACEHOLDER = re.compile(r"\{(\d+)\}")
"""The number of a group, in a text to be filled in."""
Where = Literal["block", "instructions", "transcript"]
Text = Annotated[str, pydantic.Field(min_length=1)]


def compiled(regex: str, flags: re.RegexFlag = re.MULTILINE) -> re.Pattern[str]:
    """A regular expression of a task file; `^` and `$` stand for the ends of lines.

    Raises:
        ValueError: it does not compile, or it matches the empty text and so everywhere.
    """
    try:
        pattern = re.compile(regex, flags)
    except re.error as error:
        raise ValueError(f"{regex!r} is no regular expression ({error}); mend it") from None
    if pattern.fullmatch(""):
        raise ValueError(f"{regex!r} matches everywhere, the empty text too; name what has to stand there")
    return pattern


def stands_before(regex: str | None, text: str) -> bool:
    """Whether the `before` of a kind matches the text before a mark, at whose end `$` matches; None matches always."""
    return regex is None or compiled(regex, re.NOFLAG).search(text) is not None


Regex = Annotated[Text, pydantic.AfterValidator(lambda regex: compiled(regex) and regex)]


class Candidates(Record):
    """A rule for the candidates at a kind of mark: one of `list`, `range`, `options`, `keys`, `fill`."""

    model_config = pydantic.ConfigDict(serialize_by_alias=True, validate_by_name=True)

    listed: Annotated[tuple[Text, ...] | None, pydantic.Field(alias="list")] = None
    """The same texts at every mark."""
    range: tuple[int, int] | None = None
    """All whole numbers from the first to the last."""
    format: str = "{}"
    """The text for such a number."""
    options: Regex | None = None
    """Group 1 of every match, each text once."""
    keys: Regex | None = None
    """All groups of the first match: keys that stand for `roles`, in their order."""
    roles: tuple[Text, ...] = ()
    fill: tuple[Text, ...] = ()
    """Texts with `{1}`, `{2}`, ... in place of the groups of the first match of `words`."""
    words: Regex | None = None
    where: Annotated[Where, pydantic.Field(alias="in")] = "block"
    """The text, up to the mark, in which a regular expression is looked for."""

    @pydantic.model_validator(mode="after")
    def _is_one_way(self) -> "Candidates":
        rules = (self.listed, self.range, self.options, self.keys, self.fill)
        ways = [way for way, rule in zip(WAYS, rules, strict=True) if rule]
        if len(ways) != 1:
            raise ValueError(f"one of {', '.join(WAYS)} is needed (found {' and '.join(ways) or 'none'})")
        if (self.keys is None) != (not self.roles):
            raise ValueError("keys and roles belong together: a role for each group; add or leave out both")
        if self.keys is not None and (groups := compiled(self.keys).groups) != len(self.roles):
            raise ValueError(f"keys has {groups} groups, roles {len(self.roles)} names; give one for each")
        if (self.words is None) != (not self.fill):
            raise ValueError("fill and words belong together; add or leave out both")
        for text in self.fill:
            n_groups = compiled(self.words or "").groups
            if strange := [number for number in PLACEHOLDER.findall(text) if not 1 <= int(number) <= n_groups]:
                raise ValueError(f"fill: {text!r} names group {strange[0]}, words has {n_groups}; mend one of the two")
        if self.options is not None and compiled(self.options).groups < 1:
            raise ValueError("options has no group: put the text of an option in ( )")
        if self.range is not None and self.range[0] >= self.range[1]:
            raise ValueError(f"range {list(self.range)}: from the smaller to the larger number was expected")
        if self.range is not None and len({self.format.format(n) for n in self.range}) < 2:
            raise ValueError(f"format {self.format!r}: has no {{}} for the number; add it")
        twice = self.listed and next((text for text in self.listed if self.listed.count(text) > 1), None)
        if twice or (self.listed and len(self.listed) < 2):
            raise ValueError(f"list: {f'{twice!r} stands there twice' if twice else 'one text alone is no choice'}")
        return self

    @property
    def fixed(self) -> tuple[str, ...] | None:
        """The candidates, where they are the same at every mark."""
        if self.range is not None:
            return tuple(self.format.format(number) for number in range(self.range[0], self.range[1] + 1))
        return self.listed

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """Names for candidates that differ from mark to mark: roles, or the texts to be filled in; else none."""
        return self.roles or self.fill


class Kind(Record):
    """A kind of mark."""

    name: Text
    before: Regex | None = None
    """Looked for in the 200 characters before a mark, whose kind is the first that matches. The last kind may leave it
    out: then all other marks are of that kind."""
    candidates: Candidates | Literal["open"]
    """What may be answered; `open`: anything, so that only the given answer is read."""
    values: tuple[float, ...] = ()
    """Numbers for the candidates, in their order (or that of the roles), where they are no numbers themselves."""
    flips: bool = True
    """Whether a reversed presentation reverses the scale."""

    @pydantic.model_validator(mode="after")
    def _values_fit(self) -> "Kind":
        n = 0 if self.candidates == "open" else len(self.candidates.fixed or self.candidates.stand_ins)
        if self.values and n and len(self.values) != n:
            raise ValueError(f"values: {len(self.values)} numbers for {n} candidates; give one for each")
        if self.values and not n:
            raise ValueError("values: the candidates differ from mark to mark; leave values out")
        return self

    def value_of(self, place: int, candidate: str) -> float | None:
        """A candidate as a number; None where it is none."""
        if self.values:
            return self.values[place]
        try:
            return float(candidate)
        except ValueError:
            return None


class Presentation(Record):
    """Which participants were shown the scale reversed."""

    field: Text
    """The key of a transcript whose value says it."""
    yes: Annotated[tuple[bool | str | int, ...], pydantic.Field(min_length=1)]
    no: Annotated[tuple[bool | str | int, ...], pydantic.Field(min_length=1)]

    def is_reversed(self, value: Any) -> bool | None:
        """Whether the field's value means reversed; None where it is not listed."""
        for answer, listed in ((True, self.yes), (False, self.no)):
            if any(type(value) is type(each) and value == each for each in listed):
                return answer
        return None


class Scale(Record):
    """A scale: the numbers of the marks that are its items, and of those that are reverse-keyed."""

    items: Annotated[tuple[Annotated[int, pydantic.Field(ge=1)], ...], pydantic.Field(min_length=1)]
    reversed: tuple[int, ...] = ()

    @pydantic.model_validator(mode="after")
    def _reversed_are_items(self) -> "Scale":
        if strange := sorted(set(self.reversed) - set(self.items)):
            raise ValueError(f"reversed: {strange[0]} is none of the items; mend one of the two")
        return self


class Task(Record):
    """One task: how to read the transcripts of a questionnaire or an experiment."""

    name: Annotated[str, pydantic.Field(pattern=FAMILY_NAME)]
    delimiters: tuple[Text, Text] = ANGLES
    """The texts before an answer and behind it."""
    block: Text = BY_LINE
    """The beginning of a block (an item, a problem, a balloon): a regular expression; `line`: a block ends with the
    line of a mark."""
    feedback: bool = True
    """Whether later text shows what answers led to, so that no answer may be changed."""
    reply_hint: str | None = None
    """An instruction for chat models, beside those of the task."""
    reversed: Presentation | None = None
    kinds: Annotated[tuple[Kind, ...], pydantic.Field(min_length=1)]
    scales: dict[str, Scale] = pydantic.Field(default_factory=dict)

    @pydantic.field_validator("block")
    @classmethod
    def _block_compiles(cls, block: str) -> str:
        if block != BY_LINE:
            compiled(block)
        return block

    @pydantic.model_validator(mode="after")
    def _kinds_are_named_apart(self) -> "Task":
        names = [kind.name for kind in self.kinds]
        if lacking := next((kind.name for kind in self.kinds[:-1] if kind.before is None), None):
            raise ValueError(
                f"kinds: {lacking} has no before, so that no kind behind it is ever taken; add it, or put it last"
            )
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"kinds: two are named {twice}; name them apart")
        return self

    @cached_property
    def kind_named(self) -> dict[str, Kind]:
        """The kinds by name."""
        return {kind.name: kind for kind in self.kinds}


def task_path(name_or_path: str | Path) -> Path:
    """The file of a bundled task, or the path itself.

    Raises:
        QuestionError: it is neither a bundled name nor a file.
    """
    bundled = bundled_names(FOLDER, ".toml")
    if str(name_or_path) in bundled:
        return STUDIES / FOLDER / f"{name_or_path}.toml"
    if not Path(name_or_path).exists():
        raise QuestionError(no_such_file(name_or_path, "task file", bundled))
    return Path(name_or_path)


def load_task(name_or_path: str | Path) -> Task:
    """The task of a bundled name or a TOML file.

    Raises:
        QuestionError: names file, key and reason.
    """
    path = task_path(name_or_path)
    return validated(Task, read_toml(path, "a task file (TOML)", QuestionError), QuestionError, str(path))
