"""The exception tree: every failure that a person can cause or repair.

A message names the file, row, question or cell, what was found, what was expected, and what to do.
"""


class ValuesAssetsError(Exception):
    """Root of all errors of this project; its message is one line that a user can read."""


NO_MEMORY = "there is not enough memory for this; ask for more of it, or lift the limit on it (ulimit -v)"
"""The message for errors of Python, numpy, pyarrow and torch that say so by their type alone."""


class InputError(ValuesAssetsError):
    """A user's input cannot be used; the user has to repair it."""


class StudyError(InputError):
    """A study file names something unknown, leaves something out, or has a value out of range."""


class PdfError(InputError):
    """A questionnaire is not a readable PDF with a text layer."""


class QuestionError(InputError):
    """A questions file or one of its questions is malformed."""


class LexiconError(InputError):
    """A language's lexicon is missing or lacks a word that a question needs."""


class HumanDataError(InputError):
    """Respondents' data or a bundled reference table do not hold what is needed."""


class RatingsError(InputError):
    """A model's ratings, or the people they are about, cannot be scored as they are."""


class ModelError(InputError):
    """A model folder or id cannot be loaded safely and faithfully."""


class TokenizerError(ModelError):
    """A tokenizer does not fit its model or does not keep a prompt whole under continuation."""


class EndpointError(ValuesAssetsError):
    """A model behind an API refuses a request or does not answer it."""


class ScoringError(ValuesAssetsError):
    """A model's output cannot be read as probabilities (NaN, infinite, wrong shape)."""


class ScaleMismatch(ValuesAssetsError):
    """Two distributions have different answer scales."""


class MissingData(ValuesAssetsError):
    """An analysis lacks data that it needs; it is refused, never filled in."""


class StorageError(ValuesAssetsError):
    """A file of the storage is missing, unreadable, of another schema, or cannot be written."""


class UiError(ValuesAssetsError):
    """The web UI cannot be started, or one of its servers keeps stopping."""


class JobError(ValuesAssetsError):
    """A node job ended without a whole result."""
