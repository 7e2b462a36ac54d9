"""The errors of this package; each message says what is wrong and what to do."""


class SlurmError(Exception):
    """Root of this library's errors; its message is one line that a user can read."""


class SubmissionRefused(SlurmError):
    """Slurm refused the job; its options have to be corrected first."""


class SubmissionUncertain(SlurmError):
    """Slurm did not answer; the job is looked up by its name before another attempt."""
