"""Asset checks: sentences that are true when passing, one result per partition, every failing row named."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import dagster as dg

from valuesassets.orchestration.first_look.shown import docs_of
from valuesassets.orchestration.io_managers import table_of

WARN = dg.AssetCheckSeverity.WARN
MAX_ROWS = 50
"""Failing rows that a check shows; the count is always whole."""


@dataclass(frozen=True)
class Sentence:
    """A check: its name is a sentence; what it looks at, what to do where it fails, and how serious that is."""

    name: str
    description: str
    what_to_do: str
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR

    def spec(
        self, asset: dg.AssetKey, docs: str = "", partitions: dg.PartitionsDefinition | None = None
    ) -> dg.AssetCheckSpec:
        """The spec of this check on an asset that a page of the documentation describes."""
        return dg.AssetCheckSpec(
            self.name,
            asset=asset,
            description=f"{self.description} Where it fails: {self.what_to_do}",
            metadata={"docs": docs_of(docs)},
            partitions_def=partitions,
        )

    def result(
        self, failing: Sequence[Any], looked_at: int, is_warning: bool = False, **metadata: Any
    ) -> dg.AssetCheckResult:
        """Passed when nothing fails.

        Args:
            failing: dataclass records or dicts, each one row for a person to review.
            looked_at: how many things were looked at.
            is_warning: whether what fails this time is less than an error.
            metadata: where to look, such as a link to the review page or to a log.
        """
        rows = [row if isinstance(row, dict) else asdict(row) for row in failing]
        shown: dict[str, Any] = {"looked_at": looked_at, "failing": len(rows)} | metadata
        said = None
        if rows:
            shown |= {"what_to_do": self.what_to_do, "failing_rows": table_of(rows[:MAX_ROWS])}
            first = "; ".join(
                f"{key}: {value}" for key, value in rows[0].items() if value not in (None, "") and value == value
            )[:300]
            more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
            said = f"{first}{more}. What to do: {self.what_to_do}"
        severity = WARN if is_warning else self.severity
        return dg.AssetCheckResult(
            passed=not rows, check_name=self.name, severity=severity, metadata=shown, description=said
        )


def judged(
    sentences: Mapping[Sentence, Callable[[Any], bool]],
    rows: Sequence[Any],
    questions: int,
    most: float,
    **metadata: Any,
) -> list[dg.AssetCheckResult]:
    """The checks on one language's questions: an error where the form as a whole or too many of its questions fail.

    Args:
        sentences: which rows fail each.
        rows: faults of an extraction, or matches of an alignment, each with `question_id`.
        most: share of the questions that may fail a check.
    """
    results = []
    for sentence, fails in sentences.items():
        failing = [row for row in rows if fails(row)]
        named = {row.question_id for row in failing}
        is_warning = None not in named and len(named) <= most * questions
        results.append(sentence.result(failing, questions, is_warning, **metadata))
    return results


def _of_kind(*kinds: str) -> Callable[[Any], bool]:
    return lambda fault: fault.check in kinds


SETTLE = (
    "open the review page, write what is right into the overrides file (the page has the lines to copy), and "
    "materialise extracted_questions of this language again."
)
SETTLE_ALIGNMENT = (
    "look the question up in the review page, say in the overrides file which variable it is, and materialise "
    "extracted_questions and aligned_questions of this language again."
)
ASK_AGAIN = "mend it and materialise the cell again: Materialize, and choose failed and missing partitions only."

EXTRACTION = {
    Sentence(
        "form_can_be_asked",
        "The words that models would be asked are whole, and in the language declared; else none is asked in it.",
        "get another PDF of the form, or say extractor = 'gemini' for the language in the study file. Where the words "
        "are sound all the same, open the review page, copy its lines for the whole form into the overrides file with "
        "your reason, and materialise extracted_questions of this language again.",
    ): _of_kind("not_asked"),
    Sentence(
        "text_layer_is_whole",
        "The form is in the language declared, every glyph has its character, and no letter of the alphabet is lost.",
        "where many words are damaged, get another PDF of the form or say extractor = 'gemini' for the language in the "
        f"study file; for single words, {SETTLE}",
    ): _of_kind("damaged_text", "script", "language", "no_questions"),
    Sentence(
        "strings_are_on_their_page",
        "Every stem, item and label is on the page named, word by word, and every label beside its own code.",
        SETTLE,
    ): _of_kind("grounding", "lost_line"),
    Sentence(
        "questions_are_complete", "Every question has a text and as many labelled options as its type asks.", SETTLE
    ): _of_kind("complete", "type", "points", "own_numbers"),
    Sentence(
        "no_missing_answer_is_offered", "No option stands for don't know, no answer or refused.", SETTLE
    ): _of_kind("dk_codes", "missing_answers"),
    Sentence("ids_are_unique", "No variable was extracted twice.", SETTLE): _of_kind("duplicate_id"),
    Sentence(
        "printed_codes_have_questions",
        "Every variable code of the form has its question, every question its code.",
        SETTLE,
    ): _of_kind("code_without_question", "gap", "answers_without_code", "no_code"),
    Sentence(
        "extractors_agree",
        "A second extractor reads the same words, codes and labels.",
        f"the review page shows both readings; {SETTLE}",
        WARN,
    ): _of_kind("agreement"),
    Sentence(
        "overrides_fit",
        "Every correction in the overrides file fits the record it was written for.",
        "the record has changed since the correction was written: look at it again in the review page, put its new "
        "mark into the overrides file or take the correction out, and materialise extracted_questions again.",
    ): _of_kind("overrides"),
}
"""The checks on an extraction, and the faults that fail each."""
EXTRACTIONS_ARE_SOUND = Sentence(
    "every_extraction_is_sound",
    "No language's extraction has a fault that nobody has settled.",
    "go to the checks of extracted_questions of each language named; they lead to its review page.",
    WARN,
)
ALIGNMENT = {
    Sentence(
        "master_questions_are_covered",
        "Every question of the master list was found, or a person says it is not asked.",
        SETTLE_ALIGNMENT,
    ): lambda match: match.status == "missing",
    Sentence(
        "codes_agree_with_the_rest",
        "No printed code contradicts order, shape and wording, and no variable has two questions.",
        SETTLE_ALIGNMENT,
    ): lambda match: not match.is_sound and match.status not in ("missing", "unfit"),
    Sentence(
        "questions_keep_the_masters_order",
        "The form has its questions in the order of the master.",
        f"where the form itself has another order, nothing; else {SETTLE_ALIGNMENT}",
        WARN,
    ): lambda match: match.is_out_of_order,
    Sentence(
        "aligned_questions_can_be_asked",
        "Every aligned question is surely the master's, and complete, with the master's option codes.",
        SETTLE_ALIGNMENT,
    ): lambda match: match.status == "unfit",
}
"""The checks on an alignment, and the matches that fail each."""
BATCHES_DO_NOT_MATTER = Sentence(
    "batches_do_not_change_the_answer",
    "Trials read one by one and in the batches of the plan agree within what rounding explains.",
    "share_moved is how far an answer's share moved (0.01 is one percentage point): take differences between answers "
    "that are smaller for none. Where the family's dtype is not float32, dtype = 'float32' in the study file moves "
    "less.",
    WARN,
)
ONE_VERSION_ANSWERS = Sentence(
    "one_version_of_the_model_answers",
    "All answers of a cell come from one version of the model behind the API.",
    "answers of two versions are answers of two models: name the version that you mean as model_id where the provider "
    "has one, remove what was kept of the other and materialise the cell again.",
    WARN,
)
PREFLIGHT_PASSES = Sentence(
    "models_are_fit_for_the_grid",
    "Every cell of the family passes the preflight gates; an error where none does.",
    "the cells named are left out and the others go on. Read what was found beside what was wanted; mend the model, "
    "its tokenizer or the form and materialise preflight of the family again, or have a cell asked all the same with "
    "a reason under preflight.overrides in the study file.",
)
PREFLIGHT_IS_PLAUSIBLE = Sentence(
    "preflight_answers_are_plausible",
    "Answers are not near uniform and lean the way every sane model leans.",
    "look at the answers in the wordings table; a model that does not follow the prompt is no fault of the study, but "
    "its cells will say little.",
    WARN,
)
EVERY_QUESTION_IS_READ = Sentence(
    "every_question_is_read",
    "Every question has a distribution in both orders.",
    f"the reason stands in each row, the log of the readings says more; {ASK_AGAIN}",
)
P_VALID_IS_SUFFICIENT = Sentence(
    "p_valid_is_sufficient",
    "No question's P_valid lies below the threshold, and the median is above the cell's.",
    "nothing, where the model just does not answer in the form asked: the quality report leaves these answers out. "
    "Where most are low, read the prompts of trials in this language.",
    WARN,
)
POSITION_BIAS_IS_SMALL = Sentence(
    "position_bias_is_small",
    "No question's answers move by more than the threshold when options are reversed.",
    "nothing: the average over both orders takes the bias out of the answer, and position_bias says how large "
    "it is against the differences between languages.",
    WARN,
)
PROBE = EVERY_QUESTION_IS_READ, P_VALID_IS_SUFFICIENT, POSITION_BIAS_IS_SMALL
ESTIMATORS_AGREE = Sentence(
    "estimators_agree",
    "No other estimator moves an item's answers by more than the threshold.",
    "do not lean on the items named alone; compare the columns prob_* of the cell.",
    WARN,
)
PLANTS_ARE_RECOVERED = Sentence(
    "plants_are_recovered",
    "What was planted into the reference model is read back, as scored and as written.",
    "raise phantom.steps in the study file and materialise reference_models, then the cell again; where training has "
    "converged (its loss is small), the instrument is wrong for these prompts: do not use its numbers, report it.",
)
WRONG_LANGUAGES_FAIL = Sentence(
    "another_languages_model_fails",
    "No reference model of another language passes for the one that was trained.",
    "the check on recovery is too weak for these languages: lower phantom.max_w1_unit in the study file, or plant "
    "answers that differ more between languages.",
)
CELLS_CAN_BE_TRUSTED = Sentence(
    "every_cell_can_be_trusted",
    "No cell is missing or flagged, and no question is dropped.",
    "materialise the missing cells (Materialize on readings, failed and missing partitions only); flagged cells "
    "and dropped questions are left out of every analysis and need nothing.",
    WARN,
)
