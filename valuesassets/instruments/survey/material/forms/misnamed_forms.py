"""Knows forms of survey programs by their first words, where the ending of their file says something else."""

from pathlib import Path

BEGINNINGS = {
    '"SurveyEntry"': ("a Qualtrics export", ".qsf"),
    "<LimeSurveyDocType>": ("a LimeSurvey export", ".lss"),
    "<codeBook": ("a DDI codebook", ".xml"),
}
"""What a form is and the ending it needs, by words that stand near its beginning."""
HEAD = 4096
"""The first bytes of a file, among which these words stand."""


def misnamed_form(path: Path) -> str | None:
    """What a form with a wrong ending is, and its right name; None for other files, and for those that are absent."""
    try:
        with open(path, "rb") as stream:
            head = stream.read(HEAD).decode("utf-8", errors="ignore")
    except OSError:
        return None
    forms = (form for word, form in BEGINNINGS.items() if word in head)
    kind, ending = next(forms, ("", path.suffix.lower()))
    return None if ending == path.suffix.lower() else f"{path}: this is {kind}; name it {path.with_suffix(ending).name}"
