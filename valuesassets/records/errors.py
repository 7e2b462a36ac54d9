"""The exception tree: every failure that a person can cause or mend.

A message names the file, row, question or cell, what was found, what was expected, and what to do.
"""


class ValuesAssetsError(Exception):
    """Root of all errors of this project; its message is one line fit for a person."""


NO_MEMORY = "there is not enough memory for this; ask for more of it, or lift the limit on it (ulimit -v)"
"""What Python, numpy, pyarrow and torch say with a type alone."""


class InputError(ValuesAssetsError):
    """Something that was given to us is not usable; mending it is the giver's part."""


class StudyError(InputError):
    """A study file names something unknown, leaves something out, or has a value out of range."""


class PdfError(InputError):
    """A questionnaire is not a readable PDF with a text layer."""


class QuestionError(InputError):
    """A questions file or one of its questions is malformed."""


class LexiconError(InputError):
    """A language's lexicon is missing or lacks a word that a question needs."""


class HumanDataError(InputError):
    """Respondents' data or a bundled reference table cannot serve as asked."""


class RatingsError(InputError):
    """Ratings given by a model, or the people they are asked for, cannot be scored as they stand."""


class ModelError(InputError):
    """A model folder or id cannot be loaded safely and faithfully."""


class TokenizerError(ModelError):
    """A tokenizer does not fit its model or does not keep a prompt whole under continuation."""


class EndpointError(ValuesAssetsError):
    """A model behind an API refuses a request, or does not answer it."""


class ScoringError(ValuesAssetsError):
    """A model's output cannot be read as probabilities (NaN, infinite, wrong shape)."""


class ScaleMismatch(ValuesAssetsError):
    """Two distributions do not live on the same answer scale."""


class MissingData(ValuesAssetsError):
    """An analysis lacks what it needs; it is refused rather than filled in."""


class StorageError(ValuesAssetsError):
    """A file of ours is missing, unreadable, of another schema, or cannot be written."""


class UiError(ValuesAssetsError):
    """The web UI cannot be started as asked, or one of its servers does not stay up."""


class JobError(ValuesAssetsError):
    """A node job ended without a whole result."""
