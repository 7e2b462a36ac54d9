"""The mutations that are tried: `mutants.toml`."""

import tomllib
from pathlib import Path
from typing import Annotated

import pydantic


class Mutant(pydantic.BaseModel):
    """One change to one source file, and what must catch it. See the head of mutants.toml."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    name: str
    file: str
    old: Annotated[str, pydantic.Field(min_length=3)]
    new: str
    off: tuple[str, ...] = ()
    fine: tuple[str, ...] = ()
    error: str = ""
    tests: tuple[str, ...] = ()

    @pydantic.model_validator(mode="after")
    def _is_caught_by_calibration_or_tests(self) -> "Mutant":
        if bool(self.off or self.error) == bool(self.tests) or (self.fine and not self.off):
            raise ValueError(f"{self.name}: off, error, or both, or tests were expected; fine goes with off")
        return self

    def applied_to(self, source: str) -> str:
        """The file's text with the change made.

        Raises:
            ValueError: the old text does not stand there exactly once; the source has moved on.
        """
        count = source.count(self.old)
        if count != 1 or self.new == self.old:
            raise ValueError(
                f"mutation '{self.name}': its old text stands in {self.file} {count} times, once was expected; "
                "the source has changed: write the mutation anew in valuesassets_tests/mutations/mutants.toml"
            )
        return source.replace(self.old, self.new)


def load_mutants() -> tuple[Mutant, ...]:
    """All of them, under different names."""
    content = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    mutants = tuple(Mutant.model_validate(row) for row in content["mutant"])
    if len({mutant.name for mutant in mutants}) != len(mutants):
        raise ValueError("two mutations bear the same name")
    return mutants
