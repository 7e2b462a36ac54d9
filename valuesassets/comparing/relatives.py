"""Which languages of a study are related: of one culture zone, or of one language family."""

from collections.abc import Sequence

from valuesassets.answers.language_codes import known_languages
from valuesassets.records.study import Study

ZONE, FAMILY = "culture zone", "language family"
KINDS = (ZONE, FAMILY)


def groupings(languages: Sequence[str], study: Study) -> dict[str, tuple[str, ...]]:
    """By kind of group, the group of each language; a language of no known group is one by itself.

    A kind is left out where no two languages share a group, or all share one: there is nothing to allow for.
    """
    zones = (study.languages[code].zone for code in languages)
    known = known_languages()
    families = (known[code].family if code in known else "" for code in languages)
    named = {
        kind: tuple(group or code for group, code in zip(groups, languages, strict=True))
        for kind, groups in ((ZONE, zones), (FAMILY, families))
    }
    return {kind: groups for kind, groups in named.items() if 1 < len(set(groups)) < len(groups)}
