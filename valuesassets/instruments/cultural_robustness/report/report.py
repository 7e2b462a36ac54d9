"""The words of the page that cultural robustness ends in: published scores first, then what can be said."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.figures.backgrounds import has_numbers
from valuesassets.instruments.cultural_robustness.measures.embedder_report import language_share
from valuesassets.instruments.cultural_robustness.measures.language_groups import FEWEST, group_languages
from valuesassets.instruments.cultural_robustness.measures.language_pairs import pair_square
from valuesassets.instruments.cultural_robustness.measures.scores import CONTENT, OWN, REPEATED, STRUCTURE
from valuesassets.instruments.cultural_robustness.report.answers_section import anchors_of
from valuesassets.instruments.cultural_robustness.report.claims import claims as table_claims
from valuesassets.instruments.cultural_robustness.report.claims import gates as table_gates
from valuesassets.instruments.cultural_robustness.report.claims import short_answers, weaknesses
from valuesassets.instruments.cultural_robustness.report.methods import methods as table_methods
from valuesassets.instruments.cultural_robustness.report.methods import sources as table_sources
from valuesassets.instruments.cultural_robustness.report.page_tables import (
    SCORE_COLUMNS,
    score_table,
    spell_scores,
    with_ends,
)
from valuesassets.instruments.cultural_robustness.report.pictures import PUBLISHED, ratio_points
from valuesassets.instruments.cultural_robustness.report.published_section import published
from valuesassets.records.frames import parts_of, records, rows, rows_where
from valuesassets.reporting.analyses import figures
from valuesassets.reporting.inline_svg import linked_svg
from valuesassets.reporting.interval_words import spelled
from valuesassets.reporting.page_parts import in_short, tabulate
from valuesassets.reporting.parts import Claim, Frames, Gate, Refused, Section
from valuesassets.reporting.run import Run
from valuesassets.reporting.sections import analysis_sections, draw_figures

NO_ANSWERS = pd.DataFrame(columns=pd.Index(["model", "language", "status"]))
IN_OTHER_SECTIONS = (*PUBLISHED, OWN, STRUCTURE)


def opening(run: Run) -> Section:
    """What the page opens with: whether each model's answers differ by culture, and which checks failed."""
    answers = short_answers(run.tables, run.inference.alpha)
    return in_short(answers, run.gates, claims(run), weaknesses(run.tables.get("answer_quality", NO_ANSWERS)))


def sections(run: Run) -> list[Section]:
    """A section for each analysis; the one of published scores comes first."""
    return analysis_sections(run)


def gates(run: Run) -> list[Gate]:
    """The checks of the study and their outcome."""
    return table_gates(run.tables)


def claims(run: Run) -> list[Claim]:
    """What the tables support and what they do not."""
    return table_claims(run.tables, run.is_planted, run.inference.alpha)


def methods(run: Run) -> list[str]:
    """Sentences for a paper."""
    return table_methods(run.tables, run.is_planted, run.inference.correction)


def sources(run: Run) -> tuple[str, ...]:
    """Keys of the entries of what the tables rest on."""
    return table_sources(run.tables, run.inference.correction)


def tables_of_models(
    measured: Mapping[str, Mapping[str, pd.DataFrame]], quality: Mapping[str, pd.DataFrame]
) -> dict[str, Any]:
    """The tables of all models in one each, or why there are none.

    Args:
        measured: by model, its `MEASURED` tables.
        quality: by model, what became of its answers.
    """
    names = [name for name in next(iter(measured.values()), {}) if name != "scores"]
    tables: dict[str, Any] = {
        name: pd.concat([frames[name] for frames in measured.values()], ignore_index=True) for name in names
    }
    judged = [frame.assign(model=model) for model, frame in quality.items()]
    none = Refused("no model's answers were judged and measured yet; materialise answers and what follows from them")
    missing: dict[str, Any] = dict.fromkeys(("language_pairs", "country_profiles", "language_groups"), none)
    tables["answer_quality"] = pd.concat(judged, ignore_index=True) if judged else none
    return missing | tables


def scores(run: Run, name: str) -> list[Section]:
    """Published scores beside their nulls, then those that are free of language."""
    return [published(run), _ratios(run, name)]


