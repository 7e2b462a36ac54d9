"""Related languages of a study: those of the same culture zone, or of the same language family."""

from collections.abc import Sequence

from valuesassets.answers.language_codes import known_languages
from valuesassets.records.study import Study

ZONE, FAMILY = "culture zone", "language family"
KINDS = (ZONE, FAMILY)


def groupings(languages: Sequence[str], study: Study) -> dict[str, tuple[str, ...]]:
    """The group of each language, by kind of group; a language without a known group is its own group.

    A kind is left out where no two languages share a group, or where all languages share one.
    """
    zones = (study.languages[code].zone for code in languages)
    languages_by_code = known_languages()
    families = (languages_by_code[code].family if code in languages_by_code else "" for code in languages)
    by_kind = {
        kind: tuple(group or code for group, code in zip(groups, languages, strict=True))
        for kind, groups in ((ZONE, zones), (FAMILY, families))
    }
    return {kind: groups for kind, groups in by_kind.items() if 1 < len(set(groups)) < len(groups)}
