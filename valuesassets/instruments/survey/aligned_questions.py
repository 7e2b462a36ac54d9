"""`survey/aligned_questions`: one language's questions under the master's canonical ids.

All questions of a language are matched at once (`alignment`); what is matched to the same variable is merged where it
is the same question, and what a record lacks is taken from its list where the master shows one scale for all of it.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from rapidfuzz import fuzz

from valuesassets.instruments.survey.alignment.batteries import SAME_WORDING
from valuesassets.instruments.survey.alignment.evidence import Matrix
from valuesassets.instruments.survey.alignment.matching import Matching, match_questions
from valuesassets.instruments.survey.alignment.mending import with_whole_options
from valuesassets.instruments.survey.alignment.targets import Target, master_targets
from valuesassets.instruments.survey.layout.text_damage import script_of, script_share
from valuesassets.instruments.survey.lexicon import bundled_lexicons, load_lexicon
from valuesassets.instruments.survey.normalisation import SCRIPT_SHARE, Normalised
from valuesassets.instruments.survey.overrides import PINNED, fingerprint
from valuesassets.instruments.survey.variables import Variables, canonical_id
from valuesassets.records.files import whole_file
from valuesassets.records.questions import Question, question_faults

CARRIED_FACTS = ("wvs_id", "asked_of", "names_country", "is_converted")
"""What the master knows of a variable whatever the language, and each language's question carries along."""
OTHER_LANGUAGE = "only in the form's other language"
SURE = 0.5
"""A match that is less probable is named for review."""


@dataclass(frozen=True)
class Match:
    """What became of one question of a language, or of one of the master that it lacks.

    Attributes:
        question_id: canonical id, or the printed one where it has none.
        source_id: the id as extracted; None where the language lacks the question.
        status: `aligned`, `merged` (the same question twice, or in the form's other language), `missing`,
            `not_asked` (a person says that the language does not have it), `left_out` (the facts say why),
            `beyond` (no question of the master), `unfit` (aligned, but cannot be asked, or not compared) or
            `contradicts` (another record is the same variable in other words).
        evidence: what the match rests on, or what is wrong, in words.
        page: page of the form, or None.
        confidence: probability of the match, all others considered; None for what was not extracted.
        contradiction: what the printed code says otherwise, in words, or None.
        masked_id: the canonical id without the evidence of the codes, or None.
        position: place of the record among the questions as extracted, or None.
        mark: of the record, for an override; None for what was not extracted.
    """

    question_id: str
    source_id: str | None
    status: str
    evidence: str
    page: int | None = None
    confidence: float | None = None
    contradiction: str | None = None
    masked_id: str | None = None
    position: int | None = None
    mark: str | None = None

    @property
    def is_sound(self) -> bool:
        """Whether nothing is left for a person to review."""
        is_sure = self.confidence is None or self.confidence >= SURE or self.status in ("merged", "beyond", "left_out")
        return self.status not in ("missing", "unfit", "contradicts") and self.contradiction is None and is_sure


@dataclass(frozen=True)
class Alignment:
    """One language against the master: its questions in the master's order, and every match.

    Attributes:
        questions: those with the key `unfit` cannot be asked, and say why.
        masked: of the records that print a code of the master, how many come out under it with all codes masked, and
            how many there are.
    """

    questions: tuple[Question, ...]
    matches: tuple[Match, ...]
    masked: tuple[int, int]

    @property
    def coverage(self) -> float:
        """Share of the master's questions that were aligned and can be asked; those not asked by design aside."""
        fit = sum(match.status == "aligned" for match in self.matches)
        wanted = fit + sum(match.status in ("missing", "unfit") for match in self.matches)
        return fit / wanted if wanted else 0.0

    def __str__(self) -> str:
        """In words: how many of the master's questions, and how well they are found without codes."""
        counts = Counter(match.status for match in self.matches)
        wanted = len(self.questions) + counts["missing"]
        said = f"{counts['aligned']} of {wanted} questions aligned"
        if counts["unfit"]:
            said += f", {counts['unfit']} more cannot be asked"
        if self.masked_accuracy is not None:
            said += f"; codes masked, {self.masked_accuracy:.1%} of {self.masked[1]} records come out the same"
        return said

    @property
    def masked_accuracy(self) -> float | None:
        """Share of the printed codes that the rest of the evidence finds; None where no code is printed."""
        return self.masked[0] / self.masked[1] if self.masked[1] else None


@dataclass(frozen=True)
class _Record:
    """An extracted question, where it stood, and what it was matched to."""

    question: Question
    positions: tuple[int, ...]
    is_foreign: bool
    code: str | None
    target: Target | None
    confidence: float
    masked: Target | None

    @property
    def contradiction(self) -> str | None:
        if self.code is None or (self.target is not None and self.target.code == self.code):
            return None
        found = f"{self.target.code}" if self.target else "no question of the master"
        return f"the code printed is {self.code}, order, shape and wording say {found}"


