"""`survey/aligned_questions`: one language's questions under the master's canonical ids.

All questions of a language are matched at once (`alignment`). Records of one variable are merged if they ask the same
question. A record without options takes those of its list if the master has one scale for the whole list.
"""

from collections.abc import Collection, Mapping, Sequence

from valuesassets.instruments.survey.material.alignment.evidence import Matrix
from valuesassets.instruments.survey.material.alignment.match import SURE, Alignment, Match, match_of_missing
from valuesassets.instruments.survey.material.alignment.records import Record, is_same, matched_records, worth
from valuesassets.instruments.survey.material.alignment.targets import Target, master_targets
from valuesassets.instruments.survey.material.forms.layout.blocks import longest_rising
from valuesassets.instruments.survey.material.forms.layout.text_layer import script_share
from valuesassets.instruments.survey.material.normalisation import SCRIPT_SHARE, Normalised
from valuesassets.people.variables import OWN_IDS, Variables
from valuesassets.records.lexicon import Lexicon, known_lexicon
from valuesassets.records.questions import TEN, Option, Question, ResponseType, question_faults, ten_point_scale

CARRIED_FACTS = ("wvs_id", "asked_of", "names_country", "is_converted", OWN_IDS)
"""Facts of the master that hold in every language; each language's question has them too."""
OTHER_LANGUAGE = "only in the form's other language"
NOT_ASKED = "a person says that this language's questionnaire does not have it"
MENTIONED = (1, 2)  # codes of mentioned and not mentioned

Mended = tuple[Question, str | None]  # a question, and the change made to it, in words


def align_questions(
    extracted: Normalised,
    language: str,
    master: Sequence[Question],
    variables: Variables,
    not_asked: Collection[str] = (),
    likeness: Matrix | None = None,
    lexicon: Lexicon | None = None,
) -> Alignment:
    """One language's questions under canonical ids, in the master's order.

    Every record is aligned, merged, or named with what is wrong. Unknown keys of a question are kept; `merged_from` has
    the positions of merged records. A question in the form's other language alone, in the same script, is aligned and
    cannot be asked.

    Args:
        language: ISO 639-3, of the questions.
        not_asked: ids that, a person says, the language does not have.
        likeness: log odds for every pair of a question and a target (`master_targets`), of an embedder.
        lexicon: the language's own words around a question; the bundled ones, where there are any, if left out.
    """
    variables = variables.of(master)
    targets = master_targets(master, variables)
    records = matched_records(extracted.questions, extracted.positions, targets, likeness)
    records += matched_records(extracted.foreign, extracted.foreign_positions, targets, is_foreign=True)
    by_code: dict[str, list[Record]] = {}
    for record in records:
        if record.target is not None:
            by_code.setdefault(record.target.code, []).append(record)
    survivors = {code: max(same, key=worth) for code, same in by_code.items()}
    wanted = [target for target in targets if target.question]
    kept = {
        target.code: record
        for target in wanted
        if (record := survivors.get(target.code)) and (not record.is_foreign or _is_in_script(record, language))
    }
    matches, unmatched = [], []
    for record in records:
        if record.target is None or record is not kept.get(record.target.code):
            status, evidence = _fate(record, survivors, variables)
            is_settled = status in ("left_out", "merged") or record.is_foreign
            matches.append(record.match(status, evidence, is_settled))
            if status == "beyond" and not record.is_foreign:
                unmatched.append(matches[-1])
    lexicon = lexicon or known_lexicon(language)
    mended = with_whole_options({code: record.question for code, record in kept.items()}, targets, variables, lexicon)
    first_seen = {code: min(_merged_from(kept[code], by_code[code])) for code in kept}
    codes = [target.code for target in wanted]
    present = [code for code in codes if code in kept]
    rising = longest_rising([first_seen[code] for code in present])
    in_order = {present[place]: first_seen[present[place]] for place in rising}
    aligned = []
    for target in wanted:
        if target.code not in kept:
            is_absent = target.code in not_asked
            settled = Match(target.code, None, "not_asked", NOT_ASKED) if is_absent else None
            matches.append(settled or match_of_missing(target.code, codes, in_order, unmatched))
            continue
        (question, change), record = mended[target.code], kept[target.code]
        unfit = _why_quoting(question) or _why_doubtful(kept[target.code]) or _why_unfit(question, target)
        aligned.append(_canonical(question, target, _merged_from(record, by_code[target.code]), unfit))
        rests_on = f"{'printed code, ' if record.code == target.code else ''}order, shape and wording"
        evidence = unfit or (f"{rests_on}; {change}" if change else rests_on)
        is_out_of_order = target.code not in in_order
        matches.append(record.match("unfit" if unfit else "aligned", evidence, is_out_of_order=is_out_of_order))
    return Alignment(tuple(aligned), tuple(matches), _masked_hits(records, {q.id for q in master}))


def _fate(record: Record, survivors: Mapping[str, Record], variables: Variables) -> tuple[str, str]:
    """Status and evidence of a record that is not its variable's question."""
    target = record.target
    code = record.code if target is None else target.code
    if code is not None and (reason := variables.reason_to_exclude(code)) is not None:
        return "left_out", reason
    if target is None:
        return "beyond", "no question of the master"
    if target.question is None:
        return "beyond", "the master language lacks it"
    survivor = survivors[target.code]
    if record.is_foreign:
        has_twin = record is not survivor
        return ("merged", "the same question in the form's other language") if has_twin else ("beyond", OTHER_LANGUAGE)
    if is_same(record, survivor):
        return "merged", "the same question twice"
    if record.confidence < SURE <= survivor.confidence:
        return "beyond", "no question of the master for sure"
    return "contradicts", "another record is the same variable in other words"


