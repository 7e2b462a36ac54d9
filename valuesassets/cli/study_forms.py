"""What `study` and `run` say of a study's files with questions: clashes, ignored files, entries that are not asked."""

from collections.abc import Iterator

from valuesassets.records.errors import StudyError
from valuesassets.records.settings.questionnaires import Questionnaires
from valuesassets.records.study import Study


def require_no_clash(study: Study) -> None:
    """Require that no language of a study has two files to import, else StudyError."""
    for forms, code in _imported(study):
        if clash := forms.clash(code):
            raise StudyError(clash)


def ignored_forms(study: Study) -> list[str]:
    """A line for each file with questions that the study does not ask, since its name is no language of the study."""
    codes = [code for _, code in _imported(study)]
    forms = study.questionnaires
    return [_why_ignored(forms, name, codes) for name in forms.ignored(codes)] if forms is not None and codes else []


def entries_not_asked(study: Study) -> Iterator[str]:
    """A line for each form that holds more than can be asked; QuestionError if one cannot be read."""
    from valuesassets.instruments.survey.material.forms.imported_questions import has_form_ending, read_with_left_out
    from valuesassets.instruments.survey.report.not_asked import not_asked, not_asked_sentence

    for forms, code in _imported(study):
        for path in forms.imported_files(code):
            if has_form_ending(path):
                questions, _, left_out = read_with_left_out(path, code)
                form = not_asked(questions, [vars(each) for each in left_out])
                if form.entries:
                    yield not_asked_sentence(code, form)


def _imported(study: Study) -> Iterator[tuple[Questionnaires, str]]:
    """The settings with each language whose questions are imported."""
    forms = study.questionnaires
    if forms is not None and forms.extractions is not None:
        codes = (code for code, each in study.languages.items() if forms.extractor_of(each) == "imported")
        yield from ((forms, code) for code in codes)


def _why_ignored(forms: Questionnaires, name: str, codes: list[str]) -> str:
    """Why a file is not asked, and the name that would change it, where only the name is amiss."""
    why = f"{name}: not asked, since its name is no language of the study"
    stem, _, ending = name.rpartition(".")
    if len(stem) == len(codes[0]) and stem.isalpha() and stem.islower():  # another language's
        return f"{why}; add [languages.{stem}] to ask it"
    files = forms.imported_files(codes[0])
    instead = f", and take {files[0].name} away" if files and len(codes) == 1 else ""
    such_as = f"<language>.{ending.lower()}, such as " if len(codes) > 1 else ""
    return f"{why}; rename it to {such_as}{codes[0]}.{ending.lower()}{instead}"