def align_questions(
    extracted: Normalised,
    language: str,
    master: Sequence[Question],
    variables: Variables,
    not_asked: Collection[str] = (),
    likeness: Matrix | None = None,
) -> Alignment:
    """One language's questions under canonical ids, in the master's order.

    Nothing is lost: a record is aligned, merged, or named with what is wrong. Unknown keys of a question ride along;
    merged records' positions stand in `merged_from`. A question that is there only in the form's other language, in
    the same script, is aligned and cannot be asked.

    Args:
        language: ISO 639-3, of the questions.
        not_asked: ids that a person says the language does not have.
        likeness: log odds for every pair of a question and a target (`master_targets`), of an embedder.
    """
    targets = master_targets(master, variables)
    records = _matched(extracted.questions, extracted.positions, targets, likeness)
    records += _matched(extracted.foreign, extracted.foreign_positions, targets, is_foreign=True)
    by_code: dict[str, list[_Record]] = {}
    for record in records:
        if record.target is not None:
            by_code.setdefault(record.target.code, []).append(record)
    survivors = {code: max(found, key=_worth) for code, found in by_code.items()}
    kept = {code: each for code, each in survivors.items() if not each.is_foreign or _is_in_script(each, language)}
    others = (_match_of_other(record, survivors, kept, variables) for record in records)
    matches = [match for match in others if match is not None]
    lexicon = load_lexicon(language) if language in bundled_lexicons() else None
    mended = with_whole_options({code: record.question for code, record in kept.items()}, targets, variables, lexicon)
    aligned = []
    for target in targets:
        if target.question is None or variables.is_excluded(target.code):
            continue
        if target.code not in kept:
            matches.append(_match_of_missing(target.code, not_asked))
            continue
        question, made = mended[target.code]
        merged = _merged_from(kept[target.code], by_code[target.code])
        unfit = OTHER_LANGUAGE if kept[target.code].is_foreign else _why_unfit(question, target)
        aligned.append(_canonical(question, target.question, merged, unfit))
        matches.append(_match_of_kept(kept[target.code], target.code, unfit, made))
    return Alignment(tuple(aligned), tuple(matches), _masked_hits(records, {q.id for q in master}))


def write_matches(path: Path, alignments: Mapping[str, Alignment]) -> None:
    """Every match of every language as a table (CSV), with a column `language`."""
    import pandas as pd

    rows = [{"language": language} | asdict(match) for language, a in alignments.items() for match in a.matches]
    columns = pd.Index(["language", *(field.name for field in fields(Match))])
    with whole_file(path) as temporary:
        pd.DataFrame(rows, columns=columns).to_csv(temporary, index=False)


def best_records(extracted: Sequence[Question], targets: Sequence[Target]) -> list[Question]:
    """Of each target the record that is best matched to it, under its code, in the targets' order."""
    found: dict[str, _Record] = {}
    for record in _matched(extracted, [(n,) for n in range(len(extracted))], targets):
        code = record.target.code if record.target else None
        if code is not None and (code not in found or _worth(record) > _worth(found[code])):
            found[code] = record
    return [
        found[target.code].question.replace(
            id=target.code, source_id=found[target.code].question.source_id or found[target.code].question.id
        )
        for target in targets
        if target.code in found
    ]


def _matched(
    questions: Sequence[Question],
    positions: Sequence[tuple[int, ...]],
    targets: Sequence[Target],
    likeness: Matrix | None = None,
    is_foreign: bool = False,
) -> list[_Record]:
    if not questions or not targets:
        return []
    known = {target.code for target in targets}
    codes = [printed_code(question, known) for question in questions]
    pinned = [bool((question.model_extra or {}).get(PINNED)) for question in questions]
    matching: Matching = match_questions(questions, targets, codes, pinned, likeness)
    return [
        _Record(
            question,
            positions[n],
            is_foreign,
            codes[n],
            None if (place := matching.path.places[n]) is None else targets[place],
            matching.path.confidence[n],
            None if (masked := matching.masked.places[n]) is None else targets[masked],
        )
        for n, question in enumerate(questions)
    ]


def printed_code(question: Question, known: Collection[str]) -> str | None:
    """The code that a question prints, where it is one of the survey's."""
    for printed in (question.id, question.source_id or ""):
        code = printed if printed in known else canonical_id(printed)
        if code is not None and (code in known or printed == question.id):
            return code
    return None


def _worth(record: _Record) -> tuple[bool, bool, bool, bool, int, int]:
    """By what the record of a variable is chosen among several: language, code, soundness, parts, length, place."""
    question = record.question
    return (
        not record.is_foreign,
        record.target is not None and record.code == record.target.code,
        not question_faults(question.model_copy(update={"id": "-"})),
        bool(question.item and question.stem),
        len(question.text),
        -record.positions[0],
    )