def _ratios(run: Run, name: str) -> Section:
    section = Section("diversity-robustness", run.analyses[name].title)
    scores = section.need(run.table(name))
    if scores is None:
        return section
    section.paragraphs += [
        "The same question is asked in many languages, without a country and with a country named. U is the distance "
        "between the answers in two languages when no country is named. A is this distance for the same country, and C "
        "is this distance for different countries. V is the distance between countries within one language. What an "
        "embedder adds to a language is the same in U, A and C, so it cancels in their differences.",
        "culture_gain = U - A is how much further apart the answers in two languages are when no country is named than "
        "when the same country is named. country_follow = C - A is how much closer the answers are for the same "
        "country than for different countries. diversity is (U - A)/V and robustness is (C - A)/V; 0 means none, and 1 "
        "means as much as the model's own answers differ between countries. Both ratios are refused where "
        "country_follow is not above chance: if the named country makes no difference, there is nothing to compare "
        "with.",
        "p is the larger of two p-values: that of a permutation test, corrected over the tests of a model, and that of "
        "the skew-adjusted t test over questions. Intervals are computed over questions, if there are 20 or more. They "
        "exclude 0 where p is at most the level, and so do the intervals of the ratios (Fieller). null is the mean "
        "under permuted labels.",
    ]
    _draw_plane(section, run, name)
    ours = rows(scores, ~scores["score"].isin(IN_OTHER_SECTIONS))
    tabulate(section, "Scores with their intervals, tests and nulls.", spell_scores(ours), SCORE_COLUMNS)
    if len(rows(ours, ours["score"].isin([REPEATED, CONTENT]))):
        section.paragraphs.append(
            "repeated_answers is the share of answers for a country that also appear word for word under another "
            "country. content_distance needs no country: it is 0 where answers in two languages are as close as "
            "translations of one text, and 1 where they are as far apart as different questions."
        )
    return section


def _draw_plane(section: Section, run: Run, name: str) -> None:
    """The plane of models, inside the page: each point says its numbers and leads to the model's answers."""
    frames = run.tables
    drawing = next(each for each in run.analyses[name].drawings if each.name == "diversity_robustness")
    for _, figure in figures(drawing, frames, run):
        points, _ = ratio_points(frames["scores"])
        anchors = anchors_of(frames.get("answer_quality"))
        titles = {f"point {row['model']}": _point_words(row) for row in records(points)}
        links = {f"point {model}": f"#{anchor}" for model, anchor in anchors.items()}
        svg = linked_svg(figure, titles, links, drawing.alt)
        caption = f"{drawing.caption} A click on a point leads to the model's answers."
        section.markup += f'<figure><div class="scroll map"><div class="paper">{svg}</div></div>'
        section.markup += f"<figcaption>{caption}</figcaption></figure>"
        section.is_beside = True


def _point_words(row: Mapping[str, Any]) -> str:
    ratios = (
        f"{name} {spelled(row[name], row[f'{name}_low'], row[f'{name}_high'], digits=2)}"
        for name in ("diversity", "robustness")
    )
    return f"{row['model']}: {', '.join(ratios)}"


def countries(run: Run, name: str) -> list[Section]:
    """Which countries each language is close to in itself."""
    section, frames = Section("countries", run.analyses[name].title), run.tables
    profiles = section.need(run.table(name))
    if profiles is not None:
        section.paragraphs += [
            "Within one language, the answer without a country is compared with the answers for each country. "
            "Languages are not compared with each other, so an embedder cannot confuse them. Closeness is the negative "
            "distance minus the means of the language and of the country. A value above 0 means that this language is "
            "closer to that country than languages are on average.",
            "own_country_advantage is the mean closeness of languages to their own country. It is tested by permuting "
            "the own countries among the languages.",
        ]
        draw_figures(section, run, name, tells_missing=False)
    score_table(section, frames, OWN, "Own-country advantage.")
    if profiles is not None:
        caption = "The own country of each language: closeness, and its rank among all countries (1 is the closest)."
        tabulate(section, caption, own_ranks(profiles))
        columns = ("model", "language", "country", "closeness", "distance", "n_questions")
        with_words = with_ends(profiles, "closeness")
        tabulate(section, "Every language and country.", with_words, columns)
    return [section]


def own_ranks(profiles: pd.DataFrame) -> list[dict[str, Any]]:
    """For each language that has an own country, how close it is and which place it has."""
    ranks = []
    for (model, language), part in parts_of(profiles, ["model", "language"]):
        with_number = rows(part, part["closeness"].notna())
        for row in records(rows(with_number, with_number["is_own"].astype(bool))):
            rank = 1 + int((with_number["closeness"] > row["closeness"]).sum())
            words = spelled(row["closeness"], row["closeness_low"], row["closeness_high"])
            columns = {"model": model, "language": language, "country": row["country"], "closeness": words}
            n = len(with_number)
            ranks.append(columns | {"rank": f"{rank} of {n}", "by_chance": f"{(n + 1) / 2:g}"})
    return ranks


