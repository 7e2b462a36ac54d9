"""The answers of one model as mean vectors by language, question and country, with their sampling noise."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.measure.crossed_distances import means_and_noise
from valuesassets.measure.means import Array
from valuesassets.records.errors import InputError
from valuesassets.records.frames import column, parts_of, rows

UNSPECIFIC, SPECIFIC, QUESTION = "unspecific", "specific", "question"
WORDS = {UNSPECIFIC: "unanchored", SPECIFIC: "anchored"}
USABLE_SHARE = 0.8
NO_PARTNER = -1
"""Stratum of the unanchored condition, which is exchanged with no other."""


@dataclass(frozen=True, eq=False)
class QuestionCells:
    """One question's answers: languages x conditions, of which the first is the unanchored one where it was asked.

    Attributes:
        question_id: the question.
        countries: (A,) country of each anchor.
        personas: (A,) persona of each anchor, 0 where there are none.
        means: (L, K, D) mean vectors over samples; K is A + 1, or A where nothing was asked without a country.
        noise: (L, K) tr(S) / (2 n) of each. A cell with one answer has the mean tr(S) of its language's answers of that
            kind; 0 where all of a kind are single.
        n_answers: (L, K).
    """

    question_id: str
    countries: tuple[str, ...]
    personas: tuple[int, ...]
    means: Array
    noise: Array
    n_answers: NDArray[np.intp]

    @property
    def strata(self) -> NDArray[np.intp]:
        """(K,) which conditions may be exchanged: the anchors of a persona."""
        n_before = self.noise.shape[1] - len(self.personas)
        return np.array([*[NO_PARTNER] * n_before, *self.personas], dtype=np.intp)


@dataclass(frozen=True, eq=False)
class AnswerSpace:
    """All cells of a model that are compared.

    Attributes:
        languages: ISO 639-3, those that were kept.
        questions: those that every kept language answers.
        has_unanchored, has_anchored: whether there are such answers.
        is_first_only: whether only the first answer of each cell was used, because one kind has single answers.
    """

    languages: tuple[str, ...]
    questions: tuple[QuestionCells, ...]
    has_unanchored: bool
    has_anchored: bool
    is_first_only: bool = False

    @property
    def note(self) -> str | None:
        """The remark on cells with one answer; None where every cell has several."""
        counts = np.concatenate([each.n_answers.ravel() for each in self.questions] or [np.empty(0)])
        n_single = int((counts == 1).sum())
        if not n_single:
            return None
        if n_single < counts.size:
            return (
                f"{n_single} of {counts.size} cells have one answer: their language's mean sampling noise is subtracted"
            )
        first = ": the first of each, as one kind of questions has no more" if self.is_first_only else ""
        return f"one answer in each cell{first}: sampling noise is not subtracted"

    @property
    def lack(self) -> str | None:
        """Why nothing can be compared, in words; None where something can."""
        if len(self.languages) < 2:
            return f"{len(self.languages)} languages with enough usable answers, two are needed"
        if not self.questions:
            return "no question has usable answers in every kept language, and for two countries where they are named"
        return None


def build_space(
    vectors: pd.DataFrame,
    questions: pd.DataFrame,
    usable_share: float = USABLE_SHARE,
    quality: pd.DataFrame | None = None,
) -> tuple[AnswerSpace, pd.DataFrame]:
    """Mean vectors of a model's usable answers, and the languages that were dropped with the reason.

    A question counts where every kept language has a usable answer, an anchor likewise, and needs two anchors of one
    persona where countries are named.

    Args:
        vectors: `language, kind, id, sample, is_usable, vector`; the questions' own vectors are ignored.
        questions: `language, question_id, anchor, country, persona`; they may be more than were asked.
        usable_share: least share of a language's answers of either kind that has to be usable.
        quality: a row for each answer, also of those without a vector: `language, kind, id, sample`. Without it the
            rows of `vectors` are all answers. A prompt that other languages answer counts as an unusable answer.

    Raises:
        InputError: an answer to what no question asks, or an anchor without a country.
    """
    answers = rows(vectors, vectors["kind"].isin([UNSPECIFIC, SPECIFIC]))
    prompts = _prompts(questions)
    _refuse_unknown(answers, prompts)
    kinds = [kind for kind in WORDS if (answers["kind"] == kind).any()]
    usable = rows(answers, answers["is_usable"].astype(bool))
    dropped = _dropped_languages(answers if quality is None else quality, usable, kinds, usable_share)
    answered_in = sorted({*answers["language"], *(() if quality is None else quality["language"])})
    languages = [language for language in answered_in if language not in set(dropped["language"])]
    kept = rows(usable, usable["language"].isin(languages))
    has = {kind: kind in kinds for kind in WORDS}
    if len(languages) < 2 or not len(kept):
        return AnswerSpace(tuple(languages), (), has[UNSPECIFIC], has[SPECIFIC]), dropped
    n_answers = kept.groupby(["language", "kind", "id"], sort=False).size()
    most = n_answers.groupby("kind").max()
    is_first_only = bool(len(most) == 2 and most.min() == 1 < most.max())
    if is_first_only:
        kept = kept.sort_values("sample", kind="stable").drop_duplicates(["language", "kind", "id"])
    everywhere = n_answers.groupby(["kind", "id"]).size() == len(languages)
    is_whole = [bool(everywhere.get(at, False)) for at in zip(prompts["kind"], prompts["id"], strict=True)]
    whole = rows(prompts, is_whole)
    by_question = {name: part for (name,), part in parts_of(kept.merge(whole, on=["kind", "id"]), ["question_id"])}
    cells = []
    for (name,), part in parts_of(whole, ["question_id"]):
        conditions = _conditions(part, kinds)
        if conditions is not None:
            cells.append(_question_cells(name, by_question[name], conditions, languages))
    cells = spread_to_single(cells, has[UNSPECIFIC])
    return AnswerSpace(tuple(languages), tuple(cells), has[UNSPECIFIC], has[SPECIFIC], is_first_only), dropped


def spread_to_single(cells: Sequence[QuestionCells], has_unanchored: bool) -> list[QuestionCells]:
    """Cells with one answer get the mean noise of their language's other cells of that kind.

    One answer has sampling noise but does not show it. Where nothing is subtracted for every fifth anchored cell, a
    quarter of the simulations without any gain show one.
    """
    if not cells:
        return []
    freedom = np.sum([_by_kind(each.n_answers - 1.0, has_unanchored) for each in cells], axis=0)
    squares = [each.noise * 2 * each.n_answers * (each.n_answers - 1) for each in cells]
    spread = np.sum([_by_kind(each, has_unanchored) for each in squares], axis=0)
    # a language whose answers of a kind are all single has the spread of the other languages
    lacks = freedom == 0
    means = np.where(lacks, spread.sum(axis=0), spread) / np.maximum(np.where(lacks, freedom.sum(axis=0), freedom), 1)
    smoothed = []
    for each in cells:
        kinds = np.minimum(np.arange(each.noise.shape[1]) + (not has_unanchored), 1)
        smoothed.append(replace(each, noise=np.where(each.n_answers == 1, means[:, kinds] / 2, each.noise)))
    return smoothed


def _by_kind(values: NDArray[Any], has_unanchored: bool) -> Array:
    """(L, 2) sums over the unanchored cells and over the anchored ones."""
    n_before = int(has_unanchored)
    return np.stack([values[:, :n_before].sum(axis=1), values[:, n_before:].sum(axis=1)], axis=1)


def _prompts(questions: pd.DataFrame) -> pd.DataFrame:
    """Every prompt once, whatever its language: kind, id, question, country, persona; in the order of the questions."""
    anchors = [None if pd.isna(each) else int(each) for each in questions["anchor"]]
    names = [str(each) for each in questions["question_id"]]
    countries = [None if pd.isna(each) else str(each) for each in questions["country"]]
    lacking = next((place for place, each in enumerate(anchors) if each is not None and not countries[place]), None)
    if lacking is not None:
        prompt_id = f"{names[lacking]}-{anchors[lacking]}"
        raise InputError(f"question {prompt_id}: no country; give a file that says which countries anchors are")
    prompts = pd.DataFrame(
        {
            "kind": [UNSPECIFIC if each is None else SPECIFIC for each in anchors],
            "id": [name if each is None else f"{name}-{each}" for name, each in zip(names, anchors, strict=True)],
            "question_id": names,
            "country": countries,
            "persona": [0 if pd.isna(each) else int(each) for each in questions["persona"]],
        }
    )
    return prompts.drop_duplicates(["kind", "id"]).reset_index(drop=True)


def _refuse_unknown(answers: pd.DataFrame, prompts: pd.DataFrame) -> None:
    keys = set(zip(prompts["kind"], prompts["id"], strict=True))
    for language, kind, prompt_id in answers[["language", "kind", "id"]].itertuples(index=False):
        if (kind, prompt_id) not in keys:
            raise InputError(
                f"{language}: answer {prompt_id} ({kind}) answers no question; give the question, or leave it out"
            )


def _dropped_languages(
    answers: pd.DataFrame, usable: pd.DataFrame, kinds: Sequence[str], usable_share: float
) -> pd.DataFrame:
    """Languages with too few usable answers, each with the reason."""
    ids = {kind: set(rows(answers, answers["kind"] == kind)["id"]) for kind in kinds}
    dropped = []
    for language in sorted({*answers["language"], *usable["language"]}):
        reasons = []
        for kind in kinds:
            own, usable_own = (
                rows(frame, (frame["language"] == language) & (frame["kind"] == kind)) for frame in (answers, usable)
            )
            n, share = len(own) + len(ids[kind] - set(own["id"])), f"{usable_share:.0%}"
            if not len(own):
                reasons.append(f"no {WORDS[kind]} answers, and other languages have some")
            elif len(usable_own) < usable_share * n - 1e-9:
                reasons.append(f"{len(usable_own)} of {n} {WORDS[kind]} answers are usable, {share} are needed")
        if reasons:
            dropped.append({"language": language, "reason": reasons[0]})
    return pd.DataFrame(dropped, columns=pd.Index(["language", "reason"]), dtype=object)


def _conditions(part: pd.DataFrame, kinds: Sequence[str]) -> pd.DataFrame | None:
    """The conditions of one question that can be compared, the unanchored one first; None where too few are whole."""
    plain, anchored = (rows(part, part["kind"] == kind) for kind in (UNSPECIFIC, SPECIFIC))
    # A persona with one country has nothing to be compared with.
    several = [name for (name,), each in parts_of(anchored, ["persona"]) if each["country"].nunique() > 1]
    anchored = rows(anchored, anchored["persona"].astype(str).isin(several))
    if (UNSPECIFIC in kinds and not len(plain)) or (SPECIFIC in kinds and not len(anchored)):
        return None
    return pd.concat([plain, anchored])


def _question_cells(
    name: str, answers: pd.DataFrame, conditions: pd.DataFrame, languages: Sequence[str]
) -> QuestionCells:
    """Mean vectors and noise of one question's answers."""
    column_of = {id_: place for place, id_ in enumerate(conditions["id"])}
    chosen = rows(answers, answers["id"].isin(column_of))
    row_of = {language: place for place, language in enumerate(languages)}
    shape = (len(languages), len(column_of))
    cells = zip(chosen["language"], chosen["id"], strict=True)
    places = np.array([row_of[language] * shape[1] + column_of[id_] for language, id_ in cells], dtype=np.intp)
    samples = np.stack([np.asarray(each, dtype=float) for each in column(chosen, "vector")])
    means, noise, n_answers = means_and_noise(samples, places, shape[0] * shape[1])
    anchored = rows(conditions, conditions["kind"] == SPECIFIC)
    return QuestionCells(
        name,
        tuple(anchored["country"].astype(str)),
        tuple(anchored["persona"].astype(int)),
        means.reshape(*shape, -1),
        noise.reshape(shape),
        n_answers.reshape(shape),
    )
