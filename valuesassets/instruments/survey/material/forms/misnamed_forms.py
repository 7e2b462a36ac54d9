"""Knows forms of survey programs by their first words, where the ending of their file says something else."""

from pathlib import Path

BEGINNINGS = {
    '"SurveyEntry"': ("a Qualtrics export", ".qsf"),
    "<LimeSurveyDocType>": ("a LimeSurvey export", ".lss"),
    "<codeBook": ("a DDI codebook", ".xml"),
}
"""What a form is and the ending it needs, by words that stand near its beginning."""
PARTS = {"<LimeSurveyDocType>Group": "a group", "<LimeSurveyDocType>Question": "a question"}
"""Exports of LimeSurvey that hold less than a survey."""
SAVED_AS = {
    **dict.fromkeys((".xlsm", ".xlsb"), ".xlsx"),
    **dict.fromkeys((".doc", ".docm", ".odt", ".rtf"), ".docx"),
}
"""The endings as which Excel and Word save files that are not read."""
HEAD = 4096
"""The first bytes of a file, among which these words stand."""


def misnamed_form(path: Path) -> str | None:
    """What a form with a wrong ending is, and what to do; None for other files, and for those that are absent."""
    try:
        with open(path, "rb") as stream:
            head = stream.read(HEAD).decode("utf-8", errors="ignore")
    except OSError:
        return None
    part = next((part for word, part in PARTS.items() if word in head), None)
    if part is not None:
        return f"{path}: this is {part} of a LimeSurvey survey; export the whole survey (.lss)"
    if saved := SAVED_AS.get(path.suffix.lower()):
        return f"{path}: files of this kind are not read; save it as {path.with_suffix(saved).name}"
    forms = (form for word, form in BEGINNINGS.items() if word in head)
    kind, ending = next(forms, ("", path.suffix.lower()))
    return None if ending == path.suffix.lower() else f"{path}: this is {kind}; name it {path.with_suffix(ending).name}"