def groups(run: Run, name: str) -> list[Section]:
    """Which languages answer alike, beyond language and by plain distances."""
    section, frames = Section("groups", run.analyses[name].title), run.tables
    pairs = section.need(run.table("language_pairs"))
    if pairs is not None:
        section.paragraphs += [
            "Languages are grouped by U - A, the difference that remains beyond language itself. The method is average "
            "linkage, and the mean silhouette chooses the number of groups. Groups are named only where pairs of "
            "languages differ beyond chance. The test statistic is structure, the variance of U - A over pairs, and "
            "languages are permuted within each question.",
            "When languages are grouped by the plain distances U, the groups follow script and family, as the embedder "
            "represents them. This grouping is shown for comparison and says nothing about culture.",
        ]
        draw_figures(section, run, name, tells_missing=False)
    score_table(section, frames, STRUCTURE, "Structure of languages.")
    if pairs is not None:
        tabulate(section, "Groups of languages by U - A (beyond language) and by plain distances.", groupings(frames))
        columns = ("model", "pair", "unanchored", "same_country", "other_country", "culture_gain", "n_questions")
        names = {f"{name}_distance": name for name in ("unanchored", "same_country", "other_country")}
        with_words = with_ends(pairs, "culture_gain").rename(columns=names)
        with_words = with_words.assign(pair=[f"{row['language']}, {row['other_language']}" for row in records(pairs)])
        tabulate(section, "Pairs of languages: U, A, C and U - A, half squared distances.", with_words, columns)
    return [section]


def groupings(frames: Frames) -> list[dict[str, Any]]:
    """For each model the groups that are named, or why none is, and those that plain distances give."""
    named = frames.get("language_groups", pd.DataFrame(columns=pd.Index(["model", "language", "group", "silhouette"])))
    table_rows = []
    for (model,), part in parts_of(frames["language_pairs"], ["model"]):
        groups_of_model = rows_where(named, model=model)
        languages, plain = pair_square(part, "unanchored_distance")
        row: dict[str, Any] = {"model": model, "beyond_language": "none is named: structure is not above chance"}
        if len(groups_of_model):
            row["beyond_language"] = _listed(zip(groups_of_model["language"], groups_of_model["group"], strict=True))
            row["silhouette"] = float(groups_of_model["silhouette"].iloc[0])
        if len(languages) >= FEWEST and np.isfinite(plain).all():
            groups, _ = group_languages(plain[None])
            row["by_plain_distances"] = _listed(zip(languages, groups, strict=True))
        table_rows.append(row)
    return table_rows


def _listed(grouped: Iterable[tuple[str, Any]]) -> str:
    """Groups as text: members between commas, groups between strokes."""
    members: dict[int, list[str]] = {}
    for language, group in grouped:
        members.setdefault(int(group), []).append(str(language))
    return " | ".join(", ".join(members[group]) for group in sorted(members))


def embedder(run: Run, name: str) -> list[Section]:
    """How well the embedder knows each language."""
    section = Section("embedder", run.analyses[name].title)
    report = section.need(run.table(name))
    if report is None:
        return [section]
    if has_numbers(report, "variance_share"):
        section.paragraphs.append(
            f"Language accounts for {language_share(report):.2f} of the variance of the questions' vectors. This share "
            "of plain distances says nothing about content."
        )
    section.paragraphs.append(
        "found_share is how often the nearest text to a question in another language is its translation, averaged over "
        "the other languages. By chance, this share is 1 divided by the number of questions. Below .50, the embedder "
        "does not know the language, and its vectors of answers in that language are noise."
    )
    chance = 1 / report["n_questions"].where(report["n_questions"] > 0)
    columns = ("language", "found_share", "by_chance", "variance_share", "n_questions", "status", "reason")
    tabulate(section, "Each language.", report.assign(by_chance=chance), columns)
    return [section]


def calibration(run: Run, name: str) -> list[Section]:
    """What was planted beside what came back."""
    section = Section("calibration", run.analyses[name].title)
    table = section.need(run.table(name))
    if table is None:
        return [section]
    section.paragraphs.append(
        "Small models were trained here to answer as invented cultures do, and one was trained to answer without any "
        "culture. The embedder was built to know their answers, with an offset for each language that follows its "
        "script. The expected values were enumerated from what was planted, independently of the estimators."
    )
    tabulate(section, "Planted and recovered values.", table)
    return [section]