def _is_in_script(record: Record, language: str) -> bool:
    share = script_share(record.question.text, language)
    return share is None or share >= SCRIPT_SHARE


def _merged_from(kept: Record, same: Sequence[Record]) -> list[int]:
    merged = [record for record in same if record is kept or record.is_foreign or is_same(record, kept)]
    return sorted(position for record in merged for position in record.positions)


def _why_doubtful(record: Record) -> str | None:
    """Why the variable of a record is too uncertain to ask it of a model; None where it is certain."""
    if record.is_foreign:
        return OTHER_LANGUAGE
    if record.confidence < SURE:
        return f"the match is doubtful (probability {record.confidence:.2f}); say by an override's id what it is"
    return None


def _why_quoting(question: Question) -> str | None:
    """Why a question of a form cannot be asked by itself, such as a text that quotes another answer."""
    own = (question.model_extra or {}).get("unfit")
    return own if isinstance(own, str) and own else None


def _why_unfit(question: Question, target: Target) -> str | None:
    """Why a question cannot be asked, or compared with the master's; None where it can."""
    faults = question_faults(question.model_copy(update={"id": target.code}))
    if faults:
        return "; ".join(faults)
    model = target.question
    if model is not None and not question_faults(model) and sorted(question.values) != sorted(model.values):
        return f"option codes {list(question.values)}, the master has {list(model.values)}"
    if target.n_options is not None and len(question.options) != target.n_options:
        return f"{len(question.options)} options, the variable has {target.n_options}"
    return None


def _canonical(question: Question, target: Target, merged: list[int], unfit: str | None) -> Question:
    changes: dict[str, object] = {"id": target.code, "source_id": question.source_id or question.id}
    master_facts = (target.question.model_extra or {}) if target.question else {}
    changes |= {name: master_facts[name] for name in CARRIED_FACTS if master_facts.get(name) is not None}
    if len(merged) > 1:
        changes["merged_from"] = merged
    if unfit:
        changes["unfit"] = unfit
    return question.replace(**changes)


def _masked_hits(records: Sequence[Record], master: Collection[str]) -> tuple[int, int]:
    coded = [record for record in records if record.code in master]
    return sum(record.masked is not None and record.masked.code == record.code for record in coded), len(coded)


def with_whole_options(
    questions: Mapping[str, Question], targets: Sequence[Target], variables: Variables, lexicon: Lexicon | None
) -> dict[str, Mended]:
    """The questions by canonical id; faulty answers are replaced by those of the list.

    Two questions share a scale if the master's questions have the same labels. A list of things to mention is asked as
    statements, with the lexicon's words for agreeing as answers.
    """
    target_of = {target.code: target for target in targets}
    places = {target.code: place for place, target in enumerate(targets)}
    typed = {code: _typed(question, target_of[code], variables) for code, question in questions.items()}
    whole = [code for code, question in typed.items() if not _lacks_answers(question, target_of[code], variables)]
    mended: dict[str, Mended] = {code: (question, None) for code, question in typed.items()}
    for code, question in typed.items():
        if code in whole:
            continue
        near = sorted(whole, key=lambda other: abs(places[other] - places[code]))
        lender = next((other for other in near if _share_scale(target_of[code], target_of[other], variables)), None)
        options, change, is_listed = question.options, None, code in variables.list_of
        if is_listed and sorted(question.values) == [0, 1]:
            options = tuple(option.model_copy(update={"value": option.value or 2}) for option in options)
            change = "not mentioned has code 2 in place of 0"
        elif lender is not None:
            options, change = typed[lender].options, f"answers as in {lender}, of the same list"
        elif lexicon is not None and is_listed and question.item:
            words = zip(MENTIONED, (lexicon.agree, lexicon.disagree), strict=True)
            options = tuple(Option(value=value, label=label) for value, label in words)
            change = "asked as a statement to agree with"
        mended[code] = question.model_copy(update={"options": options}), change
    return mended


def _typed(question: Question, target: Target, variables: Variables) -> Question:
    """The question with its variable's type; two answers of a ten-point scale become its ends."""
    ends = [option.label for option in question.options]
    if target.n_options == len(TEN) and len(ends) == 2 and all(any(map(str.isalpha, label)) for label in ends):
        question = question.model_copy(update={"options": ten_point_scale(*ends)})
    kind = target.response_type or variables.type_of.get(target.code) or question.response_type
    return question.model_copy(update={"response_type": kind})


def _lacks_answers(question: Question, target: Target, variables: Variables) -> bool:
    wanted = target.n_options or len(question.options)
    if variables.list_of.get(target.code) and set(question.values) != set(MENTIONED):
        return True
    return len(question.options) != wanted or bool(question_faults(question.model_copy(update={"text": "-"})))


def _share_scale(one: Target, other: Target, variables: Variables) -> bool:
    """Whether two questions of one list have the same answers in the master, or else by the facts."""
    if one.battery != other.battery or one.n_options != other.n_options:
        return False
    if one.question is not None and other.question is not None:
        labels = [[option.label for option in model.options] for model in (one.question, other.question)]
        return labels[0] == labels[1] and any(map(str.strip, labels[0]))
    return variables.type_of.get(one.code) is not ResponseType.LIKERT10
