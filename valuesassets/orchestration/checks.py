"""Asset checks: sentences that are true if the check passes, with all failing rows, one result per partition."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import dagster as dg

from valuesassets.orchestration.first_look.shown import docs_of
from valuesassets.orchestration.io_managers import table_of

WARN = dg.AssetCheckSeverity.WARN
MAX_ROWS = 50
"""Most failing rows that a check shows; it always counts all of them."""


@dataclass(frozen=True)
class Sentence:
    """A check: a sentence as its name, a description, what to do if it fails, and its severity."""

    name: str
    description: str
    what_to_do: str
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR

    def spec(
        self, asset: dg.AssetKey, docs: str = "", partitions: dg.PartitionsDefinition | None = None
    ) -> dg.AssetCheckSpec:
        """The spec of this check on an asset, with a link to a page of the documentation."""
        return dg.AssetCheckSpec(
            self.name,
            asset=asset,
            description=f"{self.description} If it fails: {self.what_to_do}",
            metadata={"docs": docs_of(docs)},
            partitions_def=partitions,
        )

    def result(
        self, failing: Sequence[Any], looked_at: int, is_warning: bool = False, **metadata: Any
    ) -> dg.AssetCheckResult:
        """The result of the check, which passes if no row fails.

        Args:
            failing: dataclass records or dicts, each one row to review.
            looked_at: number of rows that were checked.
            is_warning: whether this failure is a warning instead of an error.
            metadata: further entries, such as a link to the review page or to a log.
        """
        rows = [row if isinstance(row, dict) else asdict(row) for row in failing]
        entries: dict[str, Any] = {"looked_at": looked_at, "failing": len(rows)} | metadata
        message = None
        if rows:
            entries |= {"what_to_do": self.what_to_do, "failing_rows": table_of(rows[:MAX_ROWS])}
            first = "; ".join(
                f"{key}: {value}" for key, value in rows[0].items() if value not in (None, "") and value == value
            )[:300]
            more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
            message = f"{first}{more}. What to do: {self.what_to_do}"
        severity = WARN if is_warning else self.severity
        return dg.AssetCheckResult(
            passed=not rows, check_name=self.name, severity=severity, metadata=entries, description=message
        )


def judged(
    sentences: Mapping[Sentence, Callable[[Any], bool]],
    rows: Sequence[Any],
    questions: int,
    most: float,
    **metadata: Any,
) -> list[dg.AssetCheckResult]:
    """Results of the checks on one language's questions; an error if the whole form or too many questions fail.

    Args:
        sentences: for each check, whether a row fails it.
        rows: faults of an extraction, or matches of an alignment, each with `question_id`.
        most: largest share of questions that may fail with a warning.
    """
    results = []
    for sentence, is_failing in sentences.items():
        failing = [row for row in rows if is_failing(row)]
        ids = {row.question_id for row in failing}
        is_warning = None not in ids and len(ids) <= most * questions
        results.append(sentence.result(failing, questions, is_warning, **metadata))
    return results


def _of_kind(*kinds: str) -> Callable[[Any], bool]:
    return lambda fault: fault.check in kinds


SETTLE = (
    "open the review page, write corrections into the overrides file (the page has lines to copy), and materialise "
    "extracted_questions of this language again."
)
SETTLE_ALIGNMENT = (
    "look the question up in the review page, name its variable in the overrides file, and materialise "
    "extracted_questions and aligned_questions of this language again."
)
ASK_AGAIN = "remove the cause and materialise the cell again: Materialize, then only failed and missing partitions."

EXTRACTION = {
    Sentence(
        "form_can_be_asked",
        "The form's text is undamaged and in the declared language; otherwise no model is asked in this language.",
        "get another PDF of the form, or set extractor = 'gemini' for the language in the study file. If the text is "
        "correct all the same, open the review page, copy its lines for the whole form into the overrides file with "
        "your reason, and materialise extracted_questions of this language again.",
    ): _of_kind("not_asked"),
    Sentence(
        "text_layer_is_whole",
        "The form is in the declared language, every glyph has a character, and no letter of the alphabet is missing.",
        "if many words are damaged, get another PDF of the form or set extractor = 'gemini' for the language in the "
        f"study file; for single words, {SETTLE}",
    ): _of_kind("damaged_text", "script", "language", "no_questions"),
    Sentence(
        "strings_are_on_their_page",
        "Every stem, item and label is on its page, word for word, and every label stands beside its code.",
        SETTLE,
    ): _of_kind("grounding", "lost_line"),
    Sentence(
        "questions_are_complete", "Every question has a text and as many labelled options as its type needs.", SETTLE
    ): _of_kind("complete", "type", "points", "own_numbers"),
    Sentence("no_missing_answer_is_offered", "No option means don't know, no answer or refused.", SETTLE): _of_kind(
        "dk_codes", "missing_answers"
    ),
    Sentence("ids_are_unique", "No variable was extracted twice.", SETTLE): _of_kind("duplicate_id"),
    Sentence(
        "printed_codes_have_questions",
        "Every variable code of the form has a question, and every question has a code.",
        SETTLE,
    ): _of_kind("code_without_question", "gap", "answers_without_code", "no_code"),
    Sentence(
        "extractors_agree",
        "A second extractor finds the same words, codes and labels.",
        f"the review page shows both readings; {SETTLE}",
        WARN,
    ): _of_kind("agreement"),
    Sentence(
        "overrides_fit",
        "Every correction in the overrides file still fits the record that it was written for.",
        "the record has changed since the correction was written: check it in the review page, put its new mark into "
        "the overrides file or remove the correction, and materialise extracted_questions again.",
    ): _of_kind("overrides"),
}
"""The checks on an extraction, and the faults that fail each."""
EXTRACTIONS_ARE_SOUND = Sentence(
    "every_extraction_is_sound",
    "No language's extraction has an open fault.",
    "see the checks of extracted_questions for each language in the rows; they link to its review page.",
    WARN,
)
ALIGNMENT = {
    Sentence(
        "master_questions_are_covered",
        "Every question of the master list was found, or an override says that the form does not ask it.",
        SETTLE_ALIGNMENT,
    ): lambda match: match.status == "missing",
    Sentence(
        "codes_agree_with_the_rest",
        "No printed code contradicts order, shape and wording, and no variable has two questions.",
        SETTLE_ALIGNMENT,
    ): lambda match: not match.is_sound and match.status not in ("missing", "unfit"),
    Sentence(
        "questions_keep_the_masters_order",
        "The form has the questions in the master's order.",
        f"if the form itself has another order, nothing; otherwise {SETTLE_ALIGNMENT}",
        WARN,
    ): lambda match: match.is_out_of_order,
    Sentence(
        "aligned_questions_can_be_asked",
        "Every aligned question certainly is the master's, is complete, and has the master's option codes.",
        SETTLE_ALIGNMENT,
    ): lambda match: match.status == "unfit",
}
"""The checks on an alignment, and the matches that fail each."""
BATCHES_DO_NOT_MATTER = Sentence(
    "batches_do_not_change_the_answer",
    "Trials that are read one by one and in batches agree within rounding error.",
    "share_moved is the change of an answer's share (0.01 is one percentage point): ignore smaller differences between "
    "answers. If the family's dtype is not float32, dtype = 'float32' in the study file makes the change smaller.",
    WARN,
)
ONE_VERSION_ANSWERS = Sentence(
    "one_version_of_the_model_answers",
    "All answers of a cell come from one version of the model behind the API.",
    "two versions are two models: set model_id to the version that you want, if the provider offers it, remove the "
    "stored answers of the other version and materialise the cell again.",
    WARN,
)
PREFLIGHT_PASSES = Sentence(
    "models_are_fit_for_the_grid",
    "Every cell of the family passes the preflight; an error if no cell does.",
    "the cells in the rows are left out, the others go on. Compare what was found with what was expected; correct the "
    "model, its tokenizer or the form and materialise preflight of the family again, or have a cell asked all the same "
    "with a reason under preflight.overrides in the study file.",
)
PREFLIGHT_IS_PLAUSIBLE = Sentence(
    "preflight_answers_are_plausible",
    "Answers are not nearly uniform, and on items with a known direction they lean that way.",
    "look at the answers in the wordings table; if the model does not follow the prompt, the study is not at "
    "fault, but the model's cells say little.",
    WARN,
)
EVERY_QUESTION_IS_READ = Sentence(
    "every_question_is_read",
    "Every question has an answer distribution in both orders.",
    f"each row gives the reason, and the log of the readings has details; {ASK_AGAIN}",
)
P_VALID_IS_SUFFICIENT = Sentence(
    "p_valid_is_sufficient",
    "No question's P_valid is below the threshold, and the median reaches the threshold of a cell.",
    "nothing, if the model simply does not answer with an option: the quality report leaves these answers out. If most "
    "values are low, read the prompts in trials of this language.",
    WARN,
)
POSITION_BIAS_IS_SMALL = Sentence(
    "position_bias_is_small",
    "No question's answers change by more than the threshold when options are reversed.",
    "nothing: the average over both orders removes the bias from the answers, and position_bias compares it with the "
    "differences between languages.",
    WARN,
)
PROBE = EVERY_QUESTION_IS_READ, P_VALID_IS_SUFFICIENT, POSITION_BIAS_IS_SMALL
ESTIMATORS_AGREE = Sentence(
    "estimators_agree",
    "No other estimator changes an item's answers by more than the threshold.",
    "do not rely on the items in the rows alone; compare the columns prob_* of the cell.",
    WARN,
)
PLANTS_ARE_RECOVERED = Sentence(
    "plants_are_recovered",
    "The answers planted into the reference model are recovered, from probabilities and from written answers.",
    "raise phantom.steps in the study file and materialise reference_models, then the cell again. If training has "
    "converged (its loss is small), the instrument is wrong for these prompts: do not use its numbers, and report it.",
)
WRONG_LANGUAGES_FAIL = Sentence(
    "another_languages_model_fails",
    "No reference model of another language passes as the right one.",
    "the recovery check is too weak for these languages: lower phantom.max_w1_unit in the study file, or plant answers "
    "that differ more between languages.",
)
CELLS_CAN_BE_TRUSTED = Sentence(
    "every_cell_can_be_trusted",
    "No cell is missing or flagged, and no question is dropped.",
    "materialise the missing cells (Materialize on readings, only failed and missing partitions); flagged cells and "
    "dropped questions are left out of every analysis and need nothing.",
    WARN,
)