def _match_of_other(
    record: _Record, survivors: Mapping[str, _Record], kept: Mapping[str, _Record], variables: Variables
) -> Match | None:
    """What became of a record that is not the one kept for its variable; None for the one that is."""
    question, target = record.question, record.target
    about = {
        "source_id": question.source_id or question.id,
        "page": question.page,
        "confidence": record.confidence,
        "contradiction": record.contradiction,
        "masked_id": record.masked.code if record.masked else None,
        "position": record.positions[0],
        "mark": fingerprint(record.question),
    }
    if target is None:
        is_known = record.code is not None and variables.reason_to_exclude(record.code) is not None
        said = "no question of the master" if record.contradiction is None or is_known else "its code contradicts it"
        return Match(
            question.id, status="beyond", evidence=said, **about | ({"contradiction": None} if is_known else {})
        )
    reason = variables.reason_to_exclude(target.code)
    if reason is not None:
        return Match(target.code, status="left_out", evidence=reason, **about | {"contradiction": None})
    survivor = survivors[target.code]
    if target.question is None:
        return Match(target.code, status="beyond", evidence="the master language lacks it", **about)
    if record is kept.get(target.code):
        return None
    if record.is_foreign:
        has_twin = record is not survivor
        said = "the same question in the form's other language" if has_twin else OTHER_LANGUAGE
        return Match(
            target.code, status="merged" if has_twin else "beyond", evidence=said, **about | {"contradiction": None}
        )
    if _is_same(record, survivor):
        return Match(
            target.code, status="merged", evidence="the same question twice", **about | {"contradiction": None}
        )
    return Match(
        target.code, status="contradicts", evidence="another record is the same variable in other words", **about
    )


def _is_same(one: _Record, other: _Record) -> bool:
    """Whether two records of a variable are the same question: their items, or all that they say where one has none."""
    mine, theirs = one.question, other.question
    texts = [(question.item or question.text).casefold() for question in (mine, theirs)]
    if not (mine.item and theirs.item):
        texts = [" ".join([q.text, *(option.label for option in q.options)]).casefold() for q in (mine, theirs)]
    return fuzz.token_set_ratio(*texts) >= SAME_WORDING


def _is_in_script(record: _Record, language: str) -> bool:
    share = script_share(record.question.text, script_of(language))
    return share is None or share >= SCRIPT_SHARE


def _merged_from(kept: _Record, same: Sequence[_Record]) -> list[int]:
    merged = [record for record in same if record is kept or record.is_foreign or _is_same(record, kept)]
    return sorted(position for record in merged for position in record.positions)


def _match_of_missing(code: str, not_asked: Collection[str]) -> Match:
    if code in not_asked:
        return Match(code, None, "not_asked", "a person says that this language's questionnaire does not have it")
    return Match(code, None, "missing", "not found in this language's questionnaire")


def _match_of_kept(record: _Record, code: str, unfit: str | None, made: str | None) -> Match:
    rests_on = "printed code, order, shape and wording" if record.code == code else "order, shape and wording"
    evidence = unfit or (f"{rests_on}; {made}" if made else rests_on)
    question = record.question
    return Match(
        code,
        question.source_id or question.id,
        "unfit" if unfit else "aligned",
        evidence,
        question.page,
        record.confidence,
        record.contradiction,
        record.masked.code if record.masked else None,
        record.positions[0],
        fingerprint(question),
    )


def _why_unfit(question: Question, target: Target) -> str | None:
    """Why a question cannot be asked, or not be compared with the master's; None where it can."""
    faults = question_faults(question.model_copy(update={"id": target.code}))
    if faults:
        return "; ".join(faults)
    model = target.question
    is_model_sound = model is not None and not question_faults(model)
    if model is not None and is_model_sound and sorted(question.values) != sorted(model.values):
        return f"option codes {list(question.values)}, the master has {list(model.values)}"
    if target.n_options is not None and len(question.options) != target.n_options:
        return f"{len(question.options)} options, the variable has {target.n_options}"
    return None


def _canonical(question: Question, model: Question, merged: list[int], unfit: str | None) -> Question:
    changes: dict[str, object] = {
        "id": model.id,
        "source_id": question.source_id or question.id,
    }
    master_facts = model.model_extra or {}
    changes |= {name: master_facts[name] for name in CARRIED_FACTS if master_facts.get(name) is not None}
    if len(merged) > 1:
        changes["merged_from"] = merged
    if unfit:
        changes["unfit"] = unfit
    return question.replace(**changes)


def _masked_hits(records: Sequence[_Record], master: Collection[str]) -> tuple[int, int]:
    coded = [record for record in records if record.code in master]
    return sum(record.masked is not None and record.masked.code == record.code for record in coded), len(coded)
