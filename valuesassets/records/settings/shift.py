"""`[shift.<name>]`: a model before and after it was changed, and the countries that it may have moved towards."""

from typing import TYPE_CHECKING, Annotated

import pydantic

from valuesassets.records.settings.kinds import FamilyName, NamedOnce, Record, unit

if TYPE_CHECKING:
    from valuesassets.records.study import Study

OneOrMore = FamilyName | Annotated[tuple[FamilyName, ...], pydantic.Field(min_length=1), NamedOnce]


class Shift(Record):
    """A comparison of families before and after a change, such as a fine-tuning. Its key is its name in tables."""

    before: OneOrMore
    """The family before the change, or several."""
    after: OneOrMore
    """The family after the change, or an array of trainings with other seeds or corpora. Where `before` has as many,
    each stands beside its own."""
    toward: Annotated[tuple[str, ...], pydantic.Field(min_length=1), NamedOnce]
    """Countries that the change may have moved answers towards, ISO 3166 alpha-2."""
    share: float | None = None
    """Share of one pool of texts that each training used, such as 0.7; leave it out where trainings are independent."""
    drift: Annotated[float, pydantic.Field(gt=0, lt=0.5), unit("scale units")] = 0.05
    """Expected standard deviation of a question's change, from which the smallest shift that can be found is told."""

    @property
    def befores(self) -> tuple[str, ...]:
        """The families before the change."""
        return (self.before,) if isinstance(self.before, str) else self.before

    @property
    def afters(self) -> tuple[str, ...]:
        """The families after the change."""
        return (self.after,) if isinstance(self.after, str) else self.after

    @property
    def n_trainings(self) -> int:
        """The number of replicates."""
        return max(len(self.befores), len(self.afters))

    @pydantic.model_validator(mode="after")
    def _sides_differ(self) -> "Shift":
        if both := set(self.befores) & set(self.afters):
            raise ValueError(f"before and after both name {sorted(both)[0]}; a model has not moved from itself")
        n_before, n_after = len(self.befores), len(self.afters)
        if n_before != n_after and 1 not in (n_before, n_after):
            raise ValueError(
                f"before names {n_before} families and after {n_after}; name as many in both, or one in one of them"
            )
        if self.share is None:
            return self
        if not 0 < self.share < 1:
            raise ValueError(
                f"share = {self.share:g}, more than 0 and less than 1 was expected; mend it or leave it out"
            )
        if self.n_trainings < 2:
            raise ValueError("share is for trainings on parts of one pool, and there is one; name several in after")
        return self

    def check(self, name: str, study: "Study") -> None:
        """Check what the rest of the study says of the families and countries.

        Raises:
            ValueError: a family or country that the study does not have, or families whose prompts differ.
        """
        where, families = f"shift.{name}", (*self.befores, *self.afters)
        if unknown := [family for family in families if family not in study.families]:
            raise ValueError(f"{where}: no family {unknown[0]}; the study has {', '.join(study.families)}")
        if not set.intersection(*(set(study.family_languages(family)) for family in families)):
            raise ValueError(f"{where}: {' and '.join(families)} have no language in common; give them one")
        prompts = {family: study.families[family].prompting.model_dump(exclude={"preamble"}) for family in families}
        for family, prompting in prompts.items():
            if differing := [key for key, value in prompting.items() if value != prompts[families[0]].get(key)]:
                raise ValueError(
                    f"{where}: the prompts of {families[0]} and {family} differ (prompting.{differing[0]}), so that a "
                    "change of answers may be theirs; ask both alike"
                )
        dtypes = {family: study.families[family].dtype for family in families}
        named = [(family, dtype) for family, dtype in dtypes.items() if dtype != "auto"]
        for family, dtype in named:
            if dtype != named[0][1]:
                raise ValueError(
                    f"{where}: {named[0][0]} is read with dtype = '{named[0][1]}' and {family} with '{dtype}', so that "
                    "a change of answers may be one of rounding; read both alike"
                )
        if study.human.source == "none":
            raise ValueError(f"{where}: human.source is 'none', so that no country sets a direction; name people")
        countries = study.all_countries
        if absent := [country for country in self.toward if country not in countries]:
            raise ValueError(
                f"{where}.toward: {absent[0]} is no country of the study, which has {', '.join(countries) or 'none'}; "
                f"{_how_to_add(absent[0], countries, study)}"
            )


def _how_to_add(country: str, countries: tuple[str, ...], study: "Study") -> str:
    """What to do about a country that the study lacks."""
    if country.upper() in countries:
        return f"did you mean {country.upper()}?"
    if study.human.source == "files":
        return "add it to human.countries"
    return f'add a language of it: a table [languages.<code>] with country = "{country}"'
